/* See shrink_result.h: the files. What is printed: shrink_print.c. */
#include "shrink/shrink_result.h"

#include "base/memory.h"
#include "script/list.h"
#include "script/lua_text.h"
#include "system/difference.h"
#include "system/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define COMMENT_BYTES 4096
#define SHRINK_VERSION 1

/* --- scenarios -------------------------------------------------------------------------------- */

/* The name, with a word after it. Owned by the caller. */
static char *named(const char *name, const char *word)
{
    return memory_format("%.*s, %s", (int)(SCENARIO_NAME_BYTES - strlen(word) - 3), name, word);
}

/* `violates` NULL: nothing is expected. */
static enum error_code write_scenario(const struct trial *trial, const char *word,
                                      const char *violates, const char *comment,
                                      const struct path *path, struct error *error)
{
    struct scenario scenario;
    FILE *out = fopen(path->text, "we");
    if (out == NULL)
        return error_set(error, ERROR_IO, "%s: %s", path->text, strerror(errno));
    scenario_copy(trial_scenario(trial), &scenario);
    char *name = named(scenario.name, word);
    free(scenario.name);
    scenario.name = name;
    scenario.violates = violates != NULL ? memory_text(violates) : NULL;
    enum error_code code = scenario_write_lua(out, &scenario, comment, error);
    if (fclose(out) != 0 && code == OK)
        code = error_set(error, ERROR_IO, "%s: %s", path->text, strerror(errno));
    scenario_release(&scenario);
    return code;
}

static void print_minimality(FILE *out, const struct shrink_result *result)
{
    const struct search *search = result->search;
    size_t seldom = 0, tried = 0;
    for (size_t i = 0; i < search->tried_count; i++) {
        tried += search->tried[i] != NULL;
        seldom += search->tried[i] != NULL && search_item(search, i) == RATE_SELDOM;
    }
    if (result->stopped != NULL)
        fprintf(out, "Not the smallest: %s ended the search.\n", result->stopped);
    else if (seldom > 0)
        fprintf(out,
                "With any single item left out or number lowered it fails no more (%zu of them)\n"
                "or not every time (%zu).\n",
                tried - seldom, seldom);
    else if (tried > 0)
        fprintf(out, "With any single item left out or number lowered it fails no more.\n");
}

static char *comment_of_shrunk(const struct shrink_result *result)
{
    const struct search *search = result->search;
    const struct trials *trials = search->trials;
    const struct claim *claim = claim_find(trials->claim);
    struct rate_count count = trial_count(trials, search->best);
    char *text;
    size_t bytes;
    FILE *out = memory_stream(&text, &bytes);
    fprintf(out, "Violates %s: %s", trials->claim, claim != NULL ? claim->text : "?");
    fprintf(out, " (%s).\n", claim != NULL ? claim->source : "?");
    fprintf(out, "Shrunk from \"%s\" (%s):\n", result->run->scenario->name,
            result->run->shown.text);
    fprintf(out, "Steps %zu to %zu, size %zu to %zu. It failed in %u of %u runs, as\n\"%s\".\n",
            trial_scenario(search->original)->plan.count, trial_scenario(search->best)->plan.count,
            search->original->size, search->best->size, count.failures, count.runs,
            trials->wanted.text);
    print_minimality(out, result);
    if (!result->expects)
        fputs("More than that is violated, or not all of the plan is done: nothing is expected.\n",
              out);
    memory_stream_end(out);
    return text;
}

static enum error_code write_shrunk(struct shrink_result *result, struct error *error)
{
    char *comment = comment_of_shrunk(result);
    enum error_code code = write_scenario(result->search->best, "shrunk",
                                          result->expects ? result->search->trials->claim : NULL,
                                          comment, &result->shrunk, error);
    free(comment);
    return code;
}

static enum error_code write_passing(struct shrink_result *result, struct error *error)
{
    char comment[COMMENT_BYTES];
    const struct search *search = result->search;
    const struct trial *trial = search->tried[result->nearest];
    const struct reduction *item = &search->items.list[result->nearest];
    struct rate_count count = trial_count(search->trials, trial);
    snprintf(comment, sizeof comment, "shrunk.lua %s %s.\n%s in %u of %u runs.",
             reduction_is_number(item) ? "with" : "without", item->text,
             result->nothing_seen ? "Nothing is found, but not all is done or seen," : "Passes",
             count.runs - count.failures, count.runs);
    return write_scenario(trial, "passing", NULL, comment, &result->passing, error);
}

/* --- shrink.json ------------------------------------------------------------------------------ */

