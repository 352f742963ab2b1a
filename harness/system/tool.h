/* A command of the system, run to its end. Must not know: what it is for. */
#ifndef SYSTEM_TOOL_H
#define SYSTEM_TOOL_H

#include "base/error.h"

#include <stddef.h>

/* Runs arguments[0] of the path with these arguments (NULL-terminated), without any input, in a
 * process group of its own: Ctrl-C at the terminal does not reach it. `text`, `bytes` long, becomes
 * the beginning of what it prints, standard output and standard error; always terminated.
 * ERROR_LAUNCH: it is not there, or has not exited with 0; the error has the first line of its
 * words. */
enum error_code tool_run(const char *const *arguments, char *text, size_t bytes,
                         struct error *error);

#endif
