/* Libraries for LD_PRELOAD. The dynamic linker only warns about one that it cannot load: a run
 * would then be judged as if the protocol had been there. */
#ifndef LAUNCH_PRELOAD_H
#define LAUNCH_PRELOAD_H

#include "base/error.h"
#include "system/path.h"

#include <stdbool.h>
#include <stddef.h>

#define PRELOAD_SEPARATORS " :" /* of LD_PRELOAD; there is no way to quote them */

/* ERROR_USAGE for a path that LD_PRELOAD cannot hold, or a file that is no 64-bit ELF shared
 * object. What only the dynamic linker finds out is seen afterwards: preload_was_ignored. */
enum error_code preload_check(const struct path *library, struct error *error);

/* Did the dynamic linker say, at the beginning of a rank's error output, that it ignored `library`?
 * `said` (bytes long) receives its words. */
bool preload_was_ignored(const char *error_output, const struct path *library, char *said,
                         size_t bytes);

#endif
