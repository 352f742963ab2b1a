/* Family D: collectives around lines. See shown.h. */
#include "verify/shown.h"

/* Where a member has given its part, and where another, by the call or the one that completes it,
 * has what it gets: so against the line of some note that is shown. */
static bool members_stand(const struct shown *shown, struct at a, struct at b,
                          bool (*wrongly)(enum stand gave, enum stand got))
{
    if (!at_is_call(a, LEVEL_APP) || !at_is_call(b, LEVEL_APP) || a.trace->rank == b.trace->rank)
        return false;
    for (size_t i = 0; i < shown->count; i++) {
        uint64_t line = shown->event[i].record->bytes;
        if (shown->event[i].record->kind != RECORD_NOTE)
            continue;
        struct at had = at_completion(b);
        if (wrongly(at_stand(a, line), at_stand(had.record != NULL ? had : b, line)))
            return true;
    }
    return false;
}

static bool is_backwards(enum stand gave, enum stand got)
{
    return gave == STAND_BEYOND && got != STAND_BEYOND;
}

static bool is_past(enum stand gave, enum stand got)
{
    return gave == STAND_BEFORE && got == STAND_BEYOND;
}

static bool is_apart(enum stand gave, enum stand got)
{
    return gave == STAND_BEFORE && got != STAND_BEFORE;
}

static bool stand_backwards(const struct shown *shown, struct at a, struct at b)
{
    return members_stand(shown, a, b, is_backwards);
}

static bool stand_past(const struct shown *shown, struct at a, struct at b)
{
    return members_stand(shown, a, b, is_past);
}

static bool stand_apart(const struct shown *shown, struct at a, struct at b)
{
    return members_stand(shown, a, b, is_apart);
}

bool shows_claim_2_2(const struct shown *shown)
{
    return any_two(shown, stand_backwards);
}

bool shows_claim_2_3(const struct shown *shown)
{
    return any_two(shown, stand_past);
}

static bool is_taken_in_barrier(const struct shown *shown, struct at taken, struct at call)
{
    (void)shown;
    return at_is_note(taken, NOTE_CHECKPOINT, 0) && at_is_call(call, LEVEL_APP) &&
           at_inside(taken, call) && is_on_wire(call, OPERATION_BARRIER, taken.index);
}

bool shows_barrier(const struct shown *shown)
{
    return any_two(shown, stand_apart) || any_two(shown, is_taken_in_barrier);
}

/* What one rank gave and got in the call before and after, or what met on the wire. */
static bool is_other_data(const struct shown *shown, struct at a, struct at b)
{
    (void)shown;
    if (at_is_call(a, LEVEL_WIRE) && at_is_call(b, LEVEL_WIRE))
        return a.trace->incarnation == b.trace->incarnation &&
               (a.record->call != b.record->call || data_of(a.record) != data_of(b.record));
    return at_is_call(a, LEVEL_APP) && at_is_call(b, LEVEL_APP) && a.trace->rank == b.trace->rank &&
           a.trace != b.trace &&
           (is_other(a.record, b.record) || a.record->result_hash != b.record->result_hash);
}

/* A call that straddles the line is on the wire again; one that is not. */
bool shows_executed_wrongly(const struct shown *shown)
{
    struct at again = {0}, before = {0};
    if (any_two(shown, is_other_data))
        return true;
    for (size_t i = 0; shown->restored.record != NULL && i < shown->count; i++) {
        struct at at = shown->event[i];
        if (at_is_call(at, LEVEL_APP) && at.trace == shown->restored.trace)
            again = at;
        else if (at_is_call(at, LEVEL_APP) &&
                 at.trace->incarnation < shown->restored.trace->incarnation)
            before = at;
    }
    return again.record != NULL &&
           (!is_on_wire(again, OPERATION_NONE, NEVER) ||
            (before.record != NULL && shows_inside(shown, again, RECORD_COLLECTIVE) &&
             at_stand(before, shown->restored.record->bytes) == STAND_BEFORE));
}
