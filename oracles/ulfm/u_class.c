/* U.class: PROC_FAILED where one that takes part has died, PENDING for a wildcard receive that does
 * not block, REVOKED after a revocation. Who takes part: the peer that is named; of a wildcard and
 * of a collective, every member of the communicator; of what brings together processes of which no
 * communicator is recorded (spawn, connect), anybody. */
#include "oracles/ulfm/u_family.h"

#include <stdio.h>

/* --- PROC_FAILED --------------------------------------------------------------------------- */

static bool anybody_dead(const struct u_run *run, uint64_t ticks)
{
    for (int process = 0; process < run->processes; process++)
        if (u_may_be_dead(run, process, ticks))
            return true;
    return false;
}

static bool takes_all(const struct record *operation)
{
    return operation->kind == RECORD_COLLECTIVE || operation->kind == RECORD_SEND ||
           operation->kind == RECORD_RECV || operation->kind == RECORD_PROBE ||
           operation->call == CALL_MPIX_Comm_agree || operation->call == CALL_MPIX_Comm_shrink ||
           (call_role(operation->call) == ROLE_COMM_MAKE && !u_reaches_beyond(operation->call));
}

/* One that takes part had died when the call returned, as far as that is known. */
static bool has_dead(const struct u_run *run, const struct record *operation, uint64_t ticks)
{
    const struct u_comm *comm = u_comm_find(run, operation->comm);
    if (u_names_peer(operation))
        return u_may_be_dead(run, u_peer(operation), ticks);
    if (comm != NULL && takes_all(operation))
        return u_dead_member(run, comm, -1, ticks) >= 0;
    return anybody_dead(run, ticks);
}

static void report_no_death(struct u_run *run, struct u_event event, struct u_event operation)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_CLASS, VERDICT_VIOLATION);
    char raised[64];
    snprintf(raised, sizeof raised, "raised %s", raised_text(event.record->error));
    u_say_call(finding, event, operation.record->comm, raised);
    if (operation.record != event.record)
        u_say_call(finding, operation, operation.record->comm, "began the operation");
    if (u_names_peer(operation.record) && u_peer(operation.record) < run->processes)
        u_say_death(run, finding, u_peer(operation.record));
    finding_say(finding, "nobody that takes part in it was dead by then");
}

/* --- PENDING ------------------------------------------------------------------------------- */

/* Of a call for several requests it is not recorded which one raised. */
static bool may_be_pending(struct u_event event, struct u_event operation)
{
    const struct record *record = operation.record;
    if (event.record->kind == RECORD_COMPLETE && record == event.record)
        return true; /* what began the request was not seen */
    if (event.record->kind == RECORD_CALL)
        return event.record->comm == 0;
    if (event.record->kind == RECORD_PROBE)
        return u_is_wildcard(record) && call_role(event.record->call) == ROLE_IPROBE;
    return event.record->kind == RECORD_COMPLETE && u_is_wildcard(record);
}

static void report_pending(struct u_run *run, struct u_event event, struct u_event operation)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_CLASS, VERDICT_VIOLATION);
    u_say_call(finding, event, operation.record->comm, "raised proc-failed-pending");
    if (operation.record != event.record)
        u_say_call(finding, operation, operation.record->comm, "began the operation");
    finding_say(finding,
                "only a receive from any source that does not block may be left pending so");
}

/* --- REVOKED ------------------------------------------------------------------------------- */

/* Told where another file does. */
static bool is_exempt(const struct record *record)
{
    return record->call == CALL_MPIX_Comm_shrink || record->call == CALL_MPIX_Comm_agree ||
           record->call == CALL_MPIX_Comm_failure_ack ||
           record->call == CALL_MPIX_Comm_ack_failed ||
           record->call == CALL_MPIX_Comm_failure_get_acked;
}

static void report_not_revoked(struct u_run *run, struct u_event raised, const struct u_comm *comm)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_CLASS, VERDICT_VIOLATION);
    u_say_call(finding, raised, comm->id, "raised revoked");
    if (comm->revoke.record == NULL) {
        finding_say(finding, "nobody ever revoked that communicator");
        return;
    }
    u_say_call(finding, comm->revoke, comm->id, "revoked first");
    finding_decide(finding, u_ref(raised));
}

static void take_revoked(struct u_run *run, struct u_event event, const struct record *operation)
{
    struct u_comm *comm = u_comm_find(run, operation->comm);
    /* MPI_Intercomm_create is of two communicators; the one of the leaders is not recorded. And
     * what a call that failed has spawned talks with nobody. */
    if (comm == NULL || u_revoked(comm, u_left(event)) ||
        operation->call == CALL_MPI_Intercomm_create || (comm->spawned && run->spawn_failed))
        return;
    struct u_early *early = pool_take(&run->early_pool);
    *early = (struct u_early){comm->early, event};
    comm->early = early;
}

/* What was raised and has ended by now had no cause. */
static void settle(struct u_run *run, struct u_comm *comm)
{
    while (comm->early != NULL) {
        struct u_early *early = comm->early;
        comm->early = early->next;
        if (!u_revoked(comm, u_left(early->raised)))
            report_not_revoked(run, early->raised, comm);
        pool_give(&run->early_pool, early);
    }
}

void u_class_revoked(struct u_run *run, struct u_comm *comm)
{
    settle(run, comm);
}

void u_class_end(struct u_run *run)
{
    for (struct u_comm *comm = run->first; comm != NULL; comm = comm->next)
        settle(run, comm);
}

/* ------------------------------------------------------------------------------------------- */

void u_class_record(struct u_run *run, struct u_event event)
{
    const struct record *record = event.record;
    if (!u_raised(record))
        return;
    struct u_event operation = u_operation(run, event);
    judging_saw(run->judging, CLAIM_U_CLASS, 1);
    if (record->error == RAISED_REVOKED) {
        if (!is_exempt(record))
            take_revoked(run, event, operation.record);
    } else if (record->error == RAISED_PROC_FAILED_PENDING && !may_be_pending(event, operation)) {
        report_pending(run, event, operation);
    } else if (!has_dead(run, operation.record, u_left(event))) {
        report_no_death(run, event, operation);
    }
}
