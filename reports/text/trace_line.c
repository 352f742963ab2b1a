/* See trace_line.h: the words for a record of each kind, and what stands around them. */
#include "reports/text/trace_line.h"

#include "plan/plan.h"
#include "trace/calls.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 256
#define MEMBERS_SHOWN 16
#define FAULT_REACH 16 /* records between a call on the store and the fault that was done to it */

/* --- a line of bounded length ----------------------------------------------------------------- */

struct line {
    char text[TRACE_LINE_BYTES + 1];
    size_t used;
    bool cut;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->text - line->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->used, room, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    line->cut = line->cut || (size_t)length >= room;
    line->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* In quotes, with everything escaped that is not a plain character. */
static void put_quoted(struct line *line, const char *text)
{
    put(line, "\"");
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte >= 0x7f || iscntrl(byte))
            put(line, "\\x%02x", byte);
        else
            put(line, byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
    }
    put(line, "\"");
}

static void end_line(struct line *line)
{
    while (line->used > 0 && line->text[line->used - 1] == ' ')
        line->text[--line->used] = '\0';
    if (line->cut)
        memcpy(line->text + TRACE_LINE_BYTES - 3, "...", 4);
}

/* --- the parts of a record -------------------------------------------------------------------- */

static void put_peer(struct line *line, int32_t peer)
{
    if (peer >= 0)
        put(line, "r%" PRId32, peer);
    else if (peer_word(peer) != NULL)
        put(line, "%s", peer_word(peer));
    else
        put(line, "rank %" PRId32, peer);
}

static void put_tag(struct line *line, int32_t tag)
{
    if (tag == TAG_ANY)
        put(line, ", tag any");
    else
        put(line, ", tag %" PRId32, tag);
}

static void put_comm(struct line *line, uint32_t comm)
{
    if (comm == COMM_WORLD_ID)
        put(line, "world");
    else if (comm == COMM_SELF_ID)
        put(line, "self");
    else
        put(line, "comm %" PRIx32, comm);
}

/* ", 8 bytes, hash 1a2b3c4d": the upper half of the hash is enough to tell messages apart. */
static void put_payload(struct line *line, const struct record *record)
{
    put(line, ", %" PRIu64 " byte%s", record->bytes, record->bytes == 1 ? "" : "s");
    if (!(record->flags & FLAG_NO_HASH))
        put(line, ", hash %08" PRIx32, (uint32_t)(record->hash >> 32));
}

static void put_request(struct line *line, const struct record *record)
{
    if (record->request != 0)
        put(line, ", %s %" PRIu32, record->flags & FLAG_MATCHED ? "message" : "request",
            record->request);
}

/* What a wildcard or a plain receive asked for. */
static void put_wanted(struct line *line, const struct record *record)
{
    put_peer(line, record->want_peer);
    put_tag(line, record->want_tag);
    put(line, ", ");
    put_comm(line, record->comm);
}

static void put_repeated(struct line *line, const struct record *record)
{
    if (record->bytes > 1)
        put(line, " (%" PRIu64 " times)", record->bytes);
}

/* --- a record of each kind -------------------------------------------------------------------- */

struct event {
    const struct trace *trace;
    uint64_t index;
    const struct record *record;
    bool done; /* the call has returned */
};

static void put_send(struct line *line, const struct event *event)
{
    put(line, "to ");
    put_peer(line, event->record->peer);
    put_tag(line, event->record->tag);
    put(line, ", ");
    put_comm(line, event->record->comm);
    put_payload(line, event->record);
    put_request(line, event->record);
}

static void put_recv(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    put(line, "from ");
    put_wanted(line, record);
    put_request(line, record);
    if (!event->done || (record->request != 0 && !(record->flags & FLAG_MATCHED)))
        return;
    put(line, ": got ");
    put_peer(line, record->peer);
    put_tag(line, record->tag);
    put_payload(line, record);
}

static void put_complete(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    put(line, "request %" PRIu32, record->request);
    if (record->flags & FLAG_NEGATIVE) {
        put(line, ": not complete");
        put_repeated(line, record);
    } else if (record->flags & FLAG_CANCELLED) {
        put(line, ": cancelled");
    } else if (record->flags & FLAG_FREED) {
        put(line, ": freed");
    } else if (record->comm != 0) {
        put(line, ": got ");
        put_peer(line, record->peer);
        put_tag(line, record->tag);
        put(line, ", ");
        put_comm(line, record->comm);
        put_payload(line, record);
    } else if (record->hash != 0) {
        put(line, ": result %08" PRIx32, (uint32_t)(record->hash >> 32));
    } else if (event->done) {
        put(line, ": complete");
    }
}

