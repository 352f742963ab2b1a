/* What has no communicator among its parameters and is refused by name, by C3 and by the message
 * layer; what has one is refused by the generated functions of each. mpi.h is not included: a
 * function that never looks at its arguments and never returns needs no more of a prototype than
 * its name, as C's calling conventions are on the machines this runs on. */
#ifndef COMMON_BASE_REFUSED_H
#define COMMON_BASE_REFUSED_H

/* `refuse(what, instead)` says what would do, and does not return. */
#define REFUSED(refuse, function, instead)                                                         \
    int function(void);                                                                            \
    __attribute__((visibility("default"))) int function(void)                                      \
    {                                                                                              \
        refuse(#function, instead);                                                                \
    }

#define REFUSED_ALL(refuse)                                                                        \
    REFUSED(refuse, MPI_Mrecv_c, "MPI_Mrecv")                                                      \
    REFUSED(refuse, MPI_Imrecv_c, "MPI_Imrecv")                                                    \
    REFUSED(refuse, MPI_Buffer_attach_c, "MPI_Buffer_attach")                                      \
    REFUSED(refuse, MPI_Buffer_detach_c, "MPI_Buffer_detach")                                      \
    REFUSED(refuse, MPI_Grequest_start, "requests of point-to-point messages")                     \
    REFUSED(refuse, MPIX_Grequest_start, "requests of point-to-point messages")                    \
    REFUSED(refuse, MPIX_Grequest_class_allocate, "requests of point-to-point messages")           \
    REFUSED(refuse, MPI_Session_init, "MPI_Init")                                                  \
    REFUSED(refuse, MPI_Open_port, "the processes of MPI_COMM_WORLD")

#endif
