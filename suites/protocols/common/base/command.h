/* The command by which a process was started, for a protocol that starts another one of its kind.
 */
#ifndef COMMON_BASE_COMMAND_H
#define COMMON_BASE_COMMAND_H

/* The program and its arguments, ended by NULL. `given`: as MPI_Init got them; NULL: it got none,
 * as MPI allows, and those are taken with which the process was started. Lasts as long as the
 * process. NULL where they cannot be read. */
char **command_of_process(char **given);

#endif
