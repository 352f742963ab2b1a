/* See links.h. The messages are matched as the oracles match them; a collective is the k-th of
 * each member on its communicator. */
#include "oracles/matching/links.h"

#include "base/pages.h"
#include "oracles/matching/match.h"
#include "oracles/reading/collective.h"
#include "oracles/reading/history.h"
#include "oracles/reading/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIND_SHIFT 60 /* of a slot: the kind above, the number of the other record below */
#define FORGET_EVENTS 262144u

/* A receive whose request was freed delivers its message at no time that anybody saw. */
#define FREED_UNSEEN (UINT64_MAX / 2)

/* A collective that not all members have come to. */
struct meeting {
    uint64_t newest; /* record of the last that came */
    uint64_t joined;
};

struct count {
    uint64_t value;
};

/* One incarnation. */
struct reading {
    struct links *links;
    struct match match;
    int incarnation;
    struct table counts;   /* (rank, communicator) to struct count: collectives joined */
    struct table members;  /* (communicator, 0) to struct count: its size, where known */
    struct table meetings; /* (communicator, k) to struct meeting */
    struct table requests; /* (rank, request) to number of the record + 1 */
    struct pool count_pool, meeting_pool;
    uint64_t events; /* since what was written was let go of */
    bool exhausted;
};

static uint64_t number_of(const struct links *links, int rank, int incarnation, uint64_t index)
{
    const struct trace *trace = trace_set_find(links->set, rank, incarnation);
    return links->base[trace - links->set->trace] + index;
}

static void set_link(struct links *links, uint64_t from, enum link_kind kind, uint64_t to)
{
    links->slot[from] = (uint64_t)kind << KIND_SHIFT | to;
}

/* --- messages --------------------------------------------------------------------------------- */

static void link_message(struct reading *reading, const struct sent *sent,
                         const struct received *received)
{
    struct links *links = reading->links;
    const struct event_ref *from = &sent->event, *to = &received->delivered;
    uint64_t send = number_of(links, from->rank, from->incarnation, from->index);
    uint64_t delivery = number_of(links, to->rank, to->incarnation, to->index);
    set_link(links, send, LINK_SENT, delivery);
    set_link(links, delivery, LINK_RECEIVED, send);
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    (void)channel;
    if (received->leave < FREED_UNSEEN)
        link_message(context, sent, received);
}

/* What the channel's order forbids and that still is one message is linked; the rest is not. */
static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct reading *reading = context;
    (void)channel;
    (void)other;
    if (strange == STRANGE_UNDELIVERED || strange == STRANGE_EARLY_RETURN)
        return;
    if (strange != STRANGE_ORPHAN && strange != STRANGE_DUPLICATE && sent != NULL &&
        received != NULL && received->leave < FREED_UNSEEN)
        link_message(reading, sent, received);
    else
        reading->links->uncertain = true;
}

/* --- collectives ------------------------------------------------------------------------------ */

static struct count *count_of(struct reading *reading, struct table *table, uint64_t first,
                              uint64_t second)
{
    struct count *count = table_get(table, first, second);
    if (count != NULL)
        return count;
    count = pool_take(&reading->count_pool);
    if (count == NULL || !table_put(table, first, second, count))
        reading->exhausted = true;
    return count;
}

/* A new member closes the ring again. Complete ones are dropped where the size is known. */
static void enter_ring(struct reading *reading, uint32_t comm, uint64_t k, uint64_t at)
{
    struct links *links = reading->links;
    struct meeting *meeting = table_get(&reading->meetings, comm, k);
    if (meeting == NULL) {
        meeting = pool_take(&reading->meeting_pool);
        if (meeting == NULL || !table_put(&reading->meetings, comm, k, meeting)) {
            reading->exhausted = true;
            return;
        }
        *meeting = (struct meeting){at, 0};
        set_link(links, at, LINK_JOINED, at);
    } else {
        set_link(links, at, LINK_JOINED, links->slot[meeting->newest] & ((1ull << KIND_SHIFT) - 1));
        set_link(links, meeting->newest, LINK_JOINED, at);
        meeting->newest = at;
    }
    const struct count *size = table_get(&reading->members, comm, 0);
    if (++meeting->joined == (size != NULL ? size->value : 0)) {
        table_remove(&reading->meetings, comm, k);
        pool_give(&reading->meeting_pool, meeting);
    }
}