static void put_probe(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    put(line, "for ");
    put_wanted(line, record);
    if (record->flags & FLAG_NEGATIVE) {
        put(line, ": nothing");
        put_repeated(line, record);
    } else if (event->done) {
        put(line, ": ");
        put_peer(line, record->peer);
        put_tag(line, record->tag);
        put(line, ", %" PRIu64 " bytes", record->bytes);
        if (record->request != 0)
            put(line, ", message %" PRIu32, record->request);
    }
}

static void put_collective(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    put_comm(line, record->comm);
    if (record->peer != PEER_NONE) {
        put(line, ", root ");
        put_peer(line, record->peer);
    }
    put_payload(line, record);
    put_request(line, record);
    if (event->done && record->result_hash != 0)
        put(line, ", result %08" PRIx32, (uint32_t)(record->result_hash >> 32));
}

/* The members in the GROUP records after a COMM or FAILED: as many as `count` says and the trace
 * holds. */
static void put_members(struct line *line, const struct event *event, int32_t count)
{
    int32_t shown = 0;
    for (uint64_t at = event->index + 1; at < event->trace->count && shown < count; at++) {
        const struct record *group = &event->trace->record[at];
        if (atomic_load_explicit(&group->kind, memory_order_acquire) != RECORD_GROUP)
            break;
        for (int i = 0; i < RECORD_GROUP_MEMBERS && shown < count; i++, shown++) {
            if (shown == MEMBERS_SHOWN) {
                put(line, " ...");
                return;
            }
            put(line, " r%" PRId32, group->members[i]);
        }
    }
}

static void put_comm_made(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    put_comm(line, record->comm);
    put(line, " from ");
    put_comm(line, (uint32_t)record->bytes);
    if (record->flags & FLAG_INTER)
        put(line, ", intercommunicator to %" PRIu64 " ranks", record->hash);
    put(line, ", rank %" PRId32 " of %" PRId32 ":", record->peer, record->tag);
    put_members(line, event, record->tag);
}

static void put_failed(struct line *line, const struct event *event)
{
    put_comm(line, event->record->comm);
    put(line, ", failed:");
    put_members(line, event, event->record->tag);
}

/* What a protocol does with a message or a channel of the application, or where it sends what is
 * for a rank. */
static void put_message_note(struct line *line, const struct record *record)
{
    bool address = record->tag == NOTE_ADDRESS;
    put(line, "%s %" PRIu64 ": %s ", note_kind_text((unsigned)record->tag), record->bytes,
        address                                  ? "process"
        : note_is_of_send((unsigned)record->tag) ? "to"
                                                 : "from");
    put_peer(line, record->peer);
    if (record->tag == NOTE_CLEAR)
        return;
    if (!address)
        put_tag(line, (int32_t)record->request);
    put(line, ", ");
    put_comm(line, record->comm);
    if (!address && !(record->flags & FLAG_NO_HASH))
        put(line, ", hash %08" PRIx32, (uint32_t)(record->hash >> 32));
}

static void put_numbered_note(struct line *line, const struct record *record)
{
    put(line, "%s %" PRIu64 ": sender ", note_kind_text((unsigned)record->tag), record->bytes);
    put_peer(line, record->peer);
    put(line, ", receiver ");
    put_peer(line, (int32_t)record->request);
    put(line, ", rsn %" PRIu64, record->hash);
    if (record->comm != 0) {
        put(line, ", ");
        put_comm(line, record->comm);
    }
}

static void put_note(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    char name[NAME_BYTES];
    if (note_about((unsigned)record->tag) == ABOUT_NUMBERED) {
        put_numbered_note(line, record);
        return;
    }
    if (record->tag == NOTE_LEARNED) {
        put(line, "%s: ", note_kind_text(NOTE_LEARNED));
        put_peer(line, record->peer);
        put(line, " has died");
        return;
    }
    if (note_names_peer((unsigned)record->tag)) {
        put_message_note(line, record);
        return;
    }
    trace_text(event->trace, event->index, name, sizeof name);
    put(line, "%s", note_kind_text((unsigned)record->tag));
    if (name[0] != '\0') {
        put(line, " ");
        put_quoted(line, name);
    }
    if (record->tag == NOTE_RESULT || record->tag == NOTE_DECISION)
        put_payload(line, record);
    else if (record->tag == NOTE_NEAR)
        put(line, " %.17g, within %g", trace_number(record), trace_tolerance(record));
    else if (record->tag == NOTE_BECOMES && record->bytes > INT32_MAX)
        put(line, " no rank");
    else if ((record->tag != NOTE_PHASE && record->tag != NOTE_CANNOT) || record->bytes != 0)
        put(line, " %" PRIu64, record->bytes);
}

/* What the call on the store failed with; 0: nothing. */
static void put_errno(struct line *line, int number)
{
    const char *name = number != 0 ? strerrorname_np(number) : NULL;
    if (name != NULL)
        put(line, ", %s", name);
    else if (number != 0)
        put(line, ", error %d", number);
}

