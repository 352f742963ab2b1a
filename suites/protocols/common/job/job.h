/* How a protocol begins and ends: MPI_Init, its settings, and what it does where it cannot go on. A
 * protocol that includes this file is linked with this folder; it defines `this_protocol`
 * and protocol_start, and this folder MPI_Init and MPI_Init_thread. Must not know: what the
 * protocol does, what the program computes. */
#ifndef COMMON_JOB_JOB_H
#define COMMON_JOB_JOB_H

#include "common/base/lines.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

/* Defined by the protocol; constant. */
struct protocol {
    const char *name;   /* in front of messages: "c3" */
    const char *title;  /* in sentences: "the C3 protocol" */
    const char *member; /* what it calls a process of the job: "rank", "process" */
    int threads;        /* highest level of MPI_Init_thread that it grants: MPI_THREAD_* */
};
extern const struct protocol this_protocol;

/* Defined by the protocol: called once, after the library's MPI_Init has succeeded; collective over
 * MPI_COMM_WORLD. `job` is filled in. */
void protocol_start(void);

/* This process in the library's MPI_COMM_WORLD. */
struct job {
    int process;
    int processes;
    char **arguments; /* the program's name and arguments as MPI_Init got them; NULL: it got none */
};
extern struct job job;

/* Ends the job: the reason is a printf text. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the job with the reason where `code` is not OK: never a silent start from nothing. */
void must(enum error_code code, const struct error *error);

/* Ends the job: the program does what the protocol does not support. `what` names the function or
 * the use of it, `instead` says what is supported. */
_Noreturn void refuse(const char *what, const char *instead);

/* Zeroed memory for `count` pieces of `bytes` each; the job ends if there is none. Never NULL.
 * Owned by the caller: free. */
void *memory(size_t count, size_t bytes);

/* Room for `bytes` in place of `old`, as realloc gives it; the job ends if there is none. */
void *larger(void *old, size_t bytes);

/* The number in the environment variable `name`, `otherwise` where it is not set or empty. The job
 * ends if it is not from `least` to `most`. */
long number_setting(const char *name, long least, long most, long otherwise);

/* The newest committed line as process 0 finds it in its store, LINE_NONE if there is none;
 * collective over `comm`, in which process 0 is rank 0. The job ends where it cannot be read. */
uint64_t newest_line(const struct line_store *store, MPI_Comm comm);

/* Ends the job if `inside` is false: `function` is called before MPI_Init or after MPI_Finalize. */
void must_be_inside(bool inside, const char *function);

#endif
