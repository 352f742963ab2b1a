/* What runs next: of the parts that are open the one with the fewest runs, so that every place is
 * come to early. Each part has one run at a time. See search.h. */
#include "explore/search.h"

#include "base/memory.h"
#include "jobs/run_folder.h"
#include "run/run.h"
#include "trace/clock.h"
#include "verdict/outcome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_NS UINT64_C(10000000000) /* between two states that are saved */
#define IDLE_CLAIM "I.installed"

/* --- a run begins ----------------------------------------------------------------------------- */

static struct part *choose_part(struct search *search)
{
    struct part *chosen = NULL;
    for (size_t i = 0; i < search->count; i++) {
        struct part *part = &search->part[i];
        if (!part->over && !part->running &&
            (chosen == NULL || part->counts.runs < chosen->counts.runs))
            chosen = part;
    }
    return chosen;
}

static struct slot *free_slot(struct search *search)
{
    int at = 0;
    while (search->slot[at].used)
        at++;
    return &search->slot[at];
}

static enum error_code start(struct search *search, struct part *part, struct error *error)
{
    struct slot *slot = free_slot(search);
    slot->part = (size_t)(part - search->part);
    enum error_code code = path_format(&slot->given, error, "%s/next/%d", search->folder.text,
                                       (int)(slot - search->slot));
    if (code == OK)
        code = path_make_folder(slot->given.text, error);
    if (code != OK)
        return code;
    struct tree_limits limits = exploration_limits(search);
    if (part->tree == NULL)
        part->tree = tree_new(&limits);
    if (!tree_next(part->tree, slot->given.text, error)) {
        if (error->code == OK)
            part_end(part);
        return error->code;
    }
    slot->job = (struct job){.scenario = part->scenario,
                             .number = 1,
                             .leaves_memory = true,
                             .explored = slot->given.text,
                             .reference = search->refers ? &search->reference : NULL};
    code = path_format(&slot->job.folder, error, "%s/%" PRIu64, search->folder.text,
                       ++search->next_folder);
    if (code == OK) /* there may be half a run, of a search that was killed */
        code = path_remove(slot->job.folder.text, error);
    if (code == OK)
        code = pool_start(&search->pool, &slot->job, error);
    slot->used = part->running = code == OK;
    return code;
}

/* --- a run is over ---------------------------------------------------------------------------- */

/* The death that the part adds, the newest step, did not come about: the run is one of the part
 * above. Another step may not have come about because of that death. */
static bool is_idle(const struct part *part, const struct alike *seen)
{
    struct run run;
    struct scenario_list owner = {0};
    if (part->deaths == 0 || seen->verdict != VERDICT_VACUOUS ||
        strstr(seen->fingerprint, IDLE_CLAIM) == NULL)
        return false;
    size_t newest = part->scenario->plan.count - 1;
    bool idle = run_load(seen->folder.text, &run, &owner, NULL) == OK && !run.steps[newest].done;
    run_release(&run);
    scenario_list_release(&owner);
    return idle;
}

static enum error_code take_in(struct search *search, struct part *part, const char *folder,
                               bool *keep, struct error *error)
{
    struct alike seen;
    enum error_code code = outcome_of(folder, &seen, error);
    *keep = search->options.keep;
    if (code != OK)
        return code;
    if (is_idle(part, &seen)) {
        part->idle++;
        return OK;
    }
    if (outcomes_add(&search->outcomes, &seen) && seen.verdict != VERDICT_PASS) {
        search->progress.failed++;
        *keep = true;
    }
    return code;
}

/* Where a death more could be: in the lives after that of the newest one. Each of these, and each
 * kill of the scenario's own plan, ends one. Where others survive there is one life of the job. */
static enum error_code look_for_places(struct search *search, struct part *part, const char *folder,
                                       struct error *error)
{
    int first = part->deaths == 0 ? 0 : part->death.when.incarnation + 1;
    int last = (int)search->scenario->plan.count + part->deaths;
    enum error_code code = OK;
    bool any = false;
    if (search->scenario->survivors)
        first = last = 0;
    if (part->deaths == search->options.crashes)
        return OK;
    for (int life = first; code == OK && life <= last; life++) {
        bool grown;
        code = places_add(&part->places, folder, life, &grown, error);
        any |= grown;
    }
    if (code == OK && any)
        part_add_deaths(search, (size_t)(part - search->part));
    return code;
}

