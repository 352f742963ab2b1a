/* Exit statuses; see verb.h. */
#include "system/status.h"

#include "base/memory.h"
#include "system/printable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum exit_status status_of_verdict(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_PASS:
        return STATUS_PASS;
    case VERDICT_VIOLATION:
        return STATUS_VIOLATION;
    case VERDICT_UNKNOWN:
    case VERDICT_VACUOUS:
        return STATUS_UNDECIDED;
    default:
        return STATUS_HARNESS;
    }
}

static int severity(enum exit_status status)
{
    static const enum exit_status order[] = {STATUS_PASS, STATUS_UNDECIDED, STATUS_HARNESS,
                                             STATUS_VIOLATION, STATUS_USAGE};
    for (int i = 0; i < (int)(sizeof order / sizeof order[0]); i++)
        if (order[i] == status)
            return i;
    return -1;
}

enum exit_status status_worst(enum exit_status a, enum exit_status b)
{
    return severity(a) >= severity(b) ? a : b;
}

enum exit_status status_of_output(FILE *out, const char *name, enum exit_status status)
{
    bool failed = ferror(out) != 0;
    errno = 0;
    if (fflush(out) == 0 && !failed)
        return status;
    fprintf(stderr, "faultline: cannot write %s: %s\n", name,
            errno != 0 ? strerror(errno) : "some of it was lost");
    return status_worst(status, STATUS_HARNESS);
}

enum exit_status status_of_error(const struct error *error)
{
    char *line;
    size_t bytes;
    FILE *out = memory_stream(&line, &bytes);
    fputs("faultline: ", out);
    printable_write(out, error->text[0] != '\0' ? error->text : error_code_text(error->code),
                    "\n\t");
    fputc('\n', out);
    memory_stream_end(out);
    /* In one write: several processes of a job may print such a line at the same moment. */
    fwrite(line, 1, bytes, stderr);
    free(line);
    switch (error->code) {
    case OK:
        return STATUS_PASS;
    case ERROR_USAGE:
    case ERROR_FORMAT:
    case ERROR_VERSION:
    case ERROR_LIMIT: /* what was given is too much */
        return STATUS_USAGE;
    default:
        return STATUS_HARNESS;
    }
}
