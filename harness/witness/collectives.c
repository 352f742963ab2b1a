/* What the witnesses of family D must show: collectives and lines. See shown.h. */
#include "witness/shown.h"

#include "trace/calls.h"

/* --- D: collectives ------------------------------------------------------------------------ */

/* Where a member has what a call gives it: the call, or the one that completes it. */
static struct at received(struct at call)
{
    if (call.record->request == 0 || call.record->kind != RECORD_COLLECTIVE)
        return call;
    for (uint64_t i = call.index + 1; i < call.trace->count; i++) {
        struct at at = {call.trace, i, &call.trace->record[i]};
        if (at.record->kind == RECORD_COMPLETE && at.record->level == LEVEL_APP &&
            at.record->request == call.record->request && !(at.record->flags & FLAG_NEGATIVE))
            return at;
    }
    return call;
}

/* Whether two members of the witness stand so, for some line that it names: when the one had given
 * its part, and when the other had its. */
static bool members_stand(const struct shown *shown, enum stand from, bool other_is_not,
                          enum stand other)
{
    for (size_t n = 0; n < shown->count; n++)
        for (size_t i = 0; i < shown->count; i++)
            for (size_t k = 0; k < shown->count; k++) {
                struct at a = shown->event[i], b = shown->event[k];
                uint64_t line = shown->event[n].record->bytes;
                if (shown->event[n].record->kind == RECORD_NOTE && at_is_call(a, LEVEL_APP) &&
                    at_is_call(b, LEVEL_APP) && a.trace->rank != b.trace->rank &&
                    at_stand(a, line) == from &&
                    (at_stand(received(b), line) == other) != other_is_not)
                    return true;
            }
    return false;
}

bool witness_call_flows_back(const struct shown *shown)
{
    return members_stand(shown, STAND_BEYOND, true, STAND_BEYOND);
}

bool witness_call_flows_over(const struct shown *shown)
{
    return members_stand(shown, STAND_BEHIND, false, STAND_BEYOND);
}

/* On the wire, inside the application's call, before the note. */
static bool is_in_barrier(struct at taken, struct at call)
{
    for (uint64_t i = 0; at_inside(taken, call) && i < taken.index; i++) {
        struct at at = {call.trace, i, &call.trace->record[i]};
        if (at_is_call(at, LEVEL_WIRE) && at_inside(at, call) &&
            call_operation(at.record->call) == OPERATION_BARRIER)
            return true;
    }
    return false;
}

bool witness_barrier_straddles(const struct shown *shown)
{
    struct at taken = shown_note(shown, NOTE_CHECKPOINT, 0);
    for (size_t i = 0; taken.record != NULL && i < shown->count; i++)
        if (at_is_call(shown->event[i], LEVEL_APP) && is_in_barrier(taken, shown->event[i]))
            return true;
    return members_stand(shown, STAND_BEHIND, true, STAND_BEHIND);
}

static bool puts_on_wire(struct at call)
{
    for (uint64_t i = 0; i < call.trace->count; i++) {
        struct at at = {call.trace, i, &call.trace->record[i]};
        if (at_is_call(at, LEVEL_WIRE) && at_inside(at, call))
            return true;
    }
    return false;
}

/* What one rank gave and got in the call before and after, or what met on the wire. */
static bool is_other_data(struct at a, struct at b)
{
    bool wire = at_is_call(a, LEVEL_WIRE) && at_is_call(b, LEVEL_WIRE) &&
                a.trace->incarnation == b.trace->incarnation;
    bool again = at_is_call(a, LEVEL_APP) && at_is_call(b, LEVEL_APP) &&
                 a.trace->rank == b.trace->rank && a.trace != b.trace;
    return (wire && (a.record->call != b.record->call || at_data(a.record) != at_data(b.record))) ||
           (again &&
            (a.record->hash != b.record->hash || a.record->result_hash != b.record->result_hash ||
             a.record->bytes != b.record->bytes));
}

/* A call that straddles the line is on the wire again; one that is not; or other data. */
bool witness_call_is_recovered_wrongly(const struct shown *shown)
{
    struct at again = {0}, before = {0};
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i];
        if (shown->restored.record == NULL || !at_is_call(at, LEVEL_APP))
            continue;
        if (at.trace == shown->restored.trace)
            again = at;
        else if (at.trace->incarnation < shown->restored.trace->incarnation)
            before = at;
    }
    for (size_t i = 0; i < shown->count; i++)
        for (size_t k = 0; k < i; k++)
            if (is_other_data(shown->event[i], shown->event[k]))
                return true;
    if (again.record == NULL)
        return false;
    bool straddles =
        before.record != NULL && at_stand(before, shown->restored.record->bytes) == STAND_BEHIND;
    return !puts_on_wire(again) || (straddles && shown_inside(shown, again, RECORD_COLLECTIVE));
}
