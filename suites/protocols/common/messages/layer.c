/* The layer's saved states, its beginning and end: see layer.h. */
#include "common/messages/layer.h"

#include "common/messages/comms.h"
#include "common/messages/core.h"
#include "common/messages/image.h"
#include "common/messages/matching.h"
#include "common/messages/requests.h"
#include "common/messages/steps.h"
#include "common/messages/wire.h"

#include <inttypes.h>
#include <stdlib.h>

struct layer_core layer;

/* --- small things ----------------------------------------------------------------------------- */

void layer_refuse(const char *what, const char *instead)
{
    if (!layer.protocol)
        die("%s called outside MPI_Init and MPI_Finalize", what);
    refuse(what, instead);
}

int layer_rank(void)
{
    return layer.rank;
}

int layer_ranks(void)
{
    return layer.ranks;
}

bool layer_is_open(void)
{
    return layer.protocol != NULL;
}

bool layer_native_collectives(void)
{
    return layer.protocol->native_collectives;
}

void layer_everybody(MPI_Group *group)
{
    if (layer.protocol->everybody)
        layer.protocol->everybody(group);
    else
        PMPI_Comm_group(MPI_COMM_WORLD, group);
}

bool layer_has_trees(void)
{
    return layer.protocol->carrier && layer.protocol->carrier->multicast;
}

const struct layer_carrier *layer_carrier(void)
{
    return layer.protocol->carrier;
}

struct state *layer_state(void)
{
    return &layer.state;
}

const struct state *layer_image_state(void)
{
    return image_state();
}

struct state *layer_image_room(void)
{
    layer.image_is_coming = true;
    return image_room(&layer.state);
}

_Noreturn void core_differs(const char *what)
{
    die("the program does not do again what it did: %s. Between its choices, which it tells "
        "with checkpoint_decision, it has to be deterministic",
        what);
}

/* --- images and saved states ------------------------------------------------------------------ */

static void put_part(struct bytes *out, struct bytes *part)
{
    bytes_put_row(out, part->data, part->size);
    out->failed |= part->failed;
    bytes_release(part);
}

static void put_counts(struct bytes *out)
{
    for (int rank = 0; rank < layer.ranks; rank++) {
        bytes_put_number(out, layer.sent[rank]);
        bytes_put_number(out, layer.taken[rank]);
    }
}

void layer_image(void)
{
    struct bytes part = {0};
    if (layer.in_past)
        core_differs("it comes to a potential checkpoint");
    image_copy(&layer.state);
    core_end_past();
    bytes_release(&layer.image);
    put_counts(&part);
    put_part(&layer.image, &part);
    comms_write(&part);
    put_part(&layer.image, &part);
    requests_write(&part);
    put_part(&layer.image, &part);
    matching_write(&part);
    put_part(&layer.image, &part);
    if (layer.image.failed)
        die("out of memory for an image");
}

void layer_save_image(struct bytes *out)
{
    bytes_put(out, layer.image.data, layer.image.size);
    if (out->failed)
        die("out of memory for a saved state");
}

void layer_save(struct bytes *out)
{
    struct bytes part = {0};
    bytes_put_row(out, layer.image.data, layer.image.size);
    bytes_put_number(out, layer.step);
    put_counts(&part);
    put_part(out, &part);
    past_write(&layer.past, &part);
    put_part(out, &part);
    if (out->failed)
        die("out of memory for a saved state");
}

static void count_arrived(void)
{
    layer.arrived = 0;
    for (int rank = 0; rank < layer.ranks; rank++)
        layer.arrived += layer.taken[rank];
}

static void read_image(struct reader in)
{
    struct reader counts = reader_row(&in);
    for (int rank = 0; rank < layer.ranks; rank++) {
        layer.sent[rank] = reader_number(&counts);
        layer.taken[rank] = reader_number(&counts);
    }
    count_arrived();
    requests_forget();
    comms_read(reader_row(&in));
    requests_read(reader_row(&in));
    comms_remove_unused();
    matching_read(reader_row(&in));
    if (in.failed || counts.failed || in.left > 0)
        die("the saved image is damaged");
}

static void too_early(struct packet *packet)
{
    die("a message of rank %d crosses checkpoint_restore", packet->head.from);
}

static void nothing(void)
{
}

void layer_read_beside(void)
{
    wire_drain(too_early);
    wire_meet(nothing);
}

