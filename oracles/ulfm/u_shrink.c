/* U.shrink: all that live get the same group, in the old order, themselves in it, nobody in it of
 * whose death one of them knew when it called; and no death is raised. */
#include "oracles/ulfm/u_meet.h"

#include <stdio.h>

/* --- groups -------------------------------------------------------------------------------- */

/* The side with the lower first member first: so both sides of an intercommunicator tell one
 * order. */
static int member_of(struct u_event made, int place)
{
    int local = made.record->tag, all = u_group_size(made);
    bool turned = all > local && local > 0 && u_group_member(made, 0) > u_group_member(made, local);
    return u_group_member(made, turned ? (place + local) % all : place);
}

static bool same_group(struct u_event a, struct u_event b)
{
    int size = u_group_size(a);
    if (size != u_group_size(b))
        return false;
    for (int place = 0; place < size; place++)
        if (member_of(a, place) != member_of(b, place))
            return false;
    return true;
}

/* Of an intercommunicator the order of the sides says nothing. */
static bool in_old_order(const struct u_comm *comm, struct u_event made)
{
    int at = -1;
    for (int place = 0; place < u_group_size(made) && !comm->inter; place++) {
        int old = u_place(comm, u_group_member(made, place));
        if (old <= at)
            return false;
        at = old;
    }
    return true;
}

/* --- what is told -------------------------------------------------------------------------- */

static struct finding *say_group(struct u_run *run, enum claim_id claim, const struct u_comm *comm,
                                 const struct u_part *part)
{
    struct finding *finding = judging_find(run->judging, claim, VERDICT_VIOLATION);
    char what[64];
    snprintf(what, sizeof what, "got a group of %d", u_group_size(part->made));
    u_say_call(finding, part->made, comm->id, what);
    return finding;
}

static void report_other(struct u_run *run, const struct u_comm *comm, const struct u_part *one,
                         const struct u_part *other)
{
    struct finding *finding = say_group(run, CLAIM_U_SHRINK, comm, one);
    char what[64];
    snprintf(what, sizeof what, "got another one, of %d", u_group_size(other->made));
    u_say_call(finding, other->made, comm->id, what);
    finding_say(finding, "both are the same shrink: the group is the same for all");
}

static void report_raised(struct u_run *run, const struct u_comm *comm, const struct u_part *part)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_SHRINK, VERDICT_VIOLATION);
    char what[64];
    snprintf(what, sizeof what, "raised %s", raised_text(part->call.record->error));
    u_say_call(finding, part->call, comm->id, what);
    finding_say(finding, "deaths and revocations are absorbed by a shrink, never raised");
}

static void report_known(struct u_run *run, const struct u_comm *comm, const struct u_part *part,
                         const struct u_knows *knows, int dead)
{
    struct finding *finding = say_group(run, CLAIM_U_SHRINK, comm, part);
    char what[64];
    snprintf(what, sizeof what, "had been told of the death of process %d", dead);
    u_say_call(finding, knows->told, knows->comm, what);
    finding_say(finding, "process %d is in the group, though a caller knew of its death", dead);
    finding_decide(finding, u_ref(part->made));
}

/* --- who is in it -------------------------------------------------------------------------- */

/* A caller knew of the death when it called. One that died in the shrink may have told nobody. */
static const struct u_knows *known_before(const struct u_run *run, const struct u_comm *comm,
                                          const struct u_meet *meet, int dead)
{
    for (int place = 0; place < comm->count; place++) {
        const struct u_part *part = &meet->part[place];
        const struct u_knows *knows = u_knowledge(run, comm->member[place], dead);
        if (u_is_compared(run, meet, part) && knows != NULL &&
            u_left(knows->told) <= part->call.record->enter)
            return knows;
    }
    return NULL;
}

static void suspect(struct u_run *run, const struct u_comm *comm, const struct u_part *part)
{
    judging_saw(run->judging, CLAIM_U_SUSPECT, 1);
    for (int place = 0; place < comm->count; place++) {
        int member = comm->member[place];
        if (u_group_has(part->made, member) || u_may_be_dead(run, member, u_left(part->call)))
            continue;
        struct finding *finding = say_group(run, CLAIM_U_SUSPECT, comm, part);
        finding_say(finding, "process %d is left out of it as one that has failed", member);
        u_say_death(run, finding, member);
        finding_decide(finding, u_ref(part->made));
        return;
    }
}

/* False: something was told. */
static bool judge_group(struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                        const struct u_part *part)
{
    for (int place = 0; place < u_group_size(part->made); place++) {
        int member = u_group_member(part->made, place);
        const struct u_knows *knows = known_before(run, comm, meet, member);
        if (knows != NULL) {
            report_known(run, comm, part, knows, member);
            return false;
        }
    }
    bool has_self = u_group_has(part->made, part->made.trace->rank);
    if (has_self && in_old_order(comm, part->made))
        return true;
    struct finding *finding = say_group(run, CLAIM_U_SHRINK, comm, part);
    finding_say(finding, has_self ? "it is not in the order of the communicator it was made of"
                                  : "the process is not in it itself");
    return false;
}

static bool judge_one(struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                      const struct u_part *part)
{
    int missing = u_not_awaited(run, comm, meet, part);
    if (u_raised(part->call.record)) {
        report_raised(run, comm, part);
        return false;
    }
    if (part->made.record == NULL)
        return true;
    suspect(run, comm, part);
    if (missing < 0 || !u_group_has(part->made, comm->member[missing]))
        return judge_group(run, comm, meet, part);
    u_report_not_awaited(run, CLAIM_U_SHRINK, comm, meet, part, missing);
    return false;
}

void u_judge_shrink(struct u_run *run, struct u_comm *comm, const struct u_meet *meet)
{
    const struct u_part *first = NULL;
    bool seen = false;
    for (int place = 0; place < comm->count; place++) {
        const struct u_part *part = &meet->part[place];
        if (!u_is_compared(run, meet, part))
            continue;
        judging_saw(run->judging, CLAIM_U_SHRINK, !seen);
        seen = true;
        if (first != NULL && part->made.record != NULL && !same_group(first->made, part->made)) {
            report_other(run, comm, first, part);
            return;
        }
        if (!judge_one(run, comm, meet, part))
            return;
        first = first == NULL && part->made.record != NULL ? part : first;
    }
}
