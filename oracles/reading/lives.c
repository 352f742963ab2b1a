/* See lives.h. Each trace is cut into lives at its `becomes` notes; a life lasts up to the next
 * such note. Hard is the part before the first one: it is a life of the rank that MPI says only if
 * the program was out of MPI_Init, or did something without it, by then. A process in reserve waits
 * inside MPI_Init and is nobody:
 *
 *     process 3:  e0 MPI_Init   e20 becomes 1, before MPI_Init returns   e21 ... e90
 *     lives:      rank 1: process 3, e21-e90       none of rank 3
 *
 * A process that died inside MPI_Init without a note may have been in reserve, too. Its number
 * counts as a rank of the application only if no trace of that process shows what it was (`told`).
 *
 * The lives are then sorted by incarnation and birth, and each is linked to the one before of its
 * rank. If both are of one incarnation, the rank moved from one process to the other.
 *
 * A life is known to have died by the END record of its trace, or to have left by that and its last
 * note. If the next life of its rank is of the same incarnation, that one is a newcomer which takes
 * over:
 *
 *     process 1:  e0 ... e40   END signal 9
 *     process 3:  e0 MPI_Init   e9 becomes 1   e10 restored 1 ...     rank 1: process 1, then 3
 *
 * The chain of notes is walked, so that the cost grows with the number of notes; where a process
 * moved, the records before its first note are looked at as well. */
#include "oracles/reading/lives.h"

#include "base/memory.h"
#include "oracles/reading/history.h"
#include "trace/calls.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_init(const struct record *record)
{
    return record->call == CALL_MPI_Init || record->call == CALL_MPI_Init_thread;
}

static uint64_t left(const struct record *record)
{
    return atomic_load_explicit(&record->leave, memory_order_acquire);
}

/* MPI_Init, or what the program did without it, if that is before record `to`; else NULL. */
static const struct record *begin(const struct trace *trace, uint64_t to)
{
    for (uint64_t at = 0; at < to; at++) {
        const struct record *record = &trace->record[at];
        if (record_is_of_app(record) && (record->kind != RECORD_CALL || is_init(record)))
            return record;
    }
    return NULL;
}

/* The program did something before record `to`, or was free to. */
static bool program_ran(const struct trace *trace, uint64_t to)
{
    const struct record *record = begin(trace, to);
    return record != NULL &&
           (!is_init(record) || (left(record) != 0 && left(record) < trace->record[to].enter));
}

/* What may come before MPI_Init: faults, the store, a phase of the program, a draw. */
static bool may_precede_init(const struct record *record)
{
    switch (atomic_load_explicit(&record->kind, memory_order_acquire)) {
    case RECORD_NOTE:
        return record->tag == NOTE_PHASE || record->tag == NOTE_DRAWN;
    case RECORD_NONE:
    case RECORD_GROUP:
    case RECORD_TEXT:
    case RECORD_FAULT:
    case RECORD_STORAGE:
        return true;
    default:
        return false;
    }
}

/* It died before MPI_Init returned, so it may have been in reserve and not have told so yet. */
static bool died_at_start(const struct trace *trace)
{
    const struct record *record = begin(trace, trace->count);
    uint64_t at = 0;
    if (record != NULL)
        return is_init(record) && left(record) == 0;
    while (at < trace->count && may_precede_init(&trace->record[at]))
        at++;
    return at == trace->count;
}

/* When the trace was first heard of. */
static uint64_t first_sign(const struct trace *trace)
{
    for (uint64_t at = 0; at < trace->count; at++)
        if (record_is_event(&trace->record[at]))
            return trace->record[at].enter;
    return trace->header->start_ticks;
}

/* ... and last, before record `to`. */
static uint64_t last_sign(const struct trace *trace, uint64_t to)
{
    for (uint64_t at = to; at > 0; at--)
        if (record_is_event(&trace->record[at - 1]))
            return trace->record[at - 1].enter;
    return 0;
}

/* When the process of the trace was dead, or 0. */
static uint64_t gone_at(const struct trace *trace)
{
    const struct record *end = trace->end;
    return end != NULL && (end->tag != 0 || end->bytes != 0) ? end->enter : 0;
}

/* The last that the program did is to come out of MPI_Finalize. */
static bool has_finalized(const struct trace *trace)
{
    for (uint64_t at = trace->count; at > 0; at--)
        if (record_is_of_app(&trace->record[at - 1]))
            return trace->record[at - 1].call == CALL_MPI_Finalize &&
                   left(&trace->record[at - 1]) != 0;
    return false;
}

/* The note at `to`, the last of its kind, says that the process is no rank any more, and that is
 * how it ended: with status 0 and without MPI_Finalize. */
static bool leaves(const struct lives *lives, const struct trace *trace, uint64_t to)
{
    const struct record *end = trace->end;
    uint64_t at = trace->count;
    if (to == trace->count || trace->record[to].bytes < (uint64_t)lives->ranks || end == NULL ||
        end->tag != 0 || end->bytes != 0 || has_finalized(trace))
        return false;
    while (note_before(trace, at, &at) && trace->record[at].tag != NOTE_BECOMES)
        ;
    return at == to;
}

