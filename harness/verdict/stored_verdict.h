/* verdict.json of a run folder, read back: what outcome_store has written there. */
#ifndef VERDICT_STORED_VERDICT_H
#define VERDICT_STORED_VERDICT_H

#include "stacks/event_list.h"
#include "verdict/outcome.h"

#include <jansson.h>

/* Texts are never NULL, and live as long as the verdict. */
struct stored_finding {
    const char *claim;         /* its id */
    const struct claim *known; /* NULL: this version has no such claim */
    const char *verdict;
    const char *fingerprint;
    bool follows;
    size_t why_count;
    char *why[FINDING_WHY_LINES];
    size_t shown_count;
    const char *shown[WITNESS_MOST]; /* the witness, as it stands there */
    struct event_list witness;       /* as far as these are events */
    const char *strange;             /* one that is none; NULL: there is no such */
};

struct stored_result {
    const char *claim;
    const struct claim *known;
    const char *verdict;
    uint64_t situations;
    uint64_t violations;
};

struct stored_verdict {
    json_t *root;         /* the whole document, owned; NULL: there is none, or it was damaged */
    enum verdict verdict; /* HARNESS_ERROR where it says none */
    const char *word;     /* that, as it stands there; "" */
    const char *remark;
    const char *fingerprint; /* NULL: an older version judged the run */
    char *why;
    uint64_t records;
    size_t result_count;
    struct stored_result *result; /* owned */
    size_t finding_count;
    struct stored_finding *finding; /* owned; the one that decided comes first */
    struct control control;
    struct confirmation confirmation;
    const char *differs; /* of a run that was made twice, the first event that does; "": none */
};

/* OK with `root` NULL where the run was not judged. ERROR_FORMAT where the file is damaged. Owned
 * by the caller, also after an error: stored_verdict_release. */
enum error_code stored_verdict_load(const char *folder, struct stored_verdict *stored,
                                    struct error *error);
void stored_verdict_release(struct stored_verdict *stored);

/* The one that decided; NULL: nothing was found. */
const struct stored_finding *stored_verdict_finding(const struct stored_verdict *stored);

/* Its witness: none if the run was not judged, or nothing was found. ERROR_FORMAT also
 * where one of it is no event. */
enum error_code stored_witness(const char *folder, struct event_list *witness, struct error *error);

/* Where the faults took place, added to `places`. */
void stored_verdict_faults(const struct stored_verdict *stored, struct fault_places *places);

/* stacks.txt for programs: "stacks" of verdict.json, by heading a list of frames, innermost first.
 * What cannot be written is left out. */
void stored_verdict_add_stacks(const char *folder);

#endif
