/* The arguments of a verb. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <argp.h>

/* argp_parse into `input`; argp ends the process itself where the user is wrong (STATUS_USAGE).
 * Where it cannot parse, as for want of memory, that is said on stderr and the process ends with
 * STATUS_HARNESS: no verb may run with half of its options. */
void arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

#endif
