/* Reads traces written as text, by hand or by trace_set_write. Errors name path, line, field and
 * what is accepted there. */
#include "base/nearest.h"
#include "trace/calls.h"
#include "trace/reader.h"
#include "trace/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 1024
#define TEXT_MAX_RECORDS 100000000u

/* Lines that belong to those who judge an example (oracles/README.md) and not to the traces. */
static const char *const others[] = {"about", "end",       "step",  "steps-done",
                                     "ended", "reference", "judge", "expect"};

/* A trace under construction. */
struct draft {
    struct trace_header header;
    bool given; /* a `trace` line said whether it is open */
    bool open;
    bool has_reserved, has_last_note;
    struct record *record;
    size_t count, room;
    uint64_t last_note;
};

struct parser {
    const char *path;
    unsigned line;
    const char *at; /* rest of the line */
    int ranks;      /* 0: not said */
    size_t draft_count;
    struct draft *draft;
    struct error *error;
};

/* --- words ---------------------------------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static enum error_code fail(const struct parser *parser,
                                                                  const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(parser->error, ERROR_FORMAT, "%s:%u: %s", parser->path, parser->line, text);
}

/* The next word. False at the end of the line; '#' between words begins a comment. */
static bool next_word(struct parser *parser, char word[WORD_BYTES])
{
    const char *at = parser->at;
    while (*at == ' ' || *at == '\t')
        at++;
    size_t length = strcspn(at, " \t\r\n");
    if (length == 0 || *at == '#') {
        parser->at = "";
        return false;
    }
    if (length >= WORD_BYTES)
        length = WORD_BYTES - 1;
    memcpy(word, at, length);
    word[length] = '\0';
    parser->at = at + length;
    return true;
}

