/* See outcome_print.h. */
#include "jobs/outcome_print.h"

#include "base/regular_file.h"
#include "decisions/decisions.h"
#include "plan/action.h"
#include "reports/results/tap.h"
#include "stacks/stacks.h"
#include "system/tail.h"
#include "verdict/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256
#define TAIL_LINES 5
#define TAILS_MOST 16
#define STACK_LINES 60
#define ALSO_MOST 5
#define TEXT_BYTES 1024
#define NUMBER_BYTES 32
#define SLOW_SHARE 0.5 /* of the hard limit */

static void print_claim(FILE *out, const struct finding *finding)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%s (%s)", finding->claim->text, finding->claim->source);
    tap_string(out, "claim", text);
}

static void print_witness(FILE *out, const struct finding *finding)
{
    char text[FINDING_WITNESSES][EVENT_TEXT_BYTES];
    const char *texts[FINDING_WITNESSES];
    for (unsigned i = 0; i < finding->witness_count; i++) {
        texts[i] = event_text(finding->witness[i], text[i]);
    }
    tap_row(out, "witness", texts, finding->witness_count);
}

static void print_finding(FILE *out, const struct outcome *outcome)
{
    const struct finding *finding = outcome_finding(outcome);
    if (finding != NULL)
        print_claim(out, finding);
    tap_list(out, "why");
    if (outcome->why[0] != '\0')
        tap_item(out, outcome->why);
    for (unsigned i = 0; finding != NULL && i < finding->why_count; i++)
        tap_item(out, finding->why[i]);
    if (finding != NULL && finding->witness_count > 0)
        print_witness(out, finding);
}

/* What else was found, one line each: what follows from the finding that decided, or not. */
static void print_others(FILE *out, const struct judgement *judgement, const char *key,
                         bool follows)
{
    size_t others = 0;
    for (size_t i = 1; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        char text[TEXT_BYTES];
        if (finding->follows != follows)
            continue;
        if (others++ == 0)
            tap_list(out, key);
        if (others > ALSO_MOST)
            continue;
        snprintf(text, sizeof text, "%s %s: %s", finding->claim->id, verdict_text(finding->verdict),
                 finding->why_count > 0 ? finding->why[0] : "");
        tap_item(out, text);
    }
    if (others > ALSO_MOST) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text, "and %zu more in verdict.json", others - ALSO_MOST);
        tap_item(out, text);
    }
}

/* What failures are grouped by. */
static void print_fingerprint(FILE *out, const struct run *run, const struct outcome *outcome)
{
    struct fingerprint fingerprint;
    fingerprint_of(run, outcome, &fingerprint);
    if (fingerprint.text[0] != '\0')
        tap_string(out, "fingerprint", fingerprint.text);
}

static void print_faults(FILE *out, const struct run *run)
{
    const struct plan *plan = &run->scenario->plan;
    unsigned asked = 0, installed = 0;
    for (size_t i = 0; i < plan->count; i++) {
        bool is_fault = action_of(&plan->steps[i])->is_fault;
        asked += is_fault;
        installed += is_fault && run->steps[i].done;
    }
    fprintf(out, "  faults: { asked: \"%u\", installed: \"%u\" }\n", asked, installed);
}

/* The last lines of a file, each with `label` in front. */
static void print_tail(FILE *out, const char *path, const char *label)
{
    char *text = tail_read(path, TAIL_LINES), *saved = NULL;
    char *line = text != NULL ? strtok_r(text, "\n", &saved) : NULL;
    for (; line != NULL; line = strtok_r(NULL, "\n", &saved)) {
        char item[LINE_BYTES + TAIL_READ_BYTES];
        snprintf(item, sizeof item, "%.*s: %s", LINE_BYTES / 2, label, line);
        tap_item(out, item);
    }
    free(text);
}

