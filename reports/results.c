/* See results.h. */
#include "reports/results.h"

const struct result_form *const result_forms[RESULTS_FORMS] = {
    [RESULTS_JUNIT] = &results_junit,
    [RESULTS_JSON] = &results_json,
    [RESULTS_GITHUB] = &results_github,
    [RESULTS_GITLAB] = &results_gitlab,
};

const char *result_headline(const struct result_case *result, char buffer[RESULT_HEADLINE_BYTES])
{
    snprintf(buffer, RESULT_HEADLINE_BYTES, "%s%s%s",
             result->claim != NULL ? result->claim : result->verdict,
             result->why_count > 0 ? ": " : "", result->why_count > 0 ? result->why[0] : "");
    return buffer;
}
