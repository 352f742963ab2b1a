/* "did you mean": the name nearest to what was typed. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* The candidate with the smallest edit distance to `name`, or NULL when none is near (distance
 * above a third of the longer length, at least 1). Result points into `candidates`. */
const char *nearest_name(const char *name, const char *const *candidates, size_t count);

#endif
