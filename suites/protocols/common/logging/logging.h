/* Algorithm 1 of [CM] without its recovery: what is sent is logged and carries determinants, what
 * comes is checked and makes one. Must not know: who has died, when a line is taken. */
#ifndef COMMON_LOGGING_LOGGING_H
#define COMMON_LOGGING_LOGGING_H

#include "common/logging/channels.h"
#include "common/logging/determinants.h"
#include "common/logging/teams.h"

/* In front of what is in a letter; behind it the determinants, how far others of the sender's team
 * are, as it knows, and a packet of the program. */
struct letter {
    uint64_t
        line; /* of the sender, when it made the letter; of a LETTER_STAGE, the one it is about */
    uint64_t step;        /* of the sender, since its line */
    uint64_t incarnation; /* of the sender */
    int32_t sender;
    uint32_t kind;
    uint32_t stage; /* of a LETTER_STAGE */
    uint32_t determinants;
    uint32_t team;   /* of how many others it says how far they are */
    uint64_t origin; /* of a LETTER_MULTICAST: its root's incarnation */
};

void logging_open(void);
void logging_close(void);

/* For layer_carrier. logging_take: NULL where nothing is here. */
void logging_send(struct packet *packet, int to);
struct packet *logging_take(void);
void logging_happens(uint64_t step, const struct packet *packet, const void *choice, size_t bytes);
void logging_delivers(const struct packet *packet);

/* Sends one rank, or all others, how far this rank is with `line`, behind all that was sent before.
 */
void logging_send_stage(int to, uint64_t line, unsigned stage);
void logging_send_stage_to_all(uint64_t line, unsigned stage);

/* Every rank has saved `line`: what is of lines before it is dropped ([CM] lines 22 to 25). */
void logging_drop_before(uint64_t line);

/* --- for trees.h ------------------------------------------------------------------------------ */

/* Counts the determinants that a letter takes along; once for each time it is sent. */
void logging_count(const struct letter_bytes *bytes);

/* Room for a letter with these determinants (NULL: none) and `packet` (NULL: none); step, sender
 * and incarnation are filled in. Held once. */
struct letter_bytes *logging_write(struct letter letter, const struct determinants *carried,
                                   const struct packet *packet);
/* This rank's determinants that nobody else is known to have. */
const struct determinants *logging_own(void);
/* Writes a note of message logging of this kind, with its numbers, to the trace. `comm` is an
 * identity, because this rank may not be in the communicator, or no longer. 0: point to point. */
void logging_note(int kind, uint64_t comm, int sender, int receiver, uint64_t ssn, uint64_t rsn);
/* For logging_take; takes over the packet. */
void logging_came(struct packet *packet);

/* --- recovery --------------------------------------------------------------------------------- */

/* What this rank knows of one that has died: how far it was seen to come, and determinants. */
struct known {
    struct seen seen;
    struct determinants *of; /* of this rank's; not only of the dead one */
};
struct known logging_known(int rank);

/* [CM] lines 38 to 42: sends the rank its messages again, and at the end that these were all. */
void logging_resend(int to);

/* Waits for that of all others. What comes is looked at by logging_restart. Others of this
 * rank's team, whose processes have come with this one, say it as well (logging_announce_resent),
 * though they send nothing again. Returns the oldest line that these say, at most self.line. */
uint64_t logging_gather(void);
void logging_announce_resent(int to);

/* This process has taken over a rank and read its image: from each rank comes what came after it.
 */
void logging_restart(void);

/* The message that the determinant is of, whoever else has sent one before; owned by the caller.
 * NULL: it is not here yet. */
struct packet *logging_find(const struct determinant *determinant);

#endif
