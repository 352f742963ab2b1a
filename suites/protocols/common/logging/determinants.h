/* Determinants: this rank's own until another has them (detBuf of [CM]), and those of others
 * (detLog). Must not know: letters, what is done with a determinant. */
#ifndef COMMON_LOGGING_DETERMINANTS_H
#define COMMON_LOGGING_DETERMINANTS_H

#include "common/logging/logger.h"

#include <stddef.h>

/* All zero is empty. */
struct determinants {
    struct determinant *all; /* owned */
    size_t count;
    size_t room;
};

void determinants_add(struct determinants *set, const struct determinant *one);

/* Keeps those of which keep() is true. */
void determinants_filter(struct determinants *set,
                         bool (*keep)(const struct determinant *one, const void *context),
                         const void *context);

bool determinants_have(const struct determinants *set, const struct determinant *one);

/* Two of the same thing. */
bool determinant_same(const struct determinant *one, const struct determinant *other);

void determinants_release(struct determinants *set);

#endif
