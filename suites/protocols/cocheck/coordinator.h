/* The central instance [CC, section 4]: begins a line when rank 0 says that one is due, hears of
 * what the ranks have done, commits a checkpoint, or gives out new addresses after a migration. One
 * line at a time. It lives in the process COORDINATOR, whether or not a rank lives there too. Must
 * not know: messages of the application. */
#ifndef COCHECK_COORDINATOR_H
#define COCHECK_COORDINATOR_H

#include "cocheck/control.h"

/* `newest`: the line that the job begins from. */
void coordinator_open(uint64_t newest);
void coordinator_close(void);

/* What was sent to the central instance. Phases: before-commit, those of line_commit. */
void coordinator_take(const struct control_message *message);

#endif
