/* See recovery.h. */
#include "common/logging/recovery.h"

#include "common/logging/channels.h"
#include "common/logging/line.h"
#include "common/logging/logging.h"
#include "faultline.h"
#include "faultline_lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAG_KNOWN 1
#define TELL_RANKS_MOST 1024

/* What those who live tell the process that comes, and what of each rank follows: how often it was
 * replaced, since which communicator its process is there. */
enum { TELL_RANK, TELL_RANKS, TELL_CHANNELS, TELL_EACH };
enum { EACH_INCARNATION, EACH_SINCE, EACH_COUNT };

/* In front of the determinants that one of them has. */
struct said {
    uint64_t line; /* the newest that it has saved */
    uint64_t seen_line, seen_step;
    uint64_t count;
};

static struct {
    MPI_Comm alarm;      /* of all ranks: for nothing but to learn that somebody has died */
    MPI_Group everybody; /* of the first of these that this process had */
    bool newcomer;
    bool gathers; /* this rank waits until all have sent it its messages again */
    uint64_t others_line;
    uint64_t seen_line, seen_step;
    struct determinants past; /* of the process before this one */
} recovery = {.everybody = MPI_GROUP_NULL};

_Noreturn static void one_at_a_time(const char *when)
{
    die("another rank has died %s: only one failure at a time is supported", when);
}

static void must_succeed(int result, const char *when)
{
    if (result != MPI_SUCCESS)
        one_at_a_time(when);
}

static bool all_agree(MPI_Comm comm, bool well)
{
    int flag = well;
    return PMPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag;
}

/* --- one communicator of all ------------------------------------------------------------------ */

static size_t told_numbers(void)
{
    return TELL_EACH + (size_t)EACH_COUNT * TELL_RANKS_MOST;
}

/* The only rank that is not in `alive`. */
static int find_missing(MPI_Comm alive)
{
    MPI_Group all, rest;
    int missing = NOBODY, place;
    PMPI_Comm_group(recovery.alarm, &all);
    PMPI_Comm_group(alive, &rest);
    for (int rank = 0; rank < self.ranks; rank++) {
        PMPI_Group_translate_ranks(all, 1, &rank, rest, &place);
        if (place == MPI_UNDEFINED && missing != NOBODY)
            one_at_a_time("together with one");
        if (place == MPI_UNDEFINED)
            missing = rank;
    }
    PMPI_Group_free(&all);
    PMPI_Group_free(&rest);
    return missing;
}

/* Of all ranks, in their order: one for letters and one for the alarm. */
struct communicators {
    MPI_Comm letters, alarm;
};

static void use(const struct communicators *all, int newest)
{
    PMPI_Comm_set_errhandler(all->alarm, MPI_ERRORS_RETURN);
    channels_add(all->letters, newest);
    recovery.alarm = all->alarm;
    if (recovery.everybody == MPI_GROUP_NULL)
        PMPI_Comm_group(all->alarm, &recovery.everybody);
}

/* With the process that comes, behind those who live; false: somebody has died. */
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

/* `told` goes from the first of those who live to all; in the old order again. `rank`: of this
 * process, NOBODY at the one that comes, which is told. False: somebody has died. */
