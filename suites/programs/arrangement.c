/* One collective over and over, all ranks in step: nobody begins an iteration before the others
 * have finished the one before. They keep step through memory that they share, not through MPI, so
 * that which rank stands where against a recovery line when it makes the call is for a scenario
 * alone to say. With --lag the others stay after one rank on purpose. */
#include "checkpoint.h"
#include "faultline.h"
#include "mpi_library.h"
#include "program.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH_BYTES 64
#define TAG_MESSAGE 5
#define POLL_US 100
#define EACH (-1) /* every call in turn */

/* In the order of --call. */
enum call {
    BCAST,
    SCATTER,
    SCATTERV,
    GATHER,
    GATHERV,
    REDUCE,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    BARRIER,
    CALLS
};

/* In the order of --nonblocking. */
enum way { BLOCKING, NONBLOCKING, PERSISTENT };

struct options {
    long iterations, first, last, call, root, members, reverse, lag, leader, message, size;
    long nonblocking, told;
};

struct arrangement {
    const struct options *options;
    int rank;
    int ranks;
    MPI_Comm comm; /* MPI_COMM_NULL: this rank only keeps step */
    int place;
    int size; /* of comm */
    enum way way;
    /* State. */
    uint64_t iteration;
    uint64_t sum; /* of all that was got so far, so that nothing can be lost unseen */
    MPI_Request request;
    /* Rows of numbers: options->size for each member. */
    uint64_t *mine, *all;
    int *counts, *offsets, *offset_bytes;
    MPI_Datatype *types;
    _Atomic uint64_t *step; /* by rank: the iteration that it has come to, plus one; 0: none yet */
    bool restored;
};

/* --- keeping step -------------------------------------------------------------------------- */

/* Rank 0 makes the memory, the others open it by the number of its file in that process. */
static void share_steps(struct arrangement *arrangement)
{
    size_t bytes = (size_t)arrangement->ranks * sizeof *arrangement->step;
    int where[2] = {(int)getpid(), -1};
    if (arrangement->rank == 0) {
        where[1] = memfd_create("steps", 0);
        if (where[1] < 0 || ftruncate(where[1], (off_t)bytes) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
    int file = open(path, O_RDWR);
    void *memory =
        file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    arrangement->step = memory;
}

/* The library sets up a connection when it is first used, and for that the other side must be in a
 * call: so that nobody waits for somebody who keeps step, all are used here. */
static void connect_all(const struct arrangement *arrangement)
{
    int ranks = arrangement->ranks, mine = 0, its = 0;
    for (int distance = 1; distance < ranks; distance++)
        MPI_Sendrecv(&mine, 1, MPI_INT, (arrangement->rank + distance) % ranks, TAG_MESSAGE, &its,
                     1, MPI_INT, (arrangement->rank + ranks - distance) % ranks, TAG_MESSAGE,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Which iteration the other must have come to before this rank goes on with its own. */
static uint64_t needed_of(const struct arrangement *arrangement, int other)
{
    const struct options *options = arrangement->options;
    uint64_t iteration = arrangement->iteration, lag = (uint64_t)options->lag;
    uint64_t last = (uint64_t)options->iterations;
    if (arrangement->rank == options->leader)
        return iteration > lag ? iteration - lag : 0;
    if (other != options->leader)
        return iteration;
    return iteration + lag < last ? iteration + lag : last;
}

/* After a restart nobody waits for a rank that is not there yet: what it does again in order to get
 * there may need this one. */
static bool has_come(const struct arrangement *arrangement, int other)
{
    uint64_t step = atomic_load(&arrangement->step[other]);
    return step == 0 ? arrangement->restored : step > needed_of(arrangement, other);
}

/* Faultline does not see what a rank reads in shared memory, so the rank notes it. With --told the
 * protocol gets it as well, because a repetition of the rank may read something else. */
static bool all_have_come(const struct arrangement *arrangement)
{
    bool come = true;
    for (int other = 0; other < arrangement->ranks && come; other++)
        come = other == arrangement->rank || has_come(arrangement, other);
    if (arrangement->options->told)
        checkpoint_decision("all have come", &come, sizeof come);
    else
        faultline_drawn("all have come", &come, sizeof come);
    return come;
}

/* A barrier of one lets the library, and whatever lies above it, go on with what has arrived. */
static void keep_step(struct arrangement *arrangement)
{
    atomic_store(&arrangement->step[arrangement->rank], arrangement->iteration + 1);
    while (!all_have_come(arrangement)) {
        MPI_Barrier(MPI_COMM_SELF);
        program_compute(POLL_US);
    }
}

/* --- the calls ----------------------------------------------------------------------------- */

static void fill(struct arrangement *arrangement)
{
    long numbers = arrangement->options->size * arrangement->size;
    for (long i = 0; i < numbers; i++)
        arrangement->mine[i] = program_mix(arrangement->sum, (uint64_t)i) + arrangement->iteration;
    memset(arrangement->all, 0, (size_t)numbers * sizeof *arrangement->all);
}

static void take_in(struct arrangement *arrangement, const uint64_t *numbers, long count)
{
    for (long i = 0; i < count; i++)
        arrangement->sum = program_mix(arrangement->sum, numbers[i]);
}

/* Where something is the next one's turn. A persistent request is what it was at first. */
static long turn(const struct arrangement *arrangement, int of)
{
    return arrangement->way == PERSISTENT ? 0 : (long)(arrangement->iteration % (uint64_t)of);
}

static int root_of(const struct arrangement *arrangement)
{
    long root = arrangement->options->root;
    return (int)(root >= 0 ? root : turn(arrangement, arrangement->size));
}

/* The call in the way that is asked for: ended before it returns, or begun with a request; or made
 * into a persistent request, which nobody has begun. */
#define CALL(name, nonblocking, persistent, ...)                                                   \
    do {                                                                                           \
        if (way == BLOCKING)                                                                       \
            name(__VA_ARGS__, comm);                                                               \
        else if (way == NONBLOCKING)                                                               \
            nonblocking(__VA_ARGS__, comm, request);                                               \
        else                                                                                       \
            persistent(__VA_ARGS__, comm, MPI_INFO_NULL, request);                                 \
    } while (0)

static void call_with_root(struct arrangement *arrangement, enum call call, enum way way,
                           MPI_Request *request)
{
    uint64_t *mine = arrangement->mine, *all = arrangement->all;
    int n = (int)arrangement->options->size, root = root_of(arrangement);
    const int *counts = arrangement->counts, *offsets = arrangement->offsets;
    const MPI_Datatype type = MPI_UINT64_T;
    MPI_Comm comm = arrangement->comm;
    switch (call) {
    case BCAST:
        CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, all, n, type, root);
        break;
    case SCATTER:
        CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, mine, n, type, all, n, type, root);
        break;
    case SCATTERV:
        CALL(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, mine, counts, offsets, type, all, n,
             type, root);
        break;
    case GATHER:
        CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, mine, n, type, all, n, type, root);
        break;
    case GATHERV:
        CALL(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, mine, n, type, all, counts, offsets, type,
             root);
        break;
    default:
        CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, mine, all, n, type, MPI_SUM, root);
        break;
    }
}

