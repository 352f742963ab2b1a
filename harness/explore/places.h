/* Where a rank may die, for a search that tries all such places: before each of its calls, on the
 * wire and on the store, that takes a turn on the step engine. Between two of them it does nothing
 * that another rank or another life could see. Must not know: how runs are made, the tree. */
#ifndef EXPLORE_PLACES_H
#define EXPLORE_PLACES_H

#include "base/error.h"
#include "plan/plan.h"

/* Events that look alike, and the most of them that a run had. */
struct place {
    struct plan_condition when; /* names rank and life; nth 1 */
    uint64_t seen;
};

struct places {
    size_t count, room;
    struct place *place; /* owned */
    bool can_lose;       /* there are calls on the store */
};

/* Adds those of one life (0 is the first) of the finished run in `folder`. *grown: there is one
 * more, or more of one. ERROR_IO, ERROR_FORMAT, ERROR_VERSION. */
enum error_code places_add(struct places *places, const char *folder, int life, bool *grown,
                           struct error *error);
void places_release(struct places *places);

/* The death of a rank before the nth (from 1) event of a place, as a step of a plan. */
struct plan_step place_death(const struct place *place, uint64_t nth, enum plan_lose lose);

bool place_same_death(const struct plan_step *a, const struct plan_step *b);

/* "rank 0 before MPI_Send no. 3". */
void place_describe(const struct plan_step *death, char *text, size_t bytes);

#endif
