/* A ULFM program made of steps, given as arguments, one or more (with spaces between) in each: what
 * each rank calls, in order. So one program brings about every situation of family U; which process
 * dies where is the plan's affair.
 *
 *     survivors barrier 0:send=2 2:recv=0 shrink agree=3
 *
 * A step that begins with "R:" is for rank R of the first MPI_COMM_WORLD alone. A call that raises
 * revokes the communicator, with --keep it does not; the program goes on with the next step. Steps
 * are on the communicator in use: the world at first, then what `use`, `shrink` or `get` says. In
 * the end all that live shrink the world and tell who is missing. */
#include "missing.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITEMS 4
#define RANKS_MOST 64
#define REQUESTS_MOST 32
#define TAG 7
#define SLOTS 4
#define EXIT_USAGE 64
#define LARGE 40000 /* ints: more than a standard send takes along */

enum form { BLOCKING, STARTED, PERSISTENT };

static struct {
    int rank; /* in the first MPI_COMM_WORLD; -1: it was spawned */
    bool keep;
    bool left_out; /* of the communicator that is made */
    MPI_Comm used, made, slot[SLOTS];
    int requests;
    MPI_Request request[REQUESTS_MOST];
    bool persistent[REQUESTS_MOST];
    int out[ITEMS * RANKS_MOST], in[ITEMS * RANKS_MOST];
    int large[LARGE];
    int count[RANKS_MOST], from[RANKS_MOST];
    MPI_Datatype type[RANKS_MOST];
    MPI_Message message;
} me = {.used = MPI_COMM_NULL, .made = MPI_COMM_NULL};

/* --- what a call returned --------------------------------------------------------------------- */

static int class_of(int result)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(result, &class);
    return class;
}

static bool is_failure(int class)
{
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING ||
           class == MPIX_ERR_REVOKED || class == MPI_ERR_IN_STATUS;
}

