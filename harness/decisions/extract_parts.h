/* What the parts of taking decisions from traces share. Nobody else includes this.
 *
 *     extract         the ranks, in what order they called on the store, and the whole
 *     extract_events  events and actions of one trace */
#ifndef DECISIONS_EXTRACT_PARTS_H
#define DECISIONS_EXTRACT_PARTS_H

#include "decisions/decisions.h"
#include "decisions/order.h"
#include "decisions/parts.h"
#include "oracles/oracle.h"
#include "trace/reader.h"

#define IN_PROGRESS_MAX 4096 /* events of one rank at a time */

struct extraction {
    struct parts section, shape, event, action, order, text;
    struct parts stored; /* struct store_call, of all ranks */
    struct table known_shape, known_text;
    const struct decisions *followed; /* NULL: none */
    const struct run_facts *facts;    /* NULL: none */
    struct error *error;
};

/* The trace that is being read. Numbers of events count in its section. */
struct reading {
    struct extraction *all;
    const struct trace *trace;
    uint32_t first_event;
    uint32_t begun, completed;             /* negative polls left out */
    uint64_t in_progress[IN_PROGRESS_MAX]; /* records that were not complete when last looked at */
    unsigned in_progress_count;
    uint32_t store_call;  /* newest event that is one, or DECISION_NO_EVENT */
    bool without_store;   /* SECTION_WITHOUT_STORE */
    uint32_t last_killed; /* step + 1 of the newest kill or stop: it has a record per victim */
};

static inline unsigned extract_kind(const struct record *record)
{
    return atomic_load_explicit(&record->kind, memory_order_relaxed);
}

/* The record `index` of the trace, an event. ERROR_LIMIT, ERROR_FORMAT. */
enum error_code extract_event(struct reading *reading, uint64_t index);

/* What Faultline did to the run, if it is to be done again. ERROR_LIMIT. */
enum error_code extract_action(struct reading *reading, const struct record *fault);

/* When all records have been read: the evidence of an answer is written before the poll that it is
 * about has its record. */
void extract_events_ahead(struct reading *reading, const struct decision_section *section);

#endif
