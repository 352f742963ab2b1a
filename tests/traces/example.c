/* See example.h. The records are read by trace_set_parse, which leaves these lines to us. */
#include "traces/example.h"
#include "traces/text_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096
#define SPACES " \t\r\n"
#define UNRECEIVED "unreceived"

struct reader {
    const char *path;
    unsigned line;
    struct example *example;
    struct error *error;
};

__attribute__((format(printf, 2, 3))) static enum error_code fail(const struct reader *reader,
                                                                  const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(reader->error, ERROR_FORMAT, "%s:%u: %s", reader->path, reader->line, text);
}

static bool parse_event(const char *word, struct event_ref *event)
{
    size_t bytes = event_parse(word, event);
    return bytes > 0 && word[bytes] == '\0';
}

static enum error_code read_end(const struct reader *reader, char *rest)
{
    struct example *example = reader->example;
    static const char *const names[] = {
#define X(name, text) text,
        RUN_ENDS(X)
#undef X
    };
    char *name = strtok_r(rest, SPACES, &rest);
    for (int end = 0; name != NULL && end < RUN_END_COUNT; end++) {
        if (strcmp(name, names[end]) != 0)
            continue;
        example->facts.end = (enum run_end)end;
        snprintf(example->end_text, sizeof example->end_text, "%s", name);
        const char *limit = strtok_r(rest, SPACES, &rest);
        example->facts.limit_s = limit != NULL ? atof(limit) : 0;
        return OK;
    }
    return fail(reader,
                "end: '%s'; there are finished, failed, deadlock, time-limit, interrupted, "
                "void",
                name ? name : "");
}

static enum error_code read_step(const struct reader *reader, const char *rest)
{
    struct plan_step step;
    struct error error = {0};
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s", rest + strspn(rest, SPACES));
    line[strcspn(line, "\r\n")] = '\0';
    if (plan_step_parse(line, &step, &error) != OK)
        return fail(reader, "step: %s", error.text);
    return plan_add(&reader->example->plan, &step, reader->error);
}

static enum error_code read_steps_done(const struct reader *reader, const char *rest)
{
    unsigned count;
    if (sscanf(rest, "%u", &count) != 1 || count > PLAN_MAX_STEPS)
        return fail(reader, "steps-done: a number must follow, at most %d", PLAN_MAX_STEPS);
    for (unsigned i = 0; i < count; i++)
        reader->example->step[i].done = true;
    return OK;
}

#define RELEASED_LAST 6 /* enum board_release, by its words */

/* step-done 2 r1#0 taken 3 released unstick */
static enum error_code read_step_done(const struct reader *reader, const char *rest)
{
    static const char *const why[] = {"not", "condition", "time", "step",
                                      "end", "unstick",   "quiet"};
    char released[16] = "not";
    unsigned number;
    unsigned long long taken = 0;
    struct step_fact fact = {.done = true};
    int words = sscanf(rest, " %u r%d#%d taken %llu released %15s", &number, &fact.rank,
                       &fact.incarnation, &taken, released);
    fact.taken = taken;
    while (fact.released_by <= RELEASED_LAST && strcmp(why[fact.released_by], released) != 0)
        fact.released_by++;
    if (words < 3 || number < 1 || number > PLAN_MAX_STEPS || fact.released_by > RELEASED_LAST)
        return fail(reader, "step-done: must be <step, from 1> r<rank>#<incarnation>, then taken "
                            "<n>, then released not, condition, time, step, end, unstick or quiet");
    reader->example->step[number - 1] = fact;
    return OK;
}

static bool has_word(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    return found != NULL && found > text && found[-1] == ' ' && strchr(" \n", found[strlen(word)]);
}

/* ended r1#0 signal 9 | ended r1#0 exit 0 [finalized] [aborted] [first] */
static enum error_code read_ended(const struct reader *reader, const char *rest)
{
    struct example *example = reader->example;
    char how[16] = "";
    int status = 0;
    if (example->facts.rank_end_count == EXAMPLE_MAX)
        return fail(reader, "ended: more than %d", EXAMPLE_MAX);
    struct rank_end *end = &example->rank_end[example->facts.rank_end_count++];
    int words = sscanf(rest, " r%d#%d %15s %d", &end->rank, &end->incarnation, how, &status);
    bool by_signal = strcmp(how, "signal") == 0;
    if (words < 4 || (!by_signal && strcmp(how, "exit") != 0) || status < 0 || status > 255)
        return fail(reader,
                    "ended: must be r<rank>#<incarnation>, then signal or exit and a number "
                    "(0 to 255), then finalized, aborted, first if it was so");
    end->known = true;
    end->wait_status = by_signal ? status : status << 8;
    end->finalized = has_word(rest, "finalized");
    end->aborted = has_word(rest, "aborted");
    end->first = has_word(rest, "first");
    return OK;
}

