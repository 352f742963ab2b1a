/* Scenario files, and the wire.lua that they may need: after a line "--wire" of the input. Each is
 * run in a process of its own, as always; what must hold is that it comes back with scenarios or an
 * error, and that the process did not die of a fault of ours. libFuzzer does not see what that
 * process covers: it mutates blindly here, so the seeds name every field. */
#include "script/script.h"

#include "fuzz.h"

#include <string.h>

#define INSTRUCTIONS 200000
#define MEMORY_BYTES (8u << 20)
#define TIME_MS 600000 /* only against hanging */

static char wire_path[FUZZ_PATH_BYTES];

static enum error_code wire_file(const char *protocol, const char *scenario_file, char *path,
                                 size_t bytes, struct error *error)
{
    (void)scenario_file;
    if (strcmp(protocol, "absent") == 0)
        return error_set(error, ERROR_USAGE, "no protocol %s", protocol);
    snprintf(path, bytes, "%s", wire_path);
    return OK;
}

static const char *find_wire(const char *data, size_t bytes)
{
    static const char mark[] = "\n--wire\n";
    const char *found = bytes == 0 ? NULL : memmem(data, bytes, mark, sizeof mark - 1);
    return found == NULL ? data + bytes : found + sizeof mark - 1;
}

/* A step that a scenario made is one that a plan file may hold. */
static void check_plans(const struct scenario_list *list)
{
    static char line[16384];
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->scenario[i].plan.count; k++) {
            struct plan_step step;
            struct error error = {0};
            plan_step_print(&list->scenario[i].plan.steps[k], line, sizeof line);
            enum error_code code = plan_step_parse(line, &step, &error);
            if (code != OK)
                fprintf(stderr, "%s\n%s\n", line, error.text);
            fuzz_check(code == OK);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[FUZZ_PATH_BYTES];
    struct scenario_list list;
    struct error error = {0};
    struct script_options options = script_options_default;
    const char *wire = find_wire((const char *)data, bytes);
    options.wire_file = wire_file;
    options.limits = (struct script_limits){INSTRUCTIONS, MEMORY_BYTES, TIME_MS};
    int file = fuzz_open(data, (size_t)(wire - (const char *)data), path);
    int wire_descriptor = fuzz_open(wire, bytes - (size_t)(wire - (const char *)data), wire_path);
    scenario_list_init(&list);
    enum error_code code = script_load(path, &options, &list, &error);
    fuzz_check_error(code, &error);
    /* Of other errors, names of a scenario are a part. */
    fuzz_check(code != ERROR_LIMIT ||
               strstr(error.text, "the process that runs the script died") == NULL);
    check_plans(&list);
    scenario_list_release(&list);
    fuzz_close(wire_descriptor);
    fuzz_close(file);
    return 0;
}
