/* What a power failure takes (store/power_failure.h), against a model that is as plain as POSIX's
 * words: a folder is durable as of its last sync, a file as of its last. Random operations on real
 * files under the journal, then the loss, then again. */
#include "store/power_failure.h"
#include "store/journal.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANKS 2
#define NAMES                                                                                      \
    6           /* in each folder; on nodes of their own, name n is used by rank n % RANKS alone   \
                 */
#define DEPTH 3 /* of folders in each other */
#define OBJECTS 10000 /* made in one world */
#define WORLDS 60
#define ROUNDS 4   /* losses in a world */
#define STEPS 60   /* operations between two losses */
#define SEVERAL 16 /* names of folders that have more than one, at most */

/* A file or folder; the first is the store itself. */
struct thing {
    bool is_folder;
    uint64_t inode;
    int version, durable_version;   /* of a file; 0: empty */
    int maker;                      /* rank */
    int now[NAMES], durable[NAMES]; /* of a folder: index of a thing, -1: free */
    int age[NAMES], durable_age[NAMES];
};

static struct {
    struct journal journal;
    char folder[PATH_MAX / 2], store[PATH_MAX / 2 + 16];
    struct thing thing[OBJECTS];
    int things;
    int steps; /* done so far: the age of what is done next */
    unsigned random;
} world;

/* A name in a folder that is there. */
struct spot {
    int folder, name;
    char path[64]; /* below the store */
};

/* Some begin with dots: a protocol may hide a file until it is whole. */
static const char *const names[NAMES] = {"0", "1", "2", ".3", "4", "..5"};

static unsigned draw(unsigned below)
{
    world.random = world.random * 1103515245u + 12345u;
    return (world.random >> 16) % below;
}

