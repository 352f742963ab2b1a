/* The layer's clock and past, its saved state, its beginning and end: see mail.h and steps.h. */
#include "common/mail/mail.h"

#include "common/mail/comms.h"
#include "common/mail/matching.h"
#include "common/mail/owed.h"
#include "common/mail/parts.h"
#include "common/mail/past.h"
#include "common/mail/requests.h"
#include "common/mail/steps.h"
#include "common/mail/wire.h"
#include "faultline.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REASON_BYTES 1024
#define LOOKS_BEFORE_REST 100 /* that found nothing */
#define REST_NS 20000         /* between two looks from then on: others need the processor */

static struct {
    const struct mail_protocol *protocol;
    int rank;
    int ranks;
    bool inside;      /* control, arrives or step of the protocol is running */
    bool sending;     /* see mail_sending */
    uint64_t *sent;   /* by rank: packets of the program, control packets not counted */
    uint64_t *taken;  /* likewise */
    uint64_t arrived; /* packets of the program, whoever sent them */
    unsigned idle;    /* looks at the network in a row that found nothing */

    /* The image: what the program was at its last potential checkpoint. */
    struct state state;       /* the program's memory */
    struct state image_state; /* the same pieces, in image_memory */
    char *image_memory;
    struct bytes image; /* what this layer was */

    /* Since then. */
    uint64_t step;
    struct past past;
    uint64_t round;   /* of mail_keep_back; 0: nothing is kept back now */
    uint64_t rounds;  /* so far */
    struct owed owed; /* what is kept back */

    /* What came before the first image, or before the state that was read; see mail_prologue. */
    struct bytes prologue;
    bool has_begun; /* the prologue is over */

    /* After a restart. */
    bool in_past;
    uint64_t last_step;    /* the cut is in it */
    struct bytes expected; /* sent and taken at the cut */
    struct packet_list put_back;
} mail;

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
    return &mail.image_state;
}

bool mail_in_past(void)
{
    return mail.in_past;
}

_Noreturn static void not_as_it_was(const char *what)
{
    mail_die("the program does not do again what it did: %s. Between its choices, which it tells "
             "with checkpoint_decision, it has to be deterministic",
             what);
}

/* --- the past --------------------------------------------------------------------------------- */

/* The past is over, and goes; the first one is kept. */
static void end_past(void)
{
    if (!mail.has_begun)
        past_write(&mail.past, &mail.prologue);
    mail.has_begun = true;
    past_clear(&mail.past);
    mail.step = mail.rounds = 0;
}

/* --- packets ---------------------------------------------------------------------------------- */

uint64_t steps_next_number(int to)
{
    return mail.sent[to];
}

/* What was kept back in another round goes now. */
static void enter_round(uint64_t round)
{
    if (round == mail.round)
        return;
    mail.round = 0;
    owed_clear(&mail.owed, steps_send);
    mail.round = round;
    if (round > mail.rounds)
        mail.rounds = round;
}

void mail_keep_back(void)
{
    enter_round(mail.rounds + 1);
}

void mail_let_go(void)
{
    enter_round(0);
}

static void arrives(struct packet *packet)
{
    packet->arrived = mail.arrived++;
    matching_arrives(packet);
}

void steps_send(struct packet *packet, int to)
{
    if (mail.round > 0 && to != mail.rank) {
        owed_add(&mail.owed, packet, to);
        return;
    }
    packet->head.from = mail.rank;
    packet->head.number = mail.sent[to]++;
    if (to == mail.rank) {
        mail.taken[to]++;
        arrives(packet);
    } else if (mail.in_past) {
        packet_drop(packet);
    } else {
        wire_send(packet, to);
    }
}

void mail_control(int to, int lane, unsigned kind, uint64_t number, const void *data, size_t bytes)
{
    struct packet *packet = packet_new(bytes);
    packet->head.kind = kind;
    packet->head.lane = (uint32_t)lane;
    packet->head.number = number;
    if (bytes > 0)
        memcpy(packet->data, data, bytes);
    wire_send(packet, to);
}

/* A packet of the program, in its turn. */
static void take_in(struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    if (head->number != mail.taken[head->from])
        mail_die("packet %" PRIu64 " of rank %d came, %" PRIu64 " was next", head->number,
                 head->from, mail.taken[head->from]);
    mail.taken[head->from]++;
    arrives(packet);
}

/* Whatever the network has; owned by this function. */
static void comes(struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    mail.inside = true;
    if (head->kind >= PACKET_CONTROL) {
        mail.protocol->control(head->from, head->kind, head->number, packet->data, head->bytes);
        mail.inside = false;
        packet_drop(packet);
        return;
    }
    if (mail.protocol->arrives)
        mail.protocol->arrives(head->from, packet);
    mail.inside = false;
    struct moment *moment = past_add(&mail.past, mail.step);
    moment->round = mail.round;
    moment->packet = packet_hold(packet);
    take_in(packet);
}

void mail_put_back(struct packet *packet, uint64_t line)
{
    packet->kept_line = line;
    packet_append(&mail.put_back, packet);
}

void mail_handed_over(const struct packet *packet)
{
    struct mail_message message;
    if (packet->kept_line > 0 && mail.protocol->handed_over && mail_describe(packet, &message))
        mail.protocol->handed_over(packet->kept_line, &message);
}

