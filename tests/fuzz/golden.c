/* Text traces with the facts of their run: read, judged by the claims that they name, written and
 * read again. The seeds are oracles/golden. */
#include "traces/example.h"
#include "traces/text_trace.h"

#include "fuzz.h"

#include <string.h>

static void check_same(const struct trace_set *a, const struct trace_set *b)
{
    fuzz_check(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        fuzz_check(a->trace[i].count == b->trace[i].count);
        fuzz_check(memcmp(a->trace[i].header, b->trace[i].header, sizeof(struct trace_header)) ==
                   0);
        if (a->trace[i].count > 0)
            fuzz_check(memcmp(a->trace[i].record, b->trace[i].record,
                              a->trace[i].count * TRACE_RECORD_BYTES) == 0);
    }
}

static void write_and_read(const struct trace_set *set)
{
    char path[FUZZ_PATH_BYTES];
    struct trace_set again;
    struct error error = {0};
    int file = fuzz_open("", 0, path);
    FILE *out = fopen(path, "w");
    fuzz_check(out != NULL);
    fuzz_check(trace_set_write(set, out, &error) == OK);
    fuzz_check(fclose(out) == 0);
    if (trace_set_parse(path, &again, &error) != OK) {
        fprintf(stderr, "%s\n", error.text);
        fuzz_check(false);
    }
    check_same(set, &again);
    trace_set_release(&again);
    fuzz_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct example example;
    char path[FUZZ_PATH_BYTES];
    struct error error = {0};
    struct judgement judgement = {0};
    int file = fuzz_open(data, bytes, path);
    enum error_code code = example_read(path, &example, &error);
    fuzz_check_error(code, &error);
    if (code == OK) {
        code = judge(&example.traces, &example.facts, example.id, example.id_count, &judgement,
                     &error);
        fuzz_check_error(code, &error);
        judgement_release(&judgement);
        write_and_read(&example.traces);
    }
    example_release(&example);
    fuzz_close(file);
    return 0;
}
