/* See determinants.h. */
#include "common/logging/determinants.h"

#include <stdlib.h>

#define FIRST_ROOM 64

void determinants_add(struct determinants *set, const struct determinant *one)
{
    if (set->count == set->room) {
        set->room = set->room ? 2 * set->room : FIRST_ROOM;
        set->all = larger(set->all, set->room * sizeof *set->all);
    }
    set->all[set->count++] = *one;
}

void determinants_filter(struct determinants *set,
                         bool (*keep)(const struct determinant *one, const void *context),
                         const void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (keep(&set->all[i], context))
            set->all[kept++] = set->all[i];
    set->count = kept;
}

bool determinant_same(const struct determinant *one, const struct determinant *other)
{
    return one->receiver == other->receiver && one->rsn == other->rsn &&
           (one->kind == DELIVERED) == (other->kind == DELIVERED);
}

/* What is asked for came lately, as a rule. */
bool determinants_have(const struct determinants *set, const struct determinant *one)
{
    for (size_t i = set->count; i > 0; i--)
        if (determinant_same(&set->all[i - 1], one))
            return true;
    return false;
}

void determinants_release(struct determinants *set)
{
    free(set->all);
    *set = (struct determinants){0};
}
