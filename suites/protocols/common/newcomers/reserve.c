/* A process in reserve takes the place: see newcomers.h. All that is said goes from one process to
 * another through MPI_COMM_WORLD, and whoever waits asks meanwhile who has died. A replacement is a
 * turn, numbered from 1; a turn whose process dies before it has heard all is followed by the next
 * one for the same rank.
 *
 * The lowest rank of those who live leads the turn: who learns that a rank is dead tells it so
 * (DEAD). The leader informs all which process takes the place (PLACED), and sends that process
 * what it needs (TAG_INFO). Two cannot lead the same turn, for only the dead rank's new process may
 * die meanwhile. Each rank sends that process what it knows; when the process has got all, it lets
 * them go on (HEARD).
 *
 * A rank that is at its end, where all that was sent has come, says so (END), and goes to
 * MPI_Finalize when all others who live have said it. Until then it replaces nobody by itself. If
 * all others are at their end, too, a dead rank is not replaced any more. If one is not, that one
 * sends DEAD or PLACED, and the dead rank is replaced. */
#include "common/job/job.h"
#include "common/newcomers/post.h"
#include "common/newcomers/way.h"
#include "faultline.h"
#include "faultline_lives.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOBODY (-1)
#define REST_NS 50000

enum notice_kind { NOTICE_DEAD, NOTICE_PLACED, NOTICE_HEARD, NOTICE_END, NOTICE_OVER };

/* To those in reserve that nobody needs them any more: OVER. */
struct notice {
    int kind;
    int turn;
    int rank;    /* that is dead, or has the process, or is at the end */
    int process; /* PLACED */
};

static struct {
    int own, processes; /* of MPI_COMM_WORLD; the caller may put the place into `job` */
    struct place self;
    size_t numbers; /* told */
    MPI_Comm letters;
    MPI_Group everybody;
    int *process;         /* by rank */
    int turn;             /* the newest that this process has come to */
    int missing;          /* the rank that it is about */
    struct notice dead;   /* the newest that came of each kind */
    struct notice placed; /* ... */
    struct notice heard;
    int *ended; /* by rank: the turn in which it was at its end */
    bool is_over;
} here;

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* --- notices ---------------------------------------------------------------------------------- */

static void give_notice(int process, struct notice notice)
{
    struct bytes bytes = {0};
    bytes_put(&bytes, &notice, sizeof notice);
    post_send(TAG_NOTICE, process, bytes);
}

static void give_notice_to_ranks(struct notice notice)
{
    for (int rank = 0; rank < here.self.ranks; rank++)
        if (rank != here.self.rank)
            give_notice(here.process[rank], notice);
}

static bool is_rank(int process)
{
    for (int rank = 0; rank < here.self.ranks; rank++)
        if (here.process[rank] == process)
            return true;
    return false;
}

static void give_notice_to_reserve(struct notice notice)
{
    for (int process = 0; process < here.processes; process++)
        if (process != here.own && !is_rank(process))
            give_notice(process, notice);
}

static void keep_newest(struct notice *newest, const struct notice *notice)
{
    if (notice->turn > newest->turn)
        *newest = *notice;
}

static void note(const struct notice *notice)
{
    if (notice->kind == NOTICE_DEAD)
        keep_newest(&here.dead, notice);
    else if (notice->kind == NOTICE_PLACED)
        keep_newest(&here.placed, notice);
    else if (notice->kind == NOTICE_HEARD)
        keep_newest(&here.heard, notice);
    else if (notice->kind == NOTICE_END)
        here.ended[notice->rank] = notice->turn;
    else
        here.is_over = true;
}

/* Whatever has come by now, and who has died. */
static void look(void)
{
    struct bytes in = {0};
    struct notice notice;
    post_look();
    while (post_take(MPI_ANY_SOURCE, TAG_NOTICE, &in)) {
        memcpy(&notice, in.data, sizeof notice);
        note(&notice);
        bytes_release(&in);
    }
}

