/* Datatypes written into a row of bytes and built from it again: a receive that is pending at a
 * checkpoint needs its type after the restart, whatever the program has done with its handle. Must
 * not know: why. */
#ifndef COMMON_COMMUNICATORS_TYPES_H
#define COMMON_COMMUNICATORS_TYPES_H

#include "base/error.h"
#include "common/base/bytes.h"
#include "mpi_library.h"

/* Appends the type, with all it is made of. ERROR_LIMIT: nested too deep; ERROR_USAGE: made by a
 * constructor that is not known here; ERROR_MEMORY. The handle of the program is only read. */
enum error_code type_write(MPI_Datatype type, struct bytes *out, struct error *error);

/* Builds what type_write appended. *type is committed unless it is predefined, and owned by the
 * caller: type_release. ERROR_FORMAT: the bytes are none of type_write's. */
enum error_code type_read(struct reader *in, MPI_Datatype *type, struct error *error);

/* Frees it unless it is predefined. */
void type_release(MPI_Datatype *type);

#endif
