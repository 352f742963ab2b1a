/* The smallest protocol with communicators that survive a restart, for tests of that layer: a test
 * program says when a rank is at its line. */
#include "layer.h"

#include "common/communicators/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static struct handles_stand own;
static int told_to_stop;

static void stand(struct handles_stand *answer)
{
    *answer = own;
}

static void stop_logging(void)
{
    own.logging = false;
    told_to_stop++;
}

/* Into a file: the launcher may lose what a rank says before it ends the job. */
static void refuse(const char *what, const char *instead)
{
    FILE *file = fopen("refused", "a");
    if (file) {
        fprintf(file, "%s is refused; supported: %s\n", what, instead);
        fclose(file);
    }
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* Collectives go to the library; what else communicates is refused, so that both are tested. */
static void communicates(const char *function)
{
    static const char *const passed[] = {"MPI_Allgather",          "MPI_Allreduce", "MPI_Barrier",
                                         "MPI_Neighbor_allgather", "MPI_Send",      "MPI_Recv"};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (strcmp(function, passed[i]) == 0)
            return;
    refuse(function, "what tests need");
}

static const struct handles_protocol protocol = {.name = "layer",
                                                 .hidden = true,
                                                 .stand = stand,
                                                 .stop_logging = stop_logging,
                                                 .communicates = communicates,
                                                 .refuse = refuse};

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    handles_open(&protocol);
    return result;
}

EXPORTED int MPI_Finalize(void)
{
    handles_close();
    return PMPI_Finalize();
}

/* A barrier on the hidden communicator: that it is there, and all members'. */
EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(handles_of(comm)->hidden);
}

static FILE *open_file(const char *folder, int line, const char *mode)
{
    char path[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d.%d", folder, line, rank);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

EXPORTED void layer_save(const char *folder, int line, const void *state, size_t bytes)
{
    struct bytes out = {0};
    handles_save(&out);
    FILE *file = open_file(folder, line, "wb");
    fwrite(state, bytes, 1, file);
    fwrite(out.data, out.size, 1, file);
    fclose(file);
    bytes_release(&out);
    own = (struct handles_stand){.line = (uint64_t)line, .logging = true};
}

EXPORTED void layer_restore(const char *folder, int line, void *state, size_t bytes)
{
    if (line == 0) {
        handles_restore(NULL, 0);
        return;
    }
    FILE *file = open_file(folder, line, "rb");
    struct bytes in = {0};
    char part[512];
    size_t got = fread(state, bytes, 1, file);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        bytes_put(&in, part, got);
    fclose(file);
    handles_restore(in.data, in.size);
    handles_settle();
    bytes_release(&in);
    own = (struct handles_stand){.line = (uint64_t)line};
}

EXPORTED int layer_alive(void)
{
    int alive = 0;
    for (const struct handle *handle = handles.all; handle; handle = handle->next)
        alive++;
    return alive;
}

EXPORTED int layer_logging(int logging)
{
    own.logging = logging != 0;
    return told_to_stop;
}
