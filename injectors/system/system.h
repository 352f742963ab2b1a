/* The rank among the other processes of the machine: the signals that it sends, and its connection
 * to the launcher, by which the driver knows what the job has done itself and what was done to it;
 * and the shared memory that its MPI library leaves behind when it is killed. Must not know: MPI,
 * the plan. */
#ifndef INJECTORS_SYSTEM_SYSTEM_H
#define INJECTORS_SYSTEM_SYSTEM_H

#include "board/board.h"

#include <stddef.h>
#include <sys/types.h>

/* From now on signals that this process and its forked children send are noted on the board, which
 * must live on. */
void signals_open(struct board *board);

/* Descriptor of the connection to the launcher; negative: none is watched. */
extern int launcher_fd;

/* This process is the rank of `slot`, which must live on: watches its connection to the launcher,
 * if a parent of ours ends the rank when the launcher ends. */
void launcher_open(struct board_slot *slot);

/* In a forked child. */
void launcher_close(void);

/* As write() to launcher_fd. Notes on the board when the rank tells the launcher to end the job.
 * Does not return when the launcher is gone. */
ssize_t launcher_write(const void *data, size_t bytes);

/* As read() from launcher_fd. Does not return when the launcher is gone. */
ssize_t launcher_read(void *data, size_t bytes);

/* The process is a rank of this run: names of shared memory are kept from now on. */
void shared_memory_open(const char *run_folder);

/* In a forked child. */
void shared_memory_close(void);

/* A file with this whole path has just been made. */
void shared_memory_made(const char *path);

#endif
