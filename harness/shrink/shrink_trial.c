/* See shrink_trial.h. How a run is started, judged and cleared away: shrink_attempt.c. */
#include "shrink/shrink_trial.h"

#include "base/memory.h"
#include "jobs/run_folder.h"
#include "script/list.h"
#include "script/lua_text.h"
#include "shrink/shrink_attempt.h"
#include "trace/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATE_FILE "candidate.lua"
#define VOID_MOST 5 /* runs of one scenario that came to nothing; then it is given up */

/* --- trials ----------------------------------------------------------------------------------- */

enum error_code trials_open(struct trials *trials, struct error *error)
{
    progress_begin(&trials->progress, 0);
    return pool_open(&trials->pool, &trials->options, error);
}

static void trial_free(struct trial *trial)
{
    scenario_list_release(&trial->list);
    free(trial->text);
    free(trial);
}

void trials_close(struct trials *trials, const struct trial *keep)
{
    struct path candidate;
    attempts_end(trials);
    pool_close(&trials->pool);
    progress_hide(&trials->progress);
    while (trials->first != NULL) {
        struct trial *trial = trials->first;
        trials->first = trial->next;
        if (trial != keep)
            trial_forget_run(trial);
        trial_free(trial);
    }
    references_release(trials);
    if (path_format(&candidate, NULL, "%s/" CANDIDATE_FILE, trials->folder.text) == OK)
        remove(candidate.text);
}

/* Owned by the caller (free). */
static char *text_of(const struct scenario *scenario)
{
    char *text;
    size_t bytes;
    FILE *out = memory_stream(&text, &bytes);
    (void)scenario_write_lua(out, scenario, NULL, NULL);
    memory_stream_end(out);
    return text;
}

static enum error_code write_text(const char *path, const char *text, struct error *error)
{
    FILE *file = fopen(path, "we");
    bool good = file != NULL && fputs(text, file) >= 0;
    if (file != NULL && fclose(file) != 0)
        good = false;
    return good ? OK : error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
}

/* What is run is what the text says. A scenario that its reader refuses is none. */
static enum error_code load_text(struct trials *trials, struct trial *trial, struct error *error)
{
    struct path path;
    struct error refused = {0};
    struct script_options options = script_options_default;
    options.wire_file = path_wire;
    enum error_code code = path_format(&path, error, "%s/" CANDIDATE_FILE, trials->folder.text);
    if (code == OK)
        code = write_text(path.text, trial->text, error);
    if (code != OK)
        return code;
    code = script_load(path.text, &options, &trial->list, &refused);
    if (code == OK)
        trial->size = plan_size(&trial->list.scenario[0].plan);
    if (code == OK || code == ERROR_USAGE)
        return OK;
    return error_set(error, code, "%s", refused.text);
}

enum error_code trials_find(struct trials *trials, const struct scenario *scenario,
                            struct trial **found, struct error *error)
{
    struct trial **place = &trials->first;
    char *text = text_of(scenario);
    for (; *place != NULL; place = &(*place)->next)
        if (strcmp((*place)->text, text) == 0) {
            free(text);
            *found = *place;
            return OK;
        }
    struct trial *trial = memory_new(1, sizeof *trial);
    trial->text = text;
    scenario_list_init(&trial->list);
    *place = *found = trial;
    return load_text(trials, trial, error);
}

void trial_forget_run(struct trial *trial)
{
    if (trial->shown.text[0] != '\0')
        run_folder_remove(trial->shown.text, NULL);
    trial->shown.text[0] = '\0';
}

const struct scenario *trial_scenario(const struct trial *trial)
{
    return trial->list.count > 0 ? &trial->list.scenario[0] : NULL;
}

struct rate_count trial_count_any(const struct trial *trial)
{
    struct rate_count count = {0, trial->ends[TRIAL_SAME] + trial->ends[TRIAL_UNCLEAN]};
    for (int end = 0; end < TRIAL_ENDS; end++)
        count.runs += end == TRIAL_VOID ? 0 : trial->ends[end];
    return count;
}

struct rate_count trial_count(const struct trials *trials, const struct trial *trial)
{
    struct rate_count count = trial_count_any(trial);
    if (trials->clean)
        count.failures = trial->ends[TRIAL_SAME];
    return count;
}

bool trials_over(const struct trials *trials)
{
    return trials->pool.interrupted != 0 || clock_monotonic_ns() >= trials->deadline_ns;
}

/* Asked before each attempt_start, which starts nothing when all is over. */
static bool may_start(const struct trials *trials)
{
    return pool_has_room(&trials->pool) && !trials_over(trials);
}

