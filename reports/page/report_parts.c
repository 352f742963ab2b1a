/* The parts of a run's page that are not drawn, as XML; see report_parts.h. Everything is bounded,
 * as in TAP (tell.c), but here there is room for more. */
#include "reports/page/report_parts.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "decisions/decisions.h"
#include "plan/action.h"
#include "reports/diagram/diagram.h"
#include "reports/text/words.h"
#include "stacks/kept_stacks.h"
#include "system/json_text.h"
#include "system/path.h"
#include "system/tail.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FINDINGS_MOST 50
#define STACK_LINES_MOST 4000
#define ENDS_MOST 256
#define TAILS_MOST 64
#define TAIL_LINES 12
#define LINE_BYTES 1024
#define TEXT_BYTES 256
#define STEP_BYTES 1024
#define NUMBER_BYTES 32

/* --- words with events in them ---------------------------------------------------------------- */

static void put_event(struct xml *xml, const char *text, size_t bytes,
                      const struct event_ref *event)
{
    char id[DIAGRAM_ID_BYTES], name[TEXT_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)bytes, text);
    xml_begin(xml, "event");
    xml_attribute(xml, "id", diagram_id(event, id));
    xml_text(xml, name);
    xml_end(xml);
}

static void put_term(struct xml *xml, const char *text, size_t bytes, const struct word *word)
{
    char written[TEXT_BYTES];
    snprintf(written, sizeof written, "%.*s", (int)bytes, text);
    xml_begin(xml, "term");
    xml_attribute(xml, "id", word->id);
    xml_text(xml, written);
    xml_end(xml);
}

/* What stands between is one text. */
static void put_between(struct xml *xml, const char *from, const char *to)
{
    char *text = memory_text(from);
    text[to - from] = '\0';
    xml_text(xml, text);
    free(text);
}

static bool begins_word(const char *text, const char *at)
{
    return at == text || (!isalnum((unsigned char)at[-1]) && strchr("_-/.#\"", at[-1]) == NULL);
}

void report_put_words(struct xml *xml, const char *text)
{
    const char *from = text;
    for (const char *at = text; *at != '\0';) {
        struct event_ref event;
        bool begins = begins_word(text, at);
        size_t bytes = begins && *at == 'r' ? event_parse(at, &event) : 0, word_bytes = 0;
        const struct word *word = begins && bytes == 0 ? words_at(at, &word_bytes) : NULL;
        if (bytes + word_bytes == 0) {
            at++;
            continue;
        }
        put_between(xml, from, at);
        if (word != NULL)
            put_term(xml, at, word_bytes, word);
        else
            put_event(xml, at, bytes, &event);
        at += bytes + word_bytes;
        from = at;
    }
    xml_text(xml, from);
}

void report_put_sentence(struct xml *xml, const char *element, const char *sentence)
{
    if (sentence == NULL || sentence[0] == '\0')
        return;
    xml_begin(xml, element);
    report_put_words(xml, sentence);
    xml_end(xml);
}

/* --- heading and verdict ---------------------------------------------------------------------- */

static void put_scenario(struct xml *xml, const struct scenario *scenario)
{
    xml_attribute(xml, "name", scenario->name);
    xml_attribute(xml, "file", scenario->file);
    xml_number(xml, "line", scenario->line);
    xml_attribute(xml, "protocol", scenario->protocol);
    xml_attribute(xml, "program", scenario->program);
    xml_number(xml, "ranks", scenario->ranks);
}

void report_put_heading(struct xml *xml, const struct report_source *source)
{
    xml_attribute(xml, "folder", source->folder);
    xml_attribute(xml, "verdict", source->verdict.root != NULL ? source->verdict.word : NULL);
    if (source->has_run)
        put_scenario(xml, source->run.scenario);
    else if (source->has_traces)
        xml_attribute(xml, "program", source->traces.trace[0].header->program);
}

/* Nothing of a claim that this version does not have. */
static void put_words(struct xml *xml, const struct claim *claim)
{
    xml_attribute(xml, "text", claim != NULL ? claim->text : NULL);
    xml_attribute(xml, "source", claim != NULL ? claim->source : NULL);
}

