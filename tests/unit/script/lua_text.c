/* Scenarios as Lua text: what is printed loads as the scenario it was, for every scenario of the
 * suites and for plans of every kind; and it reads as a person would have written it. */
#include "scenario_file.h"

#include "script/lua_text.h"

#include <glob.h>

#define LINE_BYTES 4096
#define GENERATED "tests/scenarios/every_field.lua"

/* That of the protocol, or of the one that a broken variant comes from. */
static enum error_code wire_file(const char *protocol, const char *scenario_file, char *path,
                                 size_t bytes, struct error *error)
{
    (void)scenario_file;
    (void)error;
    snprintf(path, bytes, "suites/protocols/%.*s/wire.lua", (int)strcspn(protocol, "-"), protocol);
    return OK;
}

static struct script_options options_of_suites(void)
{
    struct script_options options = script_options_default;
    options.wire_file = wire_file;
    return options;
}

/* --- the same scenario ------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_texts(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
    for (size_t i = 0; a_count == b_count && i < a_count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return a_count == b_count;
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
    char left[LINE_BYTES], right[LINE_BYTES];
    bool same = a->count == b->count && a->wires == b->wires;
    for (size_t i = 0; same && i < a->count; i++) {
        plan_step_print(&a->steps[i], left, sizeof left);
        plan_step_print(&b->steps[i], right, sizeof right);
        same = strcmp(left, right) == 0;
        if (!same)
            printf("# %s\n# became %s\n", left, right);
    }
    for (size_t i = 0; same && i < a->wires; i++) {
        message_pattern_print(&a->wire[i], left, sizeof left);
        message_pattern_print(&b->wire[i], right, sizeof right);
        same = strcmp(left, right) == 0;
    }
    return same;
}

static bool same_scenario(const struct scenario *a, const struct scenario *b)
{
    bool same =
        same_text(a->name, b->name) && same_text(a->protocol, b->protocol) &&
        same_text(a->program, b->program) && same_text(a->violates, b->violates) &&
        same_text(a->library, b->library) && same_text(a->helpers, b->helpers) &&
        same_text(a->result, b->result) && same_text(a->nodes, b->nodes) &&
        same_text(a->stores, b->stores) && a->restart_ranks == b->restart_ranks &&
        same_texts(a->files, a->file_count, b->files, b->file_count) &&
        same_texts(a->setup, a->setup_count, b->setup, b->setup_count) &&
        a->restart_has_arguments == b->restart_has_arguments &&
        same_texts(a->restart_argument, a->restart_argument_count, b->restart_argument,
                   b->restart_argument_count) &&
        same_texts(a->restart_environment, a->restart_environment_count, b->restart_environment,
                   b->restart_environment_count) &&
        same_texts(a->argument, a->argument_count, b->argument, b->argument_count) &&
        same_texts(a->claim, a->claim_count, b->claim, b->claim_count) &&
        same_texts(a->cover, a->cover_count, b->cover, b->cover_count) &&
        same_texts(a->environment, a->environment_count, b->environment, b->environment_count) &&
        a->ranks == b->ranks && a->reserve == b->reserve &&
        a->max_incarnations == b->max_incarnations && a->survivors == b->survivors &&
        same_text(a->policy, b->policy) && a->timeout_s == b->timeout_s &&
        same_plan(&a->plan, &b->plan);
    if (!same)
        printf("# \"%s\" is not what it was\n", a->name);
    return same;
}

/* --- there and back --------------------------------------------------------------------------- */

/* All scenarios of the list as one file; its path. NULL: one could not be written. */
static const char *print_all(const struct scenario_list *list, const char *comment)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct error error = {0};
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < list->count; i++)
        code = scenario_write_lua(out, &list->scenario[i], comment, &error);
    fclose(out);
    const char *path = code == OK ? file_of(text, bytes) : NULL;
    free(text);
    return path;
}

static void check_there_and_back(const char *file, const struct script_options *options)
{
    struct scenario_list list, again;
    struct error error = {0};
    scenario_list_init(&list);
    scenario_list_init(&again);
    bool good = script_load(file, options, &list, &error) == OK;
    const char *path = good ? print_all(&list, "a comment\n\nof lines --[[") : NULL;
    good = path != NULL && script_load(path, options, &again, &error) == OK;
    good = good && list.count == again.count && list.count > 0;
    for (size_t i = 0; good && i < list.count; i++)
        good = same_scenario(&list.scenario[i], &again.scenario[i]);
    check(good, "%s: %zu scenarios, printed and loaded, are the same", file, list.count);
    if (!good)
        printf("# %s\n", error.text);
    scenario_list_release(&list);
    scenario_list_release(&again);
}

static void check_suites(const struct script_options *options)
{
    static const char *const patterns[] = {"suites/*/*.lua", "suites/*/random/*.lua"};
    for (size_t k = 0; k < 2; k++) {
        glob_t found;
        if (!check(glob(patterns[k], 0, NULL, &found) == 0, "there are suites: %s", patterns[k]))
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (strstr(found.gl_pathv[i], "protocols/") == NULL)
                check_there_and_back(found.gl_pathv[i], options);
        globfree(&found);
    }
}

/* --- how it reads ----------------------------------------------------------------------------- */

