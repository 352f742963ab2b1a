/* The recovery log [C3, sections 2.3 and 3.1]: what a rank keeps between its checkpoint and the
 * stop-log line. An entry is the *outcome* of a receive, found again by the receive's place in
 * matching order, the *answer* of a call that may say one thing or another, found again by the
 * order of such calls, or the *result* of a collective call, found again by the call's id. In
 * memory while the rank logs, then a file. Must not know: MPI calls, how it is replayed.
 *
 * File log-<line>.rank-<rank>: struct log_head, then entries, each a struct log_entry and data. */
#ifndef C3_LOG_H
#define C3_LOG_H

#include "c3/c3.h"

enum log_kind {
    /* Outcomes. */
    LOG_LATE = 1, /* a late message, with its data */
    LOG_MATCHED,  /* what a wildcard receive took in that will be sent again */
    LOG_CANCELLED,
    /* Answers. data: of many requests, int32_t indices of those that were complete. */
    LOG_TEST,
    LOG_TESTALL,
    LOG_TESTANY,
    LOG_TESTSOME,
    LOG_WAITANY,
    LOG_WAITSOME,
    LOG_GET_STATUS,
    LOG_PROBE,
    LOG_IPROBE,
    LOG_MPROBE,
    LOG_IMPROBE,
    LOG_DECISION, /* data: the choice */
    /* Of collective calls, by the call's id. */
    LOG_RESULT, /* data: what a call that the line runs through gave this rank */
    LOG_SENDER, /* source (world rank) has its part in such a result, and sends it no more */
    LOG_KINDS
};

/* In the file and in memory. Fields that a kind does not need are 0. */
struct log_entry {
    uint32_t kind;    /* enum log_kind */
    int32_t positive; /* answers: 0 is "no" */
    int32_t source;   /* rank in the communicator, unless said otherwise */
    int32_t tag;
    int32_t error;    /* MPI error class: MPI_SUCCESS or MPI_ERR_TRUNCATE */
    int32_t taken_in; /* probes: 1: the message was received ahead of its receive, for its header */
    uint64_t number;  /* place of the receive; id of the call; "no": how often in a row */
    uint64_t bytes;   /* of the message */
    uint64_t data_bytes; /* after this entry, padded to LOG_ALIGNMENT */
};

#define LOG_ALIGNMENT 8

struct log_head {
    uint64_t line;
    int32_t rank;
    int32_t ranks;
};

/* Forgets all entries. */
void log_clear(void);

/* Appends; data is copied. A "no" that follows the same "no" only counts. */
void log_append(const struct log_entry *entry, const void *data);

/* On return the log is on stable storage. Phases: before-log-write, mid-log-write,
 * before-log-sync, before-log-rename, after-log-rename. */
void log_save(uint64_t line);

/* Reads and checks this rank's log of `line`; the job ends if it is not good. Owned by the caller:
 * free. *entries points into it. */
void *log_load(uint64_t line, const char **entries, uint64_t *bytes);

/* Removes this rank's log of a line, if it is there. */
void log_remove(uint64_t line);

/* Bytes that `data_bytes` of data take after an entry. */
uint64_t log_padded(uint64_t data_bytes);

#endif
