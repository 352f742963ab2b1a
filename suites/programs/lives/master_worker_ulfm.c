/* Master and worker over ULFM: rank 0 gives tasks out, one at a time to each worker. When a worker
 * dies its task is given out again; when none is left the master does the rest itself. With
 * --standby 1 rank 1 is told of each result that counts, and leads when the master dies; without,
 * the workers say that the master's death is fatal. [UL] sections 4.3 and 7 (Gropp and Lusk).
 *
 * Nobody repairs a communicator: a death raises an error in what names the dead, and nowhere else.
 * With --inter 1 each pair that talks has an intercommunicator of its own, and needs MPI_COMM_WORLD
 * for its making alone.
 *
 * A worker follows the master until it is told to stop, and then the standby in the same way, for
 * which all is done by then unless the master has died. So who dies when makes no case of its own.
 */
#include "faultline.h"
#include "mpi_library.h"
#include "program.h"

#define TAG 1
#define LEADERS_MOST 2
#define RANKS_MOST 64
#define NO_TASK UINT64_MAX
#define STOP (UINT64_MAX - 1)

/* To a leader: which task has this answer, NO_TASK: none yet. To a worker: the task, or STOP. */
struct message {
    uint64_t task, answer;
};

enum peer_state {
    WORKS, /* the leader is to hear from it: an answer, or for the first time */
    IDLE,
    LOST,
};

/* One that this rank talks to. */
struct peer {
    MPI_Comm comm;
    int rank; /* in comm */
    enum peer_state state;
    uint64_t task; /* that it was given, or NO_TASK */
    struct message received;
};

static struct {
    int rank, ranks, leaders;
    struct peer peer[RANKS_MOST]; /* by rank in MPI_COMM_WORLD */
    MPI_Request heard[RANKS_MOST];
    uint64_t tasks, sum;
    bool *counted; /* by task */
    bool *given;   /* ... to one that lives, or done here */
} job;

/* True: it went well; false: a process that takes part has died. Other errors end the job. */
static bool went_well(int result)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(result, &class);
    if (class != MPI_SUCCESS && class != MPIX_ERR_PROC_FAILED) {
        fprintf(stderr, "master_worker_ulfm: rank %d: error of class %d\n", job.rank, class);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return class == MPI_SUCCESS;
}

static bool send_to(struct peer *to, uint64_t task, uint64_t answer)
{
    struct message message = {task, answer};
    if (to->state != LOST &&
        !went_well(MPI_Send(&message, 2, MPI_UINT64_T, to->rank, TAG, to->comm)))
        to->state = LOST;
    return to->state != LOST;
}

