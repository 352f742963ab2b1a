/* What the files of families S (Chandy and Lamport) and R (CoCheck) share: the cuts of one
 * incarnation, what was told of its channels, and the messages that cross the cuts forwards. By
 * rank of the application. */
#ifndef ORACLES_CUTS_S_FAMILY_H
#define ORACLES_CUTS_S_FAMILY_H

#include "oracles/collectives/d_family.h"
#include "oracles/judging.h"

/* A note on a line, of any kind. */
struct s_note {
    unsigned kind; /* enum note_kind */
    int rank;
    uint64_t line;
    uint64_t ticks;
    uint32_t comm; /* of RECORDED */
    int32_t peer;  /* of RECORDED and CLEAR */
    int32_t tag;   /* of RECORDED */
    uint64_t hash;
    bool no_hash;
    bool used; /* for whoever looks at it */
    struct event_ref event;
};

/* A message that was sent before its sender's cut of a line and not delivered before its receiver's
 * (or not known to be). */
struct s_crossing {
    uint64_t line;
    uint32_t comm;
    int32_t tag;
    int source;
    int destination;
    uint64_t order; /* among all sends of its rank */
    uint64_t number;
    uint64_t hash;
    uint16_t thread;
    bool no_hash;
    bool optional;  /* the cut lies inside the call that sends: it may have been sent after it */
    bool delivered; /* `delivery` is valid */
    struct event_ref sent;
    struct event_ref delivery;
};

/* Messages of the wire of which calls of the application are made (faultline_carries). */
struct s_carried {
    uint32_t comm;
    int32_t tag;
};

/* Over the application; or over the wire, of what is carried there: then ranks are processes. */
struct s_pass {
    struct judging *judging;
    enum level level;
    unsigned recorded; /* kind of the notes that a message of this level is recorded */
    int incarnation;
    const struct histories *histories;
    const struct pass *pass;
    const struct match *match;
    struct d_calls calls;
    size_t note_count, note_room;
    struct s_note *note; /* by line, rank and time; owned */
    size_t line_count;
    uint64_t *line; /* lines that somebody took here, by number; owned */
    size_t crossing_count, crossing_room;
    struct s_crossing *crossing; /* by line, receiver, sender, communicator and order; owned */
    bool lost_sight;             /* which messages were delivered is not known */
    struct event_ref lost;       /* ... because of this receive, among others */
    size_t carried_count, carried_room;
    struct s_carried *carried; /* of the wire; owned */
};

/* The first note of that kind, line and rank; the one after `note`, of the same. NULL: none.
 * peer: of that peer only, unless PEER_ANY. */
struct s_note *s_find(const struct s_pass *pass, unsigned kind, uint64_t line, int rank,
                      int32_t peer);
struct s_note *s_next(const struct s_pass *pass, const struct s_note *note, int32_t peer);

/* Somebody told of the channels of that line. */
bool s_tells_channels(const struct s_pass *pass, uint64_t line);

/* The rank is one of the application. */
bool s_is_rank(const struct s_pass *pass, int rank);

/* See message_text. */
const char *s_message_text(const struct s_crossing *crossing, char buffer[MESSAGE_TEXT_BYTES]);

/* s_cut.c: S.cut, of a delivered message; called as messages are matched. */
void s_judge_delivery(struct s_pass *pass, const struct channel *channel, const struct sent *sent,
                      const struct received *received);
/* s_flows.c: S.cut, of the data of collective calls. */
void s_judge_flows(const struct s_pass *pass);
/* s_channel.c: S.channel, of the whole incarnation; also R.clear, its messages. */
void s_judge_channels(struct s_pass *pass);
/* s_done.c: S.done. */
void s_judge_done(const struct s_pass *pass);
/* r_clear.c: R.clear. */
void r_judge_clear(struct s_pass *pass);
/* r_buffer.c: R.buffer and S.replay, of an incarnation in which ranks restored lines; and of what
 * they wait for, between pass_read and pass_finish. */
void r_judge_buffers(struct s_pass *pass);
void r_judge_missing(void *pass);

#endif
