/* See mailbox.h. */
#include "engine/messages/mailbox.h"

#include "engine/core/core.h"

#include <mpi.h>

struct mailbox {
    struct message *coming;  /* sent and not arrived, in the order in which they were sent */
    struct message *arrived; /* and not matched, in the order in which they arrived */
    struct posted *posted;   /* in the order in which they were begun */
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
    if (engine_is_dead(message->to)) {
        mailbox_drop(message);
        return;
    }
    append(&mailbox_of(message->to)->coming, message);
    if (message->to != engine_self)
        engine_did();
}

static void match(struct message *message)
{
    message->matched = true;
    if (message->awaited)
        engine_wake(message->from);
}

bool mailbox_take_back(struct message *message)
{
    struct mailbox *mailbox = mailbox_of(message->to);
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
    *posted = (struct posted){NULL, engine_self, source, tag, context, NULL};
    posted->message = mailbox_find(context, source, tag);
    if (posted->message) {
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

static void deliver(unsigned which)
{
    struct message *message = find_deliverable(&which);
    struct mailbox *mailbox = mailbox_of(message->to);
    take_out(&mailbox->coming, message);
    message->arrived = true;
    engine_wake(message->to);
    if (engine_is_dead(message->to)) {
        mailbox_drop(message);
        return;
    }
    for (struct posted *posted = mailbox->posted; posted; posted = posted->next)
        if (fits(message, posted->context, posted->source, posted->tag)) {
            unlist(&mailbox->posted, posted);
            posted->message = message;
            match(message);
            return;
        }
    append(&mailbox->arrived, message);
}

void mailbox_open(void)
{
    static const struct engine_network network = {count_deliverable, deliver};
    engine_network = &network;
}
