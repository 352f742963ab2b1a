/* What a rank does for an action of the plan (harness/plan/actions.def): a file each in
 * injectors/actions, beginning with one of these. What it has no function for is nothing of its
 * own. A step is an index of the plan from 0 or, where no more is asked, the step itself. */
#ifndef INJECTORS_RULES_INJECTION_H
#define INJECTORS_RULES_INJECTION_H

#include "plan/action.h"

struct injection {
    /* BY_RULES. `r`: the call being entered, or NULL. */

    /* Evidence, and what may be done before the next steps are armed. A step whose evidence is
     * FAULT_AWAITED has it already. */
    void (*begin)(uint32_t step, const struct record *r);
    /* When all evidence is written and the next steps are armed. true: this rank is to die now. */
    bool (*strike)(uint32_t step, struct record *r);
    /* Last of all, when this rank does not die. */
    void (*finish)(uint32_t step);

    /* BY_TAPS, of a step that was matched at a call of the program. */

    /* The call `wire` does what the program's call `app` was matched for, and is none of the
     * protocol's own. */
    bool (*is_the_same)(const struct plan_step *step, const struct record *app,
                        const struct record *wire);
    /* The program's call `r` has given the program what the evidence says. */
    bool (*was_given)(const struct plan_step *step, const struct record *evidence,
                      const struct record *r);

    /* BY_STORE. `call`: enum storage_call; bytes: what is to be written. */

    /* It can be made to do what the step wants; else the step is left to a later call. */
    bool (*fits)(const struct plan_step *step, unsigned call, uint64_t bytes);
    /* What the call fails with: it is not made. */
    int (*error)(const struct plan_step *step);
    /* How many bytes are written. */
    uint64_t (*room)(const struct plan_step *step);
    /* After the call on the file (or folder) with that absolute path, which returned `result`,
     * below 0 where it failed: writes the evidence with rules_stored and returns true; false: it
     * could not be done, the step is left to a later call. May not return. Without it the step is
     * done with the call. */
    bool (*after)(uint32_t step, const char *path, long result);
};

extern const struct injection *const injections[ACTION_COUNT];

static inline bool storage_is_write(unsigned call)
{
    return call == STORAGE_WRITE || call == STORAGE_WRITE_SYNC;
}

static inline const struct injection *injection_of(const struct plan_step *step)
{
    return injections[step->action];
}

#endif
