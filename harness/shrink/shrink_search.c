/* See shrink_search.h. In this order:
 *   1. The scenario is run until it fails again (confirm).
 *   2. Three guesses: without any step, without the steps that did not happen before the violation,
 *      without those that were not carried out.
 *   3. Steps are left out, many at once at first (delta debugging, Zeller and Hildebrandt 2002:
 *      complements alone), beginning with those that did not happen before the violation. Where no
 *      chunk can be left out, the chunks are halved:
 *
 *          8 steps, of which 3 and 6 are needed:   without 1-4: passes    without 5-8: passes
 *          without 1-2: fails, 6 are left          without 3-4, 5-6: pass  without 7-8: fails
 *          one at a time: without 4 and without 5 it still fails; 3 and 6 are left
 *
 *   4. Single items are left out or lowered (reduce.h), until none can be.
 *   5. The smallest scenario is run VERIFY_RUNS times. If it was to fail every time and passed
 *      once, an earlier best that does fail every time takes its place (go_back), and 4 is done
 *      again.
 *
 * What makes it hard is that a failure need not happen every time. One run that passes does not
 * show that a step is needed, and one that fails does not show that the candidate fails as often as
 * the best. `demand` says what a candidate has to show; trials_race runs the candidates until one
 * satisfies it or none can. The runs of a scenario are kept (trials_find), and count when it
 * is a candidate again.
 *
 * Delta debugging needs at most about n squared candidates for n steps, and about log n times the
 * steps that are needed if those are few. To try every subset would find the smallest; this finds
 * one from which nothing single can be left out. */
#include "shrink/shrink_search.h"

#include "base/memory.h"
#include "script/list.h"
#include "shrink/steps.h"

#include <stdlib.h>
#include <string.h>

#define CONFIRM_RUNS 3       /* of the scenario that was given, to know how often it fails */
#define CONFIRM_RUNS_MOST 20 /* until it fails once; then it is said to fail no more */
#define VERIFY_RUNS 10       /* of the smallest, to say how often it fails */
#define SURE_RUNS 3          /* that fail, of what takes the place of one that fails every time */
#define STEADY_LARGER_MOST 4 /* times, what fails every time may be larger than what does not */
#define EVEN_ODDS 0.5
#define WHAT_BYTES (REDUCTION_TEXT_BYTES + 32)

static void show(struct search *search, const char *what)
{
    snprintf(search->doing, sizeof search->doing, "%zu to %zu: %s", search->original->size,
             search->best->size, what);
    search->trials->doing = search->doing;
}

static void remember(struct search *search, struct trial *trial)
{
    search->past =
        memory_room(search->past, search->past_count, &search->past_room, sizeof(struct trial *));
    search->past[search->past_count++] = trial;
}

static void set_best(struct search *search, struct trial *trial)
{
    struct trials *trials = search->trials;
    if (search->best != trial)
        trial_forget_run(search->best);
    search->best = trial;
    trials->clean |= trial->ends[TRIAL_SAME] > 0;
    search->demand.rate = rate_estimate(trial_count(trials, trial), search->demand.rate);
}

/* From now on this is the best. */
static void accept(struct search *search, struct trial *trial)
{
    if (search->best != trial)
        remember(search, search->best);
    set_best(search, trial);
}

/* --- confirming ------------------------------------------------------------------------------- */

static enum error_code confirm(struct search *search, struct error *error)
{
    struct trial *original = search->original;
    search->best = original;
    show(search, "does it fail again?");
    enum error_code code = trials_repeat(search->trials, original, CONFIRM_RUNS, error);
    for (unsigned runs = CONFIRM_RUNS + 1;
         code == OK && runs <= CONFIRM_RUNS_MOST &&
         trial_count(search->trials, original).failures == 0 && !trials_over(search->trials);
         runs++)
        code = trials_repeat(search->trials, original, runs, error);
    search->demand.rate = EVEN_ODDS;
    if (trial_count(search->trials, original).failures > 0)
        set_best(search, original);
    else if (code == OK && !trials_over(search->trials))
        search->end = SEARCH_NO_FAILURE;
    struct rate_count count = trial_count(search->trials, original);
    search->demand.least = RATE_KEPT_LEAST * search->demand.rate;
    search->demand.sure = count.failures == count.runs ? SURE_RUNS : 0;
    return code;
}

