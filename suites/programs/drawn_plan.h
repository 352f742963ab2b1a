/* Of the program `drawn`: what each step consists of, drawn from the seed, the same on every rank.
 * Messages are planned in groups: all of a group go to one rank, over one communicator, and are
 * received in one way, in the step in which they are sent or in one of the next two. What is
 * switched off is not drawn. Must not know: MPI's calls. */
#ifndef DRAWN_PLAN_H
#define DRAWN_PLAN_H

#include "collectives_plan.h"

#define GROUPS 4   /* of a step at most */
#define MESSAGES 6 /* of a group at most */
#define TAG_STEPS 1000
#define HIGH_TAGS_APART (1 << 16) /* more than all tags of TAG_STEPS steps */

enum feature {
    CROSSING,
    SYNCHRONOUS,
    BUFFERED,
    READY,
    PERSISTENT_MESSAGES,
    ANY_SOURCE,
    ANY_TAG,
    PROBES,
    MATCHED_PROBES,
    MATCHED_AHEAD,
    CANCELS,
    CANCELLED_AHEAD,
    NOTHING_AHEAD,
    TO_SELF,
    EMPTY,
    TYPES,
    HIGH_TAGS,
    OTHER_COMMS,
    CHANGING_COMMS,
    INTERCOMM,
    SENDRECV,
    COLLECTIVES,
    NONBLOCKING_COLLECTIVES,
    OUTSTANDING_COLLECTIVES,
    PERSISTENT_COLLECTIVES,
    NOBODY,
    LASTING,
    /* See drawn_rare.h. */
    TESTIMONY,
    FIRST_RARE = TESTIMONY,
    STARTED_AGAIN,
    FREED,
    PARTIAL,
    MADE,
    TOO_LONG,
    HINTED,
    PROPERTIES, /* see drawn_properties.h */
    REPLACED,   /* see drawn_lasting.h */
    GREETED,
    OUTSIDE,        /* see drawn_outside.h */
    OUTLASTING,     /* see drawn_outlasting.h */
    LARGE_MESSAGES, /* see drawn_large.h */
    WRONG,          /* see drawn_wrong.h */
    SOUGHT,         /* see drawn_sought.h */
    FEATURES
};

/* The first four are those of enum which. One of the last three for each step in turn: for receives
 * with any tag. */
enum slot {
    SLOT_WORLD,
    SLOT_HALF,
    SLOT_REVERSED,
    SLOT_CHANGING,
    SLOT_SELF,
    SLOT_INTER,
    SLOT_ANY,
    SLOTS = SLOT_ANY + WINDOW
};

enum mode { MODE_STANDARD, MODE_SYNCHRONOUS, MODE_BUFFERED, MODE_READY, MODES };
enum receiving { RECV, POSTED, PERSISTENT_RECV, PROBE, IPROBE, MPROBE, IMPROBE, RECEIVING_WAYS };
/* How the elements of a message lie in memory: see drawn_types.h. One of PARTS is received as such.
 */
enum shape { PLAIN, SPREAD, NEGATIVE, HOLE_FIRST, PARTS, SHAPES };

struct message {
    int from; /* world rank */
    int tag;
    int count; /* elements */
    enum mode mode;
    bool blocking;
    bool persistent;
    bool empty_type; /* nothing is sent, as elements of no size */
    enum shape sent_as;
    enum shape received_as;
};

struct group {
    uint64_t step;
    int number;
    int to;    /* world rank */
    int later; /* steps until its messages are received */
    enum slot slot;
    enum receiving receiving;
    bool any_source;
    bool one_named; /* the second receive names its source, those around it do not */
    bool any_tag;
    bool asked;           /* a sender waits until the receiver has asked for it */
    bool posted_late;     /* not before the step in which it is due */
    bool matched_ahead;   /* found by MPI_Mprobe in the step before that */
    bool cancelled;       /* the receive, which is done again if that came in time */
    bool cancelled_ahead; /* in the step before it is due, and asked there whether it was */
    bool reversed;        /* received in the other order than sent */
    int messages;
    struct message message[MESSAGES];
};

