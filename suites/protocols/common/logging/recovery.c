/* See recovery.h. */
#include "common/logging/recovery.h"

#include "common/logging/channels.h"
#include "common/logging/line.h"
#include "common/logging/logging.h"
#include "common/newcomers/newcomers.h"
#include "faultline.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What the living ranks send the new process: a number, and then for each rank how often it was
 * replaced, and since which communicator its process has been there. */
enum { INFO_CHANNELS, INFO_EACH };
enum { EACH_INCARNATION, EACH_SINCE, EACH_COUNT };

/* In front of the determinants that one of them has. */
struct known_head {
    uint64_t line; /* the newest that it has saved */
    struct seen seen;
    uint64_t count;
};

static struct {
    MPI_Comm letters; /* the newest communicator for them */
    bool newcomer;
    bool gathers;             /* this rank waits until all have sent it its messages again */
    bool over;                /* all have come to the end: who dies now is missed by nobody */
    uint64_t others_line;     /* what recovery_line_of_others returns */
    struct seen seen;         /* of the process before this one, and what happened to it: */
    struct determinants past; /* in order */
    size_t relived;           /* of them */
    uint64_t last;            /* step that is not to be done in another way */
} recovery = {.letters = MPI_COMM_NULL, .others_line = UINT64_MAX};

static size_t info_numbers(void)
{
    return INFO_EACH + (size_t)EACH_COUNT * NEWCOMERS_RANKS_MOST;
}

/* There may be a communicator that the new processes of the rank's team are the newest in (NOBODY:
 * the first). */
static void use_letters(int newest)
{
    if (newcomers_letters() != recovery.letters)
        channels_add(newcomers_letters(), newest);
    recovery.letters = newcomers_letters();
}

/* --- those who live --------------------------------------------------------------------------- */

/* [CM] lines 29 to 35. */
static void send_known(int to)
{
    struct known known = logging_known(to);
    struct known_head head = {self.line, known.seen, 0};
    struct bytes out = {0};
    for (size_t i = 0; i < known.of->count; i++)
        head.count += known.of->all[i].receiver == to;
    bytes_put(&out, &head, sizeof head);
    for (size_t i = 0; i < known.of->count; i++)
        if (known.of->all[i].receiver == to)
            bytes_put(&out, &known.of->all[i], sizeof known.of->all[i]);
    if (out.failed)
        die("out of memory for determinants");
    phase("before-send-determinants");
    newcomers_send(to, &out);
    bytes_release(&out);
}

static void fill_info(int *info)
{
    const int *since = channels_since();
    info[INFO_CHANNELS] = channels_count();
    for (int i = 0; i < self.ranks; i++) {
        info[INFO_EACH + i * EACH_COUNT + EACH_INCARNATION] = (int)self.incarnation[i];
        info[INFO_EACH + i * EACH_COUNT + EACH_SINCE] = since[i];
    }
}

/* [CM] lines 29 to 36, with new processes for the team whose first rank is `first`. All who live
 * come to the same result, and the new processes go on only if it is true; false: one of them has
 * died as well. */
static bool replace_by_new(int first)
{
    int *info = memory(info_numbers(), sizeof *info), end = first + team_count(first);
    for (int rank = first; rank < end; rank++)
        faultline_incarnation(rank, ++self.incarnation[rank]);
    fill_info(info);
    bool well = newcomers_call(info);
    free(info);
    if (!well)
        return false;
    for (int rank = first; rank < end; rank++)
        send_known(rank);
    phase("before-barrier");
    return newcomers_meet();
}

/* [CM] lines 28 to 43. */
static void replace(void)
{
    phase("before-shrink");
    int first = newcomers_come_together(), end = first + team_count(first);
    if (team_is_mine(first)) {
        phase("before-leave");
        newcomers_leave();
    }
    if (recovery.gathers)
        newcomers_one_at_a_time("before this rank had been sent all its messages again");
    phase("after-shrink");
    while (!replace_by_new(first))
        ;
    use_letters(first);
    phase("after-barrier");
    for (int rank = first; rank < end; rank++) {
        logging_resend(rank);
        line_newcomer(rank);
    }
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
    struct known_head head;
    newcomers_receive(from, &bytes);
    struct reader in = {.next = bytes.data, .left = bytes.size};
    memcpy(&head, reader_take(&in, sizeof head), sizeof head);
    if (head.line < recovery.others_line)
        recovery.others_line = head.line;
    seen_add_all(&recovery.seen, &head.seen);
    for (uint64_t i = 0; i < head.count; i++) {
        struct determinant one;
        memcpy(&one, reader_take(&in, sizeof one), sizeof one);
        if (!determinants_have(&recovery.past, &one))
            determinants_add(&recovery.past, &one);
    }
    bytes_release(&bytes);
}

