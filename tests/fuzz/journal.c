/* The journal of the checkpoint store, by which the driver takes files back: whatever stands in it,
 * nothing outside the store is touched.
 *
 * An entry of the input is one byte of each number and two of the names below; the names and the
 * numbers of files exist. An input that begins with 0xff is a journal as it is. */
#include "store/power_failure.h"

#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#define PACKED_BYTES 9
#define RANKS 4
#define FILES 4
#define OPEN_FOLDERS 8
#define WATCHED "left alone"

static char folder[] = "/tmp/faultline-fuzz-XXXXXX";
static const char *const names[] = {"a", "b", "d", "d/c", "d/e", "new", "../watched", "/a"};

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts, (void)type, (void)where;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static const char *below(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const void *data, size_t bytes)
{
    int file = open(below(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_check(file >= 0 && write(file, data, bytes) == (ssize_t)bytes);
    close(file);
}

static uint64_t inode_of(unsigned which)
{
    static const char *const paths[FILES] = {"store/a", "store/b", "store/d", "store/d/c"};
    struct stat facts = {0};
    stat(below(paths[which % FILES]), &facts);
    return facts.st_ino;
}

static void unpack(const uint8_t *from, uint64_t id, struct journal_entry *entry)
{
    *entry = (struct journal_entry){
        .kind = from[0] % (JOURNAL_KINDS + 1u),
        .rank = from[1] % (RANKS + 1) - 1,
        .id = from[2] == 0 ? id : from[2],
        .inode = inode_of(from[3]),
        .replaced = from[4] == 0 ? 0 : inode_of(from[4]),
        .folder = inode_of(from[5]),
        .other_folder = inode_of(from[6]),
        .covers = from[7],
    };
    snprintf(entry->path, sizeof entry->path, "%s", names[from[8] % 8]);
    snprintf(entry->other, sizeof entry->other, "%s", names[from[8] / 8 % 8]);
}

static void put_journal(const uint8_t *data, size_t bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s", below("run/durable/journal"));
    if (bytes > 0 && data[0] == 0xff) {
        put("run/durable/journal", data + 1, bytes - 1);
        return;
    }
    FILE *out = fopen(path, "we");
    fuzz_check(out != NULL);
    for (size_t at = 0; at + PACKED_BYTES <= bytes; at += PACKED_BYTES) {
        struct journal_entry entry;
        unpack(data + at, at + 1000, &entry);
        fuzz_check(fwrite(&entry, sizeof entry, 1, out) == 1);
    }
    fuzz_check(fclose(out) == 0);
}

static void make_store(void)
{
    mkdir(folder, 0700);
    mkdir(below("run"), 0700);
    mkdir(below("store"), 0700);
    mkdir(below("store/d"), 0700);
    put("watched", WATCHED, sizeof WATCHED);
    put("store/a", "one", 3);
    put("store/b", "two", 3);
    put("store/d/c", "three", 5);
}

static void check_watched(void)
{
    char text[sizeof WATCHED] = "";
    int file = open(below("watched"), O_RDONLY | O_CLOEXEC);
    fuzz_check(file >= 0 && read(file, text, sizeof text) == (ssize_t)sizeof text);
    fuzz_check(memcmp(text, WATCHED, sizeof text) == 0);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct journal journal;
    static const bool rank[RANKS] = {false, true, true, false};
    char run[256], store[256];
    struct error error = {0};
    struct loss loss = {.everybody = bytes % 2 == 0, .rank = rank, .ranks = RANKS};
    if (strcmp(folder + sizeof folder - 7, "XXXXXX") == 0) {
        fuzz_check(mkdtemp(folder) != NULL);
        atexit(remove_folder);
    }
    make_store();
    snprintf(run, sizeof run, "%s", below("run"));
    snprintf(store, sizeof store, "%s", below("store"));
    fuzz_check(journal_open(&journal, run, store, &error) == OK);
    put_journal(data, bytes);
    enum error_code code = power_failure_apply(&journal, &loss, &error);
    fuzz_check_error(code, &error);
    check_watched();
    remove_folder();
    return 0;
}