/* reference unreceived none | reference unreceived 0 to 1 tag 9 messages 2 */
static enum error_code read_unreceived(const struct reader *reader, const char *rest)
{
    struct example *example = reader->example;
    struct run_facts *facts = &example->facts;
    char word[8] = "";
    facts->unreceived_known = true;
    if (sscanf(rest, "%7s", word) == 1 && strcmp(word, "none") == 0)
        return OK;
    if (facts->unreceived_count == EXAMPLE_MAX)
        return fail(reader, "reference: more than %d", EXAMPLE_MAX);
    struct unreceived *channel = &example->unreceived[facts->unreceived_count++];
    channel->comm = COMM_WORLD_ID;
    if (sscanf(rest, " %d to %d tag %d messages %" SCNu64, &channel->source, &channel->destination,
               &channel->tag, &channel->messages) != 4)
        return fail(reader, "reference unreceived: must be none, or <rank> to <rank> tag <t> "
                            "messages <n>");
    return OK;
}

static enum error_code read_reference(const struct reader *reader, const char *rest)
{
    struct example *example = reader->example;
    char bytes[32], hash[32];
    const char *word = rest + strspn(rest, SPACES);
    if (strncmp(word, UNRECEIVED, sizeof UNRECEIVED - 1) == 0)
        return read_unreceived(reader, word + sizeof UNRECEIVED - 1);
    if (example->facts.reference_count == EXAMPLE_MAX)
        return fail(reader, "reference: more than %d", EXAMPLE_MAX);
    struct reference_result *reference = &example->reference[example->facts.reference_count++];
    if (sscanf(rest, " %d \"%63[^\"]\" number %31s", &reference->rank, reference->name, hash) ==
        3) {
        reference->near = true;
        reference->hash = trace_bits(strtod(hash, NULL));
        return OK;
    }
    if (sscanf(rest, " %d \"%63[^\"]\" bytes %31s hash %31s", &reference->rank, reference->name,
               bytes, hash) != 4)
        return fail(reader, "reference: must be <rank> \"<name>\" bytes <n> hash <h>, or <rank> "
                            "\"<name>\" number <x>");
    reference->bytes = strtoull(bytes, NULL, 0);
    reference->hash = strtoull(hash, NULL, 0);
    return OK;
}

/* printed 0 same | printed 1 "sum 41" reference "sum 42" | printed 1 none reference "sum 42" */
static enum error_code read_printed(const struct reader *reader, const char *rest)
{
    struct example *example = reader->example;
    char word[12] = "";
    int used = 0;
    if (example->facts.printed_count == EXAMPLE_MAX)
        return fail(reader, "printed: more than %d", EXAMPLE_MAX);
    struct printed *printed = &example->printed[example->facts.printed_count++];
    if (sscanf(rest, " %d %n%11s", &printed->rank, &used, word) != 2)
        return fail(reader,
                    "printed: must be <rank> same, or <rank> <line> reference <line>, where "
                    "a line is none or \"...\"");
    if (strcmp(word, "same") == 0)
        return OK;
    printed->state = PRINTED_OTHER;
    const char *reference = strstr(rest + used, " reference ");
    printed->line = (uint64_t)sscanf(rest + used, "\"%100[^\"]\"", printed->text);
    printed->reference_line =
        reference == NULL
            ? 0
            : (uint64_t)sscanf(reference, " reference \"%100[^\"]\"", printed->reference_text);
    return OK;
}

static enum error_code read_judge(const struct reader *reader, char *rest)
{
    struct example *example = reader->example;
    for (char *id = strtok_r(rest, SPACES, &rest); id != NULL; id = strtok_r(NULL, SPACES, &rest)) {
        if (example->id_count == EXAMPLE_MAX)
            return fail(reader, "judge: more than %d", EXAMPLE_MAX);
        char *text = example->id_text[example->id_count];
        snprintf(text, sizeof example->id_text[0], "%s", id);
        example->id[example->id_count++] = text;
    }
    return OK;
}

static bool find_verdict(const char *word, enum verdict *verdict)
{
    for (int i = 0; word != NULL && i < VERDICT_COUNT; i++) {
        if (strcmp(word, verdict_text((enum verdict)i)) != 0)
            continue;
        *verdict = (enum verdict)i;
        return true;
    }
    return false;
}

static enum error_code read_finding(const struct reader *reader, enum verdict verdict, char *rest)
{
    struct example *example = reader->example;
    char *save = NULL;
    char *id = strtok_r(rest, SPACES, &save);
    const struct claim *claim = id == NULL ? NULL : claim_find(id);
    if (claim == NULL)
        return fail(reader, "expect: '%s' is not the id of a claim", id ? id : "");
    if (example->expected_count == EXAMPLE_MAX)
        return fail(reader, "expect: more than %d", EXAMPLE_MAX);
    struct expected_finding *expected = &example->expected[example->expected_count++];
    expected->verdict = verdict;
    expected->claim = claim;
    for (char *word = strtok_r(NULL, SPACES, &save); word != NULL && word[0] != '#';
         word = strtok_r(NULL, SPACES, &save))
        if (expected->witness_count == FINDING_WITNESSES ||
            !parse_event(word, &expected->witness[expected->witness_count++]))
            return fail(reader,
                        "expect: '%s' is not an event r<rank>#<incarnation>:e<n>, or more "
                        "than %d",
                        word, FINDING_WITNESSES);
    return OK;
}

