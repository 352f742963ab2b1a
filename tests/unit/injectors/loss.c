/* What a power failure takes (store/loss.h), against a model that is as plain as POSIX's words: a
 * folder is durable as of its last sync, a file as of its last. Random operations on real files
 * under the journal, then the loss, then again. */
#include "store/loss.h"
#include "store/journal.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANKS 2
#define FOLDERS 2
#define NAMES 6     /* in each folder; name n is used by rank n % RANKS alone */
#define FILES 10000 /* made in one world */
#define WORLDS 40
#define ROUNDS 4 /* losses in a world */
#define STEPS 40 /* operations between two losses */

static const char *const folder_name[FOLDERS] = {"a", "b"};

/* Index of a file in each place, -1: free. */
struct names {
    int file[FOLDERS][NAMES];
};

static struct {
    struct journal journal;
    char folder[PATH_MAX / 2], store[PATH_MAX / 2 + 16];
    struct names now, durable;
    int files;
    int version[FILES], durable_version[FILES]; /* 0: empty */
    uint64_t inode[FILES];
    uint64_t folder_inode[FOLDERS];
    unsigned random;
} world;

static unsigned draw(unsigned below)
{
    world.random = world.random * 1103515245u + 12345u;
    return (world.random >> 16) % below;
}

/* Below the store, and absolute; several at a time. */
static char *below(int folder, int name)
{
    static char text[4][64];
    static int next;
    next = (next + 1) % 4;
    snprintf(text[next], sizeof text[next], "%s/%d", folder_name[folder], name);
    return text[next];
}

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

