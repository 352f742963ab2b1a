/* W.once, looked at again. */
#include "verify/shown.h"

/* The rank has counted the task somewhere, undone or not. */
static bool has_counted(const struct shown *shown, int rank, uint64_t task)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_COUNTED, 0) && at.record->bytes == task && at_rank(at) == rank)
            return true;
    return false;
}

/* Tasks that the rank has counted are no more than there are, so one that is open is found soon. */
static bool lacks_one(const struct shown *shown, struct at began)
{
    int rank = at_rank(began);
    for (uint64_t task = 0; task < began.record->bytes; task++)
        if (!has_counted(shown, rank, task))
            return true;
    return anybody_rolls_back(shown->traces);
}

bool shows_counted_wrongly(const struct shown *shown)
{
    struct at first = shown_note(shown, NOTE_COUNTED, 0),
              again = shown_note(shown, NOTE_COUNTED, 1);
    struct at began = shown_note(shown, NOTE_TASKS, 0);
    if (first.record == NULL)
        return began.record != NULL && lacks_one(shown, began);
    if (again.record == NULL)
        return began.record != NULL && at_rank(began) == at_rank(first) &&
               first.record->bytes >= began.record->bytes;
    return first.record->bytes == again.record->bytes && at_rank(first) == at_rank(again) &&
           (first.trace != again.trace || first.index != again.index);
}
