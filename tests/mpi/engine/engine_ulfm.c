/* Figure 1 of the ULFM paper and what comes after it: rank 2 waits for 3, 3 for 0, 0 for 1, and 1
 * dies, by the plan: it waits for 0. Who is told of the death revokes the world; all agree, shrink,
 * and go on without rank 1, which they tell if there is an argument. If that is `again`, rank 2
 * dies in the communicator of those that are left, which agree there as well. Needs 4 ranks, and
 * survivors. */
#include "faultline.h"
#include "mpi/expect.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#define RANKS 4
#define DIES 1
#define DIES_THEN 2

static int class_of(int result)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(result, &class);
    return class;
}

static bool is_failure(int class)
{
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

static void wait_in_a_circle(int rank)
{
    static const int waits_for[RANKS] = {1, 0, 3, 0};
    int got = 0;
    int class =
        class_of(MPI_Recv(&got, 1, MPI_INT, waits_for[rank], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect(is_failure(class));
    expect(rank != 0 || class == MPIX_ERR_PROC_FAILED);
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    expect(class_of(MPI_Barrier(MPI_COMM_WORLD)) == MPIX_ERR_REVOKED);
    expect(class_of(MPI_Send(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPIX_ERR_REVOKED);
}

static void agree(int rank)
{
    int flag = rank == 2 ? 5 : 7;
    expect(class_of(MPIX_Comm_agree(MPI_COMM_WORLD, &flag)) == MPIX_ERR_PROC_FAILED);
    expect(flag == 5);
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPI_Group failed, all;
    int size, dead = 0, where;
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(failed, 1, &dead, all, &where);
    expect(size == 1 && where == DIES);
    expect(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && flag == 5);
    MPI_Group_free(&failed);
    MPI_Group_free(&all);
}

static int raised;

static void count_raised(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    raised += class_of(*error) == MPIX_ERR_REVOKED;
}

/* What goes wrong in MPI_Start is raised on the communicator of the request. */
static void start_on_revoked(MPI_Comm of)
{
    MPI_Comm comm;
    MPI_Errhandler counts;
    MPI_Request request;
    MPI_Comm_dup(of, &comm);
    MPI_Comm_create_errhandler(count_raised, &counts);
    MPI_Comm_set_errhandler(comm, counts);
    MPI_Errhandler_free(&counts);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    MPIX_Comm_revoke(comm);
    expect(class_of(MPI_Start(&request)) == MPIX_ERR_REVOKED && raised == 1);
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
}

/* Its place there is not its number in the world. */
static void agree_once_more(MPI_Comm rest)
{
    int flag = 3, got, place;
    MPI_Comm_rank(rest, &place);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
    expect(class_of(MPI_Recv(&got, 1, MPI_INT, place == 1 ? 0 : 1, 1, rest, MPI_STATUS_IGNORE)) ==
           MPIX_ERR_PROC_FAILED);
    expect(class_of(MPIX_Comm_agree(rest, &flag)) == MPIX_ERR_PROC_FAILED);
    MPIX_Comm_failure_ack(rest);
    expect(MPIX_Comm_agree(rest, &flag) == MPI_SUCCESS && flag == 3);
}

static void go_on(int rank, bool again)
{
    MPI_Comm rest;
    int size, sum = 0, place;
    expect(MPIX_Comm_shrink(MPI_COMM_WORLD, &rest) == MPI_SUCCESS);
    MPI_Comm_size(rest, &size);
    MPI_Comm_rank(rest, &place);
    expect(size == RANKS - 1 && place == (rank > DIES ? rank - 1 : rank));
    if (again)
        agree_once_more(rest);
    else
        expect(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, rest) == MPI_SUCCESS && sum == 5);
    if (!again)
        start_on_revoked(rest);
    MPI_Comm_free(&rest);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wait_in_a_circle(rank);
    agree(rank);
    bool again = argc > 1 && strcmp(argv[1], "again") == 0;
    go_on(rank, again);
    if (argc > 1)
        faultline_without(DIES);
    if (again)
        faultline_without(DIES_THEN);
    MPI_Finalize();
    return expect_end("engine_ulfm", rank);
}
