/* Rank 0 hands out tasks, the others do them. The master takes answers in whatever order they come
 * (any source, any tag), so which worker does which task differs from run to run; the sum of the
 * answers does not. Work is done in rounds, and a round is over when all its answers are in and all
 * workers know: between rounds no message is under way. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

/* An answer's tag says which of the lanes its task belongs to: tags are wildcards too. */
enum { TAG_TASK = 1, TAG_ROUND_OVER = 2, TAG_ANSWER = 16, LANES = 4 };

struct work {
    int rank;
    int ranks;
    uint64_t tasks; /* per round */
    uint64_t round;
    uint64_t sum;               /* master: of all answers so far */
    uint64_t lane_count[LANES]; /* master: answers per lane so far */
};

static uint64_t answer_to(uint64_t task)
{
    uint64_t value = task + 1;
    for (int i = 0; i < 1000; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static void hand_out(int worker, uint64_t task)
{
    MPI_Send(&task, 1, MPI_UINT64_T, worker, TAG_TASK, MPI_COMM_WORLD);
}

/* Takes in one answer from anybody; returns from whom. */
static int take_answer(struct work *work)
{
    uint64_t answer;
    MPI_Status status;
    MPI_Recv(&answer, 1, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int lane = status.MPI_TAG - TAG_ANSWER;
    if (lane < 0 || lane >= LANES) {
        fprintf(stderr, "master_worker: answer with tag %d\n", status.MPI_TAG);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    work->sum += answer;
    work->lane_count[lane]++;
    return status.MPI_SOURCE;
}

static void lead_round(struct work *work)
{
    uint64_t first = work->round * work->tasks, next = 0, answered = 0;
    for (int worker = 1; worker < work->ranks && next < work->tasks; worker++)
        hand_out(worker, first + next++);
    for (; answered < work->tasks; answered++) {
        int worker = take_answer(work);
        if (next < work->tasks)
            hand_out(worker, first + next++);
    }
    for (int worker = 1; worker < work->ranks; worker++)
        MPI_Send(NULL, 0, MPI_UINT64_T, worker, TAG_ROUND_OVER, MPI_COMM_WORLD);
}

static void work_round(long compute_us)
{
    for (;;) {
        uint64_t task;
        MPI_Status status;
        MPI_Recv(&task, 1, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_ROUND_OVER)
            return;
        program_compute(compute_us);
        uint64_t answer = answer_to(task);
        MPI_Send(&answer, 1, MPI_UINT64_T, 0, TAG_ANSWER + (int)(task % LANES), MPI_COMM_WORLD);
    }
}

static void run(struct work *work, long rounds, long compute_us)
{
    checkpoint_register("round", &work->round, sizeof work->round);
    checkpoint_register("sum", &work->sum, sizeof work->sum);
    checkpoint_register("lane counts", work->lane_count, sizeof work->lane_count);
    checkpoint_restore();

    while (work->round < (uint64_t)rounds) {
        if (work->rank == 0)
            lead_round(work);
        else
            work_round(compute_us);
        work->round++;
        potential_checkpoint();
    }

    if (work->rank == 0) {
        faultline_result("sum", &work->sum, sizeof work->sum);
        faultline_result("lane counts", work->lane_count, sizeof work->lane_count);
        printf("master_worker: %ld rounds of %llu tasks, sum %016llx\n", rounds,
               (unsigned long long)work->tasks, (unsigned long long)work->sum);
    }
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 8, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "rounds"},
        {"size", &size, 1, 1000000, "tasks per round"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per task"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "master_worker", options, sizeof options / sizeof *options) &&
        program_ranks("master_worker", 2)) {
        struct work work = {.tasks = (uint64_t)size};
        MPI_Comm_rank(MPI_COMM_WORLD, &work.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &work.ranks);
        run(&work, iterations, compute_us);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