static long feature[FEATURES]; /* of ANY_TAG 2: wherever it can be */
static long received = -1;     /* all in this way (enum receiving); -1: drawn */
static int tag_most;           /* the highest tag of all */

/* What a program does often or never, and how much of it: see vary(). */
static struct {
    int often[FEATURES];   /* times as often as in other programs */
    enum receiving way[2]; /* in which messages are received; RECEIVING_WAYS: in any */
    int groups, messages;  /* of a step, of a group, at most */
    int burst;             /* steps without messages come in a row of as many; 0: none do */
    int call;              /* collective call that is every other one; -1: each is as often */
} varied;

static int draw_of(const struct group *group, int message, int question, int below)
{
    int thing = 100000 + group->number * 1000 + message * 20;
    return draw(group->step, thing + question, below);
}

/* One time in `of`, where the feature is on. */
static bool draws(const struct group *group, int message, int question, enum feature which, int of)
{
    return feature[which] && draw_of(group, message, question, of) < varied.often[which];
}

/* By itself a program does some of everything; then two things that are seldom meet seldom. With
 * `more` this one does without about a third of what is on, chosen by its seed, does some things
 * three times as often as others, has few messages or many, in one or two ways, and all through or
 * between pauses, has one kind of collective call more often than the others (a barrier more often
 * than any other kind, since it may be a checkpoint) ("swarm testing", Groce et al., ISSTA 2012).
 * In a third of them all ranks do nothing together, so that one may be steps ahead of another. */
static void vary(bool more)
{
    static const enum feature together[] = {
        CHANGING_COMMS,         SENDRECV, COLLECTIVES, NONBLOCKING_COLLECTIVES,
        PERSISTENT_COLLECTIVES, FREED,    MADE};
    varied.groups = more ? 1 + draw(0, 92000, GROUPS) : GROUPS;
    varied.messages = more ? 1 + draw(0, 92001, MESSAGES) : MESSAGES;
    varied.burst = more && draw(0, 92002, 3) == 0 ? 2 + draw(0, 92003, 5) : 0;
    int call = draw(0, 92020, 3) == 0 ? CALL_BARRIER : draw(0, 92021, CALLS);
    varied.call = more && draw(0, 92022, 2) == 0 ? call : -1;
    bool any_way = !more || draw(0, 92004, 2) == 0;
    for (int i = 0; i < 2; i++)
        varied.way[i] =
            any_way ? RECEIVING_WAYS : (enum receiving)draw(0, 92005 + i, RECEIVING_WAYS);
    for (int i = 0; i < FEATURES; i++) {
        varied.often[i] = more && draw(0, 92100 + i, 3) == 0 ? 3 : 1;
        if (more && draw(0, 92200 + i, 3) == 0)
            feature[i] = 0;
    }
    bool loose = more && draw(0, 92300, 3) == 0;
    for (size_t i = 0; loose && i < sizeof together / sizeof *together; i++)
        feature[together[i]] = 0;
}

/* --- communicators ---------------------------------------------------------------------------- */

/* The step in which the communicator that changes was made. */
static uint64_t change_before(uint64_t step)
{
    return step < CHANGE_EVERY || !feature[CHANGING_COMMS] ? 0
                                                           : step / CHANGE_EVERY * CHANGE_EVERY - 1;
}

/* The ranks of the communicator that changes are those of the same remainder by this. */
static int parts_of_changing(uint64_t step)
{
    return 1 + draw(change_before(step), ASK_CHANGE, 2);
}

static bool can_send(enum slot slot, uint64_t step, int from, int to)
{
    switch (slot) {
    case SLOT_HALF:
        return from % 2 == to % 2;
    case SLOT_CHANGING:
        return (from - to) % parts_of_changing(step) == 0;
    case SLOT_SELF:
        return from == to;
    case SLOT_INTER:
        return from % 2 != to % 2;
    default:
        return true;
    }
}

