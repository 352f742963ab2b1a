/* See select.h. */
#include "suite/select.h"

#include "base/memory.h"
#include "base/mix.h"
#include "cli/settings.h"
#include "launch/launcher.h"
#include "launch/preload.h"
#include "oracles/oracle.h"
#include "run/printed.h"
#include "stacks/functions.h"
#include "suite/coverage.h"
#include "system/json_text.h"
#include "system/path.h"
#include "system/status.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- loading ------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int is_scenario_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return is_visible(entry) && dot != NULL && strcmp(dot, ".lua") == 0;
}

typedef enum error_code load_path(const char *path, const struct script_options *how,
                                  struct scenario_list *list, struct error *error);

/* All in the folder that are wanted, in the order of their names. */
static enum error_code load_each(const char *folder, int (*wanted)(const struct dirent *),
                                 load_path *load_one, const struct script_options *how,
                                 struct scenario_list *list, struct error *error)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, wanted, alphasort);
    if (count < 0)
        return error_set(error, ERROR_IO, "%s: %s", folder, strerror(errno));
    size_t length = strlen(folder);
    const char *between = length > 0 && folder[length - 1] == '/' ? "" : "/";
    enum error_code code = OK;
    for (int i = 0; i < count; i++) {
        struct path path;
        if (code == OK)
            code = path_format(&path, error, "%s%s%s", folder, between, entries[i]->d_name);
        if (code == OK)
            code = load_one(path.text, how, list, error);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static enum error_code load_inner(const char *path, const struct script_options *how,
                                  struct scenario_list *list, struct error *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return OK;
    return load_each(path, is_scenario_file, script_load, how, list, error);
}

/* A folder without scenario files may have folders of them: one level down and no further, since
 * runs and what belongs to a protocol lie deeper. */
static enum error_code load_folder(const char *folder, const struct script_options *how,
                                   struct scenario_list *list, struct error *error)
{
    size_t before = list->count;
    enum error_code code = load_each(folder, is_scenario_file, script_load, how, list, error);
    if (code == OK && list->count == before)
        code = load_each(folder, is_visible, load_inner, how, list, error);
    if (code == OK && list->count == before)
        code = error_set(error, ERROR_USAGE, "%s: no scenario is in this folder or its folders",
                         folder);
    return code;
}

static enum error_code load(const char *path, const struct script_options *how,
                            struct scenario_list *list, struct error *error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return error_set(
            error, ERROR_USAGE,
            "%s: %s; a scenario file, a folder of them, or a folder of such folders is "
            "asked for",
            path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return load_folder(path, how, list, error);
    return script_load(path, how, list, error);
}

/* --- choosing ------------------------------------------------------------------------------ */

static bool matches(const struct scenario *scenario, const char *pattern)
{
    if (pattern == NULL)
        return true;
    return strstr(scenario->name, pattern) != NULL || strstr(scenario->file, pattern) != NULL ||
           fnmatch(pattern, scenario->name, 0) == 0 || fnmatch(pattern, scenario->file, 0) == 0;
}

static bool in_results(const json_t *results, const struct scenario *scenario)
{
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *one = json_array_get(results, i);
        char *file = json_text_value(json_object_get(one, "file"));
        const char *name = json_string_value(json_object_get(one, "name"));
        bool failed = json_integer_value(json_object_get(one, "status")) != STATUS_PASS;
        bool found = failed && file != NULL && name != NULL && strcmp(file, scenario->file) == 0 &&
                     strcmp(name, scenario->name) == 0;
        free(file);
        if (found)
            return true;
    }
    return false;
}

static void keep(struct selection *selection, const struct options *options)
{
    size_t kept = 0;
    for (size_t i = 0; i < selection->count; i++)
        if (matches(selection->chosen[i], options->filter))
            selection->chosen[kept++] = selection->chosen[i];
    selection->count = kept;
}

/* What did not pass the last time; everything, when all did. */
static enum error_code keep_failed(struct selection *selection, const char *out,
                                   struct error *error)
{
    struct path path;
    struct error why = {0};
    json_t *results;
    enum error_code code = path_format(&path, error, "%s/latest/results.json", out);
    if (code != OK)
        return code;
    if (json_fetch(path.text, &results, &why) != OK)
        return error_set(error, ERROR_USAGE, "--last-failed: %s", why.text);
    size_t kept = 0;
    for (size_t i = 0; i < selection->count; i++)
        if (in_results(results, selection->chosen[i])) {
            struct scenario *moved = selection->chosen[kept];
            selection->chosen[kept++] = selection->chosen[i];
            selection->chosen[i] = moved;
        }
    selection->none_failed = kept == 0;
    if (kept > 0)
        selection->count = kept;
    json_decref(results);
    return OK;
}

static void shuffle(struct selection *selection, uint64_t seed)
{
    uint64_t number = 0;
    for (size_t i = selection->count; i > 1; i--) {
        size_t other = (size_t)(mix_two(seed, number++) % i);
        struct scenario *moved = selection->chosen[i - 1];
        selection->chosen[i - 1] = selection->chosen[other];
        selection->chosen[other] = moved;
    }
}

static void keep_shard(struct selection *selection, const struct options *options)
{
    size_t kept = 0;
    if (options->shards == 0)
        return;
    for (size_t i = 0; i < selection->count; i++)
        if (i % (size_t)options->shards == (size_t)(options->shard - 1))
            selection->chosen[kept++] = selection->chosen[i];
    selection->count = kept;
}

static enum error_code choose(struct selection *selection, const struct options *options,
                              struct error *error)
{
    struct scenario_list *list = &selection->list;
    selection->chosen = memory_new(list->count, sizeof(struct scenario *));
    for (size_t i = 0; i < list->count; i++)
        selection->chosen[selection->count++] = &list->scenario[i];
    keep(selection, options);
    enum error_code code = options->last_failed ? keep_failed(selection, options->out, error) : OK;
    keep_shard(selection, options);
    if (options->shuffle)
        shuffle(selection, options->seed);
    return code;
}

/* What the command line says of the engine holds for all. */
static void set_engine(struct scenario_list *list, const char *engine)
{
    for (size_t i = 0; i < list->count; i++)
        scenario_set_engine(&list->scenario[i], engine);
}

/* With Open MPI it is the library that reports deaths. */
static enum error_code check_detection(const struct scenario *scenario,
                                       const struct launcher *launcher, struct error *error)
{
    const struct plan *plan = &scenario->plan;
    for (unsigned i = 0; launcher->survivors && scenario->engine == NULL && i < plan->count; i++)
        if (plan->steps[i].action == ACTION_DETECT)
            return error_set(
                error, ERROR_USAGE,
                "%s:%d: scenario \"%s\": step %u: \"detect\" is for engine = \"step\" and "
                "MPICH's mpiexec; here the MPI library tells who has died",
                scenario->file, scenario->line, scenario->name, i + 1);
    return OK;
}

/* With some launchers a death ends the job. */
static enum error_code check_survivors(const struct scenario_list *list, struct error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct scenario *scenario = &list->scenario[i];
        const struct launcher *launcher = launcher_of(scenario->engine);
        if (scenario->survivors && !launcher->survivors && !launcher->hides_deaths)
            return error_set(error, ERROR_USAGE,
                             "%s:%d: scenario \"%s\": \"survivors\" is for engine = \"step\", for "
                             "MPICH's mpiexec, and for Open MPI 5; under %s a death ends the job",
                             scenario->file, scenario->line, scenario->name, launcher->product);
        enum error_code code = check_detection(scenario, launcher, error);
        if (code != OK)
            return code;
    }
    return OK;
}

