/* `faultline export`: a run in one file. */
#include "cli/arguments.h"
#include "cli/verb.h"
#include "replay/pack.h"
#include "replay/replay.h"
#include "system/path.h"
#include "system/status.h"

#include <argp.h>
#include <stdio.h>

enum key { KEY_OUTPUT = 'o' };

struct export_options {
    const char *output;
    const char *run;
};

static const struct argp_option export_argp_options[] = {
    {"output", KEY_OUTPUT, "FILE", 0, "where it goes (default run.tar.zst)", 0},
    {0},
};

static error_t parse_export(int key, char *argument, struct argp_state *state)
{
    struct export_options *options = state->input;
    switch (key) {
    case KEY_OUTPUT:
        options->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->run != NULL)
            argp_error(state, "one run at a time");
        options->run = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the run is missing: faultline export OUT/<run-id>/<number>");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp export_argp = {export_argp_options,
                                        parse_export,
                                        "RUN",
                                        "Packs a stored run into one file, which `faultline replay "
                                        "FILE` runs again elsewhere: plan, decisions, verdict, and "
                                        "the traces if they are small. The protocol and the "
                                        "program are not in it.",
                                        NULL,
                                        NULL,
                                        NULL};

int verb_export(int argc, char **argv)
{
    struct export_options options = {.output = "run.tar.zst"};
    struct recorded recorded;
    struct error error = {0};
    arguments_parse(&export_argp, argc, argv, 0, &options);
    enum error_code code = recorded_open(options.run, &recorded, &error);
    if (code == OK)
        code = pack_write(options.run, options.output, &error);
    recorded_release(&recorded);
    return code == OK ? STATUS_PASS : (int)status_of_error(&error);
}
