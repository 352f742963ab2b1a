/* See settings.h. The library takes the same values: injectors/process.c, payload.c. */
#include "cli/settings.h"

#include "base/nearest.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MOST 3

static const struct setting {
    const char *name;
    const char *value[VALUES_MOST]; /* accepted, besides the empty text; NULL: no more */
} settings[] = {
    {"FAULTLINE_HASH", {"sample", "full", "none"}},
    {"FAULTLINE_RECORD", {"0", "1", NULL}},
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

bool settings_record_nothing(void)
{
    const char *value = getenv("FAULTLINE_RECORD");
    return value != NULL && strcmp(value, "0") == 0;
}