static bool join(MPI_Comm whole, int rank, int *told, struct communicators *all)
{
    if (PMPI_Bcast(told, (int)told_numbers(), MPI_INT, 0, whole) == MPI_SUCCESS) {
        rank = rank == NOBODY ? told[TELL_RANK] : rank;
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

/* [CM] lines 29 to 35. */
static void send_known(int to, MPI_Comm alarm)
{
    struct known known = logging_known(to);
    struct said said = {self.line, known.line, known.step, 0};
    struct bytes out = {0};
    for (size_t i = 0; i < known.of->count; i++)
        said.count += known.of->all[i].receiver == to;
    bytes_put(&out, &said, sizeof said);
    for (size_t i = 0; i < known.of->count; i++)
        if (known.of->all[i].receiver == to)
            bytes_put(&out, &known.of->all[i], sizeof known.of->all[i]);
    if (out.failed)
        die("out of memory for determinants");
    phase("before-send-determinants");
    PMPI_Send(out.data, (int)out.size, MPI_BYTE, to, TAG_KNOWN, alarm); /* if it is still there */
    bytes_release(&out);
}

/* It may not have been made, because somebody has died. */
static void free_if_made(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        PMPI_Comm_free(comm);
}

static MPI_Comm call_newcomer(MPI_Comm alive)
{
    MPI_Comm family;
    int result =
        PMPI_Comm_spawn(job.arguments ? job.arguments[0] : program_invocation_name,
                        job.arguments && job.arguments[1] ? &job.arguments[1] : MPI_ARGV_NULL, 1,
                        MPI_INFO_NULL, 0, alive, &family, MPI_ERRCODES_IGNORE);
    must_succeed(result, "while one was replaced");
    return family;
}

static void tell_all(int rank, int *told)
{
    const int *since = channels_since();
    told[TELL_RANK] = rank;
    told[TELL_RANKS] = self.ranks;
    told[TELL_CHANNELS] = channels_count();
    for (int i = 0; i < self.ranks; i++) {
        told[TELL_EACH + i * EACH_COUNT + EACH_INCARNATION] = (int)self.incarnation[i];
        told[TELL_EACH + i * EACH_COUNT + EACH_SINCE] = since[i];
    }
}

/* All of `alive` do: every one of them is well. The job ends if one of them is dead. */
static bool are_well(MPI_Comm alive, bool well)
{
    int flag = well;
    must_succeed(PMPIX_Comm_agree(alive, &flag), "while one was replaced");
    return flag;
}

/* [CM] lines 29 to 36, with a new process for `rank`. All who live come to the same result, and the
 * new process goes on only if it is true; false: it has died as well. */
static bool replace_by_new(int rank, MPI_Comm alive, struct communicators *all)
{
    int *told = memory(told_numbers(), sizeof *told);
    MPI_Comm whole = MPI_COMM_NULL;
    *all = (struct communicators){MPI_COMM_NULL, MPI_COMM_NULL};
    self.incarnation[rank]++;
    faultline_incarnation(rank, self.incarnation[rank]);
    tell_all(rank, told);
    MPI_Comm family = call_newcomer(alive);
    bool well = are_well(alive, merge(family, false, &whole)) &&
                are_well(alive, join(whole, self.rank, told, all));
    free(told);
    free_if_made(&family);
    free_if_made(&whole);
    if (well) {
        PMPI_Comm_set_errhandler(all->letters, MPI_ERRORS_RETURN);
        PMPI_Comm_set_errhandler(all->alarm, MPI_ERRORS_RETURN);
        send_known(rank, all->alarm);
        phase("before-barrier");
        /* A barrier may be over for one and fail at another. */
        if (all_agree(all->alarm, true))
            return true;
        are_well(alive, true);
    }
    free_if_made(&all->letters);
    free_if_made(&all->alarm);
    return false;
}

/* [CM] lines 28 to 43. */
static void replace(void)
{
    MPI_Comm alive, before = recovery.alarm;
    struct communicators all;
    if (recovery.gathers)
        one_at_a_time("before this rank had been sent all its messages again");
    phase("before-shrink");
    must_succeed(PMPIX_Comm_shrink(before, &alive), "while those who live came together");
    PMPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
    int rank = find_missing(alive);
    phase("after-shrink");
    while (!replace_by_new(rank, alive, &all))
        ;
    use(&all, rank);
    phase("after-barrier");
    logging_send_again(rank);
    line_newcomer(rank);
    phase("after-send-again");
    PMPI_Comm_free(&alive);
    PMPI_Comm_free(&before);
}

void recovery_look(void)
{
    int there;
    if (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, recovery.alarm, &there, MPI_STATUS_IGNORE) ==
        MPI_SUCCESS)
        return;
    PMPIX_Comm_revoke(recovery.alarm);
    all_agree(recovery.alarm,
              false); /* who has come to the end must not wait there for this rank */
    replace();
}

bool recovery_all_are_well(void)
{
    if (!faultline_told_dead) { /* no Faultline: nobody goes on when another dies */
        PMPI_Barrier(recovery.alarm);
        return true;
    }
    if (all_agree(recovery.alarm, true))
        return true;
    PMPIX_Comm_revoke(recovery.alarm);
    replace();
    return false;
}

/* --- the process that comes ------------------------------------------------------------------- */

static void take_known(int from)
{
    const char *when = "while one was given its determinants";
    MPI_Status status;
    struct said said;
    int size;
    must_succeed(PMPI_Probe(from, TAG_KNOWN, recovery.alarm, &status), when);
    PMPI_Get_count(&status, MPI_BYTE, &size);
    char *bytes = memory(1, (size_t)size);
    must_succeed(PMPI_Recv(bytes, size, MPI_BYTE, from, TAG_KNOWN, recovery.alarm, &status), when);
    memcpy(&said, bytes, sizeof said);
    if (said.line > recovery.others_line)
        recovery.others_line = said.line;
    if (said.seen_line > recovery.seen_line ||
        (said.seen_line == recovery.seen_line && said.seen_step > recovery.seen_step)) {
        recovery.seen_line = said.seen_line;
        recovery.seen_step = said.seen_step;
    }
    for (uint64_t i = 0; i < said.count; i++) {
        struct determinant one;
        memcpy(&one, bytes + sizeof said + i * sizeof one, sizeof one);
        if (!determinants_have(&recovery.past, &one))
            determinants_add(&recovery.past, &one);
    }
    free(bytes);
}

static void read_told(const int *told)
{
    self.incarnation = memory((size_t)self.ranks, sizeof *self.incarnation);
    for (int i = 0; i < self.ranks; i++) {
        const int *each = &told[TELL_EACH + i * EACH_COUNT];
        self.incarnation[i] = (uint64_t)each[EACH_INCARNATION];
        if (i != self.rank && self.incarnation[i] > 0)
            faultline_incarnation(i, self.incarnation[i]);
        if (i != self.rank)
            channels_since()[i] = each[EACH_SINCE];
    }
}

static void tell_world(void)
{
    int *world = memory((size_t)self.ranks, sizeof *world);
    for (int rank = 0; rank < self.ranks; rank++)
        world[rank] = rank;
    faultline_members((uint64_t)MPI_COMM_WORLD, world, self.ranks, self.rank);
    free(world);
}

/* [CM] lines 44 to 51. */
static void take_place(MPI_Comm parents)
{
    const char *when = "while one was replaced";
    int *told = memory(told_numbers(), sizeof *told);
    struct communicators all;
    MPI_Comm whole;
    recovery.newcomer = true;
    faultline_becomes(FAULTLINE_NO_RANK);
    if (!merge(parents, true, &whole) || !join(whole, NOBODY, told, &all))
        one_at_a_time(when);
    PMPI_Comm_free(&whole);
    self.rank = told[TELL_RANK];
    self.ranks = told[TELL_RANKS];
    channels_begin_at(told[TELL_CHANNELS]);
    use(&all, self.rank);
    read_told(told);
    free(told);
    job.process = self.rank;
    job.processes = self.ranks;
    tell_world();
    faultline_becomes((uint64_t)self.rank);
    phase("before-receive-determinants");
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            take_known(rank);
    phase("after-receive-determinants");
    if (!all_agree(recovery.alarm, true))
        one_at_a_time("while one was given its determinants");
}

void recovery_open(void)
{
    MPI_Comm parents;
    struct communicators all;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        take_place(parents);
        return;
    }
    self.rank = job.process;
    self.ranks = job.processes;
    if (self.ranks > TELL_RANKS_MOST)
        refuse("a job of more than 1024 ranks", "up to 1024");
    self.incarnation = memory((size_t)self.ranks, sizeof *self.incarnation);
    must_succeed(PMPI_Comm_dup(MPI_COMM_WORLD, &all.letters), "at the beginning");
    must_succeed(PMPI_Comm_dup(MPI_COMM_WORLD, &all.alarm), "at the beginning");
    use(&all, NOBODY);
}

