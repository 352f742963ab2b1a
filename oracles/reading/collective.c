/* See collective.h. MPI has no number for a collective: the k-th call of each member on a
 * communicator belongs together, because every member must make the same calls in the same order.
 * So each communicator (struct gathering) counts the calls of each member, and that count is the
 * number of the instance:
 *
 *     rank 0:  Bcast   Barrier          instance 1: Bcast of both
 *     rank 1:  Bcast   Allreduce        instance 2: Barrier and Allreduce, DISCORD_OPERATION
 *
 * An instance holds what the first member did, and each further member is compared with that: by
 * operation and root; by size, with the first whose size counts (`sized`: not with MPI_IN_PLACE);
 * by result, with the first whose result is known. It is kept until all members have joined and all
 * their requests are complete, and at most one discord of it is reported.
 *
 * The cases that made it hard:
 *   - The members must be known. They are recorded when the communicator is made (COMM and GROUP
 *     records). If a call on it is read before that, its members stay unknown (`came`): calls are
 *     still numbered, but not compared.
 *   - A non-blocking collective joins when it is started and gives its result when its request is
 *     completed.
 *   - A call inside which the checkpoint lies is done again after the restart, and counts then
 *     (at_cut).
 *
 * Cost: for a call, a look through the instances of its communicator that are under way. */
#include "oracles/reading/collective.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

/* --- communicators ------------------------------------------------------------------------- */

static uint32_t comm_of(const struct collectives *collectives, uint32_t comm)
{
    return collectives->of_application ? succession_first(&collectives->lives->succession, comm)
                                       : comm;
}

static struct gathering *gathering_of(struct collectives *collectives, uint32_t comm)
{
    comm = comm_of(collectives, comm);
    struct gathering *gathering = table_get(&collectives->gatherings, comm, 0);
    if (gathering != NULL)
        return gathering;
    size_t ranks = (size_t)collectives->ranks;
    gathering = memory_new(1, sizeof *gathering);
    gathering->member = memory_new(ranks, sizeof *gathering->member);
    gathering->place = memory_new(ranks, sizeof *gathering->place);
    gathering->joined = memory_new(ranks, sizeof *gathering->joined);
    gathering->newest = memory_new(ranks, sizeof *gathering->newest);
    gathering->comm = comm;
    gathering->raised = UINT64_MAX;
    gathering->next = collectives->first;
    collectives->first = gathering;
    table_put(&collectives->gatherings, comm, 0, gathering);
    return gathering;
}

/* The process is a member; rank: of the application, or the same on the wire. */
static void add_member(struct collectives *collectives, struct gathering *gathering, int rank)
{
    const struct lives *lives = collectives->lives;
    if (rank < 0 || rank >= collectives->ranks)
        gathering->known = false; /* a process outside of the run: nobody records what it does */
    else if (!gathering->member[rank] && !(collectives->of_application && lives->helper[rank])) {
        gathering->member[rank] = true;
        gathering->place[rank] = (int)gathering->size++;
    }
}

static int rank_of(const struct collectives *collectives, const struct trace *trace, uint64_t ticks,
                   int process)
{
    return collectives->of_application
               ? lives_peer(collectives->lives, trace->incarnation, ticks, process)
               : process;
}

/* Reads the COMM record at `index` and the GROUP records after it. */
static void learn(struct collectives *collectives, const struct trace *trace, uint64_t index)
{
    const struct record *record = &trace->record[index];
    struct gathering *gathering =
        record->comm == 0 ? NULL : gathering_of(collectives, record->comm);
    if (gathering == NULL || gathering->known || gathering->came)
        return;
    uint64_t local = (uint64_t)record->tag;
    uint64_t remote = record->flags & FLAG_INTER ? record->hash : 0;
    gathering->inter = (record->flags & FLAG_INTER) != 0;
    gathering->known = true;
    uint64_t at = index + 1;
    for (uint64_t part = 0; part < 2; part++) {
        uint64_t left = part == 0 ? local : remote;
        for (; left > 0 && at < trace->count && trace->record[at].kind == RECORD_GROUP; at++)
            for (unsigned i = 0; i < RECORD_GROUP_MEMBERS && left > 0; i++, left--)
                add_member(
                    collectives, gathering,
                    rank_of(collectives, trace, record->enter, trace->record[at].members[i]));
        if (left > 0)
            gathering->known = false;
    }
}

void collectives_learn(struct collectives *collectives, const struct trace *trace, enum level level,
                       uint64_t to)
{
    for (uint64_t at = 0; at < to && at < trace->count; at++)
        if (trace->record[at].kind == RECORD_COMM && trace->record[at].level == level)
            learn(collectives, trace, at);
}

