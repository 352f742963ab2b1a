/* Which process is which rank of the application, and when: by the `becomes` notes. A process that
 * tells none is the rank that MPI says for all its life. What one that does tells did before its
 * first note counts for the rank that MPI says, unless the program had not come out of MPI_Init by
 * then: it was in reserve, or started as another rank. A helper is never a rank of the application.
 * Must not know: what ranks did. */
#ifndef ORACLES_READING_TENURE_H
#define ORACLES_READING_TENURE_H

#include "base/error.h"
#include "oracles/oracle.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Records from..to-1 of a trace are of rank `rank` of the application. */
struct tenure {
    const struct trace *trace;
    int rank;
    uint64_t from;
    uint64_t to;
    uint64_t since; /* ticks */
};

struct tenures {
    size_t count;
    struct tenure *tenure; /* by incarnation, then by `since`; owned */
    bool moved;            /* some process was not only what MPI says */
    int ranks;             /* processes; ranks of the application are numbered below */
    bool *application;     /* by number: some process is this rank at some time, or the process of
                            * that number never came out of MPI_Init; owned */
    bool *helper;          /* by number: the process belongs to the library under test; owned */
};

/* Owned by the caller, also after an error (ERROR_MEMORY). */
enum error_code tenures_read(const struct trace_set *traces, struct tenures *tenures,
                             struct error *error);
void tenures_release(struct tenures *tenures);

/* The newest of the rank that began in an incarnation up to `incarnation`, and is before `before`
 * unless that is NULL. NULL: none. */
const struct tenure *tenures_newest(const struct tenures *tenures, int rank, int incarnation,
                                    const struct tenure *before);

/* The rank that the process was at its event; -1: none. */
int tenures_rank(const struct tenures *tenures, struct event_ref event);

#endif
