/* Family M: passes over the records of an incarnation, and lets the other files judge. All that the
 * processes did is looked at, also what was undone later: a failure set is judged where it is, not
 * where it was lucky. */
#include "oracles/logging/m_family.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- messages by number --------------------------------------------------------------------- */

static uint64_t key_of(uint32_t comm, int sender, int receiver)
{
    return ((uint64_t)comm << 32) | ((uint64_t)(uint16_t)sender << 16) | (uint16_t)receiver;
}

struct m_message *m_message_find(struct m_state *state, uint32_t comm, int sender, int receiver,
                                 uint64_t ssn, bool make)
{
    uint64_t key = key_of(comm, sender, receiver);
    struct m_message *message = table_get(&state->messages, key, ssn);
    if (message != NULL || !make || sender < 0 || sender >= state->ranks)
        return message;
    message = memory_new(1, sizeof *message);
    *message = (struct m_message){.next = state->rank[sender].message,
                                  .comm = comm,
                                  .sender = sender,
                                  .receiver = receiver,
                                  .ssn = ssn,
                                  .no_hash = true};
    message->clock = memory_new((size_t)state->ranks, sizeof *message->clock);
    message->taken = memory_new((size_t)state->ranks, sizeof *message->taken);
    message->taken_lines = memory_new((size_t)state->ranks, sizeof *message->taken_lines);
    message->delivered = memory_new((size_t)state->ranks, sizeof *message->delivered);
    state->rank[sender].message = message;
    table_put(&state->messages, key, ssn, message);
    return message;
}

const char *m_message_text(uint32_t comm, int sender, int receiver, uint64_t ssn,
                           char buffer[MESSAGE_TEXT_BYTES])
{
    char to[16] = "all", where[32] = "";
    if (receiver != M_ALL)
        snprintf(to, sizeof to, "%d", receiver);
    if (comm != 0)
        snprintf(where, sizeof where, " of communicator %#" PRIx32, comm);
    snprintf(buffer, MESSAGE_TEXT_BYTES, "m(%d→%s, number %" PRIu64 "%s)", sender, to, ssn, where);
    return buffer;
}

bool m_together(const struct m_state *state, int a, int b)
{
    return a == b || (state->rank[a].team != 0 && state->rank[a].team == state->rank[b].team);
}

bool m_is_saved(const struct m_state *state, const struct m_message *message, int receiver)
{
    return message->taken[receiver] != 0 &&
           message->taken_lines[receiver] < state->rank[receiver].stable_lines;
}

bool m_is_needed(const struct m_state *state, const struct m_message *message, int receiver)
{
    bool undone = message->delivered[receiver] == 0 ||
                  message->delivered[receiver] > state->rank[receiver].stable;
    return undone && !m_is_saved(state, message, receiver);
}

/* --- records -------------------------------------------------------------------------------- */

bool m_hands_over(const struct record *record)
{
    /* MPI_Imrecv leaves a request, which another call completes. */
    bool receive = record->kind == RECORD_RECV &&
                   (record->request == 0 ||
                    ((record->flags & FLAG_MATCHED) && call_role(record->call) != ROLE_IMRECV));
    bool completion = record->kind == RECORD_COMPLETE && record->comm != 0;
    return record->level == LEVEL_APP && (receive || completion) && record->leave != 0 &&
           record->error == 0 && record->peer >= 0 &&
           !(record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED));
}

struct m_open m_open_of(const struct m_state *state, const struct trace *trace, uint64_t index)
{
    const struct record *record = &trace->record[index];
    return (struct m_open){
        .source = lives_peer(state->lives, trace->incarnation, record->enter, record->peer),
        .hash = record->hash,
        .no_hash = (record->flags & FLAG_NO_HASH) != 0,
        .leave = record->leave,
        .event = event_of(trace, index)};
}

/* Of calls that have returned without a note on what they handed over. */
static void close_calls(struct m_state *state, int rank, uint64_t ticks)
{
    struct m_rank *own = &state->rank[rank];
    size_t kept = 0;
    for (size_t i = 0; i < own->open_count; i++) {
        struct m_open open = own->open[i];
        if (open.leave < ticks)
            m_deliver_untold(state, rank, &open);
        else
            own->open[kept++] = open;
    }
    own->open_count = kept;
}

