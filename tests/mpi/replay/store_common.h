/* What the programs of this folder share: they keep their state in the store by themselves, race
 * for its files, and what they send each other depends on who was first. */
#ifndef TESTS_MPI_REPLAY_STORE_COMMON_H
#define TESTS_MPI_REPLAY_STORE_COMMON_H

#include "faultline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS 12

static int rank, ranks;

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A file of the store; four at a time. */
static inline const char *in_store(const char *name, int number)
{
    static char text[4][PATH_MAX];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s/%s%d", getenv("FAULTLINE_STORE"), name, number);
    return text[turn];
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
}

static inline void write_file(const char *path, uint64_t value)
{
    FILE *out = fopen(path, "w");
    must(out != NULL && fprintf(out, "%llu\n", (unsigned long long)value) > 0, path);
    must(fflush(out) == 0 && fsync(fileno(out)) == 0 && fclose(out) == 0, path);
}

/* false: there is none. */
static inline int read_file(const char *path, uint64_t *value)
{
    unsigned long long read;
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return 0;
    must(fscanf(in, "%llu", &read) == 1, path);
    fclose(in);
    *value = read;
    return 1;
}

static void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static int end(uint64_t result)
{
    faultline_result("seen", &result, sizeof result);
    MPI_Finalize();
    return 0;
}

#endif
