/* The world and its repair: see world.h. */
#include "common/world/world.h"

#include "common/base/command.h"
#include "faultline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_WELL 1
#define PHASE_BYTES 64

struct world here = {.comm = MPI_COMM_NULL};

static MPI_Comm parents = MPI_COMM_NULL; /* of a process that takes a dead one's place */
static struct newcomer_info info_here;   /* ... and what they sent it */

_Noreturn void world_give_up(const char *why)
{
    fprintf(stderr, "%s: rank %d: %s\n", world_protocol, here.rank, why);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE);
}

void *world_memory(size_t bytes)
{
    void *made = calloc(1, bytes > 0 ? bytes : 1);
    if (!made)
        world_give_up("out of memory");
    return made;
}

bool world_agree(MPI_Comm comm, bool well)
{
    int flag = well ? ALL_WELL : 0;
    int result = PMPIX_Comm_agree(comm, &flag);
    return result == MPI_SUCCESS && flag == ALL_WELL;
}

void world_revoke(MPI_Comm comm)
{
    PMPIX_Comm_revoke(comm);
}

void world_failed(void)
{
    here.broken = true;
    world_revoke(here.comm);
}

/* --- a new process in a dead one's place ------------------------------------------------------ */

/* The ranks of `of` that are not in `alive`. */
static void find_missing(MPI_Comm of, MPI_Comm alive, struct newcomer_info *info)
{
    MPI_Group all, rest;
    PMPI_Comm_group(of, &all);
    PMPI_Comm_group(alive, &rest);
    for (int rank = 0; rank < here.ranks; rank++) {
        int place;
        PMPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place == MPI_UNDEFINED)
            info->missing[info->count++] = rank;
    }
    PMPI_Group_free(&all);
    PMPI_Group_free(&rest);
}

bool world_is_missing(const struct newcomer_info *info, int rank)
{
    for (int i = 0; i < info->count; i++)
        if (info->missing[i] == rank)
            return true;
    return false;
}

/* Old and new processes in one communicator, the new ones behind. False: one has died. */
static bool merge(MPI_Comm family, bool comes, MPI_Comm *whole)
{
    if (PMPI_Intercomm_merge(family, comes, whole) == MPI_SUCCESS)
        return true;
    *whole = MPI_COMM_NULL; /* what a call leaves that fails means nothing */
    return false;
}

/* The ranks as they were: `info` goes from the first of those who live to all. `place`: of a new
 * process among the new ones; -1: it is none. */
static bool join(MPI_Comm whole, int place, struct newcomer_info *info, MPI_Comm *comm)
{
    bool well = PMPI_Bcast(info, sizeof *info / sizeof(int), MPI_INT, 0, whole) == MPI_SUCCESS;
    if (well && place >= 0) {
        here.ranks = info->ranks;
        here.rank = info->missing[place];
    }
    if (well && PMPI_Comm_split(whole, 0, here.rank, comm) == MPI_SUCCESS)
        return true;
    *comm = MPI_COMM_NULL;
    world_revoke(whole); /* the others must not wait in it for this one */
    return false;
}

/* Nobody waits in the merged communicator for a process that has none. */
static bool join_all(MPI_Comm alive, MPI_Comm family, struct newcomer_info *info, MPI_Comm *comm)
{
    MPI_Comm whole;
    *comm = MPI_COMM_NULL;
    bool well = world_agree(alive, merge(family, false, &whole));
    if (well)
        well = join(whole, -1, info, comm);
    else if (whole != MPI_COMM_NULL)
        world_revoke(whole); /* the new ones may be in it */
    if (whole != MPI_COMM_NULL)
        PMPI_Comm_free(&whole);
    return well;
}

/* True: *comm has all ranks again. A new process that is not to be one has seen that its call has
 * failed, and is gone. */
static bool replace(MPI_Comm alive, struct newcomer_info *info, MPI_Comm *comm)
{
    MPI_Comm family = MPI_COMM_NULL;
    if (here.command == NULL)
        world_give_up("the command to start a new process by is unknown");
    bool spawned = PMPI_Comm_spawn(here.command[0], &here.command[1], info->count, MPI_INFO_NULL, 0,
                                   alive, &family, MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
    /* Where one of these has no such communicator, the others must not wait in it for him. */
    bool well = world_agree(alive, spawned);
    if (well)
        well = world_agree(family, join_all(alive, family, info, comm));
    if (!well && spawned)
        world_revoke(family);
    return well;
}

static void note_phase(const char *name)
{
    char phase[PHASE_BYTES];
    snprintf(phase, sizeof phase, "%s:%s", world_protocol, name);
    faultline_phase(phase);
}

void world_repair(int line, world_resume *resume)
{
    MPI_Comm alive, before = here.comm, comm = MPI_COMM_NULL;
    for (bool done = false; !done; before = alive) {
        struct newcomer_info info = {.ranks = here.ranks, .line = line};
        if (PMPIX_Comm_shrink(before, &alive) != MPI_SUCCESS)
            world_give_up("MPIX_Comm_shrink failed");
        find_missing(here.comm, alive, &info);
        note_phase("shrunk");
        done = replace(alive, &info, &comm) && resume(comm, &info);
    }
    here.comm = comm;
    here.broken = false;
}

/* --- a process that takes a dead one's place -------------------------------------------------- */

/* To whoever still waits for it it is dead, which it would not be in MPI_Finalize. */
_Noreturn void world_leave(void)
{
    faultline_becomes(FAULTLINE_NO_RANK);
    exit(EXIT_SUCCESS);
}

const struct newcomer_info *world_came(void)
{
    return parents != MPI_COMM_NULL ? &info_here : NULL;
}

/* MPI_COMM_WORLD is to the program what it was to the process before. */
static void note_world(void)
{
    int *ranks = world_memory((size_t)here.ranks * sizeof *ranks);
    for (int rank = 0; rank < here.ranks; rank++)
        ranks[rank] = rank;
    faultline_members((uint64_t)MPI_COMM_WORLD, ranks, here.ranks, here.rank);
    free(ranks);
}

static void take_place(void)
{
    MPI_Comm whole;
    int place;
    faultline_becomes(FAULTLINE_NO_RANK);
    PMPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(MPI_COMM_WORLD, &place);
    if (!merge(parents, true, &whole) || !join(whole, place, &info_here, &here.comm) ||
        !world_agree(parents, true))
        world_leave();
    PMPI_Comm_free(&whole);
    note_world();
    faultline_becomes((uint64_t)here.rank);
}

static void start(char ***argv)
{
    here.command = command_of_process(argv != NULL ? *argv : NULL);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        take_place();
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &here.ranks);
    if (here.ranks > RANKS_MOST)
        world_give_up("too many ranks");
    here.comm = MPI_COMM_WORLD;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS)
        start(argv);
    return status;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)required; /* threads are not supported */
    int status = PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, provided);
    if (status == MPI_SUCCESS)
        start(argv);
    return status;
}