enum error_code select_scenarios(const struct options *options, struct selection *selection,
                                 struct error *error)
{
    memset(selection, 0, sizeof *selection);
    scenario_list_init(&selection->list);
    struct script_options how = script_options_default;
    how.seed = options->seed;
    how.ranks = options->ranks;
    how.wire_file = path_wire;
    how.all_wires = options->all_wires;
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < options->path_count; i++)
        code = load(options->path[i], &how, &selection->list, error);
    if (code == OK && options->engine != NULL)
        set_engine(&selection->list, options->engine);
    if (code == OK)
        code = check_survivors(&selection->list, error);
    return code != OK ? code : choose(selection, options, error);
}

void selection_release(struct selection *selection)
{
    free(selection->chosen);
    selection->chosen = NULL;
    selection->count = 0;
    scenario_list_release(&selection->list);
}

/* --- checking ------------------------------------------------------------------------------ */

/* What is promised must be judged. */
static enum error_code check_promised(const struct scenario *scenario, const char *id,
                                      struct error *error)
{
    const struct claim *claim = claim_find(id);
    enum error_code code = claim_check_name(id, error);
    if (claim != NULL &&
        claim_is_taken_back(claim, (const char *const *)scenario->claim, scenario->claim_count))
        code = error_set(error, ERROR_USAGE, "\"claims\" takes back %s, which is promised", id);
    return code;
}