static bool peek_word(const struct parser *parser, char word[WORD_BYTES])
{
    struct parser copy = *parser;
    return next_word(&copy, word);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* "text" with \" \\ \xHH. length of what was read in *length. */
static enum error_code quoted(struct parser *parser, const char *field, char *text, size_t room,
                              size_t *length)
{
    const char *at = parser->at + strspn(parser->at, " \t");
    size_t used = 0;
    if (*at++ != '"')
        return fail(parser, "%s: must be a text in double quotes", field);
    for (; *at != '"'; at++) {
        char c = *at;
        if (c == '\0' || c == '\n')
            return fail(parser, "%s: the double quote at the end is missing", field);
        if (c == '\\' && (at[1] == '"' || at[1] == '\\')) {
            c = *++at;
        } else if (c == '\\') {
            if (at[1] != 'x' || !isxdigit((unsigned char)at[2]) || !isxdigit((unsigned char)at[3]))
                return fail(parser, "%s: after \\ comes \", \\ or x and two hexadecimal digits",
                            field);
            c = (char)(hex_digit(at[2]) * 16 + hex_digit(at[3]));
            at += 3;
        }
        if (used == room)
            return fail(parser, "%s: longer than %zu bytes", field, room);
        text[used++] = c;
    }
    parser->at = at + 1;
    *length = used;
    return OK;
}

static enum error_code parse_number(const struct parser *parser, const char *field,
                                    const char *word, uint64_t highest, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoull(word, &end, 0);
    if (!isdigit((unsigned char)word[0]) || *end != '\0' || errno != 0 || *value > highest)
        return fail(parser, "%s: '%s' is not a number from 0 to %" PRIu64, field, word, highest);
    return OK;
}

static enum error_code number(struct parser *parser, const char *field, uint64_t highest,
                              uint64_t *value)
{
    char word[WORD_BYTES];
    if (!next_word(parser, word))
        return fail(parser, "%s: a number from 0 to %" PRIu64 " must follow", field, highest);
    return parse_number(parser, field, word, highest, value);
}

static enum error_code peer(struct parser *parser, const char *field, int64_t *value)
{
    char word[WORD_BYTES] = "";
    uint64_t rank = 0;
    next_word(parser, word);
    for (*value = PEER_UNKNOWN; *value < 0; (*value)++)
        if (strcmp(word, text_peer_name(*value)) == 0)
            return OK;
    if (!isdigit((unsigned char)word[0]))
        return fail(parser, "%s: '%s' is not a rank (0 to %d), any, null, none or unknown", field,
                    word, TEXT_RANKS - 1);
    enum error_code code = parse_number(parser, field, word, TEXT_RANKS - 1, &rank);
    *value = (int64_t)rank;
    return code;
}

static enum error_code tag(struct parser *parser, const char *field, int64_t *value)
{
    char word[WORD_BYTES] = "";
    char *end = NULL;
    next_word(parser, word);
    if (strcmp(word, "any") == 0) {
        *value = TAG_ANY;
        return OK;
    }
    *value = strtol(word, &end, 0);
    if (end == word || *end != '\0' || *value < INT32_MIN || *value > INT32_MAX)
        return fail(parser, "%s: '%s' is not a tag (a number, or any)", field, word);
    return OK;
}

/* --- drafts --------------------------------------------------------------------------------------
 */

static enum error_code add_draft(struct parser *parser, int rank, int incarnation,
                                 struct draft **draft)
{
    struct draft *grown = realloc(parser->draft, (parser->draft_count + 1) * sizeof *parser->draft);
    if (grown == NULL)
        return error_set(parser->error, ERROR_MEMORY, "%s: no memory for its traces", parser->path);
    parser->draft = grown;
    *draft = &grown[parser->draft_count++];
    memset(*draft, 0, sizeof **draft);
    (*draft)->header = (struct trace_header){
        .magic = TRACE_MAGIC,
        .version = TRACE_VERSION,
        .record_bytes = TRACE_RECORD_BYTES,
        .rank = rank,
        .incarnation = incarnation,
        .start_ticks = (uint64_t)incarnation * TEXT_TICKS_PER_SECOND + 1,
        .ticks_per_second = TEXT_TICKS_PER_SECOND,
        .hash_mode = 2,
    };
    return OK;
}

/* "r2#1" or "r2#1:e9"; *index is SIZE_MAX without the event. */
static enum error_code place(struct parser *parser, const char *word, struct draft **draft,
                             size_t *index)
{
    int rank = -1, incarnation = -1, used = 0, more = 0;
    unsigned long event = 0;
    *index = SIZE_MAX;
    if (sscanf(word, "r%d#%d%n", &rank, &incarnation, &used) < 2 || rank < 0 || incarnation < 0 ||
        rank >= TEXT_RANKS || incarnation >= TEXT_INCARNATIONS)
        return fail(parser, "'%s' is not r<rank>#<incarnation>, as in r0#0", word);
    if (word[used] != '\0') {
        if (sscanf(word + used, ":e%lu%n", &event, &more) < 1 || word[used + more] != '\0')
            return fail(parser, "'%s' is not r<rank>#<incarnation>:e<event>, as in r0#0:e5", word);
        *index = event;
    }
    for (size_t i = 0; i < parser->draft_count; i++) {
        *draft = &parser->draft[i];
        if ((*draft)->header.rank == rank && (*draft)->header.incarnation == incarnation)
            return OK;
    }
    return add_draft(parser, rank, incarnation, draft);
}

static enum error_code add_record(struct parser *parser, struct draft *draft,
                                  struct record **record)
{
    if (draft->count == draft->room) {
        size_t room = draft->room ? 2 * draft->room : 64;
        struct record *grown =
            room > TEXT_MAX_RECORDS ? NULL : realloc(draft->record, room * sizeof *draft->record);
        if (grown == NULL)
            return error_set(parser->error, ERROR_MEMORY, "%s:%u: no memory for more records",
                             parser->path, parser->line);
        draft->record = grown;
        draft->room = room;
    }
    *record = &draft->record[draft->count++];
    memset(*record, 0, sizeof **record);
    return OK;
}

/* --- records -------------------------------------------------------------------------------------
 */

struct line {
    struct record record;
    unsigned kind;
    bool got;
    bool given[FIELD_COUNT];
    bool timed, ended, in_progress;
    char name[WORD_BYTES]; /* of a note; TEXT records follow */
    size_t name_length;
    int32_t member[WORD_BYTES]; /* of a communicator; GROUP records follow */
    size_t member_count, remote_count;
    bool has_members;
};

static enum error_code unknown_word(const struct parser *parser, unsigned kind, const char *word)
{
    char accepted[400];
    const char *names[64];
    size_t used = 0, count = 0;
    for (size_t i = 0; i < text_word_count && count < 64; i++)
        if (text_words[i].kinds & 1u << kind)
            names[count++] = text_words[i].word;
    for (size_t i = 0; i < text_flag_count && count < 60; i++)
        names[count++] = text_flags[i].word;
    names[count++] = "at";
    names[count++] = "until";
    names[count++] = "in-progress";
    accepted[0] = '\0';
    for (size_t i = 0; i < count && used + 32 < sizeof accepted; i++)
        used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s%s", i ? ", " : "",
                                 names[i]);
    const char *nearest = nearest_name(word, names, count);
    return fail(parser, "a %s has no field '%s'%s%s%s; it has %s", record_kind_text(kind), word,
                nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "",
                accepted);
}

