/* What became of each scenario, in a form that another program reads: a CI server, an editor. A
 * form is three functions; results.c lists them all. Texts may hold any bytes: each form escapes
 * them. Must not know: jobs, folders, options. */
#ifndef REPORTS_RESULTS_RESULTS_H
#define REPORTS_RESULTS_RESULTS_H

#include <stddef.h>
#include <stdio.h>

#define RESULT_WHY_MOST 8
#define RESULT_WITNESS_MOST 16

enum result {
    RESULT_PASS,
    RESULT_FAILURE, /* a claim was violated */
    RESULT_ERROR,   /* nothing can be said: harness error, unknown, or vacuous. Never green */
    RESULT_SKIPPED, /* was never started: interrupted before, or --until-failure was over */
    RESULT_COUNT
};

/* A scenario. All texts are borrowed and not NULL, unless said otherwise. */
struct result_case {
    int number; /* of the TAP line */
    const char *name;
    const char *file; /* of the scenario, as the user gave it */
    int line;
    const char *protocol, *program;
    enum result result;
    const char *verdict; /* "violation" */
    const char *claim;   /* that decided; NULL: none */
    double seconds;
    size_t why_count;
    const char *why[RESULT_WHY_MOST];
    size_t witness_count;
    const char *witness[RESULT_WITNESS_MOST]; /* "r0#0:e97" */
    const char *folder;                       /* of the run */
    const char *control; /* what the scenario does without its faults; NULL: not known */
};

struct result_totals {
    size_t count[RESULT_COUNT];
    size_t all;
    double seconds; /* of all together */
};

struct result_form {
    const char *name; /* of the form and of the option that asks for it */
    /* *state is the form's own between begin and end, which releases it. What `out` does not take
     * it says itself (ferror). */
    void (*begin)(FILE *out, const struct result_totals *totals, void **state);
    void (*one)(FILE *out, const struct result_case *result, void *state);
    void (*end)(FILE *out, void *state);
};

/* In the order of enum result_form_id. */
enum result_form_id { RESULTS_JUNIT, RESULTS_JSON, RESULTS_GITHUB, RESULTS_GITLAB, RESULTS_FORMS };
extern const struct result_form *const result_forms[RESULTS_FORMS];

extern const struct result_form results_junit, results_json, results_github, results_gitlab;

/* The whole in one line, "C.late.replay: rank 2 ..."; longer is cut. Returns buffer. */
#define RESULT_HEADLINE_BYTES 512
const char *result_headline(const struct result_case *result, char buffer[RESULT_HEADLINE_BYTES]);

#endif
