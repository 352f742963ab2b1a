/* Replace mode: a new process for each number that has none. */
#include "ft_mpi.h"

#include <stdlib.h>

/* What the living processes send the new ones. */
struct newcomer_info {
    int size, count;
    int number[RANKS_MOST]; /* of the first `count` new processes */
};
#define INFO_INTS (2 + RANKS_MOST)

/* The numbers that have no process in `alive`. */
static struct newcomer_info find_missing(MPI_Comm alive)
{
    struct newcomer_info info = {.size = ft_mpi.world.size};
    MPI_Group before, now;
    PMPI_Comm_group(ft_mpi.world.comm, &before);
    PMPI_Comm_group(alive, &now);
    for (int number = 0; number < info.size; number++) {
        int place;
        PMPI_Group_translate_ranks(before, 1, &number, now, &place);
        if (place == MPI_UNDEFINED)
            info.number[info.count++] = number;
    }
    PMPI_Group_free(&before);
    PMPI_Group_free(&now);
    return info;
}

/* Old and new processes in one communicator, the new ones behind. False: one has died. */
static bool merge(MPI_Comm family, bool comes, MPI_Comm *merged)
{
    if (PMPI_Intercomm_merge(family, comes, merged) == MPI_SUCCESS)
        return true;
    *merged = MPI_COMM_NULL; /* what a call leaves that fails means nothing */
    return false;
}

/* All get the order of their numbers. newcomer: its place among the new ones; -1: an old process,
 * whose number is known. */
static bool join(MPI_Comm merged, int newcomer, struct newcomer_info *info, MPI_Comm *whole)
{
    bool well = PMPI_Bcast(info, INFO_INTS, MPI_INT, 0, merged) == MPI_SUCCESS;
    if (well && newcomer >= 0)
        ft_mpi.world.rank = info->number[newcomer];
    if (well && PMPI_Comm_split(merged, 0, ft_mpi.world.rank, whole) == MPI_SUCCESS)
        return true;
    *whole = MPI_COMM_NULL;
    PMPIX_Comm_revoke(merged); /* the others must not wait in it for this one */
    return false;
}

/* Nobody waits in the merged communicator for a process that has none. */
static bool join_all(MPI_Comm alive, MPI_Comm family, struct newcomer_info *info, MPI_Comm *whole)
{
    MPI_Comm merged;
    *whole = MPI_COMM_NULL;
    bool well = ft_mpi_agree(alive, merge(family, false, &merged));
    if (well)
        well = join(merged, -1, info, whole);
    else if (merged != MPI_COMM_NULL)
        PMPIX_Comm_revoke(merged); /* the new ones may be in it */
    if (merged != MPI_COMM_NULL)
        PMPI_Comm_free(&merged);
    return well;
}

bool ft_mpi_replace(MPI_Comm alive, MPI_Comm *whole)
{
    MPI_Comm family = MPI_COMM_NULL;
    struct newcomer_info info = find_missing(alive);
    if (ft_mpi.command == NULL)
        ft_mpi_give_up("the command to start a new process by is unknown");
    bool spawned = PMPI_Comm_spawn(ft_mpi.command[0], &ft_mpi.command[1], info.count, MPI_INFO_NULL,
                                   0, alive, &family, MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
    bool well = ft_mpi_agree(alive, spawned);
    if (well)
        well = ft_mpi_agree(family, join_all(alive, family, &info, whole));
    if (!well && spawned)
        PMPIX_Comm_revoke(family);
    return well;
}

/* Those who called it go on without it: it is dead to them, which it would not be in MPI_Finalize.
 */
_Noreturn static void leave(void)
{
    faultline_becomes(FAULTLINE_NO_RANK);
    exit(EXIT_SUCCESS);
}

void ft_mpi_take_place(MPI_Comm parents)
{
    struct newcomer_info info;
    MPI_Comm merged;
    int newcomer;
    faultline_becomes(FAULTLINE_NO_RANK);
    PMPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(MPI_COMM_WORLD, &newcomer);
    bool well = merge(parents, true, &merged) && join(merged, newcomer, &info, &ft_mpi.world.comm);
    if (!well || !ft_mpi_agree(parents, true))
        leave();
    PMPI_Comm_free(&merged);
    ft_mpi.world.size = info.size;
    for (int number = 0; number < info.size; number++)
        ft_mpi.world.place[number] = ft_mpi.world.first[number] = number;
    faultline_becomes((uint64_t)ft_mpi.world.rank);
    ft_mpi_note_world();
}