static void put_finding(struct xml *xml, const char *element, const struct stored_finding *finding)
{
    xml_begin(xml, element);
    xml_attribute(xml, "claim", finding->claim);
    xml_attribute(xml, "verdict", finding->verdict);
    if (finding->follows)
        xml_attribute(xml, "follows", "yes");
    for (size_t i = 0; i < finding->why_count; i++)
        report_put_sentence(xml, "why", finding->why[i]);
    for (size_t i = 0; i < finding->shown_count; i++)
        report_put_sentence(xml, "witness", finding->shown[i]);
    xml_end(xml);
}

static void put_results(struct xml *xml, const struct stored_verdict *verdict)
{
    for (size_t i = 0; i < verdict->result_count; i++) {
        const struct stored_result *result = &verdict->result[i];
        xml_begin(xml, "result");
        xml_attribute(xml, "claim", result->claim);
        xml_attribute(xml, "verdict", result->verdict);
        xml_number(xml, "situations", (int64_t)result->situations);
        xml_number(xml, "violations", (int64_t)result->violations);
        put_words(xml, result->known);
        xml_end(xml);
    }
}

static void put_deciding(struct xml *xml, const struct stored_finding *finding)
{
    xml_begin(xml, "claim");
    xml_attribute(xml, "id", finding->claim);
    put_words(xml, finding->known);
    xml_end(xml);
}

void report_put_verdict(struct xml *xml, const struct report_source *source)
{
    const struct stored_verdict *verdict = &source->verdict;
    if (verdict->root == NULL)
        return;
    xml_begin(xml, "judgement");
    xml_attribute(xml, "verdict", verdict->word);
    xml_attribute(xml, "remark", verdict->remark);
    xml_attribute(xml, "group", verdict->fingerprint);
    xml_number(xml, "records", (int64_t)verdict->records);
    if (verdict->control.result != CONTROL_NONE)
        xml_attribute(xml, "control", verdict->control.text);
    if (verdict->confirmation.result != CONFIRMED_NONE)
        xml_attribute(xml, "mpiexec", verdict->confirmation.text);
    if (source->finding != NULL)
        put_deciding(xml, source->finding);
    report_put_sentence(xml, "why", verdict->why);
    if (source->finding != NULL)
        put_finding(xml, "finding", source->finding);
    for (size_t i = 1; i < verdict->finding_count && i <= FINDINGS_MOST; i++)
        put_finding(xml, "also", &verdict->finding[i]);
    put_results(xml, verdict);
    xml_end(xml);
}

/* --- the run ---------------------------------------------------------------------------------- */

static const char *end_text(const struct rank_end *end, char text[TEXT_BYTES])
{
    int status = end->wait_status;
    if (!end->known)
        snprintf(text, TEXT_BYTES, "its end was not seen");
    else if (WIFSIGNALED(status))
        snprintf(text, TEXT_BYTES, "ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(text, TEXT_BYTES, "exited with status %d%s", WEXITSTATUS(status),
                 end->finalized ? "" : ", without MPI_Finalize");
    return text;
}

static void put_ends(struct xml *xml, const struct run *run)
{
    for (size_t i = 0; i < run->rank_end_count && i < ENDS_MOST; i++) {
        const struct rank_end *end = &run->rank_ends[i];
        char text[TEXT_BYTES];
        xml_begin(xml, "rank-end");
        xml_number(xml, "rank", end->rank);
        xml_number(xml, "incarnation", end->incarnation);
        xml_text(xml, end_text(end, text));
        xml_end(xml);
    }
}

static void put_steps(struct xml *xml, const struct run *run)
{
    const struct plan *plan = &run->scenario->plan;
    for (size_t i = 0; i < plan->count; i++) {
        char text[STEP_BYTES];
        plan_step_print(&plan->steps[i], text, sizeof text);
        xml_begin(xml, "step");
        xml_number(xml, "number", (int64_t)i + 1);
        xml_flag(xml, "fault", action_of(&plan->steps[i])->is_fault);
        xml_flag(xml, "done", run->steps[i].done);
        if (run->steps[i].done && run->steps[i].rank >= 0) {
            xml_number(xml, "rank", run->steps[i].rank);
            xml_number(xml, "incarnation", run->steps[i].incarnation);
        }
        xml_text(xml, text);
        xml_end(xml);
    }
}

const char *report_repeat_command(const struct report_source *source, char *text, size_t bytes)
{
    bool kept = path_holds(source->folder, DECISIONS_FILE);
    snprintf(text, bytes, "faultline %s %s", kept ? "replay" : "check", source->folder);
    return text;
}

