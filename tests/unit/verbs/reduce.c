/* What can be made smaller in a scenario: steps taken out and what is armed then, every reduction
 * of many plans, and how often a candidate has to be run. */
#include "scenario_file.h"

#include "script/list.h"
#include "script/lua_text.h"
#include "shrink/rate.h"
#include "shrink/reduce.h"
#include "shrink/steps.h"

#define LINES_BYTES 4096
#define GENERATED "tests/scenarios/every_field.lua"

static enum error_code wire_file(const char *protocol, const char *scenario_file, char *path,
                                 size_t bytes, struct error *error)
{
    (void)scenario_file;
    (void)error;
    snprintf(path, bytes, "suites/protocols/%s/wire.lua", protocol);
    return OK;
}

static bool load(const char *path, struct scenario_list *list)
{
    struct error error = {0};
    struct script_options options = script_options_default;
    options.wire_file = wire_file;
    scenario_list_init(list);
    if (script_load(path, &options, list, &error) == OK)
        return true;
    printf("# %s\n", error.text);
    return false;
}

static bool load_steps(const char *steps, struct scenario_list *list)
{
    char text[LINES_BYTES];
    snprintf(text, sizeof text, PLAN("%s"), steps);
    return load(file_of(text, strlen(text)), list);
}

/* The steps as text, a line each. */
static void print_plan(const struct plan *plan, char text[LINES_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < plan->count && used < LINES_BYTES - 1; i++) {
        used += plan_step_print(&plan->steps[i], text + used, LINES_BYTES - used);
        used += (size_t)snprintf(text + used, LINES_BYTES - used, "\n");
    }
}

static void check_plan(const struct plan *plan, const char *wanted, const char *what)
{
    char text[LINES_BYTES];
    print_plan(plan, text);
    if (!check(strcmp(text, wanted) == 0, "%s", what))
        printf("# got:\n%s\n", text);
}

/* --- steps taken out -------------------------------------------------------------------------- */

/* "x..x": which are taken out. */
static const struct {
    const char *what, *steps, *drop, *left;
} dropped[] = {
    {"who came after one that is gone comes after the one before",
     "p:await { event = 'send' } p:await { event = 'recv' } p:kill { rank = 1 }", ".x.",
     "await event=send\nkill victims=1\n"},
    {"what came after the start still does",
     "p:await { event = 'send' } p:await { event = 'recv', after = 'start' } p:kill { rank = 1 }",
     ".x.", "await event=send\nkill after=start victims=1\n"},
    {"the first needs not say so",
     "p:await { event = 'send' } p:kill { rank = 1, after = 'start' }", "x.", "kill victims=1\n"},
    {"numbers of steps move",
     "p:jitter { ms = 1, seed = 1 } local a = p:await { event = 'send' } p:await { event = 'recv' }"
     " p:kill { rank = 1, after = a }",
     "x...", "await event=send\nawait event=recv\nkill after=1 victims=1\n"},
    {"a release goes with its hold",
     "local h = p:hold { from = 0 } p:await { event = 'recv' } p:release(h) p:kill { rank = 1 }",
     "x...", "await event=recv\nkill victims=1\n"},
    {"a release that is gone leaves the hold",
     "local h = p:hold { from = 0 } p:await { event = 'recv' } p:release(h) p:kill { rank = 1 }",
     "..x.", "hold event=send rank=0\nawait event=recv\nkill victims=1\n"},
    {"all", "p:kill { rank = 0 } p:kill { rank = 1 }", "xx", ""},
    {"none", "p:kill { rank = 0 } p:kill { rank = 1 }", "..", "kill victims=0\nkill victims=1\n"},
};

static void check_dropped(void)
{
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++) {
        struct scenario_list list;
        bool drop[PLAN_MAX_STEPS] = {false};
        if (check(load_steps(dropped[i].steps, &list), "steps %zu load", i)) {
            struct plan *plan = &list.scenario[0].plan;
            for (size_t k = 0; k < plan->count; k++)
                drop[k] = dropped[i].drop[k] == 'x';
            plan_drop(plan, drop);
            check_plan(plan, dropped[i].left, dropped[i].what);
        }
        scenario_list_release(&list);
    }
}

