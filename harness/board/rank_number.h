/* What the launcher has left in the environment of this process: which rank it is, of how many. */
#ifndef BOARD_RANK_NUMBER_H
#define BOARD_RANK_NUMBER_H

/* Where launchers leave a rank's number, in this order: for words. */
#define RANK_VARIABLES "PMI_RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, SLURM_PROCID"

/* The whole number from 0 to INT_MAX that the environment variable holds; -1: it holds none. */
int number_from_environment(const char *name);

/* -1 if no launcher has set it. */
int rank_from_environment(void);

/* How many ranks the job has; -1 if no launcher has set it. */
int rank_count_from_environment(void);

#endif
