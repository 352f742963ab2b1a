/* A.exact, looked at again. */
#include "verify/shown.h"

#include <math.h>
#include <string.h>

static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* --- a number that is another one ------------------------------------------------------------- */

static bool is_named(struct at near, const char *name)
{
    char text[64];
    trace_text(near.trace, near.index, text, sizeof text);
    return at_is_note(near, NOTE_NEAR, 0) && strcmp(text, name) == 0;
}

/* Equal, or both none, or not farther apart than the note says. */
static bool fits(struct at near, const struct witness_reference *wanted)
{
    double is = number_of(near.record->hash), should = number_of(wanted->hash);
    double apart = is - should;
    return is == should || (is != is && should != should) ||
           (apart <= number_of(near.record->bytes) && -apart <= number_of(near.record->bytes));
}

/* Of those under its name: only its own rank's where it has one. */
static bool fits_one(const struct shown *shown, struct at near, int rank)
{
    bool own = false, any = false, of_own = false, of_any = false;
    for (size_t i = 0; i < shown->witness->reference_count; i++) {
        const struct witness_reference *wanted = &shown->witness->reference[i];
        if (!wanted->near || !is_named(near, wanted->name))
            continue;
        of_any = true;
        any |= fits(near, wanted);
        of_own |= wanted->rank == rank;
        own |= wanted->rank == rank && fits(near, wanted);
    }
    return of_own ? own : any || !of_any;
}

/* Declared again under the name, in what counts of the rank; or undone. */
static bool is_replaced(const struct shown *shown, struct at near, int rank)
{
    char name[64];
    bool replaced = true;
    struct walk walk = {.traces = shown->traces, .incarnation = shown->lives - 1, .rank = rank};
    trace_text(near.trace, near.index, name, sizeof name);
    while (walk_next(&walk))
        if (is_named(walk.at, name))
            replaced = walk.at.trace != near.trace || walk.at.index != near.index;
    return replaced;
}

static bool is_wrong(const struct shown *shown, struct at near)
{
    return near.record != NULL && !fits_one(shown, near, at_rank(near)) &&
           !is_replaced(shown, near, at_rank(near));
}

/* --- a number that is missing ----------------------------------------------------------------- */

static bool is_declared(const struct shown *shown, const char *name)
{
    for (int rank = 0; rank < shown->traces->ranks; rank++) {
        struct walk walk = {.traces = shown->traces, .incarnation = shown->lives - 1, .rank = rank};
        while (walk_next(&walk))
            if (is_named(walk.at, name))
                return true;
    }
    return false;
}

static bool lacks_one(const struct shown *shown)
{
    for (size_t i = 0; i < shown->witness->reference_count; i++)
        if (shown->witness->reference[i].near &&
            !is_declared(shown, shown->witness->reference[i].name))
            return shown->witness->finished;
    return false;
}

/* --- who says that it cannot ------------------------------------------------------------------ */

static bool names(struct at at, int process)
{
    bool kill = at.record->kind == RECORD_FAULT &&
                (at.record->comm == FAULT_KILL || at.record->comm == FAULT_KILL_INSIDE);
    return (kill || at_is_note(at, NOTE_LEARNED, 0)) && at.record->peer == process;
}

static bool may_be_dead(const struct shown *shown, const struct trace *trace, struct at by)
{
    bool seen = shown->witness->finished;
    if (trace->incarnation != by.trace->incarnation || trace->end == NULL ||
        (trace->end->tag == 0 && trace->end->bytes == 0))
        return false;
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (record_is_event(at.record) && at.record->enter >= by.record->enter)
            return false;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        seen |= at.trace->incarnation == trace->incarnation && names(at, trace->rank);
    return seen;
}

/* Not more have died by then than its newest promise before it says. */
static bool is_within_promise(const struct shown *shown, struct at cannot)
{
    uint64_t promised = 0, dead = 0;
    for (struct at at = {.trace = cannot.trace}; at_next(&at) && at.index < cannot.index;)
        if (at_is_note(at, NOTE_SURVIVES, 0))
            promised = at.record->bytes;
    for (size_t t = 0; t < shown->traces->count; t++)
        dead += may_be_dead(shown, &shown->traces->trace[t], cannot);
    return dead <= promised;
}

/* Whoever may have said so gave no result then, and need not. */
static bool is_excused(const struct shown *shown)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_CANNOT, 0) && at.trace->incarnation == shown->lives - 1 &&
            !is_within_promise(shown, at))
            return true;
    return false;
}

bool shows_not_exact(const struct shown *shown)
{
    struct at cannot = shown_note(shown, NOTE_CANNOT, 0), near = shown_note(shown, NOTE_NEAR, 0);
    if (cannot.record != NULL)
        return is_within_promise(shown, cannot);
    if (near.record != NULL)
        return is_wrong(shown, near) && !is_excused(shown);
    return shown->count == 0 && lacks_one(shown) && !is_excused(shown);
}
