/* The log of the line this rank was restored from, as it is used up: the outcome of each receive by
 * its place, the answers and the results of collective calls in their order, and which sends are
 * not to be done again. Must not know: MPI calls, requests. */
#ifndef C3_REPLAY_H
#define C3_REPLAY_H

#include "c3/log.h"
#include "c3/suppress.h"

/* Takes the log of `line`. */
void replay_open(uint64_t line);

/* What the suppressList would have had from the log, were it not saved before: parts of results.
 * The rows are this module's until replay_close. */
const struct early *replay_senders(size_t *count);

/* Ids of messages and of parts of results, sent in this epoch, that the receivers have. `ids` is
 * the caller's; copied. */
void replay_suppress(const uint64_t *ids, size_t count);
void replay_close(void);

/* The outcome of the receive at this place, or NULL. *data: of a late message. Stays until
 * replay_close. */
const struct log_entry *replay_outcome(uint64_t place, const char **data);

/* A receive that has an outcome was given to the program. */
void replay_outcome_used(const struct log_entry *entry);

/* The next answer, which must be of this kind: the program does again what it did, or the job ends.
 * false: all answers have been given. *data (may be NULL): what follows the entry. */
bool replay_answer(enum log_kind kind, struct log_entry *entry, const char **data);

/* The result of the collective call with this id, whose bytes are at *data; NULL: the log has none.
 */
const struct log_entry *replay_result(uint64_t id, const char **data);

/* Is the message with this id one that its receiver has already? At most once per id. */
bool replay_suppresses(uint64_t id);

/* Is everything used up? */
bool replay_over(void);

#endif