static enum error_code check_claims(const struct scenario *scenario, struct error *error)
{
    enum error_code code =
        claims_check((const char *const *)scenario->claim, scenario->claim_count, error);
    for (size_t i = 0; code == OK && i < scenario->cover_count; i++)
        code = check_promised(scenario, scenario->cover[i], error);
    if (code == OK && scenario->violates != NULL)
        code = check_promised(scenario, scenario->violates, error);
    return code;
}

static enum error_code check_result(const struct scenario *scenario, struct error *error)
{
    if (scenario->result != NULL &&
        !claim_is_asked(claim_find("H.result"), (const char *const *)scenario->claim,
                        scenario->claim_count))
        return error_set(error, ERROR_USAGE,
                         "\"result\" is judged by H.result, which \"claims\" does not ask for");
    return scenario->result != NULL ? printed_check(scenario->result, error) : OK;
}

static enum error_code check_scenario(const struct scenario *scenario, struct error *error)
{
    struct path protocol, program;
    enum error_code code = path_protocol(scenario->protocol, scenario->file, &protocol, error);
    if (code == OK)
        code = preload_check(&protocol, error);
    if (code == OK)
        code = path_program(scenario->program, scenario->file, &program, error);
    if (code == OK)
        code = functions_check(&scenario->plan, (const char *const[]){program.text, protocol.text},
                               2, error);
    for (size_t i = 0; code == OK && i < scenario->environment_count; i++)
        code = settings_check_one(scenario->environment[i], error);
    for (size_t i = 0; code == OK && i < scenario->restart_environment_count; i++)
        code = settings_check_one(scenario->restart_environment[i], error);
    if (code == OK)
        code = check_claims(scenario, error);
    return code != OK ? code : check_result(scenario, error);
}

int select_check(const struct selection *selection)
{
    struct path path;
    struct error error = {0};
    if (settings_check(&error) != OK)
        return (int)status_of_error(&error);
    if (settings_record_nothing()) {
        error_set(&error, ERROR_USAGE,
                  "FAULTLINE_RECORD=0: nothing would be recorded, and nothing could be judged");
        return (int)status_of_error(&error);
    }
    int status = STATUS_PASS;
    for (size_t i = 0; i < selection->list.covered_count; i++) {
        const struct covered *covered = &selection->list.covered[i];
        if (covered_check(covered, &error) == OK)
            continue;
        fprintf(stderr, "faultline: %s:%d: cover: %s\n", covered->file, covered->line, error.text);
        status = STATUS_USAGE;
    }
    for (size_t i = 0; i < selection->count; i++) {
        const struct scenario *scenario = selection->chosen[i];
        if (check_scenario(scenario, &error) == OK)
            continue;
        fprintf(stderr, "faultline: %s:%d: scenario \"%s\": %s\n", scenario->file, scenario->line,
                scenario->name, error.text);
        status = STATUS_USAGE;
    }
    for (size_t i = 0; status == STATUS_PASS && i < selection->count; i++) {
        const struct launcher *launcher = launcher_of(selection->chosen[i]->engine);
        if (launcher->find(launcher, &path, &error) != OK)
            status = (int)status_of_error(&error);
    }
    if (status == STATUS_PASS &&
        (path_rank_parent(&path, &error) != OK || path_library(&path, &error) != OK ||
         preload_check(&path, &error) != OK))
        status = (int)status_of_error(&error);
    return status;
}

/* --- results ------------------------------------------------------------------------------- */

enum error_code select_store_results(const char *folder, const struct selection_result *results,
                                     size_t count, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/results.json", folder);
    if (code != OK)
        return code;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            array, json_pack("{s:o, s:s, s:i}", "file", json_text(results[i].scenario->file),
                             "name", results[i].scenario->name, "status", results[i].status));
    code = json_store(array, path.text, 1, error);
    json_decref(array);
    return code;
}