/* How the life that lasts up to record `to` ended. */
static void end_life(const struct lives *lives, struct life *life)
{
    life->died = last_sign(life->trace, life->to);
    life->left = leaves(lives, life->trace, life->to);
    if (life->left)
        life->gone = life->trace->record[life->to].enter;
    else if (life->to == life->trace->count)
        life->gone = gone_at(life->trace);
}

static void add(struct lives *lives, size_t *room, struct life life)
{
    end_life(lives, &life);
    lives->life = memory_room(lives->life, lives->count, room, sizeof *lives->life);
    lives->life[lives->count++] = life;
}

/* Somebody took a checkpoint, or went back to one. */
static bool rolls_back(const struct record *note)
{
    return note->tag == NOTE_CHECKPOINT || note->tag == NOTE_RESTORED;
}

/* It did all that the rank does, beside the process that was it. */
static bool is_replica(const struct trace *trace, uint64_t rank)
{
    uint64_t at;
    return note_find(trace, NOTE_REPLICA, rank, trace->count, &at);
}

/* Adds the lives of one trace, from the newest note back; `to` is where the life after it begins.
 * told[] by number of the process: some trace of it shows what it was. */
static void read_trace(struct lives *lives, size_t *room, const struct trace *trace, bool *told)
{
    uint64_t at = trace->count;
    uint64_t to = at, first = at;
    bool becomes = false;
    while (note_before(trace, at, &at)) {
        const struct record *note = &trace->record[at];
        lives->rolls_back |= rolls_back(note);
        if (note->tag != NOTE_BECOMES)
            continue;
        becomes = true;
        if (note->bytes < (uint64_t)lives->ranks) {
            bool replica = is_replica(trace, note->bytes);
            add(lives, room,
                (struct life){.rank = (int)note->bytes,
                              .trace = trace,
                              .replica = replica,
                              .from = replica ? 0 : at + 1,
                              .to = to,
                              .born = note->enter,
                              .came = first_sign(trace)});
            lives->application[note->bytes] = true;
        }
        to = first = at;
    }
    bool later = trace->rank >= lives->traces->world;
    if (becomes && later && lives->count > 0 && lives->life[lives->count - 1].trace == trace)
        lives->life[lives->count - 1].from = 0;
    bool shows = becomes || !died_at_start(trace);
    lives->moved |= becomes;
    told[trace->rank] |= shows;
    if (becomes && (later || !program_ran(trace, first)))
        return;
    add(lives, room,
        (struct life){.rank = trace->rank,
                      .trace = trace,
                      .to = to,
                      .born = first_sign(trace),
                      .came = first_sign(trace)});
    lives->application[trace->rank] |= shows;
}

