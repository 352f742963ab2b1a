/* laplace with MPI_Init_thread in place of MPI_Init, and without arguments, which MPI allows. */
#include <mpi.h>

#define MPI_Init(argc, argv) MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &(int){0})

#include "laplace.c"
