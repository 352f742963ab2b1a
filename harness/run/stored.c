/* run.json: the facts of a run on disk, written by `run` and read by `check`; see run.h. The plan
 * is not in it: that is the file `plan` beside it. */
#include "base/memory.h"
#include "board/nodes.h"
#include "board/stores.h"
#include "launch/launcher.h"
#include "run/run.h"
#include "system/json_text.h"
#include "system/status.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define STORED_VERSION 2
#define NUMBER_TEXT_BYTES 32

static const char *const end_names[] = {
#define X(name, text) text,
    RUN_ENDS(X)
#undef X
};

/* --- writing ------------------------------------------------------------------------------- */

/* 64 bits whole: a JSON number is signed, and some readers make a double of it. */
static json_t *pack_number(uint64_t number)
{
    char text[NUMBER_TEXT_BYTES];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return json_string(text);
}

/* NULL where nothing is said. */
static json_t *pack_restart(const struct scenario *scenario)
{
    if (scenario->restart_ranks == 0 && !scenario->restart_has_arguments &&
        scenario->restart_environment_count == 0)
        return NULL;
    return json_pack(
        "{s:o*, s:o*, s:o}", "ranks",
        scenario->restart_ranks > 0 ? json_integer(scenario->restart_ranks) : NULL, "arguments",
        scenario->restart_has_arguments
            ? json_texts(scenario->restart_argument, scenario->restart_argument_count)
            : NULL,
        "environment",
        json_texts(scenario->restart_environment, scenario->restart_environment_count));
}

static json_t *pack_scenario(const struct run *run)
{
    const struct scenario *scenario = run->scenario;
    return json_pack(
        "{s:s, s:o, s:i, s:o, s:o, s:o, s:o, s:i, s:o, s:o?, s:o, s:i, s:i, s:o*, s:s*, s:o*, "
        "s:s*, s:s*, s:b, s:s*, s:s*, s:o, s:o, s:o*}",
        "name", scenario->name, "file", json_text(scenario->file), "line", scenario->line,
        "protocol", json_text(scenario->protocol), "program", json_text(scenario->program),
        "arguments", json_texts(scenario->argument, scenario->argument_count), "environment",
        json_texts(scenario->environment, scenario->environment_count), "ranks", scenario->ranks,
        "claims", json_texts(scenario->claim, scenario->claim_count), "violates",
        json_text(scenario->violates), "cover", json_texts(scenario->cover, scenario->cover_count),
        "max_incarnations", scenario->max_incarnations, "reserve", scenario->reserve, "library",
        json_text(scenario->library), "helpers", scenario->helpers, "result",
        json_text(scenario->result), "engine", scenario->engine, "policy", scenario->policy,
        "survivors", scenario->survivors, "nodes", scenario->nodes, "stores", scenario->stores,
        "files", json_texts(scenario->files, scenario->file_count), "setup",
        json_texts(scenario->setup, scenario->setup_count), "restart", pack_restart(scenario));
}

static json_t *pack_ends(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->rank_end_count; i++) {
        const struct rank_end *end = &run->rank_ends[i];
        json_array_append_new(array, json_pack("{s:i, s:i, s:b, s:i, s:b, s:b, s:b, s:b}", "rank",
                                               end->rank, "incarnation", end->incarnation, "known",
                                               end->known, "wait_status", end->wait_status,
                                               "finalized", end->finalized, "aborted", end->aborted,
                                               "by_itself", end->by_itself, "first", end->first));
    }
    return array;
}

static json_t *pack_references(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->reference_count; i++) {
        const struct reference_result *result = &run->references[i];
        json_array_append_new(array, json_pack("{s:i, s:o, s:b, s:o, s:o}", "rank", result->rank,
                                               "name", json_text(result->name), "near",
                                               result->near, "bytes", pack_number(result->bytes),
                                               "hash", pack_number(result->hash)));
    }
    return array;
}

static json_t *pack_steps(const struct run *run)
{
    json_t *array = json_array();
    for (size_t i = 0; i < run->scenario->plan.count && i < PLAN_MAX_STEPS; i++) {
        const struct step_fact *step = &run->steps[i];
        json_array_append_new(array,
                              json_pack("{s:b, s:i, s:i, s:I, s:i}", "done", step->done, "rank",
                                        step->rank, "incarnation", step->incarnation, "taken",
                                        (json_int_t)step->taken, "released_by", step->released_by));
    }
    return array;
}

