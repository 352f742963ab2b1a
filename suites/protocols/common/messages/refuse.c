/* What has no communicator among its parameters and is refused by name; what has one is refused by
 * generated functions (generate.lua). mpi.h is not included: a function that never looks at its
 * arguments and never returns needs no more of a prototype than its name, as C's calling
 * conventions are on the machines this runs on. */
#define EXPORTED __attribute__((visibility("default")))

_Noreturn void layer_refuse(const char *what, const char *instead);

#define REFUSED(function, instead)                                                                 \
    int function(void);                                                                            \
    EXPORTED int function(void)                                                                    \
    {                                                                                              \
        layer_refuse(#function, instead);                                                          \
    }

REFUSED(MPI_Mrecv_c, "MPI_Mrecv")
REFUSED(MPI_Imrecv_c, "MPI_Imrecv")
REFUSED(MPI_Buffer_attach_c, "MPI_Buffer_attach")
REFUSED(MPI_Buffer_detach_c, "MPI_Buffer_detach")
REFUSED(MPI_Grequest_start, "requests of point-to-point messages")
REFUSED(MPIX_Grequest_start, "requests of point-to-point messages")
REFUSED(MPIX_Grequest_class_allocate, "requests of point-to-point messages")
REFUSED(MPI_Session_init, "MPI_Init")
REFUSED(MPI_Open_port, "the processes of MPI_COMM_WORLD")
