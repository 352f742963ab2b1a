/* Traces side by side: what has a line, what is in it, and that neither a long name nor a narrow
 * terminal pushes anything out of its column. */
#include "reports/text/columns.h"

#include "inline_trace.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define TWO_LIVES                                                                                  \
    "ranks 2\n"                                                                                    \
    "r0#0 wire call MPI_Init\n"                                                                    \
    "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x11\n"                                        \
    "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x11\n"                                       \
    "r0#0 wire send MPI_Send to null tag 7 bytes 8 hash 0x11\n"                                    \
    "r0#0 wire call MPI_Comm_rank\n"                                                               \
    "r1#0 wire recv MPI_Irecv from 0 tag 7 request 1\n"                                            \
    "r1#0 wire complete MPI_Test request 1 bytes 3 negative\n"                                     \
    "r1#0 wire complete MPI_Wait request 1 comm 1 got 0 tag 7 bytes 8 hash 0x11\n"                 \
    "r1#0 self note checkpoint 1\n"                                                                \
    "r1#0 self note stop-log 1\n"                                                                  \
    "r1#0 wire recv MPI_Recv from 0 tag 9 in-progress\n"                                           \
    "r0#1 wire call MPI_Init\n"                                                                    \
    "r1#1 wire call MPI_Init\n"                                                                    \
    "r1#1 self note phase name \"<script>\\x0a\\x01 and a name that is very much too long for "    \
    "it\"\n"                                                                                       \
    "r0#1 wire call MPI_Finalize\n"                                                                \
    "r1#1 wire call MPI_Finalize\n"

static char *printed(const struct trace_set *set, const struct columns_options *options)
{
    char *text = NULL;
    size_t bytes = 0;
    struct error error = {0};
    FILE *out = open_memstream(&text, &bytes);
    if (columns_print(set, options, out, &error) != OK)
        printf("# %s\n", error.text);
    fclose(out);
    return text;
}

/* The line that has `words`, cut at its end; empty: none has. Points into a buffer of its own. */
static const char *line_with(const char *text, const char *words)
{
    static char line[COLUMNS_WIDTH_MOST];
    const char *at = strstr(text, words);
    const char *start = at;
    if (at == NULL)
        return "";
    while (start > text && start[-1] != '\n')
        start--;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(start, "\n"), start);
    return line;
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    for (const char *at = text; *at != '\0'; at += strspn(at, "\n")) {
        size_t length = strcspn(at, "\n");
        longest = length > longest ? length : longest;
        at += length;
    }
    return longest;
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if ((*text < ' ' || *text > '~') && *text != '\n')
            return false;
    return true;
}

static size_t column_of(const char *line, const char *words)
{
    const char *at = strstr(line, words);
    return at != NULL ? (size_t)(at - line) : 0;
}

static void test_lines(void)
{
    struct trace_set set;
    inline_trace(TWO_LIVES, &set);
    struct columns_options options = columns_options_default();
    options.width = 80;
    char *text = printed(&set, &options);
    check(*line_with(text, "e2 >1 t7") != '\0', "a message that is sent has a line");
    check(*line_with(text, "e2 <0:e2 t7") != '\0',
          "its delivery names the event that sent it, where the request is completed");
    check(strstr(text, "e1 >1") == NULL, "the application's view of it has none");
    check(strstr(text, "null") == NULL, "nor what is sent to nobody");
    check(strstr(text, "Comm_rank") == NULL && strstr(text, "e0 Irecv") == NULL,
          "nor calls that change nothing");
    check(strstr(text, "not yet") == NULL, "nor a test that says no");
    check(*line_with(text, "e5 Recv <0 t9 ...") != '\0', "a call that never returned says so");
    check(*line_with(text, "-- life #1") != '\0', "a new life begins with a line");
    check(column_of(line_with(text, "e2 <0:e2"), "e2 <0") ==
              column_of(line_with(text, "e3 checkpoint 1"), "e3 checkpoint"),
          "the events of a rank stand in one column");
    check(line_with(text, "<script>")[12] == '|', "the other rank's line of life goes on");
    check(longest_line(text) <= 80, "no line is longer than 80 characters: %zu",
          longest_line(text));
    check(is_plain(text), "a name with control characters changes nothing");
    free(text);
    trace_set_release(&set);
}

