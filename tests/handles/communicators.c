/* Makes and frees communicators of every kind, one thing per step, and never communicates before
 * all steps are done: so a line may run anywhere between the ranks' steps. In the end all that is
 * alive is used and compared with what it must be. For four ranks.
 *
 *     communicators FOLDER RESTORE SAVE CUT0 CUT1 CUT2 CUT3
 *
 * goes on from line RESTORE (0: none) and takes line SAVE (0: none) before step CUT of each rank.
 */
#include "layer.h"

#include "../mpi/expect.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4

enum which {
    EARLY,
    HALF,
    HALF_AGAIN,
    GRID,
    ROW,
    THREE,
    PAIR,
    REVERSED,
    RING,
    GRAPH,
    LAST,
    MEMBERS
};

static struct state {
    int step;
    MPI_Comm comm[MEMBERS];
} state;

static int rank;

static MPI_Group some_ranks(int count, const int *ranks)
{
    MPI_Group world, some;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, ranks, &some);
    MPI_Group_free(&world);
    return some;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void split_half(void)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &state.comm[HALF]);
    MPI_Comm_set_name(state.comm[HALF], "half");
}

static void dup_half(void)
{
    MPI_Comm_dup(state.comm[HALF], &state.comm[HALF_AGAIN]);
    MPI_Comm_set_errhandler(state.comm[HALF_AGAIN], MPI_ERRORS_RETURN);
}

static void make_grid(void)
{
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 0}, 1, &state.comm[GRID]);
}

static void make_row(void)
{
    MPI_Cart_sub(state.comm[GRID], (int[]){0, 1}, &state.comm[ROW]);
}

static void free_half(void)
{
    MPI_Comm_free(&state.comm[HALF]);
}

static void make_three(void)
{
    MPI_Group group = some_ranks(3, (int[]){3, 0, 2});
    state.comm[THREE] = MPI_COMM_NULL;
    if (rank != 1)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &state.comm[THREE]);
    MPI_Group_free(&group);
}

static void make_pair(void)
{
    MPI_Group group = some_ranks(2, (int[]){3, 1});
    MPI_Comm_create(MPI_COMM_WORLD, group, &state.comm[PAIR]);
    MPI_Group_free(&group);
}

static void split_reversed(void)
{
    MPI_Comm_split(state.comm[HALF_AGAIN], 0, -rank, &state.comm[REVERSED]);
}

/* Rank 0 has no neighbours. */
static void make_ring(void)
{
    int before = rank == 1 ? 3 : rank - 1, after = rank % 3 + 1, count = rank != 0;
    int weight_in = 10 * rank, weight_out = 10 * after;
    MPI_Dist_graph_create_adjacent(state.comm[EARLY], count, &before, &weight_in, count, &after,
                                   &weight_out, MPI_INFO_NULL, 0, &state.comm[RING]);
}

static void make_graph(void)
{
    MPI_Graph_create(MPI_COMM_WORLD, 3, (int[]){1, 3, 4}, (int[]){1, 0, 2, 1}, 0,
                     &state.comm[GRAPH]);
}

static void make_and_free(void)
{
    MPI_Comm first, second;
    MPI_Comm_dup(state.comm[EARLY], &first);
    MPI_Comm_split(first, rank == 2 ? MPI_UNDEFINED : 0, 0, &second);
    MPI_Comm_free(&first);
    if (rank != 2)
        MPI_Comm_free(&second);
}

static void make_last(void)
{
    MPI_Comm_dup_with_info(state.comm[GRID], MPI_INFO_NULL, &state.comm[LAST]);
    MPI_Comm_free(&state.comm[HALF_AGAIN]);
}

static void (*const steps[])(void) = {split_half, dup_half,   make_grid,     make_row,
                                      free_half,  make_three, make_pair,     split_reversed,
                                      make_ring,  make_graph, make_and_free, make_last};
#define STEPS ((int)(sizeof steps / sizeof *steps))

/* --- the end ---------------------------------------------------------------------------------- */