bool trace_fault_call(const struct trace *trace, uint64_t fault, uint64_t *call)
{
    for (uint64_t at = fault; at > 0 && fault - at < FAULT_REACH; at--) {
        const struct record *record = &trace->record[at - 1];
        if (record_is_event(record) && record->thread == trace->record[fault].thread) {
            *call = at - 1;
            return record->kind == RECORD_STORAGE;
        }
    }
    return false;
}

/* "ENOSPC on rename of "Ckpt2"", "write of "Ckpt2"". */
static void put_fault_of_storage(struct line *line, const struct event *event)
{
    uint64_t call;
    char path[NAME_BYTES];
    put_errno(line, event->record->error);
    if (!trace_fault_call(event->trace, event->index, &call))
        return;
    put(line, "%s%s of ", event->record->error != 0 ? " on " : ", ",
        storage_call_text((unsigned)event->trace->record[call].tag));
    trace_text(event->trace, call, path, sizeof path);
    put_quoted(line, path);
}

static void put_fault(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    put(line, "%s", fault_kind_text(record->comm));
    if (record->comm != FAULT_AWAITED) {
        put(line, " ");
        put_peer(line, record->peer);
    }
    if (record->comm == FAULT_DETECTED)
        put(line, " of the death of r%" PRIu64, record->bytes);
    if (record->comm == FAULT_STORAGE)
        put_fault_of_storage(line, event);
    else if (record->error != 0)
        put(line, ", which could not be done");
    if (record->comm == FAULT_LOST && record->bytes == LOSE_STORAGE)
        put(line, " and the storage of its node");
    if (record->comm == FAULT_LOST && record->bytes == LOSE_FILES)
        put(line, " and files of the store");
    put(line, ", step %" PRId32 " of the plan", record->tag + 1);
}

static void put_storage(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    char path[NAME_BYTES];
    trace_text(event->trace, event->index, path, sizeof path);
    put_quoted(line, path);
    bool none = (record->flags & FLAG_NEGATIVE) != 0;
    if (record->tag == STORAGE_WRITE || record->tag == STORAGE_WRITE_SYNC ||
        record->tag == STORAGE_RESIZE || record->tag == STORAGE_READ)
        put(line, ", %" PRIu64 " bytes", record->bytes);
    if (record->result_hash != STORAGE_NO_OFFSET && !none)
        put(line, " at %" PRIu64, record->result_hash);
    put_errno(line, record->error);
    if (none && record->bytes > 1)
        put(line, " (%" PRIu64 " times)", record->bytes);
}

static void put_call(struct line *line, const struct event *event)
{
    const struct record *record = event->record;
    if (record->comm != 0)
        put_comm(line, record->comm);
    if (record->call == CALL_MPI_Request_get_status && record->request != 0) {
        put(line, "request %" PRIu32, record->request);
        if (event->done)
            put(line, record->flags & FLAG_NEGATIVE ? ": not complete" : ": complete");
    }
    if (record->call != CALL_MPIX_Comm_agree)
        return;
    put(line, ", flag %#" PRIx32, (uint32_t)record->tag);
    if (event->done)
        put(line, ": agreed on %#" PRIx64, record->result_hash);
}

static void put_torn(struct line *line, const struct event *event)
{
    (void)event;
    put(line, "torn: never finished");
}

static void put_end(struct line *line, const struct event *event)
{
    if (event->record->tag != 0)
        put(line, "signal %" PRId32 " (%s)", event->record->tag,
            sigdescr_np(event->record->tag) ? sigdescr_np(event->record->tag) : "unknown");
    else
        put(line, "exit %" PRIu64, event->record->bytes);
}

static void (*const put_kind[RECORD_KIND_COUNT])(struct line *, const struct event *) = {
    [RECORD_NONE] = put_torn,
    [RECORD_CALL] = put_call,
    [RECORD_SEND] = put_send,
    [RECORD_RECV] = put_recv,
    [RECORD_COMPLETE] = put_complete,
    [RECORD_PROBE] = put_probe,
    [RECORD_COLLECTIVE] = put_collective,
    [RECORD_COMM] = put_comm_made,
    [RECORD_NOTE] = put_note,
    [RECORD_FAULT] = put_fault,
    [RECORD_STORAGE] = put_storage,
    [RECORD_END] = put_end,
    [RECORD_FAILED] = put_failed,
};

/* --- a line ----------------------------------------------------------------------------------- */

static double seconds(uint64_t ticks, double ticks_per_second)
{
    return (double)ticks / ticks_per_second;
}

