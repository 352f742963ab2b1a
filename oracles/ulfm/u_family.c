/* Family U as a whole: one pass over the wire of an incarnation, and what is kept of it. See
 * u_family.h. */
#include "oracles/ulfm/u_family.h"

#include "base/memory.h"

#include <stdlib.h>

/* --- communicators ------------------------------------------------------------------------- */

struct u_comm *u_comm_find(const struct u_run *run, uint32_t id)
{
    return table_get(&run->comms, id, 0);
}

int u_place(const struct u_comm *comm, int process)
{
    for (int place = 0; place < comm->count; place++)
        if (comm->member[place] == process)
            return place;
    return -1;
}

struct u_seat *u_seat_of(struct u_comm *comm, struct u_event event)
{
    int place = u_place(comm, event.trace->rank);
    return place < 0 ? NULL : &comm->seat[place];
}

bool u_revoked(const struct u_comm *comm, uint64_t ticks)
{
    return comm->revoke.record != NULL && comm->revoke.record->enter <= ticks;
}

static struct u_comm *add_comm(struct u_run *run, uint32_t id, int count)
{
    struct u_comm *comm = memory_new(1, sizeof *comm);
    comm->id = id;
    comm->count = count;
    comm->member = memory_new((size_t)count, sizeof *comm->member);
    comm->seat = memory_new((size_t)count, sizeof *comm->seat);
    comm->next = run->first;
    run->first = comm;
    table_put(&run->comms, id, 0, comm);
    return comm;
}

static void add_world(struct u_run *run)
{
    int world = run->judging->traces->world;
    struct u_comm *comm = add_comm(run, COMM_WORLD_ID, world);
    for (int place = 0; place < world; place++)
        comm->member[place] = place;
}

/* Each member tells of it; the first is believed. The side whose first member has the lower number
 * comes first, so that both sides tell the same. */
static void learn_comm(struct u_run *run, struct u_event made)
{
    int local = made.record->tag, all = u_group_size(made);
    if (made.record->comm != 0 && made.record->call == CALL_MPI_Comm_get_parent &&
        u_comm_find(run, made.record->comm) != NULL)
        u_comm_find(run, made.record->comm)->spawned = true;
    if (made.record->comm == 0 || all < local || local <= 0 ||
        u_comm_find(run, made.record->comm) != NULL)
        return;
    struct u_comm *comm = add_comm(run, made.record->comm, all);
    comm->inter = all > local;
    comm->spawned = made.record->call == CALL_MPI_Comm_get_parent;
    bool ours_first = !comm->inter || u_group_member(made, 0) < u_group_member(made, local);
    for (int place = 0; place < all; place++) {
        int from = ours_first ? place : (place + local) % all;
        comm->member[place] = u_group_member(made, from);
    }
}

/* --- groups -------------------------------------------------------------------------------- */

/* GROUP records hold the local group, and from a record of its own on the remote one. */
static int listed(struct u_event group, int at)
{
    uint64_t index = group.index + 1 + (uint64_t)at / RECORD_GROUP_MEMBERS;
    if (index >= group.trace->count || group.trace->record[index].kind != RECORD_GROUP)
        return PEER_UNKNOWN;
    return group.trace->record[index].members[at % RECORD_GROUP_MEMBERS];
}

int u_group_size(struct u_event group)
{
    bool inter = (group.record->flags & FLAG_INTER) != 0;
    return group.record->tag + (inter ? (int)group.record->hash : 0);
}

int u_group_member(struct u_event group, int place)
{
    int local = group.record->tag;
    int rows = (local + RECORD_GROUP_MEMBERS - 1) / RECORD_GROUP_MEMBERS;
    return place < local ? listed(group, place)
                         : listed(group, rows * RECORD_GROUP_MEMBERS + place - local);
}

/* All that it says is there, and is of the run: else its members are not known. */
static bool is_sound(const struct u_run *run, struct u_event group)
{
    const struct record *record = group.record;
    uint64_t processes = (uint64_t)run->processes;
    if (record->tag < 0 || record->tag > run->processes ||
        ((record->flags & FLAG_INTER) && record->hash > processes))
        return false;
    for (int place = 0; place < u_group_size(group); place++) {
        int member = u_group_member(group, place);
        if (member < 0 || member >= run->processes)
            return false;
    }
    return true;
}

bool u_group_has(struct u_event group, int process)
{
    for (int place = 0; place < u_group_size(group); place++)
        if (u_group_member(group, place) == process)
            return true;
    return false;
}

/* --- deaths -------------------------------------------------------------------------------- */

static bool finalized(const struct trace *trace)
{
    for (uint64_t at = trace->count; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        if (record->kind == RECORD_CALL && record->call == CALL_MPI_Finalize &&
            record->level == LEVEL_WIRE)
            return record->leave != 0;
    }
    return false;
}

