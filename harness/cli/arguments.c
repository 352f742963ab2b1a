/* See arguments.h. */
#include "cli/arguments.h"
#include "system/status.h"

#include <stdlib.h>
#include <string.h>

void arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    error_t code = argp_parse(argp, argc, argv, flags, NULL, input);
    if (code == 0)
        return;
    fprintf(stderr, "faultline: cannot read the arguments: %s\n", strerror(code));
    exit(STATUS_HARNESS);
}
