/* See recovery.h. */
#include "scmel/recovery.h"

#include "faultline.h"
#include "scmel/channels.h"
#include "scmel/line.h"
#include "scmel/logging.h"

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
    MPI_Comm alarm; /* of all ranks: for nothing but to learn that somebody has died */
    bool newcomer;
    uint64_t others_line;
    uint64_t seen_line, seen_step;
    struct determinants past; /* of the process before this one */
} recovery;

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

static void use(MPI_Comm comm, int newest)
{
    MPI_Comm alarm;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    must_succeed(PMPI_Comm_dup(comm, &alarm), "while one was replaced");
    PMPI_Comm_set_errhandler(alarm, MPI_ERRORS_RETURN);
    channels_add(comm, newest);
    recovery.alarm = alarm;
}

/* `told` goes from the first of those who live to all; in the old order again. comes: this process
 * is the new one. */
static void join(MPI_Comm family, bool comes, int *told, size_t count)
{
    const char *when = "while one was replaced";
    MPI_Comm whole, comm;
    PMPI_Comm_set_errhandler(family, MPI_ERRORS_RETURN);
    must_succeed(PMPI_Intercomm_merge(family, comes, &whole), when);
    PMPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN);
    must_succeed(PMPI_Bcast(told, (int)count, MPI_INT, 0, whole), when);
    int rank = comes ? told[TELL_RANK] : self.rank;
    must_succeed(PMPI_Comm_split(whole, 0, rank, &comm), when);
    PMPI_Comm_free(&whole);
    if (comes) {
        self.rank = told[TELL_RANK];
        self.ranks = told[TELL_RANKS];
        channels_begin_at(told[TELL_CHANNELS]);
    }
    use(comm, told[TELL_RANK]);
}

/* --- those who live --------------------------------------------------------------------------- */

/* [CM] lines 29 to 35. */
static void send_known(int to)
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
    must_succeed(PMPI_Send(out.data, (int)out.size, MPI_BYTE, to, TAG_KNOWN, recovery.alarm),
                 "while one was given its determinants");
    bytes_release(&out);
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

static size_t told_numbers(void)
{
    return TELL_EACH + (size_t)EACH_COUNT * TELL_RANKS_MOST;
}

/* [CM] lines 28 to 43. */
static void replace(void)
{
    MPI_Comm alive, before = recovery.alarm;
    int *told = memory(told_numbers(), sizeof *told);
    phase("before-shrink");
    must_succeed(PMPIX_Comm_shrink(before, &alive), "while those who live came together");
    PMPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
    int rank = find_missing(alive);
    phase("after-shrink");
    self.incarnation[rank]++;
    faultline_incarnation(rank, self.incarnation[rank]);
    tell_all(rank, told);
    join(call_newcomer(alive), false, told, told_numbers());
    free(told);
    send_known(rank);
    phase("before-barrier");
    must_succeed(PMPI_Barrier(recovery.alarm), "while one was given its determinants");
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
    int *told = memory(told_numbers(), sizeof *told);
    recovery.newcomer = true;
    faultline_becomes(FAULTLINE_NO_RANK);
    join(parents, true, told, told_numbers());
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
    must_succeed(PMPI_Barrier(recovery.alarm), "while one was given its determinants");
}

void recovery_open(void)
{
    MPI_Comm parents, comm;
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
    must_succeed(PMPI_Comm_dup(MPI_COMM_WORLD, &comm), "at the beginning");
    use(comm, NOBODY);
}

void recovery_close(void)
{
    PMPI_Comm_free(&recovery.alarm);
    determinants_release(&recovery.past);
    free(self.incarnation);
}

bool recovery_is_newcomer(void)
{
    return recovery.newcomer;
}

uint64_t recovery_line_of_others(void)
{
    return recovery.others_line;
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