static enum error_code parse_members(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES];
    uint64_t value;
    size_t *count = &line->member_count;
    line->has_members = true;
    while (peek_word(parser, word)) {
        if (strcmp(word, "remote") == 0 && count == &line->member_count) {
            line->record.flags |= FLAG_INTER;
            count = &line->remote_count;
        } else if (!isdigit((unsigned char)word[0])) {
            break;
        } else if (parse_number(parser, "members", word, TEXT_RANKS - 1, &value) != OK) {
            return ERROR_FORMAT;
        } else if (line->member_count + line->remote_count == WORD_BYTES) {
            return fail(parser, "members: more than %d", WORD_BYTES);
        } else {
            line->member[line->member_count + line->remote_count] = (int32_t)value;
            (*count)++;
        }
        next_word(parser, word);
    }
    return OK;
}

static uint64_t highest(enum text_field field)
{
    switch (field) {
    case FIELD_COMM:
    case FIELD_REQUEST:
        return UINT32_MAX;
    case FIELD_THREAD:
    case FIELD_CALL:
        return UINT16_MAX;
    case FIELD_ERROR:
        return UINT8_MAX;
    default:
        return UINT64_MAX;
    }
}

static enum error_code parse_value(struct parser *parser, struct line *line,
                                   const struct text_word *word)
{
    int64_t value = 0;
    uint64_t positive = 0;
    enum error_code code;
    if (word->field == FIELD_PEER || word->field == FIELD_WANT_PEER) {
        code = peer(parser, word->word, &value);
    } else if (word->field == FIELD_TAG || word->field == FIELD_WANT_TAG) {
        code = tag(parser, word->word, &value);
    } else {
        code = number(parser, word->word, highest(word->field), &positive);
        value = (int64_t)positive;
    }
    if (strcmp(word->word, "got") == 0)
        line->got = true;
    line->given[word->field] = true;
    text_set(&line->record, word->field, value);
    return code;
}

static enum error_code parse_time(struct parser *parser, struct line *line, const char *word)
{
    uint64_t ticks = 0;
    if (strcmp(word, "in-progress") == 0) {
        line->in_progress = true;
        return OK;
    }
    enum error_code code = number(parser, word, UINT64_MAX, &ticks);
    if (strcmp(word, "at") == 0) {
        line->record.enter = ticks;
        line->timed = true;
    } else {
        line->record.leave = ticks;
        line->ended = true;
    }
    return code;
}