/* Each is printed as it stands here. */
static const char *const written[] = {
    "scenario \"nothing is done\" {\n"
    "  protocol = \"null\", program = \"ring\", ranks = 2, claims = { \"H\" },\n"
    "}\n",

    "scenario \"started again without arguments\" {\n"
    "  protocol = \"null\", program = \"ring\", ranks = 2, arguments = { 1 }, restart = { "
    "arguments "
    "= {} },\n"
    "  claims = { \"H\" },\n"
    "}\n",

    "scenario \"another environment after a restart\" {\n"
    "  protocol = \"null\", program = \"ring\", ranks = 2, restart = { environment = { A = 1 } },\n"
    "  claims = { \"H\" },\n"
    "}\n",

    "scenario \"stores with names, and other ranks after a restart\" {\n"
    "  protocol = \"null\", program = \"ring\", ranks = 2, nodes = { { 0 }, { 1, 2 } },\n"
    "  stores = { \"big\", \"scratch\", ram = \"node\" }, restart = { ranks = 3 }, claims = { "
    "\"H\" },\n"
    "}\n",

    "scenario \"what the ranks print is compared\" {\n"
    "  protocol = \"null\", program = \"ring\", ranks = 2, claims = { \"H\" },\n"
    "  result = { \"output\", ignore = { \"[0-9.]+ s\", \"^#\" } },\n"
    "}\n",

    "-- A comment,\n"
    "--\n"
    "-- of three lines.\n"
    "scenario \"everything\" {\n"
    "  protocol = \"c3-log-all\", program = \"./ring\", ranks = 3, reserve = 1,\n"
    "  library = { \"libx.so\", \"liby.so.2\" }, helpers = { 0 }, nodes = { { 0, 2 }, { 1 } },\n"
    "  engine = \"step\", policy = \"skewed\", survivors = true,\n"
    "  arguments = { \"--iterations\", 19, \"007\", \"-0\", \"\", \"a \\\"b\\\"\" },\n"
    "  environment = { A = 10, B = \"x=y\", [\"end\"] = \"\" },\n"
    "  restart = { arguments = { \"--again\" }, environment = { A = 11 } },\n"
    "  files = { [\"x.conf\"] = \"a = 1\\010\" }, setup = { \"./prepare\", 4 }, claims = { "
    "\"C.class\", \"H\" },\n"
    "  expect = { violates = \"C.class\", cover = { \"C.late.log\" } }, max_incarnations = 3, "
    "timeout = 0.1,\n"
    "  plan = function(p)\n"
    "    local held = p:hold { from = 1, to = 2, nth = 10, release = { rank = 1, event = \"recv\" "
    "} "
    "}\n"
    "    p:hold { message = \"readyToStopLogging\", from = 2, to = 0, epoch = 1, after = "
    "\"start\",\n"
    "             release = { rank = 0, event = \"deliver\", peer = 2, nth = 2, region = "
    "\"logging\","
    "\n"
    "                         line = 1 } }\n"
    "    p:await { rank = 2, region = \"beyond\", line = 1 }\n"
    "    p:release(held)\n"
    "    p:kill { rank = 1, at = { rank = 0, event = \"commit\", epoch = 1 } }\n"
    "  end,\n"
    "}\n",
};

static void check_written(const struct script_options *options)
{
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        struct scenario_list list;
        struct error error = {0};
        char *text = NULL;
        size_t bytes = 0;
        scenario_list_init(&list);
        const char *path = file_of(written[i], strlen(written[i]));
        if (check(script_load(path, options, &list, &error) == OK, "%zu loads", i)) {
            FILE *out = open_memstream(&text, &bytes);
            scenario_write_lua(out, &list.scenario[0],
                               written[i][0] == '-' ? "A comment,\n\nof three lines." : "", &error);
            fclose(out);
            if (!check(strcmp(text, written[i]) == 0, "%zu is printed as it was written", i))
                printf("# got:\n%s\n", text);
            free(text);
        } else {
            printf("# %s\n", error.text);
        }
        scenario_list_release(&list);
    }
}

/* --- sizes ------------------------------------------------------------------------------------ */

static const struct {
    const char *steps;
    size_t size;
} sizes[] = {
    {"", 0},
    {"p:kill { rank = 1 }", 2},
    {"p:kill { ranks = { 1, 2 }, at = { event = 'commit', epoch = 1 } }", 5},
    {"p:hold { from = 0 }", 2},
    {"p:hold { from = 0, nth = 1, count = 1 }", 2},
    {"p:hold { from = 0, nth = 2 }", 3},
    {"local m = p:hold { from = 0 } p:release(m)", 4},
    {"p:hold { from = 0, release = { rank = 1, region = 'logging', line = 1 } }", 5},
    {"p:await { event = 'send', state = { { rank = 1, region = 'logging', line = 1 },"
     " { rank = 2, blocked = 'MPI_Recv' } } }",
     7},
};

static void check_sizes(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[LINE_BYTES];
        struct scenario_list list;
        struct error error = {0};
        scenario_list_init(&list);
        snprintf(text, sizeof text, PLAN("%s"), sizes[i].steps);
        bool good = script_load(file_of(text, strlen(text)), &script_options_default, &list,
                                &error) == OK &&
                    plan_size(&list.scenario[0].plan) == sizes[i].size;
        check(good, "\"%s\" is of size %zu", sizes[i].steps, sizes[i].size);
        scenario_list_release(&list);
    }
}

static void check_full_disk(void)
{
    struct scenario_list list;
    struct error error = {0};
    scenario_list_init(&list);
    FILE *full = fopen("/dev/full", "w");
    const char *path = file_of(written[0], strlen(written[0]));
    if (check(full != NULL && script_load(path, &script_options_default, &list, &error) == OK,
              "a full disk is at hand"))
        check(scenario_write_lua(full, &list.scenario[0], NULL, &error) == ERROR_IO,
              "a full disk is told: %s", error.text);
    if (full != NULL)
        fclose(full);
    scenario_list_release(&list);
}

int main(void)
{
    struct script_options options = options_of_suites();
    if (!check(make_folder(), "a folder"))
        return done();
    check_suites(&options);
    check_there_and_back(GENERATED, &options);
    check_written(&options);
    check_sizes();
    check_full_disk();
    remove_folder();
    return done();
}
