/* `faultline check`: a stored run is judged again. Needs no MPI. */
#include "driver/claims.h"
#include "driver/options.h"
#include "driver/outcome.h"
#include "driver/verb.h"
#include "reports/tap.h"

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
    list->text = strdup(text);
    if (list->text == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    char *saved;
    for (char *id = strtok_r(list->text, ", ", &saved); id; id = strtok_r(NULL, ", ", &saved)) {
        if (list->count == SCENARIO_MAX_CLAIMS)
            return error_set(error, ERROR_USAGE, "--claims: more than %d", SCENARIO_MAX_CLAIMS);
        enum error_code code = claim_check_name(id, error);
        if (code != OK)
            return code;
        list->id[list->count++] = id;
    }
    return list->count > 0 ? OK : error_set(error, ERROR_USAGE, "--claims: names no claim");
}

/* TAP of one run: its number in the stream is 1, its folder tells the old one. */
static enum error_code check_one(const char *folder, int number, const struct claim_list *wanted,
                                 const struct options *options, FILE *const *out,
                                 enum exit_status *status, struct error *error)
{
    struct run run = {0};
    struct scenario_list owner;
    enum error_code code = run_load(folder, &run, &owner, error);
    if (code == OK) {
        struct outcome outcome;
        run.number = number;
        outcome_judge(&run, wanted->id, wanted->count, &outcome);
        for (int i = 0; i < 2; i++)
            if (out[i] != NULL)
                outcome_print(out[i], &run, &outcome, options->verbose);
        *status = status_worst(*status, status_of_verdict(outcome.verdict));
        outcome_release(&outcome);
    }
    run_release(&run);
    scenario_list_release(&owner);
    return code;
}

static enum error_code check_all(const struct options *options, const struct claim_list *wanted,
                                 enum exit_status *status, struct error *error)
{
    FILE *out[2] = {stdout, NULL};
    if (options->tap != NULL && (out[1] = fopen(options->tap, "we")) == NULL)
        return error_set(error, ERROR_IO, "--tap %s: %s", options->tap, strerror(errno));
    for (int i = 0; i < 2; i++)
        if (out[i] != NULL) {
            tap_header(out[i]);
            tap_plan(out[i], options->path_count);
        }
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < options->path_count; i++)
        code = check_one(options->path[i], (int)i + 1, wanted, options, out, status, error);
    if (out[1] != NULL)
        fclose(out[1]);
    return code;
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
