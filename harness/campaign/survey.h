/* What there is to aim at: a run without faults, counted. Everything that a strategy draws from is
 * here, so a strategy never looks at a trace. Must not know: how runs are made, Lua, MPI. */
#ifndef CAMPAIGN_SURVEY_H
#define CAMPAIGN_SURVEY_H

#include "plan/plan.h"

/* Events that look alike: `condition` names them with nth 1, and there were `count` of them. */
struct survey_point {
    struct plan_condition condition;
    uint64_t count;
};

struct survey {
    int ranks;
    int64_t lines;              /* the newest line that was committed; 0: none */
    size_t count;               /* owned */
    struct survey_point *point; /* owned; by rank, then as they first came */
    size_t wires;               /* the messages of the protocol's own that were seen */
    struct plan_wire wire[PLAN_MAX_WIRES];
};

void survey_init(struct survey *survey);
void survey_release(struct survey *survey);

/* Reads the traces of the finished run in `folder`; `plan` gives the wires. */
enum error_code survey_take(const char *folder, const struct plan *plan, struct survey *survey,
                            struct error *error);

#endif
