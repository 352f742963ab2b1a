/* The parts of runtime.h that are not on the fast path. Must not know: MPI headers. */
#include "injectors/record/runtime.h"

#include "injectors/record/schedule.h"

#include <string.h>
#include <unistd.h>

__thread struct thread_state thread_state __attribute__((tls_model("initial-exec")));
const struct watcher *watcher;
const struct schedule *schedule;
_Atomic bool runtime_watching;
_Atomic bool runtime_steering;
_Atomic bool runtime_carrying;
_Atomic bool runtime_only_delays;
int runtime_recording;
bool runtime_several_threads;
bool runtime_is_nobody;
struct trace_writer runtime_trace;

static struct board_slot nobody;
struct board_slot *runtime_slot = &nobody;

void runtime_thread_begin(void)
{
    static _Atomic uint32_t numbers;
    uint32_t number = atomic_fetch_add(&numbers, 1);
    thread_state.number = (uint16_t)(number < UINT16_MAX ? number : UINT16_MAX);
    thread_state.tid = gettid();
    if (number > 0)
        trace_writer_shared(&runtime_trace);
    thread_state.known = true;
}

/* The stand-in while the trace is full. */
static struct record *record_scratch(void)
{
    atomic_store_explicit(&runtime_slot->lost, 1, memory_order_relaxed);
    memset(&thread_state.scratch, 0, sizeof thread_state.scratch);
    return &thread_state.scratch;
}

struct record *record_reserve_beyond(uint64_t index)
{
    struct record *r = trace_reserve_beyond(&runtime_trace, index, 1);
    return r != NULL ? r : record_scratch();
}

void record_end_watched(struct record *r, int error_class)
{
    watcher->returned(r);
    r->error = record_error(error_class);
    atomic_store_explicit(&r->leave, record_return_ticks(r), memory_order_release);
    watcher->after(r);
}

void record_end_at(struct record *r, int error_class, uint64_t ticks)
{
    if (runtime_watching)
        watcher->returned(r);
    r->error = record_error(error_class);
    atomic_store_explicit(&r->leave, ticks, memory_order_release);
    if (runtime_watching)
        watcher->after(r);
}

/* --- names after records --------------------------------------------------------------------- */
static unsigned rows_for(size_t length)
{
    return (unsigned)((length + RECORD_TEXT_BYTES - 1) / RECORD_TEXT_BYTES);
}

static void put_text(struct record *r, const char *text, size_t length)
{
    for (unsigned i = rows_for(length); i > 0; i--) {
        r[i].level = LEVEL_SELF;
        r[i].thread = thread_state.number;
        size_t from = (size_t)(i - 1) * RECORD_TEXT_BYTES;
        size_t piece = length - from < RECORD_TEXT_BYTES ? length - from : RECORD_TEXT_BYTES;
        memcpy(r[i].text, text + from, piece);
        atomic_store_explicit(&r[i].kind, RECORD_TEXT, memory_order_release);
    }
}

struct record *record_reserve_named(enum level level, enum record_kind kind, const char *text,
                                    size_t length)
{
    struct record *r = record_reserve_row(level, kind, CALL_NONE, 1 + rows_for(length));
    if (r == NULL)
        return record_scratch();
    put_text(r, text, length);
    return r;
}

void record_name(const struct record *r, char name[RECORD_NAME_BYTES])
{
    unsigned rows = r == &thread_state.scratch ? 0 : RECORD_NAME_BYTES / RECORD_TEXT_BYTES;
    for (unsigned i = 0; i < rows; i++, name += RECORD_TEXT_BYTES) {
        if (atomic_load_explicit(&r[i + 1].kind, memory_order_relaxed) != RECORD_TEXT)
            break;
        memcpy(name, r[i + 1].text, RECORD_TEXT_BYTES);
    }
    *name = '\0';
}

/* --- polls ------------------------------------------------------------------------------------ */
static bool asks_the_same(const struct record *a, const struct record *b)
{
    return a->level == b->level && a->call == b->call && a->comm == b->comm && a->tag == b->tag &&
           a->request == b->request && a->want_peer == b->want_peer && a->want_tag == b->want_tag &&
           a->error == b->error;
}

static bool is_going_on(const struct poll_run *run)
{
    return run->record != NULL && run->recorded == thread_state.recorded;
}

/* The run that `r` goes on with, or a place for it to begin. Places are searched one after the
 * other, so that polls that take turns do not end each other's runs; all are free again when
 * something else has been recorded. */
