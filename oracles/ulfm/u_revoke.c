/* U.revoke: once a process knows of a revocation, by its own call or because one of its calls
 * raised REVOKED, every operation that it begins on that communicator raises it. U.object: the same
 * of what is made of the communicator, and of requests that were under way. What never ends is in
 * u_stall.c. */
#include "oracles/ulfm/u_family.h"

/* A window, a file, or another communicator than by the calls that are exempt. */
static bool makes_object(const struct record *record)
{
    switch (record->call) {
    case CALL_MPI_Win_create:
    case CALL_MPI_Win_allocate:
    case CALL_MPI_Win_allocate_shared:
    case CALL_MPI_Win_create_dynamic:
    case CALL_MPI_File_open:
        return true;
    case CALL_MPIX_Comm_shrink:
    case CALL_MPI_Comm_get_parent:
    case CALL_MPI_Comm_join:
        return false;
    default:
        return record->kind == RECORD_CALL && call_role(record->call) == ROLE_COMM_MAKE;
    }
}

/* It is complete once its data are in the buffer of the sender. */
static bool is_buffered(const struct record *record)
{
    switch (record->call) {
    case CALL_MPI_Bsend:
    case CALL_MPI_Bsend_c:
    case CALL_MPI_Ibsend:
    case CALL_MPI_Ibsend_c:
        return true;
    default:
        return false;
    }
}

/* It needs another process, or may: an operation that a revocation must end. */
static bool communicates(const struct record *record)
{
    enum call_role role = call_role(record->call);
    if (record->request != 0)
        return false;
    switch ((unsigned)record->kind) {
    case RECORD_SEND:
        return record->peer >= 0 && !is_buffered(record);
    case RECORD_RECV:
        return record->want_peer != PEER_NULL;
    case RECORD_COLLECTIVE:
        return true;
    case RECORD_PROBE:
        return record->want_peer != PEER_NULL && (role == ROLE_PROBE || role == ROLE_MPROBE);
    default:
        return false;
    }
}

static void report_went_on(struct u_run *run, enum claim_id claim, const struct u_comm *comm,
                           const struct u_seat *seat, struct u_event event)
{
    struct finding *finding = judging_find(run->judging, claim, VERDICT_VIOLATION);
    u_say_call(finding, seat->knew, comm->id,
               seat->knew.record->error == 0 ? "revoked" : "raised revoked");
    u_say_call(finding, event, comm->id, "succeeded afterwards");
    finding_say(finding, "a communicator that is revoked stays so");
}

/* Its request was begun when the process knew already. */
static bool is_late_request(const struct u_seat *seat, struct u_event event,
                            struct u_event operation)
{
    const struct record *record = operation.record;
    bool nobody =
        is_buffered(record) || (record->kind != RECORD_COLLECTIVE && u_peer(record) == PEER_NULL);
    return event.record->kind == RECORD_COMPLETE && operation.record != event.record && !nobody &&
           !(event.record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) &&
           record->enter >= u_left(seat->knew);
}

static void went_on(struct u_run *run, struct u_comm *comm, struct u_seat *seat,
                    struct u_event event, struct u_event operation)
{
    if (seat->knew.record == NULL || event.record->enter < u_left(seat->knew) ||
        event.record->error != 0)
        return;
    if (communicates(event.record) || is_late_request(seat, event, operation))
        report_went_on(run, CLAIM_U_REVOKE, comm, seat, event);
    else if (makes_object(event.record))
        report_went_on(run, CLAIM_U_OBJECT, comm, seat, event);
}

/* What a revocation has ended, or refused. */
static void count(struct u_run *run, const struct u_comm *comm, struct u_event event,
                  struct u_event operation)
{
    bool pending = event.record->kind == RECORD_COMPLETE && operation.record != event.record &&
                   operation.record->enter < comm->revoke.record->enter &&
                   u_left(event) >= comm->revoke.record->enter &&
                   !(event.record->flags & FLAG_NEGATIVE);
    bool refused = event.record->error == RAISED_REVOKED;
    judging_saw(run->judging, CLAIM_U_REVOKE, refused);
    judging_saw(run->judging, CLAIM_U_OBJECT, pending || (refused && makes_object(event.record)));
}

void u_revoke_record(struct u_run *run, struct u_event event)
{
    struct u_event operation = u_operation(run, event);
    struct u_comm *comm = u_comm_find(run, operation.record->comm);
    if (comm == NULL || comm->revoke.record == NULL)
        return;
    struct u_seat *seat = u_seat_of(comm, event);
    if (seat == NULL)
        return;
    count(run, comm, event, operation);
    went_on(run, comm, seat, event, operation);
    if (event.record->error == RAISED_REVOKED && seat->knew.record == NULL)
        seat->knew = event;
}