/* Absolute; several at a time. */
static char *whole(const char *path)
{
    static char text[4][PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    snprintf(text[next], sizeof text[next], "%s/%s", world.store, path);
    return text[next];
}

static uint64_t inode_at(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 ? (uint64_t)facts.st_ino : 0;
}

static struct spot spot_below(const struct spot *above, int folder, int name)
{
    struct spot spot = {.folder = folder, .name = name};
    snprintf(spot.path, sizeof spot.path, "%.*s%s%s", 48, above != NULL ? above->path : "",
             above != NULL ? "/" : "", names[name]);
    return spot;
}

static int at(const struct spot *spot)
{
    return world.thing[spot->folder].now[spot->name];
}

static bool has_folder(const struct spot *spot)
{
    return at(spot) >= 0 && world.thing[at(spot)].is_folder;
}

static bool has_file(const struct spot *spot)
{
    return at(spot) >= 0 && !world.thing[at(spot)].is_folder;
}

static void set(const struct spot *spot, int thing)
{
    world.thing[spot->folder].now[spot->name] = thing;
    world.thing[spot->folder].age[spot->name] = ++world.steps;
}

/* --- operations, as the ranks do them --------------------------------------------------------- */
static struct journal_entry entry_of(unsigned kind, int rank, const struct spot *spot)
{
    struct journal_entry entry = {.kind = kind, .rank = rank, .id = journal_id()};
    entry.folder = world.thing[spot->folder].inode;
    strcpy(entry.path, spot->path);
    return entry;
}

static void append(const struct journal_entry *entry)
{
    if (!journal_append(&world.journal, entry))
        abort();
}

static void finish(const struct journal_entry *entry, uint64_t inode)
{
    append(&(struct journal_entry){
        .kind = JOURNAL_DONE, .rank = entry->rank, .id = entry->id, .inode = inode});
}

static void keep(const struct spot *spot)
{
    if (has_file(spot))
        journal_keep(&world.journal, whole(spot->path), world.thing[at(spot)].inode);
}

static void put_content(int file, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        abort();
    if (world.thing[file].version > 0)
        fprintf(out, "%d.%d", file, world.thing[file].version);
    fclose(out);
}

static int new_thing(bool is_folder, int rank)
{
    struct thing *thing = &world.thing[world.things];
    *thing = (struct thing){.is_folder = is_folder, .maker = rank};
    for (int name = 0; name < NAMES; name++)
        thing->now[name] = thing->durable[name] = -1;
    if (++world.things > OBJECTS)
        abort();
    return world.things - 1;
}

static void do_create(int rank, const struct spot *spot)
{
    struct journal_entry entry = entry_of(JOURNAL_CREATE, rank, spot);
    int file = new_thing(false, rank);
    append(&entry);
    put_content(file, whole(entry.path));
    world.thing[file].inode = inode_at(whole(entry.path));
    finish(&entry, world.thing[file].inode);
    set(spot, file);
}

static void do_mkdir(int rank, const struct spot *spot)
{
    struct journal_entry entry = entry_of(JOURNAL_MKDIR, rank, spot);
    int folder = new_thing(true, rank);
    append(&entry);
    if (mkdir(whole(entry.path), 0777) != 0)
        abort();
    world.thing[folder].inode = inode_at(whole(entry.path));
    finish(&entry, world.thing[folder].inode);
    set(spot, folder);
}

static void do_write(int rank, const struct spot *spot)
{
    struct thing *file = &world.thing[at(spot)];
    append(&(struct journal_entry){.kind = JOURNAL_OPENED, .rank = rank, .inode = file->inode});
    file->version += 1 + (int)draw(3);
    put_content(at(spot), whole(spot->path));
}

static bool is_empty(int folder)
{
    for (int name = 0; name < NAMES; name++)
        if (world.thing[folder].now[name] >= 0)
            return false;
    return true;
}

/* Whether `folder` is `top` or somewhere in it. */
static bool is_in(int folder, int top)
{
    bool found = folder == top;
    for (int name = 0; name < NAMES && !found && world.thing[top].is_folder; name++)
        found = world.thing[top].now[name] >= 0 && is_in(folder, world.thing[top].now[name]);
    return found;
}

/* Whether libc would. */
static bool can_rename(const struct spot *from, const struct spot *to)
{
    if (at(from) == at(to) || is_in(to->folder, at(from)))
        return false;
    if (at(to) < 0)
        return true;
    if (world.thing[at(from)].is_folder)
        return has_folder(to) && is_empty(at(to));
    return has_file(to);
}

static struct journal_entry begin_rename(unsigned kind, int rank, const struct spot *from,
                                         const struct spot *to)
{
    struct journal_entry entry = entry_of(kind, rank, to);
    strcpy(entry.other, from->path);
    entry.other_folder = world.thing[from->folder].inode;
    entry.inode = world.thing[at(from)].inode;
    entry.replaced = at(to) >= 0 ? world.thing[at(to)].inode : 0;
    keep(to);
    keep(from);
    append(&entry);
    return entry;
}

static void do_rename(int rank, const struct spot *from, const struct spot *to)
{
    struct journal_entry entry = begin_rename(JOURNAL_RENAME, rank, from, to);
    if (rename(whole(from->path), whole(to->path)) != 0)
        abort();
    finish(&entry, 0);
    set(to, at(from));
    set(from, -1);
}

static void do_exchange(int rank, const struct spot *from, const struct spot *to)
{
    struct journal_entry entry = begin_rename(JOURNAL_EXCHANGE, rank, from, to);
    int moved = at(from);
    if (renameat2(AT_FDCWD, whole(from->path), AT_FDCWD, whole(to->path), RENAME_EXCHANGE) != 0)
        abort();
    finish(&entry, 0);
    set(from, at(to));
    set(to, moved);
}

static struct journal_entry begin_removal(int rank, const struct spot *spot)
{
    struct journal_entry entry =
        entry_of(has_folder(spot) ? JOURNAL_RMDIR : JOURNAL_UNLINK, rank, spot);
    entry.inode = world.thing[at(spot)].inode;
    keep(spot);
    append(&entry);
    return entry;
}

static void do_remove(int rank, const struct spot *spot)
{
    struct journal_entry entry = begin_removal(rank, spot);
    if (remove(whole(entry.path)) != 0)
        abort();
    finish(&entry, 0);
    set(spot, -1);
}

/* The call on the store has failed: nothing has happened. */
static void fail(const struct journal_entry *entry)
{
    append(&(struct journal_entry){.kind = JOURNAL_FAILED, .rank = entry->rank, .id = entry->id});
}

static void do_in_vain(int rank, const struct spot *spot)
{
    struct journal_entry entry =
        at(spot) >= 0 ? begin_removal(rank, spot) : entry_of(JOURNAL_MKDIR, rank, spot);
    if (at(spot) < 0)
        append(&entry);
    fail(&entry);
}

static void do_link(int rank, const struct spot *from, const struct spot *to)
{
    struct journal_entry entry = entry_of(JOURNAL_LINK, rank, to);
    append(&entry);
    if (link(whole(from->path), whole(to->path)) != 0)
        abort();
    finish(&entry, world.thing[at(from)].inode);
    set(to, at(from));
}

static void do_sync(int rank, const struct spot *spot)
{
    struct thing *file = &world.thing[at(spot)];
    char copy[PATH_MAX];
    int fd = open(whole(spot->path), O_WRONLY);
    if (!journal_copy(&world.journal, fd, copy) ||
        !journal_copy_publish(&world.journal, copy, file->inode, rank))
        abort();
    close(fd);
    append(&(struct journal_entry){.kind = JOURNAL_SYNCED, .rank = rank, .inode = file->inode});
    file->durable_version = file->version;
}

/* `mine`: only names of this rank become durable, as on a node of its own. */
static void do_sync_folder(int rank, int folder, bool mine)
{
    struct thing *thing = &world.thing[folder];
    append(&(struct journal_entry){.kind = JOURNAL_SYNCED,
                                   .rank = rank,
                                   .inode = thing->inode,
                                   .covers = journal_length(&world.journal)});
    for (int name = 0; name < NAMES; name++)
        if (!mine || name % RANKS == rank) {
            thing->durable[name] = thing->now[name];
            thing->durable_age[name] = thing->age[name];
        }
}

/* A name of this rank in a folder that is there: now and then one more folder down. */
static struct spot draw_spot(int rank, bool mine)
{
    struct spot above, spot = {0};
    int folder = 0;
    for (int depth = 0; depth < DEPTH; depth++) {
        int name = mine ? rank + RANKS * (int)draw(NAMES / RANKS) : (int)draw(NAMES);
        spot = spot_below(depth > 0 ? &above : NULL, folder, name);
        if (depth + 1 == DEPTH || !has_folder(&spot) || draw(3) == 0)
            break;
        folder = at(&spot);
        above = spot;
    }
    return spot;
}

static void step_with_two(int rank, const struct spot *from, const struct spot *to)
{
    switch (draw(4)) {
    case 0:
        if (has_file(from) && at(to) < 0)
            do_link(rank, from, to);
        break;
    case 1:
        if (at(from) >= 0 && at(to) >= 0 && at(from) != at(to) && !is_in(to->folder, at(from)) &&
            !is_in(from->folder, at(to)))
            do_exchange(rank, from, to);
        break;
    default:
        if (at(from) >= 0 && can_rename(from, to))
            do_rename(rank, from, to);
        break;
    }
}

static void step(bool mine)
{
    int rank = (int)draw(RANKS);
    struct spot spot = draw_spot(rank, mine), other = draw_spot(rank, mine);
    switch (draw(9)) {
    case 0:
    case 1:
        do_sync_folder(rank, spot.folder, mine);
        break;
    case 2:
        if (has_file(&spot) || (has_folder(&spot) && is_empty(at(&spot))))
            do_remove(rank, &spot);
        break;
    case 3:
        do_in_vain(rank, &spot);
        break;
    case 4:
        if (has_file(&spot))
            do_sync(rank, &spot);
        break;
    case 5:
    case 6:
        step_with_two(rank, &spot, &other);
        break;
    default:
        if (has_file(&spot))
            do_write(rank, &spot);
        else if (at(&spot) < 0 && draw(2) == 0)
            do_mkdir(rank, &spot);
        else if (at(&spot) < 0)
            do_create(rank, &spot);
        break;
    }
}

/* --- the loss --------------------------------------------------------------------------------- */
static bool holds(const char *path, int file, int version)
{
    char text[32] = "", expected[32] = "";
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, in);
    text[length] = '\0';
    fclose(in);
    if (version > 0)
        snprintf(expected, sizeof expected, "%d.%d", file, version);
    return strcmp(text, expected) == 0;
}