/* Whoever ends without MPI_Finalize is dead to the others, whatever its exit status. */
static struct u_death death_of(const struct trace *trace)
{
    struct u_death death = {.from = U_NEVER, .gone = U_NEVER};
    const struct record *end = trace->end;
    if (end == NULL || finalized(trace))
        return death;
    death.gone = end->enter;
    death.from = 0;
    for (uint64_t at = 0; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        uint64_t sign = !record_is_event(record) ? 0
                        : record->leave != 0     ? record->leave
                                                 : record->enter;
        if (sign < death.from || sign == 0)
            continue;
        death.from = sign;
        death.last = event_of(trace, at);
        death.has_event = true;
    }
    return death;
}

bool u_may_be_dead(const struct u_run *run, int process, uint64_t ticks)
{
    return process >= 0 && process < run->processes && run->death[process].from <= ticks;
}

bool u_is_dead(const struct u_run *run, int process, uint64_t ticks)
{
    return process >= 0 && process < run->processes && run->death[process].gone <= ticks;
}

int u_dead_member(const struct u_run *run, const struct u_comm *comm, int besides, uint64_t ticks)
{
    for (int place = 0; place < comm->count; place++)
        if (comm->member[place] != besides && u_may_be_dead(run, comm->member[place], ticks))
            return comm->member[place];
    return -1;
}

/* It was killed before it had a trace, so nobody ever had anything of it: dead from the start. */
static struct u_death death_unseen(const struct u_run *run, int process)
{
    const struct run_facts *facts = run->judging->facts;
    for (size_t i = 0; i < facts->rank_end_count; i++) {
        const struct rank_end *end = &facts->rank_ends[i];
        if (end->rank == process && end->incarnation == run->pass->incarnation && end->known &&
            end->wait_status != 0)
            return (struct u_death){.from = 0, .gone = 0};
    }
    return (struct u_death){.from = U_NEVER, .gone = U_NEVER};
}

static void read_deaths(struct u_run *run)
{
    const struct trace_set *traces = run->judging->traces;
    run->death = memory_new((size_t)run->processes, sizeof *run->death);
    run->open = memory_new((size_t)run->processes, sizeof *run->open);
    run->first_gone = U_NEVER;
    for (int process = 0; process < run->processes; process++) {
        const struct trace *trace = trace_set_find(traces, process, run->pass->incarnation);
        run->death[process] = trace != NULL ? death_of(trace) : death_unseen(run, process);
        if (run->death[process].gone < run->first_gone)
            run->first_gone = run->death[process].gone;
    }
}

const struct u_knows *u_knowledge(const struct u_run *run, int process, int dead)
{
    return table_get(&run->knowledge, (uint64_t)process, (uint64_t)dead);
}

static void learn_death(struct u_run *run, struct u_event told, int dead, uint32_t comm)
{
    uint64_t process = (uint64_t)told.trace->rank;
    if (!u_may_be_dead(run, dead, u_left(told)) ||
        table_get(&run->knowledge, process, (uint64_t)dead) != NULL)
        return;
    struct u_knows *knows = pool_take(&run->knows_pool);
    *knows = (struct u_knows){told, comm};
    table_put(&run->knowledge, process, (uint64_t)dead, knows);
}

static void learn_deaths(struct u_run *run, struct u_event event)
{
    struct u_event what = u_operation(run, event);
    if (event.record->kind == RECORD_FAILED)
        for (int place = 0; place < u_group_size(event); place++)
            learn_death(run, event, u_group_member(event, place), event.record->comm);
    if (event.record->error == RAISED_PROC_FAILED && u_names_peer(what.record))
        learn_death(run, event, u_peer(what.record), what.record->comm);
}

/* --- requests ------------------------------------------------------------------------------ */

static uint64_t process_of(struct u_event event)
{
    return (uint64_t)event.trace->rank;
}

static struct u_open *open_request(const struct u_run *run, struct u_event event)
{
    return table_get(&run->requests, process_of(event), event.record->request);
}

bool u_gathers(const struct record *operation)
{
    if (operation->kind == RECORD_COLLECTIVE)
        return true;
    if (operation->kind != RECORD_CALL || call_role(operation->call) != ROLE_COMM_MAKE)
        return false;
    return operation->call != CALL_MPIX_Comm_shrink &&
           operation->call != CALL_MPI_Comm_get_parent && operation->call != CALL_MPI_Comm_join &&
           operation->call != CALL_MPI_Comm_create_group;
}

