/* The ways of MPI to make a communicator of the ranks of another one, in the same order, to be
 * chosen between; and whether one has the topology that it was made with. Must not know: what the
 * communicators are for. */
#ifndef CONSTRUCTING_H
#define CONSTRUCTING_H

#include <mpi.h>
#include <stdbool.h>

enum constructor {
    AS_IT_IS,
    DUPLICATE,
    CREATE,
    /* Not every protocol knows these. */
    CREATE_GROUP,
    DUPLICATE_WITH_INFO,
    CARTESIAN,
    GRAPH,
    DISTRIBUTED,
    CONSTRUCTORS
};

#define TAG_CREATE_GROUP 30030

/* A ring: each rank has the next one and the one before as neighbours. */
static inline MPI_Comm make_graph(MPI_Comm of, int ranks)
{
    int index[ranks], edges[2 * ranks];
    MPI_Comm made;
    for (int i = 0; i < ranks; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + 1) % ranks;
        edges[2 * i + 1] = (i + ranks - 1) % ranks;
    }
    MPI_Graph_create(of, ranks, index, edges, 0, &made);
    return made;
}

/* A chain: from the rank before, with its number as weight, to the next one. The first has nobody
 * in front of it, the last nobody behind it. */
static inline MPI_Comm make_distributed(MPI_Comm of, int rank, int ranks)
{
    int before = rank - 1, next = rank + 1;
    MPI_Comm made;
    MPI_Dist_graph_create_adjacent(of, before >= 0, &before, &before, next < ranks, &next, &rank,
                                   MPI_INFO_NULL, 0, &made);
    return made;
}

/* Two dimensions, of which the second is a ring. */
static inline MPI_Comm make_cartesian(MPI_Comm of, int ranks)
{
    int sizes[2] = {0, 0}, rings[2] = {0, 1};
    MPI_Comm made;
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(of, 2, sizes, rings, 0, &made);
    return made;
}

/* Frees *of, and leaves there what is made of it. */
static inline void construct(enum constructor how, MPI_Comm *of)
{
    int rank, ranks;
    MPI_Comm made = *of;
    MPI_Group group;
    MPI_Comm_rank(*of, &rank);
    MPI_Comm_size(*of, &ranks);
    MPI_Comm_group(*of, &group);
    switch (how) {
    case DUPLICATE:
        MPI_Comm_dup(*of, &made);
        break;
    case CREATE:
        MPI_Comm_create(*of, group, &made);
        break;
    case CREATE_GROUP:
        MPI_Comm_create_group(*of, group, TAG_CREATE_GROUP, &made);
        break;
    case DUPLICATE_WITH_INFO:
        MPI_Comm_dup_with_info(*of, MPI_INFO_NULL, &made);
        break;
    case CARTESIAN:
        made = make_cartesian(*of, ranks);
        break;
    case GRAPH:
        made = make_graph(*of, ranks);
        break;
    case DISTRIBUTED:
        made = make_distributed(*of, rank, ranks);
        break;
    default:
        break;
    }
    MPI_Group_free(&group);
    if (made != *of)
        MPI_Comm_free(of);
    *of = made;
}

static inline bool is_grid(MPI_Comm comm, int rank, int ranks)
{
    int expected[2] = {0, 0}, sizes[2], rings[2], place[2], at;
    MPI_Dims_create(ranks, 2, expected);
    MPI_Cart_get(comm, 2, sizes, rings, place);
    MPI_Cart_rank(comm, place, &at);
    return sizes[0] == expected[0] && sizes[1] == expected[1] && !rings[0] && rings[1] &&
           at == rank;
}

static inline bool is_ring(MPI_Comm comm, int rank, int ranks)
{
    int count, neighbour[2];
    MPI_Graph_neighbors_count(comm, rank, &count);
    if (count != 2)
        return false;
    MPI_Graph_neighbors(comm, rank, 2, neighbour);
    return neighbour[0] == (rank + 1) % ranks && neighbour[1] == (rank + ranks - 1) % ranks;
}

static inline bool is_distributed(MPI_Comm comm, int rank, int ranks)
{
    int in, out, weighted, from, from_weight, to, to_weight;
    bool has_before = rank > 0, has_next = rank + 1 < ranks;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    if (in != has_before || out != has_next || !weighted)
        return false;
    MPI_Dist_graph_neighbors(comm, in, &from, &from_weight, out, &to, &to_weight);
    return (!has_before || (from == rank - 1 && from_weight == from)) &&
           (!has_next || (to == rank + 1 && to_weight == rank));
}

/* Whether it has the topology that construct() gives. */
static inline bool is_constructed(enum constructor how, MPI_Comm comm)
{
    int rank, ranks, topology;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Topo_test(comm, &topology);
    switch (how) {
    case CARTESIAN:
        return topology == MPI_CART && is_grid(comm, rank, ranks);
    case GRAPH:
        return topology == MPI_GRAPH && is_ring(comm, rank, ranks);
    case DISTRIBUTED:
        return topology == MPI_DIST_GRAPH && is_distributed(comm, rank, ranks);
    default:
        return topology == MPI_UNDEFINED;
    }
}

#endif
