/* See printed.h. */
#include "run/printed.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "reference"
#define PATTERN_WHY_BYTES 128
/* Of a line that is shown: so much before the first byte that differs. */
#define SHOWN_BEFORE 40

/* --- patterns --------------------------------------------------------------------------------- */

struct patterns {
    size_t count;
    regex_t of[SCENARIO_MAX_PATTERNS];
};

static void patterns_release(struct patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        regfree(&patterns->of[i]);
    patterns->count = 0;
}

static enum error_code add_pattern(struct patterns *patterns, const char *text, size_t length,
                                   struct error *error)
{
    char why[PATTERN_WHY_BYTES];
    if (patterns->count == SCENARIO_MAX_PATTERNS)
        return error_set(error, ERROR_USAGE, "result: more than %d patterns",
                         SCENARIO_MAX_PATTERNS);
    char *pattern = memory_format("%.*s", (int)length, text);
    regex_t *regex = &patterns->of[patterns->count];
    int reason = regcomp(regex, pattern, REG_EXTENDED);
    if (reason == 0) {
        patterns->count++;
    } else {
        regerror(reason, regex, why, sizeof why);
        error_set(error, ERROR_USAGE,
                  "result: \"%.100s\" is no extended regular expression (POSIX): %s", pattern, why);
    }
    free(pattern);
    return reason == 0 ? OK : ERROR_USAGE;
}

/* "output", and a line for each. */
static enum error_code patterns_read(const char *result, struct patterns *patterns,
                                     struct error *error)
{
    enum error_code code = OK;
    patterns->count = 0;
    const char *at = result + strcspn(result, "\n");
    while (code == OK && *at == '\n') {
        size_t length = strcspn(++at, "\n");
        code = add_pattern(patterns, at, length, error);
        at += length;
    }
    if (code != OK)
        patterns_release(patterns);
    return code;
}

enum error_code printed_check(const char *result, struct error *error)
{
    struct patterns patterns;
    enum error_code code = patterns_read(result, &patterns, error);
    if (code == OK)
        patterns_release(&patterns);
    return code;
}

/* --- texts ------------------------------------------------------------------------------------ */

struct line {
    const char *text; /* in the whole text; not terminated */
    size_t length;
    uint64_t number; /* from 1, of the whole text */
};

struct lines {
    size_t count;
    struct line *line; /* owned */
};

/* Takes out what the pattern matches; returns the length that is left. */
static size_t cut_matches(const regex_t *pattern, char *text, size_t length)
{
    size_t from = 0;
    int flags = REG_STARTEND;
    while (from <= length) {
        regmatch_t match = {.rm_so = (regoff_t)from, .rm_eo = (regoff_t)length};
        if (regexec(pattern, text, 1, &match, flags) != 0)
            break;
        flags |= REG_NOTBOL; /* the line begins once, whatever is cut out there */
        size_t start = (size_t)match.rm_so, end = (size_t)match.rm_eo;
        memmove(text + start, text + end, length - end);
        length -= end - start;
        from = end > start ? start : start + 1;
    }
    return length;
}

/* A line of which the patterns leave nothing is left out. `text` is changed. */
static void lines_of(char *text, size_t bytes, const struct patterns *patterns, struct lines *lines)
{
    size_t room = 1;
    for (size_t i = 0; i < bytes; i++)
        room += text[i] == '\n';
    *lines = (struct lines){.line = memory_new(room, sizeof *lines->line)};
    uint64_t number = 1;
    for (char *at = text; at < text + bytes; number++) {
        char *end = memchr(at, '\n', (size_t)(text + bytes - at));
        size_t whole = (size_t)((end != NULL ? end : text + bytes) - at), left = whole;
        for (size_t i = 0; i < patterns->count; i++)
            left = cut_matches(&patterns->of[i], at, left);
        if (left > 0 || whole == 0)
            lines->line[lines->count++] = (struct line){at, left, number};
        at += whole + 1;
    }
}

