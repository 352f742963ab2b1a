/* Conjugate gradient for A x = b with a dense symmetric positive definite matrix, rows in blocks of
 * equal size, one per rank. Each iteration gathers the whole direction vector at every rank
 * (Allgather) and forms two scalar products (Allreduce). There is no point-to-point message. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

/* The squared residual below which the solution is left as it is; iterations go on. */
#define CONVERGED 1e-24

/* rows is the same on every rank; unknowns beyond `size` stand on an identity block. */
struct solver {
    int rank;
    int ranks;
    int size;
    int rows;
    double *matrix;    /* rows x (rows * ranks), constant */
    double *solution;  /* rows */
    double *residual;  /* rows */
    double *direction; /* rows */
    double *whole;     /* rows * ranks: everybody's direction */
    double *image;     /* rows: matrix times direction */
    double squared;    /* residual . residual */
    uint64_t iteration;
};

/* min(i, j) + 1: positive definite, and badly enough conditioned to keep the solver busy. */
static double coefficient(int size, int i, int j)
{
    if (i >= size || j >= size)
        return i == j;
    return (i < j ? i : j) + 1;
}

static double dot(const struct solver *solver, const double *a, const double *b)
{
    double own = 0, all;
    for (int i = 0; i < solver->rows; i++)
        own += a[i] * b[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void solver_init(struct solver *solver, int size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &solver->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &solver->ranks);
    solver->size = size;
    solver->rows = (size + solver->ranks - 1) / solver->ranks;
    size_t rows = (size_t)solver->rows, columns = rows * (size_t)solver->ranks;
    solver->matrix = program_memory(rows * columns, sizeof(double));
    solver->solution = program_memory(rows, sizeof(double));
    solver->residual = program_memory(rows, sizeof(double));
    solver->direction = program_memory(rows, sizeof(double));
    solver->whole = program_memory(columns, sizeof(double));
    solver->image = program_memory(rows, sizeof(double));
    solver->iteration = 0;
    for (size_t i = 0; i < rows; i++) {
        int number = solver->rank * solver->rows + (int)i;
        for (size_t j = 0; j < columns; j++)
            solver->matrix[i * columns + j] = coefficient(size, number, (int)j);
        solver->residual[i] = solver->direction[i] = number < size ? 1 + number % 7 : 0;
    }
    solver->squared = dot(solver, solver->residual, solver->residual);
}

static void solver_release(struct solver *solver)
{
    free(solver->matrix);
    free(solver->solution);
    free(solver->residual);
    free(solver->direction);
    free(solver->whole);
    free(solver->image);
}

static void multiply(struct solver *solver)
{
    size_t columns = (size_t)solver->rows * (size_t)solver->ranks;
    MPI_Allgather(solver->direction, solver->rows, MPI_DOUBLE, solver->whole, solver->rows,
                  MPI_DOUBLE, MPI_COMM_WORLD);
    for (size_t i = 0; i < (size_t)solver->rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++)
            sum += solver->matrix[i * columns + j] * solver->whole[j];
        solver->image[i] = sum;
    }
}

static void step(struct solver *solver)
{
    multiply(solver);
    double curvature = dot(solver, solver->direction, solver->image);
    double before = solver->squared;
    if (before > CONVERGED && curvature > 0) {
        double length = before / curvature;
        for (int i = 0; i < solver->rows; i++) {
            solver->solution[i] += length * solver->direction[i];
            solver->residual[i] -= length * solver->image[i];
        }
    }
    double after = dot(solver, solver->residual, solver->residual);
    if (before > CONVERGED)
        for (int i = 0; i < solver->rows; i++)
            solver->direction[i] = solver->residual[i] + after / before * solver->direction[i];
    solver->squared = after;
}

static void solve(struct solver *solver, long iterations, long compute_us)
{
    size_t bytes = (size_t)solver->rows * sizeof(double);
    checkpoint_register("iteration", &solver->iteration, sizeof solver->iteration);
    checkpoint_register("squared residual", &solver->squared, sizeof solver->squared);
    checkpoint_register("solution", solver->solution, bytes);
    checkpoint_register("residual", solver->residual, bytes);
    checkpoint_register("direction", solver->direction, bytes);
    checkpoint_restore();

    while (solver->iteration < (uint64_t)iterations) {
        step(solver);
        program_compute(compute_us);
        solver->iteration++;
        potential_checkpoint();
    }

    faultline_result("squared residual", &solver->squared, sizeof solver->squared);
    faultline_result("solution", solver->solution, bytes);
    if (solver->rank == 0)
        printf("cg: %ld iterations, squared residual %.17g, first unknown %.17g\n", iterations,
               solver->squared, solver->solution[0]);
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 64, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "steps"},
        {"size", &size, 2, 8192, "unknowns"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "cg", options, sizeof options / sizeof *options)) {
        struct solver solver;
        solver_init(&solver, (int)size);
        solve(&solver, iterations, compute_us);
        solver_release(&solver);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
