/* Molecular dynamics in the shape of LeanMD: space is a cube of cells, each owned by a rank, and
 * for each cell and each two neighbouring ones there is a compute, at whichever rank. In every step
 * each cell's positions go to all computes (Bcast), and the forces on its atoms come back together
 * (Reduce). Forces are whole numbers, so their sum does not depend on the order; whatever one atom
 * does to another comes back, so over all atoms the sum is nothing, which every step checks. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#define DIMENSIONS 3
#define REACH 1000 /* beyond it atoms do nothing to each other: the edge of a cell */
#define SLOW 4     /* velocity is the sum of forces divided by 2 to the power of this */

/* Of all cells at all ranks; what belongs to others is only as of the last Bcast. */
struct world {
    int rank;
    int ranks;
    int edge;  /* cells */
    int cells; /* edge * edge * edge */
    int atoms; /* of a cell */
    int64_t *position;
    int64_t *velocity;
    int64_t *force; /* by the computes here */
    uint64_t iteration;
    uint64_t wrong; /* steps in which forces did not add up to nothing */
};

static size_t numbers(const struct world *world)
{
    return (size_t)world->atoms * DIMENSIONS;
}

static int64_t *of_cell(const struct world *world, int64_t *all, int cell)
{
    return all + (size_t)cell * numbers(world);
}

static int owner(const struct world *world, int cell)
{
    return cell % world->ranks;
}

/* Where the compute of two cells is. */
static int place(const struct world *world, int one, int other)
{
    return (int)(program_mix((uint64_t)one, (uint64_t)other) % (uint64_t)world->ranks);
}

static void coordinates(const struct world *world, int cell, int *at)
{
    for (int i = 0; i < DIMENSIONS; i++, cell /= world->edge)
        at[i] = cell % world->edge;
}

static bool are_neighbours(const struct world *world, int one, int other)
{
    int a[DIMENSIONS], b[DIMENSIONS];
    coordinates(world, one, a);
    coordinates(world, other, b);
    for (int i = 0; i < DIMENSIONS; i++)
        if (abs(a[i] - b[i]) > 1)
            return false;
    return true;
}

static void world_init(struct world *world, int edge, int atoms)
{
    int at[DIMENSIONS];
    MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->ranks);
    world->edge = edge;
    world->cells = edge * edge * edge;
    world->atoms = atoms;
    size_t count = (size_t)world->cells * numbers(world);
    world->position = program_memory(count, sizeof *world->position);
    world->velocity = program_memory(count, sizeof *world->velocity);
    world->force = program_memory(count, sizeof *world->force);
    for (int cell = 0; cell < world->cells; cell++) {
        coordinates(world, cell, at);
        for (size_t i = 0; i < numbers(world); i++)
            of_cell(world, world->position, cell)[i] =
                (int64_t)at[i % DIMENSIONS] * REACH +
                (int64_t)(program_mix((uint64_t)cell, i) % REACH);
    }
}

static void world_release(struct world *world)
{
    free(world->position);
    free(world->velocity);
    free(world->force);
}

/* Atoms that are near push each other away. */
static void push(const int64_t *one, const int64_t *other, int64_t *on_one, int64_t *on_other)
{
    for (int i = 0; i < DIMENSIONS; i++) {
        int64_t apart = one[i] - other[i];
        if (apart <= -REACH || apart >= REACH)
            return;
    }
    for (int i = 0; i < DIMENSIONS; i++) {
        int64_t apart = one[i] - other[i];
        int64_t strength = (apart < 0 ? -REACH : REACH) - apart;
        on_one[i] += strength;
        on_other[i] -= strength;
    }
}

static void compute(struct world *world, int one, int other)
{
    const int64_t *a = of_cell(world, world->position, one);
    const int64_t *b = of_cell(world, world->position, other);
    int64_t *on_a = of_cell(world, world->force, one), *on_b = of_cell(world, world->force, other);
    for (int i = 0; i < world->atoms; i++)
        for (int k = one == other ? i + 1 : 0; k < world->atoms; k++)
            push(a + i * DIMENSIONS, b + k * DIMENSIONS, on_a + i * DIMENSIONS,
                 on_b + k * DIMENSIONS);
}

