/* Topologies: see topology.h. */
#include "engine/communicators/topology.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct topology *topology_new(int kind)
{
    struct topology *made = calloc(1, sizeof *made);
    if (made) {
        made->references = 1;
        made->kind = kind;
    }
    return made;
}

int *topology_copy(const int *from, int count)
{
    int *made = malloc(((size_t)count + 1) * sizeof *made);
    if (made && count > 0)
        memcpy(made, from, (size_t)count * sizeof *made);
    return made;
}

struct topology *topology_hold(struct topology *topology)
{
    if (topology)
        topology->references++;
    return topology;
}

void topology_drop(struct topology *topology)
{
    if (!topology || --topology->references > 0)
        return;
    free(topology->size);
    free(topology->periodic);
    free(topology->coordinates);
    free(topology->index);
    free(topology->edges);
    free(topology->sources);
    free(topology->destinations);
    free(topology->source_weights);
    free(topology->destination_weights);
    free(topology);
}

/* --- grids ------------------------------------------------------------------------------------ */

int grid_places(const int *size, int dimensions)
{
    int places = 1;
    for (int i = 0; i < dimensions; i++) {
        if (size[i] < 0 || __builtin_mul_overflow(places, size[i], &places))
            return -1;
    }
    return places;
}

struct topology *grid_new(const int *size, const int *periodic, int dimensions, int rank)
{
    struct topology *grid = topology_new(MPI_CART);
    if (!grid)
        return NULL;
    grid->dimensions = dimensions;
    grid->size = topology_copy(size, dimensions);
    grid->periodic = topology_copy(periodic, dimensions);
    grid->coordinates = topology_copy(size, dimensions);
    if (!grid->size || !grid->periodic || !grid->coordinates) {
        topology_drop(grid);
        return NULL;
    }
    grid_coordinates(grid, rank, grid->coordinates);
    return grid;
}

void grid_coordinates(const struct topology *grid, int rank, int *coordinates)
{
    for (int i = grid->dimensions - 1; i >= 0; i--) {
        coordinates[i] = rank % grid->size[i];
        rank /= grid->size[i];
    }
}

int grid_rank(const struct topology *grid, const int *coordinates)
{
    int rank = 0;
    for (int i = 0; i < grid->dimensions; i++) {
        int size = grid->size[i], at = coordinates[i];
        if (grid->periodic[i])
            at = (at % size + size) % size;
        if (at < 0 || at >= size)
            return -1;
        rank = rank * size + at;
    }
    return rank;
}

int grid_shift(const struct topology *grid, int direction, int distance, int outside)
{
    int size = grid->size[direction];
    long long at = (long long)grid->coordinates[direction] + distance;
    if (grid->periodic[direction])
        at = (at % size + size) % size;
    if (at < 0 || at >= size)
        return outside;
    int stride = 1;
    for (int i = direction + 1; i < grid->dimensions; i++)
        stride *= grid->size[i];
    int rank = 0;
    for (int i = 0; i < grid->dimensions; i++)
        rank = rank * grid->size[i] + grid->coordinates[i];
    return rank + ((int)at - grid->coordinates[direction]) * stride;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static int graph_first(const struct topology *graph, int rank)
{
    return rank == 0 ? 0 : graph->index[rank - 1];
}

int graph_degree(const struct topology *graph, int rank)
{
    return graph->index[rank] - graph_first(graph, rank);
}

const int *graph_neighbours(const struct topology *graph, int rank)
{
    return graph->edges + graph_first(graph, rank);
}

/* --- neighbours ------------------------------------------------------------------------------- */

/* Along each dimension first the one below, then the one above; sent to and received from both. */
static int *grid_neighbours(const struct topology *grid, int outside)
{
    int *made = malloc(((size_t)grid->dimensions * 2 + 1) * sizeof *made);
    for (int i = 0; made && i < grid->dimensions; i++) {
        made[2 * i] = grid_shift(grid, i, -1, outside);
        made[2 * i + 1] = grid_shift(grid, i, 1, outside);
    }
    return made;
}

bool neighbours_of(const struct topology *topology, int rank, int outside,
                   struct neighbours *neighbours)
{
    *neighbours = (struct neighbours){0};
    if (topology->kind == MPI_DIST_GRAPH) {
        neighbours->sources_count = topology->sources_count;
        neighbours->destinations_count = topology->destinations_count;
        neighbours->sources = topology_copy(topology->sources, topology->sources_count);
        neighbours->destinations =
            topology_copy(topology->destinations, topology->destinations_count);
    } else if (topology->kind == MPI_CART) {
        neighbours->sources_count = neighbours->destinations_count = 2 * topology->dimensions;
        neighbours->sources = grid_neighbours(topology, outside);
        neighbours->destinations = grid_neighbours(topology, outside);
    } else {
        int degree = graph_degree(topology, rank);
        const int *edges = graph_neighbours(topology, rank);
        neighbours->sources_count = neighbours->destinations_count = degree;
        neighbours->sources = topology_copy(edges, degree);
        neighbours->destinations = topology_copy(edges, degree);
    }
    if (neighbours->sources && neighbours->destinations)
        return true;
    neighbours_release(neighbours);
    return false;
}

void neighbours_release(struct neighbours *neighbours)
{
    free(neighbours->sources);
    free(neighbours->destinations);
    *neighbours = (struct neighbours){0};
}
