/* The trace writer: what is on disk after a kill, on a full disk, and when the process ends while
 * other threads record. */
#include "trace/writer.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define KILLS 200
#define FILE_LIMIT_BYTES 700000

static char folder[] = "/tmp/faultline-writer-XXXXXX";
static char path[64];

static struct trace_header header_for_test(void)
{
    struct trace_header header;
    memset(&header, 0, sizeof header);
    header.rank = 3;
    header.incarnation = 2;
    header.ranks = 4;
    header.ticks_per_second = 1e9;
    atomic_store(&header.next, 77); /* a counter: must not be taken over */
    return header;
}

static enum error_code open_new(struct trace_writer *writer, struct error *error)
{
    struct trace_header header = header_for_test();
    unlink(path);
    return trace_writer_open(writer, path, &header, error);
}

/* The file as a reader finds it. */
struct file {
    const struct trace_header *header;
    const struct record *record;
    uint64_t there; /* records that the file has room for */
    size_t bytes;
};

static bool map_file(struct file *file)
{
    struct stat facts;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &facts) != 0 ||
        facts.st_size < (off_t)TRACE_HEADER_BYTES)
        return false;
    file->bytes = (size_t)facts.st_size;
    void *memory = mmap(NULL, file->bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    file->header = memory;
    file->record = (const struct record *)((const char *)memory + TRACE_HEADER_BYTES);
    file->there = (file->bytes - TRACE_HEADER_BYTES) / TRACE_RECORD_BYTES;
    return memory != MAP_FAILED;
}

