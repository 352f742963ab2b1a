/* A new process is spawned, with ULFM: see newcomers.h. */
#include "common/base/command.h"
#include "common/job/job.h"
#include "common/newcomers/way.h"
#include "faultline.h"
#include "faultline_lives.h"

#include <stdlib.h>
#include <string.h>

#define TAG_KNOWN 1
#define TAG_NEVER 2 /* nobody sends it */
#define NOBODY (-1)

/* What the living processes send the new one, in front of the caller's numbers. */
enum { INFO_RANK, INFO_RANKS, INFO_REST };

/* Of all ranks, in their order: one for letters and one for nothing but to learn that somebody has
 * died, and for what is said to the process that comes. */
struct communicators {
    MPI_Comm letters, alarm;
};

static struct {
    struct place self;
    size_t numbers; /* told, with INFO_REST */
    struct communicators now, next;
    MPI_Request watch;   /* a receive in now.alarm, which fails when somebody dies */
    MPI_Comm alive;      /* while a rank is missing */
    int missing;         /* that rank, or the first of those that are replaced together */
    MPI_Group everybody; /* of the first communicator that this process had */
} spawned = {.watch = MPI_REQUEST_NULL, .everybody = MPI_GROUP_NULL};

static void must_succeed(int result, const char *when)
{
    if (result != MPI_SUCCESS)
        newcomers_one_at_a_time(when);
}

static bool all_agree(MPI_Comm comm, bool well)
{
    int flag = well;
    return PMPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag;
}

static void stop_watch(void)
{
    if (spawned.watch == MPI_REQUEST_NULL)
        return;
    PMPI_Cancel(&spawned.watch);
    PMPI_Request_free(&spawned.watch);
}

/* A receive watches: with Open MPI 5.0.7 MPI_Iprobe raises nothing when somebody has died. */
static void use(const struct communicators *all)
{
    PMPI_Comm_set_errhandler(all->letters, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(all->alarm, MPI_ERRORS_RETURN);
    stop_watch();
    spawned.now = *all;
    PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_NEVER, spawned.now.alarm, &spawned.watch);
    if (spawned.everybody == MPI_GROUP_NULL)
        PMPI_Comm_group(all->alarm, &spawned.everybody);
}

/* It may not have been made, because somebody has died. */
static void free_if_made(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        PMPI_Comm_free(comm);
}

/* --- one communicator of all ------------------------------------------------------------------ */

/* Of those that are replaced together, the first; some of them are not in `alive`. *count: how
 * many.
 */
static int find_missing(MPI_Comm alive, int *count)
{
    MPI_Group all, rest;
    int missing = NOBODY, place;
    *count = 0;
    PMPI_Comm_group(spawned.now.alarm, &all);
    PMPI_Comm_group(alive, &rest);
    for (int rank = 0; rank < spawned.self.ranks; rank++) {
        PMPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place != MPI_UNDEFINED)
            continue;
        if (missing != NOBODY && newcomers_first(rank) != missing)
            newcomers_one_at_a_time("together with one");
        missing = newcomers_first(rank);
        (*count)++;
    }
    PMPI_Group_free(&all);
    PMPI_Group_free(&rest);
    return missing;
}

/* With those that come, behind those who live; false: somebody has died. */
static bool merge(MPI_Comm family, bool comes, MPI_Comm *whole)
{
    PMPI_Comm_set_errhandler(family, MPI_ERRORS_RETURN);
    if (PMPI_Intercomm_merge(family, comes, whole) != MPI_SUCCESS) {
        *whole = MPI_COMM_NULL; /* what a call leaves that fails means nothing */
        return false;
    }
    PMPI_Comm_set_errhandler(*whole, MPI_ERRORS_RETURN);
    return true;
}

/* `info` goes from the first living process to all, and all get their old order. `rank`: of this
 * process; NOBODY in a new process, which learns it from `info`. `place`: of a new process among
 * the new ones. False: somebody has died. */
