/* One line of a text trace that is a record, or several: see text_parse.h. */
#include "base/nearest.h"
#include "trace/calls.h"
#include "traces/text_parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    struct record record;
    unsigned kind;
    bool got;
    bool given[FIELD_COUNT];
    bool timed, ended, in_progress;
    uint64_t lasts;        /* lines below this one during which the call goes on */
    char name[WORD_BYTES]; /* of a note, path of a storage call; TEXT records follow */
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
    names[count++] = "lasts";
    names[count++] = "in-progress";
    accepted[0] = '\0';
    for (size_t i = 0; i < count && used + 32 < sizeof accepted; i++)
        used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s%s", i ? ", " : "",
                                 names[i]);
    const char *nearest = nearest_name(word, names, count);
    return text_fail(parser, "a %s has no field '%s'%s%s%s; it has %s", record_kind_text(kind),
                     word, nearest ? " (did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?)" : "", accepted);
}

static enum error_code parse_members(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES];
    uint64_t value;
    size_t *count = &line->member_count;
    line->has_members = true;
    while (text_peek_word(parser, word)) {
        if (strcmp(word, "remote") == 0 && count == &line->member_count) {
            line->record.flags |= FLAG_INTER;
            count = &line->remote_count;
        } else if (!isdigit((unsigned char)word[0])) {
            break;
        } else if (text_parse_number(parser, "members", word, TEXT_RANKS - 1, &value) != OK) {
            return ERROR_FORMAT;
        } else if (line->member_count + line->remote_count == WORD_BYTES) {
            return text_fail(parser, "members: more than %d", WORD_BYTES);
        } else {
            line->member[line->member_count + line->remote_count] = (int32_t)value;
            (*count)++;
        }
        text_next_word(parser, word);
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

/* A number, or a word for what a death raises. */
static enum error_code parse_error(struct parser *parser, uint64_t *value)
{
    char word[WORD_BYTES];
    const char *known;
    for (*value = 0; text_peek_word(parser, word) && *value < UINT8_MAX; ++*value) {
        known = raised_text((unsigned)*value);
        if (known == NULL || strcmp(word, known) != 0)
            continue;
        text_next_word(parser, word);
        return OK;
    }
    return text_number(parser, "error", UINT8_MAX, value);
}

static enum error_code parse_value(struct parser *parser, struct line *line,
                                   const struct text_word *word)
{
    int64_t value = 0;
    uint64_t positive = 0;
    enum error_code code;
    if (word->field == FIELD_PEER || word->field == FIELD_WANT_PEER) {
        code = text_peer(parser, word->word, &value);
    } else if (word->field == FIELD_TAG || word->field == FIELD_WANT_TAG) {
        code = text_tag(parser, word->word, &value);
    } else if (word->field == FIELD_ERROR) {
        code = parse_error(parser, &positive);
        value = (int64_t)positive;
    } else {
        code = text_number(parser, word->word, highest(word->field), &positive);
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
    enum error_code code = text_number(parser, word, UINT64_MAX, &ticks);
    if (strcmp(word, "lasts") == 0) {
        line->lasts = ticks;
    } else if (strcmp(word, "at") == 0) {
        line->record.enter = ticks;
        line->timed = true;
    } else {
        line->record.leave = ticks;
        line->ended = true;
    }
    return code;
}

/* Of a result that is a number: it, or its tolerance. */
static enum error_code parse_number(struct parser *parser, const char *word, uint64_t *bits)
{
    char text[WORD_BYTES] = "", *rest;
    text_next_word(parser, text);
    *bits = trace_bits(strtod(text, &rest));
    return rest != text && *rest == '\0'
               ? OK
               : text_fail(parser, "%s: '%s' is not a number", word, text);
}

static bool is_time(const char *word)
{
    return strcmp(word, "at") == 0 || strcmp(word, "until") == 0 || strcmp(word, "lasts") == 0 ||
           strcmp(word, "in-progress") == 0;
}

static enum error_code parse_field(struct parser *parser, struct line *line, const char *word)
{
    if (is_time(word))
        return parse_time(parser, line, word);
    bool near = line->kind == RECORD_NOTE && line->record.tag == NOTE_NEAR;
    if (near && strcmp(word, "number") == 0)
        return parse_number(parser, word, &line->record.hash);
    if (near && strcmp(word, "tolerance") == 0)
        return parse_number(parser, word, &line->record.bytes);
    if (line->kind == RECORD_NOTE && strcmp(word, "name") == 0)
        return text_quoted(parser, "name", line->name, WORD_BYTES, &line->name_length);
    if (line->kind == RECORD_STORAGE && strcmp(word, "path") == 0)
        return text_quoted(parser, "path", line->name, WORD_BYTES, &line->name_length);
    if ((line->kind == RECORD_COMM || line->kind == RECORD_FAILED) && strcmp(word, "members") == 0)
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
            !(candidate->after_got && !line->got) && !(candidate->before_got && line->got))
            return parse_value(parser, line, candidate);
    }
    return unknown_word(parser, line->kind, word);
}

