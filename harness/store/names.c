/* See names.h. A name (a text in a folder) has two values: what it leads to on the disk (`found`)
 * and what it must lead to after the power failure (`wanted`). In this order:
 *   1. read_births_and_syncs: which objects there are, and how far each folder was synced, by whom
 *      (struct reach). An object is a file or folder, not an inode number: the file system gives a
 *      number again when its file is gone, so each creation makes a new object, and the newest one
 *      born before an entry is the one that the entry speaks of (names_object).
 *   2. read_entries goes through the journal in the order of the operations. An operation changes
 *      one name, a rename two (change). If the change is durable, `wanted` becomes its value. If
 *      not, `wanted` keeps what it was, and the name is `lost`: the disk is to be changed.
 *
 *          create x (file A)   fsync folder   rename y (file B) to x   power failure
 *          x: found B, wanted A        y: found nothing, wanted B
 *
 *   3. read_listing: for names of which no operation was lost the disk is right, whatever the
 *      journal says, so that `wanted` becomes `found`.
 *   4. leave_one_name: a rename of a folder is durable in its old folder and in its new one on its
 *      own, so that a folder could get two names, which no file system has. The newest by which it
 *      is still reached from the top stays.
 *
 * A durable change can follow a lost one of the same name; `wanted` is then the durable value.
 *
 * Hash tables by number and by (folder, text); arrays are as large as the journal can make them
 * (allocate), so that pointers stay valid. leave_one_name is quadratic in the folders that have two
 * names, of which there are few. */
#include "store/names.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *names_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool power_failure_affects(const struct loss *loss, int rank)
{
    return loss->everybody || (rank >= 0 && rank < loss->ranks && loss->rank[rank]);
}

/* --- objects and names, found or made --------------------------------------------------------- */
static size_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash ^ hash >> 29);
}

static struct object **object_bucket(const struct names *names, uint64_t number)
{
    return &names->object_bucket[mix(0, number) & (names->buckets - 1)];
}

struct object *names_object(const struct names *names, uint64_t number, uint64_t at)
{
    struct object *newest = NULL;
    for (struct object *object = *object_bucket(names, number); object != NULL;
         object = object->next)
        if (object->number == number && object->born <= at + 1 &&
            (newest == NULL || object->born > newest->born))
            newest = object;
    return newest != NULL && newest->same != NULL ? newest->same : newest;
}

/* `born` as in struct object. There is room: see allocate. */
static struct object *add_object(struct names *names, uint64_t number, uint64_t born)
{
    struct object *object = &names->object[names->objects++];
    struct object **bucket = object_bucket(names, number);
    *object = (struct object){.number = number, .born = born, .next = *bucket};
    *bucket = object;
    return object;
}

/* NULL: the number is 0. */
static struct object *object_at(struct names *names, uint64_t number, uint64_t at)
{
    struct object *object = number != 0 ? names_object(names, number, at) : NULL;
    return object != NULL || number == 0 ? object : add_object(names, number, 0);
}

/* *fresh: it was not known. */
static struct name *name_at(struct names *names, struct object *folder, const char *text,
                            bool *fresh)
{
    size_t hash = mix(0, (uintptr_t)folder);
    for (const char *at = text; *at != '\0'; at++)
        hash = mix(hash, (unsigned char)*at);
    struct name **bucket = &names->name_bucket[hash & (names->buckets - 1)];
    *fresh = false;
    for (struct name *name = *bucket; name != NULL; name = name->next)
        if (name->folder == folder && strcmp(name->text, text) == 0)
            return name;
    struct name *name = &names->name[names->names++];
    *name = (struct name){.folder = folder, .rank = -1, .next = *bucket};
    strcpy(name->text, text);
    *bucket = name;
    *fresh = true;
    folder->is_folder = true;
    return name;
}

/* --- what was synced -------------------------------------------------------------------------- */
static void add_reach(struct names *names, struct reach **list, const struct journal_entry *entry)
{
    struct reach *reach = *list;
    while (reach != NULL && reach->rank != entry->rank)
        reach = reach->next;
    if (reach == NULL) {
        reach = &names->reach[names->reaches++];
        *reach = (struct reach){.rank = entry->rank, .next = *list};
        *list = reach;
    }
    if (reach->covers < entry->covers)
        reach->covers = entry->covers;
}

static bool reaches(const struct names *names, const struct reach *list, int rank, uint64_t end)
{
    for (const struct reach *reach = list; reach != NULL; reach = reach->next)
        if (reach->covers > end && (names->loss->everybody || reach->rank == rank))
            return true;
    return false;
}

/* --- the journal ------------------------------------------------------------------------------ */
static bool is_made(uint32_t kind)
{
    return kind == JOURNAL_CREATE || kind == JOURNAL_MKDIR;
}

