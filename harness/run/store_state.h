/* What a life of the job begins with: all of the checkpoint store that it can read. Two lives that
 * begin with the same, and with a plan of which all is done, can do the same. Must not know: plans,
 * what is in the files. */
#ifndef RUN_STORE_STATE_H
#define RUN_STORE_STATE_H

#include "base/error.h"

#include <stdint.h>

#define STORE_STATE_FILE "store-state" /* .INCARNATION in the run folder: 16 hexadecimal digits */

/* Of names, kinds and contents below `store`; not of times, owners and inode numbers. A store that
 * is not there is an empty one. ERROR_IO names what cannot be read. */
enum error_code store_state_of(const char *store, uint64_t *state, struct error *error);

#endif
