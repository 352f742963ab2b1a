/* Who received whose message, found from the records alone: MPI's non-overtaking rule gives each
 * message its identity. Receives match in the order in which they were posted: a completed one is
 * assigned once every receive posted earlier on its rank that could match the same channel is
 * decided. A matched probe fixes the match where it probes. Works on either level; told of records
 * in the order of a stream. Memory: ranks, communicators, messages in flight. */
#ifndef ORACLES_MATCHING_MATCH_H
#define ORACLES_MATCHING_MATCH_H

#include "oracles/matching/channel.h"
#include "oracles/reading/pool.h"
#include "oracles/reading/stream.h"
#include "oracles/reading/table.h"

/* Channels on which nothing waits are kept, to know duplicates by, up to this many. */
#define MATCH_IDLE_CHANNELS 4096

/* Clocks of processors may differ by less than this. */
#define MATCH_CLOCK_SLACK_S 1e-3

/* Receives of one rank on one communicator: where wildcards live. */
struct endpoint {
    struct received *wild;   /* not decided, as posted */
    struct channel *blocked; /* wait for a wildcard to be decided */
    bool lost_sight;         /* a freed wildcard receive: nothing can be said any more */
};

/* All channels from one rank to another on a communicator. */
struct lane {
    struct channel *busy; /* those with sends that wait */
};

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECEIVE,
    REQUEST_NOTHING, /* from MPI_PROC_NULL, or a process outside of the run: whatever its completion
                        says came from there means nothing */
};

struct request {
    enum request_kind kind;
    struct sent *sent; /* NULL: matched since */
    struct received *received;
    struct channel *channel; /* of a send; valid while sent is */
    bool cancelled;          /* MPI_Cancel was called for it */
};

/* A dormant receive holds up what was posted after it for at most so many receives of its rank. */
#define MATCH_DORMANT_RECEIVES 65536u

/* Sends of one call that are remembered at a checkpoint inside it; of more, each counts as one that
 * may have been made or not. */
#define MATCH_CUT_SENDS 16

/* A send that was under way when the checkpoint was taken from which its rank was restored. The
 * call is done again: the two are one send. */
struct cut_send {
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    unsigned call; /* CALL_NONE: done again */
    bool persistent;
    struct event_ref event;
};

struct match_rank {
    uint64_t sent;
    uint64_t received;
    uint64_t dormant_until; /* of `received`: how long dormant ones are kept; 0: there are none */
    uint64_t born;          /* when its newest life began; 0: it has only one so far */
    bool is_at_work, several_threads; /* it has sent or received; and in more than one thread */
    uint16_t thread;                  /* that did so last */
    struct received *undecided;       /* newest first */
    unsigned cut_count;               /* of the newest life, and until its call was done again */
    struct cut_send cut[MATCH_CUT_SENDS];
};

/* The rank has sent, or posted a receive, in that thread. */
void match_note_thread(struct match_rank *rank, uint16_t thread);

struct match {
    int ranks;
    uint64_t slack;        /* ticks */
    uint64_t clocks_apart; /* ticks: the same, or 0 where there is one clock */
    uint64_t now;          /* newest time of entry of a record so far */
    struct match_listener listener;
    bool cut_off; /* what is told of ends in the middle, so that dormant receives may still have
                   * been going to be completed */
    const struct lives *lives; /* of the application: what it does with helpers is left out, and
                                * what went with a life is no loss. NULL: of the wire. Borrowed */
    struct table channels, lanes, endpoints, requests;
    struct pool sent_pool, received_pool, channel_pool, lane_pool, endpoint_pool, request_pool,
        passed_over_pool;
    struct match_rank *rank;
    struct channel *first_idle, *last_idle; /* longest idle first */
    size_t idle_count;
};

/* cut_off and lives: as in struct match. Owned by the caller: match_release. */
void match_init(struct match *match, const struct trace_set *traces, bool cut_off,
                const struct lives *lives, const struct match_listener *listener);
void match_release(struct match *match);

/* A new life of the rank begins (event->restarted). Of what the one before had posted, what was
 * still being posted is gone; the rest is dormant: a protocol may complete it as a request that
 * nobody posted in this life. Which of several it is cannot be told, so such a delivery may have
 * any place in the order of posting, and until it is there what was posted later waits. A life that
 * begins anew in the place of one that died brings nothing back: what the one before had posted is
 * gone, and so is what was sent to it. */
void match_restart(struct match *match, const struct stream_event *event);

/* One record of the level that is matched; others are left out by the caller. */
void match_record(struct match *match, const struct stream_event *event);

/* Nothing more will come. */
void match_finish(struct match *match);

/* For what waits, after the last record and without match_finish.
 * A message that a receive or probe with this pattern, posted now, could take. Errs on the side of
 * yes. `before`: only receives posted before that event compete with it. */
bool match_has_message(const struct match *match, int rank, uint32_t comm, int want_peer,
                       int want_tag, struct event_ref before);
/* A message that such a receive should have got, the number `order` of its rank as posted
 * (UINT64_MAX: a probe, which comes after all of them): it was sent, and every earlier receive that
 * could have taken it has another one. *channel is then set. Errs on the side of NULL. */
const struct sent *match_owed(const struct match *match, int rank, uint32_t comm, int want_peer,
                              int want_tag, uint64_t order, const struct channel **channel);
/* The send of this event has been matched, or a receive is posted that could take it. Errs on the
 * side of yes. */
bool match_has_receive(const struct match *match, struct event_ref sent, uint32_t comm,
                       int destination, int tag);
/* What a request of that process stands for, or NULL if it is not one of a send or receive. */
const struct request *match_request(const struct match *match, int rank, int incarnation,
                                    uint32_t request);

/* Some receive may have taken, or be going to take, any message of the channel: one for any source
 * or tag that is not complete; at the end, one that was to be cancelled; where what is told is cut
 * off also any that a restart left pending, for which of them were brought back cannot be told. */
bool match_is_open(const struct match *match, const struct channel *channel);
/* What is told is cut off, and ends before the sender of this delivery, whose send was undone, has
 * sent anything on the channel that comes after it. */
bool match_is_to_come(const struct match *match, const struct channel *channel,
                      const struct received *received);

/* The message may have gone with a life that died: that of its sender, or of who was to get it. */
bool match_may_be_gone(const struct match *match, const struct channel *channel);

/* For channel.c. */
void match_free_sent(struct match *match, struct sent *sent);
bool match_wild_before(const struct channel *channel, uint64_t order);

#endif