static bool is_time(const char *word)
{
    return strcmp(word, "at") == 0 || strcmp(word, "until") == 0 ||
           strcmp(word, "in-progress") == 0;
}

static enum error_code parse_field(struct parser *parser, struct line *line, const char *word)
{
    if (is_time(word))
        return parse_time(parser, line, word);
    if (line->kind == RECORD_NOTE && strcmp(word, "name") == 0)
        return quoted(parser, "name", line->name, WORD_BYTES, &line->name_length);
    if (line->kind == RECORD_COMM && strcmp(word, "members") == 0)
        return parse_members(parser, line);
    for (size_t i = 0; i < text_flag_count; i++) {
        if (strcmp(word, text_flags[i].word) == 0) {
            line->record.flags |= text_flags[i].flag;
            return OK;
        }
    }
    for (size_t i = 0; i < text_word_count; i++) {
        const struct text_word *candidate = &text_words[i];
        if ((candidate->kinds & 1u << line->kind) && strcmp(word, candidate->word) == 0 &&
            !(candidate->behind_got && !line->got) && !(candidate->before_got && line->got))
            return parse_value(parser, line, candidate);
    }
    return unknown_word(parser, line->kind, word);
}

/* The number of `word` in one of the lists of record.h, or an error that lists them. */
static enum error_code from_list(const struct parser *parser, const char *what, const char *word,
                                 const char *(*text)(unsigned), unsigned count, unsigned *value)
{
    char accepted[300] = "";
    size_t used = 0;
    for (*value = 0; *value < count; (*value)++) {
        if (strcmp(word, text(*value)) == 0)
            return OK;
        used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s%s",
                                 *value ? ", " : "", text(*value));
    }
    return fail(parser, "'%s' is not a %s; there are: %s", word, what, accepted);
}

/* What stands behind `note` and `fault` without a word of its own. */
static enum error_code parse_note_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned kind = 0;
    next_word(parser, word);
    enum error_code code = from_list(parser, "note", word, note_kind_text, NOTE_KIND_COUNT, &kind);
    line->record.tag = (int32_t)kind;
    if (code == OK && peek_word(parser, word) && isdigit((unsigned char)word[0]))
        code = number(parser, "value", UINT64_MAX, &line->record.bytes);
    return code;
}

static enum error_code parse_fault_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned kind = 0;
    int64_t victim = 0;
    next_word(parser, word);
    enum error_code code =
        from_list(parser, "fault", word, fault_kind_text, FAULT_KIND_COUNT, &kind);
    line->record.comm = kind;
    if (code == OK && peek_word(parser, word) &&
        (isdigit((unsigned char)word[0]) || strcmp(word, "null") == 0 || strcmp(word, "any") == 0 ||
         strcmp(word, "none") == 0 || strcmp(word, "unknown") == 0)) {
        code = peer(parser, "victim", &victim);
        line->record.peer = (int32_t)victim;
    }
    return code;
}

static enum error_code parse_call_name(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES];
    if (!peek_word(parser, word) || strncmp(word, "MPI", 3) != 0)
        return OK;
    next_word(parser, word);
    line->record.call = (uint16_t)call_from_name(word);
    if (line->record.call == CALL_NONE)
        return fail(parser, "'%s' is not an MPI function that Faultline knows (trace/calls.def)",
                    word);
    return OK;
}