bool u_reaches_beyond(unsigned call)
{
    switch (call) {
    case CALL_MPI_Intercomm_create:
    case CALL_MPI_Comm_accept:
    case CALL_MPI_Comm_connect:
    case CALL_MPI_Comm_spawn:
    case CALL_MPI_Comm_spawn_multiple:
        return true;
    default:
        return false;
    }
}

/* How many the process has come to, with this one; 0: it is none. */
static uint64_t calls_so_far(const struct u_run *run, struct u_event event)
{
    struct u_comm *comm = u_comm_find(run, event.record->comm);
    const struct u_seat *seat = comm != NULL ? u_seat_of(comm, event) : NULL;
    return seat != NULL && u_gathers(event.record) ? seat->calls : 0;
}

static void count_call(struct u_run *run, struct u_event event)
{
    struct u_comm *comm = u_gathers(event.record) ? u_comm_find(run, event.record->comm) : NULL;
    struct u_seat *seat = comm != NULL ? u_seat_of(comm, event) : NULL;
    if (seat == NULL)
        return;
    seat->calls++;
    seat->came = event.record->enter;
}

static bool begins_request(const struct record *record)
{
    bool begins = record->kind == RECORD_SEND || record->kind == RECORD_RECV ||
                  record->kind == RECORD_COLLECTIVE;
    return begins && record->request != 0 && !(record->flags & FLAG_MATCHED) && record->error == 0;
}

static void begin_request(struct u_run *run, struct u_event event)
{
    struct u_open *open = open_request(run, event);
    if (open == NULL) {
        open = pool_take(&run->open_pool);
        table_put(&run->requests, process_of(event), event.record->request, open);
        run->open[process_of(event)]++;
        open->posted = event;
    } else if (open->posted.record->call == event.record->call) {
        open->other = event;
    } else {
        *open = (struct u_open){.posted = event};
    }
    open->number = calls_so_far(run, event);
}

static void end_request(struct u_run *run, struct u_event event)
{
    struct u_open *open = open_request(run, event);
    if (open == NULL || (event.record->flags & FLAG_NEGATIVE) || u_left(event) == 0 ||
        event.record->error == RAISED_PROC_FAILED_PENDING)
        return;
    table_remove(&run->requests, process_of(event), event.record->request);
    run->open[process_of(event)]--;
    pool_give(&run->open_pool, open);
}

struct u_event u_operation(const struct u_run *run, struct u_event event)
{
    /* Returned, its COMPLETE records say which requests ended and how. */
    bool waits_for_many =
        event.record->kind == RECORD_CALL && event.record->request != 0 && u_left(event) == 0;
    if (event.record->kind != RECORD_COMPLETE && !waits_for_many)
        return event;
    const struct u_open *open = open_request(run, event);
    if (open == NULL)
        return event;
    bool sends = open->posted.record->kind == RECORD_SEND && open->other.record != NULL;
    return sends ? open->other : open->posted;
}

bool u_is_exchange(const struct record *record)
{
    enum call_role role = call_role(record->call);
    return role == ROLE_SENDRECV || role == ROLE_SENDRECV_REPLACE || role == ROLE_ISENDRECV ||
           role == ROLE_ISENDRECV_REPLACE;
}

int u_peer(const struct record *operation)
{
    return operation->kind == RECORD_SEND ? operation->peer : operation->want_peer;
}

bool u_names_peer(const struct record *operation)
{
    bool names = operation->kind == RECORD_SEND || operation->kind == RECORD_RECV ||
                 operation->kind == RECORD_PROBE;
    return names && u_peer(operation) >= 0 && !u_is_exchange(operation) &&
           !(operation->flags & FLAG_MATCHED);
}

bool u_is_wildcard(const struct record *operation)
{
    return (operation->kind == RECORD_RECV || operation->kind == RECORD_PROBE) &&
           operation->want_peer == PEER_ANY && !u_is_exchange(operation);
}

/* --- the pass ------------------------------------------------------------------------------ */

static void note_revoke(struct u_run *run, struct u_event event)
{
    struct u_comm *comm = u_comm_find(run, event.record->comm);
    if (event.record->call != CALL_MPIX_Comm_revoke || comm == NULL || event.record->error != 0)
        return;
    bool first = comm->revoke.record == NULL;
    if (first)
        comm->revoke = event;
    struct u_seat *seat = u_seat_of(comm, event);
    if (seat != NULL && seat->knew.record == NULL && u_left(event) != 0)
        seat->knew = event;
    if (first)
        u_class_revoked(run, comm);
}

static bool blocks(const struct record *record)
{
    enum call_role role = call_role(record->call);
    switch ((unsigned)record->kind) {
    case RECORD_SEND:
    case RECORD_RECV:
    case RECORD_COLLECTIVE:
    case RECORD_PROBE:
    case RECORD_COMPLETE:
        return true;
    case RECORD_CALL:
        return role == ROLE_WAITALL || role == ROLE_COMM_MAKE ||
               record->call == CALL_MPIX_Comm_agree;
    default:
        return false;
    }
}

