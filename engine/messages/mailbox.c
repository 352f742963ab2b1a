/* See mailbox.h. */
#include "engine/messages/mailbox.h"

#include "engine/core/core.h"
#include "engine/core/transition.h"

#include <mpi.h>

struct mailbox {
    struct message *coming;   /* sent and not arrived, in the order in which they were sent */
    struct message *arrived;  /* and not matched, in the order in which they arrived */
    struct posted *posted;    /* in the order in which they were begun */
    uint64_t sends, receives; /* of the process, so far */
};

static struct mailbox *mailbox_of(int process)
{
    if (!engine->messages)
        engine->messages = engine_allocate(ENGINE_MAX_PROCESSES * sizeof(struct mailbox));
    return (struct mailbox *)engine->messages + process;
}

static bool fits(const struct message *message, uint32_t context, int source, int tag)
{
    return message->context == context && (source == MPI_ANY_SOURCE || source == message->source) &&
           (tag == MPI_ANY_TAG || tag == message->tag);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void append(struct message **list, struct message *message)
{
    while (*list)
        list = &(*list)->next;
    *list = message;
    message->next = NULL;
}

static bool take_out(struct message **list, const struct message *message)
{
    for (; *list; list = &(*list)->next)
        if (*list == message) {
            *list = message->next;
            return true;
        }
    return false;
}

static void unlist(struct posted **list, const struct posted *posted)
{
    for (; *list; list = &(*list)->next)
        if (*list == posted) {
            *list = posted->next;
            return;
        }
}

/* --- what is touched ----------------------------------------------------------------------------
 */

static uint64_t of_message(enum object kind, const struct message *message)
{
    return object_name(kind, (uint64_t)message->from, message->number, 0);
}

static uint64_t of_posted(enum object kind, const struct posted *posted)
{
    return object_name(kind, (uint64_t)posted->owner, posted->number, 0);
}

/* The order of what arrives at a process and fits what is asked for; source and tag may be any. */
static uint64_t inbox_of(int process, uint32_t context, int source, int tag)
{
    uint64_t asked = (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
    return object_name(OBJECT_INBOX, (uint64_t)process, context, asked);
}

/* Whatever asks for it may depend on it. */
static void touch_inbox(enum touch how, const struct message *message)
{
    const int source[2] = {message->source, MPI_ANY_SOURCE}, tag[2] = {message->tag, MPI_ANY_TAG};
    for (int i = 0; i < 4; i++)
        engine_touch(how, inbox_of(message->to, message->context, source[i / 2], tag[i % 2]));
}

void mailbox_see_matched(const struct message *message)
{
    if (!message->matched) {
        engine_touch(TOUCH_LOOK, of_message(OBJECT_MATCHED, message));
        return;
    }
    engine_touch_seen(of_message(OBJECT_MATCHED, message));
    engine_touch_seen(of_message(OBJECT_ARRIVED, message));
    engine_touch_seen(message->begun);
}

void mailbox_see_arrived(const struct message *message)
{
    engine_touch_seen(of_message(OBJECT_ARRIVED, message));
}

void mailbox_see_posted(const struct posted *posted)
{
    if (!posted->message) {
        engine_touch(TOUCH_LOOK, of_posted(OBJECT_POSTED, posted));
        return;
    }
    engine_touch_seen(of_posted(OBJECT_POSTED, posted));
    mailbox_see_arrived(posted->message);
}

void mailbox_see_none(uint32_t context, int source, int tag)
{
    engine_touch(TOUCH_WRITE, inbox_of(engine_self, context, source, tag));
}

/* Which message a receive gets does not depend on whether it was begun before they arrived: but by
 * a wildcard on the order in which they did. */
static void touch_match(const struct message *message, int source, int tag)
{
    if (source == MPI_ANY_SOURCE)
        engine_touch_earlier(message->arrival, TOUCH_WRITE,
                             inbox_of(message->to, message->context, source, tag));
}

void mailbox_see_found(const struct message *message, int source, int tag)
{
    mailbox_see_arrived(message);
    touch_match(message, source, tag);
}

/* --- a message -------------------------------------------------------------------------------- */

struct message *mailbox_message(int to, size_t bytes, bool awaited)
{
    struct message *message = engine_allocate(sizeof *message + bytes);
    message->from = engine_self;
    message->to = to;
    message->bytes = bytes;
    message->awaited = awaited;
    message->references = awaited ? 2 : 1;
    return message;
}

void mailbox_drop(struct message *message)
{
    if (message && --message->references == 0)
        engine_release(message);
}

void mailbox_send(struct message *message)
{
    if (engine_is_dead(message->to) && !engine->transitions) {
        mailbox_drop(message);
        return;
    }
    message->number = mailbox_of(message->from)->sends++;
    engine_touch(TOUCH_WRITE, of_message(OBJECT_SENT, message));
    append(&mailbox_of(message->to)->coming, message);
    if (message->to != engine_self)
        engine_did();
}

static void match(struct message *message)
{
    message->matched = true;
    engine_touch(TOUCH_WRITE, of_message(OBJECT_MATCHED, message));
    if (message->awaited && message->from != message->to)
        engine_wake(message->from);
}

bool mailbox_take_back(struct message *message)
{
    struct mailbox *mailbox = mailbox_of(message->to);
    engine_touch(TOUCH_WRITE, of_message(OBJECT_MATCHED, message));
    engine_touch(TOUCH_WRITE, of_message(OBJECT_SENT, message));
    touch_inbox(TOUCH_WRITE, message);
    if (message->matched ||
        (!take_out(&mailbox->coming, message) && !take_out(&mailbox->arrived, message)))
        return false;
    message->cancelled = true;
    mailbox_drop(message); /* the receiving side's reference */
    return true;
}

/* --- receives --------------------------------------------------------------------------------- */

struct posted *mailbox_post(uint32_t context, int source, int tag)
{
    struct mailbox *mailbox = mailbox_of(engine_self);
    struct posted *posted = engine_allocate(sizeof *posted);
    *posted = (struct posted){.owner = engine_self,
                              .source = source,
                              .tag = tag,
                              .context = context,
                              .number = mailbox->receives++};
    engine_touch(TOUCH_WRITE, of_posted(OBJECT_BEGUN, posted));
    posted->message = mailbox_find(context, source, tag);
    if (posted->message) {
        posted->message->begun = of_posted(OBJECT_BEGUN, posted);
        touch_match(posted->message, source, tag);
        mailbox_take(posted->message);
        return posted;
    }
    struct posted **end = &mailbox->posted;
    while (*end)
        end = &(*end)->next;
    *end = posted;
    return posted;
}

struct message *mailbox_unpost(struct posted *posted)
{
    struct message *message = posted->message;
    if (!message)
        mailbox_see_none(posted->context, posted->source, posted->tag);
    if (!message)
        unlist(&mailbox_of(engine_self)->posted, posted);
    engine_release(posted);
    return message;
}

struct message *mailbox_find(uint32_t context, int source, int tag)
{
    struct message *message = mailbox_of(engine_self)->arrived;
    while (message && !fits(message, context, source, tag))
        message = message->next;
    return message;
}

void mailbox_take(struct message *message)
{
    if (message->from != engine_self)
        engine_took();
    take_out(&mailbox_of(message->to)->arrived, message);
    match(message);
}

bool mailbox_expects(uint32_t context, int source, int tag)
{
    const struct message *message = mailbox_of(engine_self)->coming;
    while (message && !fits(message, context, source, tag))
        message = message->next;
    return message || mailbox_find(context, source, tag);
}

/* --- the network ------------------------------------------------------------------------------ */

static bool overtakes(const struct message *first, const struct message *message)
{
    for (; first != message; first = first->next)
        if (first->from == message->from && first->context == message->context)
            return true;
    return false;
}

/* The n-th message that may arrive next, by mailbox and order of sending; NULL: *n is less by how
 * many there are. */
static struct message *find_deliverable(unsigned *n)
{
    for (int i = 0; i < engine->processes; i++) {
        struct message *first = mailbox_of(i)->coming;
        for (struct message *message = first; message; message = message->next)
            if (!overtakes(first, message) && (*n)-- == 0)
                return message;
    }
    return NULL;
}

static unsigned count_deliverable(void)
{
    unsigned left = UINT32_MAX;
    find_deliverable(&left);
    return UINT32_MAX - left;
}

static uint64_t lane(unsigned which)
{
    const struct message *message = find_deliverable(&which);
    return object_name(OBJECT_LANE, (uint64_t)message->from, (uint64_t)message->to,
                       message->context);
}

static void deliver(unsigned which)
{
    struct message *message = find_deliverable(&which);
    struct mailbox *mailbox = mailbox_of(message->to);
    take_out(&mailbox->coming, message);
    message->arrived = true;
    engine_touch(TOUCH_AFTER, of_message(OBJECT_SENT, message));
    engine_touch(TOUCH_WRITE, of_message(OBJECT_ARRIVED, message));
    touch_inbox(TOUCH_ARRIVE, message);
    if (message->awaited) /* whether it is matched shows */
        engine_touch(TOUCH_LOOK, engine_death_of(message->to));
    message->arrival = engine_transition();
    if (message->from == message->to)
        engine_wake_from_own(message->to);
    else
        engine_wake(message->to);
    if (engine_is_dead(message->to)) {
        mailbox_drop(message);
        return;
    }
    for (struct posted *posted = mailbox->posted; posted; posted = posted->next)
        if (fits(message, posted->context, posted->source, posted->tag)) {
            unlist(&mailbox->posted, posted);
            engine_touch(TOUCH_WRITE, of_posted(OBJECT_POSTED, posted));
            touch_match(message, posted->source, posted->tag);
            message->begun = of_posted(OBJECT_BEGUN, posted);
            posted->message = message;
            match(message);
            return;
        }
    append(&mailbox->arrived, message);
}

void mailbox_open(void)
{
    static const struct engine_network network = {count_deliverable, lane, deliver};
    engine_network = &network;
}