/* How often each folder is met from the top; one that is met again is not gone through again. */
static void count_names(int folder, int *met)
{
    for (int name = 0; name < NAMES; name++) {
        int thing = world.thing[folder].now[name];
        if (thing >= 0 && world.thing[thing].is_folder && met[thing]++ == 0)
            count_names(thing, met);
    }
}

/* Names of folders that have several, the oldest first; returns how many. */
static int find_several(const int *met, struct spot several[SEVERAL])
{
    int count = 0;
    for (int folder = 0; folder < world.things; folder++)
        for (int name = 0; name < NAMES; name++) {
            struct spot spot = {folder, name, ""};
            if (!world.thing[folder].is_folder || (folder > 0 && met[folder] == 0) ||
                !has_folder(&spot) || met[at(&spot)] < 2)
                continue;
            if (count == SEVERAL)
                abort();
            int place = count++;
            for (;
                 place > 0 && world.thing[several[place - 1].folder].age[several[place - 1].name] >
                                  world.thing[folder].age[name];
                 place--)
                several[place] = several[place - 1];
            several[place] = spot;
        }
    return count;
}

/* Of all ways to leave each folder one name and to lose none, the one that drops the oldest: all
 * are tried. `count` names, the first is the highest bit. */
static void leave_one_name(void)
{
    static int met[OBJECTS], left[OBJECTS];
    struct spot several[SEVERAL];
    int thing[SEVERAL];
    memset(met, 0, sizeof met);
    count_names(0, met);
    int count = find_several(met, several);
    for (int i = 0; i < count; i++)
        thing[i] = at(&several[i]);
    for (unsigned drop = 1u << count; count > 0 && drop-- > 0;) {
        for (int i = 0; i < count; i++)
            world.thing[several[i].folder].now[several[i].name] =
                (drop >> (count - 1 - i) & 1) != 0 ? -1 : thing[i];
        memset(left, 0, sizeof left);
        count_names(0, left);
        bool good = true;
        for (int i = 0; i < world.things; i++)
            good &= left[i] == (met[i] > 0 ? 1 : 0);
        if (good)
            return;
    }
    if (count > 0)
        abort();
}

