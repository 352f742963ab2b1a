/* Faults that are drawn: what random.c and random_message.c share. Only for those two. */
#ifndef STRATEGY_RANDOM_FAULT_H
#define STRATEGY_RANDOM_FAULT_H

#include "strategy/draw.h"
#include "strategy/random_place.h"
#include "strategy/steps.h"

/* A fault to be drawn. */
struct fault {
    const struct survey *survey;
    struct draw draw;
    unsigned lives; /* that may end by the faults before this one */
    bool has_helper;
    struct plan_step helper; /* goes into the plan before `step`, so that this comes about */
    struct plan_step step;
};

/* A step of this kind, armed from the start. */
void fault_begin(struct fault *fault, enum plan_action action);

/* Draws a rank of the job. */
int32_t fault_rank(struct fault *fault);

/* What lets go the rank or message that `step` keeps, by an attempt. `receiver`: whose position
 * makes a message late or early; PLAN_ANY: nobody's. */
void fault_let_go(struct fault *fault, struct plan_step *step, int32_t receiver);

/* What is asked for of a survey before one of these is made. */
bool fault_has_messages(const struct survey *survey);
bool fault_has_channels(const struct survey *survey);
bool fault_can_cross(const struct survey *survey);
bool fault_has_triggers(const struct survey *survey);

/* Of the protocol's own: kept. */
void fault_hold_control(struct fault *fault);
/* The message that lets a rank into a region of a line: kept until others have gone on, and the
 * rank has done something there, collective calls too. */
void fault_lag(struct fault *fault);
/* Any. */
void fault_hold_message(struct fault *fault);
/* One that crosses a line, or stays on one side of it. */
void fault_crossing(struct fault *fault);
/* Several, in another order. */
void fault_reorder(struct fault *fault);
/* Slow ones. */
void fault_delay(struct fault *fault);
void fault_jitter(struct fault *fault);

#endif
