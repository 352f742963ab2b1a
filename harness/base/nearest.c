/* See nearest.h. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_BYTES 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein distance; both at most NAME_MAX_BYTES long. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t above = row[j];
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = least(replaced, 1 + least(above, row[j - 1]));
            diagonal = above;
        }
    }
    return row[b_length];
}

const char *nearest_name(const char *name, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    size_t length = strlen(name);
    if (length > NAME_MAX_BYTES)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > NAME_MAX_BYTES)
            continue;
        size_t longer = length > other ? length : other;
        size_t allowed = longer / 3 > 1 ? longer / 3 : 1;
        size_t far = distance(name, length, candidates[i], other);
        if (far <= allowed && far < best_distance) {
            best = candidates[i];
            best_distance = far;
        }
    }
    return best;
}
