/* A run judged: what the oracles say of it, held against what the scenario expects, and told in TAP
 * and in verdict.json. */
#ifndef VERDICT_OUTCOME_H
#define VERDICT_OUTCOME_H

#include "jobs/control.h"
#include "oracles/oracle.h"
#include "run/run.h"
#include "verdict/fault_places.h"

#include <stdio.h>

/* All owned: outcome_release. */
struct outcome {
    enum verdict verdict;       /* what counts: the judgement, after the scenario's expectations */
    struct judgement judgement; /* empty if the run could not be judged */
    char remark[64];            /* the claim that decided, or the verdict's name; empty: pass */
    char why[RUN_TEXT_BYTES];   /* in place of a finding; empty: the first finding says it */
    struct fault_places faults; /* where they took place */
    struct control control;     /* of a violation; not made by judging */
};

/* Judges the run by its scenario's claims, or by `ids` alone if there are any (then without the
 * scenario's expectations). Never fails: what goes wrong is a harness-error. */
void outcome_judge(const struct run *run, const char *const *ids, size_t id_count,
                   struct outcome *outcome);
void outcome_release(struct outcome *outcome);

/* The finding that decided; of a run that passed, the violation that its scenario expects. NULL:
 * there is none. Lives as long as the outcome. */
const struct finding *outcome_finding(const struct outcome *outcome);

/* verdict.json of the run folder. */
enum error_code outcome_store(const struct run *run, const struct outcome *outcome,
                              struct error *error);

/* The TAP line and its diagnostics. A pass gets diagnostics only when `verbose`. */
void outcome_print(FILE *out, const struct run *run, const struct outcome *outcome, bool verbose);

#endif