/* Names of ranks that lost go back to what was durable, and so do contents. */
static void model_loss(bool everybody, int victim)
{
    for (int i = 0; i < world.things; i++) {
        struct thing *thing = &world.thing[i];
        for (int name = 0; name < NAMES; name++)
            if (everybody || name % RANKS == victim) {
                thing->now[name] = thing->durable[name];
                thing->age[name] = thing->durable_age[name];
            }
        if (everybody || thing->maker == victim)
            thing->version = thing->durable_version;
    }
    leave_one_name();
    for (int i = 0; i < world.things; i++)
        for (int name = 0; name < NAMES; name++)
            if (world.thing[i].now[name] < 0 && (everybody || name % RANKS == victim))
                world.thing[i].durable[name] = -1;
}

/* Folders that had been removed have other numbers than before. */
static bool as_in_model(int folder, const char *path)
{
    bool good = true;
    for (int name = 0; name < NAMES; name++) {
        int index = world.thing[folder].now[name];
        char below[PATH_MAX];
        snprintf(below, sizeof below, "%s/%s", path, names[name]);
        uint64_t inode = inode_at(below);
        struct thing *thing = index >= 0 ? &world.thing[index] : NULL;
        struct stat facts;
        bool same = thing == NULL ? inode == 0
                    : thing->is_folder
                        ? lstat(below, &facts) == 0 && S_ISDIR(facts.st_mode)
                        : inode == thing->inode && holds(below, index, thing->version);
        if (!same)
            printf("# %s: %s %d, version %d expected; inode %d of %d\n", below,
                   thing != NULL && thing->is_folder ? "folder" : "file", index,
                   thing != NULL ? thing->version : 0, (int)inode,
                   thing != NULL ? (int)thing->inode : 0);
        good &= same;
        if (same && thing != NULL && thing->is_folder) {
            thing->inode = inode;
            good &= as_in_model(index, below);
        }
    }
    return good;
}

