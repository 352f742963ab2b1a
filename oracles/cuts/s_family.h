/* What the files of families S (Chandy and Lamport) and R (CoCheck) share: the cuts of one
 * incarnation, what was told of its channels, and the messages that cross the cuts forwards. By
 * rank of the application. */
#ifndef ORACLES_CUTS_S_FAMILY_H
#define ORACLES_CUTS_S_FAMILY_H

#include "oracles/judging.h"
#include "oracles/matching/match.h"
#include "oracles/reading/causal.h"

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
    bool optional;  /* the cut lies inside the call that sends: it may have been sent behind it */
    bool delivered; /* `delivery` is valid */
    struct event_ref sent;
    struct event_ref delivery;
};

struct s_pass {
    struct judging *judging;
    int incarnation;
    struct histories histories;
    struct match match;
    size_t note_count;
    struct s_note *note; /* by line, rank and time; owned */
    size_t line_count;
    uint64_t *line; /* lines that somebody took here, by number; owned */
    size_t crossing_count, crossing_room;
    struct s_crossing *crossing; /* by line, receiver, sender, communicator and order; owned */
    bool lost_sight;             /* which messages were delivered is not known */
    bool exhausted;
};

/* The first note of that kind, line and rank; the one behind `note`, of the same. NULL: none.
 * peer: of that peer only, unless PEER_ANY. */
struct s_note *s_find(const struct s_pass *pass, unsigned kind, uint64_t line, int rank,
                      int32_t peer);
struct s_note *s_next(const struct s_pass *pass, const struct s_note *note, int32_t peer);

/* Somebody told of the channels of that line. */
bool s_tells_channels(const struct s_pass *pass, uint64_t line);

/* The rank is one of the application. */
bool s_is_rank(const struct s_pass *pass, int rank);

#define S_MESSAGE_TEXT_BYTES 112
/* "m(0→2, tag 7, #5)"; returns buffer. */
const char *s_message_text(const struct s_crossing *crossing, char buffer[S_MESSAGE_TEXT_BYTES]);

/* s_cut.c: S.cut, of a delivered message; called as messages are matched. */
void s_judge_delivery(struct s_pass *pass, const struct channel *channel, const struct sent *sent,
                      const struct received *received);
/* s_flows.c: S.cut, of the data of collective calls. ERROR_MEMORY. */
enum error_code s_judge_flows(struct s_pass *pass, struct error *error);
/* s_channel.c: S.channel, of the whole incarnation; also R.clear, its messages. */
void s_judge_channels(struct s_pass *pass);
/* s_done.c: S.done. */
enum error_code s_judge_done(struct s_pass *pass, struct error *error);
/* r_clear.c: R.clear. */
void r_judge_clear(struct s_pass *pass);
/* r_buffer.c: R.buffer, of an incarnation in which ranks restored lines. */
enum error_code r_judge_buffers(struct s_pass *pass, struct error *error);

#endif
