/* One passage over the effective histories, application level: the messages and collectives of all
 * ranks, told to the claims that are judged on them. */
#ifndef ORACLES_HISTORY_CLAIMS_MESSAGE_PASS_H
#define ORACLES_HISTORY_CLAIMS_MESSAGE_PASS_H

#include "oracles/judging.h"

/* A message that nobody delivered in a finished run, and nothing later of its channel either. */
struct undelivered {
    struct channel channel; /* only its place: communicator, source, destination, tag */
    struct sent sent;
};

/* What a send or delivery looks like in a record. */
struct looks {
    bool delivery;
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    uint64_t bytes;
    uint64_t hash;
    bool no_hash;
    bool blind; /* neither bytes nor hash are known */
};

struct passage {
    struct judging *judging;
    const struct pass *pass;
    const struct histories *histories;
    const struct histories *newest; /* those of the newest incarnation */
    bool messages;                  /* H is judged */
    bool replicas;                  /* two processes do what a rank does */
    /* Of H.*, counted here and handed on at the end. */
    uint64_t delivered;
    uint64_t hashed;
    uint64_t sent;
    uint64_t synchronous;
    unsigned lookups; /* in what was undone */
    /* channel by channel, as sent; owned */
    size_t undelivered_count, undelivered_room;
    struct undelivered *undelivered;
};

/* True if situations at this event count in this passage: each counts once, although it may be in
 * the effective history of more than one incarnation. */
bool passage_counts(const struct passage *passage, struct event_ref event);

/* True if this kind of thing was not told of this event before. */
bool passage_tells(struct passage *passage, unsigned kind, struct event_ref event);
#define TOLD_COLLECTIVE 100u /* a kind; those of messages are enum anomaly */

/* The message of the channel; see message_text. */
const char *channel_text(const struct channel *channel, uint64_t number,
                         char buffer[MESSAGE_TEXT_BYTES]);

/* h_messages.c */
void messages_pair(void *passage, const struct channel *channel, const struct sent *sent,
                   const struct received *received);
void messages_anomaly(void *passage, enum anomaly anomaly, const struct channel *channel,
                      const struct sent *sent, const struct received *received,
                      const struct pair *other);
void messages_finish(struct passage *passage);

/* The newest record of `rank`, of no newer incarnation than the passage's, that looks so; `undone`:
 * in no effective history. Reads all of the rank's traces, so only for what is told. */
bool messages_find(const struct passage *passage, int rank, const struct looks *looks, bool undone,
                   struct event_ref *event);
/* Says that `event` of its rank, which did `what`, was undone by which restoration. */
void messages_say_undone(const struct passage *passage, struct finding *finding, const char *what,
                         struct event_ref event);

/* h_loss.c: of a finished run. other: a later message of the channel that was delivered, or NULL.
 * Nothing is told before loss_finish where there is none. */
void loss_add(struct passage *passage, const struct channel *channel, const struct sent *sent,
              const struct pair *other);
void loss_finish(struct passage *passage);
/* ... and of a run that stands still: what ranks wait for. */
void loss_waits(void *passage);

/* h_collective.c */
void collective_complete(void *passage, const struct instance *instance);
void collective_discord(void *passage, enum discord discord, const struct instance *instance,
                        const struct contribution *with, const struct contribution *against);

/* b_empty.c */
void crossing_begin(const struct passage *passage);
void crossing_pair(void *passage, const struct channel *channel, const struct sent *sent,
                   const struct received *received);

#endif
