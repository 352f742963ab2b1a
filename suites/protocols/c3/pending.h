/* Requests that are alive at a checkpoint, and matched messages: written into it and made again at
 * recovery, under the same handles. A receive that is under way is posted again, so its buffer must
 * lie in registered state; a send that is under way is complete after recovery, for its message is
 * in the receiver's state or log, or its receiver will have it from there. Must not know: files. */
#ifndef C3_PENDING_H
#define C3_PENDING_H

#include "common/base/bytes.h"

/* Ends the job where a receive cannot be posted again. */
void pending_save(struct bytes *out);

/* After handles_restore and replay_open. Persistent requests that the program has made already, in
 * this life, stay as they are. */
void pending_restore(struct reader in);

#endif
