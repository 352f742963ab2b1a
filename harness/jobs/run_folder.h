/* Where run folders are made. A run on the step engine is made in memory, below /dev/shm, which
 * spares the disk most of what its some 30 files cost: a symbolic link stands where the folder is
 * to be, and what is kept takes its place.
 *
 * The command holds a lock on its folder below /dev/shm; what a killed command has left there is
 * removed by the next one. */
#ifndef JOBS_RUN_FOLDER_H
#define JOBS_RUN_FOLDER_H

#include "base/error.h"

#include <stdbool.h>

#define RUN_FOLDER_ENVIRONMENT "FAULTLINE_IN_MEMORY" /* "0": runs are made on the disk */

/* More bytes of traces and output a run in memory must not write: it is ended there, as by
 * --trace-limit, and made again on the disk. */
#define RUN_FOLDER_MB 256

/* Before the run. Where memory is short, or /dev/shm cannot be used, nothing is done: then the run
 * makes its folder on the disk. There is nothing at `path` yet, but for what is above it. */
void run_folder_begin(const char *path);

bool run_folder_is_in_memory(const char *path);

/* After the run: it is in memory, and has taken so much of it, or left so little, that it may have
 * failed for that. */
bool run_folder_was_short(const char *path);

/* After the run: it is in memory, there is a program in it, and /dev/shm is mounted so that none in
 * it can be run. */
bool run_folder_refused_program(const char *path);

/* Brings it to the disk, if it is not there; its owner can read all that is in it then. Links that
 * lead into it do so there, too. ERROR_IO. */
enum error_code run_folder_keep(const char *path, struct error *error);

/* Removes it, wherever it is; there may be none. ERROR_IO. */
enum error_code run_folder_remove(const char *path, struct error *error);

/* The end of the command: nothing of it is left below /dev/shm. */
void run_folder_close(void);

#endif
