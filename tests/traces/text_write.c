/* Writes traces as text, exactly: parsing it gives the same traces, byte for byte. */
#include "trace/calls.h"
#include "trace/reader.h"
#include "traces/text_fields.h"
#include "traces/text_trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void write_quoted(FILE *out, const char *text, size_t bytes)
{
    fputc('"', out);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (isprint(c))
            fputc(c, out);
        else
            fprintf(out, "\\x%02x", c);
    }
    fputc('"', out);
}

/* Without the zeros at the end. */
static size_t filled_bytes(const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == '\0')
        bytes--;
    return bytes;
}

static void write_value(FILE *out, enum text_field field, int64_t value)
{
    bool peer = field == FIELD_PEER || field == FIELD_WANT_PEER;
    if (peer && peer_word(value) != NULL)
        fprintf(out, " %s", peer_word(value));
    else if ((field == FIELD_WANT_TAG || field == FIELD_TAG) && value == TAG_ANY)
        fputs(" any", out);
    else if (field == FIELD_HASH || field == FIELD_RESULT || field == FIELD_COMM)
        fprintf(out, value >= 0 && value < 10 ? " %" PRIu64 : " %#" PRIx64, (uint64_t)value);
    else if (field == FIELD_ERROR && raised_text((unsigned)value) != NULL)
        fprintf(out, " %s", raised_text((unsigned)value));
    else if (field == FIELD_BYTES)
        fprintf(out, " %" PRIu64, (uint64_t)value);
    else
        fprintf(out, " %" PRId64, value);
}

/* True if something has arrived, so that `got` and what follows it are written. */
static bool has_got(const struct record *record, unsigned kind)
{
    bool receives = kind == RECORD_RECV || kind == RECORD_PROBE || kind == RECORD_COMPLETE;
    bool done = kind != RECORD_COMPLETE && record->leave != 0 && record->request == 0;
    return receives && (done || record->peer != 0 || record->tag != 0 || record->bytes != 0 ||
                        record->hash != 0);
}

/* A result that is a number, and one that is read back from its text. */
static bool is_number(const struct record *record)
{
    return record->tag == NOTE_NEAR && isfinite(trace_number(record)) &&
           isfinite(trace_tolerance(record));
}

/* A note that tells of one message. */
static bool tells_message(const struct record *record, unsigned kind)
{
    return kind == RECORD_NOTE && note_names_peer((unsigned)record->tag);
}

/* Some fields of a note have several words: which one depends on what the note tells of. */
static bool is_other_word(const struct record *record, unsigned kind, const struct text_word *word)
{
    bool numbered = kind == RECORD_NOTE && note_about((unsigned)record->tag) == ABOUT_NUMBERED;
    bool of_numbered = strcmp(word->word, "sender") == 0 || strcmp(word->word, "receiver") == 0 ||
                       strcmp(word->word, "rsn") == 0;
    if (kind != RECORD_NOTE ||
        (word->field != FIELD_REQUEST && word->field != FIELD_PEER && word->field != FIELD_HASH))
        return false;
    if (numbered || of_numbered)
        return numbered != of_numbered;
    return word->field == FIELD_REQUEST &&
           (strcmp(word->word, "tag") == 0) != tells_message(record, kind);
}

static bool must_write(const struct record *record, unsigned kind, const struct text_word *word,
                       bool got, uint64_t previous)
{
    int64_t value = text_get(record, word->field);
    bool told = tells_message(record, kind);
    if (told && (word->field == FIELD_PEER || word->field == FIELD_REQUEST))
        return true;
    if (told && word->field == FIELD_COMM)
        return value != COMM_WORLD_ID;
    if (told && word->field == FIELD_HASH)
        return value != 0 || !(record->flags & FLAG_NO_HASH);
    if (strcmp(word->word, "got") == 0)
        return got;
    if (strcmp(word->word, "to") == 0 || strcmp(word->word, "from") == 0)
        return true;
    if (word->field == FIELD_HASH && text_hash_expected(kind, got))
        return value != 0 || !(record->flags & FLAG_NO_HASH);
    if (word->field == FIELD_RESULT && kind == RECORD_NOTE)
        return (uint64_t)value != previous;
    if (word->field == FIELD_CALL)
        return call_from_name(call_name(record->call)) != record->call;
    return value != text_default(kind, word->field);
}

