/* Spawns two more processes of itself with an argument, merges with them, and connects both halves
 * once more by a port whose name is published; then one that disconnects at once. Needs 2 ranks. */
#include "mpi/expect.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#define CHILDREN 2

static void work_together(MPI_Comm whole, int size)
{
    int rank, all, sum = 0, one = 1;
    MPI_Comm_rank(whole, &rank);
    MPI_Comm_size(whole, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, whole);
    expect(all == size && sum == size);
    int from_first = rank == 0 ? 42 : 0;
    MPI_Bcast(&from_first, 1, MPI_INT, 0, whole);
    expect(from_first == 42);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 3, &got, 1, MPI_INT, before, 3, whole, MPI_STATUS_IGNORE);
    expect(got == before);
}

static void connect_again(MPI_Comm family, bool is_child)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int rank, others, published = 1;
    MPI_Comm again;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool opens = !is_child && rank == 0;
    if (opens) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("engine_spawn", MPI_INFO_NULL, port);
    }
    int root = is_child ? 0 : MPI_PROC_NULL;
    MPI_Bcast(&published, 1, MPI_INT, opens ? MPI_ROOT : root, family);
    if (is_child) {
        if (rank == 0)
            MPI_Lookup_name("engine_spawn", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
    } else {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
    }
    MPI_Comm_remote_size(again, &others);
    expect(others == 2);
    MPI_Barrier(again);
    MPI_Comm_disconnect(&again);
    if (opens) {
        MPI_Unpublish_name("engine_spawn", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

static void spawn_another(char *command)
{
    char *arguments[] = {"another", NULL};
    MPI_Comm other;
    MPI_Comm_spawn(command, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&other);
    expect(other == MPI_COMM_NULL);
}

static int be_another(MPI_Comm parent)
{
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return expect_end("engine_spawn another", 0);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, family, whole;
    int rank, size, errors[CHILDREN] = {1, 1};
    char *arguments[] = {"child", NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (argc == 2 && strcmp(argv[1], "another") == 0)
        return be_another(parent);
    bool is_child = parent != MPI_COMM_NULL;
    expect(is_child == (argc == 2 && strcmp(argv[1], "child") == 0));
    if (is_child) {
        expect(size == CHILDREN);
        family = parent;
    } else {
        MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &family,
                       errors);
        expect(errors[0] == MPI_SUCCESS && errors[1] == MPI_SUCCESS);
    }
    MPI_Intercomm_merge(family, is_child, &whole);
    work_together(whole, size + CHILDREN);
    connect_again(family, is_child);
    MPI_Comm_free(&whole);
    MPI_Comm_disconnect(&family);
    if (!is_child)
        spawn_another(argv[0]);
    int end = expect_end(is_child ? "engine_spawn child" : "engine_spawn", rank);
    MPI_Finalize();
    return end;
}
