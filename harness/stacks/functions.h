/* Where the functions lie that conditions name with `within`, read from the files of the program
 * and the protocol, and of what these are linked with: nothing is loaded or run. Static functions
 * count; instances that the compiler has inlined are known where the file has debugging information
 * (-g). */
#ifndef STACKS_FUNCTIONS_H
#define STACKS_FUNCTIONS_H

#include "base/error.h"
#include "plan/plan.h"

#include <stddef.h>

/* Every function that the plan names is in one of the modules (paths, the program first), or in
 * an object that one of them is linked with. ERROR_USAGE names one that
 * is not, and the nearest that is; ERROR_IO, ERROR_FORMAT. Nothing is read when the
 * plan names none. */
enum error_code functions_check(const struct plan *plan, const char *const *modules, size_t count,
                                struct error *error);

/* The same, and writes the file `path`: a line "NAME BEGIN END MODULE" per range, with addresses
 * (hexadecimal, END exclusive) as the module has them. No file when the plan names none. */
enum error_code functions_write(const char *path, const struct plan *plan,
                                const char *const *modules, size_t count, struct error *error);

#endif
