/* The verb `faultline report`; see report.h. */
#include "reports/page/report.h"

#include "cli/arguments.h"
#include "cli/verb.h"
#include "system/status.h"

#include <argp.h>
#include <stdio.h>

enum key { KEY_BESIDE = 1000, KEY_TEXT };

struct report_options {
    const char *output; /* NULL: in the folder */
    const char *beside; /* NULL: one run alone */
    bool text;
    const char *folder;
};

static const struct argp_option report_argp_options[] = {
    {"output", 'o', "FILE", 0,
     "instead of report.html in the run folder, or index.html in the output folder", 0},
    {"beside", KEY_BESIDE, "RUN", 0,
     "draw this run below, around the same events: the nearest one that passed", 0},
    {"text", KEY_TEXT, NULL, 0,
     "no page: the diagnostic in prose, and the events that led to it, to standard output", 0},
    {0},
};

static error_t parse_report(int key, char *argument, struct argp_state *state)
{
    struct report_options *options = state->input;
    switch (key) {
    case 'o':
        options->output = argument;
        return 0;
    case KEY_BESIDE:
        options->beside = argument;
        return 0;
    case KEY_TEXT:
        options->text = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->folder != NULL)
            argp_error(state, "one run at a time; --beside RUN draws another below");
        options->folder = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a run folder or an output folder is missing");
        return 0;
    case ARGP_KEY_SUCCESS:
        if (options->text && (options->beside != NULL || options->output != NULL))
            argp_error(state, "--text goes to standard output, with one run alone");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum error_code report(const struct report_options *options, struct error *error)
{
    if (options->text)
        return report_text(options->folder, stdout, error);
    bool run = report_is_run(options->folder);
    if (!run && options->beside != NULL)
        return error_set(error, ERROR_USAGE, "%s: is no run folder; --beside is for two runs",
                         options->folder);
    enum error_code code =
        run ? report_run(options->folder, options->beside, options->output, error)
            : report_folder(options->folder, options->output, NULL, error);
    if (code == OK && options->output != NULL)
        printf("%s\n", options->output);
    else if (code == OK)
        printf("%s/%s\n", options->folder, run ? "report.html" : "index.html");
    return code;
}

int verb_report(int argc, char **argv)
{
    static const struct argp argp = {
        report_argp_options,
        parse_report,
        "RUN|OUT",
        "Writes the page of a stored run (OUT/<run-id>/<number>): the verdict in prose, and what "
        "its ranks did as a space-time diagram around the witness; or the page of an output folder "
        "with all its runs. One file, which needs no network. Prints where it is.",
        NULL,
        NULL,
        NULL};
    struct report_options options = {0};
    struct error error = {0};
    arguments_parse(&argp, argc, argv, 0, &options);
    return report(&options, &error) == OK ? STATUS_PASS : (int)status_of_error(&error);
}
