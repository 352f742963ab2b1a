/* Algorithm-based fault tolerance over ULFM: a matrix product, an LU factorisation and Jacobi's
 * iteration that carry on when ranks die, without any checkpoint. [UL] sections 2.6, 6.2.
 *
 * Columns are dealt out to parts in turn, a part for each rank but the last; of the product and of
 * the factorisation the last rank has the checksum part: its columns are the sums of the others'.
 * A step broadcasts one vector, and each rank changes its columns with it, the same linear change
 * for each column: so the checksum stays the sum. All agree on a step before anybody does it, so
 * whenever a rank dies the parts of those that live are after one and the same step, and a lost
 * part is what the checksum lacks. Jacobi's iteration has no checksum: the unknowns of a lost part
 * begin at 0 again, and it converges all the same.
 *
 * What is rebuilt is rounded in another order, so the result is another one in its last bits: how
 * far it may be away is declared with it (TOLERANCE, SOLUTION_TOLERANCE). */
#include "faultline.h"
#include "mpi_library.h"
#include "program.h"

#include <math.h>

#define RANKS_MOST 64
#define MATRICES_MOST 3

/* A checksum adds `size` products of each of `spread` columns, every one below 1 and rounded by
 * 2^-53 of the sum: this is a hundred times what comes of that, for what is rebuilt over and over.
 */
#define TOLERANCE (1e-14 * job.size * job.size * job.parts)

/* Jacobi's iteration ends when no unknown changes by more. Each iteration halves what is still
 * wrong at least, so no unknown is off by more than twice that, without deaths or with them. */
#define SMALL_CHANGE 1e-7
#define SOLUTION_TOLERANCE (4 * SMALL_CHANGE)

enum method { PRODUCT, FACTORISATION, JACOBI };

/* Of the product C = A B; the factorisation has U alone, in the place of C. */
enum matrix { C, A, B, U = C };

static struct {
    enum method method;
    int rank; /* in MPI_COMM_WORLD, as all ranks here but those of `comm` */
    MPI_Comm comm;
    int living, alive[RANKS_MOST]; /* members of comm */
    int parts;                     /* with the checksum's */
    int spread;                    /* parts that columns are dealt out to */
    int width, size;               /* columns of a part; of all, and rows */
    int matrices;
    int holder[RANKS_MOST];   /* of each part */
    double *part[RANKS_MOST]; /* NULL: another rank's */
    double *vector;           /* that this step is about */
    double *factors;          /* the columns of L, which all ranks get */
    double *whole;            /* the columns of the result */
} job;

/* --- ULFM ------------------------------------------------------------------------------------- */

/* True: it went well; false: a rank has died. Other errors end the job. */
static bool went_well(int result)
{
    int class;
    if (result == MPI_SUCCESS)
        return true;
    MPI_Error_class(result, &class);
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED) {
        fprintf(stderr, "abft: rank %d: error of class %d\n", job.rank, class);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return false;
}

/* The collective call went well at all ranks, and all live: all of them get the same answer. A rank
 * that saw it fail revokes, for others may wait there for what it does not pass on. */
static bool all_went_well(int result)
{
    int well = went_well(result);
    if (!well)
        MPIX_Comm_revoke(job.comm);
    bool agreed = went_well(MPIX_Comm_agree(job.comm, &well));
    return agreed && well;
}

static int place_of(int rank)
{
    for (int place = 0; place < job.living; place++)
        if (job.alive[place] == rank)
            return place;
    return MPI_UNDEFINED;
}

/* Who is in the communicator, and for Faultline who is missing there. */
static void look_around(MPI_Comm comm)
{
    MPI_Group all, rest;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &rest);
    int ranks;
    MPI_Group_size(all, &ranks);
    job.living = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int place;
        MPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place == MPI_UNDEFINED)
            faultline_without((uint64_t)rank);
        else
            job.alive[job.living++] = rank;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&rest);
}

static void shrink(void)
{
    MPI_Comm left;
    if (!went_well(MPIX_Comm_shrink(job.comm, &left)))
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    if (job.comm != MPI_COMM_WORLD)
        MPI_Comm_free(&job.comm);
    job.comm = left;
    look_around(left);
}

/* --- parts ------------------------------------------------------------------------------------ */

static int part_doubles(void)
{
    return job.method == JACOBI ? job.width : job.matrices * job.width * job.size;
}

static double *column(int part, enum matrix matrix, int slot)
{
    return job.part[part] + ((size_t)matrix * (size_t)job.width + (size_t)slot) * (size_t)job.size;
}

static double *new_part(void)
{
    return program_memory((size_t)part_doubles(), sizeof(double));
}

/* The living rank with the fewest parts; of several the first. */
static int heir(void)
{
    int best = job.alive[0], best_parts = job.parts + 1;
    for (int place = 0; place < job.living; place++) {
        int parts = 0;
        for (int part = 0; part < job.parts; part++)
            parts += job.holder[part] == job.alive[place];
        if (parts < best_parts) {
            best = job.alive[place];
            best_parts = parts;
        }
    }
    return best;
}

