/* See tap_request_table.h. Two sets of chains, newest first: by handle and variable, where a
 * request is nearly always found, and by handle alone, for programs that have copied it elsewhere.
 */
#include "injectors/taps/tap_request_table.h"

#include <stdlib.h>

#define SHARDS 16u        /* a lock each */
#define FIRST_BUCKETS 64u /* chains per lock and set; doubled when there are as many requests */

enum set { BY_HANDLE, BY_PLACE, SETS };

struct shard {
    _Alignas(64) struct tap_lock lock;
    uint32_t buckets; /* 0: not made yet; then there is nothing in it */
    uint32_t count;
    struct request **bucket[SETS];
};

static struct shard shards[2][SHARDS];

static uint64_t spread(uint64_t number)
{
    return (number * 0x9e3779b97f4a7c15u) >> 32;
}

static struct shard *shard_of(unsigned level, uint64_t handle)
{
    return &shards[level][spread(handle) % SHARDS];
}

static struct request **bucket_of(const struct shard *shard, enum set set, uint64_t handle,
                                  const void *where)
{
    uint64_t number = spread(handle) / SHARDS;
    if (set == BY_PLACE)
        number += spread((uint64_t)(uintptr_t)where >> 2);
    return &shard->bucket[set][number & (shard->buckets - 1)];
}

/* --- chains ----------------------------------------------------------------------------------- */

static void link_in(struct request **head, enum set set, struct request *request)
{
    struct request_link *link = &request->link[set];
    link->next = *head;
    link->at = head;
    if (*head)
        (*head)->link[set].at = &link->next;
    *head = request;
}

static void take_out(enum set set, struct request *request)
{
    struct request_link *link = &request->link[set];
    *link->at = link->next;
    if (link->next)
        link->next->link[set].at = link->at;
}

/* Into the larger table; oldest first, so that each chain keeps its order. */
static void move_chain(const struct shard *shard, enum set set, struct request *chain)
{
    struct request *reversed = NULL;
    while (chain) {
        struct request *next = chain->link[set].next;
        chain->link[set].next = reversed;
        reversed = chain;
        chain = next;
    }
    while (reversed) {
        struct request *next = reversed->link[set].next;
        link_in(bucket_of(shard, set, reversed->handle, reversed->where), set, reversed);
        reversed = next;
    }
}

/* Without memory it stays as it is. */
static void grow(struct shard *shard)
{
    struct request **old[SETS];
    uint32_t old_buckets = shard->buckets, buckets = old_buckets ? 2 * old_buckets : FIRST_BUCKETS;
    struct request **room = calloc((size_t)SETS * buckets, sizeof *room);
    if (!room)
        return;
    shard->buckets = buckets;
    for (unsigned set = 0; set < SETS; set++) {
        old[set] = shard->bucket[set];
        shard->bucket[set] = room + (size_t)set * buckets;
    }
    for (unsigned set = 0; set < SETS; set++)
        for (uint32_t b = 0; b < old_buckets; b++)
            move_chain(shard, (enum set)set, old[set][b]);
    free(old[0]);
}

static void unlist(struct shard *shard, struct request *request)
{
    for (unsigned set = 0; set < SETS && request->listed; set++)
        take_out((enum set)set, request);
    shard->count -= request->listed;
    request->listed = false;
}

static bool is_it(const struct request *request, uint64_t handle, bool message, bool claimed_too)
{
    return request->handle == handle && (request->kind == REQUEST_MESSAGE) == message &&
           (claimed_too || !__atomic_load_n(&request->claimed, __ATOMIC_ACQUIRE));
}

/* A persistent request that has the handle of this one. */
static struct request *find_gone(const struct shard *shard, const struct request *request)
{
    if (shard->count == 0 || request->kind == REQUEST_MESSAGE)
        return NULL;
    struct request *r = *bucket_of(shard, BY_HANDLE, request->handle, NULL);
    while (r && !(r->persistent && is_it(r, request->handle, false, false)))
        r = r->link[BY_HANDLE].next;
    return r;
}

struct request *request_table_insert(struct request *request)
{
    struct shard *shard = shard_of(request->level, request->handle);
    tap_lock(&shard->lock);
    struct request *gone = find_gone(shard, request);
    if (gone)
        unlist(shard, gone);
    if (shard->count >= shard->buckets)
        grow(shard);
    for (unsigned set = 0; set < SETS && shard->buckets; set++)
        link_in(bucket_of(shard, (enum set)set, request->handle, request->where), (enum set)set,
                request);
    request->listed = shard->buckets > 0;
    shard->count += request->listed;
    tap_unlock(&shard->lock);
    return gone;
}

void request_table_remove(struct request *request)
{
    struct shard *shard = shard_of(request->level, request->handle);
    tap_lock(&shard->lock);
    unlist(shard, request);
    tap_unlock(&shard->lock);
}

/* --- finding ---------------------------------------------------------------------------------- */

static struct request *find(const struct shard *shard, uint64_t handle, const void *where,
                            bool message, bool claimed_too)
{
    struct request *oldest = NULL;
    if (shard->count == 0)
        return NULL;
    for (struct request *r = *bucket_of(shard, BY_PLACE, handle, where); r;
         r = r->link[BY_PLACE].next)
        if (r->where == where && is_it(r, handle, message, claimed_too))
            return r;
    for (struct request *r = *bucket_of(shard, BY_HANDLE, handle, where); r;
         r = r->link[BY_HANDLE].next)
        if (is_it(r, handle, message, claimed_too))
            oldest = r;
    return oldest;
}

struct request *request_table_claim(enum level level, uint64_t handle, const void *where,
                                    bool message)
{
    struct shard *shard = shard_of(level, handle);
    tap_lock(&shard->lock);
    struct request *request = find(shard, handle, where, message, false);
    if (request)
        request->claimed = true;
    tap_unlock(&shard->lock);
    return request;
}

uint32_t request_table_cancel(enum level level, uint64_t handle, const void *where)
{
    struct shard *shard = shard_of(level, handle);
    tap_lock(&shard->lock);
    struct request *request = find(shard, handle, where, false, false);
    if (!request) /* another thread is testing it, or waits */
        request = find(shard, handle, where, false, true);
    if (request)
        __atomic_store_n(&request->cancel, true, __ATOMIC_RELEASE);
    uint32_t number = request ? request->number : 0;
    tap_unlock(&shard->lock);
    return number;
}

void request_table_each(void (*visit)(struct request *request, MPI_Datatype type),
                        MPI_Datatype type)
{
    for (unsigned s = 0; s < 2 * SHARDS; s++) {
        struct shard *shard = &shards[s / SHARDS][s % SHARDS];
        tap_lock(&shard->lock);
        for (uint32_t b = 0; b < shard->buckets; b++)
            for (struct request *r = shard->bucket[BY_HANDLE][b]; r; r = r->link[BY_HANDLE].next)
                visit(r, type);
        tap_unlock(&shard->lock);
    }
}
