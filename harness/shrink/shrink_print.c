/* What `faultline shrink` prints of its result; see shrink_result.h. Every part is bounded. */
#include "shrink/shrink_result.h"

#include "reports/results/tap.h"

#include <string.h>

#define LINE_BYTES 512
#define ITEMS_SHOWN 30
#define DIFFERENCE_LINES_SHOWN 60

static void print_count(FILE *out, const char *key, const struct trial *trial,
                        struct rate_count count)
{
    char text[LINE_BYTES];
    const struct scenario *scenario = trial_scenario(trial);
    snprintf(text, sizeof text, "steps %zu, size %zu, ranks %d; fails in %u of %u runs",
             scenario->plan.count, trial->size, scenario->ranks, count.failures, count.runs);
    tap_string(out, key, text);
}

static void print_failure(FILE *out, const struct trials *trials)
{
    char text[LINE_BYTES];
    const struct claim *claim = claim_find(trials->claim);
    if (claim != NULL) {
        snprintf(text, sizeof text, "%s (%s)", claim->text, claim->source);
        tap_string(out, "claim", text);
    }
    tap_string(out, "fingerprint", trials->wanted.text);
}

/* And its page, with a run of the nearest scenario that passes beside it if there is one. */
static void print_run(FILE *out, const struct path *run)
{
    struct path page;
    tap_string(out, "run", run->text);
    if (path_holds(run->text, "report.html") &&
        path_format(&page, NULL, "%s/report.html", run->text) == OK)
        tap_string(out, "report", page.text);
}

static void print_block(FILE *out, const struct shrink_result *result)
{
    char text[LINE_BYTES];
    const struct search *search = result->search;
    const struct trials *trials = search->trials;
    tap_block_begin(out);
    print_failure(out, trials);
    print_count(out, "before", search->original, trial_count_any(search->original));
    print_count(out, "after", search->best, trial_count(trials, search->best));
    snprintf(text, sizeof text, "%u runs, %.1f s", trials->runs, result->seconds);
    tap_string(out, "cost", text);
    if (result->stopped != NULL) {
        snprintf(text, sizeof text, "no: %s ended the search", result->stopped);
        tap_string(out, "smallest", text);
    }
    if (result->confirmation.result != CONFIRMED_NONE)
        tap_string(out, "mpiexec", result->confirmation.text);
    if (search->best->shown.text[0] != '\0')
        print_run(out, &search->best->shown);
    tap_block_end(out);
}

static void print_item(FILE *out, const struct search *search, size_t item)
{
    const struct trial *trial = search->tried[item];
    struct rate_count count = trial_count(search->trials, trial);
    const unsigned *ends = trial->ends;
    char others[LINE_BYTES] = "";
    if (ends[TRIAL_VACUOUS] > 0)
        snprintf(others, sizeof others, "; %u saw too little", ends[TRIAL_VACUOUS]);
    size_t used = strlen(others);
    if (ends[TRIAL_OTHER] > 0)
        snprintf(others + used, sizeof others - used, "; %u failed otherwise (%s)",
                 ends[TRIAL_OTHER], trial->seen);
    tap_comment(out, "  %s: %u of %u%s", search->items.list[item].text, count.failures, count.runs,
                others);
}

/* What has been checked: without each item it fails so often. */
static void print_items(FILE *out, const struct search *search)
{
    size_t shown = 0, more = 0, open = 0;
    for (size_t i = 0; i < search->tried_count; i++) {
        const struct trial *trial = search->tried[i];
        if (trial == NULL)
            continue;
        if (search_item(search, i) == RATE_OPEN) {
            open++;
            continue;
        }
        if (shown == 0)
            tap_comment(out, "failures without (or with a lower number), of runs:");
        if (shown < ITEMS_SHOWN)
            print_item(out, search, i);
        more += shown++ >= ITEMS_SHOWN;
    }
    if (more > 0)
        tap_comment(out, "  and %zu more in shrink.json", more);
    if (open > 0)
        tap_comment(out, "%zu items were not tried, or not often enough", open);
    if (shown > 0)
        tap_comment(out, "(one that fails as often as before is missed with probability %g)",
                    RATE_MISS_MOST);
}

static void print_difference(FILE *out, const char *difference)
{
    size_t shown = 0;
    while (*difference != '\0' && shown++ < DIFFERENCE_LINES_SHOWN) {
        size_t length = strcspn(difference, "\n");
        tap_comment(out, "%.*s", (int)length, difference);
        difference += length + (difference[length] == '\n');
    }
    if (*difference != '\0')
        tap_comment(out, "... more in shrink.json");
}

void shrink_result_print(FILE *out, const struct shrink_result *result)
{
    const struct search *search = result->search;
    tap_line(out, true, 1, result->run->scenario->name, NULL);
    print_block(out, result);
    print_items(out, search);
    if (result->difference != NULL)
        print_difference(out, result->difference);
    if (result->nearest < search->items.count)
        tap_comment(out, "%s%s", result->passing.text,
                    result->nothing_seen ? " (vacuous: none that passes is near)" : "");
    tap_comment(out, "%s", result->shrunk.text);
}
