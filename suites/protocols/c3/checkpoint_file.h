/* What a rank keeps of its checkpoint besides the registered state: the suppressList, how many of
 * the messages of the new epoch it has, the requests that are alive. One file with the state. Must
 * not know: when a checkpoint is taken. */
#ifndef C3_CHECKPOINT_FILE_H
#define C3_CHECKPOINT_FILE_H

#include "c3/c3.h"
#include "c3/suppress.h"

/* Stores this rank as it is now as its checkpoint of self.epoch; on return it is stable. Phases:
 * those of line_save. */
void checkpoint_file_save(void);

/* Makes this rank what it was at its checkpoint of `line`, but for its requests, which wait for
 * checkpoint_file_requests. *early: what it had received early; owned by the caller: free. */
void checkpoint_file_load(uint64_t line, struct early **early, size_t *count);

/* Makes the requests again, and posts the receives. */
void checkpoint_file_requests(void);

#endif