/* --- many steps at once ----------------------------------------------------------------------- */

/* Steps in the order in which they are to be left out, and how many at a time. */
struct chunks {
    struct search *search;
    size_t count;
    size_t order[PLAN_MAX_STEPS];
    size_t length; /* of a chunk */
};

static enum error_code try_without(struct search *search, const bool *drop, struct trial **trial,
                                   struct error *error)
{
    struct scenario scenario;
    scenario_copy(trial_scenario(search->best), &scenario);
    plan_drop(&scenario.plan, drop);
    enum error_code code = trials_find(search->trials, &scenario, trial, error);
    scenario_release(&scenario);
    return code;
}

/* before[] and done[] are by step of the best plan: the entries of the steps that stay move up. */
static void compress(struct search *search, const bool *drop, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        search->before[kept] = search->before[i];
        search->done[kept] = search->done[i];
        kept += !drop[i];
    }
}

/* What was tried without these is the best now. */
static enum error_code leave_out(struct search *search, bool *drop, struct error *error)
{
    struct trial *trial;
    enum error_code code = try_without(search, drop, &trial, error);
    if (code != OK)
        return code;
    const struct plan *plan = &trial_scenario(search->best)->plan;
    plan_drop_also(plan, drop);
    compress(search, drop, plan->count);
    accept(search, trial);
    return OK;
}

/* Guesses at what is not needed: all steps; those not before the violation; those not carried out.
 */
#define GUESSES 3

static void guess(const struct search *search, size_t index, bool *drop)
{
    size_t count = trial_scenario(search->best)->plan.count;
    for (size_t i = 0; i < count; i++)
        drop[i] =
            index == 0 || (index == 1 && !search->before[i]) || (index == 2 && !search->done[i]);
}

static enum error_code make_guess(void *context, size_t index, struct trial **trial,
                                  struct error *error)
{
    bool drop[PLAN_MAX_STEPS] = {false};
    guess(context, index, drop);
    enum error_code code = try_without(context, drop, trial, error);
    if (code == OK && *trial == ((struct search *)context)->best)
        *trial = NULL;
    return code;
}

static enum error_code try_guesses(struct search *search, struct error *error)
{
    size_t winner;
    struct race race = {search, make_guess, GUESSES, search->demand};
    if (trial_scenario(search->best)->plan.count == 0)
        return OK;
    show(search, "without what was not before the violation");
    enum error_code code = trials_race(search->trials, &race, &winner, error);
    if (code != OK || winner == GUESSES)
        return code;
    bool drop[PLAN_MAX_STEPS] = {false};
    guess(search, winner, drop);
    return leave_out(search, drop, error);
}

static void order_steps(struct chunks *chunks)
{
    const struct search *search = chunks->search;
    chunks->count = 0;
    size_t steps = trial_scenario(search->best)->plan.count;
    for (int before = 0; before < 2; before++)
        for (size_t i = 0; i < steps; i++)
            if (search->before[i] == (before == 1))
                chunks->order[chunks->count++] = i;
}

static void mark_chunk(const struct chunks *chunks, size_t index, bool *drop)
{
    for (size_t i = index * chunks->length; i < (index + 1) * chunks->length && i < chunks->count;
         i++)
        drop[chunks->order[i]] = true;
}

static enum error_code make_chunk(void *context, size_t index, struct trial **trial,
                                  struct error *error)
{
    struct chunks *chunks = context;
    bool drop[PLAN_MAX_STEPS] = {false};
    mark_chunk(chunks, index, drop);
    return try_without(chunks->search, drop, trial, error);
}

/* *left: one chunk could be left out. */
static enum error_code try_chunks(struct chunks *chunks, bool *left, struct error *error)
{
    struct search *search = chunks->search;
    size_t winner, count = (chunks->count + chunks->length - 1) / chunks->length;
    struct race race = {chunks, make_chunk, count, search->demand};
    char what[WHAT_BYTES];
    snprintf(what, sizeof what, "%zu of %zu steps left out", chunks->length, chunks->count);
    show(search, what);
    enum error_code code = trials_race(search->trials, &race, &winner, error);
    *left = code == OK && winner < count;
    if (!*left)
        return code;
    bool drop[PLAN_MAX_STEPS] = {false};
    mark_chunk(chunks, winner, drop);
    return leave_out(search, drop, error);
}

