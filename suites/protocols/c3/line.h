/* A recovery line in the making [C3, section 3.1]: what each control message leads to, the local
 * checkpoint, the end of logging, the commit. At most one line is under way. Must not know: the
 * program's MPI calls. */
#ifndef C3_LINE_H
#define C3_LINE_H

#include "c3/c3.h"

/* Takes up what the control messages that have arrived ask for, and says readyToStopLogging when
 * the last late message has been handed over. Never blocks. To be called at the beginning of every
 * call of the program, before anything is handed over in it, and while one waits. */
void line_progress(void);

/* At a potential checkpoint: begins a line (initiator) and takes the local checkpoint if one is
 * asked for. Returns the number of the line, 0 if none was taken. */
uint64_t line_potential_checkpoint(void);

/* In a barrier: another member has taken its checkpoint of the next line, so this rank takes its
 * own now [C3, section 5.4], asked for or not. */
void line_checkpoint_at_barrier(void);

/* A message from a rank that has stopped logging is about to be handed over: stop as well, first
 * [C3, section 3.1, phase 4]. A blocking send that is under way says that this rank logs, and is
 * sent when it returns: until then the end of logging waits. Nothing is handed over in it. */
void line_stop_logging(void);

/* Has this rank said readyToStopLogging? From then on other ranks may have stopped logging. */
bool line_is_ready(void);

/* `world` is the sender of an early message that is handed over now; its id goes into the list that
 * this rank's next checkpoint keeps [C3, suppressList]. */
void line_early(int world, uint64_t id);

/* In MPI_Finalize: collective. The line under way is committed if every rank has taken its
 * checkpoint and all late messages are in, else given up. */
void line_finish(void);

/* After recovery from `line`: nothing is under way. */
void line_recovered(uint64_t line);

#endif