/* It has been told of, by a note that stands before the record. */
static bool is_told(struct m_rank *own, uint64_t index)
{
    for (size_t i = 0; i < own->ahead_count; i++)
        if (own->ahead[i] == index) {
            own->ahead[i] = own->ahead[--own->ahead_count];
            return true;
        }
    return false;
}

static void open_call(struct m_state *state, int rank, const struct stream_event *event)
{
    struct m_rank *own = &state->rank[rank];
    if (is_told(own, event->index))
        return;
    own->open = memory_room(own->open, own->open_count, &own->open_room, sizeof *own->open);
    own->open[own->open_count++] = m_open_of(state, event->trace, event->index);
}

static void on_numbered(struct m_state *state, int rank, const struct record *note,
                        struct event_ref event)
{
    switch (note->tag) {
    case NOTE_HELD:
        if ((int)note->request == rank)
            m_deliver(state, rank, note, event);
        else
            m_hold(state, rank, note, event);
        break;
    case NOTE_LET_GO:
        m_let_go(state, rank, note, event);
        break;
    case NOTE_DROPPED:
        m_drop(state, rank, note, event);
        break;
    case NOTE_TAKEN:
    case NOTE_DISCARDED:
    case NOTE_INCARNATION:
        m_arrive(state, rank, note, event);
        break;
    case NOTE_MULTICAST:
        m_multicast(state, rank, note, event);
        break;
    case NOTE_KEPT_PART:
        m_keep_part(state, rank, note, event);
        break;
    default:
        m_reduced(state, rank, note, event);
    }
}

static void on_note(struct m_state *state, int rank, const struct stream_event *event)
{
    const struct record *note = event->record;
    struct event_ref at = event_of(event->trace, event->index);
    switch (note->tag) {
    case NOTE_PROMISED:
        state->promised = note->bytes;
        break;
    case NOTE_TEAM:
        state->rank[rank].team = note->bytes + 1;
        break;
    case NOTE_CHECKPOINT:
        m_checkpoint(state, rank, note->bytes, at);
        break;
    case NOTE_SAVED:
        m_saved(state, rank, note->bytes);
        break;
    case NOTE_COMMIT:
        for (int i = 0; i < state->ranks; i++)
            m_stabilize(state, i, note->bytes);
        break;
    case NOTE_RESTORED:
        m_restore(state, rank, note->bytes, at);
        break;
    case NOTE_KEPT:
    case NOTE_UNKEPT:
        m_keep(state, rank, note, at);
        break;
    default:
        if (note_about((unsigned)note->tag) == ABOUT_NUMBERED)
            on_numbered(state, rank, note, at);
    }
}

/* When somebody ended the whole job: who dies from then on has not failed. */
static uint64_t ended_at(const struct m_state *state)
{
    const struct run_facts *facts = state->judging->facts;
    uint64_t ticks = UINT64_MAX;
    for (size_t i = 0; i < facts->rank_end_count; i++) {
        const struct rank_end *end = &facts->rank_ends[i];
        const struct trace *trace =
            trace_set_find(state->judging->traces, end->rank, end->incarnation);
        for (uint64_t at = 0; end->aborted && trace != NULL && at < trace->count; at++)
            if (record_is_event(&trace->record[at]) && trace->record[at].call == CALL_MPI_Abort &&
                trace->record[at].enter < ticks)
                ticks = trace->record[at].enter;
    }
    return ticks;
}

/* The first that was dead by then, and is not buried. NULL: none. What a program returns once its
 * MPI_Finalize has returned is its own affair: nobody needs it any more. */
static const struct life *next_dead(const struct m_state *state, uint64_t ticks)
{
    const struct life *next = NULL;
    for (int rank = 0; rank < state->ranks; rank++) {
        const struct m_rank *own = &state->rank[rank];
        const struct life *life = own->life;
        if (life != NULL && !own->dead && !own->finalized && life->gone != 0 &&
            life->gone <= ticks && life->gone < state->ended &&
            (next == NULL || life->gone < next->gone ||
             (life->gone == next->gone && next->left))) /* because the other one has died */
            next = life;
    }
    return next;
}