static void write_fields(FILE *out, const struct record *record, unsigned kind, uint64_t previous)
{
    bool written[FIELD_COUNT] = {false};
    bool got = has_got(record, kind);
    if (kind == RECORD_NOTE)
        written[FIELD_TAG] = written[FIELD_BYTES] = true;
    if (kind == RECORD_NOTE && is_number(record)) {
        written[FIELD_HASH] = true;
        fprintf(out, " number %.17g tolerance %.17g", trace_number(record),
                trace_tolerance(record));
    }
    if (kind == RECORD_FAULT)
        written[FIELD_COMM] = written[FIELD_PEER] = true;
    if (kind == RECORD_STORAGE)
        written[FIELD_TAG] = true;
    for (size_t i = 0; i < text_word_count; i++) {
        const struct text_word *word = &text_words[i];
        if (!(word->kinds & 1u << kind) || written[word->field] || (word->after_got && !got) ||
            is_other_word(record, kind, word))
            continue;
        written[word->field] = true;
        if (!must_write(record, kind, word, got, previous))
            continue;
        fprintf(out, " %s", word->word);
        write_value(out, word->field, text_get(record, word->field));
    }
    for (size_t i = 0; i < text_flag_count; i++) {
        bool implied = text_flags[i].flag == FLAG_NO_HASH && record->hash == 0 &&
                       (text_hash_expected(kind, got) || tells_message(record, kind));
        if ((record->flags & text_flags[i].flag) && !implied)
            fprintf(out, " %s", text_flags[i].word);
    }
    fprintf(out, " at %" PRIu64, record->enter);
    if (record->leave != 0)
        fprintf(out, " until %" PRIu64, atomic_load(&record->leave));
    else
        fputs(" in-progress", out);
}

static void write_members(FILE *out, const struct record *record)
{
    int count = RECORD_GROUP_MEMBERS;
    while (count > 0 && record->members[count - 1] == -1)
        count--;
    for (int i = 0; i < count; i++)
        fprintf(out, " %" PRId32, record->members[i]);
}

static void write_start(FILE *out, const struct record *record, unsigned kind)
{
    fprintf(out, " %s %s", level_text(record->level), record_kind_text(kind));
    if (kind == RECORD_NOTE)
        fprintf(out, " %s", note_kind_text((unsigned)record->tag));
    if (kind == RECORD_NOTE && !is_number(record))
        fprintf(out, " %" PRIu64, record->bytes);
    if (kind == RECORD_FAULT) {
        fprintf(out, " %s", fault_kind_text(record->comm));
        write_value(out, FIELD_PEER, record->peer);
    }
    if (kind == RECORD_STORAGE)
        fprintf(out, " %s", storage_call_text((unsigned)record->tag));
    if (record->call != 0 && call_from_name(call_name(record->call)) == record->call)
        fprintf(out, " %s", call_name(record->call));
}

/* previous: index + 1 of the note before it, as the chain should be. */
static void write_record(FILE *out, const struct trace *trace, uint64_t index, uint64_t previous)
{
    const struct record *record = &trace->record[index];
    unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
    fprintf(out, "r%d#%d:e%" PRIu64, trace->rank, trace->incarnation, index);
    if (kind == RECORD_NONE) {
        fputs(" none\n", out);
        return;
    }
    write_start(out, record, kind);
    if (kind == RECORD_TEXT) {
        fputc(' ', out);
        write_quoted(out, record->text, filled_bytes(record->text, RECORD_TEXT_BYTES));
    } else if (kind == RECORD_GROUP) {
        write_members(out, record);
    } else {
        write_fields(out, record, kind, previous);
    }
    if ((kind == RECORD_TEXT || kind == RECORD_GROUP) && record->thread != 0)
        fprintf(out, " thread %u", record->thread);
    fputc('\n', out);
}

