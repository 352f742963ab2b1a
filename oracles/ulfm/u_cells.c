/* Coverage of family U, by what a live process sees of a death: which kind of call it makes, when
 * the other died (before the call, while it was inside, or after it had returned), and how it
 * ended: raised, revoked, or done as if nothing had happened. Roles are counted besides: the root
 * of a collective, one that came late to it, and who exchanges a message beside the dead. */
#include "oracles/ulfm/u_family.h"

enum when { BEFORE, INSIDE, AFTER, WHENS };
enum how { RAISED, REVOKED, DONE, HOWS };

/* A cell that cannot be is no claim. */
#define NO_CELL CLAIM_COUNT
#define CELLS(KIND)                                                                                \
    {                                                                                              \
        {CLAIM_U_CELL_##KIND##_BEFORE_RAISED, CLAIM_U_CELL_##KIND##_BEFORE_REVOKED,                \
         CLAIM_U_CELL_##KIND##_BEFORE_DONE},                                                       \
            {CLAIM_U_CELL_##KIND##_INSIDE_RAISED, CLAIM_U_CELL_##KIND##_INSIDE_REVOKED,            \
             CLAIM_U_CELL_##KIND##_INSIDE_DONE},                                                   \
            {NO_CELL, NO_CELL, CLAIM_U_CELL_##KIND##_AFTER_DONE},                                  \
    }

static const enum claim_id of_send[WHENS][HOWS] = CELLS(SEND);
static const enum claim_id of_receive[WHENS][HOWS] = CELLS(RECEIVE);
static const enum claim_id of_any[WHENS][HOWS] = CELLS(ANY);
static const enum claim_id of_collective[WHENS][HOWS] = CELLS(COLLECTIVE);
static const enum claim_id of_make[WHENS][HOWS] = CELLS(MAKE);
static const enum claim_id of_root[WHENS][HOWS] = CELLS(ROOT);
static const enum claim_id of_late[WHENS][HOWS] = CELLS(LATE);
static const enum claim_id of_agree[WHENS][HOWS] = {
    {CLAIM_U_CELL_AGREE_BEFORE_RAISED, NO_CELL, CLAIM_U_CELL_AGREE_BEFORE_DONE},
    {CLAIM_U_CELL_AGREE_INSIDE_RAISED, NO_CELL, CLAIM_U_CELL_AGREE_INSIDE_DONE},
    {NO_CELL, NO_CELL, CLAIM_U_CELL_AGREE_AFTER_DONE}};
static const enum claim_id of_shrink[WHENS][HOWS] = {
    {NO_CELL, NO_CELL, CLAIM_U_CELL_SHRINK_BEFORE_DONE},
    {NO_CELL, NO_CELL, CLAIM_U_CELL_SHRINK_INSIDE_DONE},
    {NO_CELL, NO_CELL, CLAIM_U_CELL_SHRINK_AFTER_DONE}};
static const enum claim_id of_bystander[WHENS][HOWS] = {
    {NO_CELL, CLAIM_U_CELL_BYSTANDER_BEFORE_REVOKED, CLAIM_U_CELL_BYSTANDER_BEFORE_DONE},
    {NO_CELL, CLAIM_U_CELL_BYSTANDER_INSIDE_REVOKED, CLAIM_U_CELL_BYSTANDER_INSIDE_DONE},
    {NO_CELL, NO_CELL, NO_CELL}};

static enum how how_it_ended(const struct record *record)
{
    return record->error == 0                ? DONE
           : record->error == RAISED_REVOKED ? REVOKED
           : u_raised(record)                ? RAISED
                                             : HOWS;
}

static enum when when_it_died(uint64_t gone, uint64_t entered, uint64_t left)
{
    return gone <= entered ? BEFORE : gone <= left ? INSIDE : AFTER;
}

/* `entered`: when the operation began, though the event that ends it may have begun later. */
struct seen {
    struct u_run *run;
    enum how how;
    uint64_t entered, left;
};

static void count(const struct seen *seen, int dead, const enum claim_id cells[WHENS][HOWS])
{
    uint64_t gone = seen->run->death[dead].gone;
    if (gone == U_NEVER)
        return;
    enum claim_id cell = cells[when_it_died(gone, seen->entered, seen->left)][seen->how];
    if (cell != NO_CELL)
        judging_saw(seen->run->judging, cell, 1);
}

static void count_members(const struct seen *seen, const struct u_comm *comm, int besides,
                          const enum claim_id cells[WHENS][HOWS])
{
    for (int place = 0; place < comm->count; place++)
        if (comm->member[place] != besides)
            count(seen, comm->member[place], cells);
}

/* Somebody had returned from it, or a later one, when this process came to it. Of requests that is
 * not asked. */
static bool came_late(struct u_comm *comm, struct u_event event)
{
    const struct u_seat *seat = u_seat_of(comm, event);
    if (seat == NULL || event.record->request != 0 || event.record->kind == RECORD_COMPLETE)
        return false;
    bool late = comm->done >= seat->calls && comm->done_at <= event.record->enter;
    if (seat->calls > comm->done) {
        comm->done = seat->calls;
        comm->done_at = u_left(event);
    }
    return late;
}

static void count_gathering(const struct seen *seen, struct u_comm *comm, struct u_event event,
                            const struct record *operation)
{
    bool collective = operation->kind == RECORD_COLLECTIVE;
    count_members(seen, comm, -1, collective ? of_collective : of_make);
    if (collective && operation->peer == event.trace->rank)
        count_members(seen, comm, -1, of_root);
    if (came_late(comm, event))
        count_members(seen, comm, -1, of_late);
}

void u_cells_record(struct u_run *run, struct u_event event)
{
    const struct record *operation = u_operation(run, event).record;
    struct u_comm *comm = u_comm_find(run, operation->comm);
    struct seen seen = {run, how_it_ended(event.record), operation->enter, u_left(event)};
    bool ends = event.record->kind == RECORD_COMPLETE || event.record->request == 0;
    if (run->first_gone == U_NEVER || comm == NULL || !ends || seen.how == HOWS ||
        (event.record->flags & FLAG_NEGATIVE))
        return;
    if (u_names_peer(operation) && u_peer(operation) < run->processes) {
        count(&seen, u_peer(operation), operation->kind == RECORD_SEND ? of_send : of_receive);
        if (run->death[u_peer(operation)].gone == U_NEVER)
            count_members(&seen, comm, u_peer(operation), of_bystander);
    } else if (u_is_wildcard(operation)) {
        count_members(&seen, comm, -1, of_any);
    } else if (u_gathers(operation)) {
        count_gathering(&seen, comm, event, operation);
    } else if (operation->kind == RECORD_CALL && operation->call == CALL_MPIX_Comm_agree) {
        count_members(&seen, comm, -1, of_agree);
    } else if (operation->kind == RECORD_CALL && operation->call == CALL_MPIX_Comm_shrink) {
        count_members(&seen, comm, -1, of_shrink);
    }
}
