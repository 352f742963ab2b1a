/* Tables of communicators, their groups and ids: see tap_communicator.h. */
#include "injectors/taps/tap_communicator.h"

#include "base/mix.h"
#include "injectors/record/hash.h"

#include <faultline.h>

#include <stdlib.h>
#include <string.h>

#define TABLE_BUCKETS 64u
#define COUNT_BUCKETS 256u

/* How many communicators were made of one parent with the same members. */
struct made_count {
    struct made_count *next;
    uint32_t parent;
    uint32_t count;
    uint64_t members;
};

/* All of one level, behind one lock: a thread asks here only for what it did not ask last. */
struct table {
    struct tap_lock lock;
    struct communicator *bucket[TABLE_BUCKETS];
    struct made_count *count[COUNT_BUCKETS];
};

/* What a thread asked last, per level. */
struct last_lookup {
    uint64_t handle;
    unsigned changes;
    struct communicator *found;
};

#define PREDEFINED(members, number)                                                                \
    {                                                                                              \
        .permanent = true, .id = number, .local = members, .peers = members, .sources = -1         \
    }

struct communicator communicator_world[2] = {PREDEFINED(&group_world, COMM_WORLD_ID),
                                             PREDEFINED(&group_world, COMM_WORLD_ID)};
struct communicator communicator_self[2] = {PREDEFINED(&group_self, COMM_SELF_ID),
                                            PREDEFINED(&group_self, COMM_SELF_ID)};
static struct communicator unknown_communicator = PREDEFINED(&group_none, 0);

_Atomic unsigned communicator_changes[2];

static struct table tables[2];
static __thread struct last_lookup last_lookup[2] __attribute__((tls_model("initial-exec")));

/* --- the tables ------------------------------------------------------------------------------- */

static struct communicator **bucket_of(enum level level, uint64_t handle)
{
    return &tables[level].bucket[mix_two(0, handle) % TABLE_BUCKETS];
}

static struct communicator *in_table(enum level level, uint64_t handle)
{
    tap_lock(&tables[level].lock);
    struct communicator *c = *bucket_of(level, handle);
    while (c && (c->handle != handle || c->freed))
        c = c->next;
    tap_unlock(&tables[level].lock);
    return c;
}

static void insert(enum level level, struct communicator *c)
{
    tap_lock(&tables[level].lock);
    struct communicator **bucket = bucket_of(level, c->handle);
    c->next = *bucket;
    *bucket = c;
    tap_unlock(&tables[level].lock);
    atomic_fetch_add(&communicator_changes[level], 1);
}

static void take_out(enum level level, const struct communicator *c)
{
    tap_lock(&tables[level].lock);
    struct communicator **link = bucket_of(level, c->handle);
    while (*link && *link != c)
        link = &(*link)->next;
    if (*link)
        *link = c->next;
    tap_unlock(&tables[level].lock);
    atomic_fetch_add(&communicator_changes[level], 1);
}

static struct communicator *predefined(enum level level, uint64_t handle)
{
    if (handle == HANDLE(handles.COMM_WORLD))
        return &communicator_world[level];
    return handle == HANDLE(handles.COMM_SELF) ? &communicator_self[level] : NULL;
}

/* NULL if unknown. At the upper level a handle that was never returned there, but stands for one of
 * the wire's (restored after a restart), is what it stands for. */
static struct communicator *known(enum level level, uint64_t handle)
{
    struct communicator *c = predefined(level, handle);
    if (!c)
        c = in_table(level, handle);
    if (!c && level == LEVEL_APP) {
        uint64_t wire = tap_handle_resolve(FAULTLINE_COMM, handle);
        c = predefined(LEVEL_WIRE, wire);
        if (!c)
            c = in_table(LEVEL_WIRE, wire);
    }
    return c;
}

struct communicator *communicator_lookup(enum level level, MPI_Comm comm)
{
    struct last_lookup *last = &last_lookup[level];
    unsigned changes = atomic_load_explicit(&communicator_changes[level], memory_order_acquire);
    if (last->found && last->handle == HANDLE(comm) && last->changes == changes)
        return last->found;
    struct communicator *c = known(level, HANDLE(comm));
    *last = (struct last_lookup){HANDLE(comm), changes, c ? c : &unknown_communicator};
    return last->found;
}

