/* See log.h. */
#include "c3/log.h"

#include "common/base/durable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIND_LOG "FLC3LOG"
#define NAME_ROOM 64 /* bytes that the file's name adds to the folder's */
#define FIRST_ROOM 4096

static struct {
    char *bytes;
    uint64_t used;
    uint64_t room;
    uint64_t last; /* offset of the last entry */
} kept;

uint64_t log_padded(uint64_t data_bytes)
{
    return (data_bytes + LOG_ALIGNMENT - 1) / LOG_ALIGNMENT * LOG_ALIGNMENT;
}

void log_clear(void)
{
    free(kept.bytes);
    memset(&kept, 0, sizeof kept);
}

static void make_room(uint64_t more)
{
    uint64_t room = kept.room ? kept.room : FIRST_ROOM;
    while (room - kept.used < more)
        room *= 2;
    if (room == kept.room)
        return;
    kept.bytes = larger(kept.bytes, room);
    kept.room = room;
}

/* Is it the "no" that was said last? */
static bool repeats(const struct log_entry *entry)
{
    struct log_entry last;
    if (kept.used == 0 || entry->positive || entry->kind < LOG_TEST)
        return false;
    memcpy(&last, kept.bytes + kept.last, sizeof last);
    last.number = entry->number;
    return memcmp(&last, entry, sizeof last) == 0;
}

void log_append(const struct log_entry *entry, const void *data)
{
    if (repeats(entry)) {
        uint64_t *number =
            (uint64_t *)(void *)(kept.bytes + kept.last + offsetof(struct log_entry, number));
        ++*number;
        return;
    }
    uint64_t padded = log_padded(entry->data_bytes);
    make_room(sizeof *entry + padded);
    kept.last = kept.used;
    memcpy(kept.bytes + kept.used, entry, sizeof *entry);
    kept.used += sizeof *entry;
    memset(kept.bytes + kept.used, 0, padded);
    if (entry->data_bytes > 0)
        memcpy(kept.bytes + kept.used, data, entry->data_bytes);
    kept.used += padded;
}

static void path_of(uint64_t line, char *path)
{
    snprintf(path, PATH_MAX, "%.*s/log-%" PRIu64 ".rank-%d", PATH_MAX - NAME_ROOM,
             self.store.folder, line, self.rank);
}

/* In two halves, so that a scenario can strike in between. */
static enum error_code write_entries(struct durable_file *file, struct error *error)
{
    uint64_t half = kept.used / 2;
    enum error_code code = half ? durable_write(file, kept.bytes, half, error) : OK;
    phase("mid-log-write");
    if (code == OK && kept.used > half)
        code = durable_write(file, kept.bytes + half, kept.used - half, error);
    return code;
}

void log_save(uint64_t line)
{
    char path[PATH_MAX];
    struct error error;
    struct durable_file file;
    struct log_head head = {.line = line, .rank = self.rank, .ranks = self.ranks};
    path_of(line, path);
    phase("before-log-write");
    must(durable_create(&file, path, KIND_LOG, sizeof head + kept.used, &error), &error);
    must(durable_write(&file, &head, sizeof head, &error), &error);
    must(write_entries(&file, &error), &error);
    phase("before-log-sync");
    must(durable_finish(&file, &error), &error);
    phase("before-log-rename");
    must(durable_publish(&file, &error), &error);
    phase("after-log-rename");
}

void *log_load(uint64_t line, const char **entries, uint64_t *bytes)
{
    char path[PATH_MAX];
    struct error error;
    struct log_head head = {0};
    void *content;
    path_of(line, path);
    must(durable_read(path, KIND_LOG, &content, bytes, &error), &error);
    if (*bytes >= sizeof head)
        memcpy(&head, content, sizeof head);
    if (head.line != line || head.rank != self.rank || head.ranks != self.ranks)
        die("%s: foreign: not the log of line %" PRIu64 ", rank %d of %d", path, line, self.rank,
            self.ranks);
    *entries = (const char *)content + sizeof head;
    *bytes -= sizeof head;
    return content;
}

void log_remove(uint64_t line)
{
    char path[PATH_MAX];
    path_of(line, path);
    unlink(path);
}
