/* See recovery.h. */
#include "common/logging/recovery.h"

#include "common/logging/channels.h"
#include "common/logging/line.h"
#include "common/logging/logging.h"
#include "common/newcomers/newcomers.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

/* What those who live tell the process that comes, and what of each rank follows: how often it was
 * replaced, since which communicator its process is there. */
enum { TELL_CHANNELS, TELL_EACH };
enum { EACH_INCARNATION, EACH_SINCE, EACH_COUNT };

/* In front of the determinants that one of them has. */
struct said {
    uint64_t line; /* the newest that it has saved */
    uint64_t seen_line, seen_step;
    uint64_t count;
};

static struct {
    MPI_Comm letters; /* the newest communicator for them */
    bool newcomer;
    bool gathers; /* this rank waits until all have sent it its messages again */
    bool over;    /* all have come to the end: who dies now is missed by nobody */
    uint64_t others_line;
    uint64_t seen_line, seen_step;
    struct determinants past; /* of the process before this one */
} recovery = {.letters = MPI_COMM_NULL};

static size_t told_numbers(void)
{
    return TELL_EACH + (size_t)EACH_COUNT * NEWCOMERS_RANKS_MOST;
}

/* There may be a communicator that the rank's new process is the newest in (NOBODY: the first). */
static void use_letters(int newest)
{
    if (newcomers_letters() != recovery.letters)
        channels_add(newcomers_letters(), newest);
    recovery.letters = newcomers_letters();
}

/* --- those who live --------------------------------------------------------------------------- */

/* [CM] lines 29 to 35. */
static void say_known(int to)
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
    newcomers_say(&out);
    bytes_release(&out);
}

static void tell_all(int *told)
{
    const int *since = channels_since();
    told[TELL_CHANNELS] = channels_count();
    for (int i = 0; i < self.ranks; i++) {
        told[TELL_EACH + i * EACH_COUNT + EACH_INCARNATION] = (int)self.incarnation[i];
        told[TELL_EACH + i * EACH_COUNT + EACH_SINCE] = since[i];
    }
}

/* [CM] lines 29 to 36, with a new process for `rank`. All who live come to the same result, and the
 * new process goes on only if it is true; false: it has died as well. */
static bool replace_by_new(int rank)
{
    int *told = memory(told_numbers(), sizeof *told);
    self.incarnation[rank]++;
    faultline_incarnation(rank, self.incarnation[rank]);
    tell_all(told);
    bool well = newcomers_call(told);
    free(told);
    if (!well)
        return false;
    say_known(rank);
    phase("before-barrier");
    return newcomers_meet();
}

/* [CM] lines 28 to 43. */
static void replace(void)
{
    if (recovery.gathers)
        newcomers_one_at_a_time("before this rank had been sent all its messages again");
    phase("before-shrink");
    int rank = newcomers_come_together();
    phase("after-shrink");
    while (!replace_by_new(rank))
        ;
    use_letters(rank);
    phase("after-barrier");
    logging_send_again(rank);
    line_newcomer(rank);
    phase("after-send-again");
    newcomers_settled();
}

void recovery_look(void)
{
    if (!recovery.over && newcomers_one_has_died())
        replace();
}

bool recovery_all_are_well(void)
{
    recovery.over = newcomers_all_are_well();
    if (!recovery.over)
        replace();
    return recovery.over;
}

/* --- the process that comes ------------------------------------------------------------------- */

static void take_known(int from)
{
    struct bytes bytes = {0};
    struct said said;
    newcomers_hear(from, &bytes);
    struct reader in = {.next = bytes.data, .left = bytes.size};
    memcpy(&said, reader_take(&in, sizeof said), sizeof said);
    if (said.line > recovery.others_line)
        recovery.others_line = said.line;
    if (said.seen_line > recovery.seen_line ||
        (said.seen_line == recovery.seen_line && said.seen_step > recovery.seen_step)) {
        recovery.seen_line = said.seen_line;
        recovery.seen_step = said.seen_step;
    }
    for (uint64_t i = 0; i < said.count; i++) {
        struct determinant one;
        memcpy(&one, reader_take(&in, sizeof one), sizeof one);
        if (!determinants_have(&recovery.past, &one))
            determinants_add(&recovery.past, &one);
    }
    bytes_release(&bytes);
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
static void take_place(const int *told)
{
    recovery.newcomer = true;
    channels_begin_at(told[TELL_CHANNELS]);
    use_letters(self.rank);
    read_told(told);
    job.process = self.rank;
    job.processes = self.ranks;
    tell_world();
    faultline_becomes((uint64_t)self.rank);
    phase("before-receive-determinants");
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            take_known(rank);
    phase("after-receive-determinants");
    newcomers_heard_all();
}

void recovery_open(void)
{
    struct place place;
    int reserve = (int)number_setting(this_logger.reserve, 0, NEWCOMERS_RANKS_MOST, 0);
    int *told = memory(told_numbers(), sizeof *told);
    bool comes = newcomers_open(reserve, told, told_numbers(), &place);
    self.rank = place.rank;
    self.ranks = place.ranks;
    if (self.ranks > NEWCOMERS_RANKS_MOST)
        refuse("a job of more than 1024 ranks", "up to 1024");
    if (comes) {
        take_place(told);
    } else {
        self.incarnation = memory((size_t)self.ranks, sizeof *self.incarnation);
        use_letters(NOBODY);
    }
    free(told);
}

void recovery_close(void)
{
    newcomers_close();
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