/* --- races ------------------------------------------------------------------------------------ */

struct racing {
    struct trials *trials;
    const struct race *race;
    struct trial **trial; /* by number; owned array; NULL: not made yet, or there is none */
    size_t made;
};

static enum rate_verdict judge_trial(const struct racing *racing, const struct trial *trial)
{
    return rate_judge(trial_count(racing->trials, trial), racing->race->demand);
}

static bool is_open(const struct racing *racing, const struct trial *trial)
{
    if (trial == NULL || trial_scenario(trial) == NULL || trial->ends[TRIAL_VOID] >= VOID_MOST)
        return false;
    return judge_trial(racing, trial) == RATE_OPEN;
}

/* Runs after which there is a verdict, whatever they come to. */
static unsigned runs_wanted(const struct racing *racing, const struct trial *trial)
{
    const struct rate_demand *demand = &racing->race->demand;
    unsigned tries = rate_tries(demand->rate);
    bool fails = trial_count(racing->trials, trial).failures > 0;
    return fails && demand->sure > 0 ? demand->sure : tries;
}

/* It has failed, and only has to show that it does so every time: nothing else is so near. */
static bool is_promising(const struct racing *racing, const struct trial *trial)
{
    return racing->race->demand.sure > 0 && trial_count(racing->trials, trial).failures > 0;
}

/* The first that is open and has `running` runs under way at the most. NULL: there is none. */
static enum error_code choose(struct racing *racing, int running, struct trial **chosen,
                              struct error *error)
{
    *chosen = NULL;
    for (size_t i = 0; i < racing->race->count; i++) {
        if (i == racing->made) {
            enum error_code code =
                racing->race->make(racing->race->context, i, &racing->trial[i], error);
            if (code != OK)
                return code;
            racing->made++;
        }
        struct trial *trial = racing->trial[i];
        if (!is_open(racing, trial) || (trial->running > running && !is_promising(racing, trial)))
            continue;
        if (trial->running > 0 &&
            trial_count(racing->trials, trial).runs + (unsigned)trial->running >=
                runs_wanted(racing, trial))
            continue;
        *chosen = trial;
        return OK;
    }
    return OK;
}

/* The first that fails. */
static size_t find_winner(const struct racing *racing)
{
    for (size_t i = 0; i < racing->made; i++)
        if (racing->trial[i] != NULL && judge_trial(racing, racing->trial[i]) == RATE_FAILS)
            return i;
    return racing->race->count;
}

/* Rather one run of the next candidate than a second one of the same at once. */
static enum error_code start_some(struct racing *racing, struct error *error)
{
    enum error_code code = OK;
    struct trial *trial;
    while (code == OK && may_start(racing->trials)) {
        code = choose(racing, 0, &trial, error);
        if (code == OK && trial == NULL)
            code = choose(racing, POOL_MAX_JOBS, &trial, error);
        if (code != OK || trial == NULL)
            return code;
        code = attempt_start(racing->trials, trial, error);
    }
    return code;
}

static enum error_code run_race(struct racing *racing, size_t *winner, struct error *error)
{
    enum error_code code = OK;
    struct trials *trials = racing->trials;
    while (code == OK && (*winner = find_winner(racing)) == racing->race->count &&
           !trials_over(trials)) {
        code = start_some(racing, error);
        if (code == OK && trials->pool.running == 0) {
            *winner = find_winner(racing); /* among those that were tried before */
            break;
        }
        if (code == OK)
            attempts_wait(trials);
    }
    return code;
}

enum error_code trials_race(struct trials *trials, const struct race *race, size_t *winner,
                            struct error *error)
{
    struct racing racing = {trials, race, memory_new(race->count, sizeof *racing.trial), 0};
    *winner = race->count;
    enum error_code code = run_race(&racing, winner, error);
    attempts_end(trials);
    free(racing.trial);
    return code;
}

enum error_code trials_repeat(struct trials *trials, struct trial *trial, unsigned runs,
                              struct error *error)
{
    enum error_code code = OK;
    while (code == OK && trial_count(trials, trial).runs < runs && !trials_over(trials) &&
           trial->ends[TRIAL_VOID] < VOID_MOST) {
        while (code == OK && may_start(trials) &&
               trial_count(trials, trial).runs + (unsigned)trial->running < runs)
            code = attempt_start(trials, trial, error);
        if (code == OK)
            attempts_wait(trials);
    }
    attempts_end(trials);
    return code;
}