void report_put_facts(struct xml *xml, const struct report_source *source)
{
    static const char *const ends[] = {
#define X(name, word) word,
        RUN_ENDS(X)
#undef X
    };
    const struct run *run = &source->run;
    char text[PATH_MAX + NUMBER_BYTES];
    xml_element(xml, "repeat", report_repeat_command(source, text, sizeof text));
    if (!source->has_run)
        return;
    xml_begin(xml, "facts");
    xml_attribute(xml, "end", ends[run->end]);
    xml_attribute(xml, "end-text", run->end_text);
    xml_number(xml, "incarnations", run->incarnations);
    xml_real(xml, "seconds", run->seconds, 2);
    snprintf(text, sizeof text, "%" PRIu64, run->seed);
    xml_attribute(xml, "seed", text);
    xml_attribute(xml, "reference", run->reference_text[0] != '\0' ? run->reference_text : NULL);
    xml_flag(xml, "reference-failed", run->reference_failed);
    put_steps(xml, run);
    put_ends(xml, run);
    xml_end(xml);
}

/* --- what the ranks left ---------------------------------------------------------------------- */

static void begin_stack(struct xml *xml, const char *of, const char *id, const char *ref)
{
    xml_begin(xml, "stack");
    xml_attribute(xml, "of", of);
    xml_attribute(xml, "id", id);
    xml_attribute(xml, "ref", ref);
}

/* What a line of stacks.txt begins (kept_stacks.h, stacks.h); what stands below is indented. true:
 * an element is open now. */
static bool begin_part(struct xml *xml, char *line)
{
    struct event_ref event;
    char id[DIAGRAM_ID_BYTES];
    int rank, incarnation, read = 0;
    size_t bytes = event_parse(line, &event);
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "rank %d (", &rank) == 1) {
        begin_stack(xml, "hang", NULL, NULL);
        xml_number(xml, "rank", rank);
    } else if (bytes > 0 && line[bytes] == '\0') {
        begin_stack(xml, "event", diagram_id(&event, id), line);
    } else if (sscanf(line, "r%d#%d, when it was killed%n", &rank, &incarnation, &read) == 2 &&
               read > 0) {
        begin_stack(xml, "killed", diagram_killed_id(rank, incarnation, id), line);
    } else {
        xml_element(xml, "no-stack", line);
        return false;
    }
    return true;
}

static void put_stacks(struct xml *xml, const struct report_source *source)
{
    struct path path;
    char line[LINE_BYTES];
    bool open = false;
    int count = 0;
    FILE *file = path_format(&path, NULL, "%s/" KEPT_STACKS_FILE, source->folder) == OK
                     ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                     : NULL;
    while (file != NULL && count++ < STACK_LINES_MOST && fgets(line, sizeof line, file) != NULL) {
        if (line[0] == ' ') {
            if (open)
                xml_text(xml, line);
            continue;
        }
        if (open)
            xml_end(xml);
        open = begin_part(xml, line);
    }
    if (open)
        xml_end(xml);
    if (file != NULL)
        fclose(file);
}

static void put_tail(struct xml *xml, const char *path, const char *label)
{
    char *text = tail_read(path, TAIL_LINES);
    if (text == NULL)
        return;
    xml_begin(xml, "output");
    xml_attribute(xml, "of", label);
    xml_text(xml, text);
    xml_end(xml);
    free(text);
}

static void put_tails(struct xml *xml, const struct report_source *source)
{
    static const char *const streams[] = {"err", "out"};
    int newest = source->run.incarnations - 1;
    struct path path;
    char label[TEXT_BYTES];
    if (path_format(&path, NULL, "%s/output/launcher", source->folder) == OK)
        put_tail(xml, path.text, "launcher");
    for (int rank = 0; rank < scenario_most_ranks(source->run.scenario) && rank < TAILS_MOST;
         rank++)
        for (int stream = 0; stream < 2; stream++) {
            snprintf(label, sizeof label, "r%d#%d, standard %s", rank, newest,
                     stream == 0 ? "error" : "output");
            if (path_format(&path, NULL, "%s/output/r%d.%d.%s", source->folder, rank, newest,
                            streams[stream]) == OK)
                put_tail(xml, path.text, label);
        }
}

void report_put_output(struct xml *xml, const struct report_source *source)
{
    put_stacks(xml, source);
    if (source->has_run)
        put_tails(xml, source);
}