/* --- contents that say whether they are whole ------------------------------------------------- */
static uint64_t mix(uint64_t value)
{
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

static void write_record(struct record *r, uint16_t thread, uint64_t number)
{
    r->level = LEVEL_WIRE;
    r->thread = thread;
    r->enter = number + 1;
    r->bytes = number;
    r->hash = mix(number);
    r->result_hash = mix(number + thread);
    atomic_store_explicit(&r->kind, RECORD_CALL, memory_order_release);
    r->comm = (uint32_t)mix(number);
    atomic_store_explicit(&r->leave, number + 2, memory_order_release);
}

/* Whole as far as it was published: complete, or in progress. */
static bool is_whole(const struct record *r)
{
    return r->enter == r->bytes + 1 && r->hash == mix(r->bytes) &&
           r->result_hash == mix(r->bytes + r->thread) &&
           (r->leave == 0 || (r->leave == r->enter + 1 && r->comm == (uint32_t)mix(r->bytes)));
}

struct appender {
    struct trace_writer *writer;
    uint16_t thread;
    uint64_t count; /* records to write; UINT64_MAX: until killed or refused */
    uint64_t written;
};

static _Atomic unsigned started;

static void *append(void *argument)
{
    struct appender *a = argument;
    atomic_fetch_add(&started, 1);
    while (atomic_load(&started) % THREADS != 0) /* all at once, or nothing is shown */
        sched_yield();
    for (; a->written < a->count; a->written++) {
        struct record *r = trace_reserve(a->writer, 1);
        if (r == NULL)
            break;
        write_record(r, a->thread, a->written);
    }
    return NULL;
}

/* Starts THREADS appenders; the caller joins them. */
static void start(struct trace_writer *writer, struct appender *a, pthread_t *id, uint64_t count)
{
    for (uint16_t i = 0; i < THREADS; i++) {
        a[i] = (struct appender){writer, i, count, 0};
        pthread_create(&id[i], NULL, append, &a[i]);
    }
}

/* --- the tests -------------------------------------------------------------------------------- */
static void test_open(void)
{
    struct trace_writer writer;
    struct trace_header header = header_for_test();
    struct error error;
    check(open_new(&writer, &error) == OK, "a trace is created");
    check(memcmp(writer.header->magic, TRACE_MAGIC, 8) == 0 &&
              writer.header->version == TRACE_VERSION &&
              writer.header->record_bytes == TRACE_RECORD_BYTES,
          "its header says what it is");
    check(writer.header->rank == 3 && writer.header->incarnation == 2 && writer.header->ranks == 4,
          "the given header is taken over");
    check(atomic_load(&writer.header->next) == 0, "but not its counters");
    check(atomic_load(&writer.header->closed) == 0,
          "it is not closed: a rank that dies now has not ended in order");
    struct trace_writer second;
    check(trace_writer_open(&second, path, &header, &error) == ERROR_IO &&
              strstr(error.text, path) != NULL,
          "an existing trace is not touched: %s", error.text);
    check(trace_reserve(&second, 1) == NULL, "a writer that is not open gives no records");
    trace_writer_close(&second);
    check(access(path, F_OK) == 0, "the existing trace is still there");
    trace_writer_close(&writer);
}

static void test_growth(void)
{
    const uint64_t each = 150000;
    struct trace_writer writer;
    struct appender a[THREADS];
    pthread_t id[THREADS];
    struct file file;
    open_new(&writer, NULL);
    struct record *row = trace_reserve(&writer, 5);
    check(row == writer.record && atomic_load(&writer.header->next) == 5,
          "several records are in a row");
    for (unsigned i = 0; i < 5; i++)
        write_record(&row[i], 0, i);
    start(&writer, a, id, each);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    trace_writer_close(&writer);
    uint64_t whole = 0;
    bool mapped = map_file(&file);
    for (uint64_t i = 0; mapped && i < file.there; i++)
        whole += atomic_load(&file.record[i].kind) == RECORD_CALL && is_whole(&file.record[i]);
    check(mapped && file.there == THREADS * each + 5 && file.bytes > TRACE_CHUNK_MAX_BYTES,
          "a closed file is as long as its records, over several chunks");
    check(whole == THREADS * each + 5, "every record is whole");
    check(atomic_load(&file.header->closed) == 1 && atomic_load(&file.header->lost) == 0,
          "it is marked closed, nothing is lost");
    check(trace_reserve(&writer, 1) == NULL && atomic_load(&file.header->lost) == 0 &&
              atomic_load(&file.header->next) == file.there,
          "a record after the end is refused and not counted");
}

/* In the child: records until the parent kills it. */
static void record_until_killed(int ready)
{
    struct trace_writer writer;
    struct appender a[THREADS];
    pthread_t id[THREADS];
    if (open_new(&writer, NULL) != OK || write(ready, "x", 1) != 1)
        _exit(1);
    start(&writer, a, id, UINT64_MAX);
    for (;;)
        pause();
}

struct killed {
    uint64_t records, torn, open, broken, roomless;
};

/* Kills a recording process after `delay_us` and adds up what its trace looks like. */
static bool kill_one(unsigned delay_us, struct killed *sum)
{
    int ready[2];
    int status;
    char byte;
    struct file file;
    if (pipe(ready) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        record_until_killed(ready[1]);
    close(ready[1]);
    bool good = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    usleep(delay_us);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (!good || !WIFSIGNALED(status) || !map_file(&file))
        return false;
    uint64_t next = atomic_load(&file.header->next);
    uint64_t torn = 0, unfinished = 0;
    /* Beyond the file: reserved by a thread that waited for room; never written. */
    for (uint64_t i = 0; i < next && i < file.there; i++) {
        const struct record *r = &file.record[i];
        if (atomic_load(&r->kind) == RECORD_NONE)
            torn++;
        else if (!is_whole(r))
            sum->broken++;
        else if (atomic_load(&r->leave) == 0)
            unfinished++;
    }
    if (next > file.there)
        torn += next - file.there;
    uint64_t room = atomic_load(&file.header->room);
    sum->roomless += room == 0 || file.there < room;
    munmap((void *)(uintptr_t)file.header, file.bytes);
    sum->records += next;
    sum->torn = torn > sum->torn ? torn : sum->torn;
    sum->open = unfinished > sum->open ? unfinished : sum->open;
    return true;
}

static void test_kill(void)
{
    struct killed sum = {0, 0, 0, 0, 0};
    unsigned done_rounds = 0;
    unsigned seed = 1;
    for (unsigned i = 0; i < KILLS; i++)
        done_rounds += kill_one((unsigned)rand_r(&seed) % 3000, &sum);
    check(done_rounds == KILLS, "%d recording processes killed", KILLS);
    check(sum.records > KILLS * 100, "they had recorded much (%llu)",
          (unsigned long long)sum.records);
    check(sum.broken == 0, "no published record is damaged");
    check(sum.torn <= THREADS, "at most one record per thread was never published");
    check(sum.open <= THREADS, "at most one record per thread is in progress");
    check(sum.roomless == 0, "the file is as long as it says it was made");
}

/* Fills a trace until nothing more fits. Exit status 0: all as it should be. */
static size_t filled_bytes;

static int fill(void)
{
    struct trace_writer writer;
    struct appender a[THREADS];
    pthread_t id[THREADS];
    struct file file;
    if (open_new(&writer, NULL) != OK)
        return 2;
    start(&writer, a, id, UINT64_MAX);
    uint64_t written = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        written += a[i].written;
    }
    uint64_t lost = atomic_load(&writer.header->lost);
    if (lost != THREADS || atomic_load(&writer.header->next) != written + lost)
        return 3;
    if (trace_reserve(&writer, 2) != NULL || atomic_load(&writer.header->lost) != lost + 2)
        return 4;
    trace_writer_close(&writer);
    if (!map_file(&file) || file.there != written || atomic_load(&file.header->next) != written)
        return 5;
    for (uint64_t i = 0; i < written; i++)
        if (!is_whole(&file.record[i]))
            return 6;
    filled_bytes = file.bytes;
    return written > 1000 ? 0 : 7;
}

static int status_of(int (*function)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(function());
    waitpid(child, &status, 0);
    return status;
}

static int fill_limited(void)
{
    struct rlimit limit = {FILE_LIMIT_BYTES, FILE_LIMIT_BYTES};
    setrlimit(RLIMIT_FSIZE, &limit);
    int status = fill();
    /* The least that a file grows by is a header. */
    return status != 0 || filled_bytes + 2 * TRACE_HEADER_BYTES > FILE_LIMIT_BYTES ? status : 8;
}

#define CANNOT_MOUNT 77

static int fill_small_disk(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=1m") != 0)
        return CANNOT_MOUNT;
    return fill();
}

static void test_full(void)
{
    int status = status_of(fill_limited);
    check(status == 0,
          "beyond the file size limit records are lost and counted, the process lives "
          "(wait status %d)",
          status);
    status = status_of(fill_small_disk);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_MOUNT)
        check(true, "a full disk # SKIP mounting a small file system is not allowed here");
    else
        check(status == 0, "the same on a full disk (wait status %d)", status);
}