static void bury(struct m_state *state, uint64_t ticks)
{
    const struct life *life;
    while (!state->stopped && (life = next_dead(state, ticks)) != NULL)
        m_die(state, life);
}

static void on_event(void *context, const struct stream_event *event)
{
    struct m_state *state = context;
    struct event_ref at = event_of(event->trace, event->index);
    const struct life *life = lives_find(state->lives, at);
    if (event->record->kind == RECORD_NONE || life == NULL)
        return;
    state->trace = event->trace;
    bury(state, event->record->enter);
    if (state->stopped)
        return;
    if (state->rank[life->rank].life != life)
        m_begin_life(state, life);
    close_calls(state, life->rank, event->record->enter);
    if (event->record->kind == RECORD_NOTE)
        on_note(state, life->rank, event);
    else if (record_is_of_app(event->record) && event->record->call == CALL_MPI_Finalize)
        m_finalize(state, life->rank, event->record->leave != 0, at);
    else if (m_hands_over(event->record) && !event->in_progress)
        open_call(state, life->rank, event);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void begin(struct m_state *state)
{
    state->rank = memory_new((size_t)state->ranks, sizeof *state->rank);
    for (int i = 0; i < state->ranks; i++) {
        state->rank[i].clock = memory_new((size_t)state->ranks, sizeof(uint64_t));
        state->rank[i].incarnation = memory_new((size_t)state->ranks, sizeof(uint64_t));
    }
}

static void release_rank(struct m_rank *rank)
{
    for (struct m_message *message = rank->message, *next; message != NULL; message = next) {
        next = message->next;
        free(message->clock);
        free(message->taken);
        free(message->taken_lines);
        free(message->delivered);
        free(message);
    }
    for (size_t i = 0; i < rank->delivery_count; i++)
        free(rank->delivery[i].held);
    for (size_t i = 0; i < rank->line_count; i++)
        free(rank->line[i].clock);
    free(rank->delivery);
    free(rank->early);
    free(rank->line);
    free(rank->open);
    free(rank->ahead);
    free(rank->clock);
    free(rank->incarnation);
}

static void end(struct m_state *state)
{
    for (int i = 0; i < state->ranks; i++)
        release_rank(&state->rank[i]);
    free(state->rank);
    table_release(&state->messages);
    table_release(&state->finished);
}

/* A protocol of this family: it tells whose payloads or determinants it has. */
static bool reads_notes(struct m_state *state)
{
    bool logs = false;
    const struct trace_set *traces = state->judging->traces;
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        for (uint64_t at = trace->count;
             trace->incarnation == state->incarnation && note_before(trace, at, &at);) {
            unsigned kind = (unsigned)trace->record[at].tag;
            logs |= kind == NOTE_KEPT || kind == NOTE_HELD || kind == NOTE_PROMISED;
            state->saves |= kind == NOTE_SAVED;
            state->commits |= kind == NOTE_COMMIT;
        }
    }
    return logs;
}

static void judge_incarnation(struct judging *judging, int incarnation)
{
    struct histories histories;
    struct m_state state = {.judging = judging,
                            .lives = &judging->reading.lives,
                            .incarnation = incarnation,
                            .ranks = judging->traces->ranks,
                            .promised = 1};
    if (!reads_notes(&state))
        return;
    begin(&state);
    state.ended = ended_at(&state);
    histories_incarnation(state.lives, incarnation, &histories);
    stream_run(&histories, LEVEL_APP, on_event, &state, NULL);
    histories_release(&histories);
    for (int i = 0; i < state.ranks && !state.stopped; i++)
        close_calls(&state, i, UINT64_MAX);
    bury(&state, UINT64_MAX);
    if (!state.stopped && judging->facts->end == RUN_FINISHED)
        m_judge_multicasts(&state);
    end(&state);
}

/* Also where the family is not asked for: that more died than is promised is for all to know. */
static void judge_logging(struct judging *judging)
{
    for (int i = 0; i < judging->traces->incarnations; i++)
        if (judging_asked(judging, "M.") || lives_any_died(&judging->reading.lives, i))
            judge_incarnation(judging, i);
}

const struct oracle oracle_logging = {.judge = judge_logging, .needs_sound_traces = true};
