/* See diagram_words.h. */
#include "reports/diagram/diagram_words.h"

#include "reports/text/trace_line.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAME_LETTERS 17 /* of a phase or result, in a picture */
#define FILE_LETTERS 24 /* of the name of a file */

/* The end of "protocol:point" says most. */
static void label_name(const char *name, char *buffer)
{
    const char *colon = strrchr(name, ':');
    const char *end = colon != NULL && colon[1] != '\0' ? colon + 1 : name;
    bool fits = strlen(end) <= NAME_LETTERS;
    snprintf(buffer, DIAGRAM_LABEL_BYTES, "%.*s%s", NAME_LETTERS, end, fits ? "" : "...");
}

static const char *label_note(const struct slice_event *event, char *buffer)
{
    const struct record *record = event->record;
    unsigned note = (unsigned)record->tag;
    char name[DIAGRAM_LABEL_BYTES];
    trace_text(event->trace, event->index, name, sizeof name);
    switch (note) {
    case NOTE_CHECKPOINT:
    case NOTE_SAVED:
    case NOTE_COMMIT:
    case NOTE_RESTORED:
    case NOTE_STOP_LOG:
    case NOTE_READY:
    case NOTE_INITIATED:
        snprintf(buffer, DIAGRAM_LABEL_BYTES, "%s %" PRIu64, note_kind_text(note), record->bytes);
        break;
    case NOTE_NOTIFIED:
        snprintf(buffer, DIAGRAM_LABEL_BYTES, "told of %" PRIu64, record->bytes);
        break;
    case NOTE_BECOMES:
        if (record->bytes > INT32_MAX)
            snprintf(buffer, DIAGRAM_LABEL_BYTES, "no rank");
        else
            snprintf(buffer, DIAGRAM_LABEL_BYTES, "rank %" PRIu64, record->bytes);
        break;
    case NOTE_RESULT:
        label_name(name, buffer);
        break;
    default:
        break;
    }
    return buffer;
}

/* What the step of the plan did to the call; NULL: it failed, or that is not known. */
static const char *done_to_call(const struct record *fault, const struct plan *plan)
{
    if (plan == NULL || fault->tag < 0 || (size_t)fault->tag >= plan->count)
        return NULL;
    switch (plan->steps[fault->tag].action) {
    case ACTION_SHORT:
        return "short";
    case ACTION_TEAR:
        return "torn";
    case ACTION_FLIP:
        return "a bit changed by";
    default:
        return NULL;
    }
}

/* "storage: ENOSPC on rename of Ckpt2", "storage: torn write of Ckpt2". */
static void label_storage(const struct trace *trace, uint64_t index, const struct plan *plan,
                          char *buffer)
{
    const struct record *fault = &trace->record[index];
    const char *error = fault->error != 0 ? strerrorname_np(fault->error) : NULL;
    const char *done = done_to_call(fault, plan);
    char path[PATH_MAX];
    uint64_t call;
    size_t used = (size_t)snprintf(
        buffer, DIAGRAM_LABEL_BYTES, "storage%s%s%s%s", error != NULL || done != NULL ? ": " : "",
        error != NULL ? error : "", error == NULL && done ? done : "", error != NULL ? " on" : "");
    if (!trace_fault_call(trace, index, &call))
        return;
    trace_text(trace, call, path, sizeof path);
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    bool fits = strlen(name) <= FILE_LETTERS;
    snprintf(buffer + used, DIAGRAM_LABEL_BYTES - used, "%s %s of %.*s%s",
             error == NULL && done == NULL ? ":" : "",
             storage_call_text((unsigned)trace->record[call].tag), FILE_LETTERS, name,
             fits ? "" : "...");
}

const char *diagram_fault(const struct trace *trace, uint64_t index, const struct plan *plan,
                          char buffer[DIAGRAM_LABEL_BYTES])
{
    const struct record *record = &trace->record[index];
    if (record->comm == FAULT_STORAGE)
        label_storage(trace, index, plan, buffer);
    else if (record->comm == FAULT_KILL || record->comm == FAULT_KILL_INSIDE)
        snprintf(buffer, DIAGRAM_LABEL_BYTES, "kill r%d",
                 record->comm == FAULT_KILL ? record->peer : trace->rank);
    else
        snprintf(buffer, DIAGRAM_LABEL_BYTES, "%s", fault_kind_text(record->comm));
    return buffer;
}

