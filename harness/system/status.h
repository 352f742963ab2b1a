/* What the command says by its exit status, and its version. */
#ifndef SYSTEM_STATUS_H
#define SYSTEM_STATUS_H

#include "oracles/oracle.h"

#include <stdio.h>

#define FAULTLINE_VERSION "0.1"

/* The worst decides, in the order VIOLATION, HARNESS, UNDECIDED, PASS; USAGE ends a command before
 * there is anything to weigh. A command that the user
 * interrupted ends by the signal itself (128 + its number, as a shell shows it). */
enum exit_status {
    STATUS_PASS = 0,
    STATUS_VIOLATION = 1,
    STATUS_UNDECIDED = 2, /* unknown or vacuous */
    STATUS_HARNESS = 3,
    STATUS_USAGE = 64,
    STATUS_DEADLOCK = 122, /* `exec` has ended a deadlocked job; else its status is the command's */
};

/* pass 0, violation 1, unknown and vacuous 2, harness-error 3. */
enum exit_status status_of_verdict(enum verdict verdict);
/* Of the two the one that weighs more: in this order pass, unknown or vacuous, harness-error,
 * violation, usage. */
enum exit_status status_worst(enum exit_status a, enum exit_status b);

/* What was written to `out` must have arrived: flushes it, says on stderr what went wrong with
 * `name`, and returns `status`, or what weighs more. Closes nothing. */
enum exit_status status_of_output(FILE *out, const char *name, enum exit_status status);

/* Prints "faultline: <text>" to stderr; the status that fits the error's code. */
enum exit_status status_of_error(const struct error *error);

#endif