/* True if it went well. */
static bool judge(const char *step, int result)
{
    int class = class_of(result);
    if (class == MPI_SUCCESS)
        return true;
    if (!is_failure(class)) {
        fprintf(stderr, "survivors: %s: error of class %d\n", step, class);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (!me.keep && class != MPIX_ERR_REVOKED)
        MPIX_Comm_revoke(me.used);
    return false;
}

/* --- point to point --------------------------------------------------------------------------- */

static MPI_Request *next_request(bool persistent)
{
    if (me.requests == REQUESTS_MOST)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    me.persistent[me.requests] = persistent;
    me.request[me.requests] = MPI_REQUEST_NULL;
    return &me.request[me.requests++];
}

static int start(int result)
{
    MPI_Request *made = &me.request[me.requests - 1];
    return result == MPI_SUCCESS ? MPI_Start(made) : result;
}

static int exchange(int peer)
{
    return MPI_Sendrecv(me.out, 1, MPI_INT, peer, TAG, me.in, 1, MPI_INT, peer, TAG, me.used,
                        MPI_STATUS_IGNORE);
}

static int matched_receive(int peer)
{
    int result = MPI_Mprobe(peer, TAG, me.used, &me.message, MPI_STATUS_IGNORE);
    return result == MPI_SUCCESS ? MPI_Mrecv(me.in, 1, MPI_INT, &me.message, MPI_STATUS_IGNORE)
                                 : result;
}

static int cancel(void)
{
    return me.requests > 0 ? MPI_Cancel(&me.request[me.requests - 1]) : MPI_SUCCESS;
}

/* All that are under way, one after the other; a receive that is left pending is waited for again
 * once its failure is acknowledged. */
static int wait_for_all(void)
{
    int first = MPI_SUCCESS;
    for (int i = 0; i < me.requests; i++) {
        int result = MPI_Wait(&me.request[i], MPI_STATUS_IGNORE);
        if (class_of(result) == MPIX_ERR_PROC_FAILED_PENDING) {
            MPIX_Comm_failure_ack(me.used);
            MPI_Cancel(&me.request[i]);
            MPI_Wait(&me.request[i], MPI_STATUS_IGNORE);
        }
        if (me.persistent[i] && me.request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&me.request[i]);
        first = first == MPI_SUCCESS ? result : first;
    }
    me.requests = 0;
    return first;
}

static int wait_together(void)
{
    MPI_Status status[REQUESTS_MOST];
    return MPI_Waitall(me.requests, me.request, status);
}

static int message_step(const char *name, int peer, bool *known)
{
    *known = true;
    if (strcmp(name, "send") == 0)
        return MPI_Send(me.out, 1, MPI_INT, peer, TAG, me.used);
    if (strcmp(name, "large") == 0)
        return MPI_Send(me.large, LARGE, MPI_INT, peer, TAG, me.used);
    if (strcmp(name, "ssend") == 0)
        return MPI_Ssend(me.out, 1, MPI_INT, peer, TAG, me.used);
    if (strcmp(name, "recv") == 0)
        return MPI_Recv(me.large, LARGE, MPI_INT, peer, TAG, me.used, MPI_STATUS_IGNORE);
    if (strcmp(name, "exchange") == 0)
        return exchange(peer);
    if (strcmp(name, "probe") == 0)
        return MPI_Probe(peer, TAG, me.used, MPI_STATUS_IGNORE);
    if (strcmp(name, "mrecv") == 0)
        return matched_receive(peer);
    if (strcmp(name, "isend") == 0)
        return MPI_Isend(me.out, 1, MPI_INT, peer, TAG, me.used, next_request(false));
    if (strcmp(name, "issend") == 0)
        return MPI_Issend(me.out, 1, MPI_INT, peer, TAG, me.used, next_request(false));
    if (strcmp(name, "irecv") == 0)
        return MPI_Irecv(me.in, 1, MPI_INT, peer, TAG, me.used, next_request(false));
    if (strcmp(name, "ilarge") == 0)
        return MPI_Isend(me.large, LARGE, MPI_INT, peer, TAG, me.used, next_request(false));
    if (strcmp(name, "plarge") == 0)
        return start(
            MPI_Send_init(me.large, LARGE, MPI_INT, peer, TAG, me.used, next_request(true)));
    if (strcmp(name, "psend") == 0)
        return start(MPI_Send_init(me.out, 1, MPI_INT, peer, TAG, me.used, next_request(true)));
    if (strcmp(name, "precv") == 0)
        return start(MPI_Recv_init(me.in, 1, MPI_INT, peer, TAG, me.used, next_request(true)));
    *known = false;
    return MPI_SUCCESS;
}

/* --- collectives ------------------------------------------------------------------------------ */

#define OUT me.out, ITEMS, MPI_INT
#define IN me.in, ITEMS, MPI_INT
#define OUT_V me.out, me.count, me.from, MPI_INT
#define IN_V me.in, me.count, me.from, MPI_INT
#define OUT_W me.out, me.count, me.from, me.type
#define IN_W me.in, me.count, me.from, me.type
#define REDUCED me.out, me.in, ITEMS, MPI_INT, MPI_SUM

/* COLLECTIVE(name, as a blocking one, started, and the arguments before the communicator) */
#define COLLECTIVES(COLLECTIVE)                                                                    \
    COLLECTIVE(bcast, Bcast, Ibcast, me.in, ITEMS, MPI_INT, root)                                  \
    COLLECTIVE(scatter, Scatter, Iscatter, OUT, IN, root)                                          \
    COLLECTIVE(scatterv, Scatterv, Iscatterv, OUT_V, IN, root)                                     \
    COLLECTIVE(gather, Gather, Igather, OUT, IN, root)                                             \
    COLLECTIVE(gatherv, Gatherv, Igatherv, me.out, 1, MPI_INT, IN_V, root)                         \
    COLLECTIVE(allgather, Allgather, Iallgather, OUT, IN)                                          \
    COLLECTIVE(allgatherv, Allgatherv, Iallgatherv, me.out, 1, MPI_INT, IN_V)                      \
    COLLECTIVE(alltoall, Alltoall, Ialltoall, OUT, IN)                                             \
    COLLECTIVE(alltoallv, Alltoallv, Ialltoallv, OUT_V, IN_V)                                      \
    COLLECTIVE(alltoallw, Alltoallw, Ialltoallw, OUT_W, IN_W)                                      \
    COLLECTIVE(reduce, Reduce, Ireduce, REDUCED, root)                                             \
    COLLECTIVE(allreduce, Allreduce, Iallreduce, REDUCED)                                          \
    COLLECTIVE(scan, Scan, Iscan, REDUCED)                                                         \
    COLLECTIVE(exscan, Exscan, Iexscan, REDUCED)                                                   \
    COLLECTIVE(reduce_scatter, Reduce_scatter, Ireduce_scatter, me.out, me.in, me.count, MPI_INT,  \
               MPI_SUM)                                                                            \
    COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, REDUCED)

