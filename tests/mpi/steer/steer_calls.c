/* A rank that holds a message inside every call that may wait for others, for 3 ranks:
 * steer_calls CALL. Rank 0 sends a message that the scenario holds until rank 1 says phase
 * "looked", and enters CALL; rank 1 receives that message before it does what lets CALL return. If
 * rank 0 waited inside the MPI library, the message would never go out. */
#include <faultline.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/expect.h"

enum { TAG_HELD = 1, TAG_TOLD, TAG_WAITED };

static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD, other;

/* --- one to one: rank 0 waits for what rank 1 sends ------------------------------------------- */

static void give(void)
{
    int value = 17;
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 0, TAG_WAITED, world);
}

static void do_recv(void)
{
    int value = 0;
    give();
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, TAG_WAITED, world, MPI_STATUS_IGNORE);
    expect(rank != 0 || value == 17);
}

static void do_probe(void)
{
    int value = 0;
    MPI_Status status;
    give();
    if (rank != 0)
        return;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    expect(status.MPI_SOURCE == 1 && status.MPI_TAG == TAG_WAITED);
    MPI_Recv(&value, 1, MPI_INT, 1, TAG_WAITED, world, MPI_STATUS_IGNORE);
    expect(value == 17);
}

static void do_mprobe(void)
{
    int value = 0;
    MPI_Message message;
    give();
    if (rank != 0)
        return;
    MPI_Mprobe(1, TAG_WAITED, world, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect(value == 17);
}

static void wait_with(int how)
{
    int value = 0, index = -1, count = 0, indices[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    give();
    if (rank != 0)
        return;
    MPI_Irecv(&value, 1, MPI_INT, 1, TAG_WAITED, world, &requests[1]);
    switch (how) {
    case 0:
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    case 2:
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        expect(index == 1);
        break;
    default:
        MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
        expect(count == 1 && indices[0] == 1);
    }
    expect(value == 17 && requests[1] == MPI_REQUEST_NULL);
}

static void do_wait(void)
{
    wait_with(0);
}

static void do_waitall(void)
{
    wait_with(1);
}

static void do_waitany(void)
{
    wait_with(2);
}

static void do_waitsome(void)
{
    wait_with(3);
}

/* The message is long enough that the library waits for its receiver. */
#define LONG (1 << 20)

static void send_long(int synchronous)
{
    int *data = calloc(LONG, sizeof *data);
    data[LONG - 1] = rank == 0 ? 17 : 0;
    if (rank == 0 && synchronous)
        MPI_Ssend(data, LONG, MPI_INT, 1, TAG_WAITED, other);
    else if (rank == 0)
        MPI_Send(data, LONG, MPI_INT, 1, TAG_WAITED, other);
    else if (rank == 1)
        MPI_Recv(data, LONG, MPI_INT, 0, TAG_WAITED, other, MPI_STATUS_IGNORE);
    expect(rank == 2 || data[LONG - 1] == 17);
    free(data);
}

static void do_send(void)
{
    send_long(0);
}

static void do_ssend(void)
{
    send_long(1);
}

static void do_sendrecv(void)
{
    int value = rank, in = -1, peer = rank == 2 ? MPI_PROC_NULL : 1 - rank;
    MPI_Sendrecv(&value, 1, MPI_INT, peer, TAG_WAITED, &in, 1, MPI_INT, peer, TAG_WAITED, other,
                 MPI_STATUS_IGNORE);
    expect(in == (rank == 2 ? -1 : 1 - rank));
}

/* --- collectives: rank 1 comes late, and is the root ------------------------------------------ */

static int out[8], in[8], counts[8], places[8];

static void set(void)
{
    for (int i = 0; i < 8; i++) {
        out[i] = 10 * rank + i;
        in[i] = -1;
        counts[i] = 1;
        places[i] = i;
    }
}

static void do_barrier(void)
{
    MPI_Barrier(world);
}

static void do_bcast(void)
{
    MPI_Bcast(out, 3, MPI_INT, 1, world);
    expect(out[2] == 12);
}

static void do_scatter(void)
{
    MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 1, world);
    expect(in[0] == 10 + rank);
}

static void do_scatterv(void)
{
    MPI_Scatterv(out, counts, places, MPI_INT, in, 1, MPI_INT, 1, world);
    expect(in[0] == 10 + rank);
}

static void do_gather(void)
{
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
    expect(rank != 0 || (in[0] == 0 && in[1] == 10 && in[2] == 20));
}

static void do_gatherv(void)
{
    MPI_Gatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, 0, world);
    expect(rank != 0 || (in[0] == 0 && in[1] == 10 && in[2] == 20));
}

static void do_allgather(void)
{
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, world);
    expect(in[0] == 0 && in[1] == 10 && in[2] == 20);
}

static void do_allgatherv(void)
{
    MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, world);
    expect(in[0] == 0 && in[1] == 10 && in[2] == 20);
}

static void do_alltoall(void)
{
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, world);
    expect(in[0] == rank && in[1] == 10 + rank && in[2] == 20 + rank);
}

static void do_alltoallv(void)
{
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, world);
    expect(in[0] == rank && in[1] == 10 + rank && in[2] == 20 + rank);
}

static void do_alltoallw(void)
{
    int bytes[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, world);
    expect(in[0] == rank && in[1] == 10 + rank && in[2] == 20 + rank);
}

static void do_reduce(void)
{
    MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, 0, world);
    expect(rank != 0 || (in[0] == 30 && in[1] == 33));
}