static void write_header(FILE *out, const struct trace *trace, uint64_t last_note)
{
    const struct trace_header *header = trace->header;
    uint64_t next = atomic_load(&header->next);
    fprintf(out, "trace r%d#%d %s start %" PRIu64 " unix-ns %" PRIu64 " ticks-per-second %.17g",
            trace->rank, trace->incarnation, atomic_load(&header->closed) ? "closed" : "open",
            header->start_ticks, header->start_unix_ns, header->ticks_per_second);
    fprintf(out, " pid %d world %d hash-mode %d", header->pid, header->world_size,
            header->hash_mode);
    if (atomic_load(&header->lost) != 0)
        fprintf(out, " lost %" PRIu32, atomic_load(&header->lost));
    if (next != trace->count + (trace->end != NULL))
        fprintf(out, " reserved %" PRIu64, next);
    if (atomic_load(&header->last_note) != last_note)
        fprintf(out, " last-note %" PRIu64, atomic_load(&header->last_note));
    if (header->helper)
        fputs(" helper", out);
    if (atomic_load(&header->libraries) != 0)
        fprintf(out, " libraries %" PRIu32, atomic_load(&header->libraries));
    if (atomic_load(&header->taken) != 0)
        fprintf(out, " taken %" PRIu64, atomic_load(&header->taken));
    if (atomic_load(&header->room) != 0)
        fprintf(out, " room %" PRIu64, atomic_load(&header->room));
    if (header->program[0] != '\0') {
        fputs(" program ", out);
        write_quoted(out, header->program, strnlen(header->program, sizeof header->program));
    }
    fputc('\n', out);
}

static void write_trace(FILE *out, const struct trace *trace)
{
    uint64_t last_note = 0, records = trace->count + (trace->end != NULL);
    for (uint64_t i = 0; i < trace->count; i++)
        if (trace->record[i].kind == RECORD_NOTE)
            last_note = i + 1;
    write_header(out, trace, last_note);
    last_note = 0;
    for (uint64_t i = 0; i < records; i++) {
        write_record(out, trace, i, last_note);
        if (trace->record[i].kind == RECORD_NOTE)
            last_note = i + 1;
    }
}

/* A record of a kind that has no name cannot be told: the trace is damaged there. */
static enum error_code check_kinds(const struct trace *trace, struct error *error)
{
    for (uint64_t i = 0; i < trace->count; i++) {
        unsigned kind = atomic_load_explicit(&trace->record[i].kind, memory_order_acquire);
        if (kind >= RECORD_KIND_COUNT)
            return error_set(error, ERROR_FORMAT,
                             "damaged trace: r%d#%d:e%" PRIu64 " is of kind %u; kinds are 0 to %d",
                             trace->rank, trace->incarnation, i, kind, RECORD_KIND_COUNT - 1);
    }
    return OK;
}

enum error_code trace_set_write(const struct trace_set *set, FILE *out, struct error *error)
{
    for (size_t i = 0; i < set->count; i++) {
        enum error_code code = check_kinds(&set->trace[i], error);
        if (code != OK)
            return code;
    }
    fprintf(out, "ranks %d", set->world);
    if (set->ranks > set->world)
        fprintf(out, " processes %d", set->ranks);
    fputc('\n', out);
    for (size_t i = 0; i < set->count; i++)
        write_trace(out, &set->trace[i]);
    if (fflush(out) != 0 || ferror(out))
        return error_set(error, ERROR_IO, "the text trace could not be written");
    return OK;
}
