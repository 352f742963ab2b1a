/* Scenario files made of a text, for the tests of the scenario language. */
#ifndef TESTS_SCENARIO_FILE_H
#define TESTS_SCENARIO_FILE_H

#include "script/script.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB "protocol = 'x', program = 'y', "
#define PLAN(steps) "scenario 'a' { " JOB "ranks = 4, plan = function(p)\n" steps "\nend }"

static char folder[] = "/tmp/faultline-script.XXXXXX";

/* Writes `text` as the file `name` of the folder; the path is static, one for each call in a row.
 */
static inline const char *file_named(const char *name, const char *text, size_t bytes)
{
    static char paths[2][256];
    static unsigned calls;
    char *path = paths[calls++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(text, 1, bytes, file) != bytes || fclose(file) != 0)
        abort();
    return path;
}

static inline const char *file_of(const char *text, size_t bytes)
{
    return file_named("test.lua", text, bytes);
}

static inline struct script_options seeded(uint64_t seed)
{
    struct script_options options = script_options_default;
    options.seed = seed;
    return options;
}

/* A file that must be refused. */
struct refusal {
    const char *text;
    int line;            /* that the error names; 0: none */
    const char *says[3]; /* parts of the error */
};

static inline void check_refusals(const struct refusal *refusals, size_t count,
                                  const struct script_options *options)
{
    for (size_t i = 0; i < count; i++) {
        const struct refusal *refusal = &refusals[i];
        const char *path = file_of(refusal->text, strlen(refusal->text));
        struct scenario_list list;
        struct error error = {0};
        scenario_list_init(&list);
        enum error_code code = script_load(path, options, &list, &error);
        char place[300];
        snprintf(place, sizeof place, refusal->line > 0 ? "%s:%d: " : "%s: ", path, refusal->line);
        bool said = strncmp(error.text, place, strlen(place)) == 0;
        for (size_t k = 0; k < 3 && refusal->says[k] != NULL; k++)
            said = said && strstr(error.text, refusal->says[k]) != NULL;
        check(code == ERROR_USAGE && list.count == 0 && said, "refusal %zu is said in its words",
              i);
        if (!said)
            printf("# %s\n# got: %s\n", refusal->text, error.text);
        scenario_list_release(&list);
    }
}

static inline bool make_folder(void)
{
    return mkdtemp(folder) != NULL;
}

static inline void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    check(system(command) == 0, "cleaned up");
}

#endif
