/* See confirm.h. */
#include "jobs/confirm.h"

#include "launch/launcher.h"
#include "run/keep.h"
#include "run/printed.h"
#include "verdict/outcome.h"

#include <stdio.h>
#include <string.h>

#define LEGAL "I.legal"
#define LEGAL_TEXT_BYTES 256
#define LIBRARY_BYTES 64

bool confirm_is_possible(const struct run *run)
{
    return run->scenario->engine != NULL && !run->scenario->survivors;
}

/* --- what it comes to ------------------------------------------------------------------------- */

/* Of a judgement by it and what is always judged. NULL: it is not in there. */
static const struct claim_result *legal_result(const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->result_count; i++)
        if (strcmp(judgement->results[i].claim->id, LEGAL) == 0)
            return &judgement->results[i];
    return NULL;
}

static const char *legal_why(const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (strcmp(judgement->findings[i].claim->id, LEGAL) == 0 &&
            judgement->findings[i].why_count > 0)
            return judgement->findings[i].why[0];
    return "";
}

/* Whether MPI allows what the engine has done in this run. */
static enum verdict judge_legal(const char *folder, char *text, size_t bytes)
{
    static const char *const ids[] = {LEGAL};
    struct run run;
    struct scenario_list owner;
    struct outcome outcome = {0};
    if (run_load(folder, &run, &owner, NULL) == OK)
        outcome_judge(&run, ids, 1, &outcome);
    const struct claim_result *result = legal_result(&outcome.judgement);
    enum verdict verdict = result != NULL ? result->verdict : VERDICT_HARNESS_ERROR;
    if (verdict == VERDICT_PASS)
        snprintf(text, bytes, "by " LEGAL " MPI allows what the engine did");
    else if (verdict == VERDICT_VIOLATION)
        snprintf(text, bytes, "by " LEGAL " the engine is wrong: %.180s",
                 legal_why(&outcome.judgement));
    else
        snprintf(text, bytes, "whether MPI allows what the engine did " LEGAL " cannot tell: %s",
                 verdict_text(verdict));
    outcome_release(&outcome);
    run_release(&run);
    scenario_list_release(&owner);
    return verdict;
}

/* What the ranks under mpiexec said that they have: "MPICH" of "MPICH Version:\t4.0.2". */
static void name_library(const char *repetition, char *name, size_t bytes)
{
    struct decisions_identity identity = {0};
    run_identify_mpi(repetition, &identity);
    const char *text = identity.mpi_text, *version = strstr(text, " Version");
    size_t length = version != NULL ? (size_t)(version - text) : strcspn(text, ",0123456789");
    const char *unknown = "the MPI library";
    snprintf(name, bytes, "%.*s", length > 0 ? (int)length : (int)strlen(unknown),
             length > 0 ? text : unknown);
}

static const char *words_of(const struct replayed *other)
{
    return other->end == REPLAY_DIVERGED ? "cannot follow" : "comes to something else";
}

static void conclude_alone(const char *folder, const char *library, const struct replayed *other,
                           struct confirmation *made)
{
    char legal[LEGAL_TEXT_BYTES];
    made->result = CONFIRMED_ALONE;
    made->legal = judge_legal(folder, legal, sizeof legal);
    snprintf(made->text, sizeof made->text, "on the step engine alone: %s %s (%.500s); %s", library,
             words_of(other), other->text, legal);
}

void confirm_conclude(const char *folder, const char *repetition, unsigned runs, unsigned same,
                      const struct replayed *other, struct confirmation *made)
{
    char library[LIBRARY_BYTES];
    name_library(repetition, library, sizeof library);
    *made = (struct confirmation){.runs = runs, .same = same, .legal = VERDICT_COUNT};
    if (runs > 0 && same == 0) {
        conclude_alone(folder, library, other, made);
        return;
    }
    made->result = same > 0 ? CONFIRMED_ALSO : CONFIRMED_NOT;
    if (same == 0)
        snprintf(made->text, sizeof made->text, "not repeated: %.600s", other->text);
    else if (same == runs)
        snprintf(made->text, sizeof made->text, "also on %s, %u/%u", library, same, runs);
    else
        snprintf(made->text, sizeof made->text, "also on %s, %u/%u; else it %s (%.500s)", library,
                 same, runs, words_of(other), other->text);
}

/* --- one repetition --------------------------------------------------------------------------- */

static enum error_code judge_repeat(struct run *repetition, struct error *error)
{
    struct outcome outcome;
    outcome_judge(repetition, NULL, 0, &outcome);
    enum error_code code = outcome_store(repetition, &outcome, error);
    outcome_release(&outcome);
    return code;
}

static enum error_code repeat(const struct recorded *recorded, const sigset_t *mask,
                              struct replayed *replayed, struct error *error)
{
    struct run repetition;
    run_init(&repetition, recorded->run.scenario);
    repetition.number = recorded->run.number;
    run_follow(&repetition, &recorded->run);
    sigprocmask(SIG_SETMASK, mask, NULL); /* the run before has left it as it needs it */
    enum error_code code =
        path_format(&repetition.shown, error, "%s/mpiexec", recorded->run.shown.text);
    if (code == OK)
        code = path_remove(repetition.shown.text, error);
    if (code == OK)
        code = run_execute(&repetition, error);
    if (code == OK)
        code = printed_keep_of(&repetition, &recorded->run, error);
    if (code == OK)
        code = run_store(&repetition, error);
    if (code == OK)
        code = judge_repeat(&repetition, error);
    if (code == OK)
        code = replay_compare(recorded, repetition.folder.text, replayed, error);
    run_release(&repetition);
    return code;
}

void confirm_make(const char *folder, unsigned times, const sigset_t *mask,
                  struct confirmation *made)
{
    struct recorded recorded;
    struct path repetition;
    struct error error = {0};
    struct replayed other = {0};
    unsigned runs = 0, same = 0;
    *made = (struct confirmation){0};
    enum error_code code = recorded_open(folder, &recorded, &error);
    if (code == OK)
        recorded_set_engine(&recorded, launcher_hydra.name);
    bool goes_on = code == OK;
    for (unsigned i = 0; goes_on && i < times; i++) {
        struct replayed replayed = {.end = REPLAY_VOID};
        code = repeat(&recorded, mask, &replayed, &error);
        if (replayed.end != REPLAY_SAME)
            other = replayed;
        runs += replayed.end != REPLAY_VOID;
        same += replayed.end == REPLAY_SAME;
        goes_on = replayed.end != REPLAY_VOID && same > 0;
    }
    if (code != OK)
        snprintf(other.text, sizeof other.text, "%.600s", error.text);
    if (path_format(&repetition, NULL, "%s/mpiexec", folder) == OK)
        confirm_conclude(folder, repetition.text, runs, same, &other, made);
    recorded_release(&recorded);
}
