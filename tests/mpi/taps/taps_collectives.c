/* Every collective, blocking, non-blocking and some persistent, with roots, in place, with counts
 * and displacements. Buffers that are not significant are NULL. For 3 ranks. */
#include <mpi.h>

#include <string.h>

#include "mpi/expect.h"

#define N 3

static int rank;
static MPI_Comm world = MPI_COMM_WORLD;
static const int counts[N] = {1, 2, 3}, places[N] = {0, 2, 5}, ones[N] = {1, 1, 1};
static const int in_a_row[N] = {0, 1, 2};
static const int bytes_in_a_row[N] = {0, sizeof(int), 2 * sizeof(int)};

static void rooted(void)
{
    int data = rank == 1 ? 77 : 0, block[N], own = rank + 10, all[9], many[6];
    MPI_Bcast(&data, 1, MPI_INT, 1, world);
    expect(data == 77);
    for (int i = 0; i < N; i++)
        block[i] = 5 * i;
    MPI_Scatter(rank == 2 ? block : NULL, 1, MPI_INT, &data, 1, MPI_INT, 2, world);
    expect(data == 5 * rank);
    for (int i = 0; i < 9; i++)
        all[i] = i;
    memset(many, 0, sizeof many);
    MPI_Scatterv(rank == 0 ? all : NULL, counts, places, MPI_INT, many, counts[rank], MPI_INT, 0,
                 world);
    expect(many[0] == places[rank]);
    MPI_Gather(&own, 1, MPI_INT, rank == 0 ? block : NULL, 1, MPI_INT, 0, world);
    expect(rank != 0 || (block[0] == 10 && block[2] == 12));
    block[1] = 11;
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : &own, 1, MPI_INT, rank == 1 ? block : NULL, 1, MPI_INT, 1,
               world);
    expect(rank != 1 || (block[0] == 10 && block[1] == 11 && block[2] == 12));
    int mine[3] = {rank, rank, rank};
    MPI_Gatherv(mine, counts[rank], MPI_INT, rank == 2 ? all : NULL, counts, places, MPI_INT, 2,
                world);
    expect(rank != 2 || (all[0] == 0 && all[2] == 1 && all[3] == 1 && all[7] == 2));
    int sum = -1;
    MPI_Reduce(&own, rank == 0 ? &sum : NULL, 1, MPI_INT, MPI_SUM, 0, world);
    expect(rank != 0 || sum == 33);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &own, rank == 0 ? &own : NULL, 1, MPI_INT, MPI_SUM, 0,
               world);
    expect(rank != 0 || own == 33);
    block[rank] = 9 + rank;
    for (int i = 0; i < N; i++)
        block[i] = 9 + i;
    MPI_Scatter(block, 1, MPI_INT, rank == 0 ? MPI_IN_PLACE : &data, 1, MPI_INT, 0, world);
    expect(rank == 0 || data == 9 + rank);
}

static void all_to_all(void)
{
    int own = rank + 1, all[9], out[N], in[N], sum = 0;
    MPI_Barrier(world);
    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, world);
    expect(all[0] == 1 && all[2] == 3);
    memset(all, 0, sizeof all);
    all[rank] = own;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, world);
    expect(all[0] == 1 && all[2] == 3);
    int mine[3] = {rank, rank + 10, rank + 20};
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, world);
    expect(all[0] == 0 && all[3] == 11 && all[7] == 22);
    for (int i = 0; i < N; i++)
        out[i] = 100 * rank + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, world);
    expect(in[0] == rank && in[2] == 200 + rank);
    memcpy(in, out, sizeof in);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, world);
    expect(in[0] == rank && in[2] == 200 + rank);
    MPI_Alltoallv(out, ones, in_a_row, MPI_INT, in, ones, in_a_row, MPI_INT, world);
    expect(in[0] == rank && in[2] == 200 + rank);
    MPI_Datatype types[N] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Alltoallw(out, ones, bytes_in_a_row, types, in, ones, bytes_in_a_row, types, world);
    expect(in[0] == rank && in[2] == 200 + rank);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, world);
    expect(sum == 6);
    sum = own;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, world);
    expect(sum == 6);
    MPI_Scan(&own, &sum, 1, MPI_INT, MPI_SUM, world);
    expect(sum == own * (own + 1) / 2);
    MPI_Exscan(&own, &sum, 1, MPI_INT, MPI_SUM, world);
    expect(rank == 0 || sum == own * (own - 1) / 2);
    int six[6] = {1, 1, 1, 1, 1, 1}, got[3];
    MPI_Reduce_scatter(six, got, counts, MPI_INT, MPI_SUM, world);
    expect(got[0] == 3);
    MPI_Reduce_scatter(MPI_IN_PLACE, six, counts, MPI_INT, MPI_SUM, world);
    expect(six[0] == 3);
    MPI_Reduce_scatter_block(out, got, 1, MPI_INT, MPI_SUM, world);
    expect(got[0] == 300 + 3 * rank);
}