void layer_read(const void *saved, size_t bytes, bool alone)
{
    struct reader in = {.next = saved, .left = bytes};
    if (!alone)
        wire_drain(too_early);
    struct reader image = reader_row(&in);
    bytes_release(&layer.image);
    bytes_put(&layer.image, image.next, image.left);
    if (!layer.image_is_coming)
        image_copy(&layer.state);
    layer.image_is_coming = false;
    read_image(image);
    layer_note_requests();
    layer.last_step = reader_number(&in);
    struct reader counts = reader_row(&in);
    bytes_release(&layer.expected);
    bytes_put(&layer.expected, counts.next, counts.left);
    core_end_past();
    past_read(&layer.past, reader_row(&in));
    if (in.failed || in.left > 0)
        die("the saved state is damaged");
    layer.in_past = true;
    if (!alone)
        wire_meet(nothing);
    core_leave_past_here(false);
}

void layer_read_image(const void *saved, size_t bytes)
{
    bytes_release(&layer.image);
    bytes_put(&layer.image, saved, bytes);
    image_copy(&layer.state);
    read_image((struct reader){.next = saved, .left = bytes});
    layer_note_requests();
    core_end_past();
}

void layer_relive_message(uint64_t step, struct packet *packet)
{
    past_add(&layer.past, step)->packet = packet;
}

void layer_relive_choice(uint64_t step, const void *data, size_t bytes)
{
    bytes_put(&past_add(&layer.past, step)->choice, data, bytes);
}

void layer_relive(uint64_t last)
{
    layer.last_step = last;
    layer.in_past = true;
    core_leave_past_here(true);
}

void layer_follow(void)
{
    layer.in_past = layer.follows = true;
    layer.last_step = UINT64_MAX;
}

void layer_followed(uint64_t step)
{
    layer.followed = step;
}

void layer_follow_ends(uint64_t last)
{
    layer.follows = false;
    layer.last_step = last;
}

bool layer_in_past(void)
{
    return layer.in_past;
}

uint64_t layer_now(void)
{
    return layer.step;
}

uint64_t layer_taken(int from)
{
    return layer.taken[from];
}

/* --- beginning and end ------------------------------------------------------------------------ */

void layer_open(const struct layer_protocol *protocol, int rank, int ranks, const int *process)
{
    layer.protocol = protocol;
    layer.rank = rank;
    layer.ranks = ranks;
    layer.sent = memory((size_t)ranks, sizeof *layer.sent);
    layer.taken = memory((size_t)ranks, sizeof *layer.taken);
    if (!protocol->carrier)
        wire_open(protocol->lanes > 0 ? protocol->lanes : 1, rank, ranks, process);
    comms_open(rank, ranks);
}

/* Without an end of its own: checkpoint_restore is. */
static void repeat_prologue(const void *prologue, size_t bytes)
{
    bytes_release(&layer.prologue);
    bytes_put(&layer.prologue, prologue, bytes);
    past_read(&layer.past, (struct reader){.next = prologue, .left = bytes});
    layer.has_begun = true;
    layer.step = 0;
    layer.in_past = true;
    layer.last_step = UINT64_MAX;
}

void layer_become(int rank, const void *prologue, size_t bytes)
{
    layer.rank = rank;
    layer.inside = layer.sending = false;
    layer.round = 0;
    unsent_clear(&layer.unsent, NULL);
    wire_become(rank);
    comms_become(rank);
    if (prologue)
        repeat_prologue(prologue, bytes);
}

void layer_prologue(struct bytes *out)
{
    bytes_put(out, layer.prologue.data, layer.prologue.size);
}

void layer_suspend(int rank)
{
    wire_suspend(rank);
}

MPI_Comm layer_comm(void)
{
    return wire_comm();
}

void layer_set_process(int rank, int process)
{
    wire_set_process(rank, process);
}

int layer_process(int rank)
{
    return wire_process(rank);
}

static void take_more(void)
{
    core_wait_a_little();
}

static bool is_settled(void *context)
{
    return (*(bool (**)(void))context)();
}

/* After the last call of anybody: nobody will receive it. */
static void too_late(struct packet *packet)
{
    packet_drop(packet);
}

void layer_close(bool (*settled)(void))
{
    do
        steps_poll();
    while (layer.in_past);
    if (settled)
        steps_wait(is_settled, &settled);
    if (!layer.protocol->carrier) {
        wire_meet(take_more);
        wire_drain(too_late);
        wire_close();
    }
    comms_close();
    packet_list_clear(&layer.put_back);
    past_clear(&layer.past);
    bytes_release(&layer.prologue);
    layer.has_begun = false;
    layer.protocol = NULL;
}