const struct gathering *collectives_find(const struct collectives *collectives, uint32_t comm)
{
    const struct gathering *gathering =
        table_get(&collectives->gatherings, comm_of(collectives, comm), 0);
    return gathering != NULL && gathering->known ? gathering : NULL;
}

/* --- what is a collective ------------------------------------------------------------------ */

/* Calls that make a communicator and take every member of the one they are given. */
static bool makes_with_all(unsigned call)
{
    switch (call) {
    case CALL_MPI_Comm_dup:
    case CALL_MPI_Comm_dup_with_info:
    case CALL_MPI_Comm_idup:
    case CALL_MPI_Comm_idup_with_info:
    case CALL_MPI_Comm_create:
    case CALL_MPI_Comm_split:
    case CALL_MPI_Comm_split_type:
    case CALL_MPI_Cart_create:
    case CALL_MPI_Cart_sub:
    case CALL_MPI_Graph_create:
    case CALL_MPI_Dist_graph_create:
    case CALL_MPI_Dist_graph_create_adjacent:
    case CALL_MPI_Intercomm_merge:
        return true;
    default:
        return false;
    }
}

uint32_t collective_comm(const struct record *record)
{
    if (record->comm == COMM_SELF_ID)
        return 0;
    if (record->kind == RECORD_COLLECTIVE)
        return record->comm;
    return record->kind == RECORD_CALL && makes_with_all(record->call) ? record->comm : 0;
}

/* What must be the same at all members: the data flow for a collective, the function for others. */
static unsigned kind_of_call(unsigned call)
{
    enum call_operation operation = call_operation(call);
    if (operation != OPERATION_NONE)
        return (unsigned)operation;
    return OPERATION_COUNT + call;
}

static bool sizes_agree(unsigned call)
{
    switch (call_operation(call)) {
    case OPERATION_BCAST:
    case OPERATION_GATHER:
    case OPERATION_REDUCE:
    case OPERATION_ALLGATHER:
    case OPERATION_ALLTOALL:
    case OPERATION_ALLREDUCE:
    case OPERATION_REDUCE_SCATTER:
    case OPERATION_REDUCE_SCATTER_BLOCK:
    case OPERATION_SCAN:
    case OPERATION_EXSCAN:
        return true;
    default:
        return false;
    }
}

static bool results_agree(unsigned call)
{
    switch (call_operation(call)) {
    case OPERATION_BCAST:
    case OPERATION_ALLREDUCE:
    case OPERATION_ALLGATHER:
    case OPERATION_ALLGATHERV:
        return true;
    default:
        return false;
    }
}

/* --- instances ----------------------------------------------------------------------------- */

static struct instance *begin_instance(struct collectives *collectives, struct gathering *gathering)
{
    struct instance *instance = pool_take(&collectives->instance_pool);
    instance->gathering = gathering;
    instance->number = ++gathering->begun;
    instance->sized.event.rank = instance->result.event.rank = -1;
    if (gathering->last == NULL)
        gathering->under_way = instance;
    else
        gathering->last->next = instance;
    gathering->last = instance;
    return instance;
}

/* The instance that is the `number`-th of its communicator; it is under way or not begun. */
static struct instance *instance_of(struct collectives *collectives, struct gathering *gathering,
                                    uint64_t number)
{
    for (struct instance *at = gathering->under_way; at != NULL; at = at->next)
        if (at->number == number)
            return at;
    return begin_instance(collectives, gathering);
}

static void end_instance(struct collectives *collectives, struct instance *instance)
{
    struct gathering *gathering = instance->gathering;
    struct instance *before = NULL;
    for (struct instance *at = gathering->under_way; at != instance; at = at->next)
        before = at;
    if (before == NULL)
        gathering->under_way = instance->next;
    else
        before->next = instance->next;
    if (gathering->last == instance)
        gathering->last = before;
    pool_give(&collectives->instance_pool, instance);
}

static void end_if_complete(struct collectives *collectives, struct instance *instance)
{
    if (instance->joined < instance->gathering->size || instance->outstanding > 0)
        return;
    if (collectives->listener.complete != NULL)
        collectives->listener.complete(collectives->listener.context, instance);
    end_instance(collectives, instance);
}

static void report(struct collectives *collectives, enum discord discord, struct instance *instance,
                   const struct contribution *with, const struct contribution *against)
{
    if (instance->told || collectives->listener.discord == NULL ||
        instance->number >= instance->gathering->raised)
        return;
    instance->told = true;
    collectives->listener.discord(collectives->listener.context, discord, instance, with, against);
}

/* A rank's result is known; 0: it has none, or it was not hashed. */
static void compare_result(struct collectives *collectives, struct instance *instance,
                           const struct contribution *own, uint64_t hash)
{
    if (hash == 0 || instance->gathering->inter || !results_agree(own->call))
        return;
    if (instance->result.event.rank < 0) {
        instance->result = *own;
        instance->result_hash = hash;
    } else if (instance->result_hash != hash) {
        report(collectives, DISCORD_RESULT, instance, own, &instance->result);
    }
}