static bool hear(struct peer *from)
{
    if (from->state != LOST && !went_well(MPI_Recv(&from->received, 2, MPI_UINT64_T, from->rank,
                                                   TAG, from->comm, MPI_STATUS_IGNORE)))
        from->state = LOST;
    return from->state != LOST;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static uint64_t answer_to(uint64_t task, long compute_us)
{
    program_compute(compute_us);
    return program_mix(task, job.tasks);
}

/* A worker says its last answer to each leader, so one may come that has counted. */
static void count(uint64_t task, uint64_t answer)
{
    if (task == NO_TASK || job.counted[task])
        return;
    job.counted[task] = job.given[task] = true;
    job.sum += answer;
    faultline_counted(task);
    for (int standby = job.rank + 1; standby < job.leaders; standby++)
        send_to(&job.peer[standby], task, answer);
}

/* NO_TASK: all are given out. */
static uint64_t next_task(void)
{
    for (uint64_t task = 0; task < job.tasks; task++)
        if (!job.given[task])
            return task;
    return NO_TASK;
}

/* --- a leader --------------------------------------------------------------------------------- */

/* The worker has died: what it was given is to be done again. */
static void lose(struct peer *worker)
{
    worker->state = LOST;
    if (worker->task != NO_TASK && !job.counted[worker->task])
        job.given[worker->task] = false;
}

static void listen_to(int worker)
{
    struct peer *peer = &job.peer[worker];
    peer->state = WORKS;
    if (!went_well(MPI_Irecv(&peer->received, 2, MPI_UINT64_T, peer->rank, TAG, peer->comm,
                             &job.heard[worker])))
        lose(peer);
}

static void give_out(void)
{
    for (int worker = job.leaders; worker < job.ranks; worker++) {
        struct peer *peer = &job.peer[worker];
        uint64_t task = next_task();
        if (peer->state != IDLE || task == NO_TASK)
            continue;
        peer->task = task;
        job.given[task] = true;
        if (send_to(peer, task, 0))
            listen_to(worker);
        else
            lose(peer);
    }
}

/* False: nobody works. */
static bool take_answer(void)
{
    int index = MPI_UNDEFINED;
    bool well = went_well(MPI_Waitany(job.ranks, job.heard, &index, MPI_STATUS_IGNORE));
    if (index == MPI_UNDEFINED)
        return false;
    struct peer *peer = &job.peer[index];
    if (!well) {
        lose(peer);
        return true;
    }
    peer->state = IDLE;
    peer->task = NO_TASK;
    count(peer->received.task, peer->received.answer);
    return true;
}

static void lead(long compute_us)
{
    faultline_tasks(job.tasks);
    for (int worker = job.leaders; worker < job.ranks; worker++)
        if (job.peer[worker].state != LOST)
            listen_to(worker);
    for (bool done = false; !done;) {
        give_out();
        if (take_answer())
            continue;
        uint64_t task = next_task();
        done = task == NO_TASK;
        if (!done)
            count(task, answer_to(task, compute_us));
    }
    for (int other = job.rank + 1; other < job.ranks; other++)
        send_to(&job.peer[other], STOP, 0);
    faultline_result("sum", &job.sum, sizeof job.sum);
    printf("master_worker_ulfm: %llu tasks, sum %016llx\n", (unsigned long long)job.tasks,
           (unsigned long long)job.sum);
}

/* Until the master says that all is done, or has died. */
static void stand_by(void)
{
    struct peer *master = &job.peer[0];
    while (hear(master) && master->received.task != STOP)
        count(master->received.task, master->received.answer);
}

/* --- a worker --------------------------------------------------------------------------------- */

/* True: it has said that all is done; false: it has died. */
static bool follow(struct peer *leader, struct message *last, long compute_us)
{
    while (send_to(leader, last->task, last->answer) && hear(leader)) {
        if (leader->received.task == STOP)
            return true;
        *last =
            (struct message){leader->received.task, answer_to(leader->received.task, compute_us)};
    }
    return false;
}

static void work(long compute_us)
{
    bool stopped = false;
    struct message last = {NO_TASK, 0};
    for (int leader = 0; leader < job.leaders; leader++)
        stopped = follow(&job.peer[leader], &last, compute_us) || stopped;
    if (!stopped) {
        fprintf(stderr,
                "master_worker_ulfm: rank %d: the master has died, and nobody stands by: "
                "the results are lost\n",
                job.rank);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* --- the job ---------------------------------------------------------------------------------- */

/* All pairs that talk are gone through in one order, so nobody waits in a circle. */
static void connect(bool inter)
{
    for (int leader = 0; leader < job.leaders; leader++)
        for (int other = leader + 1; other < job.ranks; other++) {
            int to = job.rank == leader ? other : leader;
            struct peer *peer = &job.peer[to];
            if (job.rank != leader && job.rank != other)
                continue;
            *peer = (struct peer){.comm = MPI_COMM_WORLD, .rank = to, .task = NO_TASK};
            if (!inter)
                continue;
            peer->rank = 0;
            if (went_well(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, to,
                                               leader * RANKS_MOST + other, &peer->comm)))
                MPI_Comm_set_errhandler(peer->comm, MPI_ERRORS_RETURN);
            else
                peer->state = LOST;
        }
}

/* For Faultline: the job is whole without those that are not in what is left of the world. */
static void note_missing(MPI_Comm left)
{
    MPI_Group all, rest;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(left, &rest);
    for (int rank = 0; rank < job.ranks; rank++) {
        int place;
        MPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place == MPI_UNDEFINED)
            faultline_without((uint64_t)rank);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&rest);
}

/* All who live end together. The agreement is the last call but MPI_Finalize: it fails at all of
 * them if one has died since the shrink. */
static void leave(void)
{
    int flag = 1;
    MPI_Comm left;
    do {
        if (!went_well(MPIX_Comm_shrink(MPI_COMM_WORLD, &left)))
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        note_missing(left);
    } while (MPIX_Comm_agree(left, &flag) != MPI_SUCCESS);
}

static void run(long standby, long inter, long compute_us)
{
    job.leaders = standby ? 2 : 1;
    job.counted = program_memory((size_t)job.tasks, sizeof *job.counted);
    job.given = program_memory((size_t)job.tasks, sizeof *job.given);
    for (int i = 0; i < RANKS_MOST; i++)
        job.heard[i] = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    connect(inter != 0);
    if (job.rank > 0 && job.rank < job.leaders)
        stand_by();
    if (job.rank < job.leaders)
        lead(compute_us);
    else
        work(compute_us);
}

int main(int argc, char **argv)
{
    long size = 12, standby = 0, inter = 0, compute_us = 0;
    const struct program_option options[] = {
        {"size", &size, 1, 1000000, "tasks"},
        {"standby", &standby, 0, 1, "1: rank 1 stands by, and leads when the master dies"},
        {"inter", &inter, 0, 1, "1: over an intercommunicator for each pair"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per task"},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "master_worker_ulfm", options,
                        sizeof options / sizeof *options) &&
        program_ranks("master_worker_ulfm", standby ? 3 : 2) && job.ranks <= RANKS_MOST) {
        job.tasks = (uint64_t)size;
        run(standby, inter, compute_us);
        leave();
        status = 0;
    }
    MPI_Finalize();
    free(job.counted);
    free(job.given);
    return status;
}
