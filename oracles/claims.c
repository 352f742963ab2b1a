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

/* The last of the ids that is about the claim; NULL: none is. */
static const char *last_about(const struct claim *claim, const char *const *ids, size_t count)
{
    while (count > 0 && !claim_is_named(claim, ids[count - 1] + takes_back(ids[count - 1])))
        count--;
    return count > 0 ? ids[count - 1] : NULL;
}

bool claim_is_asked(const struct claim *claim, const char *const *ids, size_t count)
{
    const char *id = last_about(claim, ids, count);
    return id != NULL && !takes_back(id);
}

bool claim_is_taken_back(const struct claim *claim, const char *const *ids, size_t count)
{
    const char *id = last_about(claim, ids, count);
    return id != NULL && takes_back(id);
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

/* One of those that `id` names, or any if it is NULL. */
static bool asks_for_one(const char *id, const char *const *ids, size_t count)
{
    for (size_t i = 0; i < claim_count; i++)
        if ((id == NULL || claim_is_named(&claims[i], id)) &&
            claim_is_asked(&claims[i], ids, count))
            return true;
    return false;
}

enum error_code claims_check(const char *const *ids, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *id = ids[i] + takes_back(ids[i]);
        enum error_code code = claim_check_name(id, error);
        if (code != OK)
            return code;
        if (takes_back(ids[i]) && !asks_for_one(id, ids, i))
            return error_set(error, ERROR_USAGE, "\"%s\" takes back what none before it asks for",
                             ids[i]);
    }
    if (count > 0 && !asks_for_one(NULL, ids, count))
        return error_set(error, ERROR_USAGE, "\"%s\" leaves no claim to be judged", ids[count - 1]);
    return OK;
}
