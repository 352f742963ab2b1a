/* See tap_survivors.h. MPICH's MPI_Finalize flushes what goes to each process and meets all of
 * them, the dead included. So each process stays in it, and lets the library send what it still has
 * to, until all have come: then nobody waits for anything any more. */
#include "injectors/taps/tap_survivors.h"

#include "base/mix.h"
#include "injectors/record/lives.h"
#include "injectors/taps/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Libraries without ULFM have no such class; there is none with which ranks live on yet. */
#ifdef MPIX_ERR_PROC_FAILED
#define CLASS_OF_DEATH MPIX_ERR_PROC_FAILED
#else
#define CLASS_OF_DEATH MPI_ERR_OTHER
#endif

static struct board *board;
static int own;
static bool has_left;

/* The library's own, which ours stands for. */
static int (*make_of_group)(MPI_Comm, MPI_Group, int, MPI_Comm *);

/* A receive that nothing ever matches. Split and not dup: attributes of MPI_COMM_SELF are the
 * program's. */
static MPI_Request nothing;
static bool has_nothing;

static void post_nothing(void)
{
    MPI_Comm alone;
    library_begin();
    if (library.Comm_split(handles.COMM_SELF, 0, 0, &alone) == MPI_SUCCESS) {
        library.Comm_set_errhandler(alone, handles.ERRORS_RETURN);
        has_nothing = library.Irecv(NULL, 0, handles.BYTE, 0, 0, alone, &nothing) == MPI_SUCCESS;
    }
    library_end();
}

/* While a request is not complete, a test of it lets the library do all that it has to. (A probe of
 * MPI_COMM_SELF does not: MPICH looks for nothing but what the process has sent to itself.) */
static void progress(void)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT; /* two threads may not test one request */
    int flag;
    if (has_left || !has_nothing || atomic_flag_test_and_set(&busy))
        return;
    library_begin();
    library.Test(&nothing, &flag, MPI_STATUS_IGNORE);
    library_end();
    atomic_flag_clear(&busy);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool all_are_initialized(void)
{
    for (int i = 0; i < board_processes(board); i++)
        if (atomic_load(&board->slot[i].state) < RANK_INITIALIZED && !lives_is_dead(i))
            return false;
    return true;
}

/* From here on the plan may kill this process. If the plan has asked for that already, the process
 * waits until its parent kills it, however late the parent is. Whoever asks later finds it alone,
 * and stops it. */
static void come_apart(void)
{
    struct board_slot *slot = &board->slot[own];
    uint32_t together = TOGETHER_IN;
    atomic_compare_exchange_strong(&slot->together, &together, TOGETHER_NOT);
    while (atomic_load(&slot->kill_request) != 0)
        lives_pause();
}

void survivors_begin(void)
{
    if (board == NULL)
        return;
    post_nothing();
    while (!all_are_initialized())
        lives_pause();
    come_apart();
}

bool survivors_opened(void)
{
    return board != NULL;
}

bool survivors_are_leaving(void)
{
    progress();
    for (int i = 0; i < board_processes(board); i++)
        if (atomic_load(&board->slot[i].leaving) == 0 && !lives_is_dead(i))
            return false;
    return true;
}

static int finalize(void)
{
    while (!survivors_are_leaving())
        lives_pause();
    has_left = true;
    return MPI_SUCCESS;
}

static int finalized(int *flag)
{
    *flag = has_left;
    return MPI_SUCCESS;
}

/* --- a communicator of some ------------------------------------------------------------------- */

/* What a member asks for where it meets the others: the tag that it gives, which is 0 or more, or
 * what the library would refuse to it alone, while the others wait for it in the library. */
#define ASKS_REFUSED UINT32_MAX

/* The members of a group as they meet. */
struct party {
    int size;
    int *process;  /* owned */
    uint64_t key;  /* the same at all members, and of no other meeting that they can be in now */
    uint32_t asks; /* this process */
};