static const struct {
    const char *what, *steps;
    size_t step;
    const char *left; /* NULL: it cannot be done */
} merged[] = {
    {"an await becomes the condition of a kill",
     "p:await { rank = 2, event = 'commit' } p:kill { rank = 1 }", 0,
     "kill victims=1 event=commit rank=2\n"},
    {"not of one that has a condition",
     "p:await { event = 'commit' } p:kill { rank = 1, event = 'send' }", 0, NULL},
    {"not of one that does not come after it",
     "p:await { event = 'commit' } p:kill { rank = 1, after = 'start' }", 0, NULL},
    {"not of nothing", "p:await { event = 'commit' }", 0, NULL},
    {"a release becomes part of its hold",
     "local h = p:hold { from = 0 } p:release(h, { event = 'commit' })", 1,
     "hold event=send rank=0 release.event=commit\n"},
    {"or what it comes after does",
     "local h = p:hold { from = 0 } p:await { event = 'commit' } p:release(h)", 2,
     "hold event=send rank=0 release.event=commit\nawait event=commit\n"},
    {"not of a hold that has one",
     "local h = p:hold { from = 0, release = { event = 'recv' } }"
     " p:release(h, { event = 'commit' })",
     1, NULL},
    {"not without a condition", "local h = p:hold { from = 0 } p:release(h)", 1, NULL},
};

static void check_merged(void)
{
    for (size_t i = 0; i < sizeof merged / sizeof merged[0]; i++) {
        struct scenario_list list;
        char before[LINES_BYTES];
        if (check(load_steps(merged[i].steps, &list), "steps %zu load", i)) {
            struct plan *plan = &list.scenario[0].plan;
            print_plan(plan, before);
            check(plan_merge(plan, merged[i].step) == (merged[i].left != NULL), "%s: said so",
                  merged[i].what);
            check_plan(plan, merged[i].left != NULL ? merged[i].left : before, merged[i].what);
        }
        scenario_list_release(&list);
    }
}

/* --- reductions ------------------------------------------------------------------------------- */

/* What a person would write for a scenario made of everything that can be made smaller. */
static const char whole[] =
    "scenario 'a' { protocol = 'x', program = 'y', ranks = 6, max_incarnations = 3,"
    " arguments = { '-n', 9, '-1' }, environment = { A = 1 },"
    " plan = function(p)"
    " p:hold { from = 0, tag = 7, nth = 4, count = 3, order = { 2, 3, 1 },"
    "          release = { state = { { rank = 1, region = 'beyond', line = 2,"
    "                                 blocked = 'MPI_Recv' },"
    "                               { rank = 2, region = 'before', line = 1 } } } }"
    " p:kill { ranks = { 1, 2 }, at = { event = 'commit', epoch = 2 }, lose = 'node',"
    "          after = 'start' }"
    " end }";

static const char *const found[] = {
    "step 1, hold",
    "step 2, kill",
    "the condition of the release of step 1",
    "state 1 of the release of step 1",
    "region of state 1 of the release of step 1",
    "blocked of state 1 of the release of step 1",
    "state 2 of the release of step 1",
    "field tag of step 1",
    "field nth of step 1",
    "field rank of step 1",
    "field order of step 1",
    "field count of step 1",
    "rank 1 of step 2",
    "rank 2 of step 2",
    "the condition of step 2",
    "field epoch of step 2",
    "field lose of step 2",
    "field after of step 2",
    "environment A=1",
    "max_incarnations",
    "ranks: 6 to 3",
    "ranks: 6 to 5",
    "argument 2: 9 to 1",
    "argument 2: 9 to 5",
    "argument 2: 9 to 7",
    "argument 2: 9 to 8",
    "field nth of step 1: 4 to 1",
    "field nth of step 1: 4 to 3",
    "field count of step 1: 3 to 1",
    "field count of step 1: 3 to 2",
    "line of state 1 of the release of step 1: 2 to 1",
    "field epoch of step 2: 2 to 1",
};

static bool is_listed(const struct reductions *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->list[i].text, text) == 0)
            return true;
    return false;
}

static void check_found(void)
{
    struct scenario_list list;
    struct reductions items = {0};
    if (check(load(file_of(whole, strlen(whole)), &list), "the whole loads")) {
        reductions_of(&list.scenario[0], &items);
        size_t count = sizeof found / sizeof found[0];
        for (size_t i = 0; i < count; i++)
            check(is_listed(&items, found[i]), "there is: %s", found[i]);
        check(items.count == count, "and no more: %zu of %zu", items.count, count);
    }
    reductions_release(&items);
    scenario_list_release(&list);
}

