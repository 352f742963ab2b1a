/* The copy of the program's registered memory as it was at its last potential checkpoint. One in a
 * process. Must not know: messages, when it is taken, what it is for. */
#ifndef COMMON_MESSAGES_IMAGE_H
#define COMMON_MESSAGES_IMAGE_H

#include "common/base/state.h"

/* The copy of what is registered in `program` becomes what that is now. The job ends if there is no
 * memory. */
void image_copy(const struct state *program);

/* Room for a copy that the caller fills in: piece[i].data is its own. Lost: the copy before. */
struct state *image_room(const struct state *program);

/* The same pieces; their data are the copy. */
const struct state *image_state(void);

#endif