static void do_allreduce(void)
{
    MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, world);
    expect(out[0] == 30 && out[1] == 33);
}

static void do_reduce_scatter(void)
{
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world);
    expect(in[0] == 30 + 3 * rank);
}

static void do_reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, world);
    expect(in[0] == 30 + 3 * rank);
}

static void do_scan(void)
{
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, world);
    expect(in[0] == (rank == 2 ? 30 : 10 * rank));
    MPI_Barrier(world);
}

static void do_exscan(void)
{
    MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, world);
    expect(rank == 0 || in[0] == (rank == 2 ? 10 : 0));
    MPI_Barrier(world);
}

static void do_neighbor_allgather(void)
{
    MPI_Comm ring;
    int periodic = 1;
    MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    expect(in[0] == 10 * ((rank + size - 1) % size) && in[1] == 10 * ((rank + 1) % size));
    MPI_Comm_free(&ring);
}

/* --- no non-blocking form --------------------------------------------------------------------- */

static void free_used(MPI_Comm *comm)
{
    int sum;
    if (*comm == MPI_COMM_NULL)
        return;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, *comm);
    MPI_Comm_free(comm);
}

static void do_comm_split(void)
{
    MPI_Comm made;
    MPI_Comm_split(world, rank == 2, 0, &made);
    free_used(&made);
}

static void do_comm_dup(void)
{
    MPI_Comm made;
    MPI_Comm_dup(world, &made);
    free_used(&made);
}

static void do_comm_create(void)
{
    MPI_Comm made;
    MPI_Group group;
    MPI_Comm_group(world, &group);
    MPI_Comm_create(world, group, &made);
    MPI_Group_free(&group);
    free_used(&made);
}

static void do_intercomm(void)
{
    MPI_Comm half, across, whole;
    int side = rank == 2, value = rank, root = rank == 2 ? 1 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm_split(world, side, 0, &half);
    MPI_Intercomm_create(half, 0, world, side ? 0 : 2, 9, &across);
    MPI_Bcast(&value, 1, MPI_INT, root, across);
    expect(value == (rank == 0 ? 0 : 1));
    MPI_Intercomm_merge(across, side, &whole);
    free_used(&whole);
    MPI_Comm_disconnect(&across);
    MPI_Comm_free(&half);
}

static void do_window(void)
{
    MPI_Win window;
    int *memory;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, world, &memory, &window);
    MPI_Win_fence(0, window);
    *memory = rank;
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void do_file(void)
{
    MPI_File file;
    int value = -1;
    char name[64];
    snprintf(name, sizeof name, "steer_calls.%d", (int)getppid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 2, world);
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * (int)sizeof value, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(world);
    MPI_File_read_at_all(file, (size - 1 - rank) * (int)sizeof value, &value, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    expect(value == size - 1 - rank);
    MPI_File_close(&file);
}

static void do_nothing(void)
{
}

/* Returns only when the message is out. */
static void do_comm_free(void)
{
    if (rank != 2)
        MPI_Comm_free(&other);
}

static const struct {
    const char *name;
    void (*run)(void);
} calls[] = {
    {"recv", do_recv},
    {"probe", do_probe},
    {"mprobe", do_mprobe},
    {"wait", do_wait},
    {"waitall", do_waitall},
    {"waitany", do_waitany},
    {"waitsome", do_waitsome},
    {"send", do_send},
    {"ssend", do_ssend},
    {"sendrecv", do_sendrecv},
    {"barrier", do_barrier},
    {"bcast", do_bcast},
    {"scatter", do_scatter},
    {"scatterv", do_scatterv},
    {"gather", do_gather},
    {"gatherv", do_gatherv},
    {"allgather", do_allgather},
    {"allgatherv", do_allgatherv},
    {"alltoall", do_alltoall},
    {"alltoallv", do_alltoallv},
    {"alltoallw", do_alltoallw},
    {"reduce", do_reduce},
    {"allreduce", do_allreduce},
    {"reduce_scatter", do_reduce_scatter},
    {"reduce_scatter_block", do_reduce_scatter_block},
    {"scan", do_scan},
    {"exscan", do_exscan},
    {"neighbor_allgather", do_neighbor_allgather},
    {"comm_split", do_comm_split},
    {"comm_dup", do_comm_dup},
    {"comm_create", do_comm_create},
    {"intercomm", do_intercomm},
    {"window", do_window},
    {"file", do_file},
    {"finalize", do_nothing},
    {"comm_free", do_comm_free},
};

int main(int argc, char **argv)
{
    int value = 5;
    const char *name = argc > 1 ? argv[1] : "recv";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_dup(world, &other);
    set();
    MPI_Comm held_on = strcmp(name, "comm_free") == 0 ? other : world;
    MPI_Comm told_on = held_on == world ? other : world;
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, TAG_HELD, held_on);
        MPI_Send(&value, 1, MPI_INT, 1, TAG_TOLD, told_on);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, TAG_TOLD, told_on, MPI_STATUS_IGNORE);
        usleep(2000); /* so that rank 0 is inside, most of the time; nothing depends on it */
        if (strcmp(name, "finalize") != 0)
            faultline_phase("looked");
        MPI_Recv(&value, 1, MPI_INT, 0, TAG_HELD, held_on, MPI_STATUS_IGNORE);
    }
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            calls[i].run();
    if (other != MPI_COMM_NULL)
        MPI_Comm_free(&other);
    MPI_Finalize();
    return expect_end(name, rank);
}
