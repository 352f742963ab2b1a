/* What a protocol or program notes through faultline.h. The functions below are what its weak
 * references find. Must not know: MPI headers. */
#include "injectors/record/hash.h"
#include "injectors/record/lives.h"
#include "injectors/record/runtime.h"
#include "injectors/record/schedule.h"

#include <string.h>

/* A longer name is cut. */
#define NOTE_NAME_RECORDS 4
#define NOTE_NAME_MAX (NOTE_NAME_RECORDS * RECORD_TEXT_BYTES)

#define NOBODY UINT64_MAX /* FAULTLINE_NO_RANK */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void faultline_note(int kind, uint64_t value, const char *name, const void *data,
                             size_t bytes);
EXPORTED void faultline_draw(const char *name, void *data, size_t bytes);
EXPORTED void faultline_handle(int what, uint64_t handle, uint64_t stands_for);

EXPORTED void faultline_message(int kind, uint64_t line, uint64_t comm, int peer, int tag,
                                const void *data, size_t bytes);

struct faultline_number;
EXPORTED void faultline_numbered(int kind, const struct faultline_number *number);

EXPORTED void faultline_group(uint64_t comm, const int *world, int size, int rank);

struct faultline_request;
EXPORTED void faultline_request(const struct faultline_request *request);

/* Of the taps; absent where this file is used without them. */
void tap_handle_alias(int what, uint64_t handle, uint64_t stands_for) __attribute__((weak));
void tap_handle_members(uint64_t handle, const int *world, int size, int rank)
    __attribute__((weak));
void tap_request_back(const struct faultline_request *request) __attribute__((weak));
void tap_message_noted(struct record *note, uint64_t comm, int peer, const void *data, size_t bytes)
    __attribute__((weak));
void tap_number_noted(struct record *note, const struct faultline_number *number)
    __attribute__((weak));

/* Puts the note at the head of the chain of notes. The chain is whole at any moment: a note becomes
 * reachable only when it is published and knows the one before it. */
static void chain(struct record *note)
{
    _Atomic uint64_t *last = &runtime_trace.header->last_note;
    uint64_t number = (uint64_t)(note - runtime_trace.record) + 1;
    uint64_t before = note->previous_note;
    while (!atomic_compare_exchange_weak(last, &before, number))
        note->previous_note = before;
}

static void publish(struct record *note)
{
    note->enter = clock_ticks();
    note->error = 0;
    note->previous_note = atomic_load(&runtime_trace.header->last_note);
    atomic_store_explicit(&note->leave, note->enter, memory_order_relaxed);
    atomic_store_explicit(&note->kind, RECORD_NOTE, memory_order_release);
    if (note != &thread_state.scratch)
        chain(note);
}

static struct record *reserve(const char *name, size_t length)
{
    return record_reserve_named(LEVEL_SELF, RECORD_NOTE, name, length);
}

void faultline_note(int kind, uint64_t value, const char *name, const void *data, size_t bytes)
{
    if (!runtime_recording)
        return;
    size_t length = name != NULL ? strnlen(name, NOTE_NAME_MAX) : 0;
    struct record *note = reserve(name, length);
    note->tag = kind;
    note->bytes = value;
    if (kind == NOTE_NEAR && data != NULL && bytes == sizeof note->hash)
        memcpy(&note->hash, data, sizeof note->hash);
    else
        note->hash = bytes > 0 && data != NULL ? hash_bytes(data, bytes) : 0;
    publish(note);
    if (kind == NOTE_CHECKPOINT || kind == NOTE_RESTORED)
        atomic_store(&runtime_slot->line, value);
    if (kind == NOTE_STOP_LOG || kind == NOTE_RESTORED)
        atomic_store(&runtime_slot->stopped_line, value);
    if (kind == NOTE_BECOMES) {
        runtime_is_nobody = value == NOBODY;
        atomic_store(&runtime_slot->nobody, runtime_is_nobody);
    }
    if (kind == NOTE_COMMIT && schedule != NULL)
        schedule->committed();
    if (runtime_watching)
        watcher->instant(note, name);
}

/* The bytes lie in the record itself: 8 from `comm` on, the rest in `request`. */
static void keep_drawn(struct record *note, const void *data, size_t bytes)
{
    unsigned char kept[NOTE_DRAWN_BYTES] = {0};
    memcpy(kept, data, bytes);
    memcpy(&note->comm, kept, sizeof note->comm);
    memcpy(&note->peer, kept + 4, sizeof note->peer);
    memcpy(&note->request, kept + 8, sizeof note->request);
}

void faultline_draw(const char *name, void *data, size_t bytes)
{
    if (!runtime_recording || bytes > NOTE_DRAWN_BYTES)
        return;
    if (runtime_watching && watcher->drawn != NULL)
        watcher->drawn(data, bytes);
    size_t length = name != NULL ? strnlen(name, NOTE_NAME_MAX) : 0;
    struct record *note = reserve(name, length);
    note->tag = NOTE_DRAWN;
    note->bytes = bytes;
    keep_drawn(note, data, bytes);
    publish(note);
    runtime_drew(length);
    if (runtime_watching)
        watcher->instant(note, name);
}

void faultline_message(int kind, uint64_t line, uint64_t comm, int peer, int tag, const void *data,
                       size_t bytes)
{
    if (!runtime_recording)
        return;
    struct record *note = reserve(NULL, 0);
    note->tag = kind;
    note->bytes = line;
    note->peer = PEER_UNKNOWN;
    note->request = (uint32_t)tag;
    if (tap_message_noted != NULL)
        tap_message_noted(note, comm, peer, data, bytes);
    publish(note);
    if (runtime_watching)
        watcher->instant(note, NULL);
}

void note_write_learned(int process)
{
    struct record *note = reserve(NULL, 0);
    note->tag = NOTE_LEARNED;
    note->peer = process;
    publish(note);
}

void faultline_numbered(int kind, const struct faultline_number *number)
{
    if (!runtime_recording || tap_number_noted == NULL)
        return;
    struct record *note = reserve(NULL, 0);
    note->tag = kind;
    tap_number_noted(note, number);
    publish(note);
    if (runtime_watching)
        watcher->instant(note, NULL);
}

void faultline_request(const struct faultline_request *request)
{
    if (runtime_recording && tap_request_back != NULL)
        tap_request_back(request);
}

/* Not in the trace: the record of the communicator has them. */
void faultline_group(uint64_t comm, const int *world, int size, int rank)
{
    if (runtime_recording && tap_handle_members != NULL)
        tap_handle_members(comm, world, size, rank);
}

/* In the trace: value = the handle, hash = what it stands for, request = `what`. */
void faultline_handle(int what, uint64_t handle, uint64_t stands_for)
{
    if (!runtime_recording)
        return;
    if (tap_handle_alias != NULL)
        tap_handle_alias(what, handle, stands_for);
    struct record *note = reserve(NULL, 0);
    note->tag = NOTE_HANDLE;
    note->bytes = handle;
    note->hash = stands_for;
    note->request = (uint32_t)what;
    publish(note);
}
