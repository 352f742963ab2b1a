/* Forward recovery with ULFM [UL, section 6.1]: when a rank dies the others revoke, shrink, spawn a
 * process in its place, merge, and all go back to the newest line, which each rank and the one
 * after it keep in memory. A layer over PMPI. README.md says what it assumes, and how a program
 * that knows nothing of it comes from a failed call to its next potential checkpoint.
 *
 * Every potential checkpoint is a line; line 1 is the state that a program begins with, which each
 * process makes for itself. Must not know: what the program computes. */
#include "respawn.h"

#include "checkpoint.h"
#include "faultline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_FIRST 1
#define ALL_WELL 1

struct respawn respawn = {.comm = MPI_COMM_NULL};

static MPI_Comm parents = MPI_COMM_NULL; /* of a process that takes a dead one's place */

_Noreturn static void give_up(const char *why)
{
    fprintf(stderr, "respawn: rank %d: %s\n", respawn.rank, why);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE);
}

static void *memory(size_t bytes)
{
    void *made = calloc(1, bytes > 0 ? bytes : 1);
    if (!made)
        give_up("out of memory");
    return made;
}

/* --- what all do alike ------------------------------------------------------------------------ */

/* All who live say the same: nothing went wrong at anybody, and nobody has died. */
static bool all_agree(MPI_Comm comm, bool well)
{
    int flag = well ? ALL_WELL : 0;
    int result = PMPIX_Comm_agree(comm, &flag);
    return result == MPI_SUCCESS && flag == ALL_WELL;
}

/* The others hear of it, in whatever they wait. */
static void revoke(MPI_Comm comm)
{
    PMPIX_Comm_revoke(comm);
}