/* Collective over its members: they are these ranks of the world, in this order. */
static void check_members(enum which which, int count, const int *expected)
{
    int size, own, members[RANKS];
    MPI_Comm comm = state.comm[which];
    bool member = false;
    for (int i = 0; i < count; i++)
        member = member || expected[i] == rank;
    expect(member == (comm != MPI_COMM_NULL));
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    expect(size == count && expected[own] == rank);
    MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm);
    expect(memcmp(members, expected, (size_t)count * sizeof *members) == 0);
    MPI_Barrier(comm);
}

static void check_topologies(void)
{
    int kind, sizes[2], periods[2], own[2], got[RANKS], in, out, weighted;
    MPI_Topo_test(state.comm[GRID], &kind);
    expect(kind == MPI_CART);
    MPI_Cart_get(state.comm[LAST], 2, sizes, periods, own);
    expect(sizes[0] == 2 && sizes[1] == 2 && periods[0] == 1 && periods[1] == 0);
    expect(own[0] == rank / 2 && own[1] == rank % 2);
    MPI_Cart_get(state.comm[ROW], 1, sizes, periods, own);
    expect(sizes[0] == 2 && periods[0] == 0 && own[0] == rank % 2);
    MPI_Dist_graph_neighbors_count(state.comm[RING], &in, &out, &weighted);
    expect(in == (rank != 0) && out == in && weighted);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, state.comm[RING]);
    expect(rank == 0 || got[0] == (rank == 1 ? 3 : rank - 1));
    MPI_Dist_graph_neighbors(state.comm[RING], in, sizes, periods, out, own, got);
    expect(rank == 0 || (periods[0] == 10 * rank && got[0] == 10 * (rank % 3 + 1)));
    if (state.comm[GRAPH] == MPI_COMM_NULL)
        return;
    MPI_Graph_neighbors_count(state.comm[GRAPH], rank, &in);
    expect(in == (rank == 1 ? 2 : 1));
}

static void check_rest(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, same;
    MPI_Errhandler handler;
    MPI_Comm_get_name(state.comm[EARLY], name, &length);
    expect(strcmp(name, "early") == 0);
    MPI_Comm_compare(state.comm[GRID], state.comm[LAST], &same);
    expect(same == MPI_CONGRUENT);
    MPI_Comm_get_errhandler(state.comm[REVERSED], &handler);
    expect(handler == MPI_ERRORS_RETURN);
    expect(state.comm[HALF] == MPI_COMM_NULL && state.comm[HALF_AGAIN] == MPI_COMM_NULL);
}

/* None is left of those that only other members wanted. */
static void check_none_is_left(void)
{
    int alive = 0;
    for (int i = 0; i < MEMBERS; i++)
        alive += state.comm[i] != MPI_COMM_NULL;
    expect(layer_alive() == alive);
}

static void check_all(void)
{
    const int all[] = {0, 1, 2, 3}, even[] = {2, 0}, odd[] = {3, 1}, low[] = {0, 1},
              high[] = {2, 3};
    check_members(EARLY, 4, all);
    check_members(GRID, 4, all);
    check_members(LAST, 4, all);
    check_members(RING, 4, all);
    check_members(ROW, 2, rank < 2 ? low : high);
    check_members(THREE, 3, (int[]){3, 0, 2});
    check_members(PAIR, 2, odd);
    check_members(REVERSED, 2, rank % 2 ? odd : even);
    check_members(GRAPH, 3, all);
    check_topologies();
    check_rest();
    check_none_is_left();
}

/* In a file: they are compared between incarnations. */
static void write_numbers(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/numbers.%d", folder, rank);
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < MEMBERS; i++)
        fprintf(file, "%#x\n", (unsigned)state.comm[i]);
    expect(file && fclose(file) == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *folder = argv[1];
    int restored = atoi(argv[2]), saved = atoi(argv[3]), cut = atoi(argv[4 + rank]);
    MPI_Comm_dup(MPI_COMM_WORLD, &state.comm[EARLY]);
    MPI_Comm_set_name(state.comm[EARLY], "early");
    layer_restore(folder, restored, &state, sizeof state);
    while (state.step <= STEPS) {
        if (saved && state.step == cut)
            layer_save(folder, saved, &state, sizeof state);
        if (state.step < STEPS)
            steps[state.step]();
        state.step++;
    }
    check_all();
    write_numbers(folder);
    MPI_Finalize();
    return expect_end("communicators", rank);
}
