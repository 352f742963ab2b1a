/* See results.h. */
#include "suite/results.h"

#include "verdict/stored_verdict.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum error_code begin_all(struct results *results, const struct options *options,
                                 struct error *error)
{
    enum error_code code = OK;
    for (int i = 0; code == OK && i < RESULTS_FORMS; i++) {
        struct error inner = {0};
        if (options->results[i] == NULL)
            continue;
        code = whole_file_begin(&results->file[i], options->results[i], WHOLE_NAMED, &inner);
        if (code != OK)
            error_set(error, code, "--%s %s: %s", result_forms[i]->name, options->results[i],
                      code == ERROR_IO ? strerror(errno) : inner.text);
    }
    return code;
}

enum error_code results_open(struct results *results, const struct options *options,
                             struct error *error)
{
    enum error_code code = begin_all(results, options, error);
    for (int i = 0; code == OK && i < RESULTS_FORMS; i++) {
        const struct whole_file *file = &results->file[i];
        if (file->out != NULL && !file->direct && unlink(file->path) != 0 && errno != ENOENT)
            code = error_set(error, ERROR_IO, "--%s %s: %s", result_forms[i]->name, file->path,
                             strerror(errno));
    }
    return code;
}

void results_close(struct results *results)
{
    for (int i = 0; i < RESULTS_FORMS; i++)
        if (results->file[i].out != NULL)
            (void)whole_file_end(&results->file[i], ERROR_USAGE, NULL);
}

/* --- one job ---------------------------------------------------------------------------------- */

static enum result result_of(const struct job *job)
{
    if (job->state != JOB_DONE || job->cut_off)
        return RESULT_SKIPPED;
    if (job->status == STATUS_PASS)
        return RESULT_PASS;
    return job->status == STATUS_VIOLATION ? RESULT_FAILURE : RESULT_ERROR;
}

static void take_finding(const struct stored_finding *finding, struct result_case *result)
{
    result->claim = finding->claim;
    for (size_t i = 0; i < finding->why_count && result->why_count < RESULT_WHY_MOST; i++)
        result->why[result->why_count++] = finding->why[i];
    for (size_t i = 0; i < finding->shown_count && i < RESULT_WITNESS_MOST; i++)
        result->witness[result->witness_count++] = finding->shown[i];
}

/* The texts live as long as `stored`. */
static void take_verdict(const struct stored_verdict *stored, struct result_case *result)
{
    const struct stored_finding *finding = stored_verdict_finding(stored);
    if (stored->word[0] == '\0')
        return;
    result->verdict = stored->word;
    if (result->result == RESULT_PASS)
        return;
    if (stored->why != NULL && stored->why[0] != '\0')
        result->why[result->why_count++] = stored->why;
    if (finding != NULL)
        take_finding(finding, result);
    else if (claim_find(stored->remark) != NULL)
        result->claim = stored->remark;
    if (stored->control.result != CONTROL_NONE)
        result->control = stored->control.text;
}

static void write_one(const struct result_form *form, FILE *out, const struct job *job, void *state)
{
    const struct scenario *scenario = job->scenario;
    struct result_case result = {.number = job->number,
                                 .name = scenario->name,
                                 .file = scenario->file,
                                 .line = scenario->line,
                                 .protocol = scenario->protocol,
                                 .program = scenario->program,
                                 .result = result_of(job),
                                 .seconds = job->seconds,
                                 .folder = job->folder.text};
    struct stored_verdict stored = {0};
    if (result.result == RESULT_SKIPPED) {
        result.verdict = job->cut_off ? "cut off by the user" : "not run";
    } else {
        result.verdict = verdict_text(VERDICT_HARNESS_ERROR);
        (void)stored_verdict_load(job->folder.text, &stored, NULL);
    }
    if (stored.root != NULL)
        take_verdict(&stored, &result);
    else if (result.result != RESULT_SKIPPED)
        result.why[result.why_count++] = "the process that ran it left no verdict";
    form->one(out, &result, state);
    stored_verdict_release(&stored);
}

/* --- all -------------------------------------------------------------------------------------- */

/* All results that a file of results is to have. */
struct result_list {
    struct job *const *jobs;
    size_t count;
    const struct result_case *more;
    size_t more_count;
};

static struct result_totals totals_of(const struct result_list *list)
{
    struct job *const *jobs = list->jobs;
    size_t count = list->count;
    struct result_totals totals = {0};
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->is_reference)
            continue;
        totals.all++;
        totals.count[result_of(jobs[i])]++;
        totals.seconds += jobs[i]->seconds;
    }
    for (size_t i = 0; i < list->more_count; i++) {
        totals.all++;
        totals.count[list->more[i].result]++;
    }
    return totals;
}

/* A stream that takes no more keeps the reason in errno: nothing else is done then. */
static void write_form(const struct result_form *form, FILE *out, const struct result_list *list)
{
    struct result_totals totals = totals_of(list);
    void *state = NULL;
    if (form->begin != NULL)
        form->begin(out, &totals, &state);
    for (size_t i = 0; i < list->count && !ferror(out); i++)
        if (!list->jobs[i]->is_reference)
            write_one(form, out, list->jobs[i], state);
    for (size_t i = 0; i < list->more_count && !ferror(out); i++)
        form->one(out, &list->more[i], state);
    if (form->end != NULL)
        form->end(out, state);
}

enum exit_status results_write(struct results *results, struct job *const *jobs, size_t count,
                               const struct result_case *more, size_t more_count,
                               enum exit_status status)
{
    struct result_list list = {jobs, count, more, more_count};
    for (int i = 0; i < RESULTS_FORMS; i++) {
        struct whole_file *file = &results->file[i];
        struct error error = {0};
        if (file->out == NULL)
            continue;
        write_form(result_forms[i], file->out, &list);
        if (whole_file_end(file, OK, &error) != OK)
            status = status_worst(status, status_of_error(&error));
    }
    return status;
}