static void print_output(FILE *out, const struct run *run)
{
    static const char *const streams[] = {"err", "out"};
    int incarnation = run->incarnations - 1;
    struct path launcher;
    tap_list(out, "output");
    if (run->end == RUN_VOID &&
        path_format(&launcher, NULL, "%s/output/launcher", run->folder.text) == OK)
        print_tail(out, launcher.text, "launcher");
    for (int rank = 0; rank < scenario_most_ranks(run->scenario) && rank < TAILS_MOST; rank++)
        for (int stream = 0; stream < 2; stream++) {
            struct path path;
            char label[LINE_BYTES];
            snprintf(label, sizeof label, "r%d#%d %s", rank, incarnation, streams[stream]);
            if (path_format(&path, NULL, "%s/output/r%d.%d.%s", run->folder.text, rank, incarnation,
                            streams[stream]) == OK)
                print_tail(out, path.text, label);
        }
}

/* A heading, or a frame of the program or of the protocol. */
static bool is_printed(const char *line)
{
    return strncmp(line, STACKS_FOLDED, sizeof STACKS_FOLDED - 1) != 0 &&
           strncmp(line, STACKS_MAIN_THREAD, sizeof STACKS_MAIN_THREAD - 1) != 0 &&
           strstr(line, " (" STACKS_MPI_LIBRARY) == NULL;
}

static void print_stacks(FILE *out, const struct run *run)
{
    struct path path;
    char line[LINE_BYTES];
    FILE *file = path_format(&path, NULL, "%s/stacks.txt", run->folder.text) == OK
                     ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                     : NULL;
    if (file == NULL)
        return;
    tap_list(out, "stacks");
    int count = 0;
    while (count < STACK_LINES && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!is_printed(line))
            continue;
        tap_item(out, line);
        count++;
    }
    if (!feof(file))
        tap_item(out, "... more in stacks.txt");
    fclose(file);
}

static void print_results(FILE *out, const struct judgement *judgement)
{
    tap_list(out, "claims");
    for (size_t i = 0; i < judgement->result_count; i++) {
        const struct claim_result *result = &judgement->results[i];
        char text[LINE_BYTES];
        snprintf(text, sizeof text, "%s %s: %" PRIu64 " situations, %" PRIu64 " violations",
                 result->claim->id, verdict_text(result->verdict), result->situations,
                 result->violations);
        tap_item(out, text);
    }
}

/* Its page, if there is one: what passed has none. */
static void print_page(FILE *out, const struct run *run)
{
    struct path shown;
    if (path_holds(run->folder.text, "report.html") &&
        path_format(&shown, NULL, "%s/report.html", run->shown.text) == OK)
        tap_string(out, "report", shown.text);
}

/* What helps to see the run again, whatever became of it. */
static void print_run(FILE *out, const struct run *run)
{
    char text[PATH_MAX + TEXT_BYTES];
    snprintf(text, sizeof text, "%s after %d incarnation%s: %s",
             (const char *const[]){
#define X(name, word) word,
                 RUN_ENDS(X)
#undef X
             }[run->end],
             run->incarnations, run->incarnations == 1 ? "" : "s", run->end_text);
    tap_string(out, "end", text);
    print_faults(out, run);
    if (run->reference_text[0] != '\0')
        tap_string(out, "reference", run->reference_text);
    if (!run->recorded) {
        snprintf(text, sizeof text, "%" PRIu64, run->seed);
        tap_string(out, "seed", text);
        snprintf(text, sizeof text, "%s:%d", run->scenario->file, run->scenario->line);
        tap_string(out, "scenario", text);
    }
    snprintf(text, sizeof text, "faultline %s %s",
             path_holds(run->folder.text, DECISIONS_FILE) ? "replay" : "check", run->shown.text);
    tap_string(out, "repro", text);
    print_page(out, run);
}

/* "1,204" */
static const char *grouped(uint64_t number, char text[NUMBER_BYTES])
{
    char plain[NUMBER_BYTES];
    size_t length = (size_t)snprintf(plain, sizeof plain, "%" PRIu64, number), used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = plain[i];
    }
    text[used] = '\0';
    return text;
}

/* A list that is kept as one text, as people write it. */
static void spaced(const char *list, char separator, char text[TEXT_BYTES])
{
    size_t used = 0;
    for (; *list != '\0' && used + sizeof ", " < TEXT_BYTES; list++) {
        if (*list == separator)
            text[used++] = ',';
        text[used++] = *list == separator ? ' ' : *list;
    }
    text[used] = '\0';
}

