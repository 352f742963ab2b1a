/* Plan files. What is accepted says the same when it is printed and read again. */
#include "plan/plan.h"

#include "fuzz.h"

#include <string.h>

#define LINE_BYTES 16384

/* Compared as text: what is not asked for may differ. */
static void check_step(const struct plan_step *step)
{
    static char once[LINE_BYTES], twice[LINE_BYTES];
    struct plan_step again;
    struct error error = {0};
    fuzz_check(plan_step_print(step, once, sizeof once) < sizeof once);
    enum error_code code = plan_step_parse(once, &again, &error);
    if (code != OK)
        fprintf(stderr, "%s\n%s\n", once, error.text);
    fuzz_check(code == OK);
    plan_step_print(&again, twice, sizeof twice);
    fuzz_check(strcmp(once, twice) == 0);
}

static void check_wire(const struct message_pattern *wire)
{
    static char once[LINE_BYTES], twice[LINE_BYTES];
    struct message_pattern again;
    struct error error = {0};
    fuzz_check(message_pattern_print(wire, once, sizeof once) < sizeof once);
    enum error_code code = message_pattern_parse(once, &again, &error);
    if (code != OK)
        fprintf(stderr, "%s\n%s\n", once, error.text);
    fuzz_check(code == OK);
    message_pattern_print(&again, twice, sizeof twice);
    fuzz_check(strcmp(once, twice) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[FUZZ_PATH_BYTES];
    struct plan plan;
    struct error error = {0};
    int file = fuzz_open(data, bytes, path);
    plan_init(&plan);
    enum error_code code = plan_read(path, &plan, &error);
    fuzz_check_error(code, &error);
    for (size_t i = 0; code == OK && i < plan.count; i++) {
        fuzz_check(plan_after(&plan, i) < (int32_t)i);
        check_step(&plan.steps[i]);
    }
    for (size_t i = 0; code == OK && i < plan.wires; i++)
        check_wire(&plan.wire[i]);
    plan_release(&plan);
    fuzz_close(file);
    return 0;
}
