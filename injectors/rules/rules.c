/* See rules.h: which steps are looked at, and what the rest of the library calls. */
#include "injectors/rules/rules_parts.h"

struct rules rules;

/* --- which steps concern this rank ------------------------------------------------------------ */
static bool asks_blocked(const struct plan_condition *condition)
{
    for (uint32_t i = 0; i < condition->states; i++)
        if (condition->state[i].blocked[0] != '\0')
            return true;
    return false;
}

static bool waits_for_states(const struct plan_condition *condition)
{
    return condition->event == EVENT_NONE && condition->states > 0;
}

/* What a step does to ranks or asks of them concerns all: that they go on is recorded, what they
 * are blocked in is shown, and that they only poll. */
static bool concerns_all(const struct plan_step *step)
{
    return action_of(step)->keeps == KEEPS_RANKS || asks_blocked(&step->when) ||
           asks_blocked(&step->release) || waits_for_states(&step->when);
}

static bool is_open(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    const struct rule *rule = &rules.rule[step];
    enum action_keeps keeps = action_of(s)->keeps;
    bool done = board_step_done(rules.board, step);
    bool released = atomic_load(&rules.board->progress[step].released) != 0;
    if (!done && ((rule->when.ours && s->when.event != EVENT_NONE) || concerns_all(s)))
        return true;
    if (keeps == KEEPS_NOTHING || (done && released && !(keeps == KEEPS_RANKS && !rule->continued)))
        return false;
    return (rule->release.ours && s->release.event != EVENT_NONE) || concerns_all(s);
}

static void find_open(void)
{
    bool any = false;
    for (uint32_t step = 0; step < rules.plan->count; step++) {
        bool open = is_open(step);
        rules.rule[step].open = open;
        any = any || open;
    }
    runtime_watching = any || runtime_steering || rules_is_doomed();
}

/* --- looking ---------------------------------------------------------------------------------- */
static void look_at_release(uint32_t step, const struct observation *observed)
{
    const struct plan_condition *release = &rules.plan->steps[step].release;
    struct board_step *progress = &rules.board->progress[step];
    if (atomic_load(&progress->released) == 0 &&
        rules_match(release, &rules.rule[step].release, observed) &&
        atomic_fetch_add(&progress->release_count, 1) + 1 == release->nth)
        progress_let_go(rules.board, step, RELEASED_BY_CONDITION);
}

/* Returns whether the step is to be done now. */
static bool look_at_step(uint32_t step, const struct observation *observed)
{
    const struct plan_step *s = &rules.plan->steps[step];
    if (!progress_armed(rules.board, rules.plan, step) ||
        !rules_match(&s->when, &rules.rule[step].when, observed))
        return false;
    uint64_t number = atomic_fetch_add(&rules.board->progress[step].count, 1) + 1;
    if (action_of(s)->by == BY_RULES)
        return number == s->when.nth;
    if (number >= s->when.nth)
        rules_offer(step, observed->record);
    return false;
}

static void look_at_states(struct due_steps *due)
{
    for (uint32_t step = 0; rules.has_states && step < rules.plan->count; step++) {
        const struct plan_condition *when = &rules.plan->steps[step].when;
        if (rules.rule[step].open && waits_for_states(when) && rules.rule[step].when.ours &&
            progress_armed(rules.board, rules.plan, step) &&
            progress_states_hold(rules.board, when, when->rank) &&
            progress_claim(rules.board, step))
            due->step[due->count++] = step;
    }
}

/* Steps are looked at as they were armed when the event came. */
static void look(const struct observation *observed)
{
    struct due_steps due;
    due.count = 0;
    due.record = observed->moment == MOMENT_BEFORE ? observed->record : NULL;
    rules_note_continued();
    for (uint32_t step = 0; step < rules.plan->count; step++) {
        if (!rules.rule[step].open)
            continue;
        if (board_step_done(rules.board, step))
            look_at_release(step, observed);
        else if (look_at_step(step, observed))
            due.step[due.count++] = step;
    }
    due.found = due.count;
    look_at_states(&due);
    if (due.count > 0)
        rules_perform(&due);
    find_open();
}

static void round_of_loop(void)
{
    struct due_steps due;
    due.count = due.found = 0;
    due.record = NULL;
    rules_note_continued();
    look_at_states(&due);
    if (due.count > 0)
        rules_perform(&due);
}

