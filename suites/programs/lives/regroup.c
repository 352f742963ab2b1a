/* Rounds by whatever ranks there are: for protocols under which a call fails once when a rank has
 * died, and MPI_COMM_WORLD is usable again then (ft_mpi). The ranks that live share the work of
 * all. It works in every mode: with blanks, with fewer ranks, with new ones. */
#include "faultline.h"
#include "program.h"

#define PARTS 16
#define TAG 3

static struct {
    int rank, size;
    uint64_t alive;        /* a bit for each number that has a process */
    uint64_t round, total; /* of the rounds before it */
} job;

static long iterations = 5, same_size;

static int bits_in(uint64_t mask)
{
    int count = 0;
    for (; mask != 0; mask &= mask - 1)
        count++;
    return count;
}

/* All come to the same state: who was there has one and the same, a new process has none. */
static bool meet(void)
{
    int size = job.size;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    if (same_size && job.size != size) {
        fprintf(stderr, "regroup: the world had %d numbers and has %d\n", size, job.size);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    uint64_t mine = UINT64_C(1) << job.rank, own[] = {job.round, job.total}, newest[2];
    if (MPI_Allreduce(&mine, &job.alive, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD) != MPI_SUCCESS ||
        MPI_Allreduce(own, newest, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
        return false;
    job.round = newest[0];
    job.total = newest[1];
    return true;
}

/* By two calls, of which each may fail; some send first, and others receive first. */
static bool send_and_receive(const uint64_t *sent, int after, uint64_t *got, int before,
                             MPI_Status *status)
{
    bool sends_first = job.rank % 2 == 0;
    if (sends_first && MPI_Send(sent, 1, MPI_UINT64_T, after, TAG, MPI_COMM_WORLD) != MPI_SUCCESS)
        return false;
    if (MPI_Recv(got, 1, MPI_UINT64_T, before, TAG, MPI_COMM_WORLD, status) != MPI_SUCCESS)
        return false;
    return sends_first ||
           MPI_Send(sent, 1, MPI_UINT64_T, after, TAG, MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* To the next number, which may be blank, and from the one before. */
static bool pass_token(void)
{
    uint64_t sent = job.round, got = job.round;
    int after = (job.rank + 1) % job.size, before = (job.rank + job.size - 1) % job.size;
    MPI_Status status;
    if (job.round % 2 == 1 && job.size > 1) {
        if (!send_and_receive(&sent, after, &got, before, &status))
            return false;
    } else if (MPI_Sendrecv(&sent, 1, MPI_UINT64_T, after, TAG, &got, 1, MPI_UINT64_T, before, TAG,
                            MPI_COMM_WORLD, &status) != MPI_SUCCESS) {
        return false;
    }
    if (got != sent) {
        fprintf(stderr, "regroup: the token of round %llu came in round %llu\n",
                (unsigned long long)got, (unsigned long long)sent);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return true;
}

/* False: a rank has died, and all meet again. */
static bool do_round(void)
{
    uint64_t part = 0, sum;
    uint64_t below = job.alive & ((UINT64_C(1) << job.rank) - 1);
    for (int i = bits_in(below); i < PARTS; i += bits_in(job.alive))
        part += program_mix(job.round, (uint64_t)i) >> 32;
    if (!pass_token() ||
        MPI_Allreduce(&part, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
        return false;
    job.total += sum;
    job.round++;
    return true;
}

/* Each number tells its round; nobody hears of one that is blank. */
static bool hear_all(void)
{
    for (int root = 0; root < job.size; root++) {
        uint64_t told = job.round;
        if (MPI_Bcast(&told, 1, MPI_UINT64_T, root, MPI_COMM_WORLD) != MPI_SUCCESS)
            return false;
        if (told != job.round) {
            fprintf(stderr, "regroup: number %d is at round %llu and not %llu\n", root,
                    (unsigned long long)told, (unsigned long long)job.round);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    return true;
}

static bool work(uint64_t rounds)
{
    if (!meet())
        return false;
    while (job.round < rounds)
        if (!do_round())
            return false;
    return hear_all() && MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000, "rounds"},
        {"same-size", &same_size, 0, 1, "1: MPI_COMM_WORLD must keep its size (0)"}};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "regroup", options, 2) && program_ranks("regroup", 1) &&
        job.size <= 64) {
        while (!work((uint64_t)iterations))
            ;
        faultline_result("total", &job.total, sizeof job.total);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