/* `app send`, `note checkpoint`, `none` ... up to the fields. */
static enum error_code parse_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned level = LEVEL_SELF;
    bool has_level = false;
    next_word(parser, word);
    for (unsigned i = 0; i <= LEVEL_SELF && !has_level; i++) {
        has_level = strcmp(word, level_text(i)) == 0;
        level = i;
    }
    if (has_level) {
        word[0] = '\0';
        next_word(parser, word);
    }
    enum error_code code =
        from_list(parser, "kind of record", word, record_kind_text, RECORD_KIND_COUNT, &line->kind);
    if (code != OK)
        return code;
    bool own = line->kind == RECORD_NONE || line->kind == RECORD_NOTE ||
               line->kind == RECORD_FAULT || line->kind == RECORD_TEXT ||
               line->kind == RECORD_GROUP;
    if (!has_level && !own)
        return fail(parser, "%s: its level (app, wire or self) must stand before it", word);
    line->record.level = (uint8_t)level;
    if (line->kind == RECORD_NONE)
        line->record.level = 0;
    if (line->kind == RECORD_NOTE)
        code = parse_note_start(parser, line);
    if (line->kind == RECORD_FAULT)
        code = parse_fault_start(parser, line);
    return code == OK ? parse_call_name(parser, line) : code;
}

static enum error_code parse_group(struct parser *parser, struct record *record)
{
    char word[WORD_BYTES];
    for (int i = 0; i < RECORD_GROUP_MEMBERS; i++)
        record->members[i] = -1;
    for (int i = 0; peek_word(parser, word) && strcmp(word, "thread") != 0; i++) {
        int64_t member = -1;
        if (i == RECORD_GROUP_MEMBERS)
            return fail(parser, "group: more than %d members", RECORD_GROUP_MEMBERS);
        if (strcmp(word, "-1") == 0)
            next_word(parser, word);
        else if (tag(parser, "group", &member) != OK)
            return ERROR_FORMAT;
        record->members[i] = (int32_t)member;
    }
    return OK;
}

static enum error_code parse_thread(struct parser *parser, struct record *record)
{
    char word[WORD_BYTES];
    uint64_t thread = 0;
    if (!next_word(parser, word))
        return OK;
    if (strcmp(word, "thread") != 0)
        return fail(parser, "'%s': only thread may follow here", word);
    enum error_code code = number(parser, "thread", UINT16_MAX, &thread);
    record->thread = (uint16_t)thread;
    return code;
}

/* TEXT, GROUP: no fields but these. */
static enum error_code parse_appendix(struct parser *parser, struct draft *draft,
                                      const struct line *line)
{
    struct record *record;
    size_t length;
    char text[RECORD_TEXT_BYTES];
    memset(text, 0, sizeof text);
    enum error_code code = add_record(parser, draft, &record);
    if (code != OK)
        return code;
    record->kind = (uint8_t)line->kind;
    record->level = line->record.level;
    record->call = line->record.call;
    if (line->kind == RECORD_TEXT) {
        code = quoted(parser, "text", text, sizeof text, &length);
        memcpy(record->text, text, sizeof text);
    } else {
        code = parse_group(parser, record);
    }
    return code == OK ? parse_thread(parser, record) : code;
}

static enum error_code add_name(struct parser *parser, struct draft *draft, const struct line *line)
{
    enum error_code code = OK;
    for (size_t at = 0; at < line->name_length && code == OK; at += RECORD_TEXT_BYTES) {
        struct record *record;
        size_t left = line->name_length - at;
        code = add_record(parser, draft, &record);
        if (code != OK)
            break;
        record->kind = RECORD_TEXT;
        record->level = line->record.level;
        memcpy(record->text, line->name + at, left < RECORD_TEXT_BYTES ? left : RECORD_TEXT_BYTES);
    }
    return code;
}

static enum error_code add_group(struct parser *parser, struct draft *draft,
                                 const struct line *line, size_t from, size_t count)
{
    enum error_code code = OK;
    for (size_t at = 0; at < count && code == OK; at += RECORD_GROUP_MEMBERS) {
        struct record *record;
        code = add_record(parser, draft, &record);
        if (code != OK)
            break;
        record->kind = RECORD_GROUP;
        record->level = line->record.level;
        for (size_t i = 0; i < RECORD_GROUP_MEMBERS; i++)
            record->members[i] = at + i < count ? line->member[from + at + i] : -1;
    }
    return code;
}

