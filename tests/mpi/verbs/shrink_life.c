/* A program that is wrong in one place, for the tests of `faultline shrink`: a token goes round,
 * and a job that is started again after lap MARK was begun gives up, if it is its turn.
 *
 * shrink_life LAPS. In the environment, all optional: HEALED names a file; while it exists nothing
 * is wrong. TURNS=n: only every n-th time, counted in the file COUNTER, but always the first FIRST
 * times; SURE_RANKS=n: and with n ranks or more, which are not counted. ODD: only where the job was
 * started again an odd number of times. SLOW_MS: a lap takes as long. WRONG: the job does not give
 * up, but comes to another result. */
#include "faultline.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MARK 3
#define PATH_BYTES 4096
#define GIVES_UP 7
#define US_PER_MS 1000

static int exists(const char *path)
{
    return path != NULL && access(path, F_OK) == 0;
}

static void path_of(const char *name, char path[PATH_BYTES])
{
    const char *store = getenv("FAULTLINE_STORE");
    snprintf(path, PATH_BYTES, "%s/%s", store != NULL ? store : ".", name);
}

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? atol(text) : otherwise;
}

/* How often that was counted in this file before. */
static long count_in(const char *counter)
{
    long count = 0;
    FILE *file = fopen(counter, "r");
    if (file != NULL) {
        if (fscanf(file, "%ld", &count) != 1)
            count = 0;
        fclose(file);
    }
    file = fopen(counter, "w");
    if (file == NULL)
        exit(99);
    fprintf(file, "%ld\n", count + 1);
    fclose(file);
    return count;
}

/* Counts this time; is it one of every TURNS? */
static int is_turn(int ranks)
{
    const char *turns = getenv("TURNS"), *counter = getenv("COUNTER");
    if (turns == NULL || counter == NULL || ranks >= number("SURE_RANKS", ranks + 1))
        return 1;
    long count = count_in(counter);
    return count < number("FIRST", 0) || count % atol(turns) == 0;
}

/* Counts the lives of this job; is it in one that may give up? */
static int is_such_a_life(void)
{
    char path[PATH_BYTES];
    path_of("lives", path);
    return getenv("ODD") == NULL || count_in(path) % 2 == 1;
}

/* The others wait outside of MPI to be ended, so that it is always the same rank that fails. */
static void give_up(int rank)
{
    while (rank != 0)
        usleep(US_PER_MS);
    exit(GIVES_UP);
}

static void lap(int rank, int ranks)
{
    int token = 0;
    usleep((useconds_t)(number("SLOW_MS", 0) * US_PER_MS));
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1 % ranks, 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, ranks, laps = argc > 1 ? atoi(argv[1]) : MARK;
    char mark[PATH_BYTES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    path_of("mark", mark);
    int gives_up = rank == 0 && is_such_a_life() && exists(mark) && !exists(getenv("HEALED")) &&
                   is_turn(ranks);
    MPI_Bcast(&gives_up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (gives_up && getenv("WRONG") == NULL)
        give_up(rank);
    for (int i = 1; i <= laps; i++) {
        if (i == MARK && rank == 0)
            fclose(fopen(mark, "w"));
        lap(rank, ranks);
    }
    faultline_result("gave up", &gives_up, sizeof gives_up);
    MPI_Finalize();
    return 0;
}
