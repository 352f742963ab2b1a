/* The beginning, the end and the recovery of a job: see chandy_lamport.h. */
#include "chandy_lamport/chandy_lamport.h"

#include "chandy_lamport/channels.h"
#include "chandy_lamport/snapshot.h"
#include "checkpoint.h"
#include "faultline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chandy self;

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "chandy_lamport",
    .title = "the Chandy-Lamport protocol",
    .member = "rank",
    .threads = MPI_THREAD_SERIALIZED,
};

static uint64_t restored; /* the line that this rank is being restored from */

void phase(const char *name)
{
    line_phase(&self.store, name);
}

/* --- options ---------------------------------------------------------------------------------- */

/* true: the variable has its first word or is not set; false: it has the second. */
static bool word_option(const char *name, const char *first, const char *second)
{
    const char *text = getenv(name);
    if (!text || !*text || strcmp(text, first) == 0)
        return true;
    if (strcmp(text, second) != 0)
        die("%s=%s; accepted: %s, %s", name, text, first, second);
    return false;
}

static void read_options(struct options *options)
{
    options->every = (unsigned)number_setting("CHANDY_EVERY", 1, EVERY_MAX, EVERY_DEFAULT);
    options->steps = (unsigned)number_setting("CHANDY_STEPS", 0, STEPS_MAX, 0);
    options->fifo = word_option("CHANDY_MARKERS", "in-channel", "beside");
    options->any_time = word_option("CHANDY_SAVE", "at-marker", "at-potential-checkpoint");
    options->native_collectives = !word_option("CHANDY_COLLECTIVES", "messages", "native");
}

/* --- recovery --------------------------------------------------------------------------------- */

static void lives_on(void)
{
    snapshot_is_at(restored);
    faultline_restored(restored);
    layer_mark_kept(restored);
    channels_put_back(restored);
    phase("after-restore");
}

static void handed_over(uint64_t line, const struct layer_message *message)
{
    faultline_replayed(line, message->comm, message->peer, message->tag, message->data,
                       message->bytes);
}

static void recover(void)
{
    struct error error;
    void *saved;
    uint64_t bytes;
    phase("before-load");
    must(line_load_with(&self.store, restored, layer_state(), &saved, &bytes, &error), &error);
    phase("after-load");
    layer_read(saved, bytes, false);
    free(saved);
}

EXPORTED int protocol_restore(void)
{
    phase("before-restore");
    /* No rank begins a line before every rank has registered its state. */
    PMPI_Barrier(MPI_COMM_WORLD);
    restored = newest_line(&self.store, MPI_COMM_WORLD);
    if (restored != LINE_NONE)
        recover();
    else
        layer_image();
    layer_step();
    return (int)restored;
}

/* --- what else checkpoint.h declares ---------------------------------------------------------- */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must(state_register(layer_state(), name, data, bytes, &error), &error);
}

EXPORTED int protocol_potential_checkpoint(void)
{
    uint64_t before = snapshot_line();
    layer_image();
    snapshot_potential_checkpoint();
    layer_step();
    return snapshot_line() > before ? (int)snapshot_line() : 0;
}

EXPORTED void protocol_decision(const char *name, void *data, size_t bytes)
{
    layer_decision(name, data, bytes);
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* Packets that are no markers: the state of a channel is made of them. */
static void note_carried(void)
{
    static const int kinds[] = {PACKET_MESSAGE, PACKET_COLLECTIVE, PACKET_ACKNOWLEDGE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        faultline_carries((uint64_t)layer_comm(), kinds[i]);
}

void protocol_start(void)
{
    struct error error;
    static struct layer_protocol for_layer = {.control = snapshot_control,
                                              .arrives = snapshot_arrives,
                                              .handed_over = handed_over,
                                              .lives_on = lives_on,
                                              .step = snapshot_step};
    read_options(&self.options);
    for_layer.lanes = self.options.fifo ? 1 : 2;
    for_layer.native_collectives = self.options.native_collectives;
    layer_open(&for_layer, job.process, job.processes, NULL);
    must(line_store_open(&self.store, "chandy_lamport", job.process, job.processes, &error),
         &error);
    snapshot_open();
    note_carried();
    faultline_settles(SETTLES);
    faultline_begins(self.options.every + self.options.steps + 1);
}

EXPORTED int MPI_Finalize(void)
{
    phase("before-finish");
    layer_close(snapshot_is_settled);
    phase("after-finish");
    return PMPI_Finalize();
}
