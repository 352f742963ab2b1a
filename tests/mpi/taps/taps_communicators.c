/* Communicators made in every way, each used once for messages and a collective on it. Prints
 * nothing of ids: that they agree on all members shows in the trace. For 4 ranks. */
#include <mpi.h>

#include "mpi/expect.h"

static int world_rank;

/* A ring within the communicator, and a sum over it. */
static void use(MPI_Comm comm)
{
    int rank, size, in = -1, sum;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT, (rank + size - 1) % size,
                 3, comm, MPI_STATUS_IGNORE);
    expect(in == (rank + size - 1) % size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == size * (size - 1) / 2);
}

static void use_and_free(MPI_Comm *comm)
{
    use(*comm);
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_free(comm);
}

static void copies(void)
{
    MPI_Comm a, b, c;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    use(b);
    use(a);
    MPI_Comm_dup_with_info(b, MPI_INFO_NULL, &c);
    use_and_free(&c);
    MPI_Comm_free(&b);
    MPI_Comm_dup(a, &b); /* most likely with the handle that was just freed */
    use_and_free(&b);
    MPI_Comm_idup(a, &b, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(&b);
    MPI_Comm_idup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, &b, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    use_and_free(&b);
    use_and_free(&a);
}

static void parts(void)
{
    MPI_Comm comm;
    MPI_Group world, some;
    int first_two[] = {1, 0};
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
    use_and_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    expect((comm == MPI_COMM_NULL) == (world_rank == 0));
    use_and_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, first_two, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    use_and_free(&comm);
    if (world_rank < 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 9, &comm);
        use_and_free(&comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

static void topologies(void)
{
    MPI_Comm grid, row, graph;
    int dims[2] = {2, 2}, periods[2] = {1, 0}, remain[2] = {0, 1}, in[4], out = world_rank;
    int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2};
    int source = (world_rank + 3) % 4, destination = (world_rank + 1) % 4;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    use(grid);
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, grid);
    expect(in[0] == (world_rank + 2) % 4 && in[1] == in[0]);
    MPI_Cart_sub(grid, remain, &row);
    use_and_free(&row);
    MPI_Comm_free(&grid);
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph);
    expect(in[0] == (world_rank ^ 1));
    use_and_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &destination,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoall(&out, 1, MPI_INT, in, 1, MPI_INT, graph);
    expect(in[0] == source);
    use_and_free(&graph);
    int one = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &one, &destination, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &graph);
    MPI_Request request;
    MPI_Ineighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in[0] == source);
    use_and_free(&graph);
}

/* In which ranks have other numbers than in MPI_COMM_WORLD. */
static void topology_of_a_half(void)
{
    MPI_Comm half, graph;
    int index[2] = {1, 2}, edges[2] = {1, 0}, in = -1;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, 0, &half);
    MPI_Graph_create(half, 2, index, edges, 0, &graph);
    MPI_Neighbor_allgather(&world_rank, 1, MPI_INT, &in, 1, MPI_INT, graph);
    expect(in == (world_rank ^ 1));
    use_and_free(&graph);
    use_and_free(&half);
}

/* Two halves talk across, by remote rank, and merge. */
static void between(void)
{
    MPI_Comm half, across, whole;
    int side = world_rank / 2, rank, in = -1, sum = 0, data;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 2 : 0, 5, &across);
    MPI_Sendrecv(&world_rank, 1, MPI_INT, rank, 6, &in, 1, MPI_INT, MPI_ANY_SOURCE, 6, across,
                 MPI_STATUS_IGNORE);
    expect(in == (world_rank + 2) % 4);
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, across);
    expect(sum == (side == 0 ? 5 : 1));
    data = world_rank;
    int root = side == 1 ? 1 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&data, 1, MPI_INT, root, across);
    expect(data == (side == 1 ? 1 : world_rank));
    MPI_Barrier(across);
    MPI_Intercomm_merge(across, side, &whole);
    use_and_free(&whole);
    MPI_Comm_dup(across, &whole);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_get_parent(&parent);
    expect(parent == MPI_COMM_NULL);
    copies();
    parts();
    topologies();
    topology_of_a_half();
    between();
    use(MPI_COMM_SELF);
    /* messages under way on a communicator that is freed meanwhile */
    MPI_Comm comm;
    int in, rank = 3 - world_rank;
    MPI_Request requests[2];
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
    MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % 4, 1, comm, &requests[0]);
    MPI_Isend(&world_rank, 1, MPI_INT, (rank + 3) % 4, 1, comm, &requests[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return expect_end("communicators", world_rank);
}