static bool same_line(const struct line *a, const struct line *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* --- a difference ----------------------------------------------------------------------------- */

/* So much of the line that the byte at `differs` is in it. */
static void show_line(const struct line *line, size_t differs, char text[PRINTED_TEXT_BYTES])
{
    size_t from = differs > SHOWN_BEFORE ? differs - SHOWN_BEFORE : 0;
    const char *before = from > 0 ? "..." : "";
    size_t most = PRINTED_TEXT_BYTES - 1 - 2 * strlen("...");
    size_t length = line->length - from < most ? line->length - from : most;
    size_t used = (size_t)snprintf(text, PRINTED_TEXT_BYTES, "%s", before);
    for (size_t i = 0; i < length; i++)
        text[used++] = line->text[from + i] != '\0' ? line->text[from + i] : '?';
    snprintf(text + used, PRINTED_TEXT_BYTES - used, "%s",
             from + length < line->length ? "..." : "");
}

/* NULL: there is no such line. */
static void report_difference(const struct line *reference, const struct line *line,
                              struct printed *printed)
{
    size_t differs = 0;
    while (reference != NULL && line != NULL && differs < reference->length &&
           differs < line->length && reference->text[differs] == line->text[differs])
        differs++;
    printed->state = PRINTED_OTHER;
    if (reference != NULL) {
        printed->reference_line = reference->number;
        show_line(reference, differs, printed->reference_text);
    }
    if (line != NULL) {
        printed->line = line->number;
        show_line(line, differs, printed->text);
    }
}

static const struct line *line_at(const struct lines *lines, size_t index)
{
    return index < lines->count ? &lines->line[index] : NULL;
}

static void compare_lines(const struct lines *reference, const struct lines *lines,
                          bool after_restart, struct printed *printed)
{
    size_t least = reference->count < lines->count ? reference->count : lines->count;
    size_t first = 0, last = 0; /* lines that are the same from the beginning, and to the end */
    while (first < least && same_line(&reference->line[first], &lines->line[first]))
        first++;
    while (last < least && same_line(&reference->line[reference->count - 1 - last],
                                     &lines->line[lines->count - 1 - last]))
        last++;
    if (first == reference->count && first == lines->count)
        return;
    bool gap = after_restart && lines->count < reference->count;
    if (gap && first + last >= lines->count)
        return;
    if (!gap)
        report_difference(line_at(reference, first), line_at(lines, first), printed);
    else /* where it began again is not known: from the end it is */
        report_difference(&reference->line[reference->count - 1 - last],
                          &lines->line[lines->count - 1 - last], printed);
}

static void report_unknown(const char *why, struct printed *printed)
{
    printed->state = PRINTED_UNKNOWN;
    snprintf(printed->text, sizeof printed->text, "%.*s", (int)sizeof printed->text - 1, why);
}

/* Both texts are changed. */
static void compare_bytes(const struct patterns *patterns, char *const text[2],
                          const size_t bytes[2], bool after_restart, struct printed *printed)
{
    struct lines lines[2];
    lines_of(text[0], bytes[0], patterns, &lines[0]);
    lines_of(text[1], bytes[1], patterns, &lines[1]);
    compare_lines(&lines[0], &lines[1], after_restart, printed);
    free(lines[0].line);
    free(lines[1].line);
}

void printed_compare_texts(const char *result, const char *reference, const char *text,
                           bool after_restart, struct printed *printed)
{
    struct patterns patterns;
    struct error error = {0};
    *printed = (struct printed){.rank = printed->rank};
    char *copy[2] = {memory_text(reference), memory_text(text)};
    size_t bytes[2] = {strlen(reference), strlen(text)};
    if (patterns_read(result, &patterns, &error) != OK) {
        report_unknown(error.text, printed);
    } else {
        compare_bytes(&patterns, copy, bytes, after_restart, printed);
        patterns_release(&patterns);
    }
    free(copy[0]);
    free(copy[1]);
}

/* --- files ------------------------------------------------------------------------------------ */

static enum error_code kept_path(const char *folder, int rank, struct path *path,
                                 struct error *error)
{
    return path_format(path, error, "%s/" FOLDER "/r%d.out", folder, rank);
}

enum error_code printed_keep(const struct run *run, int rank, const char *file, struct error *error)
{
    struct path folder, path;
    enum error_code code = path_format(&folder, error, "%s/" FOLDER, run->folder.text);
    if (code == OK)
        code = path_make_folder(folder.text, error);
    if (code == OK)
        code = kept_path(run->folder.text, rank, &path, error);
    /* A name more for it costs nothing; another file system has to have its own. */
    if (code == OK && linkat(AT_FDCWD, file, AT_FDCWD, path.text, 0) != 0)
        code = regular_copy(file, path.text, error);
    return code;
}

enum error_code printed_keep_of(const struct run *run, const struct run *from, struct error *error)
{
    enum error_code code = OK;
    for (int rank = 0; code == OK && rank < run->scenario->ranks; rank++) {
        struct path path;
        code = kept_path(from->folder.text, rank, &path, error);
        if (code == OK && path_exists(path.text))
            code = printed_keep(run, rank, path.text, error);
    }
    return code;
}

/* All of it, owned by the caller; NULL after an error. */
static char *read_text(const char *path, size_t *bytes, struct error *error)
{
    FILE *file = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, error);
    if (file == NULL)
        return NULL;
    struct stat facts;
    size_t room = fstat(fileno(file), &facts) == 0 ? (size_t)facts.st_size : 0;
    char *text = memory_new(room, 1);
    *bytes = fread(text, 1, room, file);
    if (ferror(file)) {
        error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static void compare_rank(const struct run *run, const struct patterns *patterns, const char *kept,
                         struct printed *printed)
{
    struct path path;
    struct error error = {0};
    char *text[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    if (scenario_ranks_in(run->scenario, run->incarnations - 1) != run->scenario->ranks) {
        report_unknown("the job was restarted on another number of ranks", printed);
        return;
    }
    if (path_format(&path, &error, "%s/output/r%d.%d.out", run->folder.text, printed->rank,
                    run->incarnations - 1) == OK)
        text[0] = read_text(kept, &bytes[0], &error);
    if (text[0] != NULL)
        text[1] = read_text(path.text, &bytes[1], &error);
    if (text[1] != NULL)
        compare_bytes(patterns, text, bytes, run->incarnations > 1, printed);
    else
        report_unknown(error.text, printed);
    free(text[0]);
    free(text[1]);
}

enum error_code printed_compare(const struct run *run, struct printed **printed, size_t *count,
                                struct error *error)
{
    const struct scenario *scenario = run->scenario;
    struct patterns patterns;
    *count = 0;
    *printed = NULL;
    if (scenario->result == NULL || run->end != RUN_FINISHED)
        return OK;
    enum error_code code = patterns_read(scenario->result, &patterns, error);
    if (code != OK)
        return code;
    *printed = memory_new((size_t)scenario->ranks, sizeof **printed);
    for (int rank = 0; code == OK && rank < scenario->ranks; rank++) {
        struct path kept;
        code = kept_path(run->folder.text, rank, &kept, error);
        if (code != OK || !path_exists(kept.text))
            continue;
        struct printed *one = &(*printed)[(*count)++];
        one->rank = rank;
        compare_rank(run, &patterns, kept.text, one);
    }
    patterns_release(&patterns);
    return code;
}
