/* The difference between two texts, as people read it. */
#ifndef SYSTEM_DIFFERENCE_H
#define SYSTEM_DIFFERENCE_H

#include "base/error.h"

/* From `old` to `fresh` as `diff -u` prints it, under these names. *difference is the caller's
 * (free); NULL: there is none, or no diff on this machine. Works with files in `folder`, which are
 * gone afterwards. This process has no other children. ERROR_IO. */
enum error_code difference_of(const char *folder, const char *old_name, const char *old,
                              const char *fresh_name, const char *fresh, char **difference,
                              struct error *error);

#endif
