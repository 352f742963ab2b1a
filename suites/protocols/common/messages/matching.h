/* Which message goes to which receive, as MPI says: receives in the order of posting, messages of
 * a channel in the order of sending. Deterministic: what comes out depends on nothing but the order
 * of calls and packets. Must not know: the wire, the past. */
#ifndef COMMON_MESSAGES_MATCHING_H
#define COMMON_MESSAGES_MATCHING_H

#include "common/messages/requests.h"

/* A message or an acknowledgement has come. Takes over one hold. */
void matching_arrives(struct packet *packet);

/* Posts a receive, or gives it what is there already. */
void matching_post(struct request *receive);

/* The first message that is here and that a receive of these would take; NULL: none. It stays. */
struct packet *matching_find(const struct comm *comm, int source, int tag);

/* Takes it away for good, with the hold of this module: the receive is matched. */
void matching_take(struct packet *packet);

/* Those that are here and match no receive, in the order of arrival. */
struct packet *matching_here(void);

/* As bytes in a saved state; those here go first. */
void matching_write(struct bytes *out);
void matching_read(struct reader in);

#endif