/* --- those who live --------------------------------------------------------------------------- */

static bool is_down(int rank)
{
    return post_is_dead(here.process[rank]);
}

/* Somebody else replaces one. */
static bool is_called(void)
{
    return here.dead.turn > here.turn || here.placed.turn > here.turn;
}

static bool one_has_died(void)
{
    look();
    for (int rank = 0; rank < here.self.ranks; rank++)
        if (is_down(rank))
            return true;
    return is_called();
}

static void only_one_may_be_dead(const char *when)
{
    for (int rank = 0; rank < here.self.ranks; rank++)
        if (rank != here.missing && is_down(rank))
            newcomers_one_at_a_time(when);
}

static int leader(void)
{
    return here.missing == 0 ? 1 : 0;
}

static int come_together(void)
{
    here.missing = here.dead.turn > here.turn ? here.dead.rank : here.placed.rank;
    for (int rank = 0; rank < here.self.ranks && !is_called(); rank++)
        if (is_down(rank))
            here.missing = rank;
    only_one_may_be_dead("together with one");
    post_died(here.process[here.missing]); /* perhaps only somebody else has been informed */
    if (leader() != here.self.rank)
        give_notice(here.process[leader()],
                    (struct notice){NOTICE_DEAD, here.turn + 1, here.missing, NOBODY});
    return here.missing;
}

static int next_in_reserve(void)
{
    for (int process = here.self.ranks; process < here.processes; process++)
        if (!is_rank(process) && !post_is_dead(process))
            return process;
    die("rank %d is dead, and no process is left in reserve", here.missing);
}

static void send_info(int process, const int *info)
{
    struct bytes bytes = {0};
    bytes_put(&bytes, &here.turn, sizeof here.turn);
    bytes_put(&bytes, &here.missing, sizeof here.missing);
    bytes_put(&bytes, here.process, (size_t)here.self.ranks * sizeof *here.process);
    bytes_put(&bytes, info, here.numbers * sizeof *info);
    post_send(TAG_INFO, process, bytes);
}

static void lead(const int *info)
{
    int process = next_in_reserve();
    struct notice notice = {NOTICE_PLACED, here.turn, here.missing, process};
    give_notice_to_ranks(notice);
    here.process[here.missing] = process;
    give_notice_to_reserve(notice);
    send_info(process, info);
}

/* False: the process is not there any more. */
static bool follow(void)
{
    while (here.placed.turn < here.turn) {
        look();
        only_one_may_be_dead("while one was replaced");
        rest();
    }
    if (here.placed.turn > here.turn)
        return false;
    here.process[here.missing] = here.placed.process;
    return true;
}

static bool call(const int *info)
{
    here.turn++;
    bool placed = true;
    if (leader() == here.self.rank)
        lead(info);
    else
        placed = follow();
    return placed && !is_down(here.missing);
}

static void send_to(int to, const struct bytes *known)
{
    struct bytes bytes = {0};
    bytes_put(&bytes, known->data, known->size);
    post_send(TAG_KNOWN, here.process[to], bytes);
}

static bool meet(void)
{
    while (here.heard.turn < here.turn) {
        look();
        only_one_may_be_dead("while one was replaced");
        if (is_down(here.missing))
            return false;
        rest();
    }
    return true;
}

static void settled(void)
{
    here.missing = NOBODY;
}

/* --- the process that comes ------------------------------------------------------------------- */

static void receive_from(int from, struct bytes *known)
{
    while (!post_take(here.process[from], TAG_KNOWN, known)) {
        look();
        only_one_may_be_dead("while one was given its determinants");
        rest();
    }
}

static void heard_all(void)
{
    give_notice_to_ranks((struct notice){NOTICE_HEARD, here.turn, here.self.rank, NOBODY});
    here.missing = NOBODY;
}