/* --- what the watcher is shown -----------------------------------------------------------------
 */
static struct observation observation_of(struct record *r, enum moment moment)
{
    return (struct observation){.record = r,
                                .kind = atomic_load_explicit(&r->kind, memory_order_relaxed),
                                .moment = moment};
}

static void publish_call(const struct record *r)
{
    if (r->level == LEVEL_APP)
        atomic_store_explicit(&runtime_slot->app_call, r->call, memory_order_relaxed);
    else
        atomic_store_explicit(&runtime_slot->wire_call, r->call, memory_order_relaxed);
}

static void before(struct record *r)
{
    struct observation observed = observation_of(r, MOMENT_BEFORE);
    if (rules.publishes)
        publish_call(r);
    rules_offer_meets(r);
    look(&observed);
}

static void after(struct record *r)
{
    struct observation observed = observation_of(r, MOMENT_AFTER);
    rules_offer_ends(r);
    look(&observed);
}

static void instant(struct record *r, const char *name)
{
    struct observation observed = observation_of(r, MOMENT_INSTANT);
    observed.name = name;
    if (observed.kind == RECORD_FAULT || (r->level == LEVEL_SELF && observed.kind != RECORD_NOTE))
        return;
    rules_offer_meets(r);
    look(&observed);
}

static void storage(struct record *r, enum plan_event event, const char *file, bool is_after)
{
    struct observation observed = observation_of(r, is_after ? MOMENT_AFTER : MOMENT_BEFORE);
    observed.stored = event;
    observed.file = file;
    look(&observed);
}

/* Steps that wait for nothing at the very start of the plan are done by the rank that comes here
 * first, once in a run. */
static void started(void)
{
    struct due_steps due;
    due.count = due.found = 0;
    due.record = NULL;
    for (uint32_t step = 0; step < rules.plan->count; step++)
        if (plan_after(rules.plan, step) < 0 && !board_step_done(rules.board, step) &&
            plan_condition_is_empty(&rules.plan->steps[step].when) &&
            progress_claim(rules.board, step))
            due.step[due.count++] = step;
    rules_perform(&due);
    find_open();
}

static void finished(uint32_t step)
{
    struct due_steps due = {.count = 1, .step = {step}, .record = NULL, .found = 1};
    rules_perform(&due);
}

static const struct watcher by_plan = {.before = before,
                                       .returned = rules_returned,
                                       .after = after,
                                       .instant = instant,
                                       .polled = rules_polled,
                                       .storage = storage,
                                       .started = started,
                                       .round = round_of_loop,
                                       .may_go = rules_may_go,
                                       .finished = finished};

/* --- opening ---------------------------------------------------------------------------------- */
static void know_steps(void)
{
    for (uint32_t step = 0; step < rules.plan->count; step++) {
        const struct plan_step *s = &rules.plan->steps[step];
        struct rule *rule = &rules.rule[step];
        *rule = (struct rule){.open = false};
        rule->continued = !rules_is_victim(s, rules.rank);
        rules_know(&rule->when, &s->when);
        rules_know(&rule->release, &s->release);
        rules.has_states |= waits_for_states(&s->when);
        rules.publishes |= asks_blocked(&s->when) || asks_blocked(&s->release);
        runtime_carrying |= action_steers(s->action);
        runtime_only_delays &= action_of(s)->by != BY_TAPS &&
                               action_of(s)->keeps == KEEPS_NOTHING && !waits_for_states(&s->when);
        runtime_steering |= waits_for_states(&s->when) && asks_blocked(&s->when);
    }
    runtime_steering |= runtime_carrying;
}

static bool asks_within(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].when.within[0] != '\0' || plan->steps[i].release.within[0] != '\0')
            return true;
    return false;
}

void rules_open(const struct plan *plan, struct board *board, int rank, int incarnation,
                const char *run_folder)
{
    rules = (struct rules){.plan = plan,
                           .board = board,
                           .rank = rank,
                           .incarnation = incarnation,
                           .run_folder = run_folder};
    runtime_steering = runtime_carrying = false;
    runtime_only_delays = true;
    if (asks_within(plan))
        rules_within_open(run_folder);
    know_steps();
    watcher = &by_plan;
    find_open();
}

void rules_close(void)
{
    runtime_watching = false;
    runtime_steering = runtime_carrying = false;
}