static void exchange(struct arrangement *arrangement, enum call call, enum way way,
                     MPI_Request *request)
{
    uint64_t *mine = arrangement->mine, *all = arrangement->all;
    int n = (int)arrangement->options->size;
    const int *counts = arrangement->counts, *offsets = arrangement->offsets;
    const int *bytes = arrangement->offset_bytes;
    const MPI_Datatype type = MPI_UINT64_T, *types = arrangement->types;
    MPI_Comm comm = arrangement->comm;
    switch (call) {
    case ALLGATHER:
        CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, mine, n, type, all, n, type);
        break;
    case ALLGATHERV:
        CALL(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, mine, n, type, all, counts,
             offsets, type);
        break;
    case ALLTOALL:
        CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, mine, n, type, all, n, type);
        break;
    case ALLTOALLV:
        CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, mine, counts, offsets, type, all,
             counts, offsets, type);
        break;
    default:
        CALL(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, mine, counts, bytes, types, all,
             counts, bytes, types);
        break;
    }
}

static void barrier(MPI_Comm comm, enum way way, MPI_Request *request)
{
    if (way == BLOCKING)
        MPI_Barrier(comm);
    else if (way == NONBLOCKING)
        MPI_Ibarrier(comm, request);
    else
        MPI_Barrier_init(comm, MPI_INFO_NULL, request);
}

static void reduce_among_all(struct arrangement *arrangement, enum call call, enum way way,
                             MPI_Request *request)
{
    uint64_t *mine = arrangement->mine, *all = arrangement->all;
    int n = (int)arrangement->options->size;
    const int *counts = arrangement->counts;
    const MPI_Datatype type = MPI_UINT64_T;
    MPI_Comm comm = arrangement->comm;
    switch (call) {
    case ALLREDUCE:
        CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, mine, all, n, type, MPI_SUM);
        break;
    case REDUCE_SCATTER:
        CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, mine, all, counts,
             type, MPI_SUM);
        break;
    case REDUCE_SCATTER_BLOCK:
        CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
             mine, all, n, type, MPI_SUM);
        break;
    case SCAN:
        CALL(MPI_Scan, MPI_Iscan, MPI_Scan_init, mine, all, n, type, MPI_SUM);
        break;
    case EXSCAN:
        CALL(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, mine, all, n, type, MPI_SUM);
        break;
    default:
        barrier(comm, way, request);
        break;
    }
}

