/* FT-MPI's modes as a layer over ULFM ([UL] section 7; Fagg and Dongarra 2000): when a rank has
 * died, the call in which each other is fails once, and by then MPI_COMM_WORLD is repaired, blank,
 * shrunk or with a new process (FT_MPI_MODE). README.md says what a program makes of it. Must not
 * know: what the program computes. */
#include "ft_mpi.h"

#include "common/base/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ft_mpi ft_mpi;

const char *const ft_mpi_modes[MODES] = {
    [MODE_BLANK] = "blank", [MODE_SHRINK] = "shrink", [MODE_REPLACE] = "replace"};

_Noreturn void ft_mpi_give_up(const char *why)
{
    fprintf(stderr, "ft_mpi: rank %d: %s\n", ft_mpi.world.rank, why);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE);
}

bool ft_mpi_agree(MPI_Comm comm, bool well)
{
    int flag = well;
    return PMPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag != 0;
}

/* --- what a call came to ---------------------------------------------------------------------- */

/* All agree whether it went well at everybody. Where it did not, the world is repaired, and the
 * call fails at everybody. */
static int end_together(int result)
{
    if (result != MPI_SUCCESS)
        PMPIX_Comm_revoke(ft_mpi.world.comm); /* others may wait for what comes from here */
    if (ft_mpi_agree(ft_mpi.world.comm, result == MPI_SUCCESS))
        return MPI_SUCCESS;
    ft_mpi_repair();
    return MPIX_ERR_PROC_FAILED;
}

/* Of one process alone. Where it fails, the others come to agree too: their calls fail, for the
 * communicator is revoked, or they are at the end of a collective. */
static int end_alone(int result)
{
    return result == MPI_SUCCESS ? result : end_together(result);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* As MPI counts in world.comm. */
static int place_of(int number)
{
    if (number < 0 || number >= ft_mpi.world.size)
        return number; /* MPI_ANY_SOURCE and MPI_PROC_NULL; of others MPI complains */
    return ft_mpi.world.place[number] == BLANK ? MPI_PROC_NULL : ft_mpi.world.place[number];
}

static void translate_source(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE || status->MPI_SOURCE < 0)
        return;
    for (int number = 0; number < ft_mpi.world.size; number++)
        if (ft_mpi.world.place[number] == status->MPI_SOURCE) {
            status->MPI_SOURCE = number;
            return;
        }
}

/* --- what the program calls ------------------------------------------------------------------- */

#define OTHER(comm, call)                                                                          \
    if ((comm) != MPI_COMM_WORLD)                                                                  \
    return call

EXPORTED int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    OTHER(comm, PMPI_Comm_rank(comm, rank));
    *rank = ft_mpi.world.rank;
    return MPI_SUCCESS;
}

EXPORTED int MPI_Comm_size(MPI_Comm comm, int *size)
{
    OTHER(comm, PMPI_Comm_size(comm, size));
    *size = ft_mpi.world.size;
    return MPI_SUCCESS;
}

EXPORTED int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm comm)
{
    OTHER(comm, PMPI_Send(buffer, count, type, to, tag, comm));
    return end_alone(PMPI_Send(buffer, count, type, place_of(to), tag, ft_mpi.world.comm));
}

EXPORTED int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Status *status)
{
    OTHER(comm, PMPI_Recv(buffer, count, type, from, tag, comm, status));
    int result = PMPI_Recv(buffer, count, type, place_of(from), tag, ft_mpi.world.comm, status);
    if (result == MPI_SUCCESS)
        translate_source(status);
    return end_alone(result);
}

EXPORTED int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int to_tag,
                          void *in, int in_count, MPI_Datatype in_type, int from, int from_tag,
                          MPI_Comm comm, MPI_Status *status)
{
    OTHER(comm, PMPI_Sendrecv(out, out_count, out_type, to, to_tag, in, in_count, in_type, from,
                              from_tag, comm, status));
    int result = PMPI_Sendrecv(out, out_count, out_type, place_of(to), to_tag, in, in_count,
                               in_type, place_of(from), from_tag, ft_mpi.world.comm, status);
    if (result == MPI_SUCCESS)
        translate_source(status);
    return end_alone(result);
}

EXPORTED int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm)
{
    OTHER(comm, PMPI_Allreduce(from, to, count, type, op, comm));
    return end_together(PMPI_Allreduce(from, to, count, type, op, ft_mpi.world.comm));
}

EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    OTHER(comm, PMPI_Bcast(buffer, count, type, root, comm));
    if (place_of(root) == MPI_PROC_NULL)
        return MPI_SUCCESS; /* what comes from a blank is nothing */
    return end_together(PMPI_Bcast(buffer, count, type, place_of(root), ft_mpi.world.comm));
}

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    OTHER(comm, PMPI_Barrier(comm));
    return end_together(PMPI_Barrier(ft_mpi.world.comm));
}

/* --- begin and end ---------------------------------------------------------------------------- */

static enum mode chosen_mode(void)
{
    const char *text = getenv("FT_MPI_MODE");
    for (size_t mode = 0; text != NULL && mode < MODES; mode++)
        if (strcmp(text, ft_mpi_modes[mode]) == 0)
            return (enum mode)mode;
    fprintf(stderr, "ft_mpi: FT_MPI_MODE is '%s'; accepted: blank, shrink, replace\n",
            text == NULL ? "" : text);
    ft_mpi_give_up("no mode");
}

static void start(char ***argv)
{
    MPI_Comm parents;
    ft_mpi.mode = chosen_mode();
    ft_mpi.command = command_of_process(argv != NULL ? *argv : NULL);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        ft_mpi_take_place(parents);
        return;
    }
    ft_mpi.world.comm = MPI_COMM_WORLD;
    PMPI_Comm_rank(MPI_COMM_WORLD, &ft_mpi.world.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ft_mpi.world.size);
    if (ft_mpi.world.size > RANKS_MOST)
        ft_mpi_give_up("too many ranks");
    for (int number = 0; number < ft_mpi.world.size; number++)
        ft_mpi.world.place[number] = ft_mpi.world.first[number] = number;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS)
        start(argv);
    return result;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)required; /* threads are not supported */
    int result = PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, provided);
    if (result == MPI_SUCCESS)
        start(argv);
    return result;
}

/* The program has done its work, as all others have: nobody comes in the place of who dies now. */
EXPORTED int MPI_Finalize(void)
{
    MPI_Comm left = ft_mpi.world.comm;
    while (!ft_mpi_agree(left, true)) {
        MPI_Comm before = left;
        if (PMPIX_Comm_shrink(before, &left) != MPI_SUCCESS)
            ft_mpi_give_up("MPIX_Comm_shrink failed");
        ft_mpi_note_missing(left);
    }
    return PMPI_Finalize();
}
