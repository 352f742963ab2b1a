/* Traces, read: one file, or all files of a run folder. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "base/error.h"
#include "trace/event.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* More is a header that was damaged: readers count up to what it says. */
#define TRACE_MAX_RANKS 65536
#define TRACE_MAX_INCARNATIONS 1024
#define TRACE_MAX_TICKS_PER_SECOND 1e12

/* One (rank, incarnation). Read only. */
struct trace {
    int rank;
    int incarnation;
    const struct trace_header *header;
    const struct record *record;
    uint64_t count; /* records reserved; those of kind NONE are holes */
    const struct record
        *end;      /* END, &record[count]: how the process ended; NULL: nobody wrote it */
    size_t mapped; /* bytes mapped; 0: owned by malloc (made in memory) */
};

/* All of a run, sorted by incarnation, then rank. */
struct trace_set {
    size_t count;
    struct trace *trace;
    int ranks; /* world size asked for, and processes that came later: all numbers are below */
    int world; /* world size asked for, the largest of all incarnations; processes that came later
                * have numbers from here on */
    int incarnations; /* highest incarnation + 1 */
};

/* Errors: ERROR_IO (with errno text), ERROR_FORMAT (foreign, or cut within the header),
 * ERROR_VERSION (names both versions). A file shorter than header->next says is cut to what is
 * there and is not an error here: I.complete judges it. */
enum error_code trace_open(const char *path, struct trace *trace, struct error *error);
void trace_close(struct trace *trace);

/* Every *.trace of `folder`; at least one. Files that were made and never written to are left out:
 * their rank died before its trace began. */
enum error_code trace_set_open(const char *folder, struct trace_set *set, struct error *error);

/* The same of the run in `folder`, whose traces are in FOLDER/trace. */
enum error_code trace_set_open_run(const char *folder, struct trace_set *set, struct error *error);

/* Sorts a set whose traces were made in memory and fills in its sizes. ERROR_FORMAT, naming
 * `where`, if a (rank, incarnation) is there twice. */
enum error_code trace_set_finish(const char *where, struct trace_set *set, struct error *error);

/* Takes END off the records of a trace that was made in memory; trace_open does it itself. */
void trace_detach_end(struct trace *trace);

/* Unmaps all traces of the set. Harmless on an empty set. */
void trace_set_release(struct trace_set *set);

/* NULL if there is none. */
const struct trace *trace_set_find(const struct trace_set *set, int rank, int incarnation);

/* How many ranks the first MPI_COMM_WORLD of the incarnation was to have; 0: it has no trace. */
int trace_set_world(const struct trace_set *set, int incarnation);

/* The first incarnation that had another number of ranks than the one before it; 0: none. */
int trace_set_resized(const struct trace_set *set);

/* Its traces say that the rank belongs to the library under test. */
bool trace_set_is_helper(const struct trace_set *set, int rank);

/* The record is an event of its own: no hole, and no part of the one before (group, text). */
static inline bool record_is_event(const struct record *record)
{
    unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
    return kind != RECORD_NONE && kind != RECORD_GROUP && kind != RECORD_TEXT;
}

/* An event of the application. */
static inline bool record_is_of_app(const struct record *record)
{
    return record_is_event(record) && record->level == LEVEL_APP;
}

/* Nanoseconds since the start of the run's first trace. */
uint64_t trace_ns(const struct trace_set *set, uint64_t ticks);

/* The name in the TEXT records after record `index` (of NOTE). buffer is always terminated. */
void trace_text(const struct trace *trace, uint64_t index, char *buffer, size_t bytes);

/* Of a result that is a number (NOTE_NEAR): it, and by how much it may differ. */
double trace_number(const struct record *note);
double trace_tolerance(const struct record *note);

/* The bits in which a trace has a number, and back. */
uint64_t trace_bits(double number);
double trace_number_of(uint64_t bits);

#endif