/* What was put back comes ahead of the network. */
static struct packet *next_of_present(void)
{
    struct packet *packet = packet_take_first(&mail.put_back);
    return packet ? packet : wire_take();
}

/* --- steps ------------------------------------------------------------------------------------ */

static void check_counts(void)
{
    struct reader in = {.next = mail.expected.data, .left = mail.expected.size};
    for (int rank = 0; rank < mail.ranks; rank++) {
        uint64_t sent = reader_number(&in), taken = reader_number(&in);
        if (sent != mail.sent[rank] || taken != mail.taken[rank])
            not_as_it_was("it has sent more or less");
    }
    bytes_release(&mail.expected);
}

static void live_on(void)
{
    check_counts();
    mail.in_past = false;
    mail.protocol->lives_on();
    enter_round(0);
}

/* In the past: what came at this step, one moment. false: nothing more did. */
static bool comes_again(void)
{
    const struct moment *moment = past_next(&mail.past);
    if (!moment || moment->step != mail.step)
        return false;
    if (!moment->packet)
        return false; /* a choice that the program makes at this step */
    mail.past.next++;
    enter_round(moment->round);
    take_in(packet_hold(moment->packet));
    return true;
}

/* Behind all that came at this step. */
static void leave_past_here(void)
{
    if (mail.step > mail.last_step)
        not_as_it_was("it goes on beyond the point where it was saved");
    if (mail.step == mail.last_step && !past_next(&mail.past))
        live_on();
    else
        enter_round(0);
}

static void begin_step(void)
{
    if (mail.inside)
        mail_die("a step inside a step");
    mail.step++;
}

static void step_of_protocol(void)
{
    if (!mail.protocol->step)
        return;
    mail.inside = true;
    mail.protocol->step();
    mail.inside = false;
}

void steps_poll(void)
{
    struct packet *packet;
    begin_step();
    if (mail.in_past) {
        while (comes_again())
            ;
        leave_past_here();
    }
    if (mail.in_past)
        return;
    wire_is_sent();
    while ((packet = next_of_present()))
        comes(packet);
    step_of_protocol();
}

/* The library's progress needs the first looks one after the other. */
static void let_others_run(void)
{
    if (++mail.idle < LOOKS_BEFORE_REST)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* One packet, if there is one. */
static void look(void)
{
    struct packet *packet = next_of_present();
    if (packet) {
        mail.idle = 0;
        comes(packet);
    } else {
        wire_is_sent();
        let_others_run();
    }
}

static void wait_a_little(void)
{
    look();
    step_of_protocol();
}

void steps_wait(bool (*done)(void *context), void *context)
{
    begin_step();
    while (!done(context)) {
        if (!mail.in_past) {
            wait_a_little();
        } else if (!comes_again()) {
            leave_past_here();
            if (mail.in_past)
                not_as_it_was("it waits for what had come");
        }
    }
    /* What mail_flush took in at this step, behind what the call waited for. */
    while (mail.in_past && comes_again())
        ;
    if (mail.in_past)
        leave_past_here();
}

void mail_flush(bool (*done)(void *context), void *context)
{
    bool inside = mail.inside;
    while (!done(context))
        look();
    mail.inside = inside;
}

bool mail_sending(void)
{
    return mail.sending;
}

void mail_begin_sending(void)
{
    mail.sending = true;
}

void mail_end_sending(void)
{
    mail.sending = false;
}

void mail_step(void)
{
    steps_poll();
}

void mail_wait(bool (*done)(void *context), void *context)
{
    steps_wait(done, context);
}

bool mail_is_sent(void)
{
    return wire_is_sent();
}

void mail_decision(const char *name, void *data, size_t bytes)
{
    if (!mail.in_past) {
        bytes_put(&past_add(&mail.past, mail.step)->choice, data, bytes);
        return;
    }
    const struct moment *moment = past_next(&mail.past);
    if (!moment || moment->step != mail.step || moment->packet || moment->choice.size != bytes)
        not_as_it_was(name);
    if (bytes > 0)
        memcpy(data, moment->choice.data, bytes);
    mail.past.next++;
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

static void copy_state(void)
{
    uint64_t bytes = state_data_bytes(&mail.state);
    char *next = realloc(mail.image_memory, bytes ? bytes : 1);
    if (!next)
        mail_die("out of memory for an image of %" PRIu64 " bytes of state", bytes);
    mail.image_memory = next;
    mail.image_state = mail.state;
    for (size_t i = 0; i < mail.state.count; i++) {
        const struct piece *piece = &mail.state.piece[i];
        if (piece->as_stored.bytes > 0)
            memcpy(next, piece->data, piece->as_stored.bytes);
        mail.image_state.piece[i].data = next;
        next += piece->as_stored.bytes;
    }
}

void mail_image(void)
{
    struct bytes part = {0};
    if (mail.in_past)
        not_as_it_was("it comes to a potential checkpoint");
    copy_state();
    end_past();
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
    copy_state();
    read_image(image);
    mail_tell_requests();
    mail.last_step = reader_number(&in);
    struct reader counts = reader_row(&in);
    bytes_release(&mail.expected);
    bytes_put(&mail.expected, counts.next, counts.left);
    end_past();
    past_read(&mail.past, reader_row(&in));
    if (in.failed || in.left > 0)
        mail_die("the saved state is damaged");
    mail.in_past = true;
    if (!alone)
        wire_meet(nothing);
    leave_past_here();
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
    wait_a_little();
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
