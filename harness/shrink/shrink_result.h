/* What a search leaves in its folder: shrunk.lua, passing.lua, shrink.json; and what is printed of
 * it. Must not know: how it was found. */
#ifndef SHRINK_SHRINK_RESULT_H
#define SHRINK_SHRINK_RESULT_H

#include "shrink/shrink_search.h"
#include "system/path.h"
#include "verdict/outcome.h"

#include <stdio.h>

#define RESULT_TEXT_BYTES 256

struct shrink_result {
    const struct search *search;
    const struct run *run; /* that was given */
    const char *stopped;   /* why it is not the smallest: "the budget of 60 s"; NULL: it is */
    double seconds;
    struct confirmation confirmation; /* of the run that is kept, on the step engine */
    bool expects;                     /* shrunk.lua says `expect`, and `faultline run` passes it */

    size_t nearest;    /* item whose leaving out makes passing.lua; items.count: there is none */
    bool nothing_seen; /* passing.lua does not pass: nothing can be judged in it */
    struct path shrunk, passing;
    char *difference; /* owned; from passing to shrunk; NULL: there is none */
};

/* The members up to `seconds` are given. ERROR_IO: what could be written is there. */
enum error_code shrink_result_write(struct shrink_result *result, struct error *error);
void shrink_result_release(struct shrink_result *result);

/* The TAP line, its diagnostics, and comments. */
void shrink_result_print(FILE *out, const struct shrink_result *result);

#endif
