/* One channel (communicator, source, destination, tag): the k-th message sent is the k-th received,
 * receives in the order in which they were posted. A hash of the bytes checks it, and where it does
 * not hold the cheapest explanation is found: duplicate, orphan, changed bytes, overtaken.
 *
 * In an effective history a delivery may come before its send: the sender was rolled back to before
 * the send and does it again, the receiver was not rolled back that far (an early message, C3
 * section 2.3). Whether the protocol kept the second one from the wire cannot be seen here; that
 * the receiver did not get it twice can: by the bytes, or by the number of messages.
 *
 * Sends and receives of different threads whose times overlap have no order among them.
 * Memory: what is in flight, and the last few pairs to recognise duplicates by. */
#ifndef ORACLES_MATCHING_CHANNEL_H
#define ORACLES_MATCHING_CHANNEL_H

#include "oracles/oracle.h"

#include <stdbool.h>
#include <stdint.h>

#define CHANNEL_RECENT 8
#define CHANNEL_PASSED_OVER 64

struct sent {
    struct sent *next;
    struct event_ref event;
    uint64_t hash;
    uint64_t bytes;
    uint64_t enter;
    uint64_t leave;    /* 0: in progress when the rank died */
    uint64_t returned; /* when it was complete, of a request too; 0: not known to be */
    uint64_t born;     /* when the life of the sender began; 0: its first */
    uint64_t order;    /* among all sends of its rank, from 1 */
    uint64_t number;   /* k, from 1 */
    uint32_t request;
    uint16_t thread;
    bool optional;    /* may or may not have been sent: in progress at a death, or failed */
    bool cancelled;   /* MPI_Cancel was called for it, and its end is not seen */
    bool no_hash;     /* bytes are compared by number only */
    bool blocking;    /* the buffer was the call's until it returned */
    bool synchronous; /* Ssend, Issend */
    bool takes_over;  /* its life took over a rank that had died while others lived on */
    bool reported;    /* as overtaken */
};

struct received {
    struct received *next;
    struct received *before, *after; /* among the undecided receives of the rank */
    struct received *next_wild;      /* among the undecided wildcards of the endpoint */
    struct channel *channel;         /* NULL: a wildcard that is not decided */
    struct event_ref posted;
    struct event_ref delivered;
    uint64_t hash;
    uint64_t bytes;
    uint64_t enter;        /* of the call that posted it */
    uint64_t posted_leave; /* of the same; 0: in progress */
    uint64_t leave;        /* of the call that delivered it; 0: not decided */
    uint64_t order;        /* among all receives of its rank, as posted, from 1 */
    uint32_t comm;
    int32_t want_peer;
    int32_t want_tag;
    int rank;
    uint16_t thread;
    bool decided;
    bool cancelled; /* MPI_Cancel was called for it: it may end without a message */
    bool dormant;   /* posted in a life of its rank that is over: the protocol may bring it back */
    bool unplaced;  /* brought back: where it was posted is not known */
    bool no_hash;
    bool blind; /* it took a message, but nothing is known of it (freed request, error) */
};

/* What the application or the wire shows that the channel's order forbids. */
enum anomaly {
    ANOMALY_DUPLICATE,    /* sent, first delivery and `received` */
    ANOMALY_ORPHAN,       /* received; sent: one made in its place later, or NULL */
    ANOMALY_UNDONE,       /* received, and sent: other bytes that were sent in its place later, by a
                           * sender that was restored in between */
    ANOMALY_PAYLOAD,      /* sent and received */
    ANOMALY_ORDER,        /* sent (overtaken), received (NULL: never); other: what overtook it */
    ANOMALY_UNDELIVERED,  /* sent; other: a later message of the channel that was, if any */
    ANOMALY_UNSEEN,       /* sent: nobody saw it delivered; it may have been, or never gone out */
    ANOMALY_EARLY_RETURN, /* sent synchronously and returned before `received` was posted */
    ANOMALY_LOST_SIGHT,   /* received: a freed wildcard receive; the rest of it is not judged */
};

/* A message that went right: kept to tell duplicates by, and as "the other" of what went wrong. */
struct pair {
    uint64_t hash;
    uint64_t bytes;
    uint64_t number; /* 0: there is none */
    struct event_ref sent;
    struct event_ref delivered;
    bool no_hash;
};

struct channel {
    uint32_t comm;
    int32_t tag;
    int32_t source;
    int32_t destination;
    struct sent *first_sent; /* not yet matched, as sent */
    struct sent *last_sent;
    struct received *first_received; /* not yet matched, as posted */
    struct received *last_received;
    struct received *unplaced;       /* decided, and they may have any place */
    struct passed_over *passed_over; /* sends that later ones went ahead of */
    unsigned passed_over_count;
    uint64_t sent_count;
    uint64_t delivered_count;
    uint64_t newest_leave; /* of the first delivery since the newest life of the sender began */
    struct pair recent[CHANNEL_RECENT];
    unsigned recent_next;
    struct endpoint *endpoint;
    struct lane *lane;
    struct channel *busy_before, *busy_after; /* in the lane, while sends wait */
    struct channel *idle_before, *idle_after; /* in the match, while nothing waits */
    struct channel *next_blocked;             /* in the endpoint */
    bool busy, idle, blocked;
    bool may_lack; /* a send may not have gone out: then the k-th send is not the k-th received */
    bool maybe_taken; /* at the end: a receive to be cancelled may have taken any of its messages */
};

struct passed_over {
    struct passed_over *next;
    struct sent *sent;
    struct pair by;
};

/* One message all the same, sent and delivered: out of order, or with other bytes. */
bool anomaly_is_message(enum anomaly anomaly, const struct received *received);
/* Its request was freed: it was delivered at no time that anybody saw. */
bool received_is_unseen(const struct received *received);
/* Which message it was is not known, so that others may be taken for each other. */
bool anomaly_leaves_doubt(enum anomaly anomaly, const struct received *received);

/* Who is told; either function may be NULL. What is passed lives as long as the call. */
struct match_listener {
    void *context;
    void (*pair)(void *context, const struct channel *channel, const struct sent *sent,
                 const struct received *received);
    void (*anomaly)(void *context, enum anomaly anomaly, const struct channel *channel,
                    const struct sent *sent, const struct received *received,
                    const struct pair *other);
};

struct match;

/* Appends; the channel owns it now. */
void channel_add_sent(struct match *match, struct channel *channel, struct sent *sent);
/* A delivery that may have any place in the order: it goes with the first send that it agrees with
 * and that no other delivery takes. */
void channel_add_unplaced(struct match *match, struct channel *channel, struct received *received);
/* Into its place by `order`. */
void channel_add_received(struct match *match, struct channel *channel, struct received *received);
/* Takes it out (cancelled, or its incarnation is over). False if it is not in there any more. */
bool channel_take_sent(struct match *match, struct channel *channel, struct sent *sent);
void channel_take_received(struct match *match, struct channel *channel, struct received *received);

/* Matches what can be matched. complete: nothing more will come. */
void channel_advance(struct match *match, struct channel *channel, bool complete);

/* After the last channel_advance: reports the sends that are left over. */
void channel_finish(struct match *match, struct channel *channel);

#endif