/* The number of `word` in one of the lists of record.h, or an error that lists them. */
static enum error_code from_list(const struct parser *parser, const char *what, const char *word,
                                 const char *(*text)(unsigned), unsigned count, unsigned *value)
{
    char accepted[600] = "";
    size_t used = 0;
    for (*value = 0; *value < count; (*value)++) {
        if (strcmp(word, text(*value)) == 0)
            return OK;
        if (used < sizeof accepted)
            used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s%s",
                                     *value ? ", " : "", text(*value));
    }
    return text_fail(parser, "'%s' is not a %s; there are: %s", word, what, accepted);
}

/* What stands after `note` and `fault` without a word of its own. */
static enum error_code parse_note_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned kind = 0;
    text_next_word(parser, word);
    enum error_code code = from_list(parser, "note", word, note_kind_text, NOTE_KIND_COUNT, &kind);
    line->record.tag = (int32_t)kind;
    if (code == OK && text_peek_word(parser, word) && isdigit((unsigned char)word[0]))
        code = text_number(parser, "value", UINT64_MAX, &line->record.bytes);
    return code;
}

static enum error_code parse_fault_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned kind = 0;
    int64_t victim = 0;
    text_next_word(parser, word);
    enum error_code code =
        from_list(parser, "fault", word, fault_kind_text, FAULT_KIND_COUNT, &kind);
    line->record.comm = kind;
    if (code == OK && text_peek_word(parser, word) &&
        (isdigit((unsigned char)word[0]) || strcmp(word, "null") == 0 || strcmp(word, "any") == 0 ||
         strcmp(word, "none") == 0 || strcmp(word, "unknown") == 0)) {
        code = text_peer(parser, "victim", &victim);
        line->record.peer = (int32_t)victim;
    }
    return code;
}

static enum error_code parse_storage_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned kind = 0;
    text_next_word(parser, word);
    enum error_code code =
        from_list(parser, "call on the store", word, storage_call_text, STORAGE_CALL_COUNT, &kind);
    line->record.tag = (int32_t)kind;
    return code;
}

static enum error_code parse_call_name(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES];
    if (!text_peek_word(parser, word) || strncmp(word, "MPI", 3) != 0)
        return OK;
    text_next_word(parser, word);
    line->record.call = (uint16_t)call_from_name(word);
    if (line->record.call == CALL_NONE)
        return text_fail(
            parser, "'%s' is not an MPI function that Faultline knows (trace/calls.def)", word);
    return OK;
}

/* `app send`, `note checkpoint`, `none` ... up to the fields. */
static enum error_code parse_start(struct parser *parser, struct line *line)
{
    char word[WORD_BYTES] = "";
    unsigned level = LEVEL_SELF;
    bool has_level = false;
    text_next_word(parser, word);
    for (unsigned i = 0; i <= LEVEL_SELF && !has_level; i++) {
        has_level = strcmp(word, level_text(i)) == 0;
        level = i;
    }
    if (has_level) {
        word[0] = '\0';
        text_next_word(parser, word);
    }
    enum error_code code =
        from_list(parser, "kind of record", word, record_kind_text, RECORD_KIND_COUNT, &line->kind);
    if (code != OK)
        return code;
    bool own = line->kind == RECORD_NONE || line->kind == RECORD_NOTE ||
               line->kind == RECORD_FAULT || line->kind == RECORD_TEXT ||
               line->kind == RECORD_GROUP || line->kind == RECORD_STORAGE ||
               line->kind == RECORD_END;
    if (!has_level && !own)
        return text_fail(parser, "%s: its level (app, wire or self) must stand before it", word);
    line->record.level = (uint8_t)level;
    if (line->kind == RECORD_NONE)
        line->record.level = 0;
    if (line->kind == RECORD_NOTE)
        code = parse_note_start(parser, line);
    if (line->kind == RECORD_FAULT)
        code = parse_fault_start(parser, line);
    if (line->kind == RECORD_STORAGE)
        code = parse_storage_start(parser, line);
    return code == OK ? parse_call_name(parser, line) : code;
}

