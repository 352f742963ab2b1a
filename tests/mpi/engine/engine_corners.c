/* Answers of MPI in corners that few programs come to, as the standard has them; on 4 ranks, under
 * mpiexec and on the step engine. With "beyond" also what MPICH 4.0.2 answers differently. */
#include "mpi/expect.h"

#include <mpi.h>
#include <stddef.h>
#include <string.h>

#define LEVELS_MOST 64

static int rank;

/* One side of an intercommunicator leaves all of its members out (MPI 4.0, section 7.4.2): nobody
 * gets one. */
static void one_side_is_empty(void)
{
    MPI_Comm half, both, made = MPI_COMM_WORLD;
    MPI_Group group;
    int side = rank / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 2 : 0, 1, &both);
    MPI_Comm_group(half, &group);
    MPI_Comm_create(both, side == 0 ? MPI_GROUP_EMPTY : group, &made);
    expect(made == MPI_COMM_NULL);
    MPI_Group_free(&group);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Each is of fewer processes than the one before, until there is none (MPI 4.0, section 7.4.2). */
static void hardware_ends(void)
{
    MPI_Comm at, next;
    int levels = 0, before, after;
    MPI_Comm_dup(MPI_COMM_WORLD, &at);
    while (at != MPI_COMM_NULL && levels++ < LEVELS_MOST) {
        MPI_Comm_split_type(at, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &next);
        if (next != MPI_COMM_NULL) {
            MPI_Comm_size(at, &before);
            MPI_Comm_size(next, &after);
            expect(after < before);
        }
        MPI_Comm_free(&at);
        at = next;
    }
    expect(at == MPI_COMM_NULL);
}

/* A hint is that of its own call: one without it makes nothing (MPI 4.0, section 7.4.2). */
static void hardware_without_a_hint(void)
{
    MPI_Info hint;
    MPI_Comm with, without = MPI_COMM_WORLD;
    MPI_Info_create(&hint);
    MPI_Info_set(hint, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hint, &with);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &without);
    expect(with != MPI_COMM_NULL && without == MPI_COMM_NULL);
    MPI_Comm_free(&with);
    MPI_Info_free(&hint);
}

/* What was received cannot be cancelled any more. */
static void received_is_not_cancelled(void)
{
    int number = rank, cancelled = 1;
    MPI_Request request;
    MPI_Status status;
    if (rank == 1)
        MPI_Recv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Issend(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(!cancelled);
}

/* Such a grid has one process. MPI_Cart_get has nothing to write, so its arrays may be NULL. */
static void grid_has_no_dimensions(void)
{
    int dimensions = -1;
    MPI_Comm point;
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point);
    expect((point == MPI_COMM_NULL) == (rank != 0));
    if (point == MPI_COMM_NULL)
        return;
    MPI_Cartdim_get(point, &dimensions);
    expect(dimensions == 0);
    MPI_Comm_set_errhandler(point, MPI_ERRORS_RETURN);
    expect(MPI_Cart_get(point, 0, NULL, NULL, NULL) == MPI_SUCCESS);
    MPI_Comm_free(&point);
}

/* Ranks of a graph are those of its communicator, here the world the other way round. */
static void ring_the_other_way_round(void)
{
    int own, ranks, next, source = -1, destination = -1, degree = 1;
    MPI_Comm turned, ring;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Comm_rank(turned, &own);
    MPI_Comm_size(turned, &ranks);
    next = (own + 1) % ranks;
    MPI_Dist_graph_create(turned, 1, &own, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Dist_graph_neighbors(ring, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED);
    expect(source == (own + ranks - 1) % ranks && destination == next);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&turned);
}

/* MPI_Request_get_status tells the status of an active request, a persistent one as well, and does
 * not complete it (MPI 4.0, section 3.7.6). */
static void status_of_a_persistent_receive(void)
{
    int numbers[2] = {0, 0}, flag = 0, count = 0;
    MPI_Request request;
    MPI_Status status;
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank != 1)
        return;
    MPI_Recv_init(numbers, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    while (!flag)
        MPI_Request_get_status(request, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(status.MPI_SOURCE == 0 && status.MPI_TAG == 3 && count == 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* The error is the communicator's (MPI 4.0, section 9.3): the handler of MPI_COMM_WORLD, which
 * MPICH 4.0.2 calls, would end the job. */
static void matched_message_is_too_long(void)
{
    int numbers[2] = {0, 0}, result, class = MPI_SUCCESS;
    MPI_Comm own;
    MPI_Message message;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Send(numbers, 2, MPI_INT, 1, 4, own);
    if (rank == 1) {
        MPI_Mprobe(0, 4, own, &message, MPI_STATUS_IGNORE);
        result = MPI_Mrecv(numbers, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Error_class(result, &class);
        expect(class == MPI_ERR_TRUNCATE);
    }
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one_side_is_empty();
    hardware_ends();
    hardware_without_a_hint();
    received_is_not_cancelled();
    grid_has_no_dimensions();
    ring_the_other_way_round();
    status_of_a_persistent_receive();
    if (argc > 1 && strcmp(argv[1], "beyond") == 0)
        matched_message_is_too_long();
    MPI_Finalize();
    return expect_end("corners", rank);
}
