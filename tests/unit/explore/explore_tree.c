/* The search over schedules, on small models of jobs: it finds every outcome that all orders have,
 * in fewer runs; and it says when a run did not do what it was to follow.
 *
 * A model has actors, each with a few operations on a few numbers. Whoever reads a number keeps
 * what it saw: the outcome is all that was seen and all numbers in the end. The model runs on the
 * engine's own account of transitions, in this process. */
#include "engine/core/core.h"
#include "engine/core/parts.h"
#include "engine/core/transition.h"
#include "engine/zygote/choices.h"
#include "engine/zygote/zygote.h"
#include "explore/tree.h"

#include "base/mix.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_ACTORS 3
#define MOST_OPERATIONS 3
#define OBJECTS 2
#define MOST_OUTCOMES 4096
#define MODELS 200

enum operation {
    OPERATION_LOOK,
    OPERATION_ADD,
    OPERATION_WRITE,
    OPERATION_AWAIT,
    OPERATION_POLL,   /* waits until either number has changed since it looked, and looks again */
    OPERATION_EITHER, /* awaits that either number was added to, and sees whether its own was */
    OPERATION_DECIDE
};

struct model {
    int actors;
    struct {
        int count;
        struct {
            enum operation what;
            int object;
        } operation[MOST_OPERATIONS];
    } actor[MOST_ACTORS];
};

struct outcomes {
    size_t count;
    uint64_t outcome[MOST_OUTCOMES];
};

static char folder[] = "/tmp/explore-tree-XXXXXX";

/* --- running a model -------------------------------------------------------------------------- */

struct state {
    int next[MOST_ACTORS];              /* operation */
    bool asked[MOST_ACTORS];            /* a poll waits */
    bool changed[MOST_ACTORS][OBJECTS]; /* since then, by others */
    uint64_t number[OBJECTS];
    int added[OBJECTS];
    uint64_t seen[MOST_ACTORS];
};

/* Awaits that somebody has added to the number, or written it. */
static bool is_enabled(const struct model *model, const struct state *state, int actor)
{
    int next = state->next[actor];
    if (next == model->actor[actor].count)
        return false;
    int object = model->actor[actor].operation[next].object;
    if (model->actor[actor].operation[next].what == OPERATION_EITHER && state->added[!object] > 0)
        return true;
    if (model->actor[actor].operation[next].what == OPERATION_POLL)
        return !state->asked[actor] || state->changed[actor][0] || state->changed[actor][1];
    return model->actor[actor].operation[next].what < OPERATION_AWAIT ||
           model->actor[actor].operation[next].what == OPERATION_DECIDE || state->added[object] > 0;
}

static void change(struct state *state, int actor, int object)
{
    for (int i = 0; i < MOST_ACTORS; i++)
        if (i != actor)
            state->changed[i][object] = true;
}

/* First it looks at both numbers in vain; when it goes on, at its own: as engine/core/asked.c. */
static void poll(struct state *state, int actor, int object)
{
    uint64_t name[OBJECTS];
    bool *changed = state->changed[actor], both = changed[0] && changed[1];
    for (int i = 0; i < OBJECTS; i++)
        name[i] = object_name(OBJECT_FILE, (uint64_t)i, 0, 0);
    for (int i = 0; i < OBJECTS; i++)
        if (!state->asked[actor])
            engine_touch(TOUCH_LOOK, name[i]);
        else
            engine_touch(!changed[i] ? TOUCH_COULD : both ? TOUCH_LOOK : TOUCH_LET, name[i]);
    if (state->asked[actor])
        engine_touch(TOUCH_LOOK, name[object]);
    else
        state->next[actor]--;
    state->seen[actor] = mix_two(state->seen[actor], state->number[object]);
    state->asked[actor] = !state->asked[actor];
    changed[0] = changed[1] = false;
}