static enum error_code parse_group(struct parser *parser, struct record *record)
{
    char word[WORD_BYTES];
    for (int i = 0; i < RECORD_GROUP_MEMBERS; i++)
        record->members[i] = -1;
    for (int i = 0; text_peek_word(parser, word) && strcmp(word, "thread") != 0; i++) {
        int64_t member = -1;
        if (i == RECORD_GROUP_MEMBERS)
            return text_fail(parser, "group: more than %d members", RECORD_GROUP_MEMBERS);
        if (strcmp(word, "-1") == 0)
            text_next_word(parser, word);
        else if (text_tag(parser, "group", &member) != OK)
            return ERROR_FORMAT;
        record->members[i] = (int32_t)member;
    }
    return OK;
}

static enum error_code parse_thread(struct parser *parser, struct record *record)
{
    char word[WORD_BYTES];
    uint64_t thread = 0;
    if (!text_next_word(parser, word))
        return OK;
    if (strcmp(word, "thread") != 0)
        return text_fail(parser, "'%s': only thread may follow here", word);
    enum error_code code = text_number(parser, "thread", UINT16_MAX, &thread);
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
    enum error_code code = text_add_record(parser, draft, &record);
    if (code != OK)
        return code;
    record->kind = (uint8_t)line->kind;
    record->level = line->record.level;
    record->call = line->record.call;
    if (line->kind == RECORD_TEXT) {
        code = text_quoted(parser, "text", text, sizeof text, &length);
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
        code = text_add_record(parser, draft, &record);
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
        code = text_add_record(parser, draft, &record);
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
    bool told = line->kind == RECORD_NOTE && note_names_peer((unsigned)record->tag);
    if (!line->given[FIELD_HASH] && (told || text_hash_expected(line->kind, line->got)))
        record->flags |= FLAG_NO_HASH;
    if (!line->given[FIELD_COMM] && told)
        record->comm = COMM_WORLD_ID;
    if (!line->timed)
        record->enter = start + (uint64_t)parser->line * TEXT_TICKS_PER_LINE;
    if (!line->ended && !line->in_progress)
        record->leave = record->enter + line->lasts * TEXT_TICKS_PER_LINE +
                        (line->kind == RECORD_END ? 0 : TEXT_TICKS_IN_CALL);
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
        return text_fail(parser, "a send needs `to` and a rank");
    bool receives = line->kind == RECORD_RECV || line->kind == RECORD_PROBE;
    if (receives && !line->given[FIELD_WANT_PEER] && !(line->record.flags & FLAG_MATCHED))
        return text_fail(parser, "a %s needs `from` and a rank, or any",
                         record_kind_text(line->kind));
    if (line->in_progress && line->ended)
        return text_fail(parser, "until: a call in progress has no end");
    if (line->record.leave != 0 && line->record.leave < line->record.enter)
        return text_fail(parser, "until: must not be before `at`, which is %" PRIu64,
                         line->record.enter);
    return OK;
}

enum error_code text_parse_record(struct parser *parser, struct draft *draft, size_t index)
{
    static struct line line;
    char word[WORD_BYTES];
    struct record *record;
    memset(&line, 0, sizeof line);
    if (index != SIZE_MAX && index != draft->count)
        return text_fail(parser, "event e%zu: the next event of this trace is e%zu", index,
                         draft->count);
    enum error_code code = parse_start(parser, &line);
    if (code == OK && (line.kind == RECORD_TEXT || line.kind == RECORD_GROUP))
        return parse_appendix(parser, draft, &line);
    while (code == OK && line.kind != RECORD_NONE && text_next_word(parser, word))
        code = parse_field(parser, &line, word);
    if (code == OK) {
        fill_defaults(parser, draft, &line);
        code = check_line(parser, &line);
    }
    if (code == OK)
        code = text_add_record(parser, draft, &record);
    if (code != OK || line.kind == RECORD_NONE)
        return code;
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
