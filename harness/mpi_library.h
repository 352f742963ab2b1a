/* mpi.h, and what it takes to build for either MPI library: the only header that asks which it is.
 * It declares all that the library exports, also what has left the standard and its own extensions:
 * a program that was linked long ago may call it. */
#ifndef MPI_LIBRARY_H
#define MPI_LIBRARY_H

/* Open MPI declares what MPI-3.0 has removed only where this is 0, and it is not after an mpi.h
 * without this header. */
#ifndef OMPI_OMIT_MPI1_COMPAT_DECLS
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#endif
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

/* Open MPI marks what is deprecated, which must be answered all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* MPI_Isendrecv came with MPI-4, and Open MPI 5 has it while it says that it is MPI-3.1. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define MPI_LIBRARY_HAS_ISENDRECV
#endif

/* Before version 5 Open MPI has persistent collectives under names of its own. */
#if defined OMPI_HAVE_MPI_EXT_PCOLLREQ && OMPI_MAJOR_VERSION < 5
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Exscan_init MPIX_Exscan_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Scan_init MPIX_Scan_init
#define MPI_Scatter_init MPIX_Scatter_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

#endif
