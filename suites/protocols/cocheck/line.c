/* See line.h. */
#include "cocheck/line.h"

#include "cocheck/move.h"
#include "cocheck/rank_state.h"
#include "common/messages/layer.h"
#include "faultline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint64_t notified; /* the newest line of which this process was notified */
    int place;         /* where it goes, if it migrates in that */
    uint64_t over;     /* the newest line that is over */
    uint64_t *ready;   /* by rank: the newest line of which its ready message is here */
} line;

void line_open(void)
{
    line.notified = line.over = self.line;
    line.ready = memory((size_t)self.ranks, sizeof *line.ready);
}

void line_close(void)
{
    free(line.ready);
    line.ready = NULL;
}

void line_notified(uint64_t number, int place)
{
    line.notified = number;
    line.place = place;
}

/* ---- ready messages -----------------------------------------------------------------------------
 */

static void send_ready(int rank, uint64_t number)
{
    phase("before-send-ready");
    layer_control(rank, 0, PACKET_READY, number, NULL, 0);
    phase("after-send-ready");
}

static void send_ready_all(uint64_t number)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            send_ready(rank, number);
}

/* Whoever stays answers; two that both migrate have sent theirs anyway. */
void line_ready(int from, uint64_t number)
{
    phase("before-receive-ready");
    line.ready[from] = number;
    faultline_clear(number, (uint64_t)MPI_COMM_WORLD, from);
    bool migration = options_movers(&self.options, number) > 0;
    if (migration && !options_moves(&self.options, self.rank, number)) {
        send_ready(from, number);
        layer_suspend(from);
    }
    phase("after-receive-ready");
}

/* All that others sent to this rank is here. */
static bool is_clear(void *context)
{
    (void)context;
    attend();
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank && line.ready[rank] < line.notified)
            return false;
    return true;
}

static bool is_over(void *context)
{
    (void)context;
    attend();
    return line.over >= self.line; /* the notification of the next one may be here already */
}

void line_over(uint64_t number, bool migration)
{
    line.over = number;
    if (migration || self.rank == NO_RANK)
        return;
    /* The line before is needed until this one is committed. */
    phase("before-remove");
    line_remove(&self.store, self.kept);
    phase("after-remove");
    self.kept = number;
}

/* ---- the cut ------------------------------------------------------------------------------------
 */

static void note_recorded(void *context, const struct layer_message *message)
{
    (void)context;
    faultline_recorded(line.notified, message->comm, message->peer, message->tag, message->data,
                       message->bytes);
}

static void flush(void)
{
    phase("before-flush");
    layer_keep_back();
    send_ready_all(line.notified);
    layer_flush(is_clear, NULL);
    phase("after-flush");
}

/* From here on this process is like one alone [CC, section 4]. */
static void cut(void)
{
    self.line = line.notified;
    layer_for_each_kept(note_recorded, NULL);
    faultline_checkpoint(self.line);
}

static void save(void)
{
    struct error error;
    struct bytes extra = {0};
    rank_state_put(&extra);
    must(
        line_save_with(&self.store, self.line, layer_image_state(), extra.data, extra.size, &error),
        &error);
    bytes_release(&extra);
    faultline_saved(self.line);
    control_send(CONTROL_SAVED, COORDINATOR, self.line, (uint64_t)self.rank);
}

void line_look(void)
{
    if (line.notified <= self.line)
        return;
    faultline_notified(line.notified);
    flush();
    cut();
    if (options_moves(&self.options, self.rank, line.notified))
        move_to(line.place);
    save();
    /* No message of after the line reaches a rank that has not come to it. */
    layer_flush(is_over, NULL);
    layer_let_go();
}
