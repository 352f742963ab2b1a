/* Which MPI functions a shared library has, read from the file: nothing is loaded or run. */
#ifndef STACKS_SYMBOLS_H
#define STACKS_SYMBOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Names of functions, sorted, each once. Owned: symbols_release. */
struct symbols {
    size_t count, room;
    char **name;
};

/* The functions that the library defines and whose names begin with MPI_, MPIX_, PMPI_ or PMPIX_.
 * ERROR_IO, ERROR_FORMAT (no ELF file); *symbols is empty then. */
enum error_code symbols_read(const char *path, struct symbols *symbols, struct error *error);
void symbols_release(struct symbols *symbols);
bool symbols_have(const struct symbols *symbols, const char *name);

#endif