/* Three digits that matter and a unit. */
static void put_duration(struct line *line, double duration_s)
{
    static const struct {
        double below_s, factor;
        const char *unit;
    } units[] = {{1e-6, 1e9, "ns"}, {1e-3, 1e6, "us"}, {1, 1e3, "ms"}, {1e99, 1, "s"}};
    size_t i = 0;
    while (i < 3 && duration_s >= units[i].below_s)
        i++;
    double value = duration_s * units[i].factor;
    put(line, "%8.*f %-2s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[i].unit);
}

/* What is no call has no duration. */
static bool is_call(unsigned kind)
{
    return kind != RECORD_NONE && kind != RECORD_NOTE && kind != RECORD_FAULT && kind != RECORD_END;
}

static void put_when(struct line *line, const struct event *event, unsigned kind, uint64_t enter,
                     double ticks_per_second)
{
    const struct record *record = event->record;
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
    if (!is_call(kind) || leave == enter) /* a completion among several, for one */
        put(line, "%11s", "");
    else if (leave == 0)
        put(line, "%11s", "in progress");
    else
        put_duration(line, seconds(leave > enter ? leave - enter : 0, ticks_per_second));
}

/* What any record may have; `what` is where the words for this one began. */
static void put_remarks(struct line *line, const struct record *record, size_t what)
{
    if (record->flags & FLAG_IN_PLACE)
        put(line, "%sin place", line->used > what ? ", " : "");
    if (record->flags & FLAG_PERSISTENT)
        put(line, "%spersistent", line->used > what ? ", " : "");
    bool told = record->kind == RECORD_FAULT || record->kind == RECORD_STORAGE; /* no class */
    if (!told && raised_text(record->error) != NULL)
        put(line, "%sraised %s", line->used > what ? ", " : "", raised_text(record->error));
    else if (!told && record->error != 0)
        put(line, "%serror class %u", line->used > what ? ", " : "", record->error);
    if (record->thread != 0)
        put(line, "%sthread %u", line->used > what ? ", " : "", record->thread);
}

static void put_words(struct line *line, const struct event *event, unsigned kind)
{
    size_t what = line->used;
    if (kind < RECORD_KIND_COUNT && put_kind[kind] != NULL)
        put_kind[kind](line, event);
    put_remarks(line, event->record, what);
    end_line(line);
}

static struct event event_of(const struct trace *trace, uint64_t index)
{
    const struct record *record = &trace->record[index];
    bool done = atomic_load_explicit(&record->leave, memory_order_acquire) != 0;
    return (struct event){trace, index, record, done};
}

static void describe(struct line *line, const struct event *event, uint64_t start, uint64_t at)
{
    const struct record *record = event->record;
    double per_second = event->trace->header->ticks_per_second;
    unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
    char name[EVENT_TEXT_BYTES];
    *line = (struct line){.used = 0};
    event_text((struct event_ref){event->trace->rank, event->trace->incarnation, event->index},
               name);
    put(line, "%12.6f  %-14s  %-4s  ", seconds(at > start ? at - start : 0, per_second), name,
        kind == RECORD_NONE ? "?" : level_text(record->level));
    put_when(line, event, kind, record->enter, per_second);
    put(line, "  %-22s ",
        kind == RECORD_STORAGE ? storage_call_text((unsigned)record->tag)
        : is_call(kind)        ? call_name(record->call)
                               : record_kind_text(kind));
    put_words(line, event, kind);
}

void trace_event_words(const struct trace *trace, uint64_t index, char text[TRACE_LINE_BYTES + 1])
{
    struct event event = event_of(trace, index);
    struct line line = {.used = 0};
    put_words(&line, &event, atomic_load_explicit(&event.record->kind, memory_order_acquire));
    memcpy(text, line.text, line.used + 1);
}

void trace_line(const struct trace *trace, uint64_t index, uint64_t start, uint64_t at,
                char text[TRACE_LINE_BYTES + 1])
{
    struct event event = event_of(trace, index);
    struct line line;
    describe(&line, &event, start, at);
    memcpy(text, line.text, line.used + 1);
}

const char *trace_event_name(const struct record *record, char buffer[TRACE_EVENT_NAME_BYTES])
{
    switch ((unsigned)record->kind) {
    case RECORD_NOTE:
        snprintf(buffer, TRACE_EVENT_NAME_BYTES, "note %s", note_kind_text((unsigned)record->tag));
        break;
    case RECORD_FAULT:
        snprintf(buffer, TRACE_EVENT_NAME_BYTES, "fault %s", fault_kind_text(record->comm));
        break;
    case RECORD_COMM:
        snprintf(buffer, TRACE_EVENT_NAME_BYTES, "communicator made");
        break;
    case RECORD_STORAGE:
        snprintf(buffer, TRACE_EVENT_NAME_BYTES, "storage %s",
                 storage_call_text((unsigned)record->tag));
        break;
    default:
        snprintf(buffer, TRACE_EVENT_NAME_BYTES, "%s%s", record->level == LEVEL_WIRE ? "P" : "",
                 call_name(record->call));
    }
    return buffer;
}
