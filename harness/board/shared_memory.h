/* The shared memory that an MPI library takes: files that it makes below /dev/shm, and takes away
 * by itself unless the rank is killed first. The driver of a run makes a file in its folder, the
 * ranks write into it what is made, a line each ("<inode> <path>"), and the driver takes away what
 * is left when all have ended. Files of a program or a protocol are none of these: a protocol may
 * keep its checkpoints there, over a restart. */
#ifndef BOARD_SHARED_MEMORY_H
#define BOARD_SHARED_MEMORY_H

#include <stdbool.h>
#include <string.h>

#define SHARED_MEMORY "/dev/shm"
#define SHARED_MEMORY_LIST "shared-memory" /* in the run folder */

/* A whole path, of MPICH itself, of UCX below it, or of Open MPI. */
static inline bool shared_memory_is_of_mpi(const char *path)
{
    static const char *const begins[] = {
        SHARED_MEMORY "/mpich_shar_tmp", SHARED_MEMORY "/ucx_shm_posix_",
        SHARED_MEMORY "/vader_segment.", SHARED_MEMORY "/sm_segment."};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(path, begins[i], strlen(begins[i])) == 0)
            return strchr(path + sizeof SHARED_MEMORY, '/') == NULL;
    return false;
}

#endif
