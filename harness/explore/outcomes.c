/* See outcomes.h. */
#include "explore/outcomes.h"

#include "base/memory.h"
#include "base/mix.h"
#include "run/run.h"
#include "verdict/stored_verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0;
    for (; *text != '\0'; text++)
        hash = mix_two(hash, (unsigned char)*text);
    return hash;
}

/* Whatever the order in which they were declared. Not numbers: A.exact says which of them are the
 * same. */
static uint64_t hash_results(const struct reference_result *results, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        if (!results[i].near)
            hash += mix_two(mix_two(hash_text(results[i].name), (uint64_t)results[i].rank),
                            results[i].hash);
    return hash;
}

static enum error_code describe(const char *folder, struct alike *alike, struct error *error)
{
    struct stored_verdict stored;
    struct reference_result *results = NULL;
    size_t count = 0;
    enum error_code code = stored_verdict_load(folder, &stored, error);
    if (code == OK) {
        alike->verdict = stored.verdict;
        snprintf(alike->fingerprint, sizeof alike->fingerprint, "%s",
                 stored.fingerprint != NULL ? stored.fingerprint : "");
    }
    stored_verdict_release(&stored);
    if (code == OK && run_results(folder, &results, &count, error) == OK)
        alike->results = hash_results(results, count);
    free(results);
    return code;
}

static bool are_alike(const struct alike *a, const struct alike *b)
{
    return a->verdict == b->verdict && strcmp(a->fingerprint, b->fingerprint) == 0 &&
           a->results == b->results;
}

enum error_code outcome_of(const char *folder, struct alike *seen, struct error *error)
{
    *seen = (struct alike){.runs = 1};
    enum error_code code = describe(folder, seen, error);
    return code == OK ? path_format(&seen->folder, error, "%s", folder) : code;
}

bool outcomes_add(struct outcomes *outcomes, const struct alike *seen)
{
    for (size_t i = 0; i < outcomes->count; i++)
        if (are_alike(&outcomes->alike[i], seen)) {
            outcomes->alike[i].runs++;
            return false;
        }
    outcomes->alike =
        memory_room(outcomes->alike, outcomes->count, &outcomes->room, sizeof *outcomes->alike);
    outcomes->alike[outcomes->count++] = *seen;
    return true;
}

void outcomes_release(struct outcomes *outcomes)
{
    free(outcomes->alike);
}
