/* The layer's clock and its past: see steps.h and core.h. */
#include "common/messages/steps.h"

#include "common/messages/core.h"
#include "common/messages/matching.h"
#include "common/messages/wire.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define LOOKS_BEFORE_REST 100 /* that found nothing */
#define REST_NS 20000         /* between two looks from then on: others need the processor */

/* --- the past --------------------------------------------------------------------------------- */

void core_end_past(void)
{
    if (!layer.has_begun)
        past_write(&layer.past, &layer.prologue);
    layer.has_begun = true;
    past_clear(&layer.past);
    layer.step = layer.rounds = 0;
}

/* --- packets ---------------------------------------------------------------------------------- */

uint64_t steps_next_number(int to)
{
    return layer.sent[to];
}

/* What was kept back in another round goes now. */
static void enter_round(uint64_t round)
{
    if (round == layer.round)
        return;
    layer.round = 0;
    unsent_clear(&layer.unsent, steps_send);
    layer.round = round;
    if (round > layer.rounds)
        layer.rounds = round;
}

void layer_keep_back(void)
{
    enter_round(layer.rounds + 1);
}

void layer_let_go(void)
{
    enter_round(0);
}

static void arrives(struct packet *packet)
{
    packet->arrived = layer.arrived++;
    matching_arrives(packet);
}

void steps_send(struct packet *packet, int to)
{
    if (layer.round > 0 && to != layer.rank) {
        unsent_add(&layer.unsent, packet, to);
        return;
    }
    packet->head.from = layer.rank;
    packet->head.number = layer.sent[to]++;
    if (to == layer.rank) {
        layer.taken[to]++;
        arrives(packet);
    } else if (layer.protocol->carrier) {
        layer.protocol->carrier->send(packet, to);
    } else if (layer.in_past) {
        packet_drop(packet);
    } else {
        wire_send(packet, to);
    }
}

static void happens(const struct packet *packet, const void *choice, size_t bytes)
{
    if (layer.protocol->carrier)
        layer.protocol->carrier->happens(layer.step, packet, choice, bytes);
}

void layer_control(int to, int lane, unsigned kind, uint64_t number, const void *data, size_t bytes)
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
    if (packet_is_of_tree(head)) {
        arrives(packet);
        return;
    }
    if (head->number != layer.taken[head->from])
        die("packet %" PRIu64 " of rank %d came, %" PRIu64 " was next", head->number, head->from,
            layer.taken[head->from]);
    layer.taken[head->from]++;
    arrives(packet);
}

/* Whatever the network has; owned by this function. */
static void comes(struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    layer.inside = true;
    if (head->kind >= PACKET_CONTROL) {
        layer.protocol->control(head->from, head->kind, head->number, packet->data, head->bytes);
        layer.inside = false;
        packet_drop(packet);
        return;
    }
    if (layer.protocol->arrives)
        layer.protocol->arrives(head->from, packet);
    layer.inside = false;
    happens(packet, NULL, 0);
    if (!layer.protocol->carrier) { /* which has the past elsewhere */
        struct moment *moment = past_add(&layer.past, layer.step);
        moment->round = layer.round;
        moment->packet = packet_hold(packet);
    }
    take_in(packet);
}

void layer_put_back(struct packet *packet, uint64_t line)
{
    packet->kept_line = line;
    packet_append(&layer.put_back, packet);
}

void layer_handed_over(const struct packet *packet)
{
    struct layer_message message;
    bool of_program = packet->head.kind == PACKET_MESSAGE || packet_is_of_tree(&packet->head);
    if (layer.protocol->carrier && of_program)
        layer.protocol->carrier->delivers(packet);
    if (packet->kept_line > 0 && layer.protocol->handed_over && layer_describe(packet, &message))
        layer.protocol->handed_over(packet->kept_line, &message);
}

/* What was put back comes ahead of the network. */
static struct packet *next_of_present(void)
{
    struct packet *packet = packet_take_first(&layer.put_back);
    if (packet)
        return packet;
    return layer.protocol->carrier ? layer.protocol->carrier->take() : wire_take();
}

/* --- steps ------------------------------------------------------------------------------------ */

static void check_counts(void)
{
    struct reader in = {.next = layer.expected.data, .left = layer.expected.size};
    for (int rank = 0; rank < layer.ranks; rank++) {
        uint64_t sent = reader_number(&in), taken = reader_number(&in);
        if (sent != layer.sent[rank] || taken != layer.taken[rank])
            core_differs("it has sent more or less");
    }
    bytes_release(&layer.expected);
}

static void live_on(void)
{
    if (!layer.protocol->carrier)
        check_counts();
    layer.in_past = false;
    layer.protocol->lives_on();
    enter_round(0);
}

/* In the past: what came at this step, one moment. false: nothing more did. */
static bool take_moment(void)
{
    const struct moment *moment = past_next(&layer.past);
    if (!moment || moment->step != layer.step)
        return false;
    if (!moment->packet)
        return false; /* a choice that the program makes at this step */
    layer.past.next++;
    enter_round(moment->round);
    happens(moment->packet, NULL, 0);
    take_in(packet_hold(moment->packet));
    return true;
}

