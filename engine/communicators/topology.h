/* Topologies: Cartesian grids, graphs, distributed graphs. In the memory of each rank. Must not
 * know: handles, communicators, who the processes are. */
#ifndef ENGINE_COMMUNICATORS_TOPOLOGY_H
#define ENGINE_COMMUNICATORS_TOPOLOGY_H

#include <stdbool.h>

struct topology {
    int references;
    int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    /* MPI_CART: `dimensions` numbers each; the first varies slowest */
    int dimensions;
    int *size;
    int *periodic;
    int *coordinates; /* of this rank */
    /* MPI_GRAPH: as MPI_Graph_create has them */
    int nodes;
    int *index;
    int *edges;
    /* MPI_DIST_GRAPH: of this rank */
    bool weighted;
    int sources_count, destinations_count;
    int *sources, *destinations;
    int *source_weights, *destination_weights;
};

/* All zero but kind and one reference; arrays are to be made with topology_copy. NULL without
 * memory. */
struct topology *topology_new(int kind);
/* A copy of an array; of none, or of none of MPI's own marks, an array without elements. */
int *topology_copy(const int *from, int count);
struct topology *topology_hold(struct topology *topology);
/* NULL is allowed. */
void topology_drop(struct topology *topology);

/* Of a grid: its number of places; -1: more than an int counts, or a size below 0. */
int grid_places(const int *size, int dimensions);
struct topology *grid_new(const int *size, const int *periodic, int dimensions, int rank);
void grid_coordinates(const struct topology *grid, int rank, int *coordinates);
/* -1: not on the grid. Wraps around where the grid is periodic. */
int grid_rank(const struct topology *grid, const int *coordinates);
/* The rank at a distance along a dimension; `outside` beyond the edge. */
int grid_shift(const struct topology *grid, int direction, int distance, int outside);

int graph_degree(const struct topology *graph, int rank);
const int *graph_neighbours(const struct topology *graph, int rank);

/* The neighbours of `rank`, this rank, in the order of blocks of a neighbourhood collective; arrays
 * to be freed. Entries may be `outside` (beyond the edge of a grid). */
struct neighbours {
    int sources_count, destinations_count;
    int *sources, *destinations;
};
bool neighbours_of(const struct topology *topology, int rank, int outside,
                   struct neighbours *neighbours);
void neighbours_release(struct neighbours *neighbours);

#endif