static void perform(const struct model *model, struct state *state, int actor)
{
    int next = state->next[actor]++, object = model->actor[actor].operation[next].object;
    uint64_t name = object_name(OBJECT_FILE, (uint64_t)object, 0, 0);
    uint64_t other = object_name(OBJECT_FILE, (uint64_t)!object, 0, 0);
    bool added = state->added[object] > 0;
    switch (model->actor[actor].operation[next].what) {
    case OPERATION_LOOK:
        engine_touch(TOUCH_LOOK, name);
        state->seen[actor] = mix_two(state->seen[actor], state->number[object]);
        break;
    case OPERATION_ADD:
        engine_touch(TOUCH_ADD, name);
        state->number[object] += 1000;
        state->added[object]++;
        change(state, actor, object);
        break;
    case OPERATION_WRITE:
        engine_touch(TOUCH_WRITE, name);
        state->number[object] = mix_two(state->number[object], (uint64_t)actor);
        state->added[object]++;
        change(state, actor, object);
        break;
    case OPERATION_POLL:
        poll(state, actor, object);
        break;
    case OPERATION_AWAIT:
        engine_touch(TOUCH_AFTER, name);
        break;
    case OPERATION_EITHER:
        engine_touch(added ? TOUCH_AFTER : TOUCH_LOOK, name);
        engine_touch(added ? TOUCH_INSTEAD : TOUCH_AFTER, other);
        state->seen[actor] = mix_two(state->seen[actor], added);
        break;
    case OPERATION_DECIDE:
        engine_touch(TOUCH_WRITE, name);
        state->number[object] = mix_two(state->number[object], 7 + engine_decide(DECIDE_WHICH, 2));
        state->added[object]++;
        change(state, actor, object);
        break;
    }
}

static uint64_t outcome_of(const struct state *state)
{
    uint64_t hash = 0;
    for (int i = 0; i < MOST_ACTORS; i++)
        hash = mix_two(hash, state->seen[i]);
    for (int i = 0; i < OBJECTS; i++)
        hash = mix_two(hash, state->number[i]);
    return hash;
}

/* One run by what `folder` says, which is also where it is written down. False: it was cut short.
 */
static bool run(const struct model *model, uint64_t *outcome)
{
    struct state state = {0};
    uint64_t actor[MOST_ACTORS];
    unsigned chosen;
    bool goes_on = true;
    if (!engine_map(model->actors))
        abort();
    engine_self = 0;
    choices_open(0);
    for (;;) {
        unsigned count = 0;
        for (int i = 0; i < model->actors; i++)
            if (is_enabled(model, &state, i))
                actor[count++] = (uint64_t)i;
        if (count == 0 || !(goes_on = transition_choose(actor, count, &chosen)))
            break;
        perform(model, &state, (int)actor[chosen]);
    }
    transitions_write(folder, 0);
    close(engine->events);
    munmap(engine, (size_t)16 << 30);
    engine = NULL;
    *outcome = outcome_of(&state);
    return goes_on;
}

static void note(struct outcomes *outcomes, uint64_t outcome)
{
    for (size_t i = 0; i < outcomes->count; i++)
        if (outcomes->outcome[i] == outcome)
            return;
    if (outcomes->count < MOST_OUTCOMES)
        outcomes->outcome[outcomes->count++] = outcome;
}

/* All runs that the search asks for; returns how many. */
static uint64_t explore(const struct model *model, bool reduce, struct outcomes *outcomes)
{
    struct tree_limits limits = {.reduce = reduce};
    struct tree *tree = tree_new(&limits);
    struct error error = {0};
    uint64_t outcome;
    outcomes->count = 0;
    while (tree_next(tree, folder, &error)) {
        bool whole = run(model, &outcome);
        if (tree_take(tree, folder, &error) != OK || tree_was_redundant(tree) == whole)
            break;
        if (whole)
            note(outcomes, outcome);
    }
    if (error.code != OK)
        printf("# %s\n", error.text);
    uint64_t runs = error.code == OK ? tree_counts(tree).runs : 0;
    tree_release(tree);
    return runs;
}

/* --- models ----------------------------------------------------------------------------------- */

static struct model draw(uint64_t seed)
{
    uint64_t drawn = 0;
    struct model model = {.actors = 2 + (int)(mix_two(seed, drawn++) % 2)};
    for (int i = 0; i < model.actors; i++) {
        model.actor[i].count = 1 + (int)(mix_two(seed, drawn++) % MOST_OPERATIONS);
        for (int k = 0; k < model.actor[i].count; k++) {
            model.actor[i].operation[k].what =
                (enum operation)(mix_two(seed, drawn++) % (OPERATION_DECIDE + 1));
            model.actor[i].operation[k].object = (int)(mix_two(seed, drawn++) % OBJECTS);
        }
    }
    return model;
}

static bool all_in(const struct outcomes *a, const struct outcomes *b)
{
    for (size_t i = 0; i < a->count; i++) {
        bool found = false;
        for (size_t k = 0; k < b->count; k++)
            found |= a->outcome[i] == b->outcome[k];
        if (!found)
            return false;
    }
    return true;
}