/* Takes what is known by now of the process that this one follows. */
static void learn(void)
{
    if (!past_next(&layer.past))
        past_clear(&layer.past);
    layer.inside = true;
    layer.protocol->carrier->follow();
    layer.inside = false;
}

/* Until all that comes at this poll is known. */
static void follow_poll(void)
{
    if (layer.follows)
        learn();
    while (layer.follows && layer.followed < layer.step) {
        layer_rest();
        learn();
    }
}

/* Where messages are logged nobody knows whether it went on after the last step that others have
 * seen. There it can have waited only, or nothing has come to it. */
static bool past_ends_here(bool waits)
{
    const struct moment *moment = past_next(&layer.past);
    if (layer.protocol->carrier) {
        if (moment && moment->step < layer.step)
            core_differs("it does not take what came");
        return !moment && layer.step + waits > layer.last_step;
    }
    if (layer.step > layer.last_step)
        core_differs("it goes on beyond the point where it was saved");
    return layer.step == layer.last_step && !moment;
}

void core_leave_past_here(bool waits)
{
    if (past_ends_here(waits))
        live_on();
    else
        enter_round(0);
}

static void begin_step(void)
{
    if (layer.inside)
        die("a step inside a step");
    layer.step++;
}

static void step_of_protocol(void)
{
    if (!layer.protocol->step)
        return;
    layer.inside = true;
    layer.protocol->step();
    layer.inside = false;
}

static void look_after_sent(void)
{
    if (!layer.protocol->carrier)
        wire_is_sent();
}

void steps_poll(void)
{
    struct packet *packet;
    begin_step();
    if (layer.in_past) {
        follow_poll();
        while (take_moment())
            ;
        core_leave_past_here(false);
    }
    if (layer.in_past)
        return;
    look_after_sent();
    while ((packet = next_of_present()))
        comes(packet);
    step_of_protocol();
}

/* The library's progress needs the first looks one after the other. */
void layer_rest(void)
{
    if (++layer.idle < LOOKS_BEFORE_REST)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* One packet, if there is one. */
static void look(void)
{
    struct packet *packet = next_of_present();
    if (packet) {
        layer.idle = 0;
        comes(packet);
    } else {
        look_after_sent();
        layer_rest();
    }
}

void core_wait_a_little(void)
{
    look();
    step_of_protocol();
}

/* Nothing more is known to have come at this step. */
static void wait_in_past(void)
{
    core_leave_past_here(true);
    if (!layer.in_past)
        return;
    if (!layer.follows || past_next(&layer.past))
        core_differs("it waits for what had come");
    learn();
    layer_rest();
}

void steps_wait(bool (*done)(void *context), void *context)
{
    begin_step();
    while (!done(context)) {
        if (!layer.in_past)
            core_wait_a_little();
        else if (!take_moment())
            wait_in_past();
    }
    /* What layer_flush took in at this step, after what the call waited for. */
    while (layer.in_past && take_moment())
        ;
    if (layer.in_past)
        core_leave_past_here(false);
}

void layer_flush(bool (*done)(void *context), void *context)
{
    bool inside = layer.inside;
    while (!done(context))
        look();
    layer.inside = inside;
}

bool layer_sending(void)
{
    return layer.sending;
}

void layer_begin_sending(void)
{
    layer.sending = true;
}

void layer_end_sending(void)
{
    layer.sending = false;
}

bool layer_past_goes_on(void)
{
    const struct moment *moment = past_next(&layer.past);
    return layer.in_past && (layer.last_step > layer.step || (moment && moment->step > layer.step));
}

bool layer_past_is_open(void)
{
    return layer.in_past && layer.follows && layer.followed < layer.step;
}

void layer_step(void)
{
    steps_poll();
}

void layer_wait(bool (*done)(void *context), void *context)
{
    steps_wait(done, context);
}

/* A choice of the past is known, or it is made by this process and lives on. */
static void follow_choice(void)
{
    while (layer.follows && !past_next(&layer.past)) {
        learn();
        layer_rest();
    }
    if (layer.in_past && !past_next(&layer.past) && layer.step >= layer.last_step)
        live_on();
}

void layer_decision(const char *name, void *data, size_t bytes)
{
    follow_choice();
    if (!layer.in_past) {
        happens(NULL, data, bytes);
        if (!layer.protocol->carrier)
            bytes_put(&past_add(&layer.past, layer.step)->choice, data, bytes);
        return;
    }
    const struct moment *moment = past_next(&layer.past);
    if (!moment || moment->step != layer.step || moment->packet || moment->choice.size != bytes)
        core_differs(name);
    if (bytes > 0)
        memcpy(data, moment->choice.data, bytes);
    happens(NULL, data, bytes);
    layer.past.next++;
}
