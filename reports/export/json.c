/* Newline JSON: a line about the run, then a line for each event, with its vector clock. Streams.
 * What no field of the event's kind says is left out; 64-bit hashes are hexadecimal strings, since
 * many readers make doubles of numbers. */
#include "reports/export/export.h"
#include "system/json_text.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <string.h>

#define FORM_VERSION 1
#define TEXT_BYTES 512
#define HASH_BYTES 24

static void json_begin(struct export *export)
{
    const struct trace_set *set = export->set;
    json_t *processes = json_array();
    for (size_t i = 0; i < set->count; i++) {
        char name[EVENT_TEXT_BYTES];
        json_array_append_new(processes, json_string(export_process_text(&set->trace[i], name)));
    }
    json_put(json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:b}", "form", "faultline-trace", "version",
                       FORM_VERSION, "ranks", set->ranks, "incarnations", set->incarnations,
                       "processes", processes, "program", json_text(set->trace[0].header->program),
                       "some_messages_unmatched", links_are_uncertain(export->links)),
             export->out, JSON_COMPACT, "\n");
}

static void put(json_t *line, const char *key, json_t *value)
{
    json_object_set_new(line, key, value);
}

static void put_number(json_t *line, const char *key, int64_t value)
{
    put(line, key, json_integer(value));
}

static void put_hash(json_t *line, const char *key, uint64_t hash)
{
    char text[HASH_BYTES];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    put(line, key, json_string(text));
}

/* A rank, or the word for what is none. */
static void put_peer(json_t *line, const char *key, int32_t peer)
{
    if (peer_word(peer) != NULL)
        put(line, key, json_string(peer_word(peer)));
    else
        put_number(line, key, peer);
}

static void put_tag(json_t *line, const char *key, int32_t tag)
{
    if (tag == TAG_ANY)
        put(line, key, json_string("any"));
    else
        put_number(line, key, tag);
}

static void put_bytes(json_t *line, uint64_t bytes)
{
    put(line, "bytes", bytes > INT64_MAX ? json_null() : json_integer((json_int_t)bytes));
}

/* Communicator, other end, tag, bytes and hash of a message or a collective. */
static void put_payload(json_t *line, const struct record *record)
{
    put_number(line, "comm", record->comm);
    put_peer(line, record->kind == RECORD_COLLECTIVE ? "root" : "peer", record->peer);
    if (record->kind != RECORD_COLLECTIVE)
        put_tag(line, "tag", record->tag);
    put_bytes(line, record->bytes);
    if (!(record->flags & FLAG_NO_HASH) && record->kind != RECORD_PROBE)
        put_hash(line, "hash", record->hash);
}

static void put_wanted(json_t *line, const struct record *record)
{
    put_number(line, "comm", record->comm);
    put_peer(line, "want_peer", record->want_peer);
    put_tag(line, "want_tag", record->want_tag);
}

static void put_text(json_t *line, const char *key, const struct walk_event *event)
{
    char text[TEXT_BYTES];
    trace_text(event->trace, event->index, text, sizeof text);
    if (text[0] != '\0')
        put(line, key, json_text(text));
}

static void put_numbered(json_t *line, const struct record *record)
{
    if (record->comm != 0)
        put_number(line, "comm", record->comm);
    put_peer(line, "sender", record->peer);
    put_peer(line, "receiver", (int32_t)record->request);
    put_number(line, "rsn", (int64_t)record->hash);
}

static void put_note(json_t *line, const struct walk_event *event)
{
    const struct record *record = event->record;
    put(line, "note", json_string(note_kind_text((unsigned)record->tag)));
    put(line, "value",
        record->bytes > INT64_MAX ? json_null() : json_integer((json_int_t)record->bytes));
    if (note_about((unsigned)record->tag) == ABOUT_NUMBERED) {
        put_numbered(line, record);
        return;
    }
    if (note_names_peer((unsigned)record->tag)) {
        put_number(line, "comm", record->comm);
        put_peer(line, "peer", record->peer);
        if (note_about((unsigned)record->tag) == ABOUT_MESSAGE)
            put_number(line, "tag", (int32_t)record->request);
    } else {
        put_text(line, "name", event);
    }
    if (!(record->flags & FLAG_NO_HASH) && record->hash != 0)
        put_hash(line, "hash", record->hash);
}

static void put_fault(json_t *line, const struct record *record)
{
    put(line, "fault", json_string(fault_kind_text(record->comm)));
    put_peer(line, "peer", record->peer);
    put_number(line, "step", record->tag + 1);
}