static void test_models(void)
{
    static struct outcomes reduced, all;
    uint64_t runs = 0, all_runs = 0, differing = 0, failed = 0;
    for (uint64_t seed = 0; seed < MODELS; seed++) {
        struct model model = draw(seed);
        uint64_t fewer = explore(&model, true, &reduced), every = explore(&model, false, &all);
        failed += fewer == 0 || every == 0;
        if (!all_in(&reduced, &all) || !all_in(&all, &reduced)) {
            printf("# model %d: %zu outcomes of %zu\n", (int)seed, reduced.count, all.count);
            differing++;
        }
        runs += fewer;
        all_runs += every;
    }
    printf("# %d models: %d runs, %d of all orders\n", MODELS, (int)runs, (int)all_runs);
    check(failed == 0, "every model is explored to the end");
    check(differing == 0, "the outcomes are those of all orders");
    check(runs * 3 < all_runs, "in less than a third of the runs");
}

static void test_shapes(void)
{
    static struct outcomes outcomes;
    struct model model = {
        3, {{1, {{OPERATION_WRITE, 0}}}, {1, {{OPERATION_WRITE, 0}}}, {1, {{OPERATION_WRITE, 0}}}}};
    check(explore(&model, true, &outcomes) == 6 && outcomes.count == 6,
          "three who write one number: six runs, six outcomes");
    for (int i = 0; i < 3; i++)
        model.actor[i].operation[0].what = OPERATION_ADD;
    check(explore(&model, true, &outcomes) == 1, "three who add to it: one run");
    model.actor[2].operation[0].what = OPERATION_LOOK;
    check(explore(&model, true, &outcomes) == 4 && outcomes.count == 3,
          "two who add and one who looks: four runs, three outcomes");
    model.actors = 2;
    model.actor[1].operation[0].what = OPERATION_AWAIT;
    check(explore(&model, true, &outcomes) == 1, "who comes after another cannot come before it");
}

/* One who is let go by either of two actors, and does what depends on which came first. */
static void test_instead(void)
{
    static struct outcomes outcomes;
    struct model model = {
        3, {{1, {{OPERATION_ADD, 0}}}, {1, {{OPERATION_EITHER, 0}}}, {1, {{OPERATION_ADD, 1}}}}};
    check(explore(&model, true, &outcomes) > 1 && outcomes.count == 2,
          "who is let go by one thing or instead by another sees both");
}

/* One who waits for any of two, and is let go by the second in no run where the first comes first:
 * what it does then is before what the first has done before. */
static void test_either(void)
{
    static struct outcomes outcomes;
    struct model model = {3,
                          {{2, {{OPERATION_LOOK, 1}, {OPERATION_ADD, 0}}},
                           {2, {{OPERATION_AWAIT, 0}, {OPERATION_WRITE, 1}}},
                           {1, {{OPERATION_ADD, 0}}}}};
    check(explore(&model, true, &outcomes) > 1 && outcomes.count == 2,
          "who waits for either of two may be let go by the one or the other");
}

static void test_strayed(void)
{
    struct model model = {
        2, {{1, {{OPERATION_WRITE, 0}}}, {1, {{OPERATION_WRITE, 0}}}, {0, {{OPERATION_LOOK, 0}}}}};
    struct tree_limits limits = {.reduce = true};
    struct tree *tree = tree_new(&limits);
    struct error error = {0};
    uint64_t outcome;
    bool asked = tree_next(tree, folder, &error) && run(&model, &outcome) &&
                 tree_take(tree, folder, &error) == OK && tree_next(tree, folder, &error);
    model.actor[0].count = 0;
    run(&model, &outcome);
    check(asked && tree_take(tree, folder, &error) == ERROR_FORMAT &&
              strstr(error.text, "not deterministic") != NULL,
          "a run that could do something else than the one before it is told");
    tree_release(tree);
}

int main(void)
{
    char path[64];
    if (mkdtemp(folder) == NULL)
        abort();
    setenv(ENGINE_EXPLORE_ENVIRONMENT, "1", 1);
    setenv(ENGINE_GIVEN_ENVIRONMENT, folder, 1);
    test_shapes();
    test_either();
    test_instead();
    test_models();
    test_strayed();
    static const char *const files[] = {"choices.0", "sleepers.0", "transitions.0"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return done();
}
