/* See columns_cell.h. A cell is a list of parts, the most important first: what does not fit is
 * left out, and what must not be missing is cut and ends in '~'. */
#include "reports/text/columns_cell.h"

#include "reports/text/trace_line.h"
#include "trace/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PART_BYTES 320
#define PEER_BYTES 16
#define IN_PROGRESS " ..."
#define LOOK_BACK_RECORDS 4096u

struct cell {
    char *text;
    size_t used, width;
};

enum need { MUST, MAY };

__attribute__((format(printf, 3, 4))) static void add(struct cell *cell, enum need need,
                                                      const char *format, ...)
{
    char part[PART_BYTES];
    size_t room = cell->width - cell->used;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    size_t length = strlen(part);
    if (length > room) {
        if (need == MAY || room == 0)
            return;
        length = room;
        part[length - 1] = '~';
    }
    memcpy(cell->text + cell->used, part, length);
    cell->used += length;
    cell->text[cell->used] = '\0';
}

static const char *peer_text(int32_t peer, char text[PEER_BYTES])
{
    snprintf(text, PEER_BYTES, "%" PRId32, peer);
    if (peer_word(peer) != NULL)
        snprintf(text, PEER_BYTES, "%s", peer_word(peer));
    return text;
}

static void add_tag(struct cell *cell, int32_t tag)
{
    if (tag != TAG_ANY)
        add(cell, MAY, " t%" PRId32, tag);
}

static void add_comm(struct cell *cell, uint32_t comm)
{
    if (comm == COMM_SELF_ID)
        add(cell, MAY, " self");
    else if (comm != COMM_WORLD_ID && comm != 0)
        add(cell, MAY, " c%" PRIx32, comm);
}

/* Without "MPI_", which every call has. */
static const char *short_name(const struct record *record)
{
    const char *name = call_name(record->call);
    return strncmp(name, "MPI_", 4) == 0 ? name + 4 : name;
}

/* --- what an event is ------------------------------------------------------------------------- */

static bool is_delivery(const struct walk_event *event)
{
    const struct record *record = event->record;
    if (event->in_progress || (record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)))
        return false;
    if (record->kind == RECORD_RECV)
        return record->request == 0 || (record->flags & FLAG_MATCHED) != 0;
    return record->kind == RECORD_COMPLETE && record->comm != 0;
}

static bool is_life_call(unsigned call)
{
    return call == CALL_MPI_Init || call == CALL_MPI_Init_thread || call == CALL_MPI_Finalize ||
           call == CALL_MPI_Abort;
}

/* MPICH says of a completed receive from MPI_PROC_NULL that it came from rank 0: only the record
 * with which it was posted tells. */
static bool is_from_nobody(const struct walk_event *event)
{
    const struct record *record = event->record;
    if (event->link != LINK_NONE || record->bytes != 0 || record->request == 0)
        return record->peer == PEER_NULL;
    for (uint64_t back = 1; back <= event->index && back <= LOOK_BACK_RECORDS; back++) {
        const struct record *posted = &event->trace->record[event->index - back];
        if (posted->kind == RECORD_RECV && posted->level == record->level &&
            posted->request == record->request)
            return posted->want_peer == PEER_NULL;
    }
    return false;
}

bool cell_is_change(const struct walk_event *event)
{
    const struct record *record = event->record;
    if (record->level == LEVEL_APP)
        return false;
    if (record->kind == RECORD_STORAGE) /* what was there already, or is not, is no news */
        return record->error != 0 && record->error != EEXIST && record->error != ENOENT;
    if (event->in_progress || record->error != 0)
        return true;
    switch ((unsigned)record->kind) {
    case RECORD_SEND:
        return record->peer != PEER_NULL;
    case RECORD_COLLECTIVE:
    case RECORD_COMM:
    case RECORD_FAILED:
    case RECORD_NOTE:
    case RECORD_FAULT:
        return true;
    case RECORD_CALL:
        return is_life_call(record->call);
    case RECORD_COMPLETE:
        if (is_delivery(event))
            return !is_from_nobody(event);
        return (record->flags & FLAG_CANCELLED) != 0 || record->hash != 0;
    default:
        return is_delivery(event) && !is_from_nobody(event);
    }
}

/* --- its words -------------------------------------------------------------------------------- */

/* With the event that sent it, where there is room: "<0:e97", of an earlier life "<0#0:e97". */
static void add_delivery(struct cell *cell, const struct walk_event *event)
{
    char peer[PEER_BYTES];
    const struct event_ref *other = &event->other;
    add(cell, MUST, " <%s", peer_text(event->record->peer, peer));
    if (event->link == LINK_RECEIVED && other->incarnation != event->trace->incarnation)
        add(cell, MAY, "#%d:e%" PRIu64, other->incarnation, other->index);
    else if (event->link == LINK_RECEIVED)
        add(cell, MAY, ":e%" PRIu64, other->index);
    add_tag(cell, event->record->tag);
    add_comm(cell, event->record->comm);
}