static void begin_world(unsigned seed)
{
    struct error error;
    memset(&world, 0, sizeof world);
    world.random = seed;
    snprintf(world.folder, sizeof world.folder, "/tmp/faultline-loss-XXXXXX");
    if (mkdtemp(world.folder) == NULL)
        abort();
    snprintf(world.store, sizeof world.store, "%s/store", world.folder);
    mkdir(world.store, 0777);
    world.thing[new_thing(true, 0)].inode = inode_at(world.store);
    if (journal_open(&world.journal, world.folder, world.store, &error) != OK)
        abort();
}

static void end_world(void)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", world.folder);
    if (system(command) != 0)
        printf("# cannot remove %s\n", world.folder);
}

static bool lose(bool everybody, int victim)
{
    bool rank[RANKS] = {false};
    struct error error = {OK, ""};
    rank[victim] = true;
    struct loss loss = {.everybody = everybody, .rank = rank, .ranks = RANKS};
    if (power_failure_apply(&world.journal, &loss, &error) != OK)
        printf("# %s\n", error.text);
    model_loss(everybody, victim);
    return error.code == OK && as_in_model(0, world.store);
}

/* `everybody`: all ranks use all names. Else names never cross ranks, so what one rank loses is
 * never another's. */
static void random_worlds(bool everybody)
{
    int good = 0, asked = 0;
    for (unsigned seed = 1; seed <= WORLDS; seed++) {
        begin_world(seed);
        bool same = true;
        for (int round = 0; round < ROUNDS && same; round++) {
            for (int i = 0; i < STEPS; i++)
                step(!everybody);
            same = lose(everybody, (int)draw(RANKS));
            asked++;
            good += same;
            if (!same)
                printf("# seed %u, round %d\n", seed, round);
        }
        end_world();
    }
    check(good == asked && asked == WORLDS * ROUNDS,
          "%d losses of random operations leave what is durable (%s)", asked,
          everybody ? "everybody's" : "one rank's");
}

/* --- what the random worlds do not do --------------------------------------------------------- */
static struct spot spot_at(int name)
{
    return spot_below(NULL, 0, name);
}

static void interrupted(void)
{
    begin_world(1);
    struct spot first = spot_at(0), second = spot_at(2), third = spot_at(4);
    struct journal_entry entry = entry_of(JOURNAL_CREATE, 0, &first);
    append(&entry); /* and the rank dies before it makes the file */
    check(lose(true, 0), "an operation that was announced and not done is no loss");
    do_create(0, &second);
    do_sync_folder(0, 0, false);
    begin_removal(0, &second);
    check(lose(true, 0), "a removal that was not done takes nothing back");
    entry = entry_of(JOURNAL_CREATE, 0, &third);
    append(&entry);
    close(open(whole(entry.path), O_WRONLY | O_CREAT, 0666)); /* and it dies before it says so */
    check(lose(true, 0), "a file that was made and not said to be is gone");
    entry = entry_of(JOURNAL_MKDIR, 0, &third);
    append(&entry);
    mkdir(whole(entry.path), 0777);
    check(lose(true, 0), "and so is a folder");
    end_world();
}

/* A rank dies in a rename; nothing is lost then. In the next life the name goes on, and is lost. */
static void interrupted_before(void)
{
    begin_world(1);
    struct loss none = {.everybody = false};
    struct error error;
    struct spot from = spot_at(0), to = spot_at(2), last = spot_at(4);
    do_create(0, &from);
    do_sync_folder(0, 0, false);
    begin_rename(JOURNAL_RENAME, 0, &from, &to);
    if (rename(whole(from.path), whole(to.path)) != 0)
        abort();
    check(power_failure_apply(&world.journal, &none, &error) == OK,
          "a life ends in a rename, without loss");
    set(&to, at(&from));
    set(&from, -1);
    do_rename(0, &to, &last);
    check(lose(true, 0), "what was lost in a later life is back where it was synced");
    end_world();
}

