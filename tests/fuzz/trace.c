/* Trace files: whatever stands in one, it is refused or can be walked, told as text and judged.
 *
 * The input is the header without the rest of its page, then records: so mutations reach both. An
 * input that is shorter than a header is a file as it is. */
#include "oracles/oracle.h"
#include "trace/reader.h"
#include "traces/text_trace.h"

#include "fuzz.h"

#include <string.h>

#define TEXT_BYTES 100

static int open_page(const uint8_t *data, size_t bytes, char path[FUZZ_PATH_BYTES])
{
    static const char page[TRACE_HEADER_BYTES];
    size_t head = sizeof(struct trace_header);
    int file = fuzz_open(data, bytes < head ? bytes : head, path);
    if (bytes >= head) {
        fuzz_check(write(file, page, sizeof page - head) == (ssize_t)(sizeof page - head));
        fuzz_check(write(file, data + head, bytes - head) == (ssize_t)(bytes - head));
    }
    return file;
}

static void walk(const struct trace_set *set)
{
    char text[TEXT_BYTES];
    const struct trace *trace = &set->trace[0];
    for (uint64_t i = 0; i < trace->count; i++) {
        trace_text(trace, i, text, sizeof text);
        trace_ns(set, trace->record[i].enter);
    }
    fuzz_check(trace_set_find(set, trace->rank, trace->incarnation) == trace);
}

/* Most damaged traces cannot be written as text; one that can is the same when it is read. */
static void write_and_read(const struct trace_set *set)
{
    char path[FUZZ_PATH_BYTES];
    struct trace_set again;
    struct error error = {0};
    int file = fuzz_open("", 0, path);
    FILE *out = fopen(path, "w");
    fuzz_check(out != NULL);
    enum error_code code = trace_set_write(set, out, &error);
    fuzz_check(fclose(out) == 0);
    if (code == OK && trace_set_parse(path, &again, &error) == OK) {
        fuzz_check(again.count == set->count);
        trace_set_release(&again);
    }
    fuzz_close(file);
}

static void judge_all(const struct trace_set *set)
{
    static const char *const families[] = {"H", "B", "C", "D"};
    struct run_facts facts = {.ranks = set->world,
                              .incarnations = set->incarnations,
                              .end = RUN_FINISHED,
                              .end_text = "fuzzed"};
    struct judgement judgement = {0};
    struct error error = {0};
    enum error_code code = judge(set, &facts, families, 4, &judgement, &error);
    fuzz_check_error(code, &error);
    judgement_release(&judgement);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[FUZZ_PATH_BYTES];
    struct error error = {0};
    struct trace_set set = {.count = 1, .trace = calloc(1, sizeof *set.trace)};
    fuzz_check(set.trace != NULL);
    int file = open_page(data, bytes, path);
    enum error_code code = trace_open(path, &set.trace[0], &error);
    fuzz_check_error(code, &error);
    if (code == OK && trace_set_finish(path, &set, &error) == OK) {
        walk(&set);
        write_and_read(&set);
        judge_all(&set);
    }
    trace_set_release(&set);
    fuzz_close(file);
    return 0;
}
