/* See fingerprint.h; of runs and their folders: fingerprint_run.c. */
#include "verdict/fingerprint.h"

#include "plan/action.h"
#include "trace/calls.h"

#include <stdio.h>
#include <string.h>

/* In the order in which they are written. */
#define ROLES(X)                                                                                   \
    X(INITIATOR, "initiator")                                                                      \
    X(KILLED_INITIATOR, "killed-initiator")                                                        \
    X(KILLED, "killed")                                                                            \
    X(OTHER, "other")

enum role {
#define X(name, text) ROLE_##name,
    ROLES(X)
#undef X
        ROLE_COUNT
};

static const char *const role_text[] = {
#define X(name, text) text,
    ROLES(X)
#undef X
};

static const char *const end_text[] = {
#define X(name, text) text,
    RUN_ENDS(X)
#undef X
};

/* Notes of a trace, newest first. */
struct notes {
    const struct trace *trace;
    uint64_t next; /* index + 1 of the note that comes; 0: none */
};

static struct notes notes_of(const struct trace *trace)
{
    uint64_t last = atomic_load(&trace->header->last_note);
    return (struct notes){trace, last <= trace->count ? last : 0};
}

/* NULL: there is none left. A damaged chain ends: it only goes down. */
static const struct record *next_note(struct notes *notes, uint64_t *index)
{
    if (notes->next == 0)
        return NULL;
    *index = notes->next - 1;
    const struct record *note = &notes->trace->record[*index];
    notes->next = note->previous_note < notes->next ? note->previous_note : 0;
    return note;
}

/* --- roles ------------------------------------------------------------------------------------ */

static bool has_note(const struct trace_set *traces, int rank, enum note_kind kind)
{
    uint64_t index;
    for (size_t i = 0; i < traces->count; i++) {
        struct notes notes = notes_of(&traces->trace[i]);
        const struct record *note;
        while ((rank < 0 || traces->trace[i].rank == rank) &&
               (note = next_note(&notes, &index)) != NULL)
            if (note->tag == (int)kind)
                return true;
    }
    return false;
}

static bool is_initiator(const struct trace_set *traces, int rank)
{
    return has_note(traces, -1, NOTE_INITIATED) ? has_note(traces, rank, NOTE_INITIATED)
                                                : rank == 0;
}

static bool was_killed(const struct run_facts *facts, int rank, int incarnation)
{
    for (size_t i = 0; facts->plan != NULL && facts->steps != NULL && i < facts->plan->count; i++) {
        const struct plan_step *step = &facts->plan->steps[i];
        if (action_of(step)->kills != KILLS_VICTIMS || !facts->steps[i].done ||
            facts->steps[i].incarnation > incarnation)
            continue;
        for (uint32_t k = 0; k < step->victims && k < PLAN_MAX_VICTIMS; k++)
            if (step->victim[k] == rank)
                return true;
    }
    return false;
}

static enum role role_of(const struct trace_set *traces, const struct run_facts *facts, int rank,
                         int incarnation)
{
    bool initiates = is_initiator(traces, rank);
    if (was_killed(facts, rank, incarnation))
        return initiates ? ROLE_KILLED_INITIATOR : ROLE_KILLED;
    return initiates ? ROLE_INITIATOR : ROLE_OTHER;
}

static void add_word(struct fingerprint *fingerprint, const char *between, const char *word)
{
    size_t used = strlen(fingerprint->text);
    snprintf(fingerprint->text + used, sizeof fingerprint->text - used, "%s%s", between, word);
}

static void add_roles(const struct trace_set *traces, const struct run_facts *facts,
                      const struct finding *finding, struct fingerprint *fingerprint)
{
    bool plays[ROLE_COUNT] = {false};
    int newest = 0;
    for (unsigned i = 0; i < finding->witness_count; i++)
        if (finding->witness[i].incarnation > newest)
            newest = finding->witness[i].incarnation;
    for (unsigned i = 0; i < finding->witness_count; i++)
        plays[role_of(traces, facts, finding->witness[i].rank, newest)] = true;
    const char *between = " ";
    for (int role = 0; role < ROLE_COUNT; role++) {
        if (!plays[role])
            continue;
        add_word(fingerprint, between, role_text[role]);
        between = ",";
    }
}

/* The MPI call in which the job was aborted by an error that is fatal. NULL: it was not, or a rank
 * called MPI_Abort. */
