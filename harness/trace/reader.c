/* Reads trace files by mapping them. A file may still be written to while it is read: what is
 * counted is what was reserved when it was opened. Must not know: what the records mean. */
#include "trace/reader.h"

#include "base/memory.h"
#include "base/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define TRACE_SUFFIX ".trace"

static enum error_code check_header(const char *path, const struct trace_header *header,
                                    struct error *error)
{
    if (memcmp(header->magic, TRACE_MAGIC, sizeof header->magic) != 0)
        return error_set(error, ERROR_FORMAT,
                         "%s: not a Faultline trace (it does not begin with %s)", path,
                         TRACE_MAGIC);
    if (header->version != TRACE_VERSION)
        return error_set(error, ERROR_VERSION,
                         "%s: trace of version %u; this Faultline reads version %u", path,
                         header->version, TRACE_VERSION);
    if (header->record_bytes != TRACE_RECORD_BYTES)
        return error_set(error, ERROR_FORMAT, "%s: records of %u bytes; version %u has %u", path,
                         header->record_bytes, TRACE_VERSION, TRACE_RECORD_BYTES);
    if (header->ranks < 1 || header->ranks > TRACE_MAX_RANKS)
        return error_set(error, ERROR_FORMAT,
                         "%s: damaged header: of %d ranks; must be of 1 to %d ranks", path,
                         header->ranks, TRACE_MAX_RANKS);
    if (header->rank < 0 || header->rank >= TRACE_MAX_RANKS)
        return error_set(error, ERROR_FORMAT, "%s: damaged header: rank %d; must be 0 to %d", path,
                         header->rank, TRACE_MAX_RANKS - 1);
    if (header->incarnation < 0 || header->incarnation >= TRACE_MAX_INCARNATIONS)
        return error_set(error, ERROR_FORMAT, "%s: damaged header: incarnation %d; must be 0 to %d",
                         path, header->incarnation, TRACE_MAX_INCARNATIONS - 1);
    if (!(header->ticks_per_second > 0 && header->ticks_per_second <= TRACE_MAX_TICKS_PER_SECOND))
        return error_set(error, ERROR_FORMAT,
                         "%s: %g ticks per second; must be above 0 and at most %g", path,
                         header->ticks_per_second, TRACE_MAX_TICKS_PER_SECOND);
    return OK;
}

/* Maps an open file. The mapping does not need the descriptor afterwards. */
static enum error_code map_file(int file, const char *path, struct trace *trace,
                                struct error *error)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    if (status.st_size == 0)
        return error_set(error, ERROR_FORMAT, "%s: empty; a trace begins with %u bytes of header",
                         path, TRACE_HEADER_BYTES);
    size_t bytes = (size_t)status.st_size;
    char magic[sizeof TRACE_MAGIC] = "";
    ssize_t got = pread(file, magic, sizeof magic, 0);
    if (got < (ssize_t)sizeof magic || memcmp(magic, TRACE_MAGIC, sizeof magic) != 0)
        return error_set(error, ERROR_FORMAT,
                         "%s: not a Faultline trace (it does not begin with %s)", path,
                         TRACE_MAGIC);
    if (bytes < TRACE_HEADER_BYTES)
        return error_set(error, ERROR_FORMAT, "%s: cut within its header (%zu of %u bytes)", path,
                         bytes, TRACE_HEADER_BYTES);
    void *start = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (start == MAP_FAILED)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    trace->header = start;
    trace->mapped = bytes;
    return OK;
}

void trace_detach_end(struct trace *trace)
{
    if (trace->count == 0)
        return;
    const struct record *last = &trace->record[trace->count - 1];
    if (atomic_load_explicit(&last->kind, memory_order_acquire) != RECORD_END)
        return;
    trace->end = last;
    trace->count--;
}

enum error_code trace_open(const char *path, struct trace *trace, struct error *error)
{
    memset(trace, 0, sizeof *trace);
    int file;
    enum error_code code = regular_open(path, LINKS_FOLLOWED, REGULAR_ANY, &file, error);
    if (code != OK)
        return code;
    code = map_file(file, path, trace, error);
    close(file);
    if (code == OK)
        code = check_header(path, trace->header, error);
    if (code != OK) {
        trace_close(trace);
        return code;
    }
    uint64_t room = (trace->mapped - TRACE_HEADER_BYTES) / TRACE_RECORD_BYTES;
    uint64_t reserved = atomic_load_explicit(&trace->header->next, memory_order_acquire);
    trace->rank = trace->header->rank;
    trace->incarnation = trace->header->incarnation;
    trace->count = reserved < room ? reserved : room;
    trace->record = (const void *)((const char *)trace->header + TRACE_HEADER_BYTES);
    trace_detach_end(trace);
    madvise((void *)(uintptr_t)trace->header, trace->mapped, MADV_SEQUENTIAL);
    return OK;
}

void trace_close(struct trace *trace)
{
    void *start = (void *)(uintptr_t)trace->header;
    if (trace->mapped > 0)
        munmap(start, trace->mapped);
    else
        free(start);
    memset(trace, 0, sizeof *trace);
}