/* null: not known. */
static json_t *pack_unreceived(const struct run *run)
{
    if (!run->unreceived_known)
        return json_null();
    json_t *array = json_array();
    for (size_t i = 0; i < run->unreceived_count; i++) {
        const struct unreceived *channel = &run->unreceived[i];
        json_array_append_new(
            array, json_pack("{s:o, s:i, s:i, s:i, s:o}", "comm", pack_number(channel->comm),
                             "source", channel->source, "destination", channel->destination, "tag",
                             channel->tag, "messages", pack_number(channel->messages)));
    }
    return array;
}

static json_t *pack_run(const struct run *run)
{
    struct utsname machine = {0};
    struct path command = {""};
    const struct launcher *launcher = launcher_of(run->scenario->engine);
    uname(&machine);
    launcher->find(launcher, &command, NULL);
    return json_pack(
        "{s:i, s:{s:s, s:s, s:o}, s:i, s:o, s:f, s:f, s:o, s:s, s:o, s:i, s:o, s:o, "
        "s:o, s:o, s:o, s:b, s:i, s:i}",
        "version", STORED_VERSION, "versions", "faultline", FAULTLINE_VERSION, "kernel",
        machine.release, "launcher", json_text(command.text), "number", run->number, "seed",
        pack_number(run->seed), "timeout_s", run->timeout_s, "seconds", run->seconds, "scenario",
        pack_scenario(run), "end", end_names[run->end], "end_text", json_text(run->end_text),
        "incarnations", run->incarnations, "steps", pack_steps(run), "rank_ends", pack_ends(run),
        "references", pack_references(run), "unreceived", pack_unreceived(run), "reference_text",
        json_text(run->reference_text), "reference_failed", run->reference_failed,
        "store_path_bytes", run->store_bytes, "trace_limit_mb", run->trace_mb);
}

enum error_code run_store(const struct run *run, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/run.json", run->folder.text);
    if (code != OK)
        return code;
    json_t *root = pack_run(run);
    code = json_store(root, path.text, 2, error);
    json_decref(root);
    return code;
}

/* --- reading ------------------------------------------------------------------------------- */

static enum error_code bad(const char *field, const char *expected, struct error *error)
{
    return error_set(error, ERROR_FORMAT, "field \"%s\" is missing or not %s", field, expected);
}

static enum error_code take_string(const json_t *object, const char *field, bool optional,
                                   char **string, struct error *error)
{
    const json_t *value = json_object_get(object, field);
    if (optional && (value == NULL || json_is_null(value)))
        return OK;
    if (!json_is_string(value))
        return bad(field, "a string", error);
    *string = json_text_value(value);
    return OK;
}

static enum error_code take_text(const json_t *object, const char *field, char *text, size_t bytes,
                                 struct error *error)
{
    char *value = json_text_value(json_object_get(object, field));
    if (value == NULL)
        return bad(field, "a string", error);
    snprintf(text, bytes, "%s", value);
    free(value);
    return OK;
}

static enum error_code take_int(const json_t *object, const char *field, int least, int most,
                                int *number, struct error *error)
{
    const json_t *value = json_object_get(object, field);
    json_int_t wide = json_integer_value(value);
    if (!json_is_integer(value) || wide < least || wide > most)
        return error_set(error, ERROR_FORMAT, "field \"%s\" is not a number from %d to %d", field,
                         least, most);
    *number = (int)wide;
    return OK;
}

static enum error_code take_real(const json_t *object, const char *field, double *number,
                                 struct error *error)
{
    const json_t *value = json_object_get(object, field);
    if (!json_is_number(value) || json_number_value(value) < 0)
        return bad(field, "a number from 0", error);
    *number = json_number_value(value);
    return OK;
}

static enum error_code take_number(const json_t *object, const char *field, uint64_t *number,
                                   struct error *error)
{
    const char *text = json_string_value(json_object_get(object, field));
    char *end;
    errno = 0;
    *number = text != NULL ? strtoull(text, &end, 10) : 0;
    if (text == NULL || end == text || *end != '\0' || errno != 0)
        return bad(field, "a decimal number in quotes", error);
    return OK;
}

static enum error_code take_bool(const json_t *object, const char *field, bool *truth,
                                 struct error *error)
{
    const json_t *value = json_object_get(object, field);
    if (!json_is_boolean(value))
        return bad(field, "true or false", error);
    *truth = json_is_true(value);
    return OK;
}

