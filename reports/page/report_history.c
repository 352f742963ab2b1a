/* See report_history.h. Fields are those that campaign_record.c writes. */
#include "reports/page/report_history.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "oracles/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOURNAL_MOST (UINT64_C(4) << 30) /* bytes of one that is read */
#define INTERVALS 24                     /* of the time that the campaign took */
#define GROUPS_MOST 12                   /* the first to come; the others are counted */
#define BAR 26                           /* wide */
#define GAP 4
#define ROW_HEIGHT 34 /* of a group: its name, and below it how many runs in each interval */
#define CELL_HEIGHT 14
#define NAME_BYTES 64
#define ITEM_BYTES 160

/* Those of a kind of failure. */
struct kind {
    char name[ITEM_BYTES];
    enum stored_end end;
    uint64_t count, first_number;
    double first_s, last_s;
    uint64_t in[INTERVALS];
};

struct interval {
    uint64_t count[STORED_ENDS];
    uint64_t fresh; /* kinds of failure that came for the first time */
    uint64_t arose; /* claims whose situation had arisen by its end */
};

struct history {
    double seconds; /* all of it */
    uint64_t runs, damaged;
    uint64_t arose;
    bool *has_arisen; /* owned; by claim */
    struct interval interval[INTERVALS];
    size_t kinds, kinds_left_out;
    struct kind kind[GROUPS_MOST];
};

/* --- reading ---------------------------------------------------------------------------------- */
typedef void line_taken(struct history *history, const json_t *line);

static double elapsed(const json_t *line)
{
    return json_number_value(json_object_get(line, "elapsed"));
}

static bool is_of(const json_t *line, const char *kind)
{
    return strcmp(stored_text(line, "kind"), kind) == 0;
}

/* false: there is no journal. */
static bool read_journal(const struct stored_set *set, struct history *history, line_taken *take)
{
    struct path path;
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    FILE *file = path_format(&path, NULL, "%s/campaign.jsonl", set->folder.text) == OK
                     ? regular_stream(path.text, LINKS_REFUSED, JOURNAL_MOST, NULL)
                     : NULL;
    if (file == NULL)
        return false;
    history->damaged = 0;
    while ((length = getline(&text, &room, file)) > 0) {
        json_t *line = json_loadb(text, (size_t)length, 0, NULL);
        if (json_is_object(line))
            take(history, line);
        else
            history->damaged++;
        json_decref(line);
    }
    free(text);
    fclose(file);
    return true;
}

static void take_time(struct history *history, const json_t *line)
{
    if (elapsed(line) > history->seconds)
        history->seconds = elapsed(line);
    history->runs += is_of(line, "run");
}

static size_t interval_of(const struct history *history, double at_s)
{
    double share = history->seconds > 0 && at_s > 0 ? at_s / history->seconds : 0;
    size_t interval = (size_t)(share * INTERVALS);
    return interval < INTERVALS ? interval : INTERVALS - 1;
}

/* NULL: there are more kinds than are shown. */
static struct kind *find_kind(struct history *history, const char *name, enum stored_end end)
{
    for (size_t i = 0; i < history->kinds; i++)
        if (strcmp(history->kind[i].name, name) == 0)
            return &history->kind[i];
    if (history->kinds == GROUPS_MOST)
        return NULL;
    struct kind *fresh = &history->kind[history->kinds++];
    *fresh = (struct kind){.end = end};
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    return fresh;
}

static void take_failure(struct history *history, const json_t *line, size_t interval,
                         enum stored_end end)
{
    char name[ITEM_BYTES];
    snprintf(name, sizeof name, "%s", stored_text(line, "fingerprint"));
    if (name[0] == '\0')
        snprintf(name, sizeof name, "%s", stored_text(line, "verdict"));
    struct kind *kind = find_kind(history, name, end);
    if (kind == NULL) {
        history->kinds_left_out++;
        return;
    }
    if (kind->count++ == 0) {
        kind->first_s = elapsed(line);
        kind->first_number = (uint64_t)json_integer_value(json_object_get(line, "number"));
        history->interval[interval].fresh++;
    }
    kind->last_s = elapsed(line);
    kind->in[interval]++;
}

static void take_arisen(struct history *history, const json_t *line, size_t interval)
{
    const json_t *arose = json_object_get(line, "arose");
    for (size_t i = 0; i < json_array_size(arose); i++) {
        const char *id = json_string_value(json_array_get(arose, i));
        const struct claim *claim = id != NULL ? claim_find(id) : NULL;
        if (claim == NULL || history->has_arisen[claim - claims])
            continue;
        history->has_arisen[claim - claims] = true;
        history->arose++;
    }
    history->interval[interval].arose = history->arose;
}

static void take_line(struct history *history, const json_t *line)
{
    size_t interval = interval_of(history, elapsed(line));
    if (is_of(line, "replays"))
        return;
    take_arisen(history, line, interval);
    if (!is_of(line, "run"))
        return;
    enum stored_end end = stored_end_of_verdict(verdict_from_text(stored_text(line, "verdict")));
    history->interval[interval].count[end]++;
    if (end != STORED_PASS)
        take_failure(history, line, interval, end);
}