#define FORMS(name, blocking, started, ...)                                                        \
    static int do_##name(enum form form, int root)                                                 \
    {                                                                                              \
        (void)root;                                                                                \
        if (form == BLOCKING)                                                                      \
            return MPI_##blocking(__VA_ARGS__, me.used);                                           \
        if (form == STARTED)                                                                       \
            return MPI_##started(__VA_ARGS__, me.used, next_request(false));                       \
        return start(                                                                              \
            MPI_##blocking##_init(__VA_ARGS__, me.used, MPI_INFO_NULL, next_request(true)));       \
    }
COLLECTIVES(FORMS)

static int do_barrier(enum form form, int root)
{
    (void)root;
    if (form == BLOCKING)
        return MPI_Barrier(me.used);
    if (form == STARTED)
        return MPI_Ibarrier(me.used, next_request(false));
    return start(MPI_Barrier_init(me.used, MPI_INFO_NULL, next_request(true)));
}

static const struct {
    const char *name;
    int (*call)(enum form form, int root);
} collectives[] = {{"barrier", do_barrier},
#define LISTED(name, ...) {#name, do_##name},
                   COLLECTIVES(LISTED)
#undef LISTED
};

/* "bcast", "ibcast" or "pbcast". */
static int collective_step(const char *name, int root, bool *known)
{
    static const char *const before[] = {[BLOCKING] = "", [STARTED] = "i", [PERSISTENT] = "p"};
    for (size_t i = 0; i < sizeof collectives / sizeof collectives[0]; i++)
        for (int form = BLOCKING; form <= PERSISTENT; form++) {
            size_t length = strlen(before[form]);
            if (strncmp(name, before[form], length) != 0 ||
                strcmp(name + length, collectives[i].name) != 0)
                continue;
            *known = true;
            return collectives[i].call((enum form)form, root);
        }
    *known = false;
    return MPI_SUCCESS;
}

/* --- communicators ---------------------------------------------------------------------------- */

static int halves(void)
{
    MPI_Comm half;
    int rank, size;
    MPI_Comm_rank(me.used, &rank);
    MPI_Comm_size(me.used, &size);
    bool upper = rank >= size / 2;
    int result = MPI_Comm_split(me.used, upper, rank, &half);
    if (result != MPI_SUCCESS)
        return result;
    result = MPI_Intercomm_create(half, 0, me.used, upper ? 0 : size / 2, TAG, &me.made);
    MPI_Comm_free(&half);
    return result;
}

static int merge(void)
{
    int inter;
    MPI_Comm_test_inter(me.used, &inter);
    return inter ? MPI_Intercomm_merge(me.used, 0, &me.made) : MPI_SUCCESS;
}

/* All but rank `without` of the communicator, which is not asked. */
static int group(int without)
{
    MPI_Group all, rest;
    int rank;
    MPI_Comm_rank(me.used, &rank);
    MPI_Comm_group(me.used, &all);
    MPI_Group_excl(all, 1, &without, &rest);
    me.left_out = rank == without;
    int result = me.left_out ? MPI_SUCCESS : MPI_Comm_create_group(me.used, rest, TAG, &me.made);
    MPI_Group_free(&all);
    MPI_Group_free(&rest);
    return result;
}

static int created(void)
{
    MPI_Group all;
    MPI_Comm_group(me.used, &all);
    int result = MPI_Comm_create(me.used, all, &me.made);
    MPI_Group_free(&all);
    return result;
}

static int grid(void)
{
    int size, periodic = 1;
    MPI_Comm_size(me.used, &size);
    return MPI_Cart_create(me.used, 1, &size, &periodic, 0, &me.made);
}

static int split(void)
{
    int rank;
    MPI_Comm_rank(me.used, &rank);
    return MPI_Comm_split(me.used, rank % 2, rank, &me.made);
}

static int spawn(int count)
{
    static char child[] = "--child";
    static char *arguments[] = {child, NULL};
    extern char *program_invocation_name;
    return MPI_Comm_spawn(program_invocation_name, arguments, count, MPI_INFO_NULL, 0, me.used,
                          &me.made, MPI_ERRCODES_IGNORE);
}

/* An object of the communicator that is in use. */
static int make_object(const char *name, int value, bool *known)
{
    *known = true;
    if (strcmp(name, "dup") == 0)
        return MPI_Comm_dup(me.used, &me.made);
    if (strcmp(name, "split") == 0)
        return split();
    if (strcmp(name, "create") == 0)
        return created();
    if (strcmp(name, "group") == 0)
        return group(value);
    if (strcmp(name, "cart") == 0)
        return grid();
    if (strcmp(name, "inter") == 0)
        return halves();
    if (strcmp(name, "merge") == 0)
        return merge();
    if (strcmp(name, "spawn") == 0)
        return spawn(value);
    *known = false;
    return MPI_SUCCESS;
}

/* What a call that raised has left in `made` means nothing: with Open MPI it may be a null pointer.
 */
static int making_step(const char *name, int value, bool *known)
{
    me.made = MPI_COMM_NULL;
    int result = make_object(name, value, known);
    if (result != MPI_SUCCESS)
        me.made = MPI_COMM_NULL;
    return result;
}

/* --- ULFM ------------------------------------------------------------------------------------- */

/* Nobody goes on with what not all have. */
static int make_sure(void)
{
    int flag = me.made != MPI_COMM_NULL || me.left_out;
    me.left_out = false;
    MPIX_Comm_failure_ack(me.used);
    int result = MPIX_Comm_agree(me.used, &flag);
    if (flag == 0 && me.made != MPI_COMM_NULL) {
        MPIX_Comm_revoke(me.made); /* spawned processes wait on it */
        MPI_Comm_free(&me.made);
    }
    return result;
}

static int agree(int flag)
{
    return MPIX_Comm_agree(me.used, &flag);
}

static int look_at_acked(void)
{
    MPI_Group failed;
    int result = MPIX_Comm_failure_get_acked(me.used, &failed);
    if (result == MPI_SUCCESS && failed != MPI_GROUP_EMPTY)
        MPI_Group_free(&failed);
    return result;
}

static int shrink(void)
{
    MPI_Comm smaller;
    int result = MPIX_Comm_shrink(me.used, &smaller);
    if (result == MPI_SUCCESS)
        me.used = smaller;
    return result;
}

/* This process is through with it, whatever the others still do there. */
static int free_used(void)
{
    return me.used != MPI_COMM_WORLD ? MPI_Comm_free(&me.used) : MPI_SUCCESS;
}

static int use(void)
{
    if (me.made != MPI_COMM_NULL)
        me.used = me.made;
    me.made = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* Two communicators at once, or more: `get` gives none to who has not got it, and that process does
 * nothing until it gets another. */
static int get(int slot)
{
    me.used = slot >= 0 && slot < SLOTS ? me.slot[slot] : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int put(int slot)
{
    if (slot >= 0 && slot < SLOTS)
        me.slot[slot] = me.made;
    me.made = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int use_world(void)
{
    me.used = MPI_COMM_WORLD;
    return MPI_SUCCESS;
}

static int ulfm_step(const char *name, int value, bool *known)
{
    *known = true;
    if (strcmp(name, "revoke") == 0)
        return MPIX_Comm_revoke(me.used);
    if (strcmp(name, "agree") == 0)
        return agree(value);
    if (strcmp(name, "ack") == 0)
        return MPIX_Comm_failure_ack(me.used);
    if (strcmp(name, "acked") == 0)
        return look_at_acked();
    if (strcmp(name, "shrink") == 0)
        return shrink();
    if (strcmp(name, "sure") == 0)
        return make_sure();
    if (strcmp(name, "use") == 0)
        return use();
    if (strcmp(name, "free") == 0)
        return free_used();
    if (strcmp(name, "get") == 0)
        return get(value);
    if (strcmp(name, "put") == 0)
        return put(value);
    if (strcmp(name, "world") == 0)
        return use_world();
    if (strcmp(name, "wait") == 0)
        return wait_for_all();
    if (strcmp(name, "waitall") == 0)
        return wait_together();
    if (strcmp(name, "cancel") == 0)
        return cancel();
    if (strcmp(name, "sleep") == 0) {
        usleep((useconds_t)value);
        return MPI_SUCCESS;
    }
    *known = false;
    return MPI_SUCCESS;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void refuse(const char *step)
{
    fprintf(stderr,
            "survivors: %s is no step; there are: send large ssend recv exchange probe mrecv isend "
            "issend ilarge irecv psend plarge precv (=RANK, or any), wait waitall cancel, "
            "sleep=MICROSECONDS, barrier",
            step);
    for (size_t i = 1; i < sizeof collectives / sizeof collectives[0]; i++)
        fprintf(stderr, " %s", collectives[i].name);
    fprintf(stderr, " (=ROOT; with i or p in front: started, persistent), dup split create "
                    "group=RANK cart inter merge spawn=COUNT use free sure world put=SLOT "
                    "get=SLOT, revoke shrink "
                    "agree=FLAG ack acked; each may begin with RANK:\n");
    exit(EXIT_USAGE);
}

static int value_of(const char *text)
{
    return text == NULL ? 0 : strcmp(text, "any") == 0 ? MPI_ANY_SOURCE : atoi(text);
}

static int (*const kinds[])(const char *name, int value,
                            bool *known) = {message_step, collective_step, ulfm_step, making_step};

static void take(char *step)
{
    char *colon = strchr(step, ':');
    if (colon != NULL && atoi(step) != me.rank)
        return;
    char *name = colon != NULL ? colon + 1 : step;
    char *equals = strchr(name, '=');
    bool known = false;
    if (me.used == MPI_COMM_NULL && strncmp(name, "get", 3) != 0 && strcmp(name, "world") != 0)
        return;
    if (equals != NULL)
        *equals = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !known; i++) {
        int result = kinds[i](name, value_of(equals != NULL ? equals + 1 : NULL), &known);
        if (known)
            judge(name, result);
    }
    if (!known)
        refuse(name);
}

static void take_all(char *argument)
{
    char *rest = NULL;
    for (char *step = strtok_r(argument, " ", &rest); step; step = strtok_r(NULL, " ", &rest))
        if (strcmp(step, "--keep") == 0)
            me.keep = true;
        else
            take(step);
}

/* Joins those that have spawned it, and does nothing more. */
static void be_child(MPI_Comm parents)
{
    MPI_Comm all;
    MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    if (MPI_Intercomm_merge(parents, 1, &all) == MPI_SUCCESS)
        MPI_Barrier(all);
}

int main(int argc, char **argv)
{
    MPI_Comm parents;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_get_parent(&parents);
    me.used = MPI_COMM_WORLD;
    for (int i = 0; i < SLOTS; i++)
        me.slot[i] = MPI_COMM_NULL;
    for (int i = 0; i < RANKS_MOST; i++) {
        me.count[i] = 1;
        me.from[i] = i;
        me.type[i] = MPI_INT;
    }
    if (parents != MPI_COMM_NULL) {
        be_child(parents);
    } else {
        for (int i = 1; i < argc; i++)
            take_all(argv[i]);
        note_missing();
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
