/* U.shrink and U.agree: the number-th of each member on a communicator belongs together. They are
 * judged when each member has come or is dead, and all that came back have. Compared are those that
 * were alive when the last of them came back: what one got that died by then nobody can tell. Also
 * U.suspect, of shrink: who is left out has died. */
#include "oracles/ulfm/u_meet.h"

#include "base/memory.h"

#include <stdlib.h>

/* --- who came ------------------------------------------------------------------------------ */

static struct u_meet *meet_of(struct u_comm *comm, enum u_meet_kind kind, uint64_t number)
{
    for (struct u_meet *meet = comm->meets; meet != NULL; meet = meet->next)
        if (meet->kind == kind && meet->number == number)
            return meet;
    struct u_meet *meet = memory_new(1, sizeof *meet);
    *meet = (struct u_meet){.next = comm->meets,
                            .kind = kind,
                            .number = number,
                            .part = memory_new((size_t)comm->count, sizeof *meet->part)};
    comm->meets = meet;
    return meet;
}

/* Each member has come, or is dead; and it is over for all that came back. */
static bool is_whole(const struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                     uint64_t now)
{
    for (int place = 0; place < comm->count; place++)
        if (meet->part[place].call.record == NULL && !u_is_dead(run, comm->member[place], now))
            return false;
    return meet->until < now;
}

static void judge_meet(struct u_run *run, struct u_comm *comm, const struct u_meet *meet)
{
    if (meet->kind == U_SHRINK)
        u_judge_shrink(run, comm, meet);
    else
        u_judge_agree(run, comm, meet);
}

static void sweep(struct u_run *run, struct u_comm *comm, uint64_t now)
{
    for (struct u_meet **link = &comm->meets; *link != NULL;) {
        struct u_meet *meet = *link;
        if (!is_whole(run, comm, meet, now)) {
            link = &meet->next;
            continue;
        }
        judge_meet(run, comm, meet);
        *link = meet->next;
        free(meet->part);
        free(meet);
    }
}

static void come(struct u_run *run, struct u_comm *comm, struct u_event event,
                 enum u_meet_kind kind)
{
    int place = u_place(comm, event.trace->rank);
    bool counts = event.record->error == 0 || u_raised(event.record);
    sweep(run, comm, event.record->enter);
    if (place < 0 || !counts)
        return;
    comm->seat[place].came = event.record->enter;
    struct u_meet *meet = meet_of(comm, kind, ++comm->seat[place].met[kind]);
    meet->part[place].call = event;
    if (u_left(event) > meet->until)
        meet->until = u_left(event);
}

static void make(struct u_comm *comm, struct u_event made)
{
    int place = u_place(comm, made.trace->rank);
    if (place >= 0 && comm->seat[place].met[U_SHRINK] > 0)
        meet_of(comm, U_SHRINK, comm->seat[place].met[U_SHRINK])->part[place].made = made;
}

void u_meet_record(struct u_run *run, struct u_event event)
{
    const struct record *record = event.record;
    bool shrinks = record->call == CALL_MPIX_Comm_shrink;
    bool made = shrinks && record->kind == RECORD_COMM;
    if (!shrinks && record->call != CALL_MPIX_Comm_agree)
        return;
    struct u_comm *comm = u_comm_find(run, made ? (uint32_t)record->bytes : record->comm);
    if (comm == NULL)
        return;
    if (made)
        make(comm, event);
    else if (record->kind == RECORD_CALL)
        come(run, comm, event, shrinks ? U_SHRINK : U_AGREE);
}

void u_meet_end(struct u_run *run)
{
    for (struct u_comm *comm = run->first; comm != NULL; comm = comm->next)
        for (struct u_meet *meet = comm->meets; meet != NULL; meet = meet->next)
            judge_meet(run, comm, meet);
}

/* --- what both ask ------------------------------------------------------------------------- */

bool u_came_back(const struct u_part *part)
{
    return part->call.record != NULL && u_left(part->call) != 0;
}

bool u_is_compared(const struct u_run *run, const struct u_meet *meet, const struct u_part *part)
{
    return u_came_back(part) && !u_may_be_dead(run, part->call.trace->rank, meet->until);
}

int u_not_awaited(const struct u_run *run, const struct u_comm *comm, const struct u_meet *meet,
                  const struct u_part *back)
{
    uint64_t left = u_left(back->call);
    for (int place = 0; place < comm->count; place++) {
        const struct u_part *part = &meet->part[place];
        bool came = part->call.record != NULL && part->call.record->enter <= left;
        if (!came && !u_may_be_dead(run, comm->member[place], left))
            return place;
    }
    return -1;
}

void u_report_not_awaited(struct u_run *run, enum claim_id claim, const struct u_comm *comm,
                          const struct u_meet *meet, const struct u_part *back, int place)
{
    const struct u_part *part = &meet->part[place];
    struct finding *finding = judging_find(run->judging, claim, VERDICT_VIOLATION);
    u_say_call(finding, back->call, comm->id, "was done");
    if (part->call.record != NULL)
        u_say_call(finding, part->call, comm->id, "came only after that");
    else
        finding_say(finding, "process %d never came to it", comm->member[place]);
    finding_say(finding, "process %d is a member and was alive: nothing is decided without it",
                comm->member[place]);
}