/* --- elements --------------------------------------------------------------------------------- */
static const char *const end_words[STORED_ENDS] = {"pass", "violation", "undecided",
                                                   "harness-error"};

uint64_t ends_total(const uint64_t count[STORED_ENDS])
{
    uint64_t all = 0;
    for (int end = 0; end < STORED_ENDS; end++)
        all += count[end];
    return all;
}

void ends_write(struct xml *xml, const uint64_t count[STORED_ENDS])
{
    for (int end = 0; end < STORED_ENDS; end++)
        xml_number(xml, end_words[end], (int64_t)count[end]);
    xml_number(xml, "runs", (int64_t)ends_total(count));
}

void ends_write_bar(struct xml *xml, const uint64_t count[STORED_ENDS], uint64_t highest)
{
    uint64_t below = 0;
    for (int end = 0; end < STORED_ENDS; end++) {
        if (count[end] == 0)
            continue;
        below += count[end];
        xml_begin(xml, "part");
        xml_attribute(xml, "end", end_words[end]);
        xml_number(xml, "count", (int64_t)count[end]);
        xml_real(xml, "y", ENDS_BAR_HEIGHT - (double)below * ENDS_BAR_HEIGHT / (double)highest, 1);
        xml_real(xml, "height", (double)count[end] * ENDS_BAR_HEIGHT / (double)highest, 1);
        xml_end(xml);
    }
}

static void write_interval(struct xml *xml, const struct history *history, size_t i,
                           uint64_t highest)
{
    const struct interval *interval = &history->interval[i];
    double step_s = history->seconds / INTERVALS;
    char name[NAME_BYTES];
    xml_begin(xml, "bar");
    snprintf(name, sizeof name, "%.4g to %.4g s", (double)i * step_s, (double)(i + 1) * step_s);
    xml_attribute(xml, "name", name);
    xml_number(xml, "x", (int64_t)(i * (BAR + GAP)));
    ends_write(xml, interval->count);
    xml_number(xml, "fresh", (int64_t)interval->fresh);
    xml_number(xml, "arose", (int64_t)interval->arose);
    ends_write_bar(xml, interval->count, highest);
    xml_end(xml);
}

static void write_kind(struct xml *xml, const struct kind *kind, size_t place)
{
    xml_begin(xml, "kind");
    xml_attribute(xml, "name", kind->name);
    xml_attribute(xml, "end", end_words[kind->end]);
    xml_number(xml, "count", (int64_t)kind->count);
    xml_number(xml, "first-number", (int64_t)kind->first_number);
    xml_real(xml, "first", kind->first_s, 1);
    xml_real(xml, "last", kind->last_s, 1);
    xml_number(xml, "y", (int64_t)(ENDS_BAR_HEIGHT + (place + 1) * ROW_HEIGHT));
    for (size_t i = 0; i < INTERVALS; i++) {
        if (kind->in[i] == 0)
            continue;
        xml_begin(xml, "cell");
        xml_number(xml, "x", (int64_t)(i * (BAR + GAP)));
        xml_number(xml, "count", (int64_t)kind->in[i]);
        xml_end(xml);
    }
    xml_end(xml);
}

static void write_history(struct xml *xml, const struct history *history)
{
    uint64_t highest = 1;
    for (size_t i = 0; i < INTERVALS; i++) {
        uint64_t runs = ends_total(history->interval[i].count);
        highest = runs > highest ? runs : highest;
    }
    xml_begin(xml, "history");
    xml_real(xml, "seconds", history->seconds, 1);
    xml_number(xml, "runs", (int64_t)history->runs);
    xml_number(xml, "damaged", (int64_t)history->damaged);
    xml_number(xml, "left-out", (int64_t)history->kinds_left_out);
    xml_number(xml, "highest", (int64_t)highest);
    xml_number(xml, "width", INTERVALS * (BAR + GAP));
    xml_number(xml, "height", (int64_t)(ENDS_BAR_HEIGHT + (history->kinds + 1) * ROW_HEIGHT));
    xml_number(xml, "bar-width", BAR);
    xml_number(xml, "cell-height", CELL_HEIGHT);
    for (size_t i = 0; i < INTERVALS; i++)
        write_interval(xml, history, i, highest);
    for (size_t i = 0; i < history->kinds; i++)
        write_kind(xml, &history->kind[i], i);
    xml_end(xml);
}

/* An interval in which nothing new arose has what had arisen before. */
static void carry_on(struct history *history)
{
    for (size_t i = 1; i < INTERVALS; i++)
        if (history->interval[i].arose < history->interval[i - 1].arose)
            history->interval[i].arose = history->interval[i - 1].arose;
}

void history_write(struct xml *xml, const struct stored_set *set)
{
    struct history *history = memory_new(1, sizeof *history);
    history->has_arisen = memory_new(claim_count, sizeof *history->has_arisen);
    if (read_journal(set, history, take_time) && history->runs > 0) {
        read_journal(set, history, take_line);
        carry_on(history);
        write_history(xml, history);
    }
    free(history->has_arisen);
    free(history);
}
