/* One passage over the effective histories, application level: the messages and collectives of all
 * ranks, told to the claims that are judged on them. */
#ifndef ORACLES_HISTORIES_H
#define ORACLES_HISTORIES_H

#include "oracles/collective.h"
#include "oracles/judging.h"
#include "oracles/match.h"

#define MESSAGE_TEXT_BYTES 112

struct passage {
    struct judging *judging;
    const struct histories *histories;
    int incarnation; /* the histories end with it */
    bool newest;     /* it is the last of the run: H is judged on it */
    struct match match;
    struct collectives collectives;
    /* Of H.*, counted here and handed on at the end. */
    uint64_t delivered;
    uint64_t hashed;
    uint64_t sent;
    uint64_t unreceived; /* in a run without faults */
    struct sent first_unreceived;
    char first_unreceived_text[MESSAGE_TEXT_BYTES];
};

/* "m(0→2, tag 7, #5)"; number 0: without. Returns buffer. */
const char *message_text(const struct channel *channel, uint64_t number,
                         char buffer[MESSAGE_TEXT_BYTES]);

/* h_messages.c */
void messages_pair(struct passage *passage, const struct sent *sent,
                   const struct received *received);
void messages_strange(struct passage *passage, enum strange strange, const struct channel *channel,
                      const struct sent *sent, const struct received *received,
                      const struct pair *other);
void messages_finish(struct passage *passage);

/* h_collective.c */
extern const struct collective_listener collective_claim; /* context: the passage */

/* b_empty.c */
void crossing_begin(struct passage *passage);
void crossing_pair(struct passage *passage, const struct channel *channel, const struct sent *sent,
                   const struct received *received);

#endif