static enum error_code leave_out_steps(struct search *search, struct error *error)
{
    struct chunks chunks = {.search = search};
    enum error_code code = try_guesses(search, error);
    order_steps(&chunks);
    chunks.length = (chunks.count + 1) / 2;
    while (code == OK && chunks.length > 0 && chunks.count > 0 && !trials_over(search->trials)) {
        bool left = false;
        code = try_chunks(&chunks, &left, error);
        order_steps(&chunks);
        if (!left)
            chunks.length /= 2;
        else if (chunks.length > (chunks.count + 1) / 2)
            chunks.length = (chunks.count + 1) / 2;
    }
    return code;
}

/* --- single items ----------------------------------------------------------------------------- */

static void items_release(struct search *search)
{
    reductions_release(&search->items);
    free(search->tried);
    search->tried = NULL;
    search->tried_count = 0;
}

static void list_items(struct search *search)
{
    items_release(search);
    reductions_of(trial_scenario(search->best), &search->items);
    search->tried = memory_new(search->items.count, sizeof(struct trial *));
    search->tried_count = search->items.count;
    if (search->from >= search->items.count)
        search->from = 0;
}

/* A reduction of the plan's text is worth while only if the plan gets shorter. */
static bool is_smaller(const struct reduction *item, const struct trial *trial,
                       const struct trial *best)
{
    return trial != best && trial_scenario(trial) != NULL &&
           (reduction_is_around(item) || reduction_is_number(item) || trial->size < best->size);
}

static size_t item_of(const struct search *search, size_t index)
{
    return (search->from + index) % search->items.count;
}

static enum error_code make_item(void *context, size_t index, struct trial **trial,
                                 struct error *error)
{
    struct search *search = context;
    size_t number = item_of(search, index);
    const struct reduction *item = &search->items.list[number];
    struct scenario scenario;
    enum error_code code = OK;
    *trial = NULL;
    char what[WHAT_BYTES];
    snprintf(what, sizeof what, "without %s", item->text);
    show(search, what);
    if (reduction_apply(trial_scenario(search->best), item, &scenario))
        code = trials_find(search->trials, &scenario, trial, error);
    scenario_release(&scenario);
    if (*trial != NULL && !is_smaller(item, *trial, search->best))
        *trial = NULL;
    search->tried[number] = *trial;
    return code;
}

/* Goes round the items until none can be left out. */
static enum error_code leave_out_items(struct search *search, struct error *error)
{
    enum error_code code = OK;
    for (bool left = true; code == OK && left && !trials_over(search->trials);) {
        size_t winner = 0;
        list_items(search);
        struct race race = {search, make_item, search->items.count, search->demand};
        code = trials_race(search->trials, &race, &winner, error);
        left = code == OK && winner < search->items.count;
        if (!left)
            continue;
        search->from = item_of(search, winner);
        accept(search, search->tried[search->from]);
    }
    return code;
}

/* --- what fails every time -------------------------------------------------------------------- */

static enum error_code make_past(void *context, size_t index, struct trial **trial,
                                 struct error *error)
{
    struct search *search = context;
    (void)error;
    *trial = search->past[search->past_count - 1 - index];
    return OK;
}

/* How many of the earlier bests, from the newest on, may take the place of a smaller one that does
 * not fail every time. One that is much larger may not: it would be harder to read than a failure
 * that comes only sometimes. The newest are the smallest. */
static size_t not_much_larger(const struct search *search)
{
    size_t count = 0, most = STEADY_LARGER_MOST * (search->best->size + 1);
    while (count < search->past_count && search->past[search->past_count - 1 - count]->size <= most)
        count++;
    return count;
}

/* The best has passed once. The newest earlier best that fails every time takes its place (*back),
 * and from now on a candidate has to fail VERIFY_RUNS times in a row before it becomes the best.
 * If there is none, candidates need not fail every time any more. */