void recovery_close(void)
{
    PMPI_Group_free(&recovery.everybody);
    PMPI_Comm_free(&recovery.alarm);
    determinants_release(&recovery.past);
    free(self.incarnation);
}

void recovery_everybody(MPI_Group *group)
{
    PMPI_Group_union(recovery.everybody, MPI_GROUP_EMPTY, group);
}

bool recovery_is_newcomer(void)
{
    return recovery.newcomer;
}

uint64_t recovery_line_of_others(void)
{
    return recovery.others_line;
}

void recovery_gather(void)
{
    recovery.gathers = true;
    logging_gather();
    recovery.gathers = false;
}

static int by_rsn(const void *one, const void *other)
{
    const struct determinant *a = one, *b = other;
    return (a->rsn > b->rsn) - (a->rsn < b->rsn);
}

static bool is_of_line(const struct determinant *one, const void *line)
{
    return one->line == *(const uint64_t *)line && one->kind != DELIVERED;
}

void recovery_relive(void)
{
    uint64_t last = recovery.seen_line == self.line ? recovery.seen_step : 0;
    struct determinants *past = &recovery.past;
    determinants_filter(past, is_of_line, &self.line);
    if (past->count > 0)
        qsort(past->all, past->count, sizeof *past->all, by_rsn);
    for (size_t i = 0; i < past->count; i++) {
        const struct determinant *one = &past->all[i];
        if (one->rsn != self.rsn + 1 + i)
            die("nobody has determinant %llu of this rank", (unsigned long long)(self.rsn + 1 + i));
        if (one->sender == NOBODY)
            layer_relive_choice(one->step, one->choice, one->ssn);
        else
            layer_relive_message(one->step, logging_await(one));
        if (one->step > last)
            last = one->step;
    }
    phase("before-relive");
    layer_relive(last);
}