static void fill_defaults(const struct parser *parser, const struct draft *draft, struct line *line)
{
    struct record *record = &line->record;
    uint64_t start = (uint64_t)draft->header.incarnation * TEXT_TICKS_PER_SECOND;
    for (enum text_field field = 0; field < FIELD_COUNT; field++)
        if (!line->given[field] && text_default(line->kind, field) != 0)
            text_set(record, field, text_default(line->kind, field));
    if (!line->given[FIELD_HASH] && text_hash_expected(line->kind, line->got))
        record->flags |= FLAG_NO_HASH;
    if (!line->timed)
        record->enter = start + (uint64_t)parser->line * TEXT_TICKS_PER_LINE;
    if (!line->ended && !line->in_progress)
        record->leave = record->enter + TEXT_TICKS_IN_CALL;
    if (line->has_members) {
        record->tag = (int32_t)line->member_count;
        if (record->flags & FLAG_INTER)
            record->hash = line->remote_count;
    }
    if (line->kind == RECORD_NOTE && !line->given[FIELD_RESULT])
        record->previous_note = draft->last_note;
}

static enum error_code check_line(const struct parser *parser, const struct line *line)
{
    if (line->kind == RECORD_SEND && !line->given[FIELD_PEER])
        return fail(parser, "a send needs `to` and a rank");
    bool receives = line->kind == RECORD_RECV || line->kind == RECORD_PROBE;
    if (receives && !line->given[FIELD_WANT_PEER] && !(line->record.flags & FLAG_MATCHED))
        return fail(parser, "a %s needs `from` and a rank, or any", record_kind_text(line->kind));
    if (line->in_progress && line->ended)
        return fail(parser, "until: a call in progress has no end");
    if (line->record.leave != 0 && line->record.leave < line->record.enter)
        return fail(parser, "until: must not be before `at`");
    return OK;
}

static enum error_code parse_record(struct parser *parser, struct draft *draft, size_t index)
{
    static struct line line;
    char word[WORD_BYTES];
    struct record *record;
    memset(&line, 0, sizeof line);
    if (index != SIZE_MAX && index != draft->count)
        return fail(parser, "event e%zu: the next event of this trace is e%zu", index,
                    draft->count);
    enum error_code code = parse_start(parser, &line);
    if (code == OK && (line.kind == RECORD_TEXT || line.kind == RECORD_GROUP))
        return parse_appendix(parser, draft, &line);
    while (code == OK && line.kind != RECORD_NONE && next_word(parser, word))
        code = parse_field(parser, &line, word);
    if (code == OK)
        code = check_line(parser, &line);
    if (code == OK)
        code = add_record(parser, draft, &record);
    if (code != OK || line.kind == RECORD_NONE)
        return code;
    fill_defaults(parser, draft, &line);
    *record = line.record;
    record->kind = (uint8_t)line.kind;
    if (line.kind == RECORD_NOTE)
        draft->last_note = draft->count;
    code = add_name(parser, draft, &line);
    if (code == OK)
        code = add_group(parser, draft, &line, 0, line.member_count);
    return code == OK ? add_group(parser, draft, &line, line.member_count, line.remote_count)
                      : code;
}

/* --- headers -------------------------------------------------------------------------------------
 */

static enum error_code parse_header_number(struct parser *parser, struct draft *draft,
                                           const char *word)
{
    struct trace_header *header = &draft->header;
    uint64_t value = 0;
    static const char *const words[] = {"start",     "unix-ns", "pid",      "world",
                                        "hash-mode", "lost",    "reserved", "last-note"};
    size_t which = 0;
    while (which < sizeof words / sizeof words[0] && strcmp(word, words[which]) != 0)
        which++;
    if (which == sizeof words / sizeof words[0])
        return fail(parser,
                    "a trace has no field '%s'; it has open, closed, start, unix-ns, "
                    "ticks-per-second, pid, world, hash-mode, lost, reserved, last-note, "
                    "program",
                    word);
    bool small = which >= 2 && which <= 5;
    enum error_code code = number(parser, word, small ? INT32_MAX : UINT64_MAX, &value);
    draft->has_reserved |= which == 6;
    draft->has_last_note |= which == 7;
    switch (which) {
    case 0:
        header->start_ticks = value;
        break;
    case 1:
        header->start_unix_ns = value;
        break;
    case 2:
        header->pid = (int32_t)value;
        break;
    case 3:
        header->world_size = (int32_t)value;
        break;
    case 4:
        header->hash_mode = (int32_t)value;
        break;
    case 5:
        header->lost = (uint32_t)value;
        break;
    case 6:
        header->next = value;
        break;
    default:
        header->last_note = value;
        break;
    }
    return code;
}