/* *count grows with each string taken, so that what there is can be released after an error. */
static enum error_code take_strings(const json_t *object, const char *field, size_t most,
                                    char ***strings, size_t *count, struct error *error)
{
    const json_t *array = json_object_get(object, field);
    size_t size = json_array_size(array);
    if (!json_is_array(array) || size > most)
        return bad(field, "a list of strings", error);
    *strings = memory_new(size, sizeof **strings);
    for (size_t i = 0; i < size; i++) {
        (*strings)[i] = json_text_value(json_array_get(array, i));
        if ((*strings)[i] == NULL)
            return bad(field, "a list of strings", error);
        *count = i + 1;
    }
    return OK;
}

/* The folder of a run is whoever's packed it: files must not get outside, nor be without number. */
static enum error_code check_places(const struct scenario *scenario, struct error *error)
{
    for (size_t i = 0; i < scenario->file_count; i++) {
        size_t length = strcspn(scenario->files[i], "=");
        if (length == 0 || scenario->files[i][length] == '\0' || scenario->files[i][0] == '.' ||
            memchr(scenario->files[i], '/', length) != NULL)
            return bad("files", "a list of \"NAME=text\", each a file", error);
    }
    if (scenario->file_count > SCENARIO_MAX_FILES ||
        node_count(scenario->nodes) > scenario_most_ranks(scenario))
        return bad("nodes", "a map of ranks, or there are too many files", error);
    if (!stores_are_valid(scenario->stores))
        return bad("stores", "a list such as \"global,node/ram\"", error);
    return OK;
}

/* TRY: the usual step of a long list of things that each may fail. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum error_code try_code = (call);                                                         \
        if (try_code != OK)                                                                        \
            return try_code;                                                                       \
    } while (0)

#define STRINGS_MAX 4096

static enum error_code take_restart(const json_t *object, struct scenario *scenario,
                                    struct error *error)
{
    if (object == NULL)
        return OK;
    if (json_object_get(object, "ranks") != NULL)
        TRY(take_int(object, "ranks", 1, SCENARIO_MAX_RANKS, &scenario->restart_ranks, error));
    scenario->restart_has_arguments = json_object_get(object, "arguments") != NULL;
    if (scenario->restart_has_arguments)
        TRY(take_strings(object, "arguments", SCENARIO_MAX_ARGUMENTS, &scenario->restart_argument,
                         &scenario->restart_argument_count, error));
    return take_strings(object, "environment", SCENARIO_MAX_ENVIRONMENT,
                        &scenario->restart_environment, &scenario->restart_environment_count,
                        error);
}

static enum error_code take_scenario(const json_t *object, struct scenario *scenario,
                                     struct error *error)
{
    if (!json_is_object(object))
        return bad("scenario", "an object", error);
    TRY(take_string(object, "name", false, &scenario->name, error));
    TRY(take_string(object, "file", false, &scenario->file, error));
    TRY(take_int(object, "line", 0, INT_MAX, &scenario->line, error));
    TRY(take_string(object, "protocol", false, &scenario->protocol, error));
    TRY(take_string(object, "program", false, &scenario->program, error));
    TRY(take_string(object, "violates", true, &scenario->violates, error));
    TRY(take_int(object, "ranks", 1, SCENARIO_MAX_RANKS, &scenario->ranks, error));
    TRY(take_int(object, "max_incarnations", 0, INT_MAX, &scenario->max_incarnations, error));
    if (json_object_get(object, "reserve") != NULL) /* runs from before it have none */
        TRY(take_int(object, "reserve", 0, scenario->ranks - 1, &scenario->reserve, error));
    TRY(take_string(object, "library", true, &scenario->library, error));
    TRY(take_string(object, "helpers", true, &scenario->helpers, error));
    TRY(take_string(object, "nodes", true, &scenario->nodes, error));
    TRY(take_string(object, "stores", true, &scenario->stores, error));
    if (json_object_get(object, "files") != NULL) /* runs from before them have none */
        TRY(take_strings(object, "files", STRINGS_MAX, &scenario->files, &scenario->file_count,
                         error));
    if (json_object_get(object, "setup") != NULL)
        TRY(take_strings(object, "setup", SCENARIO_MAX_ARGUMENTS, &scenario->setup,
                         &scenario->setup_count, error));
    TRY(take_restart(json_object_get(object, "restart"), scenario, error));
    TRY(check_places(scenario, error));
    TRY(take_string(object, "result", true, &scenario->result, error));
    TRY(take_string(object, "engine", true, &scenario->engine, error));
    TRY(take_string(object, "policy", true, &scenario->policy, error));
    scenario->survivors = json_is_true(json_object_get(object, "survivors"));
    TRY(take_strings(object, "arguments", STRINGS_MAX, &scenario->argument,
                     &scenario->argument_count, error));
    TRY(take_strings(object, "environment", STRINGS_MAX, &scenario->environment,
                     &scenario->environment_count, error));
    TRY(take_strings(object, "claims", STRINGS_MAX, &scenario->claim, &scenario->claim_count,
                     error));
    return take_strings(object, "cover", STRINGS_MAX, &scenario->cover, &scenario->cover_count,
                        error);
}

