/* Recovery lines on stable storage: each rank's checkpoint of a line is a file, and so is the
 * record of the newest line that is committed. Protocols whose ranks save registered state and
 * whose initiator commits share it. Must not know: MPI, when a line is taken.
 *
 * In the folder: line-<line>.rank-<rank>, and commit. */
#ifndef COMMON_BASE_LINES_H
#define COMMON_BASE_LINES_H

#include "base/error.h"
#include "common/base/state.h"

#include <stdbool.h>
#include <stdint.h>

#define LINE_NONE 0 /* the start of the program */

/* Where one rank keeps its part. Plain data; nothing to release. */
struct line_store {
    const char *protocol; /* a literal: stands in front of the names of phases */
    int rank;
    int ranks;
    char folder[PATH_MAX];
};

/* The folder is FAULTLINE_STORE, "checkpoints" if that is not set; it is made if need be. */
enum error_code line_store_open(struct line_store *store, const char *protocol, int rank, int ranks,
                                struct error *error);

/* Notes in the trace that this rank is at the named point "<protocol>:<name>". */
void line_phase(const struct line_store *store, const char *name);

/* Stores the state as it is now as this rank's checkpoint of `line`; on return it is stable.
 * Phases: before-write, mid-write, before-sync, before-rename, after-rename. */
enum error_code line_save(const struct line_store *store, uint64_t line, const struct state *state,
                          struct error *error);

/* The same with `bytes` of the protocol's own after the state. */
enum error_code line_save_with(const struct line_store *store, uint64_t line,
                               const struct state *state, const void *extra, uint64_t bytes,
                               struct error *error);

/* Overwrites the state with this rank's checkpoint of `line`, or changes nothing. Errors name the
 * file and what is wrong with it. */
enum error_code line_load(const struct line_store *store, uint64_t line, struct state *state,
                          struct error *error);

/* The same for what line_save_with stored. *extra is owned by the caller: free. */
enum error_code line_load_with(const struct line_store *store, uint64_t line, struct state *state,
                               void **extra, uint64_t *bytes, struct error *error);

/* Records `line` as the one to recover from, in place of the one before; on return that is stable.
 * Phases: mid-commit, before-commit-rename, after-commit-rename. */
enum error_code line_commit(const struct line_store *store, uint64_t line, struct error *error);

/* The newest committed line, LINE_NONE if there is none. An unreadable record is an error, never
 * "none": to start again from nothing would throw away what was promised. */
enum error_code line_newest(const struct line_store *store, uint64_t *line, struct error *error);

/* This rank's checkpoint of `line` is there. */
bool line_is_saved(const struct line_store *store, uint64_t line);

/* The newest line of which this rank's checkpoint is there, committed or not; LINE_NONE if there is
 * none. */
enum error_code line_newest_saved(const struct line_store *store, uint64_t *line,
                                  struct error *error);

/* Removes this rank's checkpoint of `line`, if it is there. Only ever of a line older than the
 * newest committed one. A file that cannot be removed only takes room. */
void line_remove(const struct line_store *store, uint64_t line);

#endif