static void compute_all(struct world *world)
{
    memset(world->force, 0, (size_t)world->cells * numbers(world) * sizeof *world->force);
    for (int one = 0; one < world->cells; one++)
        for (int other = one; other < world->cells; other++)
            if (place(world, one, other) == world->rank && are_neighbours(world, one, other))
                compute(world, one, other);
}

/* Forces of all cells add up here; returns what they are worth together. */
static void move(struct world *world, int cell, const int64_t *force, int64_t *sum)
{
    for (size_t i = 0; i < numbers(world); i++) {
        int64_t *velocity = &of_cell(world, world->velocity, cell)[i];
        *velocity += force[i];
        of_cell(world, world->position, cell)[i] += *velocity / (1 << SLOW) % REACH;
        sum[i % DIMENSIONS] += force[i];
    }
}

static void step(struct world *world)
{
    int count = (int)numbers(world);
    int64_t *total = program_memory(numbers(world), sizeof *total);
    int64_t sum[DIMENSIONS] = {0}, all[DIMENSIONS];
    for (int cell = 0; cell < world->cells; cell++)
        MPI_Bcast(of_cell(world, world->position, cell), count, MPI_INT64_T, owner(world, cell),
                  MPI_COMM_WORLD);
    compute_all(world);
    for (int cell = 0; cell < world->cells; cell++) {
        MPI_Reduce(of_cell(world, world->force, cell), total, count, MPI_INT64_T, MPI_SUM,
                   owner(world, cell), MPI_COMM_WORLD);
        if (owner(world, cell) == world->rank)
            move(world, cell, total, sum);
    }
    MPI_Allreduce(sum, all, DIMENSIONS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < DIMENSIONS; i++)
        world->wrong += all[i] != 0;
    free(total);
}

/* A hash of what this rank owns. */
static uint64_t hash_own(const struct world *world)
{
    uint64_t hash = 0;
    for (int cell = world->rank; cell < world->cells; cell += world->ranks)
        for (size_t i = 0; i < numbers(world); i++)
            hash = program_mix(hash, (uint64_t)of_cell(world, world->position, cell)[i]);
    return hash;
}

static int run(struct world *world, long iterations, long compute_us)
{
    size_t bytes = (size_t)world->cells * numbers(world) * sizeof(int64_t);
    checkpoint_register("iteration", &world->iteration, sizeof world->iteration);
    checkpoint_register("wrong", &world->wrong, sizeof world->wrong);
    checkpoint_register("position", world->position, bytes);
    checkpoint_register("velocity", world->velocity, bytes);
    checkpoint_restore();
    while (world->iteration < (uint64_t)iterations) {
        program_compute(compute_us);
        step(world);
        world->iteration++;
        potential_checkpoint();
    }
    uint64_t hash = hash_own(world);
    faultline_result("atoms", &hash, sizeof hash);
    faultline_result("wrong", &world->wrong, sizeof world->wrong);
    if (world->rank == 0)
        printf("leanmd: %ld iterations, %d cells, forces wrong in %llu\n", iterations, world->cells,
               (unsigned long long)world->wrong);
    return world->wrong == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    long iterations = 10, size = 2, atoms = 4, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000, "steps"},
        {"size", &size, 1, 32, "cells along each edge of the cube"},
        {"atoms", &atoms, 1, 1000, "atoms of a cell"},
        {"compute-us", &compute_us, 0, 1000000, "microseconds that each step takes more, asleep"},
    };
    struct world world = {0};
    int status = PROGRAM_EXIT_USAGE;
    MPI_Init(&argc, &argv);
    if (program_options(argc, argv, "leanmd", options, sizeof options / sizeof options[0])) {
        world_init(&world, (int)size, (int)atoms);
        status = run(&world, iterations, compute_us);
        world_release(&world);
    }
    MPI_Finalize();
    return status;
}