static enum error_code take_end(const json_t *object, int incarnations, struct rank_end *end,
                                struct error *error)
{
    TRY(take_int(object, "rank", 0, BOARD_MAX_RANKS - 1, &end->rank, error));
    TRY(take_int(object, "incarnation", 0, incarnations - 1, &end->incarnation, error));
    TRY(take_bool(object, "known", &end->known, error));
    TRY(take_int(object, "wait_status", INT_MIN, INT_MAX, &end->wait_status, error));
    end->aborted = json_is_true(json_object_get(object, "aborted"));
    end->by_itself = json_is_true(json_object_get(object, "by_itself"));
    end->first = json_is_true(json_object_get(object, "first"));
    return take_bool(object, "finalized", &end->finalized, error);
}

static enum error_code take_ends(const json_t *root, struct run *run, struct error *error)
{
    const json_t *array = json_object_get(root, "rank_ends");
    if (!json_is_array(array))
        return bad("rank_ends", "a list", error);
    size_t size = json_array_size(array);
    run->rank_ends = memory_new(size, sizeof *run->rank_ends);
    for (; run->rank_end_count < size; run->rank_end_count++)
        TRY(take_end(json_array_get(array, run->rank_end_count), run->incarnations,
                     &run->rank_ends[run->rank_end_count], error));
    return OK;
}

static enum error_code take_step(const json_t *object, struct step_fact *step, struct error *error)
{
    if (!json_is_object(object))
        return bad("steps", "a list with an object for each step of the plan", error);
    TRY(take_bool(object, "done", &step->done, error));
    TRY(take_int(object, "rank", -1, INT_MAX, &step->rank, error));
    TRY(take_int(object, "incarnation", -1, INT_MAX, &step->incarnation, error));
    TRY(take_int(object, "released_by", 0, INT_MAX, &step->released_by, error));
    step->taken = (uint64_t)json_integer_value(json_object_get(object, "taken"));
    return OK;
}

static enum error_code take_steps(const json_t *root, struct run *run, struct error *error)
{
    const json_t *array = json_object_get(root, "steps");
    if (!json_is_array(array) || json_array_size(array) > PLAN_MAX_STEPS)
        return bad("steps", "a list", error);
    for (size_t i = 0; i < json_array_size(array); i++)
        TRY(take_step(json_array_get(array, i), &run->steps[i], error));
    return OK;
}

static enum error_code take_references(const json_t *root, struct run *run, struct error *error)
{
    const json_t *array = json_object_get(root, "references");
    if (!json_is_array(array))
        return bad("references", "a list", error);
    size_t size = json_array_size(array);
    run->references = memory_new(size, sizeof *run->references);
    for (; run->reference_count < size; run->reference_count++) {
        const json_t *object = json_array_get(array, run->reference_count);
        struct reference_result *result = &run->references[run->reference_count];
        TRY(take_int(object, "rank", 0, run->scenario->ranks - 1, &result->rank, error));
        TRY(take_text(object, "name", result->name, sizeof result->name, error));
        result->near = json_is_true(json_object_get(object, "near"));
        TRY(take_number(object, "bytes", &result->bytes, error));
        TRY(take_number(object, "hash", &result->hash, error));
    }
    return OK;
}

static enum error_code take_unreceived(const json_t *root, struct run *run, struct error *error)
{
    const json_t *array = json_object_get(root, "unreceived");
    if (array == NULL || json_is_null(array))
        return OK;
    if (!json_is_array(array))
        return bad("unreceived", "a list or null", error);
    run->unreceived_known = true;
    size_t size = json_array_size(array);
    run->unreceived = memory_new(size, sizeof *run->unreceived);
    for (; run->unreceived_count < size; run->unreceived_count++) {
        const json_t *object = json_array_get(array, run->unreceived_count);
        struct unreceived *channel = &run->unreceived[run->unreceived_count];
        uint64_t comm;
        TRY(take_number(object, "comm", &comm, error));
        TRY(take_int(object, "source", 0, run->scenario->ranks - 1, &channel->source, error));
        TRY(take_int(object, "destination", 0, run->scenario->ranks - 1, &channel->destination,
                     error));
        TRY(take_int(object, "tag", INT_MIN, INT_MAX, &channel->tag, error));
        TRY(take_number(object, "messages", &channel->messages, error));
        channel->comm = (uint32_t)comm;
    }
    return OK;
}