static json_t *pack_trial(const struct trial *trial, struct rate_count count)
{
    static const char *const names[TRIAL_ENDS] = {"same",   "unclean", "other",
                                                  "passed", "vacuous", "void"};
    json_t *ends = json_object();
    for (int end = 0; end < TRIAL_ENDS; end++)
        json_object_set_new(ends, names[end], json_integer(trial->ends[end]));
    return json_pack("{s:I, s:I, s:I, s:i, s:i, s:o}", "steps",
                     (json_int_t)trial_scenario(trial)->plan.count, "size", (json_int_t)trial->size,
                     "ranks", (json_int_t)trial_scenario(trial)->ranks, "runs", (int)count.runs,
                     "failures", (int)count.failures, "ends", ends);
}

static json_t *pack_items(const struct search *search)
{
    static const char *const verdicts[] = {[RATE_OPEN] = "open",
                                           [RATE_FAILS] = "fails",
                                           [RATE_SELDOM] = "seldom",
                                           [RATE_PASSES] = "passes"};
    json_t *array = json_array();
    for (size_t i = 0; i < search->tried_count; i++) {
        if (search->tried[i] == NULL)
            continue;
        json_t *entry = pack_trial(search->tried[i], trial_count(search->trials, search->tried[i]));
        json_object_set_new(entry, "item", json_text(search->items.list[i].text));
        json_object_set_new(entry, "verdict", json_string(verdicts[search_item(search, i)]));
        json_array_append_new(array, entry);
    }
    return array;
}

static json_t *pack(const struct shrink_result *result)
{
    const struct search *search = result->search;
    const struct trials *trials = search->trials;
    json_t *root = json_pack(
        "{s:i, s:o, s:o, s:s, s:s, s:b, s:s?, s:b, s:i, s:f, s:o, s:o, s:f, s:o}", "version",
        SHRINK_VERSION, "run", json_text(result->run->shown.text), "name",
        json_text(result->run->scenario->name), "claim", trials->claim, "fingerprint",
        trials->wanted.text, "complete", result->stopped == NULL, "stopped", result->stopped,
        "expects", result->expects, "runs", (int)trials->runs, "seconds", result->seconds, "before",
        pack_trial(search->original, trial_count_any(search->original)), "after",
        pack_trial(search->best, trial_count(trials, search->best)), "miss_most", RATE_MISS_MOST,
        "items", pack_items(search));
    json_object_set_new(root, "shrunk", json_text(result->shrunk.text));
    if (result->confirmation.result != CONFIRMED_NONE)
        json_object_set_new(root, "mpiexec", confirmation_pack(&result->confirmation));
    if (result->nearest < search->items.count)
        json_object_set_new(root, "passing", json_text(result->passing.text));
    if (search->best->shown.text[0] != '\0')
        json_object_set_new(root, "failing_run", json_text(search->best->shown.text));
    if (result->nearest < search->items.count &&
        search->tried[result->nearest]->passed.text[0] != '\0')
        json_object_set_new(root, "passing_run",
                            json_text(search->tried[result->nearest]->passed.text));
    if (result->difference != NULL)
        json_object_set_new(root, "difference", json_text(result->difference));
    return root;
}

static enum error_code write_json(const struct shrink_result *result, struct error *error)
{
    struct path path;
    enum error_code code =
        path_format(&path, error, "%s/shrink.json", result->search->trials->folder.text);
    if (code != OK)
        return code;
    json_t *root = pack(result);
    code = json_store(root, path.text, 2, error);
    json_decref(root);
    return code;
}

/* --- all -------------------------------------------------------------------------------------- */

enum error_code shrink_result_write(struct shrink_result *result, struct error *error)
{
    const struct search *search = result->search;
    const char *folder = search->trials->folder.text;
    result->expects = search->best->ends[TRIAL_SAME] > 0 && search->trials->clean;
    result->nearest = search_nearest(search, &result->nothing_seen);
    enum error_code code = path_format(&result->shrunk, error, "%s/shrunk.lua", folder);
    if (code == OK)
        code = path_format(&result->passing, error, "%s/passing.lua", folder);
    if (code == OK)
        code = write_shrunk(result, error);
    if (code == OK && result->nearest < search->items.count) {
        code = write_passing(result, error);
        if (code == OK)
            code = difference_of(folder, "passing.lua", search->tried[result->nearest]->text,
                                 "shrunk.lua", search->best->text, &result->difference, error);
    }
    return code == OK ? write_json(result, error) : code;
}

void shrink_result_release(struct shrink_result *result)
{
    free(result->difference);
    result->difference = NULL;
}