static int by_incarnation_then_rank(const void *left, const void *right)
{
    const struct trace *a = left;
    const struct trace *b = right;
    if (a->incarnation != b->incarnation)
        return a->incarnation < b->incarnation ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

enum error_code trace_set_finish(const char *where, struct trace_set *set, struct error *error)
{
    qsort(set->trace, set->count, sizeof *set->trace, by_incarnation_then_rank);
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        if (i > 0 && by_incarnation_then_rank(trace - 1, trace) == 0)
            return error_set(error, ERROR_FORMAT, "%s: two traces of rank %d, incarnation %d",
                             where, trace->rank, trace->incarnation);
        if (trace->header->ranks > set->ranks)
            set->ranks = trace->header->ranks;
        if (trace->header->ranks > set->world)
            set->world = trace->header->ranks;
        if (trace->rank >= set->ranks)
            set->ranks = trace->rank + 1;
        if (trace->incarnation >= set->incarnations)
            set->incarnations = trace->incarnation + 1;
    }
    return OK;
}

static bool is_trace_name(const char *name)
{
    size_t length = strlen(name);
    size_t suffix = sizeof TRACE_SUFFIX - 1;
    return length > suffix && strcmp(name + length - suffix, TRACE_SUFFIX) == 0;
}

/* A rank that dies while it makes its trace leaves a file without a header, empty or of zeros. */
static bool never_began(const char *path)
{
    static const char zeros[TRACE_HEADER_BYTES + TRACE_RECORD_BYTES];
    char start[sizeof zeros];
    int file;
    (void)regular_open(path, LINKS_FOLLOWED, REGULAR_ANY, &file, NULL);
    ssize_t got = file < 0 ? -1 : pread(file, start, sizeof start, 0);
    if (file >= 0)
        close(file);
    return got >= 0 && memcmp(start, zeros, (size_t)got) == 0;
}

static enum error_code add_file(const char *folder, const char *name, struct trace_set *set,
                                struct error *error)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return error_set(error, ERROR_LIMIT, "%s/%s: path longer than %d bytes", folder, name,
                         PATH_BYTES - 1);
    if (never_began(path))
        return OK;
    set->trace = memory_resized(set->trace, set->count + 1, sizeof *set->trace);
    enum error_code code = trace_open(path, &set->trace[set->count], error);
    if (code == OK)
        set->count++;
    return code;
}

enum error_code trace_set_open(const char *folder, struct trace_set *set, struct error *error)
{
    memset(set, 0, sizeof *set);
    DIR *directory = opendir(folder);
    if (directory == NULL && errno == ENOMEM)
        memory_refused();
    if (directory == NULL)
        return error_set(error, ERROR_IO, "%s: %s", folder, strerror(errno));
    enum error_code code = OK;
    struct dirent *entry;
    while (code == OK && (entry = readdir(directory)) != NULL)
        if (is_trace_name(entry->d_name))
            code = add_file(folder, entry->d_name, set, error);
    closedir(directory);
    if (code == OK && set->count == 0)
        code = error_set(error, ERROR_FORMAT, "%s: no trace in it (files named *%s)", folder,
                         TRACE_SUFFIX);
    if (code == OK)
        code = trace_set_finish(folder, set, error);
    if (code != OK)
        trace_set_release(set);
    return code;
}

enum error_code trace_set_open_run(const char *folder, struct trace_set *set, struct error *error)
{
    char path[PATH_BYTES];
    memset(set, 0, sizeof *set);
    if (snprintf(path, sizeof path, "%s/trace", folder) >= (int)sizeof path)
        return error_set(error, ERROR_LIMIT, "%.200s...: path longer than %d bytes", folder,
                         PATH_BYTES - 1);
    return trace_set_open(path, set, error);
}

void trace_set_release(struct trace_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        trace_close(&set->trace[i]);
    free(set->trace);
    memset(set, 0, sizeof *set);
}

const struct trace *trace_set_find(const struct trace_set *set, int rank, int incarnation)
{
    struct trace key = {.rank = rank, .incarnation = incarnation};
    if (set->count == 0)
        return NULL;
    return bsearch(&key, set->trace, set->count, sizeof key, by_incarnation_then_rank);
}

int trace_set_world(const struct trace_set *set, int incarnation)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->trace[i].incarnation == incarnation)
            return set->trace[i].header->ranks;
    return 0;
}

int trace_set_resized(const struct trace_set *set)
{
    for (size_t i = 1; i < set->count; i++)
        if (set->trace[i].header->ranks != set->trace[i - 1].header->ranks)
            return set->trace[i].incarnation;
    return 0;
}

bool trace_set_is_helper(const struct trace_set *set, int rank)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->trace[i].rank == rank && set->trace[i].header->helper)
            return true;
    return false;
}

uint64_t trace_ns(const struct trace_set *set, uint64_t ticks)
{
    if (set->count == 0)
        return 0;
    uint64_t start = set->trace[0].header->start_ticks;
    for (size_t i = 1; i < set->count; i++)
        if (set->trace[i].header->start_ticks < start)
            start = set->trace[i].header->start_ticks;
    if (ticks <= start)
        return 0;
    double ns = (double)(ticks - start) * 1e9 / set->trace[0].header->ticks_per_second;
    return ns >= 0 && ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

void trace_text(const struct trace *trace, uint64_t index, char *buffer, size_t bytes)
{
    size_t used = 0;
    for (uint64_t at = index + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        if (atomic_load_explicit(&record->kind, memory_order_acquire) != RECORD_TEXT)
            break;
        size_t length = strnlen(record->text, RECORD_TEXT_BYTES);
        if (used + length >= bytes)
            length = bytes > used + 1 ? bytes - used - 1 : 0;
        memcpy(buffer + used, record->text, length);
        used += length;
    }
    if (bytes > 0)
        buffer[used] = '\0';
}

uint64_t trace_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

double trace_number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

double trace_number(const struct record *note)
{
    return trace_number_of(note->hash);
}

double trace_tolerance(const struct record *note)
{
    return trace_number_of(note->bytes);
}
