/* See succession.h. For each newcomer that rolled back, in the order in which they came: the
 * communicators that its rank had used until then are listed, and those that the newcomer uses, in
 * the order in which they were made. Of each set of members the two lists are put side by side.
 * What the dead rank had used after the line comes first into question, for that is what is done
 * again; if that does not go up, all that it had used. */
#include "oracles/reading/succession.h"

#include "base/memory.h"
#include "oracles/reading/history.h"
#include "oracles/reading/lives.h"

#include <stdlib.h>

/* A communicator of a rank. */
struct used {
    uint32_t comm;    /* the first that it succeeds */
    uint64_t members; /* the same for the same ranks; 0: they are not known */
    bool talks;       /* messages or collectives went through it */
    bool undone;      /* ... after the line that the newcomer restored */
};

struct used_list {
    size_t count, room;
    struct used *used; /* as they were made */
};

uint32_t succession_first(const struct succession *succession, uint32_t comm)
{
    for (size_t i = 0; i < succession->count; i++)
        if (succession->successor[i].comm == comm)
            return succession->successor[i].first;
    return comm;
}

uint32_t succession_between(const struct succession *succession, uint32_t comm, int source,
                            int destination)
{
    if (succession->count == 0 ||
        !(succession->replaced[source] || succession->replaced[destination]))
        return comm;
    return succession_first(succession, comm);
}

/* --- what a rank used ---------------------------------------------------------------------- */

static struct used *find(const struct used_list *list, uint32_t comm)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->used[i].comm == comm)
            return &list->used[i];
    return NULL;
}

static void add(struct used_list *list, uint32_t comm, uint64_t members)
{
    if (find(list, comm) != NULL)
        return;
    list->used = memory_room(list->used, list->count, &list->room, sizeof *list->used);
    list->used[list->count++] = (struct used){.comm = comm, .members = members};
}

static uint64_t key_of(const bool *member, int ranks)
{
    uint64_t key = 0xcbf29ce484222325u;
    for (int rank = 0; rank < ranks; rank++)
        key = (key ^ member[rank]) * 0x100000001b3u;
    return key;
}

static uint64_t world_members(const struct lives *lives)
{
    bool *member = memory_new((size_t)lives->ranks, sizeof *member);
    for (int rank = 0; rank < lives->traces->world; rank++)
        member[rank] = lives->application[rank];
    uint64_t key = key_of(member, lives->ranks);
    free(member);
    return key;
}

/* Those of the COMM record at `index`; 0 also where a protocol told the identity, since its id is
 * the same in every life then. */
static uint64_t members_of(const struct lives *lives, const struct trace *trace, uint64_t index)
{
    uint64_t left = (uint64_t)trace->record[index].tag;
    bool known = !(trace->record[index].flags & (FLAG_INTER | FLAG_PERSISTENT));
    bool *member = memory_new((size_t)lives->ranks, sizeof *member);
    for (uint64_t at = index + 1;
         left > 0 && at < trace->count && trace->record[at].kind == RECORD_GROUP; at++)
        for (unsigned i = 0; i < RECORD_GROUP_MEMBERS && left > 0; i++, left--) {
            int rank = lives_peer(lives, trace->incarnation, trace->record[index].enter,
                                  trace->record[at].members[i]);
            known &= rank >= 0 && rank < lives->ranks;
            if (rank >= 0 && rank < lives->ranks && !lives->helper[rank])
                member[rank] = true;
        }
    uint64_t key = known && left == 0 ? key_of(member, lives->ranks) : 0;
    free(member);
    return key;
}

static bool talks(const struct record *record)
{
    return record_is_of_app(record) &&
           (record->kind == RECORD_SEND || record->kind == RECORD_RECV ||
            record->kind == RECORD_COLLECTIVE);
}

/* Adds what the process made, and marks what the life used since it counts: from record `from` on
 * as undone. */