/* The lost part's numbers at its heir: the checksum less all others, or the sum of all others if it
 * is the checksum. False: a rank has died meanwhile. */
static bool rebuild(int lost, double *found)
{
    double *mine = new_part();
    bool is_checksum = lost == job.spread;
    for (int part = 0; part < job.parts; part++) {
        double sign = is_checksum || part == job.spread ? 1 : -1;
        for (int i = 0; job.holder[part] == job.rank && i < part_doubles(); i++)
            mine[i] += sign * job.part[part][i];
    }
    bool well = all_went_well(
        MPI_Reduce(mine, found, part_doubles(), MPI_DOUBLE, MPI_SUM, place_of(heir()), job.comm));
    free(mine);
    return well;
}

static void take_over(int lost, const double *found)
{
    job.holder[lost] = heir();
    if (job.holder[lost] != job.rank)
        return;
    job.part[lost] = new_part();
    memcpy(job.part[lost], found, (size_t)part_doubles() * sizeof *found);
}

/* Parts that nobody living has; *one gets the number of one of them. */
static int count_lost(int *one)
{
    int count = 0;
    for (int part = 0; part < job.parts; part++)
        if (place_of(job.holder[part]) == MPI_UNDEFINED) {
            *one = part;
            count++;
        }
    return count;
}

