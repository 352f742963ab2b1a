/* Grids and graphs: places, shifts, who is a neighbour in which order. */
#include "engine/communicators/topology.h"
#include "tap.h"

#include <mpi.h>
#include <string.h>

#define OUTSIDE (-7)

/* 2 x 3, the second dimension a ring. */
static struct topology *grid_at(int rank)
{
    return grid_new((int[]){2, 3}, (int[]){0, 1}, 2, rank);
}

static void test_places(void)
{
    struct topology *grid = grid_at(4);
    int at[2];
    check(grid->coordinates[0] == 1 && grid->coordinates[1] == 1, "rank 4 is at 1, 1");
    grid_coordinates(grid, 5, at);
    check(at[0] == 1 && at[1] == 2, "rank 5 is at 1, 2");
    check(grid_rank(grid, (int[]){1, 2}) == 5, "and at 1, 2 is rank 5");
    check(grid_rank(grid, (int[]){0, -1}) == 2, "a ring goes round below 0");
    check(grid_rank(grid, (int[]){0, 7}) == 1, "and beyond its end, more than once");
    check(grid_rank(grid, (int[]){2, 0}) == -1, "outside an edge is nobody");
    check(grid_places((int[]){2, 3}, 2) == 6, "2 x 3 places are 6");
    check(grid_places(NULL, 0) == 1, "a grid without dimensions has one place");
    check(grid_places((int[]){100000, 100000}, 2) == -1, "more than an int counts is none");
    topology_drop(grid);
}

static void test_shifts(void)
{
    struct topology *grid = grid_at(4);
    check(grid_shift(grid, 0, -1, OUTSIDE) == 1, "one up");
    check(grid_shift(grid, 0, 1, OUTSIDE) == OUTSIDE, "one down is outside");
    check(grid_shift(grid, 1, 1, OUTSIDE) == 5, "one to the right");
    check(grid_shift(grid, 1, 2, OUTSIDE) == 3, "two to the right goes round");
    check(grid_shift(grid, 1, -4, OUTSIDE) == 3, "and so do four to the left");
    check(grid_shift(grid, 1, 0, OUTSIDE) == 4, "no step stays");
    topology_drop(grid);
}

static bool are(const int *found, int count, const int *wanted, int wanted_count)
{
    return count == wanted_count && memcmp(found, wanted, (size_t)count * sizeof *found) == 0;
}

static void test_grid_neighbours(void)
{
    struct topology *grid = grid_at(4);
    struct neighbours found;
    check(neighbours_of(grid, 4, OUTSIDE, &found), "a grid has neighbours");
    check(are(found.sources, found.sources_count, (int[]){1, OUTSIDE, 3, 5}, 4),
          "by dimension: below, above");
    check(are(found.destinations, found.destinations_count, (int[]){1, OUTSIDE, 3, 5}, 4),
          "to whom as from whom");
    neighbours_release(&found);
    topology_drop(grid);
}

static void test_graph_neighbours(void)
{
    struct topology *graph = topology_new(MPI_GRAPH);
    struct neighbours found;
    graph->nodes = 3;
    graph->index = topology_copy((int[]){1, 1, 3}, 3);
    graph->edges = topology_copy((int[]){2, 0, 1}, 3);
    check(graph_degree(graph, 0) == 1 && graph_degree(graph, 1) == 0 && graph_degree(graph, 2) == 2,
          "degrees of a graph");
    check(neighbours_of(graph, 2, OUTSIDE, &found), "a graph has neighbours");
    check(are(found.destinations, found.destinations_count, (int[]){0, 1}, 2),
          "in the order of its edges");
    neighbours_release(&found);
    topology_drop(graph);
}

int main(void)
{
    test_places();
    test_shifts();
    test_grid_neighbours();
    test_graph_neighbours();
    return done();
}
