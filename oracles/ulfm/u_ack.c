/* U.ack: what a process has acknowledged only grows, by MPIX_Comm_failure_ack and
 * MPIX_Comm_ack_failed alone; after the first it has in it what calls on that communicator had told
 * it; wildcards do not raise for it any more. U.suspect,
 * of groups: who is in them has died. */
#include "oracles/ulfm/u_family.h"

#include <stdio.h>

/* --- groups that were told ----------------------------------------------------------------- */

static void report_alive(struct u_run *run, struct u_event group, int process)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_SUSPECT, VERDICT_VIOLATION);
    char what[80];
    snprintf(what, sizeof what, "was told that process %d has failed", process);
    u_say_call(finding, group, group.record->comm, what);
    if (process >= 0 && process < run->processes)
        u_say_death(run, finding, process);
    finding_decide(finding, u_ref(group));
}

static void suspect(struct u_run *run, struct u_event group)
{
    judging_saw(run->judging, CLAIM_U_SUSPECT, 1);
    for (int place = 0; place < u_group_size(group); place++)
        if (!u_may_be_dead(run, u_group_member(group, place), u_left(group))) {
            report_alive(run, group, u_group_member(group, place));
            return;
        }
}

static void report_group(struct u_run *run, struct u_event before, struct u_event group,
                         const char *first, const char *why)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_ACK, VERDICT_VIOLATION);
    if (before.record != NULL)
        u_say_call(finding, before, group.record->comm, first);
    u_say_call(finding, group, group.record->comm, "got another group");
    finding_say(finding, "%s", why);
}

/* Of the members of one group the first that is not in the other; -1: none. */
static int lacks(struct u_event group, struct u_event other)
{
    for (int place = 0; place < u_group_size(other); place++)
        if (!u_group_has(group, u_group_member(other, place)))
            return u_group_member(other, place);
    return -1;
}

/* The process had been told of a death on the communicator before it acknowledged.
 * MPIX_Comm_ack_failed acknowledges as many as it is asked for, which is not recorded. */
static const struct u_knows *forgotten(const struct u_run *run, const struct u_comm *comm,
                                       const struct u_seat *seat, struct u_event group)
{
    if (seat->ack.record->call == CALL_MPIX_Comm_ack_failed)
        return NULL;
    for (int place = 0; place < comm->count; place++) {
        int dead = comm->member[place];
        const struct u_knows *knows = u_knowledge(run, group.trace->rank, dead);
        if (knows != NULL && knows->comm == comm->id && !u_group_has(group, dead) &&
            u_left(knows->told) <= seat->ack.record->enter)
            return knows;
    }
    return NULL;
}

static void compare_group(struct u_run *run, const struct u_comm *comm, const struct u_seat *seat,
                          struct u_event group)
{
    struct u_event before = seat->acked;
    if (seat->ack.record == NULL) {
        if (u_group_size(group) > 0)
            report_group(run, before, group, "", "it has acknowledged nothing there");
    } else if (before.record != NULL && lacks(group, before) >= 0) {
        report_group(run, before, group, "had acknowledged",
                     "what is acknowledged stays so: the group only grows");
    } else if (before.record != NULL && seat->fresh && lacks(before, group) >= 0) {
        report_group(run, before, group, "had acknowledged",
                     "it acknowledged nothing in between, so the group is the same");
    } else {
        const struct u_knows *knows = forgotten(run, comm, seat, group);
        if (knows != NULL)
            report_group(run, knows->told, group, "was told of a death",
                         "it acknowledged after that, so the dead one is in the group");
    }
}

/* --- wildcards ----------------------------------------------------------------------------- */

/* All members that may be dead are in the group that this process has acknowledged. */
static bool all_acked(const struct u_run *run, const struct u_comm *comm, struct u_event group,
                      uint64_t ticks)
{
    for (int place = 0; place < comm->count; place++)
        if (u_may_be_dead(run, comm->member[place], ticks) &&
            !u_group_has(group, comm->member[place]))
            return false;
    return true;
}

static void judge_wildcard(struct u_run *run, const struct u_comm *comm, const struct u_seat *seat,
                           struct u_event event)
{
    if (!seat->fresh || event.record->enter < u_left(seat->acked) ||
        (event.record->error != RAISED_PROC_FAILED &&
         event.record->error != RAISED_PROC_FAILED_PENDING) ||
        u_group_size(seat->acked) == 0 || !all_acked(run, comm, seat->acked, u_left(event)))
        return;
    struct finding *finding = judging_find(run->judging, CLAIM_U_ACK, VERDICT_VIOLATION);
    u_say_call(finding, seat->acked, comm->id, "has acknowledged");
    u_say_call(finding, event, comm->id, "raised for any source");
    finding_say(finding, "all members that have died are acknowledged");
}

/* ------------------------------------------------------------------------------------------- */

static void report_raised(struct u_run *run, struct u_event event)
{
    char what[64];
    struct finding *finding = judging_find(run->judging, CLAIM_U_ACK, VERDICT_VIOLATION);
    snprintf(what, sizeof what, "raised %s", raised_text(event.record->error));
    u_say_call(finding, event, event.record->comm, what);
    finding_say(finding, "acknowledging is local, on a revoked communicator too");
}

static void take_group(struct u_run *run, const struct u_comm *comm, struct u_seat *seat,
                       struct u_event group)
{
    suspect(run, group);
    judging_saw(run->judging, CLAIM_U_ACK, u_group_size(group) > 0);
    compare_group(run, comm, seat, group);
    seat->acked = group;
    seat->fresh = true;
}

void u_ack_record(struct u_run *run, struct u_event event)
{
    const struct record *record = event.record;
    struct u_event operation = u_operation(run, event);
    struct u_comm *comm = u_comm_find(run, operation.record->comm);
    struct u_seat *seat = comm != NULL ? u_seat_of(comm, event) : NULL;
    bool acks =
        record->call == CALL_MPIX_Comm_failure_ack || record->call == CALL_MPIX_Comm_ack_failed;
    if (seat == NULL)
        return;
    if ((acks || record->call == CALL_MPIX_Comm_failure_get_acked) && u_raised(record))
        report_raised(run, event);
    else if (record->kind == RECORD_FAILED && record->call == CALL_MPIX_Comm_failure_get_acked)
        take_group(run, comm, seat, event);
    else if (record->kind == RECORD_FAILED)
        suspect(run, event);
    else if (u_is_wildcard(operation.record))
        judge_wildcard(run, comm, seat, event);
    if (acks && record->error == 0) {
        seat->ack = event;
        seat->fresh = false;
    }
}