/* How often a group has met, so that they do not take the meeting before for the next. */
static struct {
    uint64_t group;
    uint64_t times;
} * met;
static size_t met_count;

static uint64_t *times_met(uint64_t group)
{
    for (size_t i = 0; i < met_count; i++)
        if (met[i].group == group)
            return &met[i].times;
    void *grown = realloc(met, (met_count + 1) * sizeof *met);
    if (grown == NULL)
        return NULL;
    met = grown;
    met[met_count].group = group;
    met[met_count].times = 0;
    return &met[met_count++].times;
}

static bool find_members(MPI_Group group, struct party *party)
{
    MPI_Group world;
    library.Group_size(group, &party->size);
    int *rank = calloc((size_t)party->size + 1, sizeof *rank);
    party->process = calloc((size_t)party->size + 1, sizeof *party->process);
    bool found = rank != NULL && party->process != NULL;
    for (int i = 0; found && i < party->size; i++)
        rank[i] = i;
    library.Comm_group(handles.COMM_WORLD, &world);
    if (found)
        library.Group_translate_ranks(group, party->size, rank, world, party->process);
    library.Group_free(&world);
    free(rank);
    return found;
}

static bool is_here(const struct party *party, int process)
{
    return atomic_load(&board->slot[process].meets) == party->key;
}

/* To the same call: as in the library, the tag tells which one it is. */
static bool has_come(const struct party *party, int process)
{
    uint32_t asks = atomic_load(&board->slot[process].meets_with);
    return is_here(party, process) &&
           (asks == party->asks || asks == ASKS_REFUSED || party->asks == ASKS_REFUSED);
}

/* It may have gone again since: what the library refuses returns at once. */
static bool has_agreed(const struct party *party, int process)
{
    return atomic_load(&board->slot[process].agreed) == party->key;
}

/* Of a member: it has come, has agreed, has gone. */
typedef bool stage(const struct party *party, int process);

/* Then the others need not come any more. */
static bool any_died_before(const struct party *party)
{
    for (int i = 0; i < party->size; i++)
        if (lives_is_informed(party->process[i]) && !has_agreed(party, party->process[i]))
            return true;
    return false;
}

/* Each member `is`. False: one has died before it agreed. */
static bool await_all(const struct party *party, stage *is)
{
    for (int i = 0; i < party->size; i++)
        while (!is(party, party->process[i])) {
            if (any_died_before(party))
                return false;
            lives_pause();
        }
    return true;
}

/* A member that has agreed is not killed by the plan before it is through: so each that has come
 * and sees that all have agrees, and if one dies before it has, all that live see that. */
static bool meet(const struct party *party)
{
    struct board_slot *slot = &board->slot[own];
    uint32_t apart = TOGETHER_NOT;
    atomic_store(&slot->meets_with, party->asks);
    atomic_store(&slot->meets, party->key);
    if (!await_all(party, has_come))
        return false;
    while (!atomic_compare_exchange_strong(&slot->together, &apart, TOGETHER_IN)) {
        apart = TOGETHER_NOT; /* it is being killed */
        lives_pause();
    }
    atomic_store(&slot->agreed, party->key);
    return await_all(party, has_agreed);
}

static bool has_gone(const struct party *party, int process)
{
    return !is_here(party, process) || lives_is_informed(process);
}

/* Who is through may still have to send what others of them wait for. all: they were together. */
static void part(const struct party *party, bool all)
{
    atomic_store(&board->slot[own].meets, 0);
    if (all)
        await_all(party, has_gone);
    come_apart();
}

static bool any_is_refused(const struct party *party)
{
    for (int i = 0; i < party->size; i++)
        if (atomic_load(&board->slot[party->process[i]].meets_with) == ASKS_REFUSED)
            return true;
    return false;
}

static int fail_with(MPI_Comm comm, int class)
{
    library.Comm_call_errhandler(comm, class);
    return class;
}

