/* A program on a library on a library, each with a duplicate of the communicator above it, and all
 * recover from the loss of a rank ([UL] section 5.5, figure 1). A call that fails says so to who
 * called it, up to the program. The program stops what is below it, so that nobody waits there for
 * a rank that has gone up; fills its own communicator with new processes; and hands it down: each
 * level makes its duplicate anew and goes to the step that it gets.
 *
 * A level must not know: what is below the one that it calls; what calls it. */
#include "faultline.h"
#include "mpi_library.h"
#include "program.h"

#define TAG 5
#define RANKS_MOST 64

/* All who live say the same: it went well, and nobody has died whose death is not known to all. */
static bool all_agree(MPI_Comm comm, bool well)
{
    int flag = well;
    return MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag != 0;
}

static void stop(MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL)
        MPIX_Comm_revoke(comm);
}

/* In place of the one before. */
static bool duplicate(MPI_Comm above, MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_free(comm);
    return MPI_Comm_dup(above, comm) == MPI_SUCCESS;
}

/* --- the library below: carries a token once round the ranks ---------------------------------- */

static struct {
    MPI_Comm comm;
    uint64_t carried;
} carrier = {.comm = MPI_COMM_NULL};

static bool carrier_get(int from, uint64_t *token)
{
    uint64_t got[2];
    if (MPI_Recv(got, 2, MPI_UINT64_T, from, TAG, carrier.comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    if (got[0] != carrier.carried) {
        fprintf(stderr, "stack: token %llu came where %llu was to come\n",
                (unsigned long long)got[0], (unsigned long long)carrier.carried);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    *token = got[1];
    return true;
}

static bool carrier_put(int to, uint64_t token)
{
    uint64_t put[2] = {carrier.carried, token};
    return MPI_Send(put, 2, MPI_UINT64_T, to, TAG, carrier.comm) == MPI_SUCCESS;
}

/* Every rank adds `own`; *token is what came by here. */
static bool carrier_carry(uint64_t own, uint64_t *token)
{
    int rank, size;
    MPI_Comm_rank(carrier.comm, &rank);
    MPI_Comm_size(carrier.comm, &size);
    *token = 0;
    if (rank > 0 && !carrier_get(rank - 1, token))
        return false;
    *token += own;
    if (size > 1 && !carrier_put((rank + 1) % size, *token))
        return false;
    if (size > 1 && rank == 0 && !carrier_get(size - 1, token))
        return false;
    carrier.carried++;
    return true;
}

static void carrier_stop(void)
{
    stop(carrier.comm);
}

static bool carrier_repair(MPI_Comm above, uint64_t carried)
{
    carrier.carried = carried;
    return duplicate(above, &carrier.comm);
}

/* --- the library above it: sums up, and remembers all sums ------------------------------------ */

static struct {
    MPI_Comm comm;
    uint64_t steps, digest;
    uint64_t before; /* digest of the step before: the program may not have come as far */
} solver = {.comm = MPI_COMM_NULL};

static bool solver_step(uint64_t own, uint64_t *sum)
{
    uint64_t token;
    if (!carrier_carry(own, &token))
        return false;
    token = program_mix(token, solver.steps) >> 8;
    if (MPI_Allreduce(&token, sum, 1, MPI_UINT64_T, MPI_SUM, solver.comm) != MPI_SUCCESS)
        return false;
    solver.before = solver.digest;
    solver.digest = program_mix(solver.digest, *sum) >> 1; /* MPICH compares as if it were signed */
    solver.steps++;
    return true;
}

static void solver_stop(void)
{
    stop(solver.comm);
    carrier_stop();
}

/* Who was there has the digest of that step; a new process gets it. */
static bool solver_repair(MPI_Comm above, uint64_t steps)
{
    uint64_t own = solver.steps == steps ? solver.digest : solver.before;
    if (solver.steps < steps)
        own = 0;
    if (!duplicate(above, &solver.comm) ||
        MPI_Allreduce(&own, &solver.digest, 1, MPI_UINT64_T, MPI_MAX, solver.comm) != MPI_SUCCESS)
        return false;
    solver.steps = steps;
    return carrier_repair(solver.comm, steps);
}

/* --- the program ------------------------------------------------------------------------------ */

static struct {
    MPI_Comm comm;
    int rank, size;
    uint64_t step, total;
    char **arguments;
    const char *command;
} job;

/* Old and new processes in one, in the order of their ranks. info: how many ranks are missing, and
 * which. place: of a new process among the new ones; -1: an old one. */
static bool join(MPI_Comm family, int place, int *info, MPI_Comm *whole)
{
    MPI_Comm merged;
    *whole = MPI_COMM_NULL;
    if (MPI_Intercomm_merge(family, place >= 0, &merged) != MPI_SUCCESS)
        return false;
    bool well = MPI_Bcast(info, 1 + RANKS_MOST, MPI_INT, 0, merged) == MPI_SUCCESS;
    if (well && place >= 0)
        job.rank = info[1 + place];
    well = well && MPI_Comm_split(merged, 0, job.rank, whole) == MPI_SUCCESS;
    if (!well)
        stop(merged); /* the others must not wait in it for this one */
    MPI_Comm_free(&merged);
    return well;
}

/* Ranks of `of` that are not in `alive`. */
static void find_missing(MPI_Comm of, MPI_Comm alive, int *info)
{
    MPI_Group all, rest;
    MPI_Comm_group(of, &all);
    MPI_Comm_group(alive, &rest);
    info[0] = 0;
    for (int rank = 0; rank < job.size; rank++) {
        int place;
        MPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place == MPI_UNDEFINED)
            info[1 + info[0]++] = rank;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&rest);
}

/* A new process for each that is missing. False: somebody has died meanwhile. */
static bool replace(MPI_Comm alive, int *info, MPI_Comm *whole)
{
    MPI_Comm family = MPI_COMM_NULL;
    bool spawned = MPI_Comm_spawn(job.command, job.arguments, info[0], MPI_INFO_NULL, 0, alive,
                                  &family, MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
    bool well = all_agree(alive, spawned) && all_agree(family, join(family, -1, info, whole));
    if (!well && spawned)
        stop(family);
    return well;
}

/* What has all its ranks, made of what has lost some. */
static MPI_Comm refill(MPI_Comm comm)
{
    MPI_Comm alive, before = comm, whole = MPI_COMM_NULL;
    for (bool done = false; !done; before = alive) {
        int info[1 + RANKS_MOST] = {0};
        if (MPIX_Comm_shrink(before, &alive) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        find_missing(comm, alive, info);
        faultline_phase("stack:shrunk");
        done = replace(alive, info, &whole);
    }
    return whole;
}

/* Top down: all have one step, and each level below is made anew for it. */
static bool hand_down(void)
{
    uint64_t own[] = {job.step, job.total}, newest[2];
    if (MPI_Allreduce(own, newest, 2, MPI_UINT64_T, MPI_MAX, job.comm) != MPI_SUCCESS)
        return false;
    job.step = newest[0];
    job.total = newest[1];
    return solver_repair(job.comm, job.step);
}

static bool do_step(void)
{
    uint64_t sum, most;
    if (!solver_step(program_mix(job.step, (uint64_t)job.rank) >> 8, &sum) ||
        MPI_Allreduce(&sum, &most, 1, MPI_UINT64_T, MPI_MAX, job.comm) != MPI_SUCCESS)
        return false;
    job.total += most >> 8;
    job.step++;
    return true;
}

/* False, at all ranks: somewhere it did not go well, or a rank has died. */
static bool come_together(bool well)
{
    if (!well) {
        stop(job.comm);
        solver_stop();
    }
    return all_agree(job.comm, well);
}

static bool work(uint64_t steps)
{
    if (!come_together(hand_down()))
        return false;
    bool well = true;
    while (well && job.step < steps)
        well = do_step();
    return come_together(well);
}

/* A new process that is not needed: those who called it go on without it. */
_Noreturn static void leave(void)
{
    faultline_becomes(FAULTLINE_NO_RANK);
    exit(EXIT_SUCCESS);
}

static void take_place(MPI_Comm parents)
{
    int place, info[1 + RANKS_MOST] = {0};
    faultline_becomes(FAULTLINE_NO_RANK);
    MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    if (!join(parents, place, info, &job.comm) || !all_agree(parents, true))
        leave();
    MPI_Comm_size(job.comm, &job.size);
    faultline_becomes((uint64_t)job.rank);
}

static void start(char **argv)
{
    MPI_Comm parents;
    job.command = argv[0];
    job.arguments = argv[1] != NULL ? &argv[1] : MPI_ARGV_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        take_place(parents);
        return;
    }
    job.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(job.comm, &job.rank);
    MPI_Comm_size(job.comm, &job.size);
}

int main(int argc, char **argv)
{
    long iterations = 5;
    const struct program_option options[] = {{"iterations", &iterations, 1, 1000000, "steps"}};
    MPI_Init(&argc, &argv);
    if (!program_options(argc, argv, "stack", options, 1)) {
        MPI_Finalize();
        return PROGRAM_EXIT_USAGE;
    }
    start(argv);
    if (job.size > RANKS_MOST)
        MPI_Abort(MPI_COMM_WORLD, PROGRAM_EXIT_USAGE);
    while (!work((uint64_t)iterations))
        job.comm = refill(job.comm);
    faultline_result("total", &job.total, sizeof job.total);
    faultline_result("digest", &solver.digest, sizeof solver.digest);
    faultline_result("carried", &carrier.carried, sizeof carrier.carried);
    MPI_Finalize();
    return 0;
}
