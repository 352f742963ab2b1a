/* Makes the store on the disk what names.h wants it to be. Files and folders keep their inodes,
 * except folders that had been removed: those are made again. Must not know: the journal's
 * operations. */
#ifndef STORE_RESTORE_H
#define STORE_RESTORE_H

#include "store/names.h"

#include <stdio.h>

/* Lists all that is below the store. *listed is owned by the caller, in any case. No folder of the
 * store may be changed meanwhile. ERROR_IO, ERROR_LIMIT (a path is too long). */
enum error_code restore_list(const char *store, struct listed **listed, size_t *count,
                             struct error *error);

/* Says in `told`, a line each, which names change, and changes them. Sets `remade` of objects.
 * ERROR_IO, ERROR_LIMIT: the store is then neither what it was nor what it should be. */
enum error_code restore_names(const struct journal *journal, struct names *names, FILE *report,
                              struct error *error);

#endif
