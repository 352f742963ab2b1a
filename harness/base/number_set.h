/* A set of numbers that are counted from 0 or 1 and mostly all there, as runs and plans are. Must
 * not know: what they number. */
#ifndef BASE_NUMBER_SET_H
#define BASE_NUMBER_SET_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A set holds smaller numbers only: a number that a file names must not cost any amount of memory.
 */
#define NUMBER_SET_MOST UINT64_C(100000000)

/* A set that is all 0 is empty. */
struct number_set {
    uint8_t *has; /* owned, by number */
    uint64_t room;
};

/* ERROR_LIMIT: number >= NUMBER_SET_MOST. The set is as it was then. */
enum error_code number_set_add(struct number_set *set, uint64_t number, struct error *error);
bool number_set_has(const struct number_set *set, uint64_t number);

/* Leaves it empty. */
void number_set_release(struct number_set *set);

#endif