/* A signal handler that records while its own thread makes the file grow. */
static void test_interrupted_growth(void)
{
    struct trace_writer writer;
    open_new(&writer, NULL);
    atomic_store(&writer.header->next, atomic_load(&writer.limit));
    atomic_store(&writer.growing, (uint32_t)gettid());
    check(trace_reserve(&writer, 1) == NULL && atomic_load(&writer.header->lost) == 1,
          "a thread does not wait for itself: the record is lost and counted");
    atomic_store(&writer.growing, 0);
    check(trace_reserve(&writer, 1) != NULL, "afterwards the file grows");
    trace_writer_close(&writer);
}

static int told_reason;

static void tell(int reason)
{
    told_reason = told_reason == 0 ? reason : -1;
}

/* Takes the writer's descriptor for a file of its own, records until `records` are refused, and
 * closes. Whether that file is as it was. */
static bool keeps_hands_off(unsigned records, uint32_t *lost)
{
    struct trace_writer writer;
    struct stat before, after;
    char other[] = "/tmp/faultline-precious-XXXXXX";
    open_new(&writer, NULL);
    writer.when_full = tell;
    int file = mkstemp(other);
    bool good = file >= 0 && write(file, "precious\n", 9) == 9 && fstat(file, &before) == 0 &&
                dup2(file, writer.file) == writer.file;
    int taken = writer.file;
    while (records > 0 && good)
        records -= trace_reserve(&writer, 1) == NULL;
    *lost = atomic_load(&writer.header->lost);
    trace_writer_close(&writer);
    good = good && fstat(taken, &after) == 0 && after.st_ino == before.st_ino &&
           after.st_size == before.st_size && after.st_blocks == before.st_blocks;
    close(taken);
    close(file);
    unlink(other);
    return good;
}

static void test_taken_descriptor(void)
{
    uint32_t lost;
    struct trace_writer writer;
    struct file file;
    check(keeps_hands_off(0, &lost) && lost == 0,
          "a file that took over the descriptor is neither cut nor closed");
    check(map_file(&file) && atomic_load(&file.header->closed) == 1,
          "the trace is closed all the same");
    check(keeps_hands_off(3, &lost), "nor written to when the trace should grow");
    check(lost == 3, "what has no room then is counted");
    check(told_reason == EBADF, "and told once, with the reason");
    open_new(&writer, NULL);
    check(writer.file >= TRACE_DESCRIPTOR_MIN, "the descriptor is out of the way (%d)",
          writer.file);
    close(writer.file);
    trace_writer_close(&writer);
    check(map_file(&file) && atomic_load(&file.header->closed) == 1,
          "a descriptor that is gone does not keep the trace from being closed");
}

#define ADDRESS_LIMIT (UINT64_C(3) << 30)

static int open_limited(void)
{
    struct trace_writer writer;
    struct rlimit limit = {ADDRESS_LIMIT, ADDRESS_LIMIT};
    struct rlimit few = {64, 64};
    setrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_NOFILE, &few);
    if (open_new(&writer, NULL) != OK)
        return 2;
    return writer.mapped >= TRACE_RESERVE_MIN_BYTES &&
                   writer.mapped <= ADDRESS_LIMIT / TRACE_RESERVE_PART
               ? 0
               : 1;
}

