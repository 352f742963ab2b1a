/* The layer's saved states, its beginning and end: see mail.h. */
#include "common/messages/mail.h"

#include "common/messages/comms.h"
#include "common/messages/core.h"
#include "common/messages/image.h"
#include "common/messages/matching.h"
#include "common/messages/requests.h"
#include "common/messages/steps.h"
#include "common/messages/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define REASON_BYTES 1024

struct mail_core mail;

/* --- small things ----------------------------------------------------------------------------- */

void mail_die(const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: rank %d: %s\n", mail.protocol ? mail.protocol->name : "mail", mail.rank,
            reason);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void mail_refuse(const char *what, const char *instead)
{
    if (!mail.protocol)
        mail_die("%s called outside MPI_Init and MPI_Finalize", what);
    mail.protocol->refuse(what, instead);
    abort();
}

int mail_rank(void)
{
    return mail.rank;
}

int mail_ranks(void)
{
    return mail.ranks;
}

bool mail_is_open(void)
{
    return mail.protocol != NULL;
}

bool mail_native_collectives(void)
{
    return mail.protocol->native_collectives;
}

struct state *mail_state(void)
{
    return &mail.state;
}

const struct state *mail_image_state(void)
{
    return image_state();
}

struct state *mail_image_room(void)
{
    mail.image_is_coming = true;
    return image_room(&mail.state);
}

_Noreturn void core_differs(const char *what)
{
    mail_die("the program does not do again what it did: %s. Between its choices, which it tells "
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
    for (int rank = 0; rank < mail.ranks; rank++) {
        bytes_put_number(out, mail.sent[rank]);
        bytes_put_number(out, mail.taken[rank]);
    }
}

void mail_image(void)
{
    struct bytes part = {0};
    if (mail.in_past)
        core_differs("it comes to a potential checkpoint");
    image_copy(&mail.state);
    core_end_past();
    bytes_release(&mail.image);
    put_counts(&part);
    put_part(&mail.image, &part);
    comms_write(&part);
    put_part(&mail.image, &part);
    requests_write(&part);
    put_part(&mail.image, &part);
    matching_write(&part);
    put_part(&mail.image, &part);
    if (mail.image.failed)
        mail_die("out of memory for an image");
}

void mail_save(struct bytes *out)
{
    struct bytes part = {0};
    bytes_put_row(out, mail.image.data, mail.image.size);
    bytes_put_number(out, mail.step);
    put_counts(&part);
    put_part(out, &part);
    past_write(&mail.past, &part);
    put_part(out, &part);
    if (out->failed)
        mail_die("out of memory for a saved state");
}

static void count_arrived(void)
{
    mail.arrived = 0;
    for (int rank = 0; rank < mail.ranks; rank++)
        mail.arrived += mail.taken[rank];
}

static void read_image(struct reader in)
{
    struct reader counts = reader_row(&in);
    for (int rank = 0; rank < mail.ranks; rank++) {
        mail.sent[rank] = reader_number(&counts);
        mail.taken[rank] = reader_number(&counts);
    }
    count_arrived();
    requests_forget();
    comms_read(reader_row(&in));
    requests_read(reader_row(&in));
    matching_read(reader_row(&in));
    if (in.failed || counts.failed || in.left > 0)
        mail_die("the saved image is damaged");
}

static void too_early(struct packet *packet)
{
    mail_die("a message of rank %d crosses checkpoint_restore", packet->head.from);
}

static void nothing(void)
{
}

void mail_read_beside(void)
{
    wire_drain(too_early);
    wire_meet(nothing);
}

void mail_read(const void *saved, size_t bytes, bool alone)
{
    struct reader in = {.next = saved, .left = bytes};
    if (!alone)
        wire_drain(too_early);
    struct reader image = reader_row(&in);
    bytes_release(&mail.image);
    bytes_put(&mail.image, image.next, image.left);
    if (!mail.image_is_coming)
        image_copy(&mail.state);
    mail.image_is_coming = false;
    read_image(image);
    mail_tell_requests();
    mail.last_step = reader_number(&in);
    struct reader counts = reader_row(&in);
    bytes_release(&mail.expected);
    bytes_put(&mail.expected, counts.next, counts.left);
    core_end_past();
    past_read(&mail.past, reader_row(&in));
    if (in.failed || in.left > 0)
        mail_die("the saved state is damaged");
    mail.in_past = true;
    if (!alone)
        wire_meet(nothing);
    core_leave_past_here();
}

/* --- beginning and end ------------------------------------------------------------------------ */

void mail_open(const struct mail_protocol *protocol, int rank, int ranks, const int *process)
{
    mail.protocol = protocol;
    mail.rank = rank;
    mail.ranks = ranks;
    mail.sent = calloc((size_t)ranks, sizeof *mail.sent);
    mail.taken = calloc((size_t)ranks, sizeof *mail.taken);
    if (!mail.sent || !mail.taken)
        mail_die("out of memory for %d ranks", ranks);
    wire_open(protocol->lanes > 0 ? protocol->lanes : 1, rank, ranks, process);
    comms_open(rank, ranks);
}

/* Without an end of its own: checkpoint_restore is. */
static void repeat_prologue(const void *prologue, size_t bytes)
{
    bytes_release(&mail.prologue);
    bytes_put(&mail.prologue, prologue, bytes);
    past_read(&mail.past, (struct reader){.next = prologue, .left = bytes});
    mail.has_begun = true;
    mail.step = 0;
    mail.in_past = true;
    mail.last_step = UINT64_MAX;
}

void mail_become(int rank, const void *prologue, size_t bytes)
{
    mail.rank = rank;
    mail.inside = mail.sending = false;
    mail.round = 0;
    owed_clear(&mail.owed, NULL);
    wire_become(rank);
    comms_become(rank);
    if (prologue)
        repeat_prologue(prologue, bytes);
}

void mail_prologue(struct bytes *out)
{
    bytes_put(out, mail.prologue.data, mail.prologue.size);
}

void mail_suspend(int rank)
{
    wire_suspend(rank);
}

MPI_Comm mail_comm(void)
{
    return wire_comm();
}

void mail_set_process(int rank, int process)
{
    wire_set_process(rank, process);
}

int mail_process(int rank)
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

/* Behind the last call of anybody: nobody will receive it. */
static void too_late(struct packet *packet)
{
    packet_drop(packet);
}

void mail_close(bool (*settled)(void))
{
    do
        steps_poll();
    while (mail.in_past);
    if (settled)
        steps_wait(is_settled, &settled);
    wire_meet(take_more);
    wire_drain(too_late);
    wire_close();
    comms_close();
    packet_list_clear(&mail.put_back);
    past_clear(&mail.past);
    bytes_release(&mail.prologue);
    mail.has_begun = false;
    mail.protocol = NULL;
}
