/* A run judged: what the oracles say of it, held against what the scenario expects, and stored
 * in verdict.json. */
#ifndef VERDICT_OUTCOME_H
#define VERDICT_OUTCOME_H

#include "oracles/oracle.h"
#include "run/run.h"
#include "verdict/fault_places.h"

#include <jansson.h>

/* The control run: the same scenario without its faults (jobs/control.h). */
#define CONTROL_TEXT_BYTES 256

enum control_result {
    CONTROL_NONE,      /* there was no such run */
    CONTROL_PASSES,    /* the faults are needed */
    CONTROL_FAILS,     /* it is violated without them, too */
    CONTROL_UNDECIDED, /* unknown, or an error of the harness */
    CONTROL_RESULTS
};

struct control {
    enum control_result result;
    char claim[64];                /* violated without faults; empty: none */
    char text[CONTROL_TEXT_BYTES]; /* "passes without faults"; empty: no control run */
    double seconds;
};

/* The word that verdict.json has for it. */
const char *control_word(enum control_result result);

/* A violation of the step engine, repeated under mpiexec (jobs/confirm.h). */
#define CONFIRMATION_TEXT_BYTES 1024

enum confirmation_result {
    CONFIRMED_NONE,  /* it was not repeated */
    CONFIRMED_ALSO,  /* the MPI library came to the same, each time or sometimes */
    CONFIRMED_ALONE, /* it never did: only the engine has shown it */
    CONFIRMED_NOT,   /* there is no such run: the launcher, the machine, no decisions */
    CONFIRMED_RESULTS
};

struct confirmation {
    enum confirmation_result result;
    unsigned runs, same;                /* repetitions; of these the same */
    enum verdict legal;                 /* by I.legal, of ALONE: what the engine did */
    char text[CONFIRMATION_TEXT_BYTES]; /* "also on MPICH, 5/5"; empty: it was not repeated */
};

/* The same. */
const char *confirmation_word(enum confirmation_result result);

/* NULL: it was not repeated. */
json_t *confirmation_pack(const struct confirmation *confirmation);

#define DIFFERS_BYTES 600

/* What a library under test, which the scenario names, was seen to do. */
struct library_seen {
    uint32_t loaded; /* bit i: the i-th of its files has been in some process */
    uint64_t taken;  /* calls of MPI that came from there */
};

/* All owned: outcome_release. */
struct outcome {
    enum verdict verdict;       /* what counts: the judgement, after the scenario's expectations */
    struct judgement judgement; /* empty if the run could not be judged */
    char remark[64];            /* the claim that decided, or the verdict's name; empty: pass */
    char why[RUN_TEXT_BYTES];   /* in place of a finding; empty: the first finding says it */
    struct fault_places faults; /* where they took place */
    struct library_seen library;
    bool took_checkpoint;             /* some rank noted one */
    struct control control;           /* of a violation; not made by judging */
    struct confirmation confirmation; /* likewise, of one of the step engine */
    bool compared;                    /* the engine has made the run twice; not by judging, too */
    char differs[DIFFERS_BYTES];      /* the first event that is not the same; empty: all are */
};

/* Judges the run by its scenario's claims, or by `ids` alone if there are any (then without the
 * scenario's expectations). Never fails: what goes wrong is a harness-error. */
void outcome_judge(const struct run *run, const char *const *ids, size_t id_count,
                   struct outcome *outcome);
void outcome_release(struct outcome *outcome);

/* The finding that decided, which is the first of the judgement; of a run that passed, the
 * violation that its scenario expects. NULL: there is none. Lives as long as the outcome. */
const struct finding *outcome_finding(const struct outcome *outcome);

/* verdict.json of the run folder. */
enum error_code outcome_store(const struct run *run, const struct outcome *outcome,
                              struct error *error);

#endif