/* What the library looks at in each process by itself, before it asks the others. */
static uint32_t find_asked(MPI_Comm comm, int tag, const MPI_Comm *made)
{
    int *most, flag;
    if (comm == handles.COMM_NULL || made == NULL || tag < 0)
        return ASKS_REFUSED;
    library.Comm_test_inter(comm, &flag);
    if (flag)
        return ASKS_REFUSED;
    library.Comm_get_attr(handles.COMM_WORLD, MPI_TAG_UB, &most, &flag);
    return flag && tag > *most ? ASKS_REFUSED : (uint32_t)tag;
}

/* all: they have agreed. What is refused to one is made by nobody; there the library says why. */
static int make_together(const struct party *party, bool all, MPI_Comm comm, MPI_Group group,
                         int tag, MPI_Comm *made)
{
    if (party->asks == ASKS_REFUSED || (all && !any_is_refused(party)))
        return make_of_group(comm, group, tag, made);
    return fail_with(comm, all ? MPI_ERR_OTHER : CLASS_OF_DEATH);
}

/* false: no memory. */
static bool name_party(MPI_Group group, struct party *party, uint64_t **times)
{
    if (!find_members(group, party))
        return false;
    uint64_t hash = (uint64_t)party->size;
    for (int i = 0; i < party->size; i++)
        hash = mix_two(hash, (uint64_t)party->process[i]);
    *times = times_met(hash);
    party->key = *times != NULL ? mix_two(hash, **times) | 1 : 0;
    return *times != NULL;
}

static int create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    struct party party = {0};
    uint64_t *times;
    int place, result = library.Group_rank(group, &place);
    if (result != MPI_SUCCESS || place == MPI_UNDEFINED)
        return make_of_group(comm, group, tag, made);
    if (!name_party(group, &party, &times)) {
        free(party.process);
        return MPI_ERR_NO_MEM;
    }
    party.asks = find_asked(comm, tag, made);
    bool all = meet(&party);
    result = make_together(&party, all, comm, group, tag, made);
    *times += all;
    part(&party, all);
    free(party.process);
    return result;
}

/* --- ULFM ------------------------------------------------------------------------------------- */

#ifdef MPIX_ERR_PROC_FAILED
/* Debian's MPICH exports these functions and aborts in them. */
static _Noreturn void refuse(const char *call)
{
    snprintf(board->refused, sizeof board->refused,
             "%s: MPICH under mpiexec has no ULFM; use the step engine, Open MPI 5, or "
             "faultline_lives.h",
             call);
    fprintf(stderr, "faultline: %s\n", board->refused);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static int refuse_agree(MPI_Comm comm, int *flag)
{
    (void)comm;
    (void)flag;
    refuse("MPIX_Comm_agree");
}

static int refuse_failure_ack(MPI_Comm comm)
{
    (void)comm;
    refuse("MPIX_Comm_failure_ack");
}

static int refuse_get_acked(MPI_Comm comm, MPI_Group *group)
{
    (void)comm;
    (void)group;
    refuse("MPIX_Comm_failure_get_acked");
}

static int refuse_revoke(MPI_Comm comm)
{
    (void)comm;
    refuse("MPIX_Comm_revoke");
}

static int refuse_shrink(MPI_Comm comm, MPI_Comm *made)
{
    (void)comm;
    (void)made;
    refuse("MPIX_Comm_shrink");
}

static void refuse_ulfm(void)
{
    library.X_Comm_agree = refuse_agree;
    library.X_Comm_failure_ack = refuse_failure_ack;
    library.X_Comm_failure_get_acked = refuse_get_acked;
    library.X_Comm_revoke = refuse_revoke;
    library.X_Comm_shrink = refuse_shrink;
}
#else
static void refuse_ulfm(void)
{
}
#endif

void survivors_open(struct board *of_run, int self)
{
    board = of_run;
    own = self;
    lives_progress = progress;
    make_of_group = library.Comm_create_group;
    library.Comm_create_group = create_group;
    library.Finalize = finalize;
    library.Finalized = finalized;
    refuse_ulfm();
}