static enum error_code go_back(struct search *search, bool *back, struct error *error)
{
    size_t winner, count = not_much_larger(search);
    struct rate_demand demand = search->demand;
    *back = false;
    demand.sure = VERIFY_RUNS;
    struct race race = {search, make_past, count, demand};
    show(search, "what was before and fails every time?");
    enum error_code code = trials_race(search->trials, &race, &winner, error);
    if (code != OK || trials_over(search->trials))
        return code;
    if (winner == count) {
        search->demand.sure = 0;
        return OK;
    }
    search->past_count -= winner + 1;
    struct trial *trial = search->past[search->past_count];
    if (trial->shown.text[0] == '\0') /* its run that failed was forgotten: one more, to be shown */
        code = trials_repeat(search->trials, trial, trial_count(search->trials, trial).runs + 1,
                             error);
    set_best(search, trial);
    search->demand.sure = VERIFY_RUNS;
    *back = true;
    return code;
}

/* How often the smallest fails; where it is to fail every time and does not, another is best then.
 */
static enum error_code verify(struct search *search, struct error *error)
{
    bool back = false;
    show(search, "how often does it fail?");
    enum error_code code = trials_repeat(search->trials, search->best, VERIFY_RUNS, error);
    struct rate_count count = trial_count(search->trials, search->best);
    search->demand.rate = rate_estimate(count, EVEN_ODDS);
    if (code == OK && search->demand.sure > 0 && count.failures < count.runs)
        code = go_back(search, &back, error);
    return code;
}

/* Until nothing is open: how often the smallest fails decides how often the others had to be run.
 */
static enum error_code leave_out_all_items(struct search *search, struct error *error)
{
    enum error_code code = OK;
    for (unsigned runs = ~0u;
         code == OK && runs != search->trials->runs && !trials_over(search->trials);) {
        runs = search->trials->runs;
        code = leave_out_items(search, error);
        if (code == OK)
            code = verify(search, error);
    }
    return code;
}

/* --- all -------------------------------------------------------------------------------------- */

/* An item stays open if too few of its runs count: the harness or the machine failed in others. */
static bool all_judged(const struct search *search)
{
    for (size_t i = 0; i < search->tried_count; i++)
        if (search->tried[i] != NULL && search_item(search, i) == RATE_OPEN)
            return false;
    return trial_count(search->trials, search->best).runs >= VERIFY_RUNS;
}

enum error_code search_run(struct search *search, struct error *error)
{
    search->end = SEARCH_STOPPED;
    enum error_code code = confirm(search, error);
    if (code != OK || trials_over(search->trials) || search->end == SEARCH_NO_FAILURE)
        return code;
    code = leave_out_steps(search, error);
    if (code == OK)
        code = leave_out_all_items(search, error);
    if (code == OK && !trials_over(search->trials))
        search->end = all_judged(search) ? SEARCH_COMPLETE : SEARCH_VOID;
    return code;
}

void search_release(struct search *search)
{
    items_release(search);
    free(search->past);
    search->past = NULL;
}

enum rate_verdict search_item(const struct search *search, size_t item)
{
    const struct trial *trial = search->tried[item];
    return trial == NULL ? RATE_OPEN
                         : rate_judge(trial_count(search->trials, trial), search->demand);
}

/* Every run of it passed. */
static bool passes(const struct search *search, size_t item)
{
    const struct trial *trial = search->tried[item];
    return search_item(search, item) == RATE_PASSES &&
           trial->ends[TRIAL_PASSED] == trial_count(search->trials, trial).runs;
}

/* Numbers come last in the list, and of each the least difference. */
size_t search_nearest(const struct search *search, bool *nothing_seen)
{
    *nothing_seen = false;
    for (size_t i = search->tried_count; i > 0; i--)
        if (passes(search, i - 1))
            return i - 1;
    *nothing_seen = true;
    for (size_t i = search->tried_count; i > 0; i--)
        if (search_item(search, i - 1) == RATE_PASSES && search->tried[i - 1]->ends[TRIAL_VACUOUS])
            return i - 1;
    return search->items.count;
}