/* Of a world rank, as the members of the slot count. */
static int rank_in(enum slot slot, uint64_t step, int rank)
{
    int parts = slot == SLOT_CHANGING ? parts_of_changing(step) : 1;
    switch (slot) {
    case SLOT_HALF:
    case SLOT_INTER:
        return rank / 2;
    case SLOT_REVERSED:
        return self.ranks - 1 - rank;
    case SLOT_SELF:
        return 0;
    case SLOT_CHANGING:
        if (draw(change_before(step), ASK_CHANGE + 1, 2))
            return rank / parts;
        return (self.ranks - 1 - rank % parts) / parts - rank / parts;
    default:
        return rank;
    }
}

static enum slot slot_of(uint64_t step, int number)
{
    const struct group group = {.step = step, .number = number};
    if (number == 0 && draws(&group, 0, 0, ANY_TAG, feature[ANY_TAG] == 2 ? 1 : 3))
        return (enum slot)(SLOT_ANY + (int)(step % WINDOW));
    if (draws(&group, 0, 1, INTERCOMM, 6))
        return SLOT_INTER;
    if (draws(&group, 0, 2, TO_SELF, 12))
        return SLOT_SELF;
    return feature[OTHER_COMMS] ? (enum slot)draw_of(&group, 0, 3, SLOT_CHANGING + 1) : SLOT_WORLD;
}

/* Groups of a step that have different communicators use the same tags. High tags of a group differ
 * by `*apart` where there is room for that, in their high bits alone: a tag must be compared whole.
 */
static int first_tag(const struct group *group, int *apart)
{
    int number = 0;
    *apart = 1;
    for (int i = 0; i < group->number; i++)
        if (slot_of(group->step, i) == group->slot)
            number = group->number;
    int index = ((int)(group->step % TAG_STEPS) * GROUPS + number) * MESSAGES;
    if (!draws(group, 0, 4, HIGH_TAGS, 3))
        return 10 + index;
    if (tag_most / MESSAGES > HIGH_TAGS_APART)
        *apart = HIGH_TAGS_APART;
    return tag_most - index - (MESSAGES - 1) * *apart;
}

/* --- a group ---------------------------------------------------------------------------------- */

static bool is_posted(const struct group *group)
{
    return group->receiving == POSTED || group->receiving == PERSISTENT_RECV;
}

static bool is_posted_at_once(const struct group *group)
{
    return is_posted(group) && !group->posted_late;
}

static int sender_for(const struct group *group, int message)
{
    int from = draw_of(group, message, 0, self.ranks);
    if (!feature[TO_SELF] && from == group->to)
        from = (from + 1) % self.ranks;
    if (can_send(group->slot, group->step, from, group->to))
        return from;
    if (group->slot == SLOT_INTER)
        return group->to > 0 ? group->to - 1 : 1;
    return group->to;
}

/* MPICH 4.0.2 loses the length of large buffered messages that have holes, and buffered ones to
 * oneself. */
static bool can_buffer(const struct group *group, const struct message *message)
{
    return message->sent_as != PARTS && message->from != group->to;
}

/* A send that waits for its receiver is for groups that are received, or posted, in its turn. */
static void draw_sending(const struct group *group, int number, struct message *message)
{
    bool met = (is_posted_at_once(group) && !group->cancelled_ahead) ||
               (group->later == 0 && message->from != group->to);
    if (draws(group, number, 1, SYNCHRONOUS, 4))
        message->mode = MODE_SYNCHRONOUS;
    else if (can_buffer(group, message) && draws(group, number, 2, BUFFERED, 4))
        message->mode = MODE_BUFFERED;
    else if (group->asked && is_posted_at_once(group) && !group->cancelled &&
             draws(group, number, 3, READY, 2))
        message->mode = MODE_READY;
    if (message->mode == MODE_BUFFERED)
        message->sent_as = PLAIN;
    message->persistent = draws(group, number, 4, PERSISTENT_MESSAGES, 4);
    message->blocking = !message->persistent && (met || message->mode == MODE_BUFFERED) &&
                        !group->reversed && draw_of(group, number, 5, 2) == 0;
}

