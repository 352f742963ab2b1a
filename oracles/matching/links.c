/* See links.h. The messages are matched as the oracles match them; a collective is the k-th of
 * each member on its communicator. All records of a run have one numbering, trace after trace, and
 * a slot for each: the kind of its link and the number of the other record.
 *
 * A collective can have many members, and a slot holds one number. So its records form a ring:
 *
 *     rank 0 joins: a -> a     rank 1: a -> b -> a     rank 2: a -> b -> c -> a
 *
 * From any member the others are found by going round. While members are still to come only the
 * newest is remembered, to be linked to the next one. */
#include "oracles/matching/links.h"

#include "base/memory.h"
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIND_SHIFT 60 /* of a slot: the kind above, the number of the other record below */
#define FORGET_EVENTS 262144u

/* A collective that not all members have come to. */
struct meeting {
    uint64_t newest; /* record of the last that came */
    uint64_t joined;
};

/* One incarnation. */
struct linking {
    struct links *links;
    int incarnation;
    struct table meetings; /* (communicator, k) to struct meeting */
    struct pool meeting_pool;
    uint64_t events; /* since what was written was let go of */
};

static uint64_t links_number(const struct links *links, const struct trace *trace, uint64_t index)
{
    return links->base[trace - links->set->trace] + index;
}

static uint64_t number_of(const struct links *links, struct event_ref event)
{
    return links_number(links, trace_set_find(links->set, event.rank, event.incarnation),
                        event.index);
}

static void set_link(struct links *links, uint64_t from, enum link_kind kind, uint64_t to)
{
    links->slot[from] = (uint64_t)kind << KIND_SHIFT | to;
}

/* --- messages --------------------------------------------------------------------------------- */

/* What the channel's order forbids and that still is one message is linked; the rest is not. */
static void on_message(void *context, const struct sent *sent, const struct received *received,
                       bool anomaly)
{
    struct links *links = ((struct linking *)context)->links;
    uint64_t send = number_of(links, sent->event), delivery = number_of(links, received->delivered);
    (void)anomaly;
    set_link(links, send, LINK_SENT, delivery);
    set_link(links, delivery, LINK_RECEIVED, send);
}

static void on_doubt(void *context)
{
    struct linking *linking = context;
    linking->links->doubtful[linking->incarnation] = true;
}

/* --- collectives ------------------------------------------------------------------------------ */

/* A new member closes the ring again. Complete ones are dropped where the members are known. */
static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    struct linking *linking = context;
    struct links *links = linking->links;
    uint64_t at = links_number(links, event->trace, event->index);
    struct meeting *meeting = table_get(&linking->meetings, gathering->comm, number);
    if (meeting == NULL) {
        meeting = pool_take(&linking->meeting_pool);
        table_put(&linking->meetings, gathering->comm, number, meeting);
        set_link(links, at, LINK_JOINED, at);
    } else {
        set_link(links, at, LINK_JOINED, links->slot[meeting->newest] & ((1ull << KIND_SHIFT) - 1));
        set_link(links, meeting->newest, LINK_JOINED, at);
    }
    meeting->newest = at;
    if (++meeting->joined == gathering->size && gathering->known) {
        table_remove(&linking->meetings, gathering->comm, number);
        pool_give(&linking->meeting_pool, meeting);
    }
}

