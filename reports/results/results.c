/* See results.h. */
#include "reports/results/results.h"

const struct result_form *const result_forms[RESULTS_FORMS] = {
    [RESULTS_JUNIT] = &results_junit,
    [RESULTS_JSON] = &results_json,
    [RESULTS_GITHUB] = &results_github,
    [RESULTS_GITLAB] = &results_gitlab,
};

const char *result_headline(const struct result_case *result, char buffer[RESULT_HEADLINE_BYTES])
{
    int length =
        snprintf(buffer, RESULT_HEADLINE_BYTES, "%s%s%s",
                 result->claim != NULL ? result->claim : result->verdict,
                 result->why_count > 0 ? ": " : "", result->why_count > 0 ? result->why[0] : "");
    if (length < RESULT_HEADLINE_BYTES)
        return buffer;
    /* Not in the middle of a character: its first byte is no 10xxxxxx. */
    size_t used = RESULT_HEADLINE_BYTES - 1;
    while (used > 0 && ((unsigned char)buffer[used - 1] & 0xc0) == 0x80)
        used--;
    if (used > 0 && ((unsigned char)buffer[used - 1] & 0x80) != 0)
        used--;
    buffer[used] = '\0';
    return buffer;
}