static void take_place(const struct bytes *in, int *info)
{
    struct reader reader = {.next = in->data, .left = in->size};
    size_t ranks = (size_t)here.self.ranks;
    memcpy(&here.turn, reader_take(&reader, sizeof here.turn), sizeof here.turn);
    memcpy(&here.self.rank, reader_take(&reader, sizeof here.self.rank), sizeof here.self.rank);
    memcpy(here.process, reader_take(&reader, ranks * sizeof(int)), ranks * sizeof(int));
    memcpy(info, reader_take(&reader, here.numbers * sizeof *info), here.numbers * sizeof *info);
    here.missing = here.self.rank;
}

/* It sleeps while no rank is missed, and where nobody lives who could call it. */
static bool waits_to_be_needed(void)
{
    int down = 0;
    for (int rank = 0; rank < here.self.ranks; rank++)
        down += is_down(rank);
    if (down > 0 && down < here.self.ranks)
        return true;
    return faultline_await_death(post_deaths()) != FAULTLINE_JOB_IS_OVER;
}

_Noreturn static void leave(void)
{
    PMPI_Finalize();
    exit(EXIT_SUCCESS);
}

static void await_place(int *info)
{
    struct bytes in = {0};
    while (!post_take(MPI_ANY_SOURCE, TAG_INFO, &in)) {
        look();
        if (here.placed.turn > here.turn) {
            here.turn = here.placed.turn;
            here.process[here.placed.rank] = here.placed.process;
        }
        if (here.is_over || !waits_to_be_needed())
            leave();
        rest();
    }
    take_place(&in, info);
    bytes_release(&in);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool open_reserve(int count, int *info, size_t numbers, struct place *place)
{
    MPI_Group all;
    if (count >= job.processes)
        die("%d of %d processes in reserve; accepted: so many that a rank is left", count,
            job.processes);
    here.own = job.process;
    here.processes = job.processes;
    here.self = (struct place){job.process, job.processes - count};
    here.numbers = numbers;
    here.process = memory((size_t)here.self.ranks, sizeof *here.process);
    here.ended = memory((size_t)here.self.ranks, sizeof *here.ended);
    for (int rank = 0; rank < here.self.ranks; rank++) {
        here.process[rank] = rank;
        here.ended[rank] = NOBODY;
    }
    here.missing = NOBODY;
    bool comes = job.process >= here.self.ranks;
    if (comes)
        faultline_becomes(FAULTLINE_NO_RANK);
    PMPI_Comm_dup(MPI_COMM_WORLD, &here.letters);
    PMPI_Comm_set_errhandler(here.letters, MPI_ERRORS_RETURN);
    post_open();
    if (comes)
        await_place(info);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_incl(all, here.self.ranks, here.process, &here.everybody);
    PMPI_Group_free(&all);
    *place = here.self;
    return comes;
}

static bool all_are_at_the_end(void)
{
    for (int rank = 0; rank < here.self.ranks; rank++)
        if (here.ended[rank] != here.turn && !is_down(rank))
            return false;
    return true;
}

static bool all_are_well(void)
{
    struct notice notice = {NOTICE_END, here.turn, here.self.rank, NOBODY};
    here.ended[here.self.rank] = here.turn;
    give_notice_to_ranks(notice);
    while (!all_are_at_the_end()) {
        look();
        if (is_called())
            return false;
        rest();
    }
    notice.kind = NOTICE_OVER;
    give_notice_to_reserve(notice);
    return true;
}

static void close_reserve(void)
{
    post_close();
    PMPI_Group_free(&here.everybody);
    free(here.process);
    free(here.ended);
}

static MPI_Comm letters(void)
{
    return here.letters;
}

static int process_of(int rank)
{
    return here.process[rank];
}

static void everybody(MPI_Group *group)
{
    PMPI_Group_union(here.everybody, MPI_GROUP_EMPTY, group);
}

const struct way newcomers_in_reserve = {
    .open = open_reserve,
    .all_are_well = all_are_well,
    .close = close_reserve,
    .letters = letters,
    .process = process_of,
    .is_dead = post_is_dead,
    .look = post_look,
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