const char *diagram_label(const struct slice_event *event, const struct plan *plan,
                          char buffer[DIAGRAM_LABEL_BYTES])
{
    const struct record *record = event->record;
    buffer[0] = '\0';
    if (record->kind == RECORD_NOTE)
        return label_note(event, buffer);
    if (record->kind == RECORD_FAULT)
        diagram_fault(event->trace, event->index, plan, buffer);
    return buffer;
}

static const char *note_shape(unsigned note)
{
    switch (note) {
    case NOTE_CHECKPOINT:
        return "checkpoint";
    case NOTE_SAVED:
        return "saved";
    case NOTE_COMMIT:
        return "commit";
    case NOTE_RESTORED:
        return "restored";
    case NOTE_STOP_LOG:
        return "stop";
    default:
        return note_names_peer(note) ? "told" : "note";
    }
}

static const char *fault_shape(unsigned fault)
{
    switch (fault) {
    case FAULT_KILL:
    case FAULT_KILL_INSIDE:
        return "kill";
    case FAULT_HELD:
    case FAULT_STOPPED:
        return "hold";
    case FAULT_RELEASED:
    case FAULT_CONTINUED:
        return "release";
    default:
        return "fault";
    }
}

static bool delivers(const struct record *record)
{
    if (record->kind == RECORD_RECV)
        return record->request == 0 || (record->flags & FLAG_MATCHED) != 0;
    return record->kind == RECORD_COMPLETE && record->comm != 0 && !(record->flags & FLAG_NEGATIVE);
}

const char *diagram_shape(const struct slice_event *event)
{
    const struct record *record = event->record;
    switch ((unsigned)record->kind) {
    case RECORD_SEND:
        return "send";
    case RECORD_RECV:
        return delivers(record) ? "deliver" : "post";
    case RECORD_COMPLETE:
        return delivers(record) ? "deliver" : "wait";
    case RECORD_PROBE:
        return "probe";
    case RECORD_COLLECTIVE:
        return "collective";
    case RECORD_COMM:
        return "comm";
    case RECORD_NOTE:
        return note_shape((unsigned)record->tag);
    case RECORD_FAULT:
        return fault_shape(record->comm);
    case RECORD_STORAGE:
        return "storage";
    default:
        return "call";
    }
}

const char *diagram_kind(const struct slice_event *event)
{
    switch ((unsigned)event->record->kind) {
    case RECORD_SEND:
    case RECORD_RECV:
    case RECORD_COMPLETE:
    case RECORD_PROBE:
        return "message";
    case RECORD_COLLECTIVE:
        return "collective";
    case RECORD_NOTE:
        return "note";
    case RECORD_FAULT:
        return "fault";
    case RECORD_STORAGE:
        return "storage";
    default:
        return "call";
    }
}

/* The words of a note or a fault begin with its kind. */
const char *diagram_words(const struct slice_event *event, char buffer[DIAGRAM_WORDS_BYTES])
{
    char name[TRACE_EVENT_NAME_BYTES], words[TRACE_LINE_BYTES + 1];
    unsigned kind = event->record->kind;
    bool named = kind != RECORD_NOTE && kind != RECORD_FAULT;
    trace_event_words(event->trace, event->index, words);
    snprintf(buffer, DIAGRAM_WORDS_BYTES, "%s%s%s",
             named ? trace_event_name(event->record, name) : record_kind_text(kind),
             words[0] != '\0' ? " " : "", words);
    return buffer;
}

const char *diagram_comm(const struct slice_event *event, char buffer[DIAGRAM_LABEL_BYTES])
{
    const struct record *record = event->record;
    buffer[0] = '\0';
    if (record->kind == RECORD_FAULT || record->kind == RECORD_STORAGE || record->comm == 0 ||
        (record->kind == RECORD_NOTE && !note_names_peer((unsigned)record->tag)))
        return buffer;
    if (record->comm == COMM_WORLD_ID)
        return strcpy(buffer, "world");
    if (record->comm == COMM_SELF_ID)
        return strcpy(buffer, "self");
    snprintf(buffer, DIAGRAM_LABEL_BYTES, "%#" PRIx32, record->comm);
    return buffer;
}
