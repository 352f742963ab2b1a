/* What a rank is besides the program's registered state: as bytes, for its checkpoint and for its
 * way to another process. Must not know: where the bytes go. */
#ifndef COCHECK_RANK_STATE_H
#define COCHECK_RANK_STATE_H

#include "cocheck/cocheck.h"
#include "common/base/bytes.h"

/* At the cut. */
void rank_state_put(struct bytes *out);

/* After the program's registered state being what it was. `alone`: no other rank does this now.
 * The job ends if the bytes are not what rank_state_put appended. */
void rank_state_take(const void *data, size_t bytes, bool alone);

#endif