static enum error_code parse_header_field(struct parser *parser, struct draft *draft,
                                          const char *word)
{
    size_t length = 0;
    if (strcmp(word, "open") == 0 || strcmp(word, "closed") == 0) {
        draft->given = true;
        draft->open = word[0] == 'o';
        return OK;
    }
    if (strcmp(word, "program") == 0)
        return quoted(parser, word, draft->header.program, sizeof draft->header.program - 1,
                      &length);
    if (strcmp(word, "ticks-per-second") == 0) {
        char value[WORD_BYTES] = "";
        char *end = NULL;
        next_word(parser, value);
        draft->header.ticks_per_second = strtod(value, &end);
        return *end == '\0' && draft->header.ticks_per_second > 0
                   ? OK
                   : fail(parser, "ticks-per-second: '%s' is not a number above 0", value);
    }
    return parse_header_number(parser, draft, word);
}

static enum error_code parse_header(struct parser *parser)
{
    char word[WORD_BYTES] = "";
    struct draft *draft;
    size_t index;
    next_word(parser, word);
    enum error_code code = place(parser, word, &draft, &index);
    while (code == OK && next_word(parser, word))
        code = parse_header_field(parser, draft, word);
    return code;
}

static enum error_code parse_ranks(struct parser *parser)
{
    uint64_t ranks = 0;
    enum error_code code = number(parser, "ranks", TEXT_RANKS, &ranks);
    if (code == OK && ranks == 0)
        return fail(parser, "ranks: must be 1 to %d", TEXT_RANKS);
    parser->ranks = (int)ranks;
    return code;
}

/* --- the file ------------------------------------------------------------------------------------
 */

static bool is_of_others(const char *word)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(word, others[i]) == 0)
            return true;
    return false;
}

static enum error_code parse_line(struct parser *parser)
{
    char word[WORD_BYTES];
    struct draft *draft;
    size_t index;
    if (!next_word(parser, word) || is_of_others(word))
        return OK;
    if (strcmp(word, "ranks") == 0)
        return parse_ranks(parser);
    if (strcmp(word, "trace") == 0)
        return parse_header(parser);
    if (word[0] != 'r' || !isdigit((unsigned char)word[1]))
        return fail(parser,
                    "'%s' begins no line; lines begin with r<rank>#<incarnation>, ranks, "
                    "trace, about, end, step, steps-done, ended, reference, judge or expect",
                    word);
    enum error_code code = place(parser, word, &draft, &index);
    return code == OK ? parse_record(parser, draft, index) : code;
}

/* A trace whose rank was in a call, was killed, or was started again later, was not closed. */
static bool looks_open(const struct parser *parser, const struct draft *draft)
{
    for (size_t i = 0; i < draft->count; i++) {
        unsigned kind = draft->record[i].kind;
        if (kind == RECORD_NONE ||
            (kind != RECORD_TEXT && kind != RECORD_GROUP && draft->record[i].leave == 0))
            return true;
    }
    for (size_t k = 0; k < parser->draft_count; k++) {
        const struct draft *other = &parser->draft[k];
        if (other->header.incarnation > draft->header.incarnation)
            return true;
        for (size_t i = 0; i < other->count; i++)
            if (other->record[i].kind == RECORD_FAULT &&
                other->header.incarnation == draft->header.incarnation &&
                (other->record[i].comm == FAULT_KILL ||
                 other->record[i].comm == FAULT_KILL_INSIDE) &&
                other->record[i].peer == draft->header.rank)
                return true;
    }
    return false;
}

