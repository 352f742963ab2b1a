/* The predefined handles of the MPI library, as values that are known when it is found. In MPICH
 * they are numbers; in Open MPI they are addresses of data in the library, which may not be named
 * here, for this object is loaded into processes without MPI as well. */
#ifndef INJECTORS_RECORD_HANDLES_H
#define INJECTORS_RECORD_HANDLES_H

#include "mpi_library.h"

#include <stdbool.h>

/* X(type, name): MPI_<name>. */
#define PREDEFINED_HANDLES(X)                                                                      \
    X(MPI_Comm, COMM_NULL)                                                                         \
    X(MPI_Comm, COMM_SELF)                                                                         \
    X(MPI_Comm, COMM_WORLD)                                                                        \
    X(MPI_Request, REQUEST_NULL)                                                                   \
    X(MPI_Errhandler, ERRORS_RETURN)                                                               \
    X(MPI_Message, MESSAGE_NO_PROC)                                                                \
    X(MPI_Message, MESSAGE_NULL)                                                                   \
    X(MPI_Datatype, DATATYPE_NULL)                                                                 \
    X(MPI_Datatype, BYTE)                                                                          \
    X(MPI_Datatype, PACKED)                                                                        \
    X(MPI_Datatype, LONG_DOUBLE)                                                                   \
    X(MPI_Datatype, LONG_DOUBLE_INT)                                                               \
    X(MPI_Datatype, C_LONG_DOUBLE_COMPLEX)                                                         \
    X(MPI_Datatype, CXX_LONG_DOUBLE_COMPLEX)

/* handles.COMM_WORLD is the library's MPI_COMM_WORLD. Nothing of it counts before library_found. */
#define MEMBER(type, name) type name;
struct handles {
    PREDEFINED_HANDLES(MEMBER)
};
#undef MEMBER
extern struct handles handles;

/* Fills the table from the library, of which `where` is a handle of dlopen or RTLD_NEXT. The name
 * of a handle that it lacks, or NULL. */
const char *handles_resolve(void *where);

/* The address of the data that the text of an expression takes: "((MPI_Comm) (&(x)))" that of x.
 * NULL: it takes none, or there is no x. */
void *handles_address(void *where, const char *expression);

#endif
