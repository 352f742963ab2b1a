/* The C3 protocol as a layer over PMPI: the beginning, the end and the recovery of a job. See c3.h
 * for what it is and README.md for how it goes. */
#include "c3/c3.h"

#include "c3/checkpoint_file.h"
#include "c3/collectives/again.h"
#include "c3/collectives/bits.h"
#include "c3/collectives/collective.h"
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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REASON_BYTES 1024

struct c3 self;

/* --- the ways to end the job ------------------------------------------------------------------ */

_Noreturn static void end_job(const char *reason)
{
    fprintf(stderr, "c3: rank %d: %s\n", self.rank, reason);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void must(enum error_code code, const struct error *error)
{
    if (code != OK)
        die("%s: %s", error_code_text(code), error->text);
}

void die(const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    end_job(reason);
}

void refuse(const char *what, const char *instead)
{
    die("%s is not supported by the C3 protocol; supported: %s", what, instead);
}

static void refuse_for_handles(const char *what, const char *instead)
{
    refuse(what, instead);
}

void *memory(size_t count, size_t bytes)
{
    void *made = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!made)
        die("out of memory for %zu times %zu bytes", count, bytes);
    return made;
}

void *larger(void *old, size_t bytes)
{
    void *made = realloc(old, bytes);
    if (!made)
        die("out of memory for %zu bytes", bytes);
    return made;
}

void phase(const char *name)
{
    line_phase(&self.store, name);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static unsigned every_from_environment(void)
{
    const char *text = getenv("C3_EVERY");
    if (!text || !*text)
        return EVERY_DEFAULT;
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > EVERY_MAX)
        die("C3_EVERY=%s; accepted: 1 to %d", text, EVERY_MAX);
    return (unsigned)value;
}

static void tell_stand(struct handles_stand *stand)
{
    *stand = (struct handles_stand){.line = self.epoch, .logging = self.logging};
}

static void communicates(const char *function)
{
    refuse(function, "point-to-point messages, and collective calls, blocking, not and persistent");
}

static const struct handles_protocol for_handles = {
    .name = "c3",
    .hidden = true,
    .stand = tell_stand,
    .stop_logging = line_stop_logging,
    .freed = collective_numbers_freed,
    .communicates = communicates,
    .refuse = refuse_for_handles,
};

static void start(void)
{
    struct error error;
    PMPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &self.ranks);
    size_t ranks = (size_t)self.ranks;
    self.sent = memory(ranks, sizeof(uint64_t));
    self.current = memory(ranks, sizeof(uint64_t));
    self.previous = memory(ranks, sizeof(uint64_t));
    self.next = memory(ranks, sizeof(uint64_t));
    self.every = every_from_environment();
    piggyback_choose();
    bits_choose();
    must(line_store_open(&self.store, "c3", self.rank, self.ranks, &error), &error);
    control_open();
    handles_open(&for_handles);
    line_recovered(LINE_NONE);
    self.started = true;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS)
        start();
    return status;
}

/* One thread at a time: the protocol's state has no locks. */
EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int wanted = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
    int status = PMPI_Init_thread(argc, argv, wanted, provided);
    if (status == MPI_SUCCESS && *provided > MPI_THREAD_SERIALIZED)
        *provided = MPI_THREAD_SERIALIZED;
    if (status == MPI_SUCCESS)
        start();
    return status;
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

static void must_be_started(const char *function)
{
    if (!self.started)
        die("%s called outside MPI_Init and MPI_Finalize", function);
}

/* --- what checkpoint.h declares --------------------------------------------------------------- */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must_be_started("checkpoint_register");
    must(state_register(&self.state, name, data, bytes, &error), &error);
}

/* Everybody learns the newest committed line from the initiator. */
static uint64_t newest_line(void)
{
    struct error error;
    uint64_t newest = LINE_NONE;
    if (self.rank == INITIATOR)
        must(line_newest(&self.store, &newest, &error), &error);
    PMPI_Bcast(&newest, 1, MPI_UINT64_T, INITIATOR, control_comm());
    return newest;
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
    size_t told, senders;
    phase("before-load");
    checkpoint_file_load(newest, &checkpoint);
    replay_open(newest);
    const struct early *sender = replay_senders(&senders);
    checkpoint_add_early(&checkpoint, sender, senders);
    phase("before-suppress-exchange");
    uint64_t *ids =
        suppress_exchange(control_comm(), checkpoint.early, checkpoint.early_count, &told);
    phase("after-suppress-exchange");
    reset_counters(newest, &checkpoint);
    replay_suppress(ids, told);
    line_recovered(newest);
    handles_restore(checkpoint.handles.next, checkpoint.handles.left);
    collective_numbers_restore(checkpoint.numbers);
    again_restore(checkpoint.again);
    faultline_restored(newest);
    pending_restore(checkpoint.requests);
    handles_settle();
    /* A crash between a commit and the removal after it left the line before. */
    line_remove(&self.store, newest - 1);
    log_remove(newest - 1);
    checkpoint_file_release(&checkpoint);
    free(ids);
    phase("after-restore");
    again_do();
}

EXPORTED int protocol_restore(void)
{
    must_be_started("checkpoint_restore");
    phase("before-restore");
    uint64_t newest = newest_line();
    if (newest != LINE_NONE)
        recover(newest);
    else
        handles_restore(NULL, 0);
    return (int)newest;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    must_be_started("potential_checkpoint");
    return (int)line_potential_checkpoint();
}

EXPORTED void protocol_decision(const char *name, void *data, size_t bytes)
{
    struct log_entry entry;
    const char *kept;
    must_be_started("checkpoint_decision");
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
