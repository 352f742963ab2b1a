/* The list of claims, and their names as typed by people; see oracle.h. */
#include "oracles/judging.h"

#include "base/nearest.h"

#include <string.h>

const struct claim claims[] = {
#define CLAIM(NAME, id_, text_, source_, needs_, verifier, ...)                                    \
    {.id = id_, .text = text_, .source = source_, .needs = needs_, __VA_ARGS__},
#include "oracles/claims.def"
};
const size_t claim_count = CLAIM_COUNT;

const struct claim *claim_find(const char *id)
{
    for (size_t i = 0; i < claim_count; i++)
        if (strcmp(claims[i].id, id) == 0)
            return &claims[i];
    return NULL;
}

static bool in_family(const struct claim *claim, const char *family)
{
    size_t length = strcspn(claim->id, ".");
    return strlen(family) == length && strncmp(claim->id, family, length) == 0;
}

bool claim_is_named(const struct claim *claim, const char *id)
{
    return in_family(claim, id) || strcmp(id, claim->id) == 0;
}

static bool takes_back(const char *id)
{
    return id[0] == '-';
}

bool claim_is_asked(const struct claim *claim, const char *const *ids, size_t count)
{
    for (size_t i = count; i > 0; i--)
        if (claim_is_named(claim, ids[i - 1] + takes_back(ids[i - 1])))
            return !takes_back(ids[i - 1]);
    return false;
}

bool claims_ask(const char *id, enum claim_asks what)
{
    for (size_t i = 0; i < claim_count; i++)
        if (claims[i].asks == what && claim_is_named(&claims[i], id))
            return true;
    return false;
}

enum error_code claim_check_name(const char *id, struct error *error)
{
    const char *names[CLAIM_COUNT];
    for (size_t i = 0; i < claim_count; i++) {
        if (claim_is_named(&claims[i], id))
            return OK;
        names[i] = claims[i].id;
    }
    const char *near = nearest_name(id, names, claim_count);
    return error_set(
        error, ERROR_USAGE, "there is no claim \"%s\"%s%s%s; `faultline claims` lists them", id,
        near != NULL ? " (did you mean \"" : "", near != NULL ? near : "", near ? "\"?)" : "");
}

enum error_code claims_check(const char *const *ids, size_t count, struct error *error)
{
    enum error_code code = OK;
    if (count > 0 && takes_back(ids[0]))
        return error_set(error, ERROR_USAGE, "\"%s\" takes a claim back, and none is asked for yet",
                         ids[0]);
    for (size_t i = 0; code == OK && i < count; i++)
        code = claim_check_name(ids[i] + takes_back(ids[i]), error);
    return code;
}
