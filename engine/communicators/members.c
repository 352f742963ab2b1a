/* Lists of processes: see members.h. */
#include "engine/communicators/members.h"

#include <stdlib.h>
#include <string.h>

struct members *members_new(int count)
{
    struct members *made = malloc(sizeof *made + (size_t)count * sizeof made->process[0]);
    if (made) {
        made->references = 1;
        made->count = count;
    }
    return made;
}

struct members *members_of(const int32_t *process, int count)
{
    struct members *made = members_new(count);
    if (made && count > 0)
        memcpy(made->process, process, (size_t)count * sizeof *process);
    return made;
}

struct members *members_hold(struct members *members)
{
    members->references++;
    return members;
}

void members_drop(struct members *members)
{
    if (members && --members->references == 0)
        free(members);
}

int members_find(const struct members *members, int32_t process)
{
    for (int i = 0; i < members->count; i++)
        if (members->process[i] == process)
            return i;
    return -1;
}

enum members_likeness members_compare(const struct members *a, const struct members *b)
{
    if (a->count != b->count)
        return MEMBERS_DIFFERENT;
    enum members_likeness found = MEMBERS_SAME;
    for (int i = 0; i < a->count; i++) {
        if (a->process[i] == b->process[i])
            continue;
        if (members_find(b, a->process[i]) < 0)
            return MEMBERS_DIFFERENT;
        found = MEMBERS_SAME_SET;
    }
    return found;
}

/* Appends those of `from` that are in `other`, or that are not. */
static void append(struct members *to, const struct members *from, const struct members *other,
                   bool wanted)
{
    for (int i = 0; i < from->count; i++)
        if ((members_find(other, from->process[i]) >= 0) == wanted)
            to->process[to->count++] = from->process[i];
}

struct members *members_union(const struct members *a, const struct members *b)
{
    struct members *made = members_new(a->count + b->count);
    if (made) {
        made->count = 0;
        append(made, a, a, true);
        append(made, b, a, false);
    }
    return made;
}

struct members *members_intersection(const struct members *a, const struct members *b)
{
    struct members *made = members_new(a->count);
    if (made) {
        made->count = 0;
        append(made, a, b, true);
    }
    return made;
}

struct members *members_difference(const struct members *a, const struct members *b)
{
    struct members *made = members_new(a->count);
    if (made) {
        made->count = 0;
        append(made, a, b, false);
    }
    return made;
}

struct members *members_include(const struct members *members, const int *ranks, int count)
{
    struct members *made = members_new(count);
    for (int i = 0; made && i < count; i++)
        made->process[i] = members->process[ranks[i]];
    return made;
}

struct members *members_exclude(const struct members *members, const int *ranks, int count)
{
    struct members *left_out = members_include(members, ranks, count);
    struct members *made = left_out ? members_difference(members, left_out) : NULL;
    members_drop(left_out);
    return made;
}

bool members_ranks_valid(const int *ranks, int count, int size)
{
    bool *seen = calloc((size_t)size + 1, sizeof *seen);
    bool valid = seen && count >= 0;
    for (int i = 0; valid && i < count; i++) {
        valid = ranks[i] >= 0 && ranks[i] < size && !seen[ranks[i]];
        if (valid)
            seen[ranks[i]] = true;
    }
    free(seen);
    return valid;
}

/* The number of ranks in the range that the triple describes; 0: not a range within 0..size-1. */
static int range_length(const int range[3], int size)
{
    int first = range[0], last = range[1], stride = range[2];
    if (first < 0 || first >= size || stride == 0 || last < 0)
        return 0;
    if ((stride > 0 && first > last) || (stride < 0 && first < last))
        return 0;
    int length = (last - first) / stride + 1;
    return first + stride * (length - 1) < size ? length : 0;
}

int *members_expand(const int (*ranges)[3], int count, int size, int *total)
{
    int *ranks = malloc(((size_t)size + 1) * sizeof *ranks);
    *total = 0;
    for (int i = 0; ranks && i < count; i++) {
        int length = range_length(ranges[i], size);
        if (length == 0 || length > size - *total) {
            free(ranks);
            return NULL;
        }
        for (int j = 0; j < length; j++)
            ranks[(*total)++] = ranges[i][0] + j * ranges[i][2];
    }
    if (ranks && !members_ranks_valid(ranks, *total, size)) {
        free(ranks);
        return NULL;
    }
    return ranks;
}
