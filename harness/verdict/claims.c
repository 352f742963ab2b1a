/* See claims.h. */
#include "verdict/claims.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

static size_t family_length(const struct claim *claim)
{
    return strcspn(claim->id, ".");
}

bool claim_is_named(const struct claim *claim, const char *id)
{
    size_t length = family_length(claim);
    bool is_family = strlen(id) == length && strncmp(id, claim->id, length) == 0;
    return is_family || strcmp(id, claim->id) == 0;
}

enum error_code claim_check_name(const char *id, struct error *error)
{
    for (size_t i = 0; i < claim_count; i++)
        if (claim_is_named(&claims[i], id))
            return OK;
    const char **names = calloc(claim_count, sizeof *names);
    if (names == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < claim_count; i++)
        names[i] = claims[i].id;
    const char *near = nearest_name(id, names, claim_count);
    enum error_code code = error_set(
        error, ERROR_USAGE, "there is no claim \"%s\"%s%s%s; `faultline claims` lists them", id,
        near != NULL ? " (did you mean \"" : "", near != NULL ? near : "", near ? "\"?)" : "");
    free(names);
    return code;
}
