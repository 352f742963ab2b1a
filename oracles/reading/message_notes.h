/* What a protocol notes about single messages of the application: the notes logged, replayed,
 * early, suppressed of one incarnation, by channel, to be put to the call inside which each was
 * made. Must not know: what is right. */
#ifndef ORACLES_READING_MESSAGE_NOTES_H
#define ORACLES_READING_MESSAGE_NOTES_H

#include "oracles/reading/history.h"

#define NOTE_BIT(note) (1u << NOTE_##note)
#define NOTES_ON_MESSAGES                                                                          \
    (NOTE_BIT(LOGGED) | NOTE_BIT(REPLAYED) | NOTE_BIT(EARLY) | NOTE_BIT(SUPPRESSED))

/* One note. */
struct message_note {
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

struct message_notes {
    size_t count;
    struct message_note *note; /* by rank, channel and time */
};

/* When a call of the application was under way, and the records (first to last) that it shares with
 * others of its kind: a call that completes or starts several requests has one for each. */
struct call_span {
    uint64_t enter;
    uint64_t leave; /* ticks */
    uint64_t first, last;
};

/* Owned by the caller. */
void message_notes_read(const struct trace_set *traces, int incarnation,
                        struct message_notes *list);
void message_notes_release(struct message_notes *list);

/* Of the call that record `index` (a send, a receive, a completion of the application) is of. */
struct call_span call_span_of(const struct trace *trace, uint64_t index);

/* The first note of the kinds (TOLD_BITs) on that record's channel, made inside its call, that is
 * not taken yet; it is taken now. Where the call has several messages of the channel, only one with
 * the bytes of this message. NULL if there is none. */
struct message_note *message_note_take(struct message_notes *list, const struct trace *trace,
                                       uint64_t index, unsigned kinds);
/* The same, for what is too much: only where the call has no other message of the channel. */
struct message_note *message_note_take_more(struct message_notes *list, const struct trace *trace,
                                            uint64_t index, unsigned kinds);

/* The record of the call inside which it was made, if the trace shows it. */
const struct record *message_note_inside(const struct message_note *note,
                                         const struct trace *trace);

/* The call inside which it was made has returned, as far as the trace shows. */
bool message_note_in_finished_call(const struct message_note *note, const struct trace *trace);

#endif
