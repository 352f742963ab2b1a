/* The command `faultline`: finds the verb and hands over. A new verb is one line in the table. */
#include "base/nearest.h"
#include "cli/verb.h"
#include "system/memory.h"
#include "system/status.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#define VERB_NAME_BYTES 64

static const struct verb verbs[] = {
    {"init", verb_init, "begin: a folder with a protocol, a program, scenarios and CI files"},
    {"run", verb_run, "run scenarios; TAP on stdout"},
    {"campaign", verb_campaign, "draw many plans, run each, group what fails"},
    {"explore", verb_explore, "run every schedule of a small job, on the step engine"},
    {"list", verb_list, "what would run: scenario, protocol, program, ranks, claims"},
    {"exec", verb_exec, "run any MPI command under the taps, without a scenario"},
    {"check", verb_check, "judge a stored run again"},
    {"replay", verb_replay, "run a stored run again with the same decisions"},
    {"export", verb_export, "pack a stored run into one file, to replay it elsewhere"},
    {"shrink", verb_shrink, "find the smallest scenario that still fails as a stored run did"},
    {"trace", verb_trace, "print the trace of a run"},
    {"report", verb_report, "the page of a run, or of an output folder"},
    {"claims", verb_claims, "the claims, their sources, and what each needs to see"},
    {"doctor", verb_doctor, "what this machine can do, and what to install"},
};
#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

const char *argp_program_version = "faultline " FAULTLINE_VERSION;

static void print_help(FILE *out)
{
    fprintf(out, "Usage: faultline VERB [OPTION...] [ARGUMENT...]\n"
                 "Kills ranks of real MPI jobs, lets the protocol recover, judges the trace.\n\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(out, "  %-8s %s\n", verbs[i].name, verbs[i].help);
    fprintf(out, "\n`faultline VERB --help` tells the options of a verb; each is also read from a\n"
                 "variable, --timeout from FAULTLINE_TIMEOUT.\n"
                 "Exit status: 0 pass, 1 violation, 2 unknown or vacuous, 3 harness error, "
                 "64 usage.\n");
}

static int unknown_verb(const char *name)
{
    const char *names[VERB_COUNT];
    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    const char *near = nearest_name(name, names, VERB_COUNT);
    fprintf(stderr, "faultline: there is no verb \"%s\"", name);
    if (near != NULL)
        fprintf(stderr, "; did you mean \"%s\"?\n", near);
    else
        fprintf(stderr, "; `faultline --help` lists them\n");
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    argp_err_exit_status = STATUS_USAGE;
    memory_or_end();
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-?") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return (int)status_of_output(stdout, "standard output", STATUS_PASS);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("%s\n", argp_program_version);
        return (int)status_of_output(stdout, "standard output", STATUS_PASS);
    }
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(name, verbs[i].name) != 0)
            continue;
        char title[VERB_NAME_BYTES];
        snprintf(title, sizeof title, "faultline %s", name);
        argv[1] = title;
        enum exit_status status = (enum exit_status)verbs[i].run(argc - 1, argv + 1);
        return (int)status_of_output(stdout, "standard output", status);
    }
    return unknown_verb(name);
}
