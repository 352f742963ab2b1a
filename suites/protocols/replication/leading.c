/* See leading.h. */
#include "replication/leading.h"

#include "common/job/job.h"
#include "common/messages/layer.h"
#include "replication/mirror.h"
#include "replication/replication.h"

#include <string.h>

#define CHOICE_MOST 16       /* bytes of one choice of the program */
#define STEPS_BEFORE_SENT 16 /* of a program that never waits */
#define NO_PACKET (-1)

struct event {
    uint64_t step;
    uint64_t number; /* of the packet; of a choice, its bytes */
    int32_t from;    /* NO_PACKET: a choice */
    unsigned char choice[CHOICE_MOST];
};

/* In front of the events of a letter. */
struct happened {
    uint64_t step; /* of the one who leads; all that came at polls up to it has been sent */
    uint64_t last; /* 1: nothing more will be sent */
};

static struct {
    struct bytes events; /* not sent yet */
    uint64_t step;       /* told */
    uint64_t letters;
    uint64_t known; /* of these, by the other */
    uint64_t idle;  /* the step in which there was nothing more to take in */
} leading;

static struct {
    struct bytes events;
    size_t given; /* bytes of them */
    uint64_t step;
    bool over;
} following;

static bool has_other(void)
{
    return self.leads && !mirror_is_dead(self.other);
}

/* --- the process that leads ------------------------------------------------------------------- */

void leading_happens(uint64_t step, const struct packet *packet, const void *choice, size_t bytes)
{
    struct event event = {.step = step, .from = NO_PACKET, .number = bytes};
    if (!has_other())
        return;
    if (packet) {
        event.from = packet->head.from;
        event.number = packet->head.number;
    } else if (bytes > CHOICE_MOST) {
        refuse("a choice of more than 16 bytes", "checkpoint_decision of up to 16 bytes");
    } else if (bytes > 0) {
        memcpy(event.choice, choice, bytes);
    }
    bytes_put(&leading.events, &event, sizeof event);
    if (leading.events.failed)
        die("out of memory for what happened");
}

/* Up to which all that comes at polls has come: one may be under way, and answers what it takes. */
static uint64_t step_to_send(void)
{
    uint64_t now = layer_now();
    return leading.idle == now ? now : now - 1;
}

static bool has_news(void)
{
    return has_other() && (leading.step < step_to_send() || leading.events.size > 0);
}

static void send_events(bool last)
{
    struct happened happened = {.step = step_to_send(), .last = last};
    size_t bytes = sizeof happened + leading.events.size;
    struct packet *packet = packet_new(bytes);
    packet->head.kind = LETTER_HAPPENED;
    packet->head.number = ++leading.letters;
    memcpy(packet->data, &happened, sizeof happened);
    if (leading.events.size > 0)
        memcpy(packet->data + sizeof happened, leading.events.data, leading.events.size);
    bytes_release(&leading.events);
    leading.step = happened.step;
    phase("before-tell");
    mirror_send_to(packet, self.other);
    packet_drop(packet);
    phase("after-tell");
}

static void await_known(void)
{
    while (has_other() && leading.known < leading.letters) {
        mirror_look();
        layer_rest();
    }
}

void leading_secure(void)
{
    if (has_news())
        send_events(false);
    await_known();
}

void leading_idle(void)
{
    uint64_t now = layer_now();
    bool waits = leading.idle == now; /* a poll looks but once */
    leading.idle = now;
    if (has_news() && (waits || now >= leading.step + STEPS_BEFORE_SENT))
        send_events(false);
}

void leading_end(void)
{
    if (has_other())
        send_events(true);
    await_known();
}

void leading_known(const struct packet *packet)
{
    leading.known = packet->head.number;
}

/* --- the process that follows ----------------------------------------------------------------- */

void following_receive(const struct packet *packet)
{
    struct happened happened;
    if (following.over)
        return; /* nobody knows of it but who has died */
    memcpy(&happened, packet->data, sizeof happened);
    bytes_put(&following.events, packet->data + sizeof happened,
              packet->head.bytes - sizeof happened);
    if (following.events.failed)
        die("out of memory for what happened");
    following.step = happened.step;
    following.over = happened.last != 0;
    struct packet *answer = packet_new(0);
    answer->head.kind = LETTER_KNOWN;
    answer->head.number = packet->head.number;
    mirror_send_to(answer, self.other);
    packet_drop(answer);
}

/* The first event that was not given; false: there is none. */
static bool next_event(struct event *event)
{
    if (following.given == following.events.size) {
        bytes_release(&following.events);
        following.given = 0;
        return false;
    }
    memcpy(event, (const char *)following.events.data + following.given, sizeof *event);
    return true;
}

/* False: the packet has not come yet. */
static bool give(const struct event *event)
{
    if (event->from == NO_PACKET) {
        layer_relive_choice(event->step, event->choice, event->number);
        return true;
    }
    struct packet *packet = mirror_take_one(event->from, event->number);
    if (packet)
        layer_relive_message(event->step, packet);
    return packet != NULL;
}

void following_give(void)
{
    struct event event;
    mirror_look();
    while (next_event(&event)) {
        if (!give(&event)) {
            layer_followed(event.step - 1);
            return;
        }
        following.given += sizeof event;
    }
    if (following.over)
        layer_follow_ends(following.step);
    else
        layer_followed(following.step);
}

void following_ends(void)
{
    following.over = true;
}