static void compare_call(struct collectives *collectives, struct instance *instance,
                         const struct contribution *own, bool size_counts)
{
    const struct contribution *first = &instance->first;
    if (kind_of_call(own->call) != kind_of_call(first->call)) {
        report(collectives, DISCORD_OPERATION, instance, own, first);
        return;
    }
    if (instance->gathering->inter)
        return;
    if (own->root != first->root)
        report(collectives, DISCORD_ROOT, instance, own, first);
    if (!size_counts)
        return;
    if (instance->sized.event.rank < 0)
        instance->sized = *own;
    else if (own->bytes != instance->sized.bytes)
        report(collectives, DISCORD_SIZE, instance, own, &instance->sized);
}

/* --- records ------------------------------------------------------------------------------- */

/* A member's call of this number failed, or another call before it: somebody died, or revoked the
 * communicator. */
static void note_raised(struct gathering *gathering, uint64_t number)
{
    if (number < gathering->raised)
        gathering->raised = number;
}

static uint64_t request_key(const struct stream_event *event)
{
    return (uint64_t)(uint32_t)event->trace->incarnation << 32 | (uint32_t)event->trace->rank;
}

/* What a rank gets from a call that has returned. The root of a broadcast has it beforehand. */
static uint64_t result_of(const struct stream_event *event)
{
    const struct record *record = event->record;
    if (event->in_progress || record->error != 0 || (record->flags & FLAG_NO_HASH))
        return 0;
    if (call_operation(record->call) == OPERATION_BCAST && record->result_hash == 0 &&
        record->peer == event->rank)
        return record->hash;
    return record->kind == RECORD_COLLECTIVE && record->request == 0 ? record->result_hash : 0;
}

/* The calls of all members are compared with each other. */
static struct instance *compare(struct collectives *collectives, struct gathering *gathering,
                                const struct stream_event *event, uint64_t number)
{
    const struct record *record = event->record;
    bool collective = record->kind == RECORD_COLLECTIVE;
    struct instance *instance = instance_of(collectives, gathering, number);
    struct contribution own = {event_of(event->trace, event->index), record->call,
                               collective ? record->peer : PEER_NONE,
                               collective ? record->bytes : 0};
    gathering->newest[event->rank] = own.event;
    if (instance->joined < COLLECTIVE_NAMED)
        instance->named[instance->joined] = own.event;
    if (instance->joined++ == 0)
        instance->first = own;
    if (record->error == 0)
        compare_call(collectives, instance, &own,
                     collective && sizes_agree(record->call) && !(record->flags & FLAG_IN_PLACE));
    compare_result(collectives, instance, &own, result_of(event));
    return instance;
}

static void join(struct collectives *collectives, struct gathering *gathering,
                 const struct stream_event *event)
{
    const struct record *record = event->record;
    const struct collective_listener *listener = &collectives->listener;
    uint64_t number = ++gathering->joined[event->rank];
    struct instance *instance = NULL;
    gathering->came |= !gathering->known;
    if (raised_text(record->error) != NULL)
        note_raised(gathering, number);
    if (listener->joined != NULL)
        listener->joined(listener->context, event, gathering, number);
    if (collectives->compares && gathering->known && gathering->member[event->rank])
        instance = compare(collectives, gathering, event, number);
    if (record->request != 0 && record->error == 0 && record->kind == RECORD_COLLECTIVE) {
        struct collective_request *request = pool_take(&collectives->request_pool);
        *request = (struct collective_request){
            .gathering = gathering, .number = number, .began = event->index, .instance = instance};
        table_put(&collectives->requests, request_key(event), record->request, request);
        if (instance != NULL)
            instance->outstanding++;
    }
    if (instance != NULL)
        end_if_complete(collectives, instance);
}

static void compare_completion(struct collectives *collectives, const struct stream_event *event,
                               struct instance *instance)
{
    const struct record *record = event->record;
    struct contribution own = {event_of(event->trace, event->index), instance->first.call,
                               instance->first.root, 0};
    bool known = record->error == 0 && !(record->flags & (FLAG_NO_HASH | FLAG_FREED));
    compare_result(collectives, instance, &own, known ? record->hash : 0);
    instance->outstanding--;
    end_if_complete(collectives, instance);
}

static void complete(struct collectives *collectives, const struct stream_event *event)
{
    const struct record *record = event->record;
    const struct collective_listener *listener = &collectives->listener;
    if (record->request == 0 || (record->flags & FLAG_NEGATIVE) || event->in_progress)
        return;
    struct collective_request *request =
        table_get(&collectives->requests, request_key(event), record->request);
    if (request == NULL)
        return;
    table_remove(&collectives->requests, request_key(event), record->request);
    if (raised_text(record->error) != NULL)
        note_raised(request->gathering, request->number);
    if (listener->left != NULL)
        listener->left(listener->context, event, request);
    if (request->instance != NULL)
        compare_completion(collectives, event, request->instance);
    pool_give(&collectives->request_pool, request);
}

