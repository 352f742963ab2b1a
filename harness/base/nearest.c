/* See nearest.h. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_BYTES 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, taken out, replaced or swapped with their neighbour to make one
 * of the other (the restricted Damerau-Levenshtein distance). Both at most NAME_MAX_BYTES long. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2]; /* the last two, and this one */
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
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
