/* What the checkpoints of an application cost, by themselves: all ranks write their state into the
 * store beside the old one, let it last, put it in its place, look for those of the others and read
 * one of them. Prints microseconds a checkpoint.
 * Usage: checkpoints BYTES CHECKPOINTS     FAULTLINE_STORE: where; made if it is not there */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4200

static int rank, ranks;

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char *file_of(const char *name, int whose, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s-%d", getenv("FAULTLINE_STORE"), name, whose);
    return path;
}

static void save(const char *state, size_t bytes)
{
    char fresh[PATH_BYTES], old[PATH_BYTES];
    FILE *out = fopen(file_of("new", rank, fresh), "w");
    must(out != NULL && fwrite(state, 1, bytes, out) == bytes, fresh);
    must(fflush(out) == 0 && fsync(fileno(out)) == 0 && fclose(out) == 0, fresh);
    must(rename(fresh, file_of("state", rank, old)) == 0, old);
}

static void load(char *state, size_t bytes)
{
    char path[PATH_BYTES];
    struct stat facts;
    for (int i = 0; i < ranks; i++)
        must(stat(file_of("state", i, path), &facts) == 0, path);
    FILE *in = fopen(file_of("state", (rank + 1) % ranks, path), "r");
    must(in != NULL && fread(state, 1, bytes, in) == bytes, path);
    fclose(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc == 3 && getenv("FAULTLINE_STORE") != NULL, "BYTES CHECKPOINTS, FAULTLINE_STORE");
    size_t bytes = strtoul(argv[1], NULL, 10);
    int checkpoints = atoi(argv[2]);
    char *state = calloc(1, bytes);
    must(state != NULL, "memory");
    mkdir(getenv("FAULTLINE_STORE"), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < checkpoints; i++) {
        save(state, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        load(state, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.3f\n", (MPI_Wtime() - start) * 1e6 / checkpoints);
    free(state);
    MPI_Finalize();
    return 0;
}