static enum error_code take(struct search *search, struct slot *slot, struct error *error)
{
    struct part *part = &search->part[slot->part];
    bool keep = search->options.keep;
    uint64_t idle = part->idle;
    slot->used = part->running = false;
    enum error_code code = tree_take(part->tree, slot->job.folder.text, error);
    if (code != OK)
        return code;
    part->counts = tree_counts(part->tree);
    search->runs++;
    search->progress.done++;
    if (!tree_was_redundant(part->tree))
        code = take_in(search, part, slot->job.folder.text, &keep, error);
    if (code == OK && part->idle == idle)
        code = look_for_places(search, part, slot->job.folder.text, error);
    if (code == OK)
        code = keep ? run_folder_keep(slot->job.folder.text, error)
                    : run_folder_remove(slot->job.folder.text, error);
    return code;
}

static struct slot *slot_of(struct search *search, const struct job *job)
{
    for (int i = 0; i < search->options.jobs; i++)
        if (&search->slot[i].job == job)
            return &search->slot[i];
    return NULL;
}

/* A run that was cut off is asked for again when the search goes on. */
static enum error_code await_one(struct search *search, struct error *error)
{
    struct job *job = NULL;
    while (job == NULL && search->pool.running > 0) {
        progress_show(&search->progress, search->scenario->name);
        job = pool_wait(&search->pool, search->progress.on ? PROGRESS_PERIOD_MS : -1);
    }
    struct slot *slot = job != NULL ? slot_of(search, job) : NULL;
    if (slot == NULL)
        return OK;
    if (search->pool.interrupted == 0)
        return take(search, slot, error);
    slot->used = search->part[slot->part].running = false;
    return run_folder_remove(job->folder.text, error);
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool is_over(const struct search *search)
{
    return search->pool.interrupted != 0 ||
           (search->deadline_ns != 0 && clock_monotonic_ns() >= search->deadline_ns) ||
           (search->options.runs > 0 &&
            search->runs + (uint64_t)search->pool.running >= (uint64_t)search->options.runs);
}

static enum error_code save_now_and_then(struct search *search, struct error *error)
{
    if (clock_monotonic_ns() - search->saved_ns < SAVE_NS)
        return OK;
    return state_save(search, error);
}

static enum error_code run_all(struct search *search, struct error *error)
{
    enum error_code code = OK;
    for (;;) {
        struct part *part;
        while (code == OK && !is_over(search) && pool_has_room(&search->pool) &&
               (part = choose_part(search)) != NULL)
            code = start(search, part, error);
        if (code != OK || search->pool.running == 0)
            return code;
        code = await_one(search, error);
        if (code == OK)
            code = save_now_and_then(search, error);
    }
}

/* What deaths are compared with. It is made once more where a search goes on. */
static enum error_code refer(struct search *search, struct error *error)
{
    if (search->options.crashes == 0)
        return OK;
    search->refers = true;
    job_refer_to(&search->reference, search->scenario);
    enum error_code code =
        path_format(&search->reference.folder, error, "%s/reference", search->folder.text);
    if (code == OK)
        code = path_remove(search->reference.folder.text, error);
    if (code == OK)
        code = pool_start(&search->pool, &search->reference, error);
    while (code == OK && search->pool.running > 0)
        pool_wait(&search->pool, -1);
    return code;
}

enum error_code exploration_run(struct search *search, struct error *error)
{
    search->slot = memory_new((size_t)search->options.jobs, sizeof *search->slot);
    search->saved_ns = clock_monotonic_ns();
    progress_begin(&search->progress, 0);
    if (search->count == 0)
        part_add(search, 0, NULL);
    enum error_code code = pool_open(&search->pool, &search->options, error);
    if (code == OK)
        code = refer(search, error);
    if (code == OK)
        code = run_all(search, error);
    int interrupted = search->pool.interrupted;
    pool_close(&search->pool);
    search->pool.interrupted = interrupted;
    search->complete = code == OK && exploration_counts(search).open == 0;
    progress_hide(&search->progress);
    struct error inner = {0};
    if (state_save(search, &inner) != OK && code == OK) {
        *error = inner;
        code = inner.code;
    }
    return code;
}