static bool join(MPI_Comm whole, int rank, int place, int *info, struct communicators *all)
{
    if (PMPI_Bcast(info, (int)spawned.numbers, MPI_INT, 0, whole) == MPI_SUCCESS) {
        rank = rank == NOBODY ? info[INFO_RANK] + place : rank;
        if (PMPI_Comm_split(whole, 0, rank, &all->letters) != MPI_SUCCESS)
            all->letters = MPI_COMM_NULL; /* what a call leaves that fails means nothing */
        else if (PMPI_Comm_split(whole, 0, rank, &all->alarm) != MPI_SUCCESS)
            all->alarm = MPI_COMM_NULL;
        else
            return true;
    }
    PMPIX_Comm_revoke(whole); /* nobody waits in it for this process */
    return false;
}

/* --- those who live --------------------------------------------------------------------------- */

static bool one_has_died(void)
{
    int done = 0;
    if (spawned.watch != MPI_REQUEST_NULL &&
        PMPI_Test(&spawned.watch, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return false;
    PMPIX_Comm_revoke(spawned.now.alarm);
    /* Who has come to the end must not wait there for this rank. */
    all_agree(spawned.now.alarm, false);
    return true;
}

static bool all_are_well(void)
{
    if (!faultline_told_dead) { /* no Faultline: nobody goes on when another dies */
        PMPI_Barrier(spawned.now.alarm);
        return true;
    }
    if (all_agree(spawned.now.alarm, true))
        return true;
    PMPIX_Comm_revoke(spawned.now.alarm);
    return false;
}

/* Others of those that are replaced leave after the first shrink, and come to no other. */
static int come_together(void)
{
    MPI_Comm before = MPI_COMM_NULL, from = spawned.now.alarm;
    int count, own = newcomers_first(spawned.self.rank);
    do {
        must_succeed(PMPIX_Comm_shrink(from, &spawned.alive), "while those who live came together");
        PMPI_Comm_set_errhandler(spawned.alive, MPI_ERRORS_RETURN);
        free_if_made(&before);
        before = from = spawned.alive;
        spawned.missing = find_missing(spawned.alive, &count);
    } while (spawned.missing != own && count < newcomers_count(spawned.missing));
    return spawned.missing;
}

static MPI_Comm spawn(void)
{
    MPI_Comm family;
    char **command = command_of_process(job.arguments);
    if (command == NULL)
        die("the command to start a new process by is unknown");
    int result = PMPI_Comm_spawn(command[0], &command[1], newcomers_count(spawned.missing),
                                 MPI_INFO_NULL, 0, spawned.alive, &family, MPI_ERRCODES_IGNORE);
    must_succeed(result, "while one was replaced");
    return family;
}

/* All of those who live do: every one of them is well. The job ends if one of them is dead. */
static bool are_well(bool well)
{
    int flag = well;
    must_succeed(PMPIX_Comm_agree(spawned.alive, &flag), "while one was replaced");
    return flag;
}

static void forget_next(void)
{
    free_if_made(&spawned.next.letters);
    free_if_made(&spawned.next.alarm);
}

/* All who live come to the same result. */
static bool call(const int *info)
{
    int *all = memory(spawned.numbers, sizeof *all);
    MPI_Comm whole = MPI_COMM_NULL, family = spawn();
    all[INFO_RANK] = spawned.missing;
    all[INFO_RANKS] = spawned.self.ranks;
    memcpy(all + INFO_REST, info, (spawned.numbers - INFO_REST) * sizeof *all);
    spawned.next = (struct communicators){MPI_COMM_NULL, MPI_COMM_NULL};
    bool well = are_well(merge(family, false, &whole));
    if (well)
        well = are_well(join(whole, spawned.self.rank, NOBODY, all, &spawned.next));
    else if (whole != MPI_COMM_NULL)
        PMPIX_Comm_revoke(whole); /* the new ones may be in it */
    /* Those that come and live must not wait for those who do not go on with them. */
    well = all_agree(family, well);
    free(all);
    free_if_made(&family);
    free_if_made(&whole);
    if (well) {
        PMPI_Comm_set_errhandler(spawned.next.alarm, MPI_ERRORS_RETURN);
        return true;
    }
    are_well(true);
    forget_next();
    return false;
}

static void send_to(int to, const struct bytes *known)
{
    PMPI_Send(known->data, (int)known->size, MPI_BYTE, to, TAG_KNOWN,
              spawned.next.alarm); /* if it is still there */
}

/* The new process goes on only where it is true; a barrier may be over for one and fail at another.
 */
static bool meet(void)
{
    if (!all_agree(spawned.next.alarm, true)) {
        are_well(true);
        forget_next();
        return false;
    }
    MPI_Comm before = spawned.now.alarm;
    use(&spawned.next);
    spawned.next.alarm = before;
    return true;
}

static void settled(void)
{
    PMPI_Comm_free(&spawned.alive);
    PMPI_Comm_free(&spawned.next.alarm); /* that of before */
}

/* --- the process that comes ------------------------------------------------------------------- */

static void take_place(MPI_Comm parents, int *info)
{
    int *all = memory(spawned.numbers, sizeof *all), place;
    struct communicators made;
    MPI_Comm whole;
    faultline_becomes(FAULTLINE_NO_RANK);
    PMPI_Comm_rank(MPI_COMM_WORLD, &place);
    bool well = merge(parents, true, &whole) && join(whole, NOBODY, place, all, &made);
    if (!all_agree(parents, well))
        newcomers_leave();
    PMPI_Comm_free(&whole);
    spawned.self = (struct place){all[INFO_RANK] + place, all[INFO_RANKS]};
    memcpy(info, all + INFO_REST, (spawned.numbers - INFO_REST) * sizeof *all);
    free(all);
    use(&made);
}

static void receive_from(int from, struct bytes *known)
{
    const char *when = "while one was given its determinants";
    MPI_Status status;
    int size;
    must_succeed(PMPI_Probe(from, TAG_KNOWN, spawned.now.alarm, &status), when);
    PMPI_Get_count(&status, MPI_BYTE, &size);
    char *bytes = memory(1, (size_t)size);
    must_succeed(
        PMPI_Recv(bytes, size, MPI_BYTE, from, TAG_KNOWN, spawned.now.alarm, MPI_STATUS_IGNORE),
        when);
    bytes_put(known, bytes, (size_t)size);
    free(bytes);
}

static void heard_all(void)
{
    if (!all_agree(spawned.now.alarm, true))
        newcomers_leave();
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool open_spawned(int reserve, int *info, size_t numbers, struct place *place)
{
    MPI_Comm parents;
    struct communicators all;
    (void)reserve;
    spawned.numbers = numbers + INFO_REST;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_get_parent(&parents);
    bool comes = parents != MPI_COMM_NULL;
    if (comes) {
        take_place(parents, info);
    } else {
        spawned.self = (struct place){job.process, job.processes};
        bool made = PMPI_Comm_dup(MPI_COMM_WORLD, &all.letters) == MPI_SUCCESS &&
                    PMPI_Comm_dup(MPI_COMM_WORLD, &all.alarm) == MPI_SUCCESS;
        if (!made && newcomers_count(0) == spawned.self.ranks && spawned.self.ranks > 1)
            newcomers_leave();
        if (!made)
            newcomers_one_at_a_time("at the beginning");
        use(&all);
    }
    *place = spawned.self;
    return comes;
}

static void close_spawned(void)
{
    stop_watch();
    PMPI_Group_free(&spawned.everybody);
    PMPI_Comm_free(&spawned.now.alarm);
}

static MPI_Comm letters(void)
{
    return spawned.now.letters;
}

/* Each communicator has all ranks. */
static int process_of(int rank)
{
    return rank;
}

/* What needs the dead comes to its end by itself. */
static bool is_dead(int process)
{
    (void)process;
    return false;
}

static void look(void)
{
}

static void everybody(MPI_Group *group)
{
    PMPI_Group_union(spawned.everybody, MPI_GROUP_EMPTY, group);
}

const struct way newcomers_spawned = {
    .open = open_spawned,
    .all_are_well = all_are_well,
    .close = close_spawned,
    .letters = letters,
    .process = process_of,
    .is_dead = is_dead,
    .look = look,
    .calls_end = true,
    .everybody = everybody,
    .one_has_died = one_has_died,
    .come_together = come_together,
    .call = call,
    .send_to = send_to,
    .meet = meet,
    .settled = settled,
    .receive_from = receive_from,
    .heard_all = heard_all,
};
