/* Where and when something random happens: conditions drawn from a survey. Must not know: what is
 * done there. */
#ifndef STRATEGY_RANDOM_PLACE_H
#define STRATEGY_RANDOM_PLACE_H

#include "strategy/draw.h"
#include "strategy/survey.h"

/* Any event of anybody, what the protocol itself notes more often than the rest; now and then one
 * that depends on timing and may never come. */
struct plan_condition place_anywhere(const struct survey *survey, struct draw *draw);

/* An event of life `incarnation`, early in it. Names its rank. */
struct plan_condition place_in_recovery(const struct survey *survey, struct draw *draw,
                                        int32_t incarnation);

/* A line: the first more often than any other, for faults keep later ones from being made. */
int64_t place_line(const struct survey *survey, struct draw *draw);

/* One of these points, and its n-th event: the first ones more often. There must be one. */
struct plan_condition place_of(const struct survey *survey, struct draw *draw,
                               struct survey_filter filter);

/* One of these points; most often one that is there with the first line. There must be one. */
const struct survey_point *place_point(const struct survey *survey, struct draw *draw,
                                       struct survey_filter filter);

/* The n-th event of this point: the first ones more often. */
struct plan_condition place_at(const struct survey *survey, const struct survey_point *point,
                               struct draw *draw);

/* The send of a message of the protocol's own: its name first, so that one that goes to all is not
 * drawn more often than one that goes to somebody. There must be one. */
struct plan_condition place_of_message(const struct survey *survey, struct draw *draw);

/* A send of the program's, at either level: there must be one. With `wanted` of them from this one
 * on if the channel has so many. */
struct plan_condition place_of_send(const struct survey *survey, struct draw *draw,
                                    uint64_t wanted);

/* What the program of this rank does: posts a receive, has a message, sends one, or makes a
 * collective call, whatever of it there is. */
struct plan_condition place_of_program(const struct survey *survey, struct draw *draw,
                                       int32_t rank);

/* Adds to the condition that a rank (PLAN_ANY: that of the event) stands in a region of a line.
 * past_line: not in that in which all begin, for that is true from the start. */
void place_state(const struct survey *survey, struct draw *draw, int32_t rank, bool past_line,
                 struct plan_condition *condition);

#endif
