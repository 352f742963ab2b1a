/* What a protocol tells of single messages of the application: the notes logged, replayed, early,
 * suppressed of one incarnation, by channel, to be put to the call inside which each was made.
 * Must not know: what is right. */
#ifndef ORACLES_READING_TOLD_H
#define ORACLES_READING_TOLD_H

#include "oracles/reading/history.h"

#define TOLD_BIT(note) (1u << NOTE_##note)
#define TOLD_ANY (TOLD_BIT(LOGGED) | TOLD_BIT(REPLAYED) | TOLD_BIT(EARLY) | TOLD_BIT(SUPPRESSED))

/* One note. */
struct told {
    int rank;
    uint32_t comm;
    int32_t peer;
    uint32_t tag;  /* of the message */
    unsigned kind; /* enum note_kind */
    uint64_t line;
    uint64_t hash;
    uint64_t ticks;
    struct event_ref event;
    bool no_hash;
    bool taken; /* a message was found for it */
};

struct told_list {
    size_t count;
    struct told *told; /* by rank, channel and time */
};

/* When a call of the application was under way, and the records (first to last) that it shares with
 * others of its kind: a call that completes or starts several requests has one for each. */
struct call_span {
    uint64_t enter;
    uint64_t leave; /* ticks */
    uint64_t first, last;
};

/* Owned by the caller. */
void told_read(const struct trace_set *traces, int incarnation, struct told_list *list);
void told_release(struct told_list *list);

/* Of the call that record `index` (a send, a receive, a completion of the application) is of. */
struct call_span call_span_of(const struct trace *trace, uint64_t index);

/* The first note of the kinds (TOLD_BITs) on that record's channel, made inside its call, that is
 * not taken yet; it is taken now. Where the call has several messages of the channel, only one with
 * the bytes of this message. NULL if there is none. */
struct told *told_take(struct told_list *list, const struct trace *trace, uint64_t index,
                       unsigned kinds);
/* The same, for what is too much: only where the call has no other message of the channel. */
struct told *told_take_more(struct told_list *list, const struct trace *trace, uint64_t index,
                            unsigned kinds);

/* The record of the call inside which it was made, if the trace shows it. */
const struct record *told_inside(const struct told *told, const struct trace *trace);

/* The call inside which it was made has returned, as far as the trace shows. */
bool told_in_finished_call(const struct told *told, const struct trace *trace);

#endif
