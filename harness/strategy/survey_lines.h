/* What a survey finds of recovery lines: which message lets a rank enter a region, and where sender
 * and receiver of each message stood. Only for survey.c. */
#ifndef STRATEGY_SURVEY_LINES_H
#define STRATEGY_SURVEY_LINES_H

#include "strategy/survey.h"

/* Messages of the protocol's own that a rank had since its last note of a line: those beyond are
 * not looked at. */
#define CUES_MAX_HEARD 16

/* How often a message was the last that a rank had before it entered a region. */
struct cue_vote {
    char message[PLAN_NAME_BYTES];
    enum plan_region region;
    unsigned votes;
};

struct cues {
    struct heard {
        char message[PLAN_NAME_BYTES];
        int32_t sender;
        uint64_t nth;
    } heard[CUES_MAX_HEARD];
    size_t count;
    size_t vote_count;
    struct cue_vote vote[2 * PLAN_MAX_WIRES];
};

/* The trace of another rank follows. */
void cues_begin(struct cues *cues);

/* The nth message of this name and sender has been delivered. */
void cues_message(struct cues *cues, const char *message, int32_t sender, uint64_t nth);

/* The rank enters a region of a line: all that it heard since the last one may be the cue. */
void cues_note(struct cues *cues, struct survey *survey, int32_t rank, enum plan_region region,
               uint64_t line);

/* Of each region leaves the message that was the last before it most often. */
void cues_choose(const struct cues *cues, struct survey *survey);

/* Fills in survey->sends. */
void cells_count(const struct trace_set *traces, struct survey *survey);

#endif