static const char *fatal_call(const struct trace_set *traces, const struct run_facts *facts,
                              const struct finding *finding)
{
    const struct event_ref *event = &finding->witness[0];
    const struct trace *trace = trace_set_find(traces, event->rank, event->incarnation);
    bool aborted = false;
    for (size_t i = 0; i < facts->rank_end_count; i++)
        aborted |= facts->rank_ends[i].first && facts->rank_ends[i].aborted &&
                   facts->rank_ends[i].rank == event->rank &&
                   facts->rank_ends[i].incarnation == event->incarnation;
    if (!aborted || strcmp(finding->claim->id, "H.progress") != 0 || trace == NULL ||
        event->index >= trace->count)
        return NULL;
    unsigned call = trace->record[event->index].call;
    return call_role(call) != ROLE_ABORT ? call_name(call) : NULL;
}

/* --- phases ----------------------------------------------------------------------------------- */

/* A line is begun by the first rank that notes it. */
static bool begins_line(const struct record *note)
{
    return note->tag == NOTE_CHECKPOINT || note->tag == NOTE_INITIATED;
}

/* The newest line that a rank of the witness had begun when it came to its event, in this
 * incarnation: what others had done by then depends on clocks, and differs in a replay.
 * false: none. */
static bool newest_line(const struct trace_set *traces, const struct finding *finding,
                        int incarnation, uint64_t *line)
{
    bool found = false;
    uint64_t index;
    for (unsigned i = 0; i < finding->witness_count; i++) {
        const struct event_ref *event = &finding->witness[i];
        const struct trace *trace = trace_set_find(traces, event->rank, event->incarnation);
        if (trace == NULL || event->incarnation != incarnation)
            continue;
        struct notes notes = notes_of(trace);
        const struct record *note;
        while ((note = next_note(&notes, &index)) != NULL) {
            if (!begins_line(note) || index > event->index || (found && note->bytes <= *line))
                continue;
            *line = note->bytes;
            found = true;
        }
    }
    return found;
}

/* The rank has written such a note before the event; of any line if `line` is NULL. */
static bool noted_before(const struct trace *trace, uint64_t event, enum note_kind kind,
                         const uint64_t *line)
{
    struct notes notes = notes_of(trace);
    const struct record *note;
    uint64_t index;
    while ((note = next_note(&notes, &index)) != NULL)
        if (index <= event && note->tag == (int)kind && (line == NULL || note->bytes == *line))
            return true;
    return false;
}

static bool notes_logging(const struct trace_set *traces)
{
    return has_note(traces, -1, NOTE_READY) || has_note(traces, -1, NOTE_LOGGED) ||
           has_note(traces, -1, NOTE_STOP_LOG);
}

/* Of the event that ends the witness. NULL: it is not there. */
static const char *phase_of(const struct trace_set *traces, const struct finding *finding)
{
    const struct event_ref *event = &finding->witness[finding->witness_count - 1];
    const struct trace *trace = trace_set_find(traces, event->rank, event->incarnation);
    uint64_t line;
    if (trace == NULL || event->index >= trace->count)
        return NULL;
    if (event->incarnation > 0 && !noted_before(trace, event->index, NOTE_CHECKPOINT, NULL))
        return "recovery";
    if (!newest_line(traces, finding, event->incarnation, &line))
        return "start";
    if (!noted_before(trace, event->index, NOTE_CHECKPOINT, &line))
        return "before";
    if (noted_before(trace, event->index, NOTE_STOP_LOG, &line) || !notes_logging(traces))
        return "beyond";
    return "logging";
}

/* --- all -------------------------------------------------------------------------------------- */

void fingerprint_make(const struct trace_set *traces, const struct run_facts *facts,
                      const struct finding *finding, struct fingerprint *fingerprint)
{
    fingerprint->text[0] = '\0';
    if (finding->verdict != VERDICT_VIOLATION) {
        snprintf(fingerprint->text, sizeof fingerprint->text, "%s %s",
                 verdict_text(finding->verdict), finding->claim->id);
        return;
    }
    snprintf(fingerprint->text, sizeof fingerprint->text, "%s", finding->claim->id);
    const char *phase = NULL;
    if (finding->witness_count > 0) {
        const char *call = fatal_call(traces, facts, finding);
        if (call != NULL)
            add_word(fingerprint, " ", call);
        else
            add_roles(traces, facts, finding, fingerprint);
        phase = phase_of(traces, finding);
    }
    add_word(fingerprint, " ", phase != NULL ? phase : end_text[facts->end]);
}