static void test_limits(void)
{
    check(status_of(open_limited) == 0,
          "of a limited address space little is taken, and few descriptors are enough");
}

static int close_while_recording(void)
{
    struct trace_writer writer;
    struct appender a[THREADS];
    pthread_t id[THREADS];
    struct file file;
    open_new(&writer, NULL);
    start(&writer, a, id, UINT64_MAX);
    while (atomic_load(&writer.header->next) < 20000)
        sched_yield();
    trace_writer_close(&writer);
    uint64_t written = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        written += a[i].written;
    }
    return map_file(&file) && file.there >= written && file.there <= written + THREADS ? 0 : 1;
}

static void test_close(void)
{
    int failed = 0;
    for (unsigned i = 0; i < 50; i++)
        failed += status_of(close_while_recording) != 0;
    check(failed == 0, "closed 50 times while threads record: none dies, no record is cut off");
}

/* --- a thread that is alone ------------------------------------------------------------------- */
#define ALONE_ROUNDS 300
#define LATER_RECORDS 500
#define ALARM_US 50

static struct trace_writer *interrupted;
static _Atomic uint64_t by_handler;
static _Atomic bool later_is_done;

static void reserve_in_handler(int number)
{
    (void)number;
    trace_take_places(interrupted, 1);
    atomic_fetch_add(&by_handler, 1);
}

static void *reserve_later(void *argument)
{
    struct trace_writer *writer = argument;
    trace_writer_shared(writer);
    for (int i = 0; i < LATER_RECORDS; i++)
        trace_take_places(writer, 1);
    atomic_store(&later_is_done, true);
    return NULL;
}

/* What is counted twice or not at all shows in the sum. */
static bool sum_is_right(struct trace_writer *writer)
{
    const struct itimerval alarms = {{0, ALARM_US}, {0, ALARM_US}};
    pthread_t later;
    sigset_t alarm_only, before_mask;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    uint64_t before = atomic_load(&writer->header->next), own = 0;
    atomic_store(&by_handler, 0);
    atomic_store(&later_is_done, false);
    trace_writer_alone(writer);
    bool was_alone = atomic_load(&writer->alone);
    pthread_sigmask(SIG_BLOCK, &alarm_only, &before_mask); /* for the thread that is made */
    pthread_create(&later, NULL, reserve_later, writer);
    pthread_sigmask(SIG_SETMASK, &before_mask, NULL);
    setitimer(ITIMER_REAL, &alarms, NULL);
    for (; !atomic_load(&later_is_done); own += 3)
        trace_take_places(writer, 3);
    pthread_join(later, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    return was_alone && !atomic_load(&writer->alone) &&
           atomic_load(&writer->header->next) - before ==
               own + LATER_RECORDS + atomic_load(&by_handler);
}

static void *append_alone(void *argument)
{
    struct appender *a = argument;
    trace_writer_alone(a->writer);
    for (struct record *r; (r = trace_reserve(a->writer, 1)) != NULL; a->written++)
        write_record(r, a->thread, a->written);
    return NULL;
}

static int close_while_one_records(void)
{
    struct trace_writer writer;
    struct appender a = {.writer = &writer};
    pthread_t id;
    struct file file;
    open_new(&writer, NULL);
    pthread_create(&id, NULL, append_alone, &a);
    while (atomic_load(&writer.header->next) < 5000)
        sched_yield();
    trace_writer_close(&writer);
    pthread_join(id, NULL);
    return map_file(&file) && file.there >= a.written && file.there <= a.written + 1 ? 0 : 1;
}

static void test_alone(void)
{
    int cut = 0;
    for (int i = 0; i < 50; i++)
        cut += status_of(close_while_one_records) != 0;
    check(cut == 0, "closed 50 times while the one that is alone records: no record is cut off");

    static struct trace_writer writer;
    int wrong = 0;
    open_new(&writer, NULL);
    interrupted = &writer;
    signal(SIGALRM, reserve_in_handler);
    for (int round = 0; round < ALONE_ROUNDS; round++)
        wrong += !sum_is_right(&writer);
    signal(SIGALRM, SIG_DFL);
    check(wrong == 0,
          "a thread that is alone, its signal handler and one that comes later lose "
          "no place: %d rounds wrong",
          wrong);
    trace_writer_close(&writer);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/r3.2.trace", folder);
    test_limits(); /* first: the traces of other tests stay mapped */
    test_open();
    test_growth();
    test_kill();
    test_full();
    test_interrupted_growth();
    test_taken_descriptor();
    test_close();
    test_alone();
    unlink(path);
    rmdir(folder);
    return done();
}
