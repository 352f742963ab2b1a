/* See snapshot.h. */
#include "chandy_lamport/snapshot.h"

#include "chandy_lamport/channels.h"
#include "faultline.h"
#include "mpi_library.h"

#include <stdlib.h>
#include <string.h>

#define TREE_FAN 2 /* children of a rank in the tree */

static struct {
    uint64_t line;       /* taken or restored last */
    uint64_t committed;  /* initiator: newest */
    uint64_t wanted;     /* a marker of this line has come, and its state is not saved; 0: none */
    bool *is_clear;      /* by rank: the marker of the line has come from there */
    int clear;           /* channels */
    int below;           /* children in the tree that are done with the line */
    bool saved;          /* all of this rank's part is stable */
    unsigned passed;     /* initiator: potential checkpoints since the last line began */
    unsigned steps_left; /* initiator: until the line begins; 0: none is to begin */
} snapshot;

void snapshot_open(void)
{
    snapshot.is_clear = memory((size_t)layer_ranks(), sizeof *snapshot.is_clear);
    snapshot_is_at(LINE_NONE);
}

void snapshot_is_at(uint64_t line)
{
    snapshot.line = snapshot.committed = line;
    snapshot.saved = true;
}

uint64_t snapshot_line(void)
{
    return snapshot.line;
}

/* --- termination [CL, slide 33] --------------------------------------------------------------- */

static int children(void)
{
    int count = 0;
    for (int i = 1; i <= TREE_FAN; i++)
        count += layer_rank() * TREE_FAN + i < layer_ranks();
    return count;
}

static void commit(void)
{
    struct error error;
    phase("before-commit");
    must(line_commit(&self.store, snapshot.line, &error), &error);
    faultline_commit(snapshot.line);
    snapshot.committed = snapshot.line;
    phase("after-commit");
}

/* Upwards, when all below and this rank are done. */
static void report_done(void)
{
    if (!snapshot.saved || snapshot.below < children())
        return;
    if (layer_rank() == INITIATOR) {
        commit();
        return;
    }
    phase("before-send-done");
    layer_control((layer_rank() - 1) / TREE_FAN, LANE_MESSAGES, DONE, snapshot.line, NULL, 0);
    phase("after-send-done");
}

/* The channels are recorded when every marker is here [CL, slide 32]. */
static void save_channels(void)
{
    if (snapshot.clear < layer_ranks() - 1 || snapshot.saved)
        return;
    channels_save(snapshot.line);
    channels_clear();
    snapshot.saved = true;
    faultline_saved(snapshot.line);
    phase("saved");
    report_done();
}

/* --- the cut [CL, slide 25] ------------------------------------------------------------------- */

static void note_recorded(void *context, const struct layer_message *message)
{
    (void)context;
    faultline_recorded(snapshot.line, message->comm, message->peer, message->tag, message->data,
                       message->bytes);
}

static void send_markers(void)
{
    int lane = self.options.fifo ? LANE_MESSAGES : LANE_MARKERS;
    phase("before-send-markers");
    for (int i = 1; i < layer_ranks(); i++) {
        int to = (layer_rank() + i) % layer_ranks();
        layer_control(to, lane, MARKER, snapshot.line, NULL, 0);
        if (i == 1)
            phase("mid-send-markers");
    }
    phase("after-send-markers");
}

/* A line is begun when the one before is committed, so the one before that is of no use. */
static void remove_old(void)
{
    if (snapshot.line <= 2)
        return;
    line_remove(&self.store, snapshot.line - 2);
    channels_remove(snapshot.line - 2);
}

static void save_state(void)
{
    struct error error;
    struct bytes saved = {0};
    layer_save(&saved);
    send_markers();
    must(line_save_with(&self.store, snapshot.line, layer_image_state(), saved.data, saved.size,
                        &error),
         &error);
    bytes_release(&saved);
}

/* This is the state of this rank in `line`. */
static void cut(uint64_t line)
{
    phase("before-checkpoint");
    snapshot.line = line;
    snapshot.wanted = 0;
    snapshot.below = 0;
    snapshot.saved = false;
    channels_clear();
    faultline_checkpoint(line);
    layer_for_each_kept(note_recorded, NULL);
    save_state();
    remove_old();
    phase("after-checkpoint");
}

static void forget_markers(void)
{
    snapshot.clear = 0;
    memset(snapshot.is_clear, 0, (size_t)layer_ranks() * sizeof *snapshot.is_clear);
}

static void initiate(void)
{
    uint64_t line = snapshot.line + 1;
    phase("before-initiate");
    faultline_initiated(line);
    forget_markers();
    cut(line);
    save_channels();
}

/* --- markers ---------------------------------------------------------------------------------- */

static void marker(int from, uint64_t line)
{
    bool first = line != snapshot.line && line != snapshot.wanted;
    if (line > snapshot.line + 1 || line < snapshot.line || (!first && snapshot.is_clear[from]))
        die("a marker of line %llu comes from rank %d at line %llu", (unsigned long long)line, from,
            (unsigned long long)snapshot.line);
    if (first) {
        faultline_notified(line);
        forget_markers();
        snapshot.wanted = line;
    }
    if (first && self.options.any_time)
        cut(line);
    faultline_clear(line, (uint64_t)MPI_COMM_WORLD, from);
    snapshot.is_clear[from] = true;
    snapshot.clear++;
    if (snapshot.wanted == 0)
        save_channels();
}

void snapshot_control(int from, unsigned kind, uint64_t line, const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    if (kind == MARKER) {
        phase("before-receive-marker");
        marker(from, line);
        phase("after-receive-marker");
    } else {
        phase("before-receive-done");
        snapshot.below++;
        report_done();
        phase("after-receive-done");
    }
}

/* Between the cut and the marker of its channel. */
void snapshot_arrives(int from, struct packet *packet)
{
    if (!snapshot.saved && !snapshot.is_clear[from])
        channels_record(snapshot.line, packet);
}

/* --- when ------------------------------------------------------------------------------------- */

/* A new one is begun when the one before is committed. */
static bool may_initiate(void)
{
    return layer_rank() == INITIATOR && snapshot.committed == snapshot.line;
}

void snapshot_step(void)
{
    if (snapshot.steps_left > 0 && --snapshot.steps_left == 0)
        initiate();
}

void snapshot_potential_checkpoint(void)
{
    if (snapshot.wanted > 0) {
        cut(snapshot.wanted);
        save_channels();
    }
    if (!may_initiate() || snapshot.steps_left > 0 || ++snapshot.passed < self.options.every)
        return;
    snapshot.passed = 0;
    snapshot.steps_left = self.options.steps;
    if (self.options.steps == 0)
        initiate();
}

bool snapshot_is_settled(void)
{
    return layer_rank() != INITIATOR || (may_initiate() && snapshot.steps_left == 0);
}