static int by_birth(const void *left, const void *right)
{
    const struct life *a = left;
    const struct life *b = right;
    if (a->trace->incarnation != b->trace->incarnation)
        return a->trace->incarnation < b->trace->incarnation ? -1 : 1;
    if (a->born != b->born)
        return a->born < b->born ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* It was there before the rank had died that it takes over, for which it waited in reserve. */
static bool is_spare(const struct life *life)
{
    return life->takes_over && !life->replica && life->came < life->before->gone;
}

/* See struct life. */
static uint64_t counts_from(const struct lives *lives, const struct life *life)
{
    const struct trace *trace = life->trace;
    uint64_t at;
    if (life->replica)
        return life->from;
    if (history_first_restored(life, &at))
        return history_begin(trace, at);
    if (lives->rolls_back && !life_closed(life))
        return life->to;
    return life->from;
}

/* What one that waited in reserve did before it was told its rank is of no rank. */
static uint64_t begins(const struct life *life)
{
    uint64_t at;
    bool found =
        is_spare(life) && note_find(life->trace, NOTE_BECOMES, (uint64_t)life->rank, life->to, &at);
    return found ? at + 1 : life->from;
}

static void link_lives(struct lives *lives)
{
    const struct life **newest = memory_new((size_t)lives->ranks, sizeof *newest);
    for (size_t i = 0; i < lives->count; i++) {
        struct life *life = &lives->life[i];
        const struct life *before = newest[life->rank];
        life->before = before;
        life->number = before == NULL ? 0 : before->number + 1;
        bool same = before != NULL && before->trace->incarnation == life->trace->incarnation;
        life->takes_over =
            same && before->gone != 0 && (life->replica || before->died <= life->born);
        life->replica = life->replica && life->takes_over;
        life->moved = same && !life->takes_over;
        life->from = begins(life);
        life->counts = life->takes_over ? counts_from(lives, life) : life->from;
        newest[life->rank] = life;
    }
    free(newest);
}

void lives_read(const struct trace_set *traces, struct lives *lives)
{
    size_t room = 0;
    *lives = (struct lives){.traces = traces, .ranks = traces->ranks};
    lives->application = memory_new((size_t)traces->ranks, sizeof *lives->application);
    lives->helper = memory_new((size_t)traces->ranks, sizeof *lives->helper);
    bool *told = memory_new((size_t)traces->ranks, sizeof *told);
    for (int rank = 0; rank < traces->ranks; rank++)
        lives->helper[rank] = trace_set_is_helper(traces, rank);
    for (size_t i = 0; i < traces->count; i++)
        if (!lives->helper[traces->trace[i].rank])
            read_trace(lives, &room, &traces->trace[i], told);
    for (int rank = 0; rank < traces->world; rank++)
        lives->application[rank] |= !told[rank] && !lives->helper[rank];
    if (lives->count > 1)
        qsort(lives->life, lives->count, sizeof *lives->life, by_birth);
    link_lives(lives);
    succession_read(lives, &lives->succession);
    free(told);
}

void lives_release(struct lives *lives)
{
    free(lives->life);
    free(lives->application);
    free(lives->helper);
    succession_release(&lives->succession);
    *lives = (struct lives){0};
}

const struct life *lives_newest(const struct lives *lives, int rank, int incarnation)
{
    for (size_t at = lives->count; at > 0; at--) {
        const struct life *life = &lives->life[at - 1];
        if (life->rank == rank && life->trace->incarnation <= incarnation)
            return life;
    }
    return NULL;
}

bool life_closed(const struct life *life)
{
    return !life->left &&
           atomic_load_explicit(&life->trace->header->closed, memory_order_acquire) != 0;
}

bool lives_is_dead(const struct lives *lives, int rank)
{
    const struct life *life = lives_newest(lives, rank, INT_MAX);
    return life != NULL && life->gone != 0;
}

/* The program did something on the communicator, or made it. */
static bool uses(const struct life *life, uint32_t comm)
{
    for (uint64_t at = life->from; at < life->to; at++)
        if (record_is_of_app(&life->trace->record[at]) && life->trace->record[at].comm == comm)
            return true;
    return false;
}

bool lives_left(const struct lives *lives, int rank, uint32_t comm)
{
    uint64_t restored;
    const struct life *life = lives_newest(lives, rank, INT_MAX);
    if (life == NULL || life->gone != 0 || !life->takes_over)
        return life != NULL && life->gone != 0;
    return !life->replica && !history_first_restored(life, &restored) && !uses(life, comm);
}

bool life_is_over(const struct life *life)
{
    for (uint64_t at = life->to; at > life->from; at--)
        if (record_is_of_app(&life->trace->record[at - 1]))
            return life->trace->record[at - 1].call == CALL_MPI_Finalize;
    return false;
}

bool lives_left_undone(const struct lives *lives, int rank, uint32_t comm)
{
    const struct life *life = lives_newest(lives, rank, INT_MAX);
    return lives_left(lives, rank, comm) && !(life->gone != 0 && life_is_over(life));
}

/* The first in the table that is of `incarnation` or a later one. */
static size_t first_of(const struct lives *lives, int incarnation)
{
    size_t low = 0, high = lives->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lives->life[middle].trace->incarnation < incarnation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int lives_peer(const struct lives *lives, int incarnation, uint64_t ticks, int peer)
{
    const struct life *named = NULL;
    if (peer < lives->traces->world || peer >= lives->ranks)
        return peer;
    for (size_t i = first_of(lives, incarnation);
         i < lives->count && lives->life[i].trace->incarnation == incarnation; i++) {
        const struct life *life = &lives->life[i];
        if (life->trace->rank == peer && (named == NULL || life->born <= ticks))
            named = life;
    }
    return named != NULL ? named->rank : peer;
}

const struct life *lives_find(const struct lives *lives, struct event_ref event)
{
    for (size_t i = first_of(lives, event.incarnation); i < lives->count; i++) {
        const struct life *life = &lives->life[i];
        if (life->trace->incarnation != event.incarnation)
            break;
        if (life->trace->rank == event.rank && event.index >= life->from && event.index < life->to)
            return life;
    }
    return NULL;
}

bool lives_began_after(const struct lives *lives, struct event_ref event, uint64_t ticks)
{
    const struct life *life = lives_find(lives, event);
    return life != NULL && life->before != NULL && life->born > ticks;
}

bool lives_on(const struct lives *lives, int process, int incarnation)
{
    size_t begun = first_of(lives, incarnation), last = begun;
    if (trace_set_find(lives->traces, process, incarnation) != NULL)
        return false;
    while (last > 0 && lives->life[last - 1].trace->rank != process)
        last--;
    for (size_t i = begun; last > 0 && i < lives->count; i++)
        if (lives->life[i].trace->incarnation == incarnation &&
            lives->life[i].trace->header->start_ticks < lives->life[last - 1].died)
            return true;
    return false;
}

bool lives_any_on(const struct lives *lives, int incarnation)
{
    for (int rank = 0; rank < lives->ranks && incarnation > 0; rank++)
        if (lives_on(lives, rank, incarnation))
            return true;
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].takes_over && lives->life[i].trace->incarnation == incarnation)
            return true;
    return false;
}

bool lives_any_died(const struct lives *lives, int incarnation)
{
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].gone != 0 && lives->life[i].trace->incarnation == incarnation)
            return true;
    return false;
}
