/* U.agree: one value and one error at all that live, the conjunction, bit by bit, of what they
 * brought. The paper (section 4.5) has the dead contribute false, the later specification leaves
 * them out, and raises where a death is not acknowledged: either is accepted, and that one who died
 * inside has contributed or not. */
#include "oracles/ulfm/u_meet.h"

#include <inttypes.h>
#include <stdio.h>

static uint32_t result_of(const struct u_part *part)
{
    return (uint32_t)part->call.record->result_hash;
}

static uint32_t brought_by(const struct u_part *part)
{
    return (uint32_t)part->call.record->tag;
}

static void say_outcome(struct finding *finding, const struct u_comm *comm,
                        const struct u_part *part)
{
    char what[80];
    const char *raised = raised_text(part->call.record->error);
    snprintf(what, sizeof what, "got %#" PRIx32 "%s%s", result_of(part),
             raised != NULL ? " and raised " : "", raised != NULL ? raised : "");
    u_say_call(finding, part->call, comm->id, what);
}

static void report_other(struct u_run *run, const struct u_comm *comm, const struct u_part *one,
                         const struct u_part *other)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_AGREE, VERDICT_VIOLATION);
    say_outcome(finding, comm, one);
    say_outcome(finding, comm, other);
    finding_say(finding, "both are the same agreement: value and error are the same for all");
}

static void report_raised(struct u_run *run, const struct u_comm *comm, const struct u_part *part)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_AGREE, VERDICT_VIOLATION);
    say_outcome(finding, comm, part);
    finding_say(finding, "an agreement raises proc-failed or nothing, also where the communicator "
                         "is revoked");
}

/* --- the value ----------------------------------------------------------------------------- */

struct brought {
    uint32_t must; /* of all that live */
    uint32_t may;  /* ... and, of those that do not, what still leaves the result possible */
    bool dead;     /* somebody has died */
};

static struct brought brought(const struct u_run *run, const struct u_comm *comm,
                              const struct u_meet *meet, uint32_t result)
{
    struct brought all = {UINT32_MAX, UINT32_MAX, false};
    for (int place = 0; place < comm->count; place++) {
        const struct u_part *part = &meet->part[place];
        bool dead = u_may_be_dead(run, comm->member[place], meet->until);
        all.dead |= dead;
        if (part->call.record == NULL)
            continue;
        if (!dead)
            all.must &= brought_by(part);
        else if ((brought_by(part) & result) == result)
            all.may &= brought_by(part);
    }
    all.may &= all.must;
    return all;
}

static void report_value(struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                         const struct u_part *back, uint32_t must)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_AGREE, VERDICT_VIOLATION);
    say_outcome(finding, comm, back);
    for (int place = 0; place < comm->count; place++)
        if (meet->part[place].call.record != NULL)
            finding_show(finding, u_ref(meet->part[place].call));
    finding_say(finding, "those that live brought %#" PRIx32 " in conjunction, bit by bit", must);
}

/* --- the whole ----------------------------------------------------------------------------- */

/* False: something was told. */
static bool judge_one(struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                      const struct u_part *part)
{
    unsigned error = part->call.record->error;
    int missing = u_not_awaited(run, comm, meet, part);
    struct brought all = brought(run, comm, meet, result_of(part));
    bool conjunction = result_of(part) == all.must || result_of(part) == all.may ||
                       (all.dead && result_of(part) == 0);
    if (error != 0 && error != RAISED_PROC_FAILED)
        report_raised(run, comm, part);
    else if (missing >= 0)
        u_report_not_awaited(run, CLAIM_U_AGREE, comm, meet, part, missing);
    else if (!conjunction)
        report_value(run, comm, meet, part, all.must);
    else
        return true;
    return false;
}

void u_judge_agree(struct u_run *run, struct u_comm *comm, const struct u_meet *meet)
{
    const struct u_part *first = NULL;
    for (int place = 0; place < comm->count; place++) {
        const struct u_part *part = &meet->part[place];
        if (!u_is_compared(run, meet, part))
            continue;
        if (first == NULL)
            judging_saw(run->judging, CLAIM_U_AGREE, 1);
        if (first != NULL && (result_of(part) != result_of(first) ||
                              part->call.record->error != first->call.record->error)) {
            report_other(run, comm, first, part);
            return;
        }
        if (!judge_one(run, comm, meet, part))
            return;
        first = first != NULL ? first : part;
    }
}
