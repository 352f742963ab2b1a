/* What is in a letter, in this order: its head (struct letter), the determinants that it carries,
 * how far others of the sender's team are, and a packet of the program. Writing is logging_write
 * and logging_count, for others as well (logging.h). Must not know: what is logged, who has died.
 */
#ifndef COMMON_LOGGING_LETTERS_H
#define COMMON_LOGGING_LETTERS_H

#include "common/base/bytes.h"
#include "common/logging/logging.h"

/* After the head, in the order of the letter; the job ends where something is missing. */

/* The array is the caller's. */
struct determinants letters_read_determinants(const struct letter *letter, struct reader *in);
/* Not looked at yet: for letters_see_team. */
struct reader letters_read_team(const struct letter *letter, struct reader *in);
/* Owned by the caller. */
struct packet *letters_read_packet(struct reader *in);

/* The sender was seen as far as its letter says, and the others of its team as far as it knows. */
void letters_see(const struct letter *letter);
void letters_see_team(struct reader team);

#endif