struct communicator *communicator_hold(struct communicator *c)
{
    if (!c->permanent)
        atomic_fetch_add(&c->references, 1);
    return c;
}

void communicator_drop(struct communicator *c)
{
    if (c->permanent || atomic_fetch_sub(&c->references, 1) != 1)
        return;
    if (c->freed)
        take_out(LEVEL_APP, c);
    group_drop(c->local);
    group_drop(c->remote);
    free(c);
}

/* One whose last holder has just let go of it is on its way out of the table. */
static bool hold_if_held(struct communicator *c)
{
    unsigned held = atomic_load(&c->references);
    while (held > 0 && !atomic_compare_exchange_weak(&c->references, &held, held + 1))
        ;
    return held > 0;
}

struct communicator *communicator_freed(MPI_Comm comm)
{
    tap_lock(&tables[LEVEL_APP].lock);
    struct communicator *c = *bucket_of(LEVEL_APP, HANDLE(comm));
    while (c && (c->handle != HANDLE(comm) || (c->freed && !hold_if_held(c))))
        c = c->next;
    tap_unlock(&tables[LEVEL_APP].lock);
    return c && c->freed ? c : NULL;
}

int32_t communicator_own(const struct communicator *c)
{
    return c->rank >= 0 && c->rank < c->local->size ? group_member(c->local, c->rank)
                                                    : PEER_UNKNOWN;
}

/* --- topologies ------------------------------------------------------------------------------- */

static void ask_neighbours(struct communicator *c)
{
    int kind = MPI_UNDEFINED, number = 0, weighted;
    c->sources = c->destinations = 0;
    library_begin();
    library.Topo_test(c->wire, &kind);
    if (kind == MPI_CART) {
        library.Cartdim_get(c->wire, &number);
        c->sources = c->destinations = 2 * number;
    } else if (kind == MPI_GRAPH) {
        library.Graph_neighbors_count(c->wire, c->rank, &number);
        c->sources = c->destinations = number;
    } else if (kind == MPI_DIST_GRAPH) {
        library.Dist_graph_neighbors_count(c->wire, &c->sources, &c->destinations, &weighted);
    }
    library_end();
}

void communicator_neighbours(struct communicator *c, int *sources, int *destinations)
{
    if (c->sources < 0 && c->wire != handles.COMM_NULL && !c->permanent)
        ask_neighbours(c);
    *sources = c->sources > 0 ? c->sources : 0;
    *destinations = c->destinations > 0 ? c->destinations : 0;
}

/* --- making ----------------------------------------------------------------------------------- */

/* How many of this parent and these members were made before at this level; counts this one. */
static uint32_t count_made(enum level level, uint32_t parent, uint64_t members)
{
    struct table *table = &tables[level];
    struct made_count **bucket = &table->count[mix_two(parent, members) % COUNT_BUCKETS];
    uint32_t before = 0;
    tap_lock(&table->lock);
    struct made_count *entry = *bucket;
    while (entry && (entry->parent != parent || entry->members != members))
        entry = entry->next;
    if (!entry && (entry = calloc(1, sizeof *entry))) {
        *entry = (struct made_count){*bucket, parent, 0, members};
        *bucket = entry;
    }
    if (entry)
        before = entry->count++;
    tap_unlock(&table->lock);
    return before;
}

/* Of the communicator that was made when `before` others of that parent and members were there. */
static uint32_t id_of(uint32_t parent, uint64_t members, uint32_t before)
{
    uint32_t id = (uint32_t)mix_two(mix_two(members, parent), before);
    return id > COMM_SELF_ID ? id : id + COMM_SELF_ID + 1;
}

static uint32_t next_id(enum level level, uint32_t parent, uint64_t members)
{
    return id_of(parent, members, count_made(level, parent, members));
}