/* What MPI_Request_get_status says is complete has its result from then on, whichever call ends it.
 */
static void see_complete(struct collectives *collectives, const struct stream_event *event)
{
    const struct record *record = event->record;
    if (record->request == 0 || (record->flags & FLAG_NEGATIVE) || record->leave == 0)
        return;
    struct collective_request *request =
        table_get(&collectives->requests, request_key(event), record->request);
    if (request != NULL && request->seen == 0)
        request->seen = record->leave;
}

/* A message to or from a dead rank failed: from then on the member may make other collective calls
 * than the rest. The record of a completion does not say on which communicator, so it counts for
 * all that the rank is a member of. */
static void note_failure(struct collectives *collectives, const struct stream_event *event)
{
    uint32_t comm = event->record->comm == 0 ? 0 : comm_of(collectives, event->record->comm);
    for (struct gathering *at = collectives->first; at != NULL; at = at->next)
        if (at->member[event->rank] && (comm == 0 || at->comm == comm))
            note_raised(at, at->joined[event->rank] + 1);
}

/* MPICH and Open MPI give the numbers from 1 to this to classes of wrong arguments alone, though
 * not to the same ones. */
#define ARGUMENT_MOST 12

/* The library has not begun the call, and the others do not come to it. */
static bool is_refused(const struct record *record)
{
    return record->error >= 1 && record->error <= ARGUMENT_MOST;
}

void collectives_record(struct collectives *collectives, const struct stream_event *event)
{
    const struct record *record = event->record;
    if (raised_text(record->error) != NULL && collective_comm(record) == 0)
        note_failure(collectives, event);
    if (record->kind == RECORD_COMPLETE) {
        complete(collectives, event);
    } else if (record->call == CALL_MPI_Request_get_status) {
        see_complete(collectives, event);
    } else if (record->kind == RECORD_COMM) {
        learn(collectives, event->trace, event->index);
    } else if (collective_comm(record) != 0 && !event->at_cut && !is_refused(record)) {
        join(collectives, gathering_of(collectives, collective_comm(record)), event);
    }
}

void collectives_finish(struct collectives *collectives)
{
    for (struct gathering *gathering = collectives->first; gathering != NULL;
         gathering = gathering->next) {
        for (struct instance *at = gathering->under_way; at != NULL; at = at->next)
            if (at->joined < gathering->size)
                report(collectives, DISCORD_MISSING, at, NULL, NULL);
            else if (collectives->listener.complete != NULL)
                collectives->listener.complete(collectives->listener.context, at);
    }
}

const struct collective_request *collectives_request(const struct collectives *collectives,
                                                     int rank, int incarnation, uint32_t request)
{
    return table_get(&collectives->requests, (uint64_t)(uint32_t)incarnation << 32 | (uint32_t)rank,
                     request);
}

void collectives_init(struct collectives *collectives, const struct lives *lives, enum level level,
                      const struct collective_listener *listener)
{
    memset(collectives, 0, sizeof *collectives);
    collectives->lives = lives;
    collectives->ranks = lives->ranks;
    collectives->of_application = level == LEVEL_APP;
    collectives->listener = *listener;
    collectives->compares = listener->complete != NULL || listener->discord != NULL;
    collectives->request_pool.bytes = sizeof(struct collective_request);
    collectives->instance_pool.bytes = sizeof(struct instance);
    struct gathering *world = gathering_of(collectives, COMM_WORLD_ID);
    world->known = true;
    for (int rank = 0; rank < lives->traces->world; rank++)
        add_member(collectives, world, rank);
}

void collectives_leave_out(struct collectives *collectives, int rank)
{
    struct gathering *world = table_get(&collectives->gatherings, COMM_WORLD_ID, 0);
    if (world == NULL || !world->member[rank])
        return;
    world->member[rank] = false;
    world->size--;
    for (int above = rank + 1; above < collectives->ranks; above++)
        world->place[above]--;
}

void collectives_release(struct collectives *collectives)
{
    while (collectives->first != NULL) {
        struct gathering *gathering = collectives->first;
        collectives->first = gathering->next;
        free(gathering->member);
        free(gathering->place);
        free(gathering->joined);
        free(gathering->newest);
        free(gathering);
    }
    table_release(&collectives->gatherings);
    table_release(&collectives->requests);
    pool_release(&collectives->instance_pool);
    pool_release(&collectives->request_pool);
    memset(collectives, 0, sizeof *collectives);
}
