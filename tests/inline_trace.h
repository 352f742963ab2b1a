/* Traces written in a test itself, as text. */
#ifndef TESTS_INLINE_TRACE_H
#define TESTS_INLINE_TRACE_H

#include "trace/reader.h"
#include "traces/text_trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends the test if the text is wrong. */
static inline void inline_trace(const char *text, struct trace_set *set)
{
    char path[] = "/tmp/faultline-inline.XXXXXX";
    struct error error = {0};
    int file = mkstemp(path);
    size_t bytes = strlen(text);
    if (file < 0 || write(file, text, bytes) != (ssize_t)bytes || close(file) != 0)
        exit(1);
    if (trace_set_parse(path, set, &error) != OK) {
        printf("not ok - %s\n", error.text);
        exit(1);
    }
    unlink(path);
}

#endif