/* --- operations, as the ranks do them --------------------------------------------------------- */
static struct journal_entry entry_of(unsigned kind, int rank, int folder, int name)
{
    struct journal_entry entry = {.kind = kind, .rank = rank, .id = journal_id()};
    entry.folder = world.folder_inode[folder];
    strcpy(entry.path, below(folder, name));
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

static void keep(int folder, int name, int file)
{
    if (file >= 0)
        journal_keep(&world.journal, whole(below(folder, name)), world.inode[file]);
}

static void put_content(int file, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        abort();
    if (world.version[file] > 0)
        fprintf(out, "%d.%d", file, world.version[file]);
    fclose(out);
}

static void do_create(int rank, int folder, int name)
{
    struct journal_entry entry = entry_of(JOURNAL_CREATE, rank, folder, name);
    int file = world.files++;
    append(&entry);
    world.version[file] = world.durable_version[file] = 0;
    put_content(file, whole(entry.path));
    world.inode[file] = inode_at(whole(entry.path));
    finish(&entry, world.inode[file]);
    world.now.file[folder][name] = file;
}

static void do_write(int rank, int folder, int name)
{
    int file = world.now.file[folder][name];
    append(
        &(struct journal_entry){.kind = JOURNAL_OPENED, .rank = rank, .inode = world.inode[file]});
    world.version[file] += 1 + (int)draw(3);
    put_content(file, whole(below(folder, name)));
}

static void do_rename(int rank, int folder, int name, int to_folder, int to_name)
{
    struct journal_entry entry = entry_of(JOURNAL_RENAME, rank, to_folder, to_name);
    int file = world.now.file[folder][name], replaced = world.now.file[to_folder][to_name];
    if (replaced == file)
        return; /* two names of one file: rename does nothing */
    strcpy(entry.other, below(folder, name));
    entry.other_folder = world.folder_inode[folder];
    entry.inode = world.inode[file];
    entry.replaced = replaced >= 0 ? world.inode[replaced] : 0;
    keep(to_folder, to_name, replaced);
    if (folder != to_folder)
        keep(folder, name, file);
    append(&entry);
    if (rename(whole(entry.other), whole(entry.path)) != 0)
        abort();
    finish(&entry, 0);
    world.now.file[to_folder][to_name] = file;
    world.now.file[folder][name] = -1;
}

static struct journal_entry begin_unlink(int rank, int folder, int name)
{
    struct journal_entry entry = entry_of(JOURNAL_UNLINK, rank, folder, name);
    int file = world.now.file[folder][name];
    entry.inode = world.inode[file];
    keep(folder, name, file);
    append(&entry);
    return entry;
}

static void do_unlink(int rank, int folder, int name)
{
    struct journal_entry entry = begin_unlink(rank, folder, name);
    unlink(whole(entry.path));
    finish(&entry, 0);
    world.now.file[folder][name] = -1;
}

/* The call on the store has failed: nothing has happened. */
static void fail(const struct journal_entry *entry)
{
    append(&(struct journal_entry){.kind = JOURNAL_FAILED, .rank = entry->rank, .id = entry->id});
}

static void do_unlink_in_vain(int rank, int folder, int name)
{
    struct journal_entry entry = begin_unlink(rank, folder, name);
    fail(&entry);
}

/* The folder is there already. */
static void do_mkdir_in_vain(int rank, int folder)
{
    struct journal_entry entry = entry_of(JOURNAL_MKDIR, rank, folder, 0);
    entry.folder = inode_at(world.store);
    strcpy(entry.path, folder_name[folder]);
    append(&entry);
    fail(&entry);
}

static void do_link(int rank, int folder, int name, int to_folder, int to_name)
{
    struct journal_entry entry = entry_of(JOURNAL_LINK, rank, to_folder, to_name);
    int file = world.now.file[folder][name];
    append(&entry);
    if (link(whole(below(folder, name)), whole(entry.path)) != 0)
        abort();
    finish(&entry, world.inode[file]);
    world.now.file[to_folder][to_name] = file;
}

static void do_sync(int rank, int folder, int name)
{
    int file = world.now.file[folder][name];
    char copy[PATH_MAX];
    int fd = open(whole(below(folder, name)), O_WRONLY);
    if (!journal_copy(&world.journal, fd, copy) ||
        !journal_copy_publish(&world.journal, copy, world.inode[file], rank))
        abort();
    close(fd);
    append(
        &(struct journal_entry){.kind = JOURNAL_SYNCED, .rank = rank, .inode = world.inode[file]});
    world.durable_version[file] = world.version[file];
}

/* `mine`: only names of this rank become durable, as on a node of its own. */
static void do_sync_folder(int rank, int folder, bool mine)
{
    append(&(struct journal_entry){.kind = JOURNAL_SYNCED,
                                   .rank = rank,
                                   .inode = world.folder_inode[folder],
                                   .covers = journal_length(&world.journal)});
    for (int name = 0; name < NAMES; name++)
        if (!mine || name % RANKS == rank)
            world.durable.file[folder][name] = world.now.file[folder][name];
}

static void step(bool mine)
{
    int rank = (int)draw(RANKS), folder = (int)draw(FOLDERS), to_folder = (int)draw(FOLDERS);
    int name = rank + RANKS * (int)draw(NAMES / RANKS);
    int to_name = rank + RANKS * (int)draw(NAMES / RANKS);
    bool there = world.now.file[folder][name] >= 0;
    bool same = folder == to_folder && name == to_name;
    switch (draw(9)) {
    case 0:
        do_sync_folder(rank, folder, mine);
        break;
    case 1:
        if (there)
            do_unlink(rank, folder, name);
        break;
    case 2:
        if (there && world.now.file[to_folder][to_name] < 0)
            do_link(rank, folder, name, to_folder, to_name);
        break;
    case 3:
    case 4:
        if (there && !same)
            do_rename(rank, folder, name, to_folder, to_name);
        break;
    case 5:
        if (there)
            do_sync(rank, folder, name);
        break;
    case 6:
        if (there && draw(2) == 0)
            do_unlink_in_vain(rank, folder, name);
        else
            do_mkdir_in_vain(rank, folder);
        break;
    default:
        if (there)
            do_write(rank, folder, name);
        else
            do_create(rank, folder, name);
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

/* Names of ranks that lost go back to what was durable, and so do contents. */
static void model_loss(bool everybody, int victim)
{
    for (int folder = 0; folder < FOLDERS; folder++)
        for (int name = 0; name < NAMES; name++)
            if (everybody || name % RANKS == victim) {
                int file = world.durable.file[folder][name];
                world.now.file[folder][name] = file;
                if (file >= 0)
                    world.version[file] = world.durable_version[file];
            }
}

static bool as_in_model(void)
{
    bool good = true;
    for (int folder = 0; folder < FOLDERS; folder++)
        for (int name = 0; name < NAMES; name++) {
            int file = world.now.file[folder][name];
            const char *path = whole(below(folder, name));
            bool same = file < 0 ? inode_at(path) == 0
                                 : inode_at(path) == world.inode[file] &&
                                       holds(path, file, world.version[file]);
            if (!same)
                printf("# %s: file %d, version %d expected; inode %d of %d\n", path, file,
                       file >= 0 ? world.version[file] : 0, (int)inode_at(path),
                       file >= 0 ? (int)world.inode[file] : 0);
            good &= same;
        }
    return good;
}

static void begin_world(unsigned seed)
{
    struct error error;
    memset(&world, 0, sizeof world);
    memset(&world.now, -1, sizeof world.now);
    memset(&world.durable, -1, sizeof world.durable);
    world.random = seed;
    snprintf(world.folder, sizeof world.folder, "/tmp/faultline-loss-XXXXXX");
    if (mkdtemp(world.folder) == NULL)
        abort();
    snprintf(world.store, sizeof world.store, "%s/store", world.folder);
    mkdir(world.store, 0777);
    for (int i = 0; i < FOLDERS; i++) {
        mkdir(whole(folder_name[i]), 0777);
        world.folder_inode[i] = inode_at(whole(folder_name[i]));
    }
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
    if (loss_apply(&world.journal, &loss, &error) != OK)
        printf("# %s\n", error.text);
    model_loss(everybody, victim);
    return error.code == OK && as_in_model();
}

/* Names never cross ranks, so what one rank loses is never another's. */
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
static void interrupted(void)
{
    begin_world(1);
    struct journal_entry entry = entry_of(JOURNAL_CREATE, 0, 0, 0);
    append(&entry); /* and the rank dies before it makes the file */
    check(lose(true, 0), "an operation that was announced and not done is no loss");
    do_create(0, 0, 2);
    do_sync_folder(0, 0, false);
    entry = entry_of(JOURNAL_UNLINK, 0, 0, 2);
    entry.inode = world.inode[world.now.file[0][2]];
    keep(0, 2, world.now.file[0][2]);
    append(&entry);
    check(lose(true, 0), "a removal that was not done takes nothing back");
    entry = entry_of(JOURNAL_CREATE, 0, 0, 4);
    append(&entry);
    close(open(whole(entry.path), O_WRONLY | O_CREAT, 0666)); /* and it dies before it says so */
    check(lose(true, 0), "a file that was made and not said to be is gone");
    end_world();
}

static void folders(void)
{
    begin_world(1);
    struct journal_entry entry = {.kind = JOURNAL_MKDIR, .id = journal_id(), .path = "new"};
    entry.folder = inode_at(world.store);
    append(&entry);
    mkdir(whole("new"), 0777);
    finish(&entry, inode_at(whole("new")));
    close(open(whole("new/file"), O_WRONLY | O_CREAT, 0666));
    check(lose(true, 0) && inode_at(whole("new")) == 0,
          "a folder whose name was not synced is gone");
    append(&(struct journal_entry){
        .kind = JOURNAL_ALL, .rank = 1, .covers = journal_length(&world.journal)});
    do_create(0, 1, 0);
    append(&(struct journal_entry){
        .kind = JOURNAL_ALL, .rank = 1, .covers = journal_length(&world.journal)});
    world.durable = world.now;
    check(lose(true, 0), "a sync of everything covers every name before it");
    do_create(0, 1, 2);
    append(&(struct journal_entry){
        .kind = JOURNAL_ALL, .rank = 1, .covers = journal_length(&world.journal) - 1});
    check(lose(true, 0), "and none that was done while it went on");
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
    struct journal_entry entry = entry_of(JOURNAL_CREATE, 0, 0, 2);
    bool refused = !journal_append(&world.journal, &entry);
    int reason = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    return refused && reason == ENOSPC;
}

static void full(void)
{
    begin_world(1);
    do_create(0, 0, 0);
    check(append_half(), "an entry for which there is no room is refused");
    do_create(0, 0, 2);
    check(lose(true, 0), "and leaves nothing that those behind it could be read wrongly by");
    end_world();
}

static void nothing(void)
{
    begin_world(1);
    struct error error = {OK, ""};
    struct loss loss = {.everybody = true};
    check(loss_apply(&world.journal, &loss, &error) == OK, "without a journal nothing is lost");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/durable/journal", world.folder);
    close(open(path, O_WRONLY | O_CREAT, 0666));
    if (truncate(path, 100) != 0)
        abort();
    check(loss_apply(&world.journal, &loss, &error) == ERROR_FORMAT &&
              strstr(error.text, "cut in the middle") != NULL,
          "a journal that is cut is an error");
    end_world();
}

int main(void)
{
    random_worlds(true);
    random_worlds(false);
    interrupted();
    folders();
    full();
    nothing();
    return done();
}