static void put_storage(json_t *line, const struct walk_event *event)
{
    const struct record *record = event->record;
    put(line, "storage", json_string(storage_call_text((unsigned)record->tag)));
    put_text(line, "path", event);
    if (record->flags & FLAG_NEGATIVE) {
        put_number(line, "times", (int64_t)record->bytes);
        return;
    }
    put_bytes(line, record->bytes);
    if (record->result_hash != STORAGE_NO_OFFSET)
        put_number(line, "offset", (int64_t)record->result_hash);
}

static void put_complete(json_t *line, const struct walk_event *event)
{
    const struct record *record = event->record;
    put(line, "done", json_boolean((record->flags & FLAG_NEGATIVE) == 0));
    if (record->flags & FLAG_NEGATIVE)
        put_number(line, "times", (int64_t)record->bytes);
    else if (record->comm != 0)
        put_payload(line, record);
}

static void put_collective(json_t *line, const struct walk_event *event)
{
    put_payload(line, event->record);
    if (!event->in_progress && event->record->result_hash != 0)
        put_hash(line, "result", event->record->result_hash);
}

static void put_comm(json_t *line, const struct record *record)
{
    put_number(line, "comm", record->comm);
    put_number(line, "parent", (int64_t)(uint32_t)record->bytes);
    put_number(line, "own_rank", record->peer);
    put_number(line, "members", record->tag);
}

/* Of a receive or probe what was asked for; once it is done also what came. */
static void put_received(json_t *line, const struct walk_event *event)
{
    const struct record *record = event->record;
    bool probe = record->kind == RECORD_PROBE;
    bool came = !event->in_progress &&
                (probe ? !(record->flags & FLAG_NEGATIVE)
                       : record->request == 0 || (record->flags & FLAG_MATCHED) != 0);
    put_wanted(line, record);
    if (probe)
        put(line, "done", json_boolean(came));
    if (came)
        put_payload(line, record);
}

static void put_kind(json_t *line, const struct walk_event *event)
{
    const struct record *record = event->record;
    switch ((unsigned)record->kind) {
    case RECORD_SEND:
        put_payload(line, record);
        break;
    case RECORD_RECV:
    case RECORD_PROBE:
        put_received(line, event);
        break;
    case RECORD_COMPLETE:
        put_complete(line, event);
        break;
    case RECORD_COLLECTIVE:
        put_collective(line, event);
        break;
    case RECORD_COMM:
        put_comm(line, record);
        break;
    case RECORD_FAILED:
        put_number(line, "comm", record->comm);
        put_number(line, "members", record->tag);
        break;
    case RECORD_NOTE:
        put_note(line, event);
        return;
    case RECORD_FAULT:
        put_fault(line, record);
        return;
    case RECORD_STORAGE:
        put_storage(line, event);
        return;
    default:
        if (record->comm != 0)
            put_number(line, "comm", record->comm);
    }
    if (record->request != 0)
        put_number(line, record->flags & FLAG_MATCHED ? "message" : "request", record->request);
}

static void put_when(json_t *line, const struct walk_event *event)
{
    put_number(line, "enter_ns", (int64_t)event->enter_ns);
    put(line, "leave_ns",
        event->in_progress ? json_null() : json_integer((json_int_t)event->leave_ns));
    if (event->record->thread != 0)
        put_number(line, "thread", event->record->thread);
    if (event->record->error != 0)
        put_number(line, "error", event->record->error);
}

static json_t *clock_of(const struct export *export, const struct walk_event *event)
{
    json_t *clock = json_object();
    for (size_t i = 0; i < export->set->count; i++) {
        char name[EVENT_TEXT_BYTES];
        if (event->clock[i] > 0)
            put_number(clock, export_process_text(&export->set->trace[i], name),
                       (int64_t)event->clock[i]);
    }
    return clock;
}

static void json_event(struct export *export, const struct walk_event *event)
{
    const struct record *record = event->record;
    struct event_ref own = {event->trace->rank, event->trace->incarnation, event->index};
    char name[EVENT_TEXT_BYTES];
    json_t *line =
        json_pack("{s:s, s:i, s:i, s:I, s:s, s:s}", "event", event_text(own, name), "rank",
                  own.rank, "incarnation", own.incarnation, "index", (json_int_t)own.index, "level",
                  level_text(record->level), "kind", record_kind_text(record->kind));
    if (record->call != CALL_NONE)
        put(line, "call", json_string(call_name(record->call)));
    put_when(line, event);
    put_kind(line, event);
    if (event->link != LINK_NONE)
        put(line, event->link == LINK_SENT ? "received_by" : "sent_by",
            json_string(event_text(event->other, name)));
    put(line, "clock", clock_of(export, event));
    json_put(line, export->out, JSON_COMPACT, "\n");
}

const struct exporter export_json = {.name = "json", .begin = json_begin, .event = json_event};