static void read_info(const int *info)
{
    self.incarnation = memory((size_t)self.ranks, sizeof *self.incarnation);
    for (int i = 0; i < self.ranks; i++) {
        const int *each = &info[INFO_EACH + i * EACH_COUNT];
        self.incarnation[i] = (uint64_t)each[EACH_INCARNATION];
        if (i != self.rank && self.incarnation[i] > 0)
            faultline_incarnation(i, self.incarnation[i]);
        if (i != self.rank)
            channels_since()[i] = each[EACH_SINCE];
    }
}

static void note_world(void)
{
    int *world = memory((size_t)self.ranks, sizeof *world);
    for (int rank = 0; rank < self.ranks; rank++)
        world[rank] = rank;
    faultline_members((uint64_t)MPI_COMM_WORLD, world, self.ranks, self.rank);
    free(world);
}

/* [CM] lines 44 to 51. */
static void take_place(const int *info)
{
    recovery.newcomer = true;
    channels_begin_at(info[INFO_CHANNELS]);
    use_letters(team_first(self.rank));
    read_info(info);
    job.process = self.rank;
    job.processes = self.ranks;
    note_world();
    faultline_becomes((uint64_t)self.rank);
    teams_note();
    phase("before-receive-determinants");
    for (int rank = 0; rank < self.ranks; rank++)
        if (!team_is_mine(rank))
            take_known(rank);
    phase("after-receive-determinants");
    newcomers_heard_all();
}

void recovery_open(void)
{
    struct place place;
    int reserve = this_logger.reserve
                      ? (int)number_setting(this_logger.reserve, 0, NEWCOMERS_RANKS_MOST, 0)
                      : 0;
    int *info = memory(info_numbers(), sizeof *info);
    bool comes = newcomers_open(reserve, teams_setting(), info, info_numbers(), &place);
    self.rank = place.rank;
    self.ranks = place.ranks;
    if (self.ranks > NEWCOMERS_RANKS_MOST)
        refuse("a job of more than 1024 ranks", "up to 1024");
    teams_open();
    if (comes) {
        take_place(info);
    } else {
        self.incarnation = memory((size_t)self.ranks, sizeof *self.incarnation);
        use_letters(NOBODY);
        teams_note();
    }
    free(info);
}

void recovery_close(void)
{
    newcomers_close();
    teams_close();
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

uint64_t recovery_gather(void)
{
    recovery.gathers = true;
    for (int i = 0, first = team_first(self.rank); i < team_count(self.rank); i++)
        if (first + i != self.rank)
            logging_announce_resent(first + i);
    uint64_t line = logging_gather();
    recovery.gathers = false;
    return line;
}

uint64_t recovery_agree_on(uint64_t line)
{
    uint64_t oldest = LINE_NONE;
    PMPI_Allreduce(&line, &oldest, 1, MPI_UINT64_T, MPI_MIN, recovery.letters);
    if (!newcomers_all_are_well())
        replace(); /* this process leaves, with all others */
    return oldest;
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

/* In order, and without a gap. What others know of deliveries says how far the past goes, too. */
static void sort_past(void)
{
    struct determinants *past = &recovery.past;
    recovery.last = seen_since(&recovery.seen, self.line);
    for (size_t i = 0; i < past->count; i++)
        if (past->all[i].line == self.line && past->all[i].step > recovery.last)
            recovery.last = past->all[i].step;
    determinants_filter(past, is_of_line, &self.line);
    if (past->count > 0)
        qsort(past->all, past->count, sizeof *past->all, by_rsn);
    for (size_t i = 0; i < past->count; i++)
        if (past->all[i].rsn != self.rsn + 1 + i)
            die("nobody has determinant %llu of this rank", (unsigned long long)(self.rsn + 1 + i));
}

/* What of the past is here by now, up to what comes from this rank's team later; true: all of it.
 */
static bool relive_more(void)
{
    for (; recovery.relived < recovery.past.count; recovery.relived++) {
        const struct determinant *one = &recovery.past.all[recovery.relived];
        struct packet *packet = NULL;
        if (one->sender == NOBODY) {
            layer_relive_choice(one->step, one->choice, one->ssn);
            continue;
        }
        while (!(packet = logging_find(one)) && !team_is_mine(one->sender))
            sched_yield();
        if (!packet)
            return false;
        layer_relive_message(one->step, packet);
    }
    return true;
}

/* The step at which the next comes that is not here yet is not over. */
static void set_followed(void)
{
    layer_followed(recovery.past.all[recovery.relived].step - 1);
}

void recovery_follow(void)
{
    if (relive_more())
        layer_follow_ends(recovery.last);
    else
        set_followed();
}

void recovery_relive(void)
{
    sort_past();
    bool all = relive_more();
    phase("before-relive");
    if (all) {
        layer_relive(recovery.last);
        return;
    }
    layer_follow();
    set_followed();
}