static void make_call(struct arrangement *arrangement, enum call call, enum way way,
                      MPI_Request *request)
{
    if (call <= REDUCE)
        call_with_root(arrangement, call, way, request);
    else if (call <= ALLTOALLW)
        exchange(arrangement, call, way, request);
    else
        reduce_among_all(arrangement, call, way, request);
}

static enum call next_call(const struct arrangement *arrangement)
{
    long call = arrangement->options->call;
    return (enum call)(call == EACH ? turn(arrangement, CALLS) : call);
}

/* Begins the call, and ends it if it is blocking. */
static void begin_call(struct arrangement *arrangement)
{
    enum call call = next_call(arrangement);
    fill(arrangement);
    if (call == BCAST && arrangement->place == root_of(arrangement))
        memcpy(arrangement->all, arrangement->mine,
               (size_t)arrangement->options->size * sizeof *arrangement->all);
    if (arrangement->way == PERSISTENT)
        MPI_Start(&arrangement->request);
    else
        make_call(arrangement, call, arrangement->way, &arrangement->request);
}

static void end_call(struct arrangement *arrangement)
{
    MPI_Wait(&arrangement->request, MPI_STATUS_IGNORE);
    take_in(arrangement, arrangement->all, arrangement->options->size * arrangement->size);
}

/* --- the iteration ------------------------------------------------------------------------- */

/* A message to the next rank, sent ahead of the call and received after it. */
static void send_message(const struct arrangement *arrangement)
{
    uint64_t word = arrangement->sum;
    int next = (arrangement->rank + 1) % arrangement->ranks;
    MPI_Send(&word, 1, MPI_UINT64_T, next, TAG_MESSAGE, MPI_COMM_WORLD);
}