static enum error_code read_situations(const struct reader *reader, char *rest)
{
    struct example *example = reader->example;
    char id[EXAMPLE_ID_BYTES];
    unsigned long long count;
    if (example->situations_count == EXAMPLE_MAX)
        return fail(reader, "expect: more than %d", EXAMPLE_MAX);
    struct expected_situations *expected = &example->situations[example->situations_count];
    if (sscanf(rest, " %63s %llu", id, &count) != 2 || claim_find(id) == NULL)
        return fail(reader, "expect: after situations must stand a claim and a number");
    *expected = (struct expected_situations){claim_find(id), count};
    example->situations_count++;
    return OK;
}

static enum error_code read_expect(const struct reader *reader, char *rest)
{
    struct example *example = reader->example;
    char *save = NULL;
    enum verdict verdict;
    char *word = strtok_r(rest, SPACES, &save);
    if (word != NULL && strcmp(word, "verdict") == 0) {
        example->has_verdict = find_verdict(strtok_r(NULL, SPACES, &save), &example->verdict);
        if (example->has_verdict)
            return OK;
    } else if (find_verdict(word, &verdict)) {
        return read_finding(reader, verdict, save);
    } else if (word != NULL && strcmp(word, "situations") == 0) {
        return read_situations(reader, save);
    }
    return fail(reader, "expect: must be verdict and one of pass, vacuous, unknown, harness-error, "
                        "violation; or one of these, a claim and its witness; or situations, a "
                        "claim and a number");
}

static enum error_code read_line(const struct reader *reader, char *line)
{
    char *rest = line;
    char *word = strtok_r(line, SPACES, &rest);
    if (word == NULL)
        return OK;
    if (strcmp(word, "end") == 0)
        return read_end(reader, rest);
    if (strcmp(word, "step") == 0)
        return read_step(reader, rest);
    if (strcmp(word, "step-done") == 0)
        return read_step_done(reader, rest);
    if (strcmp(word, "steps-done") == 0)
        return read_steps_done(reader, rest);
    if (strcmp(word, "ended") == 0)
        return read_ended(reader, rest);
    if (strcmp(word, "reference") == 0)
        return read_reference(reader, rest);
    if (strcmp(word, "printed") == 0)
        return read_printed(reader, rest);
    if (strcmp(word, "survivors") == 0)
        reader->example->facts.survivors = true;
    if (strcmp(word, "judge") == 0)
        return read_judge(reader, rest);
    if (strcmp(word, "expect") == 0)
        return read_expect(reader, rest);
    return OK;
}

static enum error_code read_lines(struct reader *reader, FILE *in)
{
    char line[LINE_BYTES];
    enum error_code code = OK;
    while (code == OK && fgets(line, sizeof line, in) != NULL) {
        reader->line++;
        code = read_line(reader, line);
    }
    return code;
}

enum error_code example_read(const char *path, struct example *example, struct error *error)
{
    struct reader reader = {.path = path, .example = example, .error = error};
    memset(example, 0, sizeof *example);
    plan_init(&example->plan);
    enum error_code code = trace_set_parse(path, &example->traces, error);
    if (code != OK)
        return code;
    struct run_facts *facts = &example->facts;
    facts->ranks = example->traces.world;
    facts->incarnations = example->traces.incarnations;
    snprintf(example->end_text, sizeof example->end_text, "finished");
    facts->end_text = example->end_text;
    facts->rank_ends = example->rank_end;
    facts->references = example->reference;
    facts->printed = example->printed;
    facts->unreceived = example->unreceived;
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    code = read_lines(&reader, in);
    fclose(in);
    if (code == OK) /* as of every plan that comes from a file: steps name steps */
        code = plan_check(&example->plan, error);
    if (example->plan.count > 0)
        facts->plan = &example->plan;
    facts->steps = example->step;
    if (example->id_count == 0)
        example->id[example->id_count++] = "H";
    return code;
}

void example_release(struct example *example)
{
    trace_set_release(&example->traces);
    plan_release(&example->plan);
}

static bool shows(const struct finding *finding, const struct event_ref *event)
{
    for (unsigned i = 0; i < finding->witness_count; i++)
        if (finding->witness[i].rank == event->rank &&
            finding->witness[i].incarnation == event->incarnation &&
            finding->witness[i].index == event->index)
            return true;
    return false;
}

static bool same(const struct expected_finding *expected, const struct finding *finding)
{
    if (expected->claim != finding->claim || expected->verdict != finding->verdict ||
        expected->witness_count != finding->witness_count)
        return false;
    for (unsigned i = 0; i < expected->witness_count; i++)
        if (!shows(finding, &expected->witness[i]))
            return false;
    return true;
}

bool example_found(const struct expected_finding *expected, const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (same(expected, &judgement->findings[i]))
            return true;
    return false;
}

uint64_t example_situations(const struct claim *claim, const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->result_count; i++)
        if (judgement->results[i].claim == claim)
            return judgement->results[i].situations;
    return 0;
}

bool example_expects(const struct example *example, const struct finding *finding)
{
    for (size_t i = 0; i < example->expected_count; i++)
        if (same(&example->expected[i], finding))
            return true;
    return false;
}