static void add_send(struct cell *cell, const struct record *record)
{
    char peer[PEER_BYTES];
    add(cell, MUST, " >%s", peer_text(record->peer, peer));
    add_tag(cell, record->tag);
    add_comm(cell, record->comm);
}

/* What a rank that never came back waits for, or what it asked for. */
static void add_wanted(struct cell *cell, const struct record *record)
{
    char peer[PEER_BYTES];
    add(cell, MUST, " %s", short_name(record));
    add(cell, MAY, " <%s", peer_text(record->want_peer, peer));
    add_tag(cell, record->want_tag);
    add_comm(cell, record->comm);
}

static void add_collective(struct cell *cell, const struct record *record)
{
    add(cell, MUST, " %s", short_name(record));
    if (record->peer >= 0)
        add(cell, MAY, " root %" PRId32, record->peer);
    add_comm(cell, record->comm);
}

/* Of a request that is no receive, or brought nothing. */
static void add_completion(struct cell *cell, const struct record *record)
{
    add(cell, MUST, " %s", short_name(record));
    if (record->flags & FLAG_NEGATIVE)
        add(cell, MUST, " not yet");
    else if (record->flags & FLAG_CANCELLED)
        add(cell, MUST, " cancelled");
    else if (record->flags & FLAG_FREED)
        add(cell, MUST, " freed");
    add(cell, MAY, " request %" PRIu32, record->request);
}

static bool is_message_note(const struct record *record)
{
    return record->kind == RECORD_NOTE && note_names_peer((unsigned)record->tag);
}

/* What a protocol does with a message (its tag stands in `request`) or a channel of the
 * application, or where it sends what is for a rank. */
static void add_message_note(struct cell *cell, const struct record *record)
{
    char peer[PEER_BYTES];
    add(cell, MUST, " %s", note_kind_text((unsigned)record->tag));
    if (record->tag == NOTE_LEARNED) {
        add(cell, MUST, " %s dead", peer_text(record->peer, peer));
        return;
    }
    if (record->tag == NOTE_ADDRESS)
        add(cell, MAY, " rank %" PRIu64, record->bytes);
    add(cell, MAY, " %c%s",
        note_is_of_send((unsigned)record->tag) || record->tag == NOTE_ADDRESS ? '>' : '<',
        peer_text(record->peer, peer));
    if (note_about((unsigned)record->tag) == ABOUT_MESSAGE)
        add_tag(cell, (int32_t)record->request);
    if (record->tag != NOTE_CLEAR)
        add_comm(cell, record->comm);
}

static void add_rest(struct cell *cell, const struct walk_event *event)
{
    char words[TRACE_LINE_BYTES + 1];
    const struct record *record = event->record;
    trace_event_words(event->trace, event->index, words);
    if (record->kind != RECORD_NOTE && record->kind != RECORD_FAULT)
        add(cell, MUST, " %s",
            record->kind == RECORD_STORAGE ? storage_call_text((unsigned)record->tag)
                                           : short_name(record));
    bool phase = record->kind == RECORD_NOTE && record->tag == NOTE_PHASE;
    if (words[0] != '\0' && record->kind != RECORD_CALL)
        add(cell, MUST, " %s", words + (phase ? strlen("phase ") : 0));
}

static void add_words(struct cell *cell, const struct walk_event *event)
{
    const struct record *record = event->record;
    if (is_delivery(event))
        add_delivery(cell, event);
    else if (record->kind == RECORD_SEND)
        add_send(cell, record);
    else if (record->kind == RECORD_RECV || record->kind == RECORD_PROBE)
        add_wanted(cell, record);
    else if (record->kind == RECORD_COLLECTIVE)
        add_collective(cell, record);
    else if (is_message_note(record))
        add_message_note(cell, record);
    else if (record->kind == RECORD_COMPLETE)
        add_completion(cell, record);
    else
        add_rest(cell, event);
}

void cell_words(const struct walk_event *event, enum cell_mark mark, size_t width,
                char text[CELL_BYTES])
{
    size_t after = event->in_progress ? sizeof IN_PROGRESS - 1 : 0;
    struct cell cell = {text, 0, width > after ? width - after : 0};
    text[0] = '\0';
    add(&cell, MUST, "%ce%" PRIu64, (char)mark, event->index);
    add_words(&cell, event);
    if (event->record->error != 0 && event->record->kind != RECORD_STORAGE)
        add(&cell, MAY, " error %u", event->record->error);
    cell.width = width;
    if (event->in_progress)
        add(&cell, MUST, IN_PROGRESS);
}
