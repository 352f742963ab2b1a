/* See again.h. */
#include "jobs/rerun.h"

#include "base/regular_file.h"
#include "decisions/decisions.h"
#include "stacks/kept_stacks.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_S 10.0
#define PATIENCE_FACTOR                                                                            \
    5.0 /* of what the run took: ranks wait for each other in one that follows */
#define WHY_BYTES (RUN_TEXT_BYTES + 64)

static bool hung(const struct run *run)
{
    return run->end == RUN_DEADLOCK || run->end == RUN_TIME_LIMIT;
}

/* What a rank wrote that came to something else, or how it ended otherwise. */
static void print_why_not(const struct run *run, const struct run *repetition)
{
    char why[WHY_BYTES] = "the run could not be had again: ";
    size_t used = strlen(why);
    struct path path;
    FILE *file = path_format(&path, NULL, "%s/" DIVERGENCE_FILE, repetition->folder.text) == OK
                     ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                     : NULL;
    if (file == NULL) {
        snprintf(why + used, sizeof why - used, "%.900s", repetition->end_text);
    } else {
        used += fread(why + used, 1, sizeof why - used - 1, file);
        why[used] = '\0';
        fclose(file);
    }
    kept_stacks_note(run->folder.text, why);
}

static void follow(const struct run *run, struct run *repetition)
{
    struct error error = {0};
    repetition->number = run->number;
    repetition->timeout_s = (PATIENCE_S + PATIENCE_FACTOR * run->seconds) / FOLLOWED_PATIENCE;
    if (path_format(&repetition->shown, &error, "%s/again", run->folder.text) != OK ||
        run_execute(repetition, &error) != OK)
        snprintf(repetition->end_text, sizeof repetition->end_text, "%s", error.text);
    if (kept_stacks_of_witness(repetition->folder.text, run->folder.text, &repetition->wanted) == 0)
        print_why_not(run, repetition);
    if (path_remove(repetition->shown.text, &error) != OK)
        fprintf(stderr, "faultline: %s\n", error.text);
}

void rerun_for_stacks(const struct run *run, const struct outcome *outcome, const sigset_t *mask)
{
    const struct finding *finding = outcome_finding(outcome);
    struct run repetition;
    if (finding == NULL || finding->witness_count == 0 || hung(run) ||
        !path_holds(run->folder.text, DECISIONS_FILE))
        return;
    run_init(&repetition, run->scenario);
    for (unsigned i = 0; i < finding->witness_count && i < WITNESS_MOST; i++)
        repetition.wanted.event[repetition.wanted.count++] = finding->witness[i];
    sigprocmask(SIG_SETMASK, mask, NULL); /* the run before has left it as it needs it */
    run_follow(&repetition, run);
    repetition.given[0] = '\0'; /* who follows by itself keeps no stacks */
    follow(run, &repetition);
    run_release(&repetition);
}