static void everything(void)
{
    begin_world(1);
    struct spot first = spot_at(0), second = spot_at(2);
    do_create(0, &first);
    append(&(struct journal_entry){
        .kind = JOURNAL_ALL, .rank = 1, .covers = journal_length(&world.journal)});
    memcpy(world.thing[0].durable, world.thing[0].now, sizeof world.thing[0].now);
    check(lose(true, 0), "a sync of everything covers every name before it");
    do_create(0, &second);
    append(&(struct journal_entry){
        .kind = JOURNAL_ALL, .rank = 1, .covers = journal_length(&world.journal) - 1});
    check(lose(true, 0), "and none that was done while it went on");
    end_world();
}

/* A checkpoint that is made as a folder and renamed over the one before, as it is often done. */
static void checkpoint_folders(void)
{
    begin_world(1);
    struct spot folder = spot_at(0), final = spot_at(2), file;
    for (int time = 0; time < 2; time++) {
        do_mkdir(0, &folder);
        file = spot_below(&folder, at(&folder), 0);
        do_create(0, &file);
        do_write(0, &file);
        do_sync(0, &file);
        do_sync_folder(0, at(&folder), false);
        if (time == 1) {
            file = spot_below(&final, at(&final), 0);
            do_remove(0, &file);
            do_remove(0, &final);
        }
        do_rename(0, &folder, &final);
        if (time == 0)
            do_sync_folder(0, 0, false);
    }
    int before = world.thing[0].durable[2];
    check(lose(true, 0) && at(&final) == before,
          "a folder that replaced another and was not synced: the other is back, with its file");
    file = spot_below(&final, before, 0);
    do_remove(0, &file);
    do_remove(0, &final);
    check(lose(true, 0) && at(&final) == before && at(&file) >= 0,
          "and comes back once more, though it has had to be made again before");
    end_world();
}

/* Files that were there before, or that something made that is not seen. */
static void made_unseen(void)
{
    begin_world(1);
    struct spot spot[] = {spot_at(0), spot_at(2), spot_at(4)};
    for (int i = 0; i < 3; i++) {
        int file = new_thing(false, 0);
        put_content(file, whole(spot[i].path));
        world.thing[file].inode = inode_at(whole(spot[i].path));
        set(&spot[i], file);
    }
    memcpy(world.thing[0].durable, world.thing[0].now, sizeof world.thing[0].now);
    do_rename(0, &spot[0], &spot[1]);
    do_remove(0, &spot[2]);
    check(lose(true, 0), "files that nobody was seen to make are durable");
    end_world();
}

/* A disk that is full in the middle of an entry, as a limit of file sizes makes it. */
static bool append_half(void)
{
    uint64_t entries = journal_length(&world.journal);
    struct rlimit before, half;
    getrlimit(RLIMIT_FSIZE, &before);
    half = before;
    half.rlim_cur = entries * JOURNAL_ENTRY_BYTES + JOURNAL_ENTRY_BYTES / 2;
    fflush(stdout);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &half);
    struct spot spot = spot_at(2);
    struct journal_entry entry = entry_of(JOURNAL_CREATE, 0, &spot);
    bool refused = !journal_append(&world.journal, &entry);
    int reason = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    return refused && reason == ENOSPC;
}

static void full(void)
{
    begin_world(1);
    struct spot first = spot_at(0), second = spot_at(2);
    do_create(0, &first);
    check(append_half(), "an entry for which there is no room is refused");
    do_create(0, &second);
    check(lose(true, 0), "and leaves nothing that those behind it could be read wrongly by");
    end_world();
}

static void nothing(void)
{
    begin_world(1);
    struct error error = {OK, ""};
    struct loss loss = {.everybody = true};
    check(power_failure_apply(&world.journal, &loss, &error) == OK,
          "without a journal nothing is lost");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/durable/journal", world.folder);
    close(open(path, O_WRONLY | O_CREAT, 0666));
    if (truncate(path, 100) != 0)
        abort();
    check(power_failure_apply(&world.journal, &loss, &error) == ERROR_FORMAT &&
              strstr(error.text, "cut in the middle") != NULL,
          "a journal that is cut is an error");
    end_world();
}

int main(void)
{
    random_worlds(true);
    random_worlds(false);
    interrupted();
    interrupted_before();
    everything();
    checkpoint_folders();
    made_unseen();
    full();
    nothing();
    return done();
}
