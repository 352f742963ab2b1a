/* A trace written by hand, the facts of its run, and what judging it must find: one text file, see
 * README.md. */
#ifndef TESTS_TRACES_EXAMPLE_H
#define TESTS_TRACES_EXAMPLE_H

#include "oracles/oracle.h"

#define EXAMPLE_MAX 64      /* of each kind of line */
#define EXAMPLE_ID_BYTES 64 /* of a claim */

/* One finding that must be there, with exactly these events as its witness, in any order. */
struct expected_finding {
    enum verdict verdict;
    const struct claim *claim;
    unsigned witness_count;
    struct event_ref witness[FINDING_WITNESSES];
};

/* How often the situation of a claim must have arisen. */
struct expected_situations {
    const struct claim *claim;
    uint64_t count;
};

struct example {
    struct trace_set traces;
    struct run_facts facts; /* points into the following */
    struct plan plan;
    struct step_fact step[PLAN_MAX_STEPS];
    char end_text[256];
    struct rank_end rank_end[EXAMPLE_MAX];
    struct reference_result reference[EXAMPLE_MAX];
    struct printed printed[EXAMPLE_MAX];
    struct unreceived unreceived[EXAMPLE_MAX];
    size_t id_count;
    char id_text[EXAMPLE_MAX][EXAMPLE_ID_BYTES];
    const char *id[EXAMPLE_MAX]; /* to judge; "H" if the file does not say */
    bool has_verdict;
    enum verdict verdict;
    size_t expected_count;
    struct expected_finding expected[EXAMPLE_MAX];
    size_t situations_count;
    struct expected_situations situations[EXAMPLE_MAX];
};

/* *example must not be moved afterwards. Owned by the caller, also after an error: errors name
 * path, line and what is accepted. */
enum error_code example_read(const char *path, struct example *example, struct error *error);
void example_release(struct example *example);

/* True if a finding of `judgement` is `expected`, witness included. */
bool example_found(const struct expected_finding *expected, const struct judgement *judgement);

/* How often the judgement says that the situation of that claim arose; 0 if it was not asked for.
 */
uint64_t example_situations(const struct claim *claim, const struct judgement *judgement);

/* True if `finding` is one of those expected. */
bool example_expects(const struct example *example, const struct finding *finding);

#endif