static struct poll_run *find_run(const struct record *r)
{
    uint64_t mixed = r->level + 2u * r->call + UINT64_C(0x9e3779b97f4a7c15) * r->request +
                     UINT64_C(0xc2b2ae3d27d4eb4f) * (uint32_t)r->want_peer +
                     UINT64_C(0x165667b19e3779f9) * (uint32_t)r->want_tag + r->comm;
    mixed = (mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    for (unsigned i = 0; i < RUNTIME_POLLS; i++) {
        struct poll_run *run = &thread_state.run[(mixed + i) % RUNTIME_POLLS];
        if (!is_going_on(run) || asks_the_same(run->record, r))
            return run;
    }
    return &thread_state.run[mixed % RUNTIME_POLLS];
}

/* A record of the trace with the contents of a poll, complete but for `leave`, and its text. */
static struct record *store_poll(const struct record *r, const char *text, size_t length)
{
    struct record *stored = trace_reserve(&runtime_trace, 1 + rows_for(length));
    if (stored == NULL)
        stored = record_scratch();
    else
        put_text(stored, text, length);
    stored->level = r->level;
    stored->call = r->call;
    stored->flags = r->flags;
    stored->error = r->error;
    stored->thread = r->thread;
    stored->enter = r->enter;
    memcpy(&stored->comm, &r->comm, sizeof *r - offsetof(struct record, comm));
    return stored;
}

static void publish_poll(struct record *stored, const struct record *r, uint64_t leave)
{
    atomic_store_explicit(&stored->leave, leave, memory_order_relaxed);
    atomic_store_explicit(&stored->kind, atomic_load_explicit(&r->kind, memory_order_relaxed),
                          memory_order_release);
}

/* Rows of the trace that are no sign of progress: the notes of drawn values, and the records of
 * polls that say no directly after such a note. */
static _Atomic uint64_t rows_in_vain;

void runtime_drew(size_t name_length)
{
    thread_state.drew = thread_state.recorded;
    atomic_fetch_add_explicit(&rows_in_vain, 1 + rows_for(name_length), memory_order_relaxed);
}

static struct record *count_negative(struct record *r, uint64_t leave, const char *text,
                                     size_t length)
{
    struct poll_run *run = find_run(r);
    if (is_going_on(run) && asks_the_same(run->record, r)) {
        run->record->bytes++;
        atomic_store_explicit(&run->record->leave, leave, memory_order_release);
        return run->record;
    }
    r->bytes = 1;
    if (thread_state.drew == thread_state.recorded)
        atomic_fetch_add_explicit(&rows_in_vain, 1 + rows_for(length), memory_order_relaxed);
    struct record *stored = store_poll(r, text, length);
    publish_poll(stored, r, leave);
    run->record = stored == &thread_state.scratch ? NULL : stored;
    run->recorded = thread_state.recorded;
    return stored;
}

/* Of two threads that count at once one may count for both: polls are only to go on. */
void runtime_polled_in_vain(void)
{
    uint64_t polls = atomic_load_explicit(&runtime_slot->polls, memory_order_relaxed);
    uint64_t rows = atomic_load_explicit(&runtime_trace.header->next, memory_order_relaxed) -
                    atomic_load_explicit(&rows_in_vain, memory_order_relaxed);
    atomic_store_explicit(&runtime_slot->polled_at, rows, memory_order_relaxed);
    atomic_store_explicit(&runtime_slot->polls, polls + 1, memory_order_release);
}

struct record *record_poll_end(struct record *r, int error_class)
{
    struct record *stored;
    if (__builtin_expect(runtime_watching, 0))
        watcher->returned(r);
    r->error = record_error(error_class);
    uint64_t leave = record_return_ticks(r);
    if (r->flags & FLAG_NEGATIVE) {
        stored = count_negative(r, leave, NULL, 0);
    } else {
        thread_state.recorded++;
        stored = store_poll(r, NULL, 0);
        publish_poll(stored, r, leave);
    }
    if (stored->flags & FLAG_NEGATIVE)
        runtime_polled_in_vain();
    if (__builtin_expect(runtime_watching, 0)) {
        watcher->polled(stored);
        watcher->after(stored);
    }
    return stored;
}

struct record *record_poll_named(struct record *r, uint64_t leave, const char *text, size_t length)
{
    struct record *stored = count_negative(r, leave, text, length);
    if (runtime_watching)
        watcher->polled(stored);
    return stored;
}
