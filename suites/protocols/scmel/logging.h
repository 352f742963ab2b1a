/* Algorithm 1 of [CM] without its recovery: what is sent is logged and carries determinants, what
 * comes is checked and makes one. Must not know: who has died, when a line is taken. */
#ifndef SCMEL_LOGGING_H
#define SCMEL_LOGGING_H

#include "scmel/determinants.h"

/* In front of what is in a letter; behind it the determinants, then a packet of the program. */
struct letter {
    uint64_t
        line; /* of the sender, when it made the letter; of a LETTER_STAGE, the one it is about */
    uint64_t step;        /* of the sender, since its line */
    uint64_t incarnation; /* of the sender */
    int32_t sender;
    uint32_t kind;
    uint32_t stage; /* of a LETTER_STAGE */
    uint32_t determinants;
};

void logging_open(void);
void logging_close(void);

/* For layer_carrier. logging_take: NULL where nothing is here. */
void logging_send(struct packet *packet, int to);
struct packet *logging_take(void);
void logging_happens(uint64_t step, const struct packet *packet, const void *choice, size_t bytes);
void logging_delivers(const struct packet *packet);

/* Says how far this rank is with `line`: to one rank, or to all others. After all that was sent. */
void logging_say_stage(int to, uint64_t line, unsigned stage);
void logging_say_stage_to_all(uint64_t line, unsigned stage);

/* Every rank has saved `line`: what is of lines before it is dropped ([CM] lines 22 to 25). */
void logging_drop_before(uint64_t line);

/* --- recovery --------------------------------------------------------------------------------- */

/* What this rank knows of one that has died: how far it was seen to come, and determinants. */
struct known {
    uint64_t line;
    uint64_t step;
    struct determinants *of; /* of this rank's; not only of the dead one */
};
struct known logging_known(int rank);

/* [CM] lines 38 to 42. */
void logging_send_again(int to);

/* This process has taken over a rank and read its image: from each rank comes what came after it.
 */
void logging_begin_again(void);

/* Waits for the message that the determinant is of, from whoever else has come before; owned by the
 * caller. */
struct packet *logging_await(const struct determinant *determinant);

#endif