static enum error_code take_end_name(const json_t *root, enum run_end *end, struct error *error)
{
    const char *name = json_string_value(json_object_get(root, "end"));
    for (int i = 0; name != NULL && i < RUN_END_COUNT; i++)
        if (strcmp(name, end_names[i]) == 0) {
            *end = (enum run_end)i;
            return OK;
        }
    return error_set(error, ERROR_FORMAT,
                     "field \"end\" is not one of finished, failed, deadlock, time-limit, "
                     "interrupted, void");
}

/* Stored by another Faultline. */
static enum error_code wrong_version(const json_t *root, int version, struct error *error)
{
    const char *by =
        json_string_value(json_object_get(json_object_get(root, "versions"), "faultline"));
    return error_set(error, ERROR_VERSION,
                     "is of version %d, this command reads %d: stored by faultline %.40s, and this "
                     "is %s",
                     version, STORED_VERSION, by != NULL ? by : "of no version", FAULTLINE_VERSION);
}

static enum error_code take_run(const json_t *root, struct run *run, struct scenario *scenario,
                                struct error *error)
{
    int version;
    TRY(take_int(root, "version", 0, INT_MAX, &version, error));
    if (version != STORED_VERSION)
        return wrong_version(root, version, error);
    TRY(take_scenario(json_object_get(root, "scenario"), scenario, error));
    TRY(take_int(root, "number", 0, INT_MAX, &run->number, error));
    TRY(take_number(root, "seed", &run->seed, error));
    TRY(take_real(root, "timeout_s", &run->timeout_s, error));
    TRY(take_real(root, "seconds", &run->seconds, error));
    TRY(take_end_name(root, &run->end, error));
    TRY(take_text(root, "end_text", run->end_text, sizeof run->end_text, error));
    TRY(take_int(root, "incarnations", 0, INT_MAX, &run->incarnations, error));
    TRY(take_steps(root, run, error));
    TRY(take_ends(root, run, error));
    TRY(take_references(root, run, error));
    TRY(take_unreceived(root, run, error));
    if (json_object_get(root, "trace_limit_mb") != NULL)
        TRY(take_int(root, "trace_limit_mb", 0, INT_MAX, &run->trace_mb, error));
    run->reference_failed = json_is_true(json_object_get(root, "reference_failed"));
    if (json_object_get(root, "store_path_bytes") != NULL) /* earlier runs have none */
        TRY(take_int(root, "store_path_bytes", 0, PATH_MAX, &run->store_bytes, error));
    return take_text(root, "reference_text", run->reference_text, sizeof run->reference_text,
                     error);
}

/* The error of a field, with the file in front. */
static enum error_code in_file(const char *path, const struct error *inner, struct error *error)
{
    return error_set(error, inner->code, "%s: %.400s", path, inner->text);
}

struct scenario *run_init_owned(struct run *run, struct scenario_list *owner)
{
    struct scenario *scenario = memory_new(1, sizeof *scenario);
    plan_init(&scenario->plan);
    *owner = (struct scenario_list){.count = 1, .scenario = scenario};
    run_init(run, scenario);
    return scenario;
}

enum error_code run_load(const char *folder, struct run *run, struct scenario_list *owner,
                         struct error *error)
{
    struct path path;
    struct scenario *scenario = run_init_owned(run, owner);
    TRY(path_format(&run->shown, error, "%s", folder));
    TRY(path_absolute(folder, &run->folder, error));
    TRY(path_format(&path, error, "%s/run.json", folder));
    if (!path_exists(path.text))
        return error_set(error, ERROR_USAGE,
                         "%s: there is no run.json; a run folder is OUT/<run-id>/<number>", folder);
    struct error inner = {0};
    json_t *root;
    TRY(json_fetch(path.text, &root, error));
    enum error_code code = take_run(root, run, scenario, &inner);
    json_decref(root);
    if (code != OK)
        return in_file(path.text, &inner, error);
    TRY(path_format(&path, error, "%s/plan", folder));
    return plan_read(path.text, &scenario->plan, error);
}