static void on_left(void *context, const struct stream_event *event,
                    const struct collective_request *request)
{
    struct links *links = ((struct linking *)context)->links;
    set_link(links, links_number(links, event->trace, event->index), LINK_LEFT,
             links_number(links, event->trace, request->began));
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What was written stays in the file; only what is resident is given back. */
static void forget_now_and_then(struct linking *linking)
{
    if (++linking->events < FORGET_EVENTS)
        return;
    linking->events = 0;
    pages_let_go(linking->links->slot, linking->links->slot + linking->links->total);
}

static void on_event(void *context, const struct stream_event *event)
{
    (void)event;
    forget_now_and_then(context);
}

static void on_end(void *context)
{
    struct linking *linking = context;
    table_release(&linking->meetings);
    pool_release(&linking->meeting_pool);
    free(linking);
}

void links_listen(struct pass *pass, struct links *links)
{
    struct linking *linking = memory_new(1, sizeof *linking);
    *linking = (struct linking){.links = links,
                                .incarnation = pass->incarnation,
                                .meeting_pool.bytes = sizeof(struct meeting)};
    pass_listen(pass, &(struct listener){.context = linking,
                                         .event = on_event,
                                         .message = on_message,
                                         .doubt = on_doubt,
                                         .joined = on_joined,
                                         .left = on_left,
                                         .end = on_end});
}

static enum error_code map_slots(struct links *links, struct error *error)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/faultline-links.XXXXXX",
             folder != NULL && *folder != '\0' ? folder : "/tmp");
    size_t bytes = (size_t)(links->total + 1) * sizeof *links->slot;
    int file = mkstemp(path);
    if (file < 0)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    unlink(path);
    /* The room is taken now: a page that finds the disk full later would end the process. */
    int why = posix_fallocate(file, 0, (off_t)bytes);
    void *slots = MAP_FAILED;
    if (why == 0) {
        slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        why = errno;
    }
    close(file);
    if (slots == MAP_FAILED)
        return error_set(error, ERROR_IO, "%s: %zu bytes: %s", path, bytes, strerror(why));
    links->slot = slots;
    return OK;
}

enum error_code links_begin(const struct trace_set *set, struct links *links, struct error *error)
{
    *links = (struct links){.set = set};
    links->doubtful = memory_new((size_t)set->incarnations, sizeof *links->doubtful);
    links->base = memory_new(set->count + 1, sizeof *links->base);
    for (size_t i = 0; i < set->count; i++) {
        links->base[i] = links->total;
        links->total += set->trace[i].count;
    }
    links->base[set->count] = links->total;
    return map_slots(links, error);
}

enum error_code links_read(const struct trace_set *set, struct links *links, struct error *error)
{
    enum error_code code = links_begin(set, links, error);
    if (code != OK)
        return code;
    struct reading reading;
    reading_begin(&reading, set, true);
    for (int i = 0; i < set->incarnations; i++) {
        struct pass pass;
        pass_begin(&pass, &reading, LEVEL_WIRE, i);
        links_listen(&pass, links);
        pass_read(&pass, NULL);
        pass_finish(&pass);
        pass_release(&pass);
    }
    for (size_t i = 0; i < set->count; i++)
        links_forget(links, i, set->trace[i].count);
    reading_end(&reading);
    return OK;
}

void links_release(struct links *links)
{
    if (links->slot != NULL)
        munmap(links->slot, (size_t)(links->total + 1) * sizeof *links->slot);
    free(links->base);
    free(links->doubtful);
    *links = (struct links){0};
}

bool links_are_uncertain(const struct links *links)
{
    for (int i = 0; i < links->set->incarnations; i++)
        if (links->doubtful[i])
            return true;
    return false;
}

struct link links_of(const struct links *links, size_t place, uint64_t index)
{
    uint64_t slot = links->slot[links->base[place] + index];
    return (struct link){(enum link_kind)(slot >> KIND_SHIFT), slot & ((1ull << KIND_SHIFT) - 1)};
}

size_t links_place(const struct links *links, uint64_t at, uint64_t *index)
{
    size_t low = 0, high = links->set->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (links->base[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    *index = at - links->base[low];
    return low;
}

uint64_t links_next_member(const struct links *links, uint64_t at, size_t *place)
{
    uint64_t index;
    *place = links_place(links, at, &index);
    struct link link = links_of(links, *place, index);
    if (link.kind != LINK_JOINED)
        return at;
    *place = links_place(links, link.at, &index);
    return link.at;
}

void links_forget(const struct links *links, size_t place, uint64_t index)
{
    const uint64_t *first = &links->slot[links->base[place]];
    pages_let_go(first, first + index);
}
