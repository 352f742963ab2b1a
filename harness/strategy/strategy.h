/* How a campaign chooses its plans: a table of strategies, one file each (random.c, systematic.c).
 * A plan depends on survey, seed and index alone: run 17 of a seed is the same plan whatever ran
 * before, on however many processors, and after an interruption. Which plans are taken up again
 * says guide.h. */
#ifndef STRATEGY_STRATEGY_H
#define STRATEGY_STRATEGY_H

#include "strategy/survey.h"

#define STRATEGY_ENDLESS UINT64_MAX
#define STRATEGY_TEXT_BYTES 200

struct strategy {
    const char *name;
    const char *help; /* one line */
    /* How the step engine decides what MPI leaves open ("pct", "swarm", "skewed", "bursts";
     * engine/core/policy.c; "guided": some runs at random, some as pct); NULL: at random, and on
     * any engine. */
    const char *policy;
    bool guided;     /* by what earlier runs brought: see guide.h */
    bool any_engine; /* on another engine the policy says nothing */

    /* How many plans there are; STRATEGY_ENDLESS: as many as one likes. */
    uint64_t (*count)(const struct survey *survey);

    /* Appends the steps of plan `index` (from 0) to an empty plan that has its wires; `name` says
     * in a few words what it does, and in the letters that a scenario's name may have. */
    enum error_code (*make)(const struct survey *survey, uint64_t seed, uint64_t index,
                            struct plan *plan, char name[STRATEGY_TEXT_BYTES], struct error *error);

    /* What was looked at when all plans of `count` were run: "kills <= 1 over 412 points". */
    void (*bounds)(const struct survey *survey, char text[STRATEGY_TEXT_BYTES]);
};

extern const struct strategy strategy_random, strategy_systematic, strategy_pct, strategy_swarm,
    strategy_skewed, strategy_bursts, strategy_guided, strategy_auto;

/* As `make` of strategy_random, but that one fault is drawn as it is in plan `other`. */
enum error_code strategy_make_varied(const struct survey *survey, uint64_t seed, uint64_t index,
                                     uint64_t other, struct plan *plan,
                                     char name[STRATEGY_TEXT_BYTES], struct error *error);

/* Ends with NULL. */
extern const struct strategy *const strategies[];

/* NULL: there is none of that name. */
const struct strategy *strategy_find(const char *name);

#endif
