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
            core_differs("it has sent more or less");
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

void core_leave_past_here(void)
{
    if (mail.step > mail.last_step)
        core_differs("it goes on beyond the point where it was saved");
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
        core_leave_past_here();
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

void core_wait_a_little(void)
{
    look();
    step_of_protocol();
}

void steps_wait(bool (*done)(void *context), void *context)
{
    begin_step();
    while (!done(context)) {
        if (!mail.in_past) {
            core_wait_a_little();
        } else if (!comes_again()) {
            core_leave_past_here();
            if (mail.in_past)
                core_differs("it waits for what had come");
        }
    }
    /* What mail_flush took in at this step, behind what the call waited for. */
    while (mail.in_past && comes_again())
        ;
    if (mail.in_past)
        core_leave_past_here();
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

void mail_decision(const char *name, void *data, size_t bytes)
{
    if (!mail.in_past) {
        bytes_put(&past_add(&mail.past, mail.step)->choice, data, bytes);
        return;
    }
    const struct moment *moment = past_next(&mail.past);
    if (!moment || moment->step != mail.step || moment->packet || moment->choice.size != bytes)
        core_differs(name);
    if (bytes > 0)
        memcpy(data, moment->choice.data, bytes);
    mail.past.next++;
}
