/* `faultline check`: a stored run is judged again. Needs no MPI. */
#include "base/memory.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "jobs/outcome_print.h"
#include "oracles/oracle.h"
#include "reports/results/tap.h"
#include "system/status.h"
#include "verdict/outcome.h"
#include "verdict/stored_verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is judged instead of the scenario's own claims. Points into `text`. */
struct claim_list {
    const char *id[SCENARIO_MAX_CLAIMS];
    size_t count;
    char *text; /* owned */
};

static enum error_code split_claims(const char *text, struct claim_list *list, struct error *error)
{
    if (text == NULL)
        return OK;
    list->text = memory_text(text);
    char *saved;
    for (char *id = strtok_r(list->text, ", ", &saved); id; id = strtok_r(NULL, ", ", &saved)) {
        if (list->count == SCENARIO_MAX_CLAIMS)
            return error_set(error, ERROR_USAGE, "--claims: more than %d", SCENARIO_MAX_CLAIMS);
        list->id[list->count++] = id;
    }
    return list->count > 0 ? claims_check(list->id, list->count, error)
                           : error_set(error, ERROR_USAGE, "--claims: names no claim");
}

/* Where the TAP goes. */
struct outputs {
    FILE *file[2]; /* standard output, --tap or NULL */
};

/* It is not made again. */
static void take_control(const char *folder, struct control *control)
{
    struct stored_verdict stored;
    (void)stored_verdict_load(folder, &stored, NULL);
    *control = stored.control;
    stored_verdict_release(&stored);
}

static enum exit_status judge_one(struct run *run, int number, const struct claim_list *wanted,
                                  const struct options *options, const struct outputs *out)
{
    struct outcome outcome;
    run->number = number;
    outcome_judge(run, wanted->id, wanted->count, &outcome);
    if (outcome.verdict == VERDICT_VIOLATION)
        take_control(run->folder.text, &outcome.control);
    for (int i = 0; i < 2; i++)
        if (out->file[i] != NULL)
            outcome_print(out->file[i], run, &outcome, options->verbose);
    enum exit_status status = status_of_verdict(outcome.verdict);
    outcome_release(&outcome);
    return status;
}

/* A run that cannot be judged; the others still are. */
static void report_unread(FILE *out, const char *folder, int number, const struct error *error)
{
    tap_line(out, false, number, folder, verdict_text(VERDICT_HARNESS_ERROR));
    tap_block_begin(out);
    tap_string(out, "verdict", verdict_text(VERDICT_HARNESS_ERROR));
    tap_list(out, "why");
    tap_item(out, error->text);
    tap_block_end(out);
}

/* TAP of one run: its number in the stream is a new one, its folder shows the old one. */
static enum exit_status check_one(const char *folder, int number, const struct claim_list *wanted,
                                  const struct options *options, const struct outputs *out)
{
    struct run run = {0};
    struct scenario_list owner = {0};
    struct error error = {0};
    enum exit_status status;
    bool recorded = run_is_recorded(folder);
    if ((recorded ? run_load_recorded : run_load)(folder, &run, &owner, &error) == OK) {
        status = judge_one(&run, number, wanted, options, out);
    } else {
        status = status_of_error(&error);
        for (int i = 0; i < 2; i++)
            if (out->file[i] != NULL)
                report_unread(out->file[i], folder, number, &error);
    }
    run_release(&run);
    scenario_list_release(&owner);
    return status;
}

static enum error_code check_all(const struct options *options, const struct claim_list *wanted,
                                 enum exit_status *status, struct error *error)
{
    struct outputs out = {{stdout, NULL}};
    if (options->tap != NULL && (out.file[1] = fopen(options->tap, "we")) == NULL)
        return error_set(error, ERROR_IO, "--tap %s: %s", options->tap, strerror(errno));
    for (int i = 0; i < 2; i++)
        if (out.file[i] != NULL) {
            tap_header(out.file[i]);
            tap_plan(out.file[i], options->path_count);
        }
    for (size_t i = 0; i < options->path_count; i++)
        *status =
            status_worst(*status, check_one(options->path[i], (int)i + 1, wanted, options, &out));
    if (out.file[1] != NULL) {
        *status = status_of_output(out.file[1], options->tap, *status);
        fclose(out.file[1]);
    }
    return OK;
}

int verb_check(int argc, char **argv)
{
    static const struct options_help help = {
        "RUN...", "Judges stored runs (OUT/<run-id>/<number>) again, by what their folders hold."};
    struct options options;
    struct claim_list wanted = {0};
    struct error error = {0};
    enum exit_status status = STATUS_PASS;
    options_parse(&options, FOR_CHECK, &help, argc, argv);
    enum error_code code = split_claims(options.claims, &wanted, &error);
    if (code == OK)
        code = check_all(&options, &wanted, &status, &error);
    free(wanted.text);
    return (int)(code != OK ? status_worst(status, status_of_error(&error)) : status);
}