void respawn_failed(void)
{
    respawn.broken = true;
    revoke(respawn.comm);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void copy_state(char *to)
{
    for (size_t i = 0; i < respawn.state.count; i++) {
        const struct piece *piece = &respawn.state.piece[i];
        memcpy(to, piece->data, piece->as_stored.bytes);
        to += piece->as_stored.bytes;
    }
}

static void give_back(const char *from)
{
    for (size_t i = 0; i < respawn.state.count; i++) {
        const struct piece *piece = &respawn.state.piece[i];
        memcpy(piece->data, from, piece->as_stored.bytes);
        from += piece->as_stored.bytes;
    }
}

/* What this rank has of the line goes to the rank after it, and what the one before has comes here:
 * line->left, which is the line's own from now on. */
static bool exchange(MPI_Comm comm, struct line *line)
{
    int after = (respawn.rank + 1) % respawn.ranks;
    int before = (respawn.rank + respawn.ranks - 1) % respawn.ranks;
    int mine = (int)line->bytes, bytes = 0;
    line->left = NULL;
    bool well = PMPI_Sendrecv(&mine, 1, MPI_INT, after, TAG_SIZE, &bytes, 1, MPI_INT, before,
                              TAG_SIZE, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (!well)
        return false;
    line->left_bytes = (size_t)bytes;
    line->left = memory(line->left_bytes);
    return PMPI_Sendrecv(line->own, mine, MPI_BYTE, after, TAG_STATE, line->left, bytes, MPI_BYTE,
                         before, TAG_STATE, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* The end of what is done together for a line: all take it, or nobody does. */
static bool conclude(MPI_Comm comm, struct line *line, bool well)
{
    if (!well)
        revoke(comm); /* who waits for what comes from here waits in vain */
    if (!all_agree(comm, well)) {
        free(line->own);
        free(line->left);
        return false;
    }
    free(respawn.line.own);
    free(respawn.line.left);
    respawn.line = *line;
    return true;
}

static struct line new_line(uint64_t number)
{
    struct line line = {.number = number, .bytes = (size_t)state_data_bytes(&respawn.state)};
    line.own = memory(line.bytes);
    return line;
}

/* A line is taken by all or by none. False: somebody has died, and the line before is the newest.
 */
static bool take_line(void)
{
    struct line line = new_line(respawn.line.number + 1);
    copy_state(line.own);
    faultline_checkpoint(line.number);
    if (!conclude(respawn.comm, &line, exchange(respawn.comm, &line)))
        return false;
    faultline_saved(line.number);
    if (respawn.rank == 0)
        faultline_commit(line.number);
    return true;
}

/* --- a new process in a dead one's place ------------------------------------------------------ */

/* The ranks of `of` that are not in `alive`, in order. */
static int find_missing(MPI_Comm of, MPI_Comm alive, int *missing)
{
    MPI_Group all, rest;
    int count = 0;
    PMPI_Comm_group(of, &all);
    PMPI_Comm_group(alive, &rest);
    for (int rank = 0; rank < respawn.ranks; rank++) {
        int place;
        PMPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place == MPI_UNDEFINED)
            missing[count++] = rank;
    }
    PMPI_Group_free(&all);
    PMPI_Group_free(&rest);
    return count;
}

/* What those who live tell those who come: {ranks, line, how many, who}. */
enum { TELL_RANKS, TELL_LINE, TELL_COUNT, TELL_MISSING };

/* One communicator of both, its ranks as they were: `told` goes from the first of those who live to
 * all. `place`: of a new process among the new ones; -1: it is none. */
static bool join(MPI_Comm family, int place, int *told, MPI_Comm *comm)
{
    MPI_Comm whole;
    *comm = MPI_COMM_NULL;
    if (PMPI_Intercomm_merge(family, place >= 0, &whole) != MPI_SUCCESS)
        return false;
    bool well = PMPI_Bcast(told, TELL_MISSING + RANKS_MOST, MPI_INT, 0, whole) == MPI_SUCCESS;
    if (well && place >= 0) {
        respawn.ranks = told[TELL_RANKS];
        respawn.rank = told[TELL_MISSING + place];
    }
    well = well && PMPI_Comm_split(whole, 0, respawn.rank, comm) == MPI_SUCCESS;
    if (!well)
        revoke(whole);
    PMPI_Comm_free(&whole);
    return well;
}

/* True: *comm has all ranks again. A new process that is not to be one has seen that its call has
 * failed, and is gone. */
static bool replace(MPI_Comm alive, int *told, MPI_Comm *comm)
{
    MPI_Comm family = MPI_COMM_NULL;
    bool spawned =
        PMPI_Comm_spawn(respawn.command, respawn.arguments, told[TELL_COUNT], MPI_INFO_NULL, 0,
                        alive, &family, MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
    /* Where one of these has no such communicator, the others must not wait in it for him. */
    bool well = all_agree(alive, spawned);
    if (well)
        well = all_agree(family, join(family, -1, told, comm));
    if (!well && spawned)
        revoke(family);
    return well;
}

/* --- back to a line --------------------------------------------------------------------------- */

static bool is_missing(const int *told, int rank)
{
    for (int i = 0; i < told[TELL_COUNT]; i++)
        if (told[TELL_MISSING + i] == rank)
            return true;
    return false;
}

/* With a rank and the one after it a line is gone: then all begin again. */
static bool is_lost(const int *told)
{
    for (int i = 0; i < told[TELL_COUNT]; i++)
        if (is_missing(told, (told[TELL_MISSING + i] + 1) % told[TELL_RANKS]))
            return true;
    return false;
}

/* What is kept for a rank that has died goes from the one after it to its new process. */
static bool hand_over(MPI_Comm comm, const int *told, const struct line *line)
{
    int before = (respawn.rank + respawn.ranks - 1) % respawn.ranks;
    if (is_missing(told, respawn.rank)) {
        int after = (respawn.rank + 1) % respawn.ranks;
        return PMPI_Recv(line->own, (int)line->bytes, MPI_BYTE, after, TAG_LINE, comm,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    return !is_missing(told, before) || PMPI_Send(respawn.line.left, (int)respawn.line.left_bytes,
                                                  MPI_BYTE, before, TAG_LINE, comm) == MPI_SUCCESS;
}

/* All are at the line that was told, each with what the one before it has of it; or nobody is. */
static bool resume(MPI_Comm comm, const int *told)
{
    bool first = told[TELL_LINE] == LINE_FIRST || is_lost(told);
    struct line line = new_line(first ? LINE_FIRST : (uint64_t)told[TELL_LINE]);
    memcpy(line.own, first ? respawn.first : respawn.line.own, line.bytes);
    bool well = first || hand_over(comm, told, &line);
    return conclude(comm, &line, well && exchange(comm, &line));
}

static void go_on(MPI_Comm comm)
{
    respawn.comm = comm;
    respawn.broken = false;
    give_back(respawn.line.own);
    /* The first line is the beginning, whether the process before came to say that it took it. */
    faultline_restored(respawn.line.number == LINE_FIRST ? 0 : respawn.line.number);
}

/* --- recovery --------------------------------------------------------------------------------- */

/* This rank has done its work, and what it has told of it stands: it does not go back. */
static void stay_at_end(MPI_Comm comm, uint64_t end)
{
    if (respawn.line.number != end)
        give_up("the line that ranks have finished with is lost");
    respawn.comm = comm;
    respawn.broken = false;
}

/* Once more with whoever lives, until nobody dies in between. finished: this rank is in
 * MPI_Finalize. */
static void recover(bool finished)
{
    uint64_t end = respawn.line.number;
    MPI_Comm alive, before = respawn.comm, comm;
    int told[TELL_MISSING + RANKS_MOST];
    for (bool done = false; !done; before = alive) {
        if (PMPIX_Comm_shrink(before, &alive) != MPI_SUCCESS)
            give_up("MPIX_Comm_shrink failed");
        memset(told, 0, sizeof told);
        told[TELL_RANKS] = respawn.ranks;
        told[TELL_LINE] = (int)respawn.line.number;
        told[TELL_COUNT] = find_missing(respawn.comm, alive, &told[TELL_MISSING]);
        faultline_phase("respawn:shrunk");
        done = replace(alive, told, &comm) && resume(comm, told);
    }
    if (finished)
        stay_at_end(comm, end);
    else
        go_on(comm);
}

/* --- a process that takes a dead one's place -------------------------------------------------- */

static int told_here[TELL_MISSING + RANKS_MOST];

/* It is not needed: those who called it go on without it. To whoever still waits for it it is dead,
 * which it would not be in MPI_Finalize. */
_Noreturn static void leave(void)
{
    faultline_becomes(FAULTLINE_NO_RANK);
    exit(EXIT_SUCCESS);
}

/* MPI_COMM_WORLD is to the program what it was to the process before. */
static void tell_world(void)
{
    int *world = memory((size_t)respawn.ranks * sizeof *world);
    for (int rank = 0; rank < respawn.ranks; rank++)
        world[rank] = rank;
    faultline_members((uint64_t)MPI_COMM_WORLD, world, respawn.ranks, respawn.rank);
    free(world);
}

static void take_place(void)
{
    int place;
    faultline_becomes(FAULTLINE_NO_RANK);
    PMPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(MPI_COMM_WORLD, &place);
    if (!join(parents, place, told_here, &respawn.comm) || !all_agree(parents, true))
        leave();
    tell_world();
    faultline_becomes((uint64_t)respawn.rank);
}

/* --- what the program calls ------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    respawn.command = argv[0];
    respawn.arguments = argc > 1 ? &argv[1] : MPI_ARGV_NULL;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        take_place();
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &respawn.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &respawn.ranks);
    if (respawn.ranks > RANKS_MOST)
        give_up("too many ranks");
    respawn.comm = MPI_COMM_WORLD;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS)
        start(*argc, *argv);
    return status;
}

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    if (state_register(&respawn.state, name, data, bytes, &error) != OK)
        give_up(error.text);
}

EXPORTED int protocol_restore(void)
{
    respawn.first = memory((size_t)state_data_bytes(&respawn.state));
    copy_state(respawn.first);
    respawn.line = new_line(LINE_FIRST);
    copy_state(respawn.line.own);
    if (parents == MPI_COMM_NULL) {
        faultline_checkpoint(LINE_FIRST);
        return 0;
    }
    if (!resume(respawn.comm, told_here))
        leave();
    go_on(respawn.comm);
    return (int)respawn.line.number;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    if (!respawn.broken && take_line())
        return (int)respawn.line.number;
    if (!respawn.broken)
        respawn_failed();
    else
        all_agree(respawn.comm, false); /* who has come to the line must not wait for it */
    recover(false);
    return 0;
}

/* All have done their work, or it is done again from the last line, which is its end. */
EXPORTED int MPI_Finalize(void)
{
    while (!all_agree(respawn.comm, true))
        recover(true);
    return PMPI_Finalize();
}
