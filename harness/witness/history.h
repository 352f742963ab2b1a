/* What a witness is looked at with: the events of traces, which of them count after restarts, and
 * where a rank stood. For witness.c alone. */
#ifndef WITNESS_HISTORY_H
#define WITNESS_HISTORY_H

#include "trace/reader.h"

/* `record` NULL: there is none. */
struct at {
    const struct trace *trace;
    uint64_t index;
    const struct record *record;
};

/* In the order in which a rank passes through them. */
enum stand { STAND_BEHIND, STAND_LOGGING, STAND_BEYOND };

bool at_is_sent(const struct record *record); /* a send of the application, begun */
bool at_is_got(const struct record *record);  /* what hands a message to the application */
bool at_is_note(struct at at, enum note_kind kind);

/* When the call returns: in ticks, the end of time while it is in progress. The send of an
 * MPI_Sendrecv is done when it is entered. */
uint64_t at_done(struct at at);
bool at_inside(struct at inner, struct at outer);

enum stand at_stand(struct at at, uint64_t line);
uint64_t at_epoch(struct at at);

/* The records that count in what led to `incarnation`, as of the checkpoints restored: from `from`
 * to before `to`. A call in which the one or the other lies counts once, as what it was first; what
 * it hands over, as what it is when it is done again: from `again`, by `cut`. */
struct span {
    uint64_t from, to;
    uint64_t again;
    uint64_t cut; /* ticks */
};
struct span span_of(const struct trace_set *traces, const struct trace *of, int incarnation);

/* The messages on the channel of a send or a delivery, in order: those that count for
 * `incarnation`, and lie in incarnations below `below`. */
struct channel_walk {
    const struct trace_set *traces;
    struct record key; /* comm, tag; peer: of the send, its receiver */
    int source;
    int incarnation;
    int below;
    bool got; /* deliveries, not sends */
    size_t next_trace;
    const struct trace *trace;
    uint64_t index, end;
    uint64_t cut; /* what is handed over later does not count */
};
struct channel_walk walk_of(const struct trace_set *traces, struct at message, int incarnation,
                            int below, bool got);
struct at walk_next(struct channel_walk *walk);

/* How many of them carry these bytes. */
uint64_t walk_count(struct channel_walk walk, const struct record *like);
/* As far as both were hashed, and the message was not cut short by its receive. */
bool same_bytes(const struct record *a, const struct record *b);

/* Whether `from` can be known at `to`: by messages of the wire; collectives are not followed, and
 * not chains that take too long to find. */
bool at_is_known(const struct trace_set *traces, struct at from, struct at to);

#endif
