/* A whole protocol in one file: a checkpoint at a barrier, every tenth time the program offers one.
 * Each rank has two files and writes the one that the committed line does not use, so a crash at
 * any moment leaves a line to go back to. Faultline is told what it cannot see: faultline_...
 * below. */
#include "checkpoint.h"
#include "faultline.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVERY 10
#define PIECES_MAX 16

static struct {
    void *data;
    size_t bytes;
} piece[PIECES_MAX];
static int pieces, rank, line, passed;

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* The folder that Faultline gives. */
static const char *store(void)
{
    const char *folder = getenv("FAULTLINE_STORE");
    return folder ? folder : ".";
}

/* A file in it. The result is good until the next call but one. */
static const char *path(const char *name, int number)
{
    static char text[2][4096];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s.%d", store(), name, number);
    return text[turn];
}

static const char *state_path(void)
{
    return path(line % 2 ? "odd" : "even", rank);
}

static FILE *open_or_end(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);
    must(file != NULL, name);
    return file;
}

/* Returns when all that was written is on the disk. */
static void close_durably(FILE *to)
{
    must(fflush(to) == 0 && fsync(fileno(to)) == 0 && fclose(to) == 0, "write");
}

void protocol_register(const char *name, void *data, size_t bytes)
{
    must(pieces < PIECES_MAX, name);
    piece[pieces].data = data;
    piece[pieces++].bytes = bytes;
}

int protocol_restore(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && access(path("commit", 0), F_OK) == 0) {
        FILE *from = open_or_end(path("commit", 0), "r");
        must(fscanf(from, "%d", &line) == 1, "read commit");
        fclose(from);
    }
    PMPI_Bcast(&line, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (line == 0)
        return 0;
    FILE *from = open_or_end(state_path(), "r");
    for (int i = 0; i < pieces; i++)
        must(fread(piece[i].data, piece[i].bytes, 1, from) == 1, "read checkpoint");
    fclose(from);
    faultline_restored((uint64_t)line);
    return line;
}

/* Returns when new names are on the disk too: a power failure must not take a file's name away. */
static void sync_names(void)
{
    int folder = open(store(), O_RDONLY | O_DIRECTORY);
    must(folder >= 0 && fsync(folder) == 0 && close(folder) == 0, "sync the folder");
}

static void save(void)
{
    FILE *to = open_or_end(state_path(), "w");
    for (int i = 0; i < pieces; i++)
        must(fwrite(piece[i].data, piece[i].bytes, 1, to) == 1, "write checkpoint");
    faultline_phase("my:mid-write");
    close_durably(to);
    sync_names();
    faultline_saved((uint64_t)line);
}

/* The old record or the new one, never half of one. */
static void commit(void)
{
    FILE *to = open_or_end(path("new-commit", 0), "w");
    must(fprintf(to, "%d\n", line) > 0, "write commit");
    close_durably(to);
    must(rename(path("new-commit", 0), path("commit", 0)) == 0, "rename commit");
    sync_names();
    faultline_commit((uint64_t)line);
}

int protocol_potential_checkpoint(void)
{
    if (++passed % EVERY != 0)
        return 0;
    line++;
    PMPI_Barrier(MPI_COMM_WORLD); /* nothing is under way */
    faultline_checkpoint((uint64_t)line);
    save();
    PMPI_Barrier(MPI_COMM_WORLD); /* all have saved */
    if (rank == 0)
        commit();
    PMPI_Barrier(MPI_COMM_WORLD); /* all may write over the line before */
    return line;
}