/* 0 before MPI_Init: the world is not known yet. */
uint32_t tap_communicator_from_world(unsigned nth)
{
    return tap_ready && nth > 0 ? id_of(COMM_WORLD_ID, group_world.hash, nth - 1) : 0;
}

/* What the library says of its communicator. */
static void ask_library(struct communicator *c)
{
    MPI_Group group;
    int inter = 0;
    library_begin();
    library.Comm_rank(c->wire, &c->rank);
    library.Comm_test_inter(c->wire, &inter);
    library.Comm_group(c->wire, &group);
    c->local = group_from_handle(group);
    if (inter) {
        library.Comm_remote_group(c->wire, &group);
        c->remote = group_from_handle(group);
    }
    library_end();
}

/* What a protocol has said of the members of a communicator that stands for none of the library's.
 */
struct noted_members {
    struct noted_members *next;
    uint64_t handle;
    int rank;
    struct group *group;
};

static struct noted_members *noted_members; /* behind the lock of the upper level's table */

static struct noted_members **members_link(uint64_t handle)
{
    struct noted_members **link = &noted_members;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

/* MPI_COMM_WORLD or MPI_COMM_SELF of an application that has not all processes of the job. The
 * group before may still be looked at, and stays. */
static void record_predefined(struct communicator *c, int rank, struct group *group)
{
    if (c == &communicator_world[LEVEL_APP])
        c->id = COMM_WORLD_ID; /* also where the process came later, into a world of its own */
    c->rank = rank;
    c->local = group;
    c->peers = group;
    atomic_fetch_add(&communicator_changes[LEVEL_APP], 1);
}

void tap_handle_members(uint64_t handle, const int *world, int size, int rank)
{
    struct group *group = tap_ready && size > 0 ? group_of(world, size) : NULL;
    struct communicator *c = predefined(LEVEL_APP, handle);
    struct noted_members *noted = c ? NULL : calloc(1, sizeof *noted);
    if (c && group) {
        record_predefined(c, rank, group);
        return;
    }
    if (!group || !noted) {
        free(group);
        free(noted);
        return;
    }
    *noted = (struct noted_members){.handle = handle, .rank = rank, .group = group};
    tap_lock(&tables[LEVEL_APP].lock);
    struct noted_members **link = members_link(handle), *old = *link;
    noted->next = old ? old->next : NULL;
    *link = noted;
    tap_unlock(&tables[LEVEL_APP].lock);
    if (old)
        group_drop(old->group);
    free(old);
}

/* false: nothing was noted. */
static bool ask_noted(struct communicator *c)
{
    tap_lock(&tables[LEVEL_APP].lock);
    const struct noted_members *noted = *members_link(c->handle);
    if (noted) {
        c->rank = noted->rank;
        c->wire = handles.COMM_NULL;
        c->local = group_hold(noted->group);
    }
    tap_unlock(&tables[LEVEL_APP].lock);
    return noted != NULL;
}

/* What the wire level knows of it, found by handle or by what a protocol said that it stands for.
 */
static void ask_wire(struct communicator *c)
{
    if (ask_noted(c))
        return;
    uint64_t wire = tap_handle_resolve(FAULTLINE_COMM, c->handle);
    const struct communicator *below = predefined(LEVEL_WIRE, wire);
    if (!below)
        below = in_table(LEVEL_WIRE, wire);
    if (!below)
        below = &unknown_communicator;
    c->rank = below->rank;
    c->wire = below->wire;
    c->local = group_hold(below->local);
    c->remote = group_hold(below->remote);
}

static struct communicator *describe(enum level level, MPI_Comm made)
{
    struct communicator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    atomic_init(&c->references, 1);
    c->handle = HANDLE(made);
    c->sources = -1;
    c->wire = made;
    if (level == LEVEL_WIRE)
        ask_library(c);
    else
        ask_wire(c);
    c->peers = c->remote ? c->remote : c->local;
    return c;
}

uint32_t communicator_of_identity(uint64_t identity)
{
    uint32_t id = (uint32_t)mix_two(0, identity);
    return id > COMM_SELF_ID ? id : id + COMM_SELF_ID + 1;
}

/* The id of a communicator whose identity a protocol has noted; 0: it has not. */
static uint32_t identity_id(enum level level, uint64_t handle)
{
    uint64_t identity;
    if (level != LEVEL_APP || !tap_handle_find(FAULTLINE_COMM_IDENTITY, handle, &identity))
        return 0;
    return communicator_of_identity(identity);
}

static void write_records(enum level level, unsigned call, const struct communicator *c,
                          uint32_t parent)
{
    unsigned count = 1 + group_records(c->local) + group_records(c->remote);
    struct record *r = record_reserve_row(level, RECORD_COMM, call, count);
    if (!r)
        return;
    r->comm = c->id;
    r->bytes = parent;
    r->tag = c->local->size;
    r->peer = c->rank;
    if (c->remote) {
        r->flags = FLAG_INTER;
        r->hash = (uint64_t)c->remote->size;
    }
    if (identity_id(level, c->handle) != 0)
        r->flags |= FLAG_PERSISTENT;
    group_write(group_write(r + 1, c->local), c->remote);
    record_instant(r, 0);
}

static void write_failed(enum level level, const struct record *call, MPI_Group handle)
{
    library_begin();
    struct group *failed = group_seen(handle);
    library_end();
    struct record *r =
        record_reserve_row(level, RECORD_FAILED, call->call, 1 + group_records(failed));
    if (r) {
        r->comm = call->comm;
        r->tag = failed->size;
        group_write(r + 1, failed);
        record_instant(r, 0);
    }
    group_drop(failed);
}

/* A handle of the upper level may be a protocol's own: its members are not asked for. */
void failed_end(enum level level, struct record *r, const MPI_Group *failed, int result)
{
    if (result == MPI_SUCCESS && tap_ready && level == LEVEL_WIRE)
        write_failed(level, r, *failed);
    call_end(r, result);
}

/* Members of Intercomm_create and of what is made without a parent have no common parent. */
static uint32_t common_parent(unsigned call, uint32_t parent)
{
    switch (call) {
    case CALL_MPI_Intercomm_create:
    case CALL_MPI_Comm_accept:
    case CALL_MPI_Comm_connect:
    case CALL_MPI_Comm_spawn:
    case CALL_MPI_Comm_spawn_multiple:
        return 0;
    default:
        return parent;
    }
}

uint64_t communicator_mark(const char *text)
{
    return text ? hash_bytes(text, strlen(text)) : 0;
}

struct communicator *communicator_ahead(MPI_Comm comm)
{
    uint32_t id = tap_ready ? identity_id(LEVEL_APP, HANDLE(comm)) : 0;
    struct communicator *c = id != 0 ? describe(LEVEL_APP, comm) : NULL;
    if (c)
        c->id = id;
    return c;
}

/* --- handed out by a library under test --------------------------------------------------------
 */

/* Mixed with the parent: how many the program itself makes of the same members says nothing here.
 */
#define HANDED_OUT 0x68616e64u

/* What the library under test makes in a call of its own it may hand to the program. */
static bool may_be_handed_out(enum level level)
{
    return level == LEVEL_WIRE && thread_state.app_depth == 0 &&
           runtime_recording == RECORDS_BY_CALLER;
}

/* `members`, mixed with the mark of the call. */
static void hand_out(unsigned call, const struct communicator *made, uint32_t parent,
                     uint64_t members)
{
    struct communicator *c = describe(LEVEL_APP, made->wire);
    if (!c)
        return;
    c->handed_out = true;
    c->id = next_id(LEVEL_APP, (uint32_t)mix_two(parent, HANDED_OUT), members);
    insert(LEVEL_APP, c);
    write_records(LEVEL_APP, call, c, parent);
}

/* It is freed, or more is known of it. True: there is no other of that handle. */
static bool take_back(uint64_t handle)
{
    struct communicator *c = in_table(LEVEL_APP, handle);
    if (!c || !c->handed_out)
        return !c;
    take_out(LEVEL_APP, c);
    communicator_drop(c);
    return true;
}

void communicator_back(uint64_t handle)
{
    MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;
    bool again = tap_ready && thread_state.app_depth == 0 && take_back(handle);
    struct communicator *c = again ? describe(LEVEL_APP, comm) : NULL;
    if (!c)
        return;
    c->id = identity_id(LEVEL_APP, handle);
    insert(LEVEL_APP, c);
    write_records(LEVEL_APP, CALL_NONE, c, 0);
}

void communicator_made(enum level level, unsigned call, uint32_t parent, MPI_Comm made,
                       uint64_t mark)
{
    /* MPI_Comm_get_parent returns the same one each time. */
    if (made == handles.COMM_NULL ||
        (call == CALL_MPI_Comm_get_parent && in_table(level, HANDLE(made))))
        return;
    struct communicator *c = describe(level, made);
    if (!c)
        return;
    uint64_t members = group_members_hash(c->local, c->remote);
    c->id = identity_id(level, c->handle);
    if (mark)
        members = mix_two(members, mark);
    if (c->id == 0)
        c->id = next_id(level, common_parent(call, parent), members);
    insert(level, c);
    write_records(level, call, c, parent);
    if (may_be_handed_out(level))
        hand_out(call, c, common_parent(call, parent), members);
}

uint32_t communicator_duplicate_id(enum level level, const struct communicator *parent)
{
    return next_id(level, parent->id, group_members_hash(parent->local, parent->remote));
}

void communicator_made_as(enum level level, unsigned call, const struct communicator *parent,
                          uint32_t id, MPI_Comm made)
{
    struct communicator *c = made == handles.COMM_NULL ? NULL : describe(level, made);
    if (!c)
        return;
    c->id = id;
    insert(level, c);
    write_records(level, call, c, parent->id);
    if (may_be_handed_out(level))
        hand_out(call, c, parent->id, group_members_hash(c->local, c->remote));
}

struct record *make_begin(enum level level, unsigned call, MPI_Comm parent)
{
    return call_begin(level, call, parent);
}

void make_end(enum level level, struct record *r, MPI_Comm parent, const MPI_Comm *made,
              uint64_t mark, int result)
{
    if (result == MPI_SUCCESS && tap_ready)
        communicator_made(level, r->call, communicator_find(level, parent)->id, *made, mark);
    call_end(r, result);
}

/* Taken out of the table before the call: once it is freed, the library may give its handle to
 * another thread. While a request of the program holds it a protocol may still note what becomes of
 * its messages, so it goes back, as one that is freed. */
struct record *communicator_free_begin(enum level level, unsigned call, const MPI_Comm *comm,
                                       struct communicator **freed)
{
    *freed = comm && tap_ready ? in_table(level, HANDLE(*comm)) : NULL;
    struct record *r = call_begin(level, call, comm ? *comm : handles.COMM_NULL);
    if (*freed)
        take_out(level, *freed);
    return r;
}

void communicator_free_end(enum level level, struct record *r, struct communicator *freed,
                           int result)
{
    if (freed && result == MPI_SUCCESS) {
        if (may_be_handed_out(level))
            take_back(freed->handle);
        if (level == LEVEL_APP) {
            freed->freed = true;
            insert(level, freed);
        }
        communicator_drop(freed);
    } else if (freed) {
        insert(level, freed);
    }
    call_end(r, result);
}

/* The MPI_COMM_WORLD of processes that came later is another one than the first. */
static void open_later_world(enum level level, struct group *members)
{
    struct communicator *c = &communicator_world[level];
    c->local = group_hold(members);
    c->peers = members;
    c->id = next_id(level, 0, members->hash);
    write_records(level, CALL_NONE, c, 0);
}

void communicator_open(int rank, int size, int number)
{
    struct group *members = group_open(rank, size, number);
    for (int level = LEVEL_APP; level <= LEVEL_WIRE; level++) {
        communicator_world[level].rank = rank;
        communicator_world[level].wire = handles.COMM_WORLD;
        communicator_self[level].wire = handles.COMM_SELF;
        if (!members->permanent)
            open_later_world((enum level)level, members);
    }
    group_drop(members);
}

void communicator_close(void)
{
    group_close();
}