/* What was taken for the library's under test, and not for the program's. */
static void print_library(FILE *out, const struct scenario *scenario,
                          const struct library_seen *seen)
{
    char number[NUMBER_BYTES], list[TEXT_BYTES], calls[2 * TEXT_BYTES] = "";
    char helpers[2 * TEXT_BYTES] = "";
    if (scenario->library != NULL) {
        spaced(scenario->library, ':', list);
        snprintf(calls, sizeof calls, "%s: %s call%s of MPI taken for the protocol's", list,
                 grouped(seen->taken, number), seen->taken == 1 ? "" : "s");
    }
    if (scenario->helpers != NULL) {
        spaced(scenario->helpers, ',', list);
        snprintf(helpers, sizeof helpers, "helper rank%s %s", strchr(list, ',') != NULL ? "s" : "",
                 list);
    }
    if (calls[0] != '\0' || helpers[0] != '\0')
        tap_comment(out, "%s%s%s", calls, calls[0] != '\0' && helpers[0] != '\0' ? "; " : "",
                    helpers);
}

/* What a run that passed does not show, although the reader might think so: of a protocol, and of a
 * program with faults. */
static void print_not_shown(FILE *out, const struct run *run, const struct outcome *outcome)
{
    const struct scenario *scenario = run->scenario;
    bool protocol = strcmp(scenario->protocol, "null") != 0 || scenario->library != NULL;
    bool faults = scenario->plan.count > 0, asked = false;
    if (outcome->verdict != VERDICT_PASS || run->recorded || (!protocol && !faults))
        return;
    for (size_t i = 0; i < outcome->judgement.result_count; i++) {
        const struct claim_result *result = &outcome->judgement.results[i];
        asked |= !result->claim->always;
        if (strcmp(result->claim->id, "H.result") == 0 && result->situations == 0 &&
            !run->reference_failed)
            tap_comment(out, "results were not compared: the %s",
                        faults ? "program declares none" : "scenario has no faults");
    }
    if (protocol && asked && !outcome->took_checkpoint)
        tap_comment(out, "no checkpoint was taken");
}

/* What the user ended has neither passed nor failed: TAP calls that skipped. */
static void print_line(FILE *out, const struct run *run, const struct outcome *outcome)
{
    char skipped[TEXT_BYTES];
    bool cut_off = run->end == RUN_INTERRUPTED && !run->recorded;
    const char *remark = outcome->remark[0] != '\0' ? outcome->remark : NULL;
    snprintf(skipped, sizeof skipped, "SKIP cut off by the user: %.900s", run->end_text);
    tap_line(out, cut_off || outcome->verdict == VERDICT_PASS, run->number, run->scenario->name,
             cut_off ? skipped : remark);
}

void outcome_print(FILE *out, const struct run *run, const struct outcome *outcome, bool verbose)
{
    bool pass = outcome->verdict == VERDICT_PASS;
    print_line(out, run, outcome);
    if (!pass || verbose) {
        tap_block_begin(out);
        tap_string(out, "verdict", verdict_text(outcome->verdict));
        if (!pass)
            print_finding(out, outcome);
        if (outcome->control.result != CONTROL_NONE)
            tap_string(out, "control", outcome->control.text);
        if (outcome->confirmation.result != CONFIRMED_NONE)
            tap_string(out, "mpiexec", outcome->confirmation.text);
        if (!pass) {
            print_others(out, &outcome->judgement, "follows", true);
            print_others(out, &outcome->judgement, "also", false);
        }
        print_fingerprint(out, run, outcome);
        if (verbose)
            print_results(out, &outcome->judgement);
        print_run(out, run);
        if (!pass) {
            print_output(out, run);
            print_stacks(out, run);
        }
        tap_block_end(out);
    }
    print_not_shown(out, run, outcome);
    if (outcome->differs[0] != '\0')
        tap_comment(out, "not deterministic: with the same decisions another run differs: %s",
                    outcome->differs);
    print_library(out, run->scenario, &outcome->library);
    if (run->reference_failed)
        tap_comment(out, "not compared with a run without faults (H.result, H.loss): %s",
                    run->reference_text);
    if (run->seconds > SLOW_SHARE * run->timeout_s)
        tap_comment(out, "slow: %.1f s of the %g s allowed", run->seconds, run->timeout_s);
}