static void list_life(const struct lives *lives, const struct life *life, uint64_t from,
                      struct used_list *list)
{
    const struct record *record = life->trace->record;
    for (uint64_t at = 0; at < life->to; at++) {
        uint32_t comm = succession_first(&lives->succession, record[at].comm);
        if (record[at].kind == RECORD_COMM && record[at].level == LEVEL_APP)
            add(list, comm, members_of(lives, life->trace, at));
        if (at < life->counts || !talks(&record[at]))
            continue;
        add(list, comm, comm == COMM_WORLD_ID ? world_members(lives) : 0);
        struct used *used = find(list, comm);
        used->talks = true;
        used->undone |= at >= from;
    }
}

/* All lives of the rank that were before this one, oldest first. */
static void list_before(const struct lives *lives, const struct life *life, uint64_t line,
                        struct used_list *list)
{
    const struct life *home = life->before;
    uint64_t taken = 0;
    while (home != NULL &&
           (line == 0 || !note_find(home->trace, NOTE_CHECKPOINT, line, home->to, &taken) ||
            taken < home->from))
        home = home->before;
    for (const struct life *at = lives->life; at < life; at++) {
        uint64_t undone = at == home ? taken : home == NULL || at > home ? 0 : UINT64_MAX;
        if (at->rank == life->rank)
            list_life(lives, at, undone, list);
    }
}

/* --- which goes on for which --------------------------------------------------------------- */

/* The next of the list from `at` on that has these members, was used, and is not in `other`. */
static const struct used *next(const struct used_list *list, size_t *at, uint64_t members,
                               bool undone, const struct used_list *other)
{
    while (*at < list->count) {
        const struct used *used = &list->used[(*at)++];
        if (used->members == members && used->talks && (used->undone || !undone) &&
            find(other, used->comm) == NULL)
            return used;
    }
    return NULL;
}

static size_t count(const struct used_list *list, uint64_t members, bool undone,
                    const struct used_list *other)
{
    size_t at = 0, found = 0;
    while (next(list, &at, members, undone, other) != NULL)
        found++;
    return found;
}

static void add_successor(struct succession *succession, uint32_t comm, uint32_t first)
{
    succession->successor = memory_room(succession->successor, succession->count, &succession->room,
                                        sizeof *succession->successor);
    succession->successor[succession->count++] = (struct successor){comm, first};
}

/* Of those with these members. */
static void pair_up(struct succession *succession, const struct life *life, uint64_t members,
                    const struct used_list *before, const struct used_list *after)
{
    size_t made = count(after, members, true, before);
    bool undone = count(before, members, true, after) == made;
    size_t gone = count(before, members, undone, after), old = 0, new = 0;
    if (made == 0 || gone == 0)
        return;
    succession->replaced[life->rank] = true;
    if (made != gone) {
        succession->unclear = life->rank;
        return;
    }
    for (size_t i = 0; i < made; i++)
        add_successor(succession, next(after, &new, members, true, before)->comm,
                      next(before, &old, members, undone, after)->comm);
}

static bool is_seen(const struct used_list *list, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (list->used[i].members == list->used[before].members)
            return true;
    return false;
}

static void read_newcomer(const struct lives *lives, const struct life *life,
                          struct succession *succession)
{
    struct used_list before = {0}, after = {0};
    uint64_t restored;
    if (!history_first_restored(life, &restored))
        return;
    add(&before, COMM_WORLD_ID, world_members(lives));
    list_before(lives, life, life->trace->record[restored].bytes, &before);
    list_life(lives, life, restored, &after);
    for (size_t i = 0; i < after.count; i++)
        if (after.used[i].members != 0 && !is_seen(&after, i))
            pair_up(succession, life, after.used[i].members, &before, &after);
    free(before.used);
    free(after.used);
}

void succession_read(const struct lives *lives, struct succession *succession)
{
    succession->unclear = -1;
    succession->replaced = memory_new((size_t)lives->ranks, sizeof *succession->replaced);
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].takes_over)
            read_newcomer(lives, &lives->life[i], succession);
}

void succession_release(struct succession *succession)
{
    free(succession->successor);
    free(succession->replaced);
    *succession = (struct succession){0};
}