static void in_the_background(void)
{
    int own = rank + 1, data = rank == 0 ? 5 : 0, all[9], sum = 0, scan = 0, block[N] = {0}, flag;
    int in[N], out[N] = {rank, rank, rank}, part = -1, six[6] = {2, 2, 2, 2, 2, 2}, got[3];
    MPI_Request requests[16];
    MPI_Datatype types[N] = {MPI_INT, MPI_INT, MPI_INT};
    int k = 0, scattered[3] = {0}, exscan = 0, reduced = 0, av[3], aw[3], gv[9], rsb[1];
    MPI_Ibarrier(world, &requests[k++]);
    MPI_Ibcast(&data, 1, MPI_INT, 0, world, &requests[k++]);
    MPI_Iallgather(&own, 1, MPI_INT, block, 1, MPI_INT, world, &requests[k++]);
    MPI_Iallgatherv(out, counts[rank], MPI_INT, all, counts, places, MPI_INT, world,
                    &requests[k++]);
    MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, world, &requests[k++]);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, world, &requests[k++]);
    MPI_Ialltoallv(out, ones, in_a_row, MPI_INT, av, ones, in_a_row, MPI_INT, world,
                   &requests[k++]);
    MPI_Ialltoallw(out, ones, bytes_in_a_row, types, aw, ones, bytes_in_a_row, types, world,
                   &requests[k++]);
    MPI_Iscan(&own, &scan, 1, MPI_INT, MPI_SUM, world, &requests[k++]);
    MPI_Iexscan(&own, &exscan, 1, MPI_INT, MPI_SUM, world, &requests[k++]);
    MPI_Ireduce(&own, &reduced, 1, MPI_INT, MPI_SUM, 1, world, &requests[k++]);
    MPI_Ireduce_scatter(six, got, counts, MPI_INT, MPI_SUM, world, &requests[k++]);
    MPI_Ireduce_scatter_block(out, rsb, 1, MPI_INT, MPI_SUM, world, &requests[k++]);
    MPI_Iscatter(rank == 0 ? in_a_row : NULL, 1, MPI_INT, &part, 1, MPI_INT, 0, world,
                 &requests[k++]);
    MPI_Igatherv(out, counts[rank], MPI_INT, gv, counts, places, MPI_INT, 2, world, &requests[k++]);
    MPI_Waitall(k, requests, MPI_STATUSES_IGNORE);
    expect(data == 5 && block[2] == 3 && all[7] == 2 && sum == 6 && in[1] == 1 && av[2] == 2);
    expect(aw[2] == 2 && scan == own * (own + 1) / 2 && part == rank && got[0] == 6);
    expect(rank != 1 || reduced == 6);
    expect(rank != 2 || gv[2] == 1);
    expect(rsb[0] == 3);
    MPI_Iscatterv(rank == 0 ? in_a_row : NULL, ones, in_a_row, MPI_INT, scattered, 1, MPI_INT, 0,
                  world, &requests[0]);
    for (flag = 0; !flag;)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    expect(scattered[0] == rank);
    MPI_Igather(&own, 1, MPI_INT, rank == 0 ? block : NULL, 1, MPI_INT, 0, world, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(rank != 0 || block[1] == 2);
}

static void large_and_persistent(void)
{
    int own = rank, sum, data;
    MPI_Count wide[N] = {1, 2, 3};
    MPI_Aint wide_places[N] = {0, 2, 5};
    int all[9], mine[3] = {rank, rank, rank};
    MPI_Request requests[3];
    MPI_Allreduce_c(&own, &sum, 1, MPI_INT, MPI_SUM, world);
    expect(sum == 3);
    MPI_Allgatherv_c(mine, wide[rank], MPI_INT, all, wide, wide_places, MPI_INT, world);
    expect(all[0] == 0 && all[3] == 1 && all[7] == 2);
    MPI_Bcast_init(&data, 1, MPI_INT, 0, world, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[1]);
    MPI_Barrier_init(world, MPI_INFO_NULL, &requests[2]);
    for (int i = 0; i < 3; i++) {
        data = rank == 0 ? i : -1;
        own = rank + i;
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        expect(data == i && sum == 3 + 3 * i);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
}

static void neighbours(void)
{
    MPI_Comm line;
    int size = N, open_end = 0, in[2] = {-1, -1}, out[2] = {rank, rank + 50};
    int two[2] = {1, 1}, at[2] = {0, 1};
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Cart_create(world, 1, &size, &open_end, 0, &line);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line);
    expect(in[0] == rank - 1 && (rank == N - 1 || in[1] == rank + 1));
    MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, two, at, MPI_INT, line);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line);
    expect(rank == 0 || in[0] == rank - 1 + 50);
    MPI_Neighbor_alltoallv(out, two, at, MPI_INT, in, two, at, MPI_INT, line);
    MPI_Neighbor_alltoallw(out, two, bytes, types, in, two, bytes, types, line);
    expect(rank == 0 || in[0] == rank - 1 + 50);
    MPI_Comm_free(&line);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    rooted();
    all_to_all();
    in_the_background();
    large_and_persistent();
    neighbours();
    MPI_Finalize();
    return expect_end("collectives", rank);
}
