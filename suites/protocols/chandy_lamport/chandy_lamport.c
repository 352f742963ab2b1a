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
static uint64_t restored; /* the line that this rank is being restored from */

void must(enum error_code code, const struct error *error)
{
    if (code != OK)
        layer_die("%s: %s", error_code_text(code), error->text);
}

void phase(const char *name)
{
    line_phase(&self.store, name);
}

static void refuse(const char *what, const char *instead)
{
    layer_die("%s is not supported by the Chandy-Lamport protocol; supported: %s", what, instead);
}

/* --- options ---------------------------------------------------------------------------------- */

static unsigned number_option(const char *name, unsigned otherwise, long minimum, long maximum)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    long value = strtol(text, &end, 10);
    if (*end || value < minimum || value > maximum)
        layer_die("%s=%s; accepted: %ld to %ld", name, text, minimum, maximum);
    return (unsigned)value;
}

/* true: the variable has its first word or is not set; false: it has the second. */
static bool word_option(const char *name, const char *first, const char *second)
{
    const char *text = getenv(name);
    if (!text || !*text || strcmp(text, first) == 0)
        return true;
    if (strcmp(text, second) != 0)
        layer_die("%s=%s; accepted: %s, %s", name, text, first, second);
    return false;
}

static void read_options(struct options *options)
{
    options->every = number_option("CHANDY_EVERY", EVERY_DEFAULT, 1, EVERY_MAX);
    options->steps = number_option("CHANDY_STEPS", 0, 0, STEPS_MAX);
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

/* Everybody learns the newest committed line from the initiator. */
static uint64_t newest_line(void)
{
    struct error error;
    uint64_t newest = LINE_NONE;
    if (layer_rank() == INITIATOR)
        must(line_newest(&self.store, &newest, &error), &error);
    PMPI_Bcast(&newest, 1, MPI_UINT64_T, INITIATOR, MPI_COMM_WORLD);
    return newest;
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
    restored = newest_line();
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

static void start(void)
{
    struct error error;
    int rank, ranks;
    static struct layer_protocol protocol = {.name = "chandy_lamport",
                                             .control = snapshot_control,
                                             .arrives = snapshot_arrives,
                                             .handed_over = handed_over,
                                             .lives_on = lives_on,
                                             .step = snapshot_step,
                                             .refuse = refuse};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    read_options(&self.options);
    protocol.lanes = self.options.fifo ? 1 : 2;
    protocol.native_collectives = self.options.native_collectives;
    layer_open(&protocol, rank, ranks, NULL);
    must(line_store_open(&self.store, "chandy_lamport", rank, ranks, &error), &error);
    snapshot_open();
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
    phase("before-finish");
    layer_close(snapshot_is_settled);
    phase("after-finish");
    return PMPI_Finalize();
}
