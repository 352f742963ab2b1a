/* See line.h. */
#include "c3/line.h"

#include "c3/checkpoint_file.h"
#include "c3/collectives/nonblocking.h"
#include "c3/collectives/reexec.h"
#include "c3/control.h"
#include "c3/log.h"
#include "c3/replay.h"
#include "c3/requests.h"
#include "c3/suppress.h"
#include "faultline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PHASE_BYTES 64

static struct {
    uint64_t requested; /* the newest line that pleaseCheckpoint has asked for */
    bool stop_waits;    /* for the end of a blocking send */
    bool ready;         /* readyToStopLogging is said for the line under way */
    bool replays;       /* after recovery; replayIsOver is not said yet */
    uint64_t *sent;     /* by rank: what mySendCount said, for the line under way or to come */
    bool *sent_known;
    int sent_missing; /* ranks whose mySendCount has not come */
    /* Of the initiator. */
    uint64_t committed;
    int ready_ranks;
    int stopped_ranks;
    int replaying_ranks; /* others that have not said replayIsOver */
} line;

/* Forgets the counts of a line whose late messages are all in. */
static void expect_counts(void)
{
    memset(line.sent_known, 0, (size_t)self.ranks * sizeof *line.sent_known);
    line.sent_missing = self.ranks;
}

void line_recovered(uint64_t newest)
{
    if (!line.sent) {
        line.sent = memory((size_t)self.ranks, sizeof *line.sent);
        line.sent_known = memory((size_t)self.ranks, sizeof *line.sent_known);
    }
    line.requested = line.committed = newest;
    line.ready = line.stop_waits = false;
    line.replays = newest != LINE_NONE && self.rank != INITIATOR;
    line.replaying_ranks = newest != LINE_NONE && self.rank == INITIATOR ? self.ranks - 1 : 0;
    line.ready_ranks = line.stopped_ranks = 0;
    expect_counts();
}

bool line_is_ready(void)
{
    return line.ready;
}

void line_early(int world, uint64_t id)
{
    self.next[world]++;
    suppress_add(world, id);
}

static void remove_older(uint64_t than)
{
    line_remove(&self.store, than - 1);
    log_remove(than - 1);
}

/* --- initiator -------------------------------------------------------------------------------- */

static void commit(void)
{
    struct error error;
    phase("before-commit");
    must(line_commit(&self.store, self.epoch, &error), &error);
    line.committed = self.epoch;
    faultline_commit(self.epoch);
    phase("before-remove");
    remove_older(self.epoch);
    phase("after-remove");
}

static void send_others(enum control_kind kind, uint64_t number)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            control_send(kind, rank, number, 0);
}

static void rank_is_ready(void)
{
    if (++line.ready_ranks < self.ranks)
        return;
    send_others(CONTROL_STOP_LOGGING, self.epoch);
    line_stop_logging();
}

static void rank_has_stopped(void)
{
    if (++line.stopped_ranks == self.ranks)
        commit();
}

/* Not again while the initiator itself cannot take it, since a collective call is under way. */
static void initiate(void)
{
    if (line.requested > self.epoch)
        return;
    line.ready_ranks = line.stopped_ranks = 0;
    line.requested = self.epoch + 1;
    faultline_initiated(line.requested);
    send_others(CONTROL_PLEASE_CHECKPOINT, line.requested);
}

/* --- every rank ------------------------------------------------------------------------------- */

static void report_to_initiator(enum control_kind kind)
{
    if (self.rank != INITIATOR)
        control_send(kind, INITIATOR, self.epoch, 0);
    else if (kind == CONTROL_READY)
        rank_is_ready();
    else
        rank_has_stopped();
}

void line_stop_logging(void)
{
    if (!self.logging)
        return;
    line.stop_waits = self.in_send;
    if (self.in_send)
        return;
    if (!line.ready)
        die("a rank has stopped logging for line %" PRIu64 " before this one is ready to",
            self.epoch);
    requests_log_matched();
    self.logging = false;
    faultline_stop_log(self.epoch);
    log_save(self.epoch);
    log_clear();
    expect_counts();
    faultline_saved(self.epoch);
    report_to_initiator(CONTROL_STOPPED);
}

static bool all_late_are_in(void)
{
    if (line.sent_missing > 0)
        return false;
    for (int rank = 0; rank < self.ranks; rank++) {
        if (self.previous[rank] > line.sent[rank])
            die("rank %d has sent %" PRIu64 " messages before line %" PRIu64
                ", received are %" PRIu64,
                rank, line.sent[rank], self.epoch, self.previous[rank]);
        if (self.previous[rank] < line.sent[rank])
            return false;
    }
    return true;
}

static void check_ready(void)
{
    if (!self.logging || line.ready || !all_late_are_in())
        return;
    line.ready = true;
    faultline_ready(self.epoch);
    report_to_initiator(CONTROL_READY);
}

static void take_count(int rank, uint64_t sent)
{
    if (line.sent_known[rank])
        die("rank %d has said mySendCount twice", rank);
    line.sent[rank] = sent;
    line.sent_known[rank] = true;
    line.sent_missing--;
}