static bool was_done(const struct names *names, uint64_t i)
{
    return names->ending[i].at != NAMES_NEVER && !names->ending[i].failed;
}

/* The file system gives a number a second time only when the object that had it before is gone. So
 * each creation is the birth of a new object, from its entry on. */
static void read_births_and_syncs(struct names *names)
{
    for (uint64_t i = 0; i < names->count; i++) {
        const struct journal_entry *entry = &names->entry[i];
        if (is_made(entry->kind) && was_done(names, i) && entry->inode != 0) {
            struct object *object = add_object(names, entry->inode, i + 1);
            object->is_folder = entry->kind == JOURNAL_MKDIR;
            object->content.made = true;
        } else if (entry->kind == JOURNAL_REMADE && entry->inode != 0) {
            struct object *same = names_object(names, entry->replaced, entry->covers);
            add_object(names, entry->inode, i + 1)->same = same;
        } else if (entry->kind == JOURNAL_SYNCED && entry->inode != 0) {
            add_reach(names, &object_at(names, entry->inode, i)->reach, entry);
        } else if (entry->kind == JOURNAL_ALL) {
            add_reach(names, &names->everything, entry);
        }
    }
}

/* What operation `i` does to one name: it led to `before` (NULL: nothing, or not known) and leads
 * to `value` from now on. The change is durable if the work of the rank that made it is not lost,
 * or if a sync that counts, of the folder or of everything, began after the operation had ended. */
static void change(struct names *names, uint64_t i, enum journal_flag end, struct object *before,
                   struct object *value)
{
    struct journal_entry *entry = &names->entry[i];
    bool other = end == JOURNAL_OTHER_LOST;
    struct object *folder = object_at(names, other ? entry->other_folder : entry->folder, i);
    const char *text = names_last(other ? entry->other : entry->path);
    bool fresh;
    if (folder == NULL || *text == '\0' || strcmp(text, ".") == 0)
        return;
    struct name *name = name_at(names, folder, text, &fresh);
    if (fresh) /* what nobody is known to have put there was there before, and durable */
        name->wanted = before;
    if ((entry->flags & end) != 0)
        return;
    uint64_t ended = names->ending[i].at;
    if (!power_failure_affects(names->loss, entry->rank) ||
        reaches(names, folder->reach, entry->rank, ended) ||
        reaches(names, names->everything, entry->rank, ended)) {
        name->wanted = value;
        name->age = i + 1;
    } else {
        entry->flags |= end;
        name->lost = true;
        name->rank = entry->rank;
    }
}

static void read_dropped(struct names *names, uint64_t i)
{
    const struct journal_entry *entry = &names->entry[i];
    struct object *folder = object_at(names, entry->folder, i);
    bool fresh;
    if (folder != NULL && entry->path[0] != '\0')
        name_at(names, folder, names_last(entry->path), &fresh)->wanted = NULL;
}

static void read_operation(struct names *names, uint64_t i)
{
    const struct journal_entry *entry = &names->entry[i];
    struct object *object = object_at(names, entry->inode, i);
    struct object *replaced = object_at(names, entry->replaced, i);
    switch (entry->kind) {
    case JOURNAL_CREATE:
    case JOURNAL_MKDIR:
    case JOURNAL_LINK:
        if (object != NULL)
            change(names, i, JOURNAL_PATH_LOST, NULL, object);
        break;
    case JOURNAL_UNLINK:
    case JOURNAL_RMDIR:
        if (object != NULL && entry->kind == JOURNAL_RMDIR)
            object->is_folder = true;
        change(names, i, JOURNAL_PATH_LOST, object, NULL);
        break;
    case JOURNAL_RENAME:
    case JOURNAL_EXCHANGE:
        if (object == NULL || object == replaced) /* two names of one file: nothing was done */
            break;
        change(names, i, JOURNAL_PATH_LOST, replaced, object);
        change(names, i, JOURNAL_OTHER_LOST, object,
               entry->kind == JOURNAL_EXCHANGE ? replaced : NULL);
        break;
    default:
        break;
    }
}

static void read_sync(const struct names *names, const struct journal_entry *entry,
                      struct content *content)
{
    bool affected = power_failure_affects(names->loss, entry->rank);
    if (!affected && content->own && !content->shared)
        return;
    content->synced = true;
    content->own = affected;
    content->rank = entry->rank;
}

static void read_opened(const struct names *names, const struct journal_entry *entry,
                        struct content *content)
{
    bool affected = power_failure_affects(names->loss, entry->rank);
    content->written |= affected;
    content->shared |= !affected;
}

/* In the order of the entries that were written before the operations: the entry of an operation
 * that builds on another comes after that one's. */
