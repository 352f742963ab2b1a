/* What the layer of communicators refuses by name, and when it makes a rank stop logging; see
 * handles.bats for which argument does what. */
#include "layer.h"

#include "../mpi/expect.h"

#include <mpi.h>
#include <string.h>

static int rank;

static void attribute(MPI_Comm comm)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &rank);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* Rank 0 has stopped logging, the others hear of it by making a communicator together. */
static void stop_logging(const char *folder)
{
    MPI_Comm comm;
    layer_save(folder, 1, &rank, sizeof rank);
    layer_logging(rank != 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect(layer_logging(1) == (rank != 0));
    layer_logging(rank != 0);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    expect(layer_logging(1) == (rank != 0));
}

static void late_and_early_phases(const char *folder)
{
    MPI_Comm comm;
    if (rank == 0)
        layer_restore(folder, 0, NULL, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *folder = argv[1], *what = argv[2];
    MPI_Comm comm = MPI_COMM_NULL, with_attribute;
    MPI_Request request;
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    if (strcmp(what, "phases") == 0)
        late_and_early_phases(folder);
    MPI_Comm_dup(MPI_COMM_WORLD, &with_attribute);
    attribute(with_attribute);
    layer_restore(folder, 0, NULL, 0);
    if (strcmp(what, "idup") == 0)
        MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    if (strcmp(what, "intercomm") == 0)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &comm);
    if (strcmp(what, "attribute") == 0)
        attribute(MPI_COMM_WORLD);
    if (strcmp(what, "attribute-copied") == 0)
        MPI_Comm_dup(with_attribute, &comm);
    if (strcmp(what, "handler") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    if (strcmp(what, "communicates") == 0)
        MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(what, "freed") == 0) {
        MPI_Comm copy = with_attribute;
        MPI_Comm_free(&with_attribute);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int same = rank, result = MPI_Comm_rank(copy, &rank), class = MPI_SUCCESS;
        MPI_Error_class(result, &class);
        expect(class == MPI_ERR_COMM && rank == same);
    }
    if (strcmp(what, "stop-logging") == 0)
        stop_logging(folder);
    MPI_Finalize();
    return expect_end("refused", rank);
}
