/* See settings.h. The library takes the same values: injectors/process.c, payload.c. */
#include "cli/settings.h"

#include "base/nearest.h"
#include "script/script.h"
#include "trace/record.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MOST 3
#define DIGITS_OF_RANK 4

static const struct setting {
    const char *name;
    const char *value[VALUES_MOST]; /* accepted, besides the empty text; NULL: no more */
} settings[] = {
    {"FAULTLINE_HASH", {"sample", "full", "none"}},
    {"FAULTLINE_RECORD", {"0", "1", NULL}},
    {"FAULTLINE_IN_MEMORY", {"0", "1", NULL}},
};
#define SETTING_COUNT (sizeof settings / sizeof settings[0])

static enum error_code check(const struct setting *setting, const char *value, struct error *error)
{
    char known[64] = "";
    size_t count = 0, used = 0;
    for (; count < VALUES_MOST && setting->value[count] != NULL; count++) {
        if (*value == '\0' || strcmp(value, setting->value[count]) == 0)
            return OK;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", count > 0 ? ", " : "",
                                 setting->value[count]);
    }
    const char *near = nearest_name(value, setting->value, count);
    return error_set(error, ERROR_USAGE, "%s=%s is not known%s%s%s; accepted: %s", setting->name,
                     value, near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
                     near != NULL ? "\"?)" : "", known);
}

enum error_code settings_check(struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < SETTING_COUNT; i++) {
        const char *value = getenv(settings[i].name);
        if (value != NULL)
            code = check(&settings[i], value, error);
    }
    return code;
}

enum error_code settings_check_one(const char *setting, struct error *error)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        size_t length = strlen(settings[i].name);
        if (strncmp(setting, settings[i].name, length) == 0 && setting[length] == '=')
            return check(&settings[i], setting + length + 1, error);
    }
    return OK;
}

/* Names between single colons, without folders. */
static bool are_files(const char *files)
{
    size_t count = 0;
    while (count <= SCENARIO_MAX_LIBRARIES) {
        size_t length = strcspn(files, ":/");
        if (length == 0 || files[length] == '/')
            return false;
        count++;
        if (files[length] == '\0')
            return count <= SCENARIO_MAX_LIBRARIES;
        files += length + 1;
    }
    return false;
}

/* Numbers between single commas. */
static bool are_ranks(const char *ranks)
{
    for (;;) {
        size_t digits = strspn(ranks, "0123456789");
        if (digits == 0 || digits > DIGITS_OF_RANK || atoi(ranks) >= SCENARIO_MAX_RANKS)
            return false;
        if (ranks[digits] != ',')
            return ranks[digits] == '\0';
        ranks += digits + 1;
    }
}

enum error_code settings_check_library(struct error *error)
{
    const char *files = getenv(LIBRARY_ENVIRONMENT), *ranks = getenv(HELPERS_ENVIRONMENT);
    if (files != NULL && *files != '\0' && !are_files(files))
        return error_set(error, ERROR_USAGE,
                         LIBRARY_ENVIRONMENT "=%s; accepted: 1 to %d names of files such as "
                                             "libx.so:liby.so, without folders",
                         files, SCENARIO_MAX_LIBRARIES);
    if (ranks != NULL && *ranks != '\0' && !are_ranks(ranks))
        return error_set(error, ERROR_USAGE,
                         HELPERS_ENVIRONMENT "=%s; accepted: ranks from 0 to %d such as 0,3", ranks,
                         SCENARIO_MAX_RANKS - 1);
    return OK;
}

bool settings_record_nothing(void)
{
    const char *value = getenv("FAULTLINE_RECORD");
    return value != NULL && strcmp(value, "0") == 0;
}
