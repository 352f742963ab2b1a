/* What plans of all strategies are put together from. Must not know: why a fault is chosen. */
#ifndef STRATEGY_STEPS_H
#define STRATEGY_STEPS_H

#include "strategy/survey.h"

/* A fault of this kind, armed from the start of the job. */
struct plan_step steps_fault(enum plan_action action);

/* A kill or stop of this rank. */
void steps_victim(struct plan_step *step, int32_t rank);

/* The n-th event (from 1) of a point, before or after the call where that is something else. */
struct plan_condition steps_at(const struct survey_point *point, uint64_t nth, bool after);

/* How many ranks come to MPI_Finalize in the last life of a job: not those of a protocol's own that
 * leave by themselves. */
uint64_t steps_finalizing(const struct survey *survey);

/* The faults stop when so many ranks, of all lives together, have come to MPI_Finalize. Makes the
 * last step of every plan that could go on for ever. */
struct plan_step steps_quiet(uint64_t finalized);

/* `rank` (PLAN_ANY: whose event it is) stands in this region of a line. At most PLAN_MAX_STATES. */
void steps_state(struct plan_condition *condition, int32_t rank, enum plan_region region,
                 int64_t line);

/* The first line after which there is more than one region: protocols that note where logging ends
 * have three, others two. */
unsigned steps_regions(const struct survey *survey);
const char *steps_region_text(enum plan_region region);

/* The files of the checkpoint store were seen: what is not synced can be lost. */
bool steps_can_lose(const struct survey *survey);

/* One or several words for a point: "phase c3:before-commit". `text` is cut. */
void steps_describe(const struct survey_point *point, char *text, size_t bytes);

/* Leaves what a scenario's name may have. */
void steps_clean_name(char *name);

#endif
