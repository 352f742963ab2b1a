/* Algorithms 2 and 3 of [CM]: multicasts, stored once at their root, and reductions (gatherings.h),
 * of which no more is kept than what their root would need again. A rank that dies goes through
 * both again with the others' help. Must not know: who has died, when a line is taken. */
#ifndef COMMON_LOGGING_TREES_H
#define COMMON_LOGGING_TREES_H

#include "common/logging/logging.h"
#include "common/messages/comms.h"
#include "common/messages/tree.h"

void trees_close(void);

/* For layer_carrier. */
void trees_multicast(struct packet *packet);

/* A letter of a kind from LETTER_MULTICAST on has come, from a process that lives. The determinants
 * in it are stored already. Takes over the packet, which is NULL in a LETTER_DETERMINANTS. */
void trees_comes(const struct letter *letter, struct packet *packet);
/* ... from one that has died. */
void trees_stale(const struct letter *letter, struct packet *packet);

/* Looks whether the program has made communicators that letters came on ahead of. */
void trees_catch_up(void);

/* Every rank has saved `line`: what is of lines before it goes. */
void trees_drop_before(uint64_t line);

/* At a line: what is under way in a tree, while its other half is beyond. */
void trees_write(struct bytes *out);
void trees_read(struct reader in);

/* Rank `to` has been replaced: it gets what is logged for it, what this rank knows to be finished,
 * and the contributions that it had given to reductions of this rank. */
void trees_resend(int to);

/* --- for gatherings.h ------------------------------------------------------------------------- */

/* As this rank sees the tree of a root, a rank of the application. */
struct tree trees_own(const struct comm *comm, int root);
void trees_send_to_children(const struct comm *comm, int root, struct letter_bytes *bytes,
                            int kind);

#endif
