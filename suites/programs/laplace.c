/* The Laplace equation on a square plate, by Jacobi iteration. The plate's rows lie in blocks, one
 * per rank; each iteration exchanges the rows at the edges of the blocks with the neighbours, and
 * every now and then all ranks learn the greatest change (Allreduce). The top edge is hot. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <math.h>
#include <stdint.h>

#define RESIDUAL_EVERY 5 /* iterations */
#define HOT 100.0

enum { TAG_UP = 1, TAG_DOWN = 2 };

/* rows own rows of `width` cells, with one row of a neighbour above and one below them. */
struct plate {
    int rank;
    int ranks;
    int width;
    int rows;
    double *cell;
    double *next;
};

static double *row(double *cells, const struct plate *plate, int number)
{
    return cells + (size_t)number * (size_t)plate->width;
}

static void plate_init(struct plate *plate, int size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &plate->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plate->ranks);
    plate->width = size;
    plate->rows = size / plate->ranks + (plate->rank < size % plate->ranks);
    size_t cells = (size_t)(plate->rows + 2) * (size_t)size;
    plate->cell = program_memory(cells, sizeof(double));
    plate->next = program_memory(cells, sizeof(double));
    if (plate->rank == 0)
        for (int column = 0; column < size; column++)
            plate->cell[column] = plate->next[column] = HOT;
}

/* Every rank needs a row. */
static bool plate_fits(long size)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > size && rank == 0)
        fprintf(stderr, "laplace: --size %ld is too small for %d ranks; accepted: %d and more\n",
                size, ranks, ranks);
    return ranks <= size;
}

static void plate_release(struct plate *plate)
{
    free(plate->cell);
    free(plate->next);
}

/* The first and last own rows go out, the neighbours' come in. */
static void exchange_halos(struct plate *plate)
{
    int above = plate->rank > 0 ? plate->rank - 1 : MPI_PROC_NULL;
    int below = plate->rank < plate->ranks - 1 ? plate->rank + 1 : MPI_PROC_NULL;
    double *cells = plate->cell;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Irecv(row(cells, plate, 0), plate->width, MPI_DOUBLE, above, TAG_DOWN, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(row(cells, plate, plate->rows + 1), plate->width, MPI_DOUBLE, below, TAG_UP,
              MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(row(cells, plate, 1), plate->width, MPI_DOUBLE, above, TAG_UP, MPI_COMM_WORLD,
              &requests[2]);
    MPI_Isend(row(cells, plate, plate->rows), plate->width, MPI_DOUBLE, below, TAG_DOWN,
              MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

/* One Jacobi step over the own rows; returns the greatest change. */
static double relax(struct plate *plate)
{
    double greatest = 0;
    for (int number = 1; number <= plate->rows; number++) {
        const double *above = row(plate->cell, plate, number - 1);
        const double *here = row(plate->cell, plate, number);
        const double *below = row(plate->cell, plate, number + 1);
        double *next = row(plate->next, plate, number);
        for (int column = 1; column < plate->width - 1; column++) {
            next[column] =
                0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
            greatest = fmax(greatest, fabs(next[column] - here[column]));
        }
    }
    memcpy(row(plate->cell, plate, 1), row(plate->next, plate, 1),
           (size_t)plate->rows * (size_t)plate->width * sizeof(double));
    return greatest;
}

static void solve(struct plate *plate, long iterations, long compute_us)
{
    uint64_t iteration = 0;
    double residual = 0;
    size_t bytes = (size_t)(plate->rows + 2) * (size_t)plate->width * sizeof(double);
    checkpoint_register("iteration", &iteration, sizeof iteration);
    checkpoint_register("residual", &residual, sizeof residual);
    checkpoint_register("plate", plate->cell, bytes);
    checkpoint_restore();

    while (iteration < (uint64_t)iterations) {
        exchange_halos(plate);
        program_compute(compute_us);
        double change = relax(plate);
        iteration++;
        if (iteration % RESIDUAL_EVERY == 0)
            MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        potential_checkpoint();
    }

    faultline_result("residual", &residual, sizeof residual);
    faultline_result("plate", row(plate->cell, plate, 1),
                     (size_t)plate->rows * (size_t)plate->width * sizeof(double));
    if (plate->rank == 0)
        printf("laplace: %ld iterations, residual %.17g\n", iterations, residual);
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 48, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "steps"},
        {"size", &size, 16, 16384, "rows and columns of the plate"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "laplace", options, sizeof options / sizeof *options) &&
        plate_fits(size)) {
        struct plate plate;
        plate_init(&plate, (int)size);
        solve(&plate, iterations, compute_us);
        plate_release(&plate);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
