/* A witness taken apart, and what each claim asks of one. For the files of this folder alone. */
#ifndef WITNESS_SHOWN_H
#define WITNESS_SHOWN_H

#include "witness/history.h"
#include "witness/witness.h"

/* The events of a witness by what they are; record NULL: there is none. */
struct shown {
    const struct witness *witness;
    const struct trace_set *traces;
    size_t count;
    struct at event[WITNESS_EVENTS_MOST];
    struct at sent, got;         /* the first of each */
    struct at sent_last, again;  /* the last of each: a second one, or the same */
    struct at restored, written; /* the first `restored`, and the first call on the store */
};

bool at_is_call(struct at at, enum level level);

/* The hash of what a collective gives this rank, or of what the rank gives. */
uint64_t at_data(const struct record *record);

struct at shown_note(const struct shown *shown, enum note_kind kind, size_t nth);

/* The first event: its line. */
uint64_t shown_line(const struct shown *shown, enum note_kind kind);

bool shown_pair(const struct shown *shown);

/* Notes on the message of `call` that were made inside it. */
uint64_t at_notes_inside(struct at call, enum note_kind kind);

/* An event of the witness that lies inside `call`. */
bool shown_inside(const struct shown *shown, struct at call, enum record_kind kind);

/* The message sent is not delivered in what led to that incarnation, and in it. */
bool shown_is_lost(const struct shown *shown, int incarnation);

/* Whether the witness shows a violation; the table of witness.c says of which claims. Where a trace
 * leaves it open, the violation is believed. */
bool witness_is_orphan(const struct shown *shown);
bool witness_is_lost(const struct shown *shown);
bool witness_is_duplicate(const struct shown *shown);
bool witness_is_other(const struct shown *shown);
bool witness_is_overtaken(const struct shown *shown);
bool witness_is_other_call(const struct shown *shown);
bool witness_is_other_result(const struct shown *shown);
bool witness_is_unfinished(const struct shown *shown);
bool witness_crosses(const struct shown *shown);
bool witness_is_not_durable(const struct shown *shown);
bool witness_stops_too_early(const struct shown *shown);
bool witness_flows_back(const struct shown *shown);
bool witness_flows_over(const struct shown *shown);
bool witness_is_unlogged(const struct shown *shown);
bool witness_is_ready_too_early(const struct shown *shown);
bool witness_is_replayed_wrongly(const struct shown *shown);
bool witness_is_unlisted(const struct shown *shown);
bool witness_is_suppressed_wrongly(const struct shown *shown);
bool witness_is_sent_otherwise(const struct shown *shown);
bool witness_is_decided_otherwise(const struct shown *shown);
bool witness_is_called_otherwise(const struct shown *shown);
bool witness_is_far(const struct shown *shown);
bool witness_commits_too_early(const struct shown *shown);
bool witness_is_other_line(const struct shown *shown);
bool witness_is_begun_too_early(const struct shown *shown);
bool witness_call_flows_back(const struct shown *shown);
bool witness_call_flows_over(const struct shown *shown);
bool witness_call_is_recovered_wrongly(const struct shown *shown);
bool witness_barrier_straddles(const struct shown *shown);
bool witness_crosses_back(const struct shown *shown);
bool witness_channel_differs(const struct shown *shown);
bool witness_is_not_done(const struct shown *shown);
bool witness_is_not_clear(const struct shown *shown);
bool witness_is_not_atomic(const struct shown *shown);
bool witness_is_served_wrongly(const struct shown *shown);
bool witness_is_misled(const struct shown *shown);

#endif
