/* Coordinated lines: all ranks take one at the same potential checkpoint. Must not know: what is
 * logged, who has died. */
#ifndef COMMON_LOGGING_LINE_H
#define COMMON_LOGGING_LINE_H

#include "common/logging/logger.h"

void line_open(void);
void line_close(void);

/* At a potential checkpoint: true: a line was taken. */
bool line_potential_checkpoint(void);

/* At checkpoint_restore. false: this rank starts from the beginning. */
bool line_restore(void);

/* The same where all ranks are one team, which was started again as a whole. */
void line_restart(void);

/* After line_restore has given a line: what was left to do for it. */
void line_await_others(void);

/* For layer_protocol. */
void line_control(int from, unsigned kind, uint64_t line, const void *data, size_t bytes);

/* Rank `rank` has been replaced: this rank sends it how far it is. */
void line_newcomer(int rank);

/* In MPI_Finalize: all have come here, and all that was sent has come. */
void line_finish(void);

#endif