static void draw_shapes(const struct group *group, int number, struct message *message)
{
    bool parts = draws(group, 0, 9, TYPES, 4);
    message->sent_as = message->received_as = parts ? PARTS : PLAIN;
    if (feature[TYPES] && !parts) {
        message->sent_as = (enum shape)draw_of(group, number, 10, PARTS);
        message->received_as = (enum shape)draw_of(group, number, 11, PARTS);
    }
}

static void draw_message(struct group *group, int number, int tag)
{
    struct message *message = &group->message[number];
    message->from = sender_for(group, number);
    message->tag = tag;
    message->count = 1 + draw_of(group, number, 6, (int)self.size);
    message->empty_type = draws(group, number, 7, EMPTY, 12);
    if (message->empty_type || draws(group, number, 8, EMPTY, 6))
        message->count = 0;
    draw_shapes(group, number, message);
    draw_sending(group, number, message);
}

static enum receiving draw_receiving(const struct group *group)
{
    enum receiving way = varied.way[draw_of(group, MESSAGES, 6 + MESSAGES, 2)];
    if (received >= 0)
        way = (enum receiving)received;
    else if (way == RECEIVING_WAYS)
        way = (enum receiving)draw_of(group, 0, 13, RECEIVING_WAYS);
    bool probes = way == PROBE || way == IPROBE, matched = way == MPROBE || way == IMPROBE;
    if ((probes && !feature[PROBES]) || (matched && !feature[MATCHED_PROBES]))
        return RECV;
    return way == PERSISTENT_RECV && !feature[PERSISTENT_MESSAGES] ? POSTED : way;
}

/* The second receive may name its source if whatever the first takes leaves it one: two of the
 * messages that fit come from there. */
static bool can_name_one(const struct group *group, bool same_tag)
{
    return group->any_source && (same_tag || group->any_tag) && group->messages > 2 &&
           group->message[0].from == group->message[1].from;
}

static void draw_group(uint64_t step, int number, uint64_t steps, struct group *group)
{
    *group = (struct group){.step = step, .number = number, .slot = slot_of(step, number)};
    uint64_t left = steps - 1 - step;
    group->to = draw_of(group, 0, 12, self.ranks);
    group->receiving = draw_receiving(group);
    group->any_tag = group->slot >= SLOT_ANY;
    group->any_source = draws(group, 0, 14, ANY_SOURCE, 2);
    if (feature[CROSSING] && group->slot != SLOT_CHANGING)
        group->later = draw_of(group, 0, 15, left < WINDOW ? (int)left + 1 : WINDOW);
    /* A sender that is some steps ahead must not reach an older receive from any source. */
    group->asked = group->any_tag || draw_of(group, 0, 16, 3) == 0;
    group->posted_late = group->later > 0 && draw_of(group, 0, 17, 3) == 0;
    group->matched_ahead = group->later > 0 && group->receiving == MPROBE &&
                           draws(group, MESSAGES, 4 + MESSAGES, MATCHED_AHEAD, 2);
    group->messages = 1 + draw_of(group, 0, 18, varied.messages);
    group->cancelled = is_posted(group) && draws(group, 0, 19, CANCELS, 3);
    if (group->cancelled)
        group->messages = 1;
    group->cancelled_ahead = group->cancelled && group->later > 0 && !group->posted_late &&
                             draws(group, MESSAGES, 5 + MESSAGES, CANCELLED_AHEAD, 2);
    bool same_tag = draw_of(group, MESSAGES, 0, 2) == 0;
    group->reversed = !same_tag && !group->any_tag && draw_of(group, MESSAGES, 1, 3) == 0;
    int apart, first = first_tag(group, &apart);
    for (int i = 0; i < group->messages; i++)
        draw_message(group, i, first + (same_tag ? 0 : i * apart));
    group->one_named = can_name_one(group, same_tag);
}

static int groups_of(uint64_t step)
{
    bool pauses = varied.burst > 0 && draw(step / (uint64_t)varied.burst, 99998, 2) == 0;
    return pauses ? 0 : draw(step, 99999, varied.groups + 1);
}

#endif
