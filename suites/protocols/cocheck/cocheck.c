/* CoCheck as a layer over PMPI: the beginning, the end and the restart of a job, and the messages
 * between its parts. See cocheck.h for what it is and README.md for how it goes. */
#include "cocheck/cocheck.h"

#include "checkpoint.h"
#include "cocheck/control.h"
#include "cocheck/coordinator.h"
#include "cocheck/line.h"
#include "cocheck/move.h"
#include "cocheck/rank_state.h"
#include "common/messages/layer.h"
#include "faultline.h"

#include <stdlib.h>

struct cocheck self = {.rank = NO_RANK};

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "cocheck",
    .title = "CoCheck",
    .member = "process",
    .threads = MPI_THREAD_SERIALIZED,
};

static const char *const control_names[CONTROL_KINDS] = {
    [CONTROL_REQUEST] = "request",   [CONTROL_NOTIFICATION] = "notification",
    [CONTROL_SAVED] = "saved",       [CONTROL_ADDRESS] = "address",
    [CONTROL_MAPPING] = "mapping",   [CONTROL_RESUME] = "resume",
    [CONTROL_FINISHED] = "finished", [CONTROL_END] = "end",
};

void phase(const char *name)
{
    line_phase(&self.store, name);
}

/* --- what this process is told -----------------------------------------------------------------
 */

/* A rank has another address now (CoCheck's mapping table). Skeletons keep theirs up to date. */
static void map(int rank, int process)
{
    if (rank == self.rank)
        return;
    layer_set_process(rank, process);
    if (self.rank != NO_RANK)
        faultline_address((uint64_t)rank, (uint64_t)layer_comm(), process);
}

static bool is_for_central(enum control_kind kind)
{
    return kind == CONTROL_REQUEST || kind == CONTROL_SAVED || kind == CONTROL_ADDRESS ||
           kind == CONTROL_FINISHED;
}

static void take(const struct control_message *message)
{
    if (is_for_central(message->kind))
        coordinator_take(message);
    else if (message->kind == CONTROL_NOTIFICATION)
        line_notified(message->line, (int)message->value);
    else if (message->kind == CONTROL_MAPPING)
        map(control_first(message->value), control_second(message->value));
    else if (message->kind == CONTROL_RESUME)
        line_over(message->line, message->value != 0);
    else if (message->kind == CONTROL_END)
        self.ended = true;
    else
        die("process %d told something unknown", message->source);
}

void attend(void)
{
    control_take_all(take);
}

/* --- for the message layer ---------------------------------------------------------------------
 */

static void control_packet(int from, unsigned kind, uint64_t number, const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    if (kind != PACKET_READY)
        die("rank %d sent a packet of kind %u", from, kind);
    line_ready(from, number);
}

static void handed_over(uint64_t line, const struct layer_message *message)
{
    faultline_replayed(line, message->comm, message->peer, message->tag, message->data,
                       message->bytes);
}

static void lives_on(void)
{
    phase("after-past");
    faultline_restored(self.line);
    layer_mark_kept(self.line);
}

/* The notification may come at any moment, as a signal may: it is looked for in every step, and
 * acted on where no send is under way [CC, section 4]. */
static void step(void)
{
    attend();
    if (self.has_state && !layer_sending())
        line_look();
}

static const struct layer_protocol for_layer = {.lanes = 1,
                                                .control = control_packet,
                                                .handed_over = handed_over,
                                                .lives_on = lives_on,
                                                .step = step};

/* --- beginning and end -------------------------------------------------------------------------
 */

void protocol_start(void)
{
    struct error error;
    self.process = job.process;
    self.processes = job.processes;
    must(options_read(&self.options, self.processes, &error), &error);
    self.ranks = self.processes - self.options.skeletons;
    self.rank = self.process < self.ranks ? self.process : NO_RANK;
    if (self.rank == NO_RANK)
        faultline_becomes(FAULTLINE_NO_RANK);
    must(line_store_open(&self.store, "cocheck", self.rank, self.ranks, &error), &error);
    layer_open(&for_layer, self.rank, self.ranks, NULL);
    control_open(&self.store, control_names, CONTROL_KINDS);
    phase("before-restore");
    self.line = newest_line(&self.store, control_comm());
    move_open();
    line_open();
    faultline_settles(SETTLES);
    faultline_begins(self.options.every + SETTLES);
    if (self.process == COORDINATOR)
        coordinator_open(self.line);
    self.started = true;
    if (self.rank == NO_RANK && self.line != LINE_NONE)
        layer_read_beside();
    if (self.rank == NO_RANK)
        move_wait();
}

void finish(void)
{
    phase("before-finish");
    layer_close(NULL);
    move_close();
    line_close();
    if (self.process == COORDINATOR)
        coordinator_close();
    control_close();
    self.started = false;
    phase("after-finish");
}

static bool has_ended(void *context)
{
    (void)context;
    return self.ended;
}

/* Others may need this rank for a line until all are here. */
EXPORTED int MPI_Finalize(void)
{
    if (self.started) {
        self.has_state = true; /* also of a rank that never called checkpoint_restore */
        control_send(CONTROL_FINISHED, COORDINATOR, self.line, (uint64_t)self.rank);
        layer_wait(has_ended, NULL);
        finish();
    }
    return PMPI_Finalize();
}

/* --- what checkpoint.h declares ----------------------------------------------------------------
 */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must_be_inside(self.started, "checkpoint_register");
    must(state_register(layer_state(), name, data, bytes, &error), &error);
}

static void restart(void)
{
    struct error error;
    void *extra;
    uint64_t bytes;
    phase("before-load");
    must(line_load_with(&self.store, self.line, layer_state(), &extra, &bytes, &error), &error);
    uint64_t line = self.line;
    rank_state_take(extra, bytes, false);
    free(extra);
    /* A crash between a commit and the removal after it left the line before. */
    line_remove(&self.store, self.kept);
    self.kept = line;
    phase("after-restore");
}

EXPORTED int protocol_restore(void)
{
    must_be_inside(self.started, "checkpoint_restore");
    bool arrived = move_arrive();
    if (!arrived && self.line == LINE_NONE)
        layer_image();
    else if (!arrived)
        restart();
    self.has_state = true;
    return (int)self.line;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    must_be_inside(self.started, "potential_checkpoint");
    uint64_t before = self.line;
    /* Ahead of the image: after it, the step would be one that a restart does not do again. */
    layer_step();
    layer_image();
    if (self.rank == 0 && ++self.passed == self.options.every) {
        self.passed = 0;
        control_send(CONTROL_REQUEST, COORDINATOR, self.line, 0);
    }
    return self.line > before ? (int)self.line : 0;
}

EXPORTED void protocol_decision(const char *name, void *data, size_t bytes)
{
    must_be_inside(self.started, "checkpoint_decision");
    layer_decision(name, data, bytes);
}