/* It waits for several requests and its record names the first, which may be complete by now. */
static bool may_wait_for_others(const struct u_run *run, struct u_event event)
{
    return event.record->kind == RECORD_CALL && event.record->request != 0 &&
           event.record->call != CALL_MPI_Wait && run->open[process_of(event)] > 1;
}

static void note_stuck(struct u_run *run, struct u_event event)
{
    bool dead = run->death[event.trace->rank].from != U_NEVER;
    if (u_left(event) != 0 || dead || !blocks(event.record) || may_wait_for_others(run, event))
        return;
    run->stuck = memory_room(run->stuck, run->stuck_count, &run->stuck_room, sizeof *run->stuck);
    const struct u_open *open = event.record->request != 0 ? open_request(run, event) : NULL;
    run->stuck[run->stuck_count++] = (struct u_stuck){
        event, u_operation(run, event), open != NULL ? open->number : calls_so_far(run, event)};
}

static void judge_record(struct u_run *run, struct u_event event)
{
    u_meet_record(run, event);
    if (u_left(event) == 0)
        return;
    u_class_record(run, event);
    u_local_record(run, event);
    u_revoke_record(run, event);
    u_ack_record(run, event);
    u_stall_record(run, event);
    u_cells_record(run, event);
    learn_deaths(run, event);
}

static void note_time(struct u_run *run, struct u_event event)
{
    if (event.record->kind == RECORD_NONE)
        return; /* a life begins: it has no time */
    uint64_t newest = u_left(event) != 0 ? u_left(event) : event.record->enter;
    if (newest > run->last)
        run->last = newest;
    if (event.record->enter < run->begin)
        run->begin = event.record->enter;
}

static void on_event(void *context, const struct stream_event *event)
{
    struct u_run *run = context;
    struct u_event own = {event->record, event->trace, event->index};
    unsigned kind = event->record->kind;
    note_time(run, own);
    bool lists = kind == RECORD_COMM || kind == RECORD_FAILED;
    if (event->record->level != LEVEL_WIRE || (lists && !is_sound(run, own)))
        return;
    if (kind == RECORD_COMM)
        learn_comm(run, own);
    count_call(run, own);
    run->spawn_failed |=
        own.record->error != 0 && (own.record->call == CALL_MPI_Comm_spawn ||
                                   own.record->call == CALL_MPI_Comm_spawn_multiple);
    note_revoke(run, own);
    judge_record(run, own);
    note_stuck(run, own);
    if (kind == RECORD_COMPLETE)
        end_request(run, own);
    else if (begins_request(event->record))
        begin_request(run, own);
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    (void)received;
    (void)other;
    if (anomaly == ANOMALY_UNDELIVERED || anomaly == ANOMALY_UNSEEN)
        u_local_unreceived(context, channel, sent);
}

static void release_comm(struct u_comm *comm)
{
    while (comm->meets != NULL) {
        struct u_meet *meet = comm->meets;
        comm->meets = meet->next;
        free(meet->part);
        free(meet);
    }
    free(comm->member);
    free(comm->seat);
    free(comm);
}

static void release(struct u_run *run)
{
    while (run->first != NULL) {
        struct u_comm *comm = run->first;
        run->first = comm->next;
        release_comm(comm);
    }
    table_release(&run->comms);
    table_release(&run->requests);
    table_release(&run->knowledge);
    pool_release(&run->open_pool);
    pool_release(&run->early_pool);
    pool_release(&run->knows_pool);
    free(run->death);
    free(run->open);
    free(run->stuck);
    free(run);
}

static void on_end(void *context)
{
    struct u_run *run = context;
    u_class_end(run);
    u_meet_end(run);
    u_stall_end(run);
    release(run);
}

static void listen(struct judging *judging, struct pass *pass)
{
    if (!judging_asked(judging, "U."))
        return;
    struct u_run *run = memory_new(1, sizeof *run);
    *run = (struct u_run){.judging = judging,
                          .pass = pass,
                          .processes = judging->traces->ranks,
                          .begin = U_NEVER,
                          .open_pool.bytes = sizeof(struct u_open),
                          .early_pool.bytes = sizeof(struct u_early),
                          .knows_pool.bytes = sizeof(struct u_knows)};
    read_deaths(run);
    add_world(run);
    pass_listen(pass, &(struct listener){
                          .context = run, .event = on_event, .anomaly = on_anomaly, .end = on_end});
}

const struct oracle oracle_ulfm = {.wire = listen, .needs_sound_traces = true};
