/* What a survey finds of recovery lines: which message lets a rank enter a region, and where sender
 * and receiver of each message stood. Only for survey.c. */
#ifndef STRATEGY_SURVEY_LINES_H
#define STRATEGY_SURVEY_LINES_H

#include "strategy/survey.h"

/* Messages of the protocol's own that a rank had since its last note of a line: those beyond are
 * not looked at. */
#define TRIGGERS_MAX_HEARD 16

/* How often a message was the last that a rank had before it entered a region. */
struct trigger_vote {
    char message[PLAN_NAME_BYTES];
    enum plan_region region;
    unsigned votes;
};

struct triggers {
    struct heard {
        char message[PLAN_NAME_BYTES];
        int32_t sender;
        uint64_t nth;
    } heard[TRIGGERS_MAX_HEARD];
    size_t count;
    size_t vote_count;
    struct trigger_vote vote[2 * PLAN_MAX_WIRES];
};

/* The trace of another rank follows. */
void triggers_begin(struct triggers *triggers);

/* The nth message of this name and sender has been delivered. */
void triggers_message(struct triggers *triggers, const char *message, int32_t sender, uint64_t nth);

/* The rank enters a region of a line: all that it heard since the last one may be the trigger. */
void triggers_note(struct triggers *triggers, struct survey *survey, int32_t rank,
                   enum plan_region region, uint64_t line);

/* Of each region leaves the message that was the last before it most often. */
void triggers_choose(const struct triggers *triggers, struct survey *survey);

/* Fills in survey->sends. */
void cells_count(const struct trace_set *traces, struct survey *survey);

#endif
