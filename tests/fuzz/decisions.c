/* Files of decisions, which the ranks of a replayed run follow. The checksum of the input is put
 * right first: it would keep every mutation out. */
#include "decisions/compare.h"

#include "fuzz.h"

#include <string.h>

#define TEXT_BYTES 200

static void walk(const struct decisions *decisions)
{
    char text[TEXT_BYTES];
    for (uint32_t i = 0; i < decisions->header->sections; i++) {
        const struct decision_section *section = &decisions->section[i];
        fuzz_check(decisions_find(decisions, section->rank, section->incarnation) != NULL);
        for (uint32_t k = 0; k < section->events; k++) {
            uint32_t event = section->first_event + k;
            const struct decision_shape *shape = &decisions->shape[decisions->event[event].shape];
            decision_text(shape, decision_request_at(decisions, event),
                          decision_file_at(decisions, event), text, sizeof text);
            fuzz_check(decision_same_question(shape, shape));
            fuzz_check(decision_same_outcome(shape, shape));
        }
    }
}

/* Nothing differs from itself. */
static void compare(const struct decisions *decisions)
{
    struct difference difference;
    decisions_compare(decisions, decisions, &difference);
    fuzz_check(!difference.decisions && !difference.payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct decisions decisions;
    struct error error = {0};
    struct decisions_header *copy = malloc(bytes + 1);
    fuzz_check(copy != NULL);
    memcpy(copy, data, bytes);
    if (bytes >= sizeof *copy && copy->bytes == bytes)
        decisions_seal(copy);
    enum error_code code = decisions_parse("input", copy, bytes, &decisions, &error);
    fuzz_check_error(code, &error);
    if (code == OK) {
        walk(&decisions);
        compare(&decisions);
    }
    free(copy);
    return 0;
}
