/* What the programs share: their command line, and the time they pretend to compute. Each program
 * is otherwise one file that a reader of MPI understands alone. Must not know: any protocol. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM_EXIT_USAGE 64

/* Requests of a state that may have been restored, in which `none` was MPI_REQUEST_NULL: a
 * library's own handles need not be the same after a restart. */
static inline void program_renew_requests(MPI_Request none, MPI_Request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i] == none)
            requests[i] = MPI_REQUEST_NULL;
}

/* One option `--name N`: a whole number from minimum to maximum. *value holds the default. */
struct program_option {
    const char *name;
    long *value;
    long minimum;
    long maximum;
    const char *meaning;
};

/* Prints what is wrong and what is accepted, on rank 0 only: all ranks see the same arguments. */
static inline void program_usage(const char *program, const char *wrong, const char *argument,
                                 const struct program_option *options, size_t count)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    fprintf(stderr, "%s: %s '%s'; accepted:\n", program, wrong, argument);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  --%s N  %s, %ld to %ld (default %ld)\n", options[i].name,
                options[i].meaning, options[i].minimum, options[i].maximum, *options[i].value);
}

static inline const struct program_option *
program_option_find(const char *argument, const struct program_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(argument, "--", 2) == 0 && strcmp(argument + 2, options[i].name) == 0)
            return &options[i];
    return NULL;
}

static inline bool program_option_set(const struct program_option *option, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < option->minimum || value > option->maximum)
        return false;
    *option->value = value;
    return true;
}

/* Reads the command line after MPI_Init. false: it is wrong, the reason is printed, and the caller
 * calls MPI_Finalize and returns PROGRAM_EXIT_USAGE. */
static inline bool program_options(int argc, char **argv, const char *program,
                                   const struct program_option *options, size_t count)
{
    for (int i = 1; i < argc; i += 2) {
        const struct program_option *option = program_option_find(argv[i], options, count);
        const char *wrong = !option                                    ? "unknown option"
                            : i + 1 == argc                            ? "a number is missing after"
                            : !program_option_set(option, argv[i + 1]) ? "not a number in range:"
                                                                       : NULL;
        if (wrong) {
            bool about_number = option && i + 1 < argc;
            program_usage(program, wrong, argv[about_number ? i + 1 : i], options, count);
            return false;
        }
    }
    return true;
}

/* false, with the reason printed: this program needs at least `least` ranks. */
static inline bool program_ranks(const char *program, int least)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < least && rank == 0)
        fprintf(stderr, "%s: needs at least %d ranks, has %d\n", program, least, ranks);
    return ranks >= least;
}

/* Two numbers to one that depends on each bit of both (the finalizer of splitmix64). */
static inline uint64_t program_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Stands for work that takes `us` microseconds; sleeps, so that more ranks than cores do no harm.
 */
static inline void program_compute(long us)
{
    struct timespec rest = {us / 1000000, us % 1000000 * 1000};
    while (us > 0 && nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

/* Memory that is all zero; a job without memory ends here. */
static inline void *program_memory(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) {
        fprintf(stderr, "out of memory for %zu times %zu bytes\n", count, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

#endif
