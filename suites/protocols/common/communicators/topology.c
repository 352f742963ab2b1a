/* See topology.h. Rows: the kind, the numbers of things, then ints. */
#include "common/communicators/topology.h"

#include "common/communicators/table.h"

#include <stdlib.h>

enum topology { NONE, CARTESIAN, GRAPH, DISTRIBUTED };

static int *ints(uint64_t count)
{
    return handles_memory(count, sizeof(int));
}

static void put_ints(struct bytes *out, int *row, int count)
{
    bytes_put(out, row, (size_t)count * sizeof *row);
    free(row);
}

/* A copy that is aligned; owned by the caller. */
static int *take_ints(struct reader *row, uint64_t count)
{
    const void *stored = reader_take(row, count * sizeof(int));
    int *copy = ints(stored ? count : 0);
    for (uint64_t i = 0; stored && i < count; i++)
        copy[i] = ((const int *)stored)[i];
    return copy;
}

static void write_cartesian(MPI_Comm comm, struct bytes *out)
{
    int number;
    PMPI_Cartdim_get(comm, &number);
    int *sizes = ints((uint64_t)number), *periods = ints((uint64_t)number);
    int *coordinates = ints((uint64_t)number);
    PMPI_Cart_get(comm, number, sizes, periods, coordinates);
    bytes_put_number(out, (uint64_t)number);
    put_ints(out, sizes, number);
    put_ints(out, periods, number);
    free(coordinates);
}

static void write_graph(MPI_Comm comm, struct bytes *out)
{
    int nodes, edges;
    PMPI_Graphdims_get(comm, &nodes, &edges);
    int *index = ints((uint64_t)nodes), *edge = ints((uint64_t)edges);
    PMPI_Graph_get(comm, nodes, edges, index, edge);
    bytes_put_number(out, (uint64_t)nodes);
    bytes_put_number(out, (uint64_t)edges);
    put_ints(out, index, nodes);
    put_ints(out, edge, edges);
}

static void write_distributed(MPI_Comm comm, struct bytes *out)
{
    int in, to, weighted;
    PMPI_Dist_graph_neighbors_count(comm, &in, &to, &weighted);
    int *sources = ints((uint64_t)in), *source_weights = ints((uint64_t)in);
    int *targets = ints((uint64_t)to), *target_weights = ints((uint64_t)to);
    PMPI_Dist_graph_neighbors(comm, in, sources, weighted ? source_weights : MPI_UNWEIGHTED, to,
                              targets, weighted ? target_weights : MPI_UNWEIGHTED);
    bytes_put_number(out, (uint64_t)weighted);
    bytes_put_number(out, (uint64_t)in);
    bytes_put_number(out, (uint64_t)to);
    put_ints(out, sources, in);
    put_ints(out, source_weights, in);
    put_ints(out, targets, to);
    put_ints(out, target_weights, to);
}

void topology_write(MPI_Comm comm, struct bytes *out)
{
    int kind;
    PMPI_Topo_test(comm, &kind);
    bytes_put_number(out, kind == MPI_CART         ? CARTESIAN
                          : kind == MPI_GRAPH      ? GRAPH
                          : kind == MPI_DIST_GRAPH ? DISTRIBUTED
                                                   : NONE);
    if (kind == MPI_CART)
        write_cartesian(comm, out);
    else if (kind == MPI_GRAPH)
        write_graph(comm, out);
    else if (kind == MPI_DIST_GRAPH)
        write_distributed(comm, out);
}

/* Ranks are those of the communicator with the topology already, so none is to be reordered. */
static void attach_cartesian(MPI_Comm comm, struct reader *row, MPI_Comm *with)
{
    uint64_t number = reader_number(row);
    int *sizes = take_ints(row, number), *periods = take_ints(row, number);
    if (!row->failed)
        PMPI_Cart_create(comm, (int)number, sizes, periods, 0, with);
    free(sizes);
    free(periods);
}

static void attach_graph(MPI_Comm comm, struct reader *row, MPI_Comm *with)
{
    uint64_t nodes = reader_number(row), edges = reader_number(row);
    int *index = take_ints(row, nodes), *edge = take_ints(row, edges);
    if (!row->failed)
        PMPI_Graph_create(comm, (int)nodes, index, edge, 0, with);
    free(index);
    free(edge);
}

static void attach_distributed(MPI_Comm comm, struct reader *row, bool mine, MPI_Comm *with)
{
    uint64_t weighted = reader_number(row), in = reader_number(row), to = reader_number(row);
    int *sources = take_ints(row, in), *source_weights = take_ints(row, in);
    int *targets = take_ints(row, to), *target_weights = take_ints(row, to);
    if (!mine)
        in = to = 0;
    if (!row->failed)
        PMPI_Dist_graph_create_adjacent(
            comm, (int)in, sources, weighted ? source_weights : MPI_UNWEIGHTED, (int)to, targets,
            weighted ? target_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, with);
    free(sources);
    free(source_weights);
    free(targets);
    free(target_weights);
}

bool topology_attach(MPI_Comm *comm, struct reader row, bool mine)
{
    MPI_Comm with = MPI_COMM_NULL;
    switch (reader_number(&row)) {
    case NONE:
        return !row.failed;
    case CARTESIAN:
        attach_cartesian(*comm, &row, &with);
        break;
    case GRAPH:
        attach_graph(*comm, &row, &with);
        break;
    case DISTRIBUTED:
        attach_distributed(*comm, &row, mine, &with);
        break;
    default:
        return false;
    }
    if (with == MPI_COMM_NULL)
        return false;
    PMPI_Comm_free(comm);
    *comm = with;
    return true;
}