static void print_that_it_cannot(int lost)
{
    char reason[80];
    snprintf(reason, sizeof reason, "%d parts are lost, and the checksum gives back one", lost);
    fprintf(stderr, "abft: rank %d: %s\n", job.rank, reason);
    faultline_cannot(reason);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* A rank has died: those that live have all parts again. */
static void repair(void)
{
    double *found = new_part();
    for (bool whole = false; !whole;) {
        int one = 0;
        shrink();
        int lost = count_lost(&one);
        bool checksum = job.method != JACOBI;
        if (checksum && lost > 1)
            print_that_it_cannot(lost);
        whole = lost == 0 || !checksum || rebuild(one, found);
        for (; whole && lost > 0; lost = count_lost(&one))
            take_over(one, found);
    }
    free(found);
}

/* --- the product and the factorisation -------------------------------------------------------- */

/* From -4/7 to 4/7: not exact in binary. */
static double small(int row, int column, uint64_t seed)
{
    uint64_t drawn = program_mix(program_mix((uint64_t)row, (uint64_t)column), seed);
    return ((double)(drawn % 9) - 4) / 7;
}

/* Of L (unit) and of U, the product of which is factorised; the diagonal of U is 2. What stands
 * beside it is so small that no rounding grows, however many columns there are. */
static double drawn_factor(int row, int column, bool upper)
{
    if (row == column)
        return upper ? 2 : 1;
    return (row < column) == upper ? small(row, column, 3) / job.size : 0;
}

static double first_value(enum matrix matrix, int row, int of)
{
    if (job.method == PRODUCT)
        return matrix == C ? 0 : small(row, of, matrix);
    double sum = 0;
    for (int i = 0; i <= row && i <= of; i++)
        sum += drawn_factor(row, i, false) * drawn_factor(i, of, true);
    return sum;
}

static void fill(int part)
{
    job.part[part] = new_part();
    bool is_checksum = part == job.spread;
    for (int matrix = 0; matrix < job.matrices; matrix++)
        for (int slot = 0; slot < job.width; slot++)
            for (int row = 0; row < job.size; row++)
                for (int of = is_checksum ? 0 : part; of < (is_checksum ? job.spread : part + 1);
                     of++)
                    column(part, (enum matrix)matrix, slot)[row] +=
                        first_value((enum matrix)matrix, row, slot * job.spread + of);
}

/* What the owner of column k sends all others. */
static void prepare(int k, bool collects)
{
    int part = k % job.spread, slot = k / job.spread;
    bool factorises = job.method == FACTORISATION && !collects;
    const double *from = column(part, collects || factorises ? C : A, slot);
    for (int row = 0; row < job.size; row++)
        job.vector[row] = !factorises ? from[row] : row > k ? from[row] / from[k] : 0;
}

/* Any column, also of the checksum: C = C + vector B[k], or U = U - vector U[k]. */
static void change(int part, int slot, int k)
{
    double *to = column(part, C, slot);
    double by = job.method == PRODUCT ? column(part, B, slot)[k] : -to[k];
    for (int row = 0; row < job.size; row++)
        to[row] += job.vector[row] * by;
}

/* Step k of `size` steps, or, after them, column k of the result comes to all. False: not done. */
static bool step(int k, bool collects)
{
    int holder = job.holder[k % job.spread];
    if (holder == job.rank)
        prepare(k, collects);
    if (!all_went_well(MPI_Bcast(job.vector, job.size, MPI_DOUBLE, place_of(holder), job.comm)))
        return false;
    double *kept = (collects ? job.whole : job.factors) + (size_t)k * (size_t)job.size;
    memcpy(kept, job.vector, (size_t)job.size * sizeof *kept);
    for (int part = 0; !collects && part < job.parts; part++)
        for (int slot = 0; job.holder[part] == job.rank && slot < job.width; slot++)
            change(part, slot, k);
    return true;
}

static void declare_matrix(const char *matrix, const double *columns)
{
    char name[64];
    for (int of = 0; of < job.size; of++)
        for (int row = 0; row < job.size; row++) {
            snprintf(name, sizeof name, "%s[%d][%d]", matrix, row, of);
            faultline_near(name, columns[of * job.size + row], TOLERANCE);
        }
}

static void multiply_or_factorise(void)
{
    fill(job.rank);
    for (int done = 0; done < 2 * job.size;)
        if (step(done % job.size, done >= job.size))
            done++;
        else
            repair();
    declare_matrix(job.method == PRODUCT ? "C" : "U", job.whole);
    if (job.method == FACTORISATION)
        declare_matrix("L", job.factors);
}

/* --- Jacobi's iteration ----------------------------------------------------------------------- */

static double coefficient(int row, int of)
{
    return row == of ? 8.0 / 7 * job.size : small(row, of, 5);
}

static double solution(int row)
{
    return small(row, 0, 6);
}

static double next_value(int row)
{
    double right = 0, others = 0;
    for (int of = 0; of < job.size; of++) {
        right += coefficient(row, of) * solution(of);
        others += of == row ? 0 : coefficient(row, of) * job.vector[of];
    }
    return (right - others) / coefficient(row, row);
}

/* *change: the largest of an unknown. False: not done. */
static bool iterate(double *change)
{
    double *mine = program_memory((size_t)job.size, sizeof *mine);
    *change = 0;
    for (int part = 0; part < job.parts; part++)
        for (int slot = 0; job.holder[part] == job.rank && slot < job.width; slot++)
            mine[slot * job.spread + part] = job.part[part][slot];
    bool well =
        all_went_well(MPI_Allreduce(mine, job.vector, job.size, MPI_DOUBLE, MPI_SUM, job.comm));
    free(mine);
    for (int row = 0; well && row < job.size; row++) {
        double next = next_value(row);
        *change = fmax(*change, fabs(next - job.vector[row]));
        if (job.holder[row % job.spread] == job.rank)
            job.part[row % job.spread][row / job.spread] = next;
    }
    return well;
}

static void solve(void)
{
    char name[32];
    job.part[job.rank] = new_part();
    for (double change = 1; change > SMALL_CHANGE;)
        if (!iterate(&change)) {
            repair();
            change = 1;
        }
    for (int row = 0; row < job.size; row++) {
        snprintf(name, sizeof name, "x[%d]", row);
        faultline_near(name, job.vector[row], SOLUTION_TOLERANCE);
    }
}

/* --- the job ---------------------------------------------------------------------------------- */

static void set_up(int width)
{
    size_t all;
    job.comm = MPI_COMM_WORLD;
    job.parts = job.living;
    job.spread = job.method == JACOBI ? job.parts : job.parts - 1;
    job.width = width;
    job.size = width * job.spread;
    job.matrices = job.method == PRODUCT ? MATRICES_MOST : 1;
    all = (size_t)job.size * (size_t)job.size;
    job.vector = program_memory((size_t)job.size, sizeof *job.vector);
    job.factors = program_memory(all, sizeof *job.factors);
    job.whole = program_memory(all, sizeof *job.whole);
    for (int part = 0; part < job.parts; part++)
        job.holder[part] = job.alive[part] = part;
}

static void take_down(void)
{
    for (int part = 0; part < job.parts; part++)
        free(job.part[part]);
    free(job.vector);
    free(job.factors);
    free(job.whole);
}

int main(int argc, char **argv)
{
    long method = PRODUCT, size = 2;
    const struct program_option options[] = {
        {"method", &method, PRODUCT, JACOBI, "0: product, 1: LU factorisation, 2: Jacobi"},
        {"size", &size, 1, 20, "columns, or unknowns, of each rank"},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.living);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "abft", options, sizeof options / sizeof *options) &&
        program_ranks("abft", 2) && job.living <= RANKS_MOST) {
        job.method = (enum method)method;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        set_up((int)size);
        faultline_survives(job.method == JACOBI ? (uint64_t)job.parts - 1 : 1);
        if (job.method == JACOBI)
            solve();
        else
            multiply_or_factorise();
        /* The agreement is the last call but MPI_Finalize: it fails at all if one has died. */
        do
            shrink();
        while (!all_went_well(MPI_SUCCESS));
        take_down();
        status = 0;
    }
    MPI_Finalize();
    return status;
}
