/* What has come from outside since an image, in order: packets, and choices of the program, each
 * with the step at which it came. Must not know: what a step is, what is done with a packet. */
#ifndef COMMON_MESSAGES_PAST_H
#define COMMON_MESSAGES_PAST_H

#include "common/base/bytes.h"
#include "common/messages/packet.h"

#include <stddef.h>
#include <stdint.h>

/* A packet, or a choice of the program (packet == NULL). */
struct moment {
    uint64_t step;
    uint64_t round; /* of layer_keep_back in which it came, from 1 since the image; 0: none */
    struct packet *packet; /* held */
    struct bytes choice;
};

/* All zero is empty. */
struct past {
    struct moment *moment; /* owned */
    size_t count;
    size_t room;
    size_t next; /* to be given again; those before were */
};

/* Appends one, whose packet or choice the caller fills in. */
struct moment *past_add(struct past *past, uint64_t step);

/* The next to be given again; NULL: all were. */
const struct moment *past_next(const struct past *past);

/* Drops all of it. */
void past_clear(struct past *past);

/* As bytes in a saved state. past_read replaces what is there; none of it was given again. */
void past_write(const struct past *past, struct bytes *out);
void past_read(struct past *past, struct reader in);

#endif