static void receive_message(struct arrangement *arrangement)
{
    uint64_t word;
    int before = (arrangement->rank + arrangement->ranks - 1) % arrangement->ranks;
    MPI_Recv(&word, 1, MPI_UINT64_T, before, TAG_MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take_in(arrangement, &word, 1);
}

static void iterate(struct arrangement *arrangement)
{
    bool message = arrangement->options->message != 0 && arrangement->ranks > 1;
    bool calls = arrangement->iteration >= (uint64_t)arrangement->options->first &&
                 arrangement->iteration <= (uint64_t)arrangement->options->last &&
                 arrangement->comm != MPI_COMM_NULL;
    bool blocks = arrangement->way == BLOCKING;
    if (!arrangement->options->told)
        potential_checkpoint();
    keep_step(arrangement);
    if (message)
        send_message(arrangement);
    if (calls)
        begin_call(arrangement);
    if (calls && blocks)
        end_call(arrangement);
    if (message)
        receive_message(arrangement);
    if (calls && !blocks)
        end_call(arrangement);
    arrangement->iteration++;
    if (arrangement->options->told)
        potential_checkpoint();
}

static void make_rows(struct arrangement *arrangement)
{
    size_t size = (size_t)arrangement->size, row = (size_t)arrangement->options->size;
    arrangement->mine = program_memory(size * row, sizeof *arrangement->mine);
    arrangement->all = program_memory(size * row, sizeof *arrangement->all);
    arrangement->counts = program_memory(size, sizeof(int));
    arrangement->offsets = program_memory(size, sizeof(int));
    arrangement->offset_bytes = program_memory(size, sizeof(int));
    arrangement->types = program_memory(size, sizeof(MPI_Datatype));
    for (size_t i = 0; i < size; i++) {
        arrangement->counts[i] = (int)row;
        arrangement->offsets[i] = (int)(i * row);
        arrangement->offset_bytes[i] = (int)(i * row * sizeof(uint64_t));
        arrangement->types[i] = MPI_UINT64_T;
    }
}

static void free_rows(struct arrangement *arrangement)
{
    free(arrangement->mine);
    free(arrangement->all);
    free(arrangement->counts);
    free(arrangement->offsets);
    free(arrangement->offset_bytes);
    free(arrangement->types);
}

/* The first --members ranks, in their order or the other way round; MPI_COMM_WORLD if that is it.
 */
static void make_communicator(struct arrangement *arrangement)
{
    const struct options *options = arrangement->options;
    long members = options->members > 0 && options->members < arrangement->ranks
                       ? options->members
                       : arrangement->ranks;
    arrangement->comm = MPI_COMM_WORLD;
    if (members < arrangement->ranks || options->reverse) {
        int color = arrangement->rank < members ? 0 : MPI_UNDEFINED;
        int key = options->reverse ? -arrangement->rank : arrangement->rank;
        MPI_Comm_split(MPI_COMM_WORLD, color, key, &arrangement->comm);
    }
    arrangement->size = 1;
    if (arrangement->comm != MPI_COMM_NULL) {
        MPI_Comm_rank(arrangement->comm, &arrangement->place);
        MPI_Comm_size(arrangement->comm, &arrangement->size);
    }
}

/* A persistent request is made once and comes back with the state, and so its buffers are in that:
 * the longest way round, for a protocol. */
static void register_call(struct arrangement *arrangement)
{
    size_t bytes =
        (size_t)arrangement->size * (size_t)arrangement->options->size * sizeof *arrangement->all;
    if (arrangement->way != PERSISTENT)
        return;
    checkpoint_register("request", &arrangement->request, sizeof arrangement->request);
    checkpoint_register("mine", arrangement->mine, bytes);
    checkpoint_register("all", arrangement->all, bytes);
}

static void run(struct arrangement *arrangement)
{
    arrangement->sum = program_mix(1, (uint64_t)arrangement->rank);
    make_communicator(arrangement);
    make_rows(arrangement);
    share_steps(arrangement);
    connect_all(arrangement);
    checkpoint_register("iteration", &arrangement->iteration, sizeof arrangement->iteration);
    checkpoint_register("sum", &arrangement->sum, sizeof arrangement->sum);
    register_call(arrangement);
    arrangement->restored = checkpoint_restore() > 0;
    bool keeps = arrangement->way == PERSISTENT && arrangement->comm != MPI_COMM_NULL;
    if (keeps && !arrangement->restored)
        make_call(arrangement, next_call(arrangement), PERSISTENT, &arrangement->request);

    while (arrangement->iteration < (uint64_t)arrangement->options->iterations)
        iterate(arrangement);
    keep_step(arrangement);
    if (keeps)
        MPI_Request_free(&arrangement->request);

    faultline_result("sum", &arrangement->sum, sizeof arrangement->sum);
    if (arrangement->rank == 0)
        printf("arrangement: %ld calls, sum %016llx\n", arrangement->options->iterations,
               (unsigned long long)arrangement->sum);
    free_rows(arrangement);
}

int main(int argc, char **argv)
{
    struct options o = {.iterations = 16, .last = 1000000, .call = EACH, .root = 0, .size = 4};
    const struct program_option options[] = {
        {"iterations", &o.iterations, 1, 1000000, "iterations, from 0"},
        {"first", &o.first, 0, 1000000, "the first with a call"},
        {"last", &o.last, 0, 1000000, "the last with a call"},
        {"call", &o.call, EACH, CALLS - 1,
         "0 Bcast 1 Scatter 2 Scatterv 3 Gather 4 Gatherv 5 Reduce 6 Allgather 7 Allgatherv "
         "8 Alltoall 9 Alltoallv 10 Alltoallw 11 Allreduce 12 Reduce_scatter "
         "13 Reduce_scatter_block 14 Scan 15 Exscan 16 Barrier, -1 each in turn"},
        {"root", &o.root, -1, 1023, "root in the communicator, -1 each in turn"},
        {"members", &o.members, 0, 1024, "only the first so many ranks call it, 0 all"},
        {"reverse", &o.reverse, 0, 1, "1: the communicator has its ranks the other way round"},
        {"lag", &o.lag, 0, 1000, "the others are so many calls behind the leader"},
        {"leader", &o.leader, 0, 1023, "rank that leads"},
        {"message", &o.message, 0, 1, "1: a message to the next rank around each call"},
        {"nonblocking", &o.nonblocking, BLOCKING, PERSISTENT,
         "1: MPI_Ibcast and so on; the message is received before it is complete; 2: a persistent "
         "request of the first call, started over and over"},
        {"told", &o.told, 0, 1,
         "1: each look at where the others are is a decision; checkpoints at the end"},
        {"size", &o.size, 1, 1 << 20, "numbers for each member"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "arrangement", options, sizeof options / sizeof *options)) {
        struct arrangement arrangement = {
            .options = &o, .way = (enum way)o.nonblocking, .request = MPI_REQUEST_NULL};
        MPI_Comm_rank(MPI_COMM_WORLD, &arrangement.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &arrangement.ranks);
        run(&arrangement);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
