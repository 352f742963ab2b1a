/* Processes that the program spawns with a launcher that starts them: each gets a parent as those
 * of the first MPI_COMM_WORLD have, and a number after theirs, so that it is recorded as they are.
 */
#ifndef INJECTORS_TAPS_TAP_SPAWN_H
#define INJECTORS_TAPS_TAP_SPAWN_H

#include "injectors/taps/tap.h"

/* In place of the library's calls, at the wire level. Where this process was not started by a
 * parent of ours, or there is no number left, they are the library's. */
int spawn_command(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                  MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]);
int spawn_commands(int count, char *array_of_commands[], char **array_of_argv[],
                   const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                   MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]);

/* The number of this process, which is `rank` of its MPI_COMM_WORLD. */
int spawn_number(int rank);

/* In MPI_Init of a process that was spawned: learns the numbers of its parents. */
void spawn_open(void);

#endif
