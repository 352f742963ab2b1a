/* See arguments.h. */
#include "cli/arguments.h"
#include "system/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parsing;

/* argp ends the process with 0 after its help, whether or not that was written. */
static void look_at_help(void)
{
    if (parsing && status_of_output(stdout, "standard output", STATUS_PASS) != STATUS_PASS)
        _exit(STATUS_HARNESS);
}

void arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    parsing = atexit(look_at_help) == 0;
    error_t code = argp_parse(argp, argc, argv, flags, NULL, input);
    parsing = false;
    if (code == 0)
        return;
    fprintf(stderr, "faultline: cannot read the arguments: %s\n", strerror(code));
    exit(STATUS_HARNESS);
}