static void read_entries(struct names *names)
{
    for (uint64_t i = 0; i < names->count; i++) {
        const struct journal_entry *entry = &names->entry[i];
        struct object *object = names_object(names, entry->inode, i);
        if (was_done(names, i))
            read_operation(names, i);
        else if (entry->kind == JOURNAL_DROPPED)
            read_dropped(names, i);
        else if (entry->kind == JOURNAL_OPENED && object != NULL)
            read_opened(names, entry, &object->content);
        else if (entry->kind == JOURNAL_SYNCED && object != NULL)
            read_sync(names, entry, &object->content);
    }
}

/* --- the disk --------------------------------------------------------------------------------- */
/* Names that no lost operation has to do with stay as they are, whatever the journal says. */
static void read_listing(struct names *names, const struct listed *listed, size_t count)
{
    bool fresh;
    for (size_t i = 0; i < count; i++) {
        struct object *folder = object_at(names, listed[i].folder, names->count);
        struct object *object = object_at(names, listed[i].inode, names->count);
        struct name *name = name_at(names, folder, listed[i].text, &fresh);
        object->is_folder |= listed[i].is_folder;
        object->inode = listed[i].inode;
        object->place = name;
        name->found = object;
    }
    for (size_t i = 0; i < names->names; i++)
        if (!names->name[i].lost)
            names->name[i].wanted = names->name[i].found;
}

/* --- folders ---------------------------------------------------------------------------------- */
static bool is_folder(const struct object *object)
{
    return object != NULL && object->is_folder;
}

static void reach_folders(struct names *names)
{
    bool more = true;
    for (size_t i = 0; i < names->objects; i++)
        names->object[i].reached = false;
    names->top->reached = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < names->names; i++) {
            const struct name *name = &names->name[i];
            if (!name->folder->reached || !is_folder(name->wanted) || name->wanted->reached)
                continue;
            name->wanted->reached = true;
            more = true;
        }
    }
}

/* The oldest name, not looked at yet, of a folder that is to have several; NULL: there is none. */
static struct name *next_spare(const struct names *names)
{
    struct name *oldest = NULL;
    for (size_t i = 0; i < names->names; i++) {
        struct name *name = &names->name[i];
        if (is_folder(name->wanted) && name->wanted->names > 1 && !name->looked_at &&
            (oldest == NULL || name->age < oldest->age))
            oldest = name;
    }
    return oldest;
}

/* A folder whose new name was synced and whose old one was not would have both. It keeps the newest
 * by which it can still be reached. */
static void leave_one_name(struct names *names)
{
    for (size_t i = 0; i < names->names; i++)
        if (is_folder(names->name[i].wanted))
            names->name[i].wanted->names++;
    struct name *name;
    while ((name = next_spare(names)) != NULL) {
        struct object *folder = name->wanted;
        name->looked_at = true;
        name->wanted = NULL;
        reach_folders(names);
        name->dropped = folder->reached;
        if (name->dropped)
            folder->names--;
        else
            name->wanted = folder;
    }
    reach_folders(names);
    for (size_t i = 0; i < names->names; i++)
        if (names->name[i].folder->reached && is_folder(names->name[i].wanted))
            names->name[i].wanted->home = &names->name[i];
}

bool name_changes(const struct name *name)
{
    return name->folder->reached && name->found != name->wanted;
}

/* --- the whole -------------------------------------------------------------------------------- */
/* As much as there can be: an entry speaks of four objects and two names, a listed name of two and
 * one. */
static void allocate(struct names *names, size_t listed)
{
    size_t count = (size_t)names->count;
    names->buckets = 64;
    while (names->buckets < count + listed)
        names->buckets *= 2;
    names->object = memory_new(4 * count + 2 * listed + 1, sizeof *names->object);
    names->name = memory_new(2 * count + listed + 1, sizeof *names->name);
    names->reach = memory_new(count + 1, sizeof *names->reach);
    names->object_bucket = memory_new(names->buckets, sizeof(struct object *));
    names->name_bucket = memory_new(names->buckets, sizeof(struct name *));
}

void names_read(struct names *names, struct journal_entry *entry, uint64_t count,
                const struct ending *ending, const struct loss *loss, const struct listed *listed,
                size_t listed_count, uint64_t top)
{
    *names = (struct names){.entry = entry, .count = count, .ending = ending, .loss = loss};
    allocate(names, listed_count);
    names->top = add_object(names, top, 0);
    names->top->is_folder = true;
    names->top->inode = top;
    read_births_and_syncs(names);
    read_entries(names);
    read_listing(names, listed, listed_count);
    leave_one_name(names);
}

void names_release(struct names *names)
{
    free(names->object);
    free(names->name);
    free(names->reach);
    free(names->object_bucket);
    free(names->name_bucket);
    *names = (struct names){0};
}
