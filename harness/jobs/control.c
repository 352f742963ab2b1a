/* See control.h. */
#include "jobs/control.h"

#include "plan/action.h"
#include "run/printed.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool control_is_possible(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->plan.count; i++)
        if (action_of(&scenario->plan.steps[i])->is_fault)
            return true;
    return false;
}

__attribute__((format(printf, 3, 4))) static void
decide(struct control *control, enum control_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    control->result = result;
    vsnprintf(control->text, sizeof control->text, format, arguments);
    va_end(arguments);
}

/* Vacuous is all right: without faults there is no recovery to be judged. */
static void take(struct control *control, const struct outcome *outcome, const char *claim)
{
    const struct finding *finding = outcome_finding(outcome);
    switch (outcome->verdict) {
    case VERDICT_PASS:
    case VERDICT_VACUOUS:
        decide(control, CONTROL_PASSES, "passes without faults");
        break;
    case VERDICT_VIOLATION:
        snprintf(control->claim, sizeof control->claim, "%s",
                 finding != NULL ? finding->claim->id : outcome->remark);
        decide(control, CONTROL_FAILS, "fails without faults too%s%s",
               strcmp(control->claim, claim) != 0 ? ", by " : "",
               strcmp(control->claim, claim) != 0 ? control->claim : "");
        break;
    default:
        decide(control, CONTROL_UNDECIDED, "undecided without faults: %s: %.160s",
               verdict_text(outcome->verdict),
               outcome->why[0] != '\0'                     ? outcome->why
               : finding != NULL && finding->why_count > 0 ? finding->why[0]
                                                           : "no reason was told");
    }
}

/* As of the run that it is the control of; what is borrowed is not released. */
static void prepare(struct run *control, const struct run *run, const struct scenario *bare)
{
    run_init(control, bare);
    control->number = run->number;
    control->seed = run->seed;
    control->timeout_s = run->timeout_s;
    control->trace_mb = run->trace_mb;
    control->references = run->references;
    control->reference_count = run->reference_count;
    control->unreceived = run->unreceived;
    control->unreceived_count = run->unreceived_count;
    control->unreceived_known = run->unreceived_known;
}

static void forget_borrowed(struct run *control)
{
    control->references = NULL;
    control->unreceived = NULL;
    run_release(control);
}

void control_make(const struct run *run, const char *claim, const sigset_t *mask,
                  struct control *made)
{
    struct scenario bare = *run->scenario; /* shares everything but the plan */
    struct run control;
    struct outcome outcome;
    struct error error = {0};
    *made = (struct control){0};
    plan_init(&bare.plan);
    bare.violates = NULL;
    bare.cover_count = 0;
    prepare(&control, run, &bare);
    sigprocmask(SIG_SETMASK, mask, NULL); /* the run before has left it as it needs it */
    if (path_format(&control.shown, &error, "%s/control", run->shown.text) != OK ||
        run_execute(&control, &error) != OK || printed_keep_of(&control, run, &error) != OK ||
        run_store(&control, &error) != OK) {
        decide(made, CONTROL_UNDECIDED, "undecided without faults: %.200s", error.text);
    } else {
        outcome_judge(&control, NULL, 0, &outcome);
        take(made, &outcome, claim);
        if (outcome_store(&control, &outcome, &error) != OK)
            fprintf(stderr, "faultline: %s\n", error.text);
        outcome_release(&outcome);
    }
    made->seconds = control.seconds;
    forget_borrowed(&control);
}
