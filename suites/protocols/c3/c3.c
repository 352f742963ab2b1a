/* The C3 protocol as a layer over PMPI: the beginning, the end and the recovery of a job. See c3.h
 * for what it is and README.md for how it goes. */
#include "c3/c3.h"

#include "c3/checkpoint_file.h"
#include "c3/collectives/bits.h"
#include "c3/collectives/collective.h"
#include "c3/collectives/reexec.h"
#include "c3/control.h"
#include "c3/line.h"
#include "c3/log.h"
#include "c3/pending.h"
#include "c3/piggyback.h"
#include "c3/replay.h"
#include "c3/suppress.h"
#include "c3/transfer.h"
#include "checkpoint.h"
#include "faultline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct c3 self;

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "c3",
    .title = "the C3 protocol",
    .member = "rank",
    .threads = MPI_THREAD_SERIALIZED,
};

static const char *const control_names[CONTROL_KINDS] = {
    [CONTROL_PLEASE_CHECKPOINT] = "pleaseCheckpoint",
    [CONTROL_MY_SEND_COUNT] = "mySendCount",
    [CONTROL_READY] = "readyToStopLogging",
    [CONTROL_STOP_LOGGING] = "stopLogging",
    [CONTROL_STOPPED] = "stoppedLogging",
    [CONTROL_REPLAY_OVER] = "replayIsOver",
};

void phase(const char *name)
{
    line_phase(&self.store, name);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void fill_stand(struct handles_stand *stand)
{
    *stand = (struct handles_stand){.line = self.epoch, .logging = self.logging};
}

static void refuse_for_handles(const char *what, const char *instead)
{
    refuse(what, instead);
}

static void communicates(const char *function)
{
    refuse(function, "point-to-point messages, and collective calls, blocking, not and persistent");
}

static const struct handles_protocol for_handles = {
    .name = "c3",
    .hidden = true,
    .stand = fill_stand,
    .stop_logging = line_stop_logging,
    .freed = collective_numbers_freed,
    .communicates = communicates,
    .refuse = refuse_for_handles,
};

void protocol_start(void)
{
    struct error error;
    self.rank = job.process;
    self.ranks = job.processes;
    size_t ranks = (size_t)self.ranks;
    self.sent = memory(ranks, sizeof(uint64_t));
    self.current = memory(ranks, sizeof(uint64_t));
    self.previous = memory(ranks, sizeof(uint64_t));
    self.next = memory(ranks, sizeof(uint64_t));
    self.every = (unsigned)number_setting("C3_EVERY", 1, EVERY_MAX, EVERY_DEFAULT);
    piggyback_choose();
    bits_choose();
    must(line_store_open(&self.store, "c3", self.rank, self.ranks, &error), &error);
    control_open(&self.store, control_names, CONTROL_KINDS);
    handles_open(&for_handles);
    line_recovered(LINE_NONE);
    faultline_settles(SETTLES);
    faultline_begins(self.every + SETTLES);
    self.started = true;
}

EXPORTED int MPI_Finalize(void)
{
    if (self.started) {
        phase("before-finish");
        detached_finish();
        line_finish();
        phase("after-finish");
        handles_close();
        control_close();
        self.started = false;
    }
    return PMPI_Finalize();
}

/* --- what checkpoint.h declares --------------------------------------------------------------- */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must_be_inside(self.started, "checkpoint_register");
    must(state_register(&self.state, name, data, bytes, &error), &error);
}

/* What was sent and received before the restore is forgotten: after it the rank is what it was at
 * its checkpoint, in the epoch that this began. */
static void reset_counters(uint64_t newest, const struct checkpoint *checkpoint)
{
    size_t bytes = (size_t)self.ranks * sizeof(uint64_t);
    memset(self.sent, 0, bytes);
    memset(self.current, 0, bytes);
    memset(self.previous, 0, bytes);
    memset(self.next, 0, bytes);
    for (size_t i = 0; i < checkpoint->early_count; i++)
        self.current[checkpoint->early[i].sender]++;
    self.next_place = checkpoint->next_place;
    self.epoch = newest;
    self.logging = false;
    self.next_id = 0;
    self.passed = 0;
}

static void recover(uint64_t newest)
{
    struct checkpoint checkpoint;
    size_t received, senders;
    phase("before-load");
    checkpoint_file_load(newest, &checkpoint);
    replay_open(newest);
    const struct early *sender = replay_senders(&senders);
    checkpoint_add_early(&checkpoint, sender, senders);
    phase("before-suppress-exchange");
    uint64_t *ids =
        suppress_exchange(control_comm(), checkpoint.early, checkpoint.early_count, &received);
    phase("after-suppress-exchange");
    reset_counters(newest, &checkpoint);
    replay_suppress(ids, received);
    line_recovered(newest);
    handles_restore(checkpoint.handles.next, checkpoint.handles.left);
    collective_numbers_restore(checkpoint.numbers);
    reexec_restore(checkpoint.reexec);
    faultline_restored(newest);
    pending_restore(checkpoint.requests);
    handles_settle();
    /* A crash between a commit and the removal after it left the line before. */
    line_remove(&self.store, newest - 1);
    log_remove(newest - 1);
    checkpoint_file_release(&checkpoint);
    free(ids);
    phase("after-restore");
    reexec_do();
}

EXPORTED int protocol_restore(void)
{
    must_be_inside(self.started, "checkpoint_restore");
    phase("before-restore");
    uint64_t newest = newest_line(&self.store, control_comm());
    if (newest != LINE_NONE)
        recover(newest);
    else
        handles_restore(NULL, 0);
    return (int)newest;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    must_be_inside(self.started, "potential_checkpoint");
    return (int)line_potential_checkpoint();
}

EXPORTED void protocol_decision(const char *name, void *data, size_t bytes)
{
    struct log_entry entry;
    const char *kept;
    must_be_inside(self.started, "checkpoint_decision");
    line_progress();
    if (replay_answer(LOG_DECISION, &entry, &kept)) {
        if (entry.data_bytes != bytes)
            die("in recovery the decision '%s' has %zu bytes, it had %" PRIu64, name, bytes,
                entry.data_bytes);
        memcpy(data, kept, bytes);
    } else if (self.logging) {
        entry = (struct log_entry){.kind = LOG_DECISION, .positive = 1, .data_bytes = bytes};
        log_append(&entry, data);
    }
}