static int count_ranks(const struct parser *parser)
{
    int ranks = parser->ranks;
    for (size_t i = 0; i < parser->draft_count && parser->ranks == 0; i++)
        if (parser->draft[i].header.rank >= ranks)
            ranks = parser->draft[i].header.rank + 1;
    return ranks;
}

static enum error_code finish_draft(struct parser *parser, struct draft *draft, int ranks,
                                    struct trace *trace)
{
    struct trace_header *header = &draft->header;
    size_t bytes = TRACE_HEADER_BYTES + draft->count * TRACE_RECORD_BYTES;
    if (header->rank >= ranks)
        return error_set(parser->error, ERROR_FORMAT, "%s: rank %d, but `ranks` says there are %d",
                         parser->path, header->rank, ranks);
    char *block = aligned_alloc(TRACE_RECORD_BYTES, bytes);
    if (block == NULL)
        return error_set(parser->error, ERROR_MEMORY, "%s: no memory for its traces", parser->path);
    header->ranks = ranks;
    header->closed = draft->given ? !draft->open : !looks_open(parser, draft);
    if (!draft->has_reserved)
        header->next = draft->count;
    if (!draft->has_last_note)
        header->last_note = draft->last_note;
    memset(block, 0, TRACE_HEADER_BYTES);
    memcpy(block, header, sizeof *header);
    if (draft->count > 0)
        memcpy(block + TRACE_HEADER_BYTES, draft->record, draft->count * TRACE_RECORD_BYTES);
    *trace = (struct trace){.rank = header->rank,
                            .incarnation = header->incarnation,
                            .header = (const void *)block,
                            .record = (const void *)(block + TRACE_HEADER_BYTES),
                            .count = draft->count};
    return OK;
}

static enum error_code finish(struct parser *parser, struct trace_set *set)
{
    int ranks = count_ranks(parser);
    enum error_code code = OK;
    if (parser->draft_count == 0)
        return error_set(parser->error, ERROR_FORMAT, "%s: no trace in it", parser->path);
    set->trace = calloc(parser->draft_count, sizeof *set->trace);
    if (set->trace == NULL)
        return error_set(parser->error, ERROR_MEMORY, "%s: no memory for its traces", parser->path);
    for (size_t i = 0; i < parser->draft_count && code == OK; i++) {
        code = finish_draft(parser, &parser->draft[i], ranks, &set->trace[set->count]);
        set->count += code == OK;
    }
    return code == OK ? trace_set_finish(parser->path, set, parser->error) : code;
}

static enum error_code parse_lines(struct parser *parser, FILE *in)
{
    static char text[TEXT_LINE_BYTES];
    enum error_code code = OK;
    while (code == OK && fgets(text, sizeof text, in) != NULL) {
        parser->line++;
        parser->at = text;
        if (strlen(text) == sizeof text - 1)
            code = fail(parser, "longer than %zu bytes", sizeof text - 2);
        else
            code = parse_line(parser);
    }
    if (code == OK && ferror(in))
        code = error_set(parser->error, ERROR_IO, "%s: %s", parser->path, strerror(errno));
    return code;
}

enum error_code trace_set_parse(const char *path, struct trace_set *set, struct error *error)
{
    struct parser parser = {.path = path, .error = error};
    memset(set, 0, sizeof *set);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    enum error_code code = parse_lines(&parser, in);
    fclose(in);
    if (code == OK)
        code = finish(&parser, set);
    for (size_t i = 0; i < parser.draft_count; i++)
        free(parser.draft[i].record);
    free(parser.draft);
    if (code != OK)
        trace_set_release(set);
    return code;
}