/* Ranks go down only as far as all helpers are there, and a rank of the program. */
static void check_helpers(void)
{
    struct scenario_list list;
    struct reductions items = {0};
    static const char text[] =
        "scenario 'a' { protocol = 'x', program = 'y', ranks = 9, helpers = { 1, 4 } }";
    if (check(load(file_of(text, strlen(text)), &list), "a scenario with helpers loads")) {
        reductions_of(&list.scenario[0], &items);
        check(is_listed(&items, "ranks: 9 to 5") && is_listed(&items, "ranks: 9 to 8"),
              "a rank more than the highest helper is left");
    }
    reductions_release(&items);
    scenario_list_release(&list);
}

static size_t weight(const struct scenario *scenario)
{
    return plan_size(&scenario->plan) + scenario->environment_count +
           (scenario->max_incarnations > 0);
}

/* A delay by so many events of its sender needs longer words without the sender. */
static bool may_grow(const struct reduction *item)
{
    return strncmp(item->text, "field rank", strlen("field rank")) == 0;
}

/* Each gives a plan that holds together, and is not larger. Returns how many there were. */
static size_t check_each(const struct scenario *scenario, size_t *wrong)
{
    struct reductions items;
    struct error error = {0};
    reductions_of(scenario, &items);
    for (size_t i = 0; i < items.count; i++) {
        struct scenario smaller;
        bool changed = reduction_apply(scenario, &items.list[i], &smaller);
        if ((changed && weight(&smaller) > weight(scenario) && !may_grow(&items.list[i])) ||
            plan_check(&smaller.plan, &error) != OK) {
            printf("# %s: %s\n", scenario->name, items.list[i].text);
            ++*wrong;
        }
        scenario_release(&smaller);
    }
    size_t count = items.count;
    reductions_release(&items);
    return count;
}

static void check_generated(void)
{
    struct scenario_list list;
    size_t count = 0, wrong = 0;
    if (check(load(GENERATED, &list), "plans of every kind load"))
        for (size_t i = 0; i < list.count; i++)
            count += check_each(&list.scenario[i], &wrong);
    check(count > 0 && wrong == 0, "%zu reductions of %zu plans, %zu wrong", count, list.count,
          wrong);
    scenario_list_release(&list);
}

/* --- rates ------------------------------------------------------------------------------------ */

static enum rate_verdict judge(struct rate_count count, double rate, double least, unsigned sure)
{
    return rate_judge(count, (struct rate_demand){rate, least, sure});
}

static void check_rates(void)
{
    check(rate_tries(1) == 1, "what always fails is run once");
    check(rate_tries(0.5) == 5, "one half: 5 tries miss it with 1/32");
    check(rate_tries(0.3) == 9, "three tenths: 9");
    check(rate_tries(0) == RATE_TRIES_MOST, "never: there is a limit");
    check(rate_estimate((struct rate_count){3, 3}, 0.5) == 0.8, "3 of 3 by Laplace");
    check(judge((struct rate_count){0, 0}, 0.8, 0.5, 0) == RATE_OPEN, "nothing is known yet");
    check(judge((struct rate_count){1, 1}, 0.8, 0.5, 0) == RATE_FAILS, "one failure is enough");
    check(judge((struct rate_count){1, 0}, 0.8, 0.5, 0) == RATE_OPEN, "one pass is not");
    check(judge((struct rate_count){2, 0}, 0.8, 0.5, 0) == RATE_PASSES, "two are");
    check(judge((struct rate_count){8, 0}, 0.3, 0.2, 0) == RATE_OPEN, "not for one seldom found");
    check(judge((struct rate_count){9, 1}, 0.95, 0.5, 0) == RATE_PASSES,
          "what fails much less often than is asked for is no success");
    check(judge((struct rate_count){3, 1}, 0.5, 0.5, 0) == RATE_OPEN,
          "nor is it where the best is hardly good enough");
    check(judge((struct rate_count){2, 2}, 0.9, 0.5, 3) == RATE_OPEN, "two failures are not sure");
    check(judge((struct rate_count){3, 3}, 0.9, 0.5, 3) == RATE_FAILS, "three are");
    check(judge((struct rate_count){9, 8}, 0.9, 0.5, 3) == RATE_SELDOM,
          "what has passed once is not, however often it fails");
    check(judge((struct rate_count){2, 0}, 0.9, 0.5, 3) == RATE_PASSES, "what never fails passes");
}

int main(void)
{
    if (!check(make_folder(), "a folder"))
        return done();
    check_dropped();
    check_merged();
    check_found();
    check_helpers();
    check_generated();
    check_rates();
    remove_folder();
    return done();
}