static void test_logging(void)
{
    struct trace_set set;
    inline_trace("ranks 2\n"
                 "r1#0 self note checkpoint 1\n"
                 "r0#0 wire send MPI_Send to 1 tag 1 bytes 8 hash 0x1\n"
                 "r1#0 self note stop-log 1\n"
                 "r0#0 wire send MPI_Send to 1 tag 2 bytes 8 hash 0x1\n"
                 "r1#0 wire call MPI_Finalize\n",
                 &set);
    struct columns_options options = columns_options_default();
    char *text = printed(&set, &options);
    const char *line = line_with(text, ">1 t1");
    check(line[strlen(line) - 1] == ':', "between checkpoint and stop-log line a rank is marked");
    line = line_with(text, ">1 t2");
    check(line[strlen(line) - 1] == '|', "after it it is not");
    free(text);
    trace_set_release(&set);
}

static void test_narrow(void)
{
    struct trace_set set;
    char traces[4096] = "ranks 64\n", line[96];
    for (int rank = 0; rank < 60; rank++) {
        snprintf(line, sizeof line, "r%d#0 wire call MPI_Init\n", rank);
        strcat(traces, line);
    }
    strcat(traces, "r63#0 wire send MPI_Send to 0 tag 12345 bytes 8 hash 0x1\n");
    inline_trace(traces, &set);
    struct event_ref witness = {63, 0, 0};
    struct columns_options options = columns_options_default();
    options.witness = &witness;
    options.witness_count = 1;
    options.width = 80;
    char *text = printed(&set, &options);
    check(strstr(text, "59 of 64 ranks do not fit: r4, r5,") != NULL, "what does not fit is said");
    check(strstr(text, "*e0 >0 t12345") != NULL, "the rank of the witness has a column, marked");
    check(strstr(text, "r63#0:e0  PMPI_Send  to r0, tag 12345") != NULL,
          "and the witness is told in full");
    check(longest_line(text) <= 80, "the width is kept");
    free(text);
    options.width = COLUMNS_WIDTH_LEAST;
    text = printed(&set, &options);
    check(longest_line(strstr(text, "seconds")) <= 80, "in the least width too");
    free(text);
    trace_set_release(&set);
}

static void test_slice(void)
{
    struct trace_set set;
    char traces[8192] = "ranks 3\n", line[128];
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof line,
                 "r0#0 wire send MPI_Send to 1 tag %d bytes 8 hash 0x1\n"
                 "r2#0 self note phase name \"apart\"\n",
                 100 + i);
        strcat(traces, line);
    }
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof line,
                 "r1#0 wire recv MPI_Recv from 0 tag %d got 0 tag %d bytes 8 hash 0x1\n", 100 + i,
                 100 + i);
        strcat(traces, line);
    }
    inline_trace(traces, &set);
    struct event_ref witness = {1, 0, 9};
    struct columns_options options = columns_options_default();
    options.witness = &witness;
    options.witness_count = 1;
    options.slice = 6;
    char *text = printed(&set, &options);
    check(strstr(text, "6 of 60 events") != NULL, "a slice says how much of the run it is");
    check(strstr(text, "*e9 <0:e9 t109") != NULL, "it has the witness");
    check(strstr(text, "e8 <0:e8 t108") != NULL && strstr(text, "e4 <0:e4 t104") != NULL,
          "and the last of what happened before it");
    check(strstr(text, "e10 ") == NULL && strstr(text, "apart") == NULL,
          "and nothing that did not");
    free(text);
    options.slice = 0;
    options.print.limit = 5;
    text = printed(&set, &options);
    check(strstr(text, "... more: the limit is 5 events") != NULL, "a limit is said");
    free(text);
    trace_set_release(&set);
}

int main(void)
{
    test_lines();
    test_logging();
    test_narrow();
    test_slice();
    return done();
}
