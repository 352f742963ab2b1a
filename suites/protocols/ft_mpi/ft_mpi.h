/* What the files of this folder share. */
#ifndef FT_MPI_H
#define FT_MPI_H

#include "faultline.h"
#include "mpi_library.h"

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))
#define RANKS_MOST 1024
#define BLANK (-1)

/* What becomes of the number of a rank that has died. */
enum mode {
    MODE_BLANK,   /* nobody has it */
    MODE_SHRINK,  /* those above move up */
    MODE_REPLACE, /* a new process has it */
};
#define MODES 3
extern const char *const ft_mpi_modes[MODES]; /* as FT_MPI_MODE and notes name them */

/* What MPI_COMM_WORLD is to the program. */
struct world {
    MPI_Comm comm; /* of those who live */
    int rank, size;
    int place[RANKS_MOST]; /* in comm, by the program's number; BLANK: nobody has it */
    int first[RANKS_MOST]; /* the number in the first world, for Faultline */
};

extern struct ft_mpi {
    enum mode mode;
    struct world world;
    char **command; /* and its arguments, ended by NULL; NULL: unknown */
} ft_mpi;

_Noreturn void ft_mpi_give_up(const char *why);

/* All who live say the same: nothing went wrong at anybody, and nobody in comm has died. */
bool ft_mpi_agree(MPI_Comm comm, bool well);

/* repair.c: those who live make a world again, once more for each death in between. All of them
 * call it after an agreement on the old one that has failed. */
void ft_mpi_repair(void);

/* Nobody comes in the place of those of the world that are not in `alive`. */
void ft_mpi_note_missing(MPI_Comm alive);

/* Notes in the trace that the world was repaired, and how. */
void ft_mpi_note_world(void);

/* spawn.c. `alive`, of all who live, becomes a communicator in which every number has a process:
 * *whole, in the order of numbers. False: somebody has died meanwhile. */
bool ft_mpi_replace(MPI_Comm alive, MPI_Comm *whole);

/* By a new process, in MPI_Init: it has the number of one that has died, and is in the world; or it
 * is not needed any more, and this does not return. */
void ft_mpi_take_place(MPI_Comm parents);

#endif