static void take_request(uint64_t requested)
{
    if (requested == self.epoch)
        return; /* a barrier was faster */
    if (requested != self.epoch + 1)
        die("asked for line %" PRIu64 " after line %" PRIu64, requested, self.epoch);
    line.requested = requested;
    /* The initiator asks only when the line before is committed. */
    if (self.epoch > 0)
        remove_older(self.epoch);
}

static void take_up(const struct control_message *message)
{
    switch (message->kind) {
    case CONTROL_PLEASE_CHECKPOINT:
        take_request(message->line);
        break;
    case CONTROL_MY_SEND_COUNT:
        take_count(message->source, message->value);
        break;
    case CONTROL_READY:
        rank_is_ready();
        break;
    case CONTROL_STOP_LOGGING:
        if (message->line == self.epoch)
            line_stop_logging();
        break;
    case CONTROL_STOPPED:
        rank_has_stopped();
        break;
    case CONTROL_REPLAY_OVER:
        line.replaying_ranks--;
        break;
    default:
        die("control message %d from rank %d", (int)message->kind, message->source);
    }
}

/* While a rank replays it cannot take the checkpoint of another line: what it has still to replay
 * belongs to this one, and a barrier may ask for its checkpoint at once. So none is begun. Nor may
 * the root of a listed call begin one before it has done that again: its part would be one of the
 * next line. */
static void check_replay(void)
{
    if (!line.replays || !replay_over() || !reexec_empty())
        return;
    line.replays = false;
    control_send(CONTROL_REPLAY_OVER, INITIATOR, self.epoch, 0);
}

void line_progress(void)
{
    control_take_all(take_up);
    if (line.stop_waits && !self.in_send)
        line_stop_logging();
    check_ready();
    check_replay();
}

/* --- the local checkpoint --------------------------------------------------------------------- */

/* What was received of the epoch to come is now of this one, and so on. Returns sendCount of the
 * epoch that ends; the caller's until the next call. */
static const uint64_t *turn_counters(void)
{
    static uint64_t *ended;
    size_t bytes = (size_t)self.ranks * sizeof(uint64_t);
    if (!ended)
        ended = memory((size_t)self.ranks, sizeof *ended);
    memcpy(ended, self.sent, bytes);
    memset(self.sent, 0, bytes);
    uint64_t *oldest = self.previous;
    self.previous = self.current;
    self.current = self.next;
    self.next = oldest;
    memset(self.next, 0, bytes);
    self.next_id = 0;
    return ended;
}

static void take_checkpoint(void)
{
    phase("before-checkpoint");
    self.epoch++;
    self.logging = true;
    line.ready = false;
    log_clear();
    replay_close();
    const uint64_t *sent = turn_counters();
    faultline_checkpoint(self.epoch);
    checkpoint_file_save();
    suppress_clear();
    reexec_clear();
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            control_send(CONTROL_MY_SEND_COUNT, rank, self.epoch, sent[rank]);
    take_count(self.rank, sent[self.rank]);
    phase("after-checkpoint");
}

uint64_t line_potential_checkpoint(void)
{
    line_progress();
    if (!replay_over())
        return 0;
    if (self.rank == INITIATOR && ++self.passed >= self.every && line.committed == self.epoch &&
        line.replaying_ranks == 0) {
        self.passed = 0;
        initiate();
    }
    if (line.requested == self.epoch || nonblocking_pending() > 0)
        return 0;
    take_checkpoint();
    line_progress();
    return self.epoch;
}

void line_checkpoint_at_barrier(void)
{
    if (!replay_over())
        die("line %" PRIu64 " was begun while this rank replays line %" PRIu64, self.epoch + 1,
            self.epoch);
    if (line.requested == self.epoch)
        take_request(self.epoch + 1);
    take_checkpoint();
    phase("after-barrier-checkpoint");
}

/* --- the end ---------------------------------------------------------------------------------- */

static void wait_for(MPI_Request *request)
{
    int done = 0;
    while (!done) {
        line_progress();
        PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

/* The least and the greatest of what each rank says. */
static void agree(uint64_t mine, uint64_t *least, uint64_t *greatest)
{
    uint64_t words[2] = {mine, UINT64_MAX - mine}, all[2];
    MPI_Request request;
    PMPI_Iallreduce(words, all, 2, MPI_UINT64_T, MPI_MIN, control_comm(), &request);
    wait_for(&request);
    *least = all[0];
    *greatest = UINT64_MAX - all[1];
}

/* Waits for what is sure to come, then: is every late message in? */
static bool late_are_in_everywhere(void)
{
    uint64_t least, greatest;
    while (self.logging && line.sent_missing > 0)
        line_progress();
    agree(!self.logging || line.ready || all_late_are_in(), &least, &greatest);
    return least == 1;
}

void line_finish(void)
{
    uint64_t least, greatest;
    MPI_Request request;
    agree(line.requested, &least, &greatest);
    uint64_t wanted = greatest;
    agree(self.epoch, &least, &greatest);
    if (least == wanted && late_are_in_everywhere()) {
        while (self.logging || (self.rank == INITIATOR && line.committed < self.epoch))
            line_progress();
        PMPI_Ibarrier(control_comm(), &request);
        wait_for(&request);
    } else if (self.rank == INITIATOR && line.committed < wanted) {
        faultline_given_up(wanted, "the program ends first");
    }
    self.logging = false;
}
