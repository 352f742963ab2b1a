/* Reads traces written as text, by hand or by trace_set_write. Errors name path, line, field and
 * what is accepted there. */
#include "traces/text_parse.h"
#include "trace/reader.h"
#include "traces/text_trace.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_RECORDS 100000000u

/* Lines that belong to those who judge an example (oracles/README.md) and not to the traces. */
static const char *const others[] = {"about",     "end",    "step",      "steps-done",
                                     "step-done", "ended",  "reference", "printed",
                                     "judge",     "expect", "survivors"};

/* --- drafts -------------------------------------------------------------------------------- */

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
        return text_fail(parser, "'%s' is not r<rank>#<incarnation>, as in r0#0", word);
    if (word[used] != '\0') {
        if (sscanf(word + used, ":e%lu%n", &event, &more) < 1 || word[used + more] != '\0')
            return text_fail(parser, "'%s' is not r<rank>#<incarnation>:e<event>, as in r0#0:e5",
                             word);
        *index = event;
    }
    for (size_t i = 0; i < parser->draft_count; i++) {
        *draft = &parser->draft[i];
        if ((*draft)->header.rank == rank && (*draft)->header.incarnation == incarnation)
            return OK;
    }
    return add_draft(parser, rank, incarnation, draft);
}

enum error_code text_add_record(struct parser *parser, struct draft *draft, struct record **record)
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

/* --- headers ------------------------------------------------------------------------------- */

static enum error_code parse_header_number(struct parser *parser, struct draft *draft,
                                           const char *word)
{
    struct trace_header *header = &draft->header;
    uint64_t value = 0;
    static const char *const words[] = {"start",     "unix-ns", "pid",       "world",
                                        "hash-mode", "lost",    "libraries", "reserved",
                                        "last-note", "taken",   "room"};
    size_t which = 0;
    while (which < sizeof words / sizeof words[0] && strcmp(word, words[which]) != 0)
        which++;
    if (which == sizeof words / sizeof words[0])
        return text_fail(parser,
                         "a trace has no field '%s'; it has open, closed, start, unix-ns, "
                         "ticks-per-second, pid, world, hash-mode, lost, libraries, reserved, "
                         "last-note, taken, room, helper, program",
                         word);
    bool small = which >= 2 && which <= 6;
    enum error_code code = text_number(parser, word, small ? INT32_MAX : UINT64_MAX, &value);
    draft->has_reserved |= which == 7;
    draft->has_last_note |= which == 8;
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
        header->libraries = (uint32_t)value;
        break;
    case 7:
        header->next = value;
        break;
    case 8:
        header->last_note = value;
        break;
    case 9:
        header->taken = value;
        break;
    default:
        header->room = value;
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
    if (strcmp(word, "helper") == 0) {
        draft->header.helper = 1;
        return OK;
    }
    if (strcmp(word, "program") == 0)
        return text_quoted(parser, word, draft->header.program, sizeof draft->header.program - 1,
                           &length);
    if (strcmp(word, "ticks-per-second") == 0) {
        char value[WORD_BYTES] = "";
        char *end = NULL;
        text_next_word(parser, value);
        draft->header.ticks_per_second = strtod(value, &end);
        return *end == '\0' && draft->header.ticks_per_second > 0
                   ? OK
                   : text_fail(parser, "ticks-per-second: '%s' is not a number above 0", value);
    }
    return parse_header_number(parser, draft, word);
}

static enum error_code parse_header(struct parser *parser)
{
    char word[WORD_BYTES] = "";
    struct draft *draft;
    size_t index;
    text_next_word(parser, word);
    enum error_code code = place(parser, word, &draft, &index);
    while (code == OK && text_next_word(parser, word))
        code = parse_header_field(parser, draft, word);
    return code;
}

static enum error_code parse_ranks(struct parser *parser)
{
    uint64_t ranks = 0;
    enum error_code code = text_number(parser, "ranks", TEXT_RANKS, &ranks);
    if (code == OK && ranks == 0)
        return text_fail(parser, "ranks: must be 1 to %d", TEXT_RANKS);
    parser->ranks = (int)ranks;
    char word[WORD_BYTES];
    if (code != OK || !text_next_word(parser, word))
        return code;
    if (strcmp(word, "processes") != 0)
        return text_fail(parser, "'%s': only processes may follow here", word);
    code = text_number(parser, "processes", TEXT_RANKS, &ranks);
    parser->processes = (int)ranks;
    return code;
}

/* --- the file ------------------------------------------------------------------------------ */

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
    if (!text_next_word(parser, word) || is_of_others(word))
        return OK;
    if (strcmp(word, "ranks") == 0)
        return parse_ranks(parser);
    if (strcmp(word, "trace") == 0)
        return parse_header(parser);
    if (word[0] != 'r' || !isdigit((unsigned char)word[1]))
        return text_fail(
            parser,
            "'%s' begins no line; lines begin with r<rank>#<incarnation>, ranks, "
            "trace, about, end, step, steps-done, step-done, ended, reference, printed, judge, "
            "expect or survivors",
            word);
    enum error_code code = place(parser, word, &draft, &index);
    return code == OK ? text_parse_record(parser, draft, index) : code;
}

/* A trace whose rank was in a call, was killed, or was started again later, was not closed. */
static bool looks_open(const struct parser *parser, const struct draft *draft)
{
    for (size_t i = 0; i < draft->count; i++) {
        unsigned kind = draft->record[i].kind;
        if (kind == RECORD_NONE || (kind == RECORD_END && draft->record[i].tag != 0) ||
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
    if (header->rank >= (parser->processes > ranks ? parser->processes : ranks))
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
    trace_detach_end(trace);
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
            code = text_fail(parser, "longer than %zu bytes", sizeof text - 2);
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