static void join(struct reading *reading, const struct stream_event *event, uint64_t at)
{
    const struct record *record = event->record;
    uint32_t comm = collective_comm(record);
    struct count *joined = count_of(reading, &reading->counts, (uint64_t)event->rank, comm);
    if (joined == NULL)
        return;
    enter_ring(reading, comm, ++joined->value, at);
    if (record->request != 0 && record->kind == RECORD_COLLECTIVE &&
        !table_put(&reading->requests, (uint64_t)event->rank, record->request,
                   (void *)(uintptr_t)(at + 1)))
        reading->exhausted = true;
}

/* The completion of a non-blocking one. */
static void leave(struct reading *reading, const struct stream_event *event, uint64_t at)
{
    const struct record *record = event->record;
    if (record->request == 0 || (record->flags & FLAG_NEGATIVE) || event->in_progress)
        return;
    uintptr_t began =
        (uintptr_t)table_get(&reading->requests, (uint64_t)event->rank, record->request);
    if (began == 0)
        return;
    table_remove(&reading->requests, (uint64_t)event->rank, record->request);
    set_link(reading->links, at, LINK_LEFT, began - 1);
}

static void learn_size(struct reading *reading, const struct record *record)
{
    struct count *size = count_of(reading, &reading->members, record->comm, 0);
    if (size != NULL)
        size->value = (uint64_t)record->tag + (record->flags & FLAG_INTER ? record->hash : 0);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What was written stays in the file; only what is resident is given back. */
static void forget_now_and_then(struct reading *reading)
{
    if (++reading->events < FORGET_EVENTS)
        return;
    reading->events = 0;
    pages_let_go(reading->links->slot, reading->links->slot + reading->links->total);
}

static void on_event(void *context, const struct stream_event *event)
{
    struct reading *reading = context;
    const struct record *record = event->record;
    forget_now_and_then(reading);
    if (record->kind == RECORD_NONE || record->level != LEVEL_WIRE)
        return;
    uint64_t at = reading->links->base[event->trace - reading->links->set->trace] + event->index;
    match_record(&reading->match, event);
    if (record->kind == RECORD_COMPLETE)
        leave(reading, event, at);
    else if (record->kind == RECORD_COMM)
        learn_size(reading, record);
    else if (collective_comm(record) != 0)
        join(reading, event, at);
}

static void release_reading(struct reading *reading)
{
    match_release(&reading->match);
    table_release(&reading->counts);
    table_release(&reading->members);
    table_release(&reading->meetings);
    table_release(&reading->requests);
    pool_release(&reading->count_pool);
    pool_release(&reading->meeting_pool);
}

static enum error_code read_incarnation(struct links *links, int incarnation, struct error *error)
{
    struct reading reading = {.links = links,
                              .incarnation = incarnation,
                              .count_pool.bytes = sizeof(struct count),
                              .meeting_pool.bytes = sizeof(struct meeting)};
    struct match_listener listener = {&reading, on_pair, on_strange};
    struct histories histories = {0};
    enum error_code code =
        match_init(&reading.match, links->set->ranks, links->set->trace[0].header->ticks_per_second,
                   &listener, error);
    struct count *world = count_of(&reading, &reading.members, COMM_WORLD_ID, 0);
    if (world != NULL)
        world->value = (uint64_t)links->set->ranks;
    if (code == OK)
        code = histories_incarnation(links->set, incarnation, &histories, error);
    if (code == OK)
        code = stream_run(&histories, LEVEL_WIRE, on_event, &reading, NULL, error);
    if (code == OK)
        match_finish(&reading.match);
    if (code == OK && (reading.exhausted || reading.match.exhausted))
        code = error_set(error, ERROR_MEMORY, "no memory for the messages of the run");
    histories_release(&histories);
    release_reading(&reading);
    return code;
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

enum error_code links_read(const struct trace_set *set, struct links *links, struct error *error)
{
    *links = (struct links){.set = set};
    links->base = calloc(set->count + 1, sizeof *links->base);
    if (links->base == NULL)
        return error_set(error, ERROR_MEMORY, "%zu traces", set->count);
    for (size_t i = 0; i < set->count; i++) {
        links->base[i] = links->total;
        links->total += set->trace[i].count;
    }
    links->base[set->count] = links->total;
    enum error_code code = map_slots(links, error);
    for (int i = 0; code == OK && i < set->incarnations; i++)
        code = read_incarnation(links, i, error);
    for (size_t i = 0; code == OK && i < set->count; i++)
        links_forget(links, i, set->trace[i].count);
    return code;
}

void links_release(struct links *links)
{
    if (links->slot != NULL)
        munmap(links->slot, (size_t)(links->total + 1) * sizeof *links->slot);
    free(links->base);
    *links = (struct links){0};
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

void links_forget(const struct links *links, size_t place, uint64_t index)
{
    const uint64_t *first = &links->slot[links->base[place]];
    pages_let_go(first, first + index);
}
