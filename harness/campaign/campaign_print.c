/* What people see of a campaign: TAP, a line for each canary and each group of failures, and the
 * line of progress; see campaign.h. */
#include "campaign/campaign.h"

#include "base/regular_file.h"
#include "reports/results/tap.h"
#include "system/wilson.h"
#include "trace/clock.h"
#include "verdict/stored_verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 4096
#define TEXT_BYTES 1024
#define OPEN_SHOWN 12
#define RED "\033[31m"
#define PLAIN "\033[0m"
#define CLEAR_LINE "\r\033[K"

/* --- groups ----------------------------------------------------------------------------------- */

static void print_replays(FILE *out, const struct group *group)
{
    char text[TEXT_BYTES];
    if (group->replays_refused) {
        tap_string(out, "not replayed", group->replays_why);
        return;
    }
    if (group->mpiexec[0] != '\0')
        tap_string(out, "mpiexec", group->mpiexec);
    if (group->replays == 0 || group->mpiexec[0] != '\0')
        return;
    struct wilson rate = wilson_interval(group->replays_same, group->replays);
    if (group->replays_same == group->replays)
        snprintf(text, sizeof text, "%u/%u", group->replays_same, group->replays);
    else
        snprintf(text, sizeof text, "%u/%u: a rate of %.2f, between %.2f and %.2f (95 %%)",
                 group->replays_same, group->replays, (double)group->replays_same / group->replays,
                 rate.low, rate.high);
    tap_string(out, "replayed", text);
    if (group->replays_why[0] != '\0')
        tap_string(out, "not the same", group->replays_why);
}

/* The diagnostics that the run shown left behind, but for its own first line: what it found, in
 * its words. false: it left none. */
static bool copy_diagnostics(FILE *out, const char *path)
{
    char line[LINE_BYTES];
    FILE *in = regular_stream(path, LINKS_REFUSED, REGULAR_ANY, NULL);
    bool inside = false;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (strcmp(line, "  ...\n") == 0)
            break;
        if (inside)
            fputs(line, out);
        inside |= strcmp(line, "  ---\n") == 0;
    }
    if (in != NULL)
        fclose(in);
    return inside;
}

static void print_group(FILE *out, const struct campaign *campaign, const struct group *group,
                        int number)
{
    char text[TEXT_BYTES], call[CAMPAIGN_CALL_BYTES];
    struct path path;
    tap_line(out, false, number, group->fingerprint.text,
             group->claim[0] != '\0' ? group->claim : verdict_text(group->verdict));
    tap_block_begin(out);
    if (group->first == 0)
        snprintf(text, sizeof text, "%" PRIu64 ", the first without any fault", group->count);
    else
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 ", the first is %" PRIu64,
                 group->count, campaign->runs, group->first);
    tap_string(out, "runs", text);
    tap_string(out, "plan", group->plan);
    campaign_subject_text(&campaign->subject[group->subject], call);
    tap_string(out, "subject", call);
    print_replays(out, group);
    if (path_format(&path, NULL, "%s/%s/tap", campaign->folder.text, group->folder) != OK ||
        group->folder[0] == '\0' || !copy_diagnostics(out, path.text)) {
        tap_string(out, "verdict", verdict_text(group->verdict));
        tap_string(out, "folder", group->folder);
    }
    tap_block_end(out);
}

/* --- canaries --------------------------------------------------------------------------------- */

static void print_canary(FILE *out, const struct campaign *campaign, const struct canary *canary,
                         int number)
{
    char text[TEXT_BYTES];
    struct path path;
    bool sings = canary_failed_as_expected(canary);
    if (campaign->end == CAMPAIGN_INTERRUPTED && !sings &&
        (canary->job->state != JOB_DONE || job_was_cut_off(canary->job))) {
        tap_line(out, true, number, canary->run->name, "SKIP cut off by the user");
        return;
    }
    tap_line(out, sings, number, canary->run->name,
             sings                            ? NULL
             : canary->job->state != JOB_DONE ? "not run"
                                              : verdict_text(VERDICT_HARNESS_ERROR));
    if (sings || canary->job->state != JOB_DONE)
        return;
    tap_block_begin(out);
    snprintf(text, sizeof text,
             "it is made to violate %s, and did not do so: as long as that is so, a campaign over "
             "%s that finds nothing says nothing",
             canary->run->violates, canary->protocol);
    tap_string(out, "canary", text);
    if (path_format(&path, NULL, "%s/canary/%d/tap", campaign->folder.text, canary->job->number) ==
        OK)
        (void)copy_diagnostics(out, path.text);
    tap_block_end(out);
}

/* --- what it comes to ------------------------------------------------------------------------- */

static void print_counts(FILE *out, const struct campaign *campaign)
{
    double seconds = campaign_elapsed_s(campaign);
    char text[TEXT_BYTES] = "";
    size_t used = 0;
    for (int i = 0; i < VERDICT_COUNT && used < sizeof text; i++)
        if (campaign->verdict[i] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 " %s",
                                     used > 0 ? ", " : "", campaign->verdict[i],
                                     verdict_text((enum verdict)i));
    tap_comment(out, "%" PRIu64 " runs of %zu subject%s in %.1f s, %.1f runs/s: %s", campaign->runs,
                campaign->subject_count, campaign->subject_count == 1 ? "" : "s", seconds,
                seconds > 0 ? (double)campaign->runs / seconds : 0.0,
                used > 0 ? text : "none was made");
}

static const char *why_no_survey(const struct subject *subject)
{
    if (subject->unfinished)
        return "nothing: it did not finish without faults";
    if (subject->survey_job->state == JOB_DONE && job_was_cut_off(subject->survey_job))
        return "nothing: the user cut off its run without faults";
    return "nothing: the campaign ended before its first plan";
}

static void print_subject(FILE *out, const struct campaign *campaign, const struct subject *subject)
{
    char bounds[STRATEGY_TEXT_BYTES], call[CAMPAIGN_CALL_BYTES], of[64] = "";
    if (subject->surveyed)
        campaign->strategy->bounds(&subject->survey, bounds);
    else
        snprintf(bounds, sizeof bounds, "%s", why_no_survey(subject));
    campaign_subject_text(subject, call);
    bool endless = subject->plans == STRATEGY_ENDLESS;
    bool complete = subject->surveyed && !endless && subject->runs >= subject->plans;
    if (!endless)
        snprintf(of, sizeof of, " of %" PRIu64, subject->plans);
    tap_comment(out, "%s under %s, %d ranks: %s: %" PRIu64 "%s runs (%s)", call,
                subject->scenario.protocol, subject->scenario.ranks,
                complete ? "complete" : "not complete", subject->runs, of, bounds);
}

/* What the step engine decides is all that there is to a run, unless the program is not
 * deterministic. */
static void print_differs(FILE *out, const struct subject *subject)
{
    struct stored_verdict stored;
    char call[CAMPAIGN_CALL_BYTES];
    campaign_subject_text(subject, call);
    if (stored_verdict_load(subject->survey_job->folder.text, &stored, NULL) == OK &&
        stored.root != NULL && stored.differs[0] != '\0')
        tap_comment(out, "%s is not deterministic: with the same decisions another run differs: %s",
                    call, stored.differs);
    stored_verdict_release(&stored);
}

static void print_coverage(FILE *out, const struct campaign *campaign)
{
    size_t asked, open, shown = 0;
    char text[TEXT_BYTES] = "";
    campaign_coverage(campaign, &asked, &open);
    for (size_t i = 0; i < claim_count && shown < OPEN_SHOWN; i++) {
        size_t used = strlen(text);
        if (!campaign_claim_is_open(campaign, i))
            continue;
        snprintf(text + used, sizeof text - used, "%s%s",
                 shown++ > 0 ? ", " : "; open: ", claims[i].id);
    }
    tap_comment(out, "coverage: the situations of %zu of %zu claims arose%s%s", asked - open, asked,
                text, open > shown ? ", ..." : "");
}

static const char *why_no_run(const struct campaign *campaign)
{
    return campaign->end == CAMPAIGN_BUDGET
               ? "no plan was run: the budget was spent on the runs without faults"
           : campaign->end == CAMPAIGN_INTERRUPTED ? "no plan was run: the user ended the campaign"
                                                   : "there was nothing to run";
}

/* The test after the canaries, when there is no group: that there was something to find. */
static void print_no_failure(FILE *out, const struct campaign *campaign, int number)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "no failure in %" PRIu64 " runs", campaign->runs);
    if (!campaign_tested_nothing(campaign)) {
        tap_line(out, true, number, text, NULL);
        return;
    }
    tap_line(out, false, number, text, verdict_text(VERDICT_VACUOUS));
    tap_block_begin(out);
    tap_string(out, "why",
               campaign->runs == 0
                   ? why_no_run(campaign)
                   : "no run passed: in none did all take place that its plan asks for");
    tap_block_end(out);
}

static void print_end(FILE *out, const struct campaign *campaign)
{
    int number = 0;
    for (size_t i = 0; i < campaign->canary_count; i++)
        print_canary(out, campaign, &campaign->canary[i], ++number);
    for (size_t i = 0; i < campaign->group_count; i++)
        print_group(out, campaign, &campaign->group[i], ++number);
    if (campaign->group_count == 0 && campaign->end != CAMPAIGN_CANARY)
        print_no_failure(out, campaign, ++number);
    print_counts(out, campaign);
    for (size_t i = 0; i < campaign->subject_count; i++)
        print_subject(out, campaign, &campaign->subject[i]);
    for (size_t i = 0; i < campaign->subject_count; i++)
        print_differs(out, &campaign->subject[i]);
    print_coverage(out, campaign);
    tap_comment(out, "%s", campaign->why);
    if (campaign->end == CAMPAIGN_INTERRUPTED || campaign->end == CAMPAIGN_BROKEN ||
        campaign->end == CAMPAIGN_BUDGET)
        tap_comment(out, "to go on: faultline campaign --resume %s", campaign->folder.text);
    if (campaign->end == CAMPAIGN_INTERRUPTED || campaign->end == CAMPAIGN_BROKEN)
        tap_bail_out(out, campaign->why);
    else
        tap_plan(out, (size_t)number);
    fflush(out);
}

void campaign_print_end(const struct campaign *campaign)
{
    progress_hide(&campaign->progress);
    for (int i = 0; i < CAMPAIGN_OUTPUTS; i++)
        if (campaign->out[i] != NULL)
            print_end(campaign->out[i], campaign);
}

void campaign_print_head(const struct campaign *campaign)
{
    char shard[CAMPAIGN_SHARD_BYTES];
    campaign_shard_text(campaign, shard);
    for (int i = 0; i < CAMPAIGN_OUTPUTS; i++) {
        FILE *out = campaign->out[i];
        if (out == NULL)
            continue;
        tap_header(out);
        tap_comment(out, "campaign in %s, strategy %s, seed %" PRIu64 "%s%s", campaign->folder.text,
                    campaign->strategy->name, campaign->seed, shard[0] != '\0' ? ", shard " : "",
                    shard);
        if (campaign->options.resume != NULL)
            tap_comment(out, "goes on after %" PRIu64 " runs", campaign->runs);
        fflush(out);
    }
}

void campaign_print_note(const struct campaign *campaign, const char *text)
{
    progress_hide(&campaign->progress);
    for (int i = 0; i < CAMPAIGN_OUTPUTS; i++)
        if (campaign->out[i] != NULL) {
            tap_comment(campaign->out[i], "%s", text);
            fflush(campaign->out[i]);
        }
}

/* Printed as soon as it is found; the group to which it belongs is printed at the end. */
void campaign_print_failure(const struct campaign *campaign, const struct group *group)
{
    char text[PATH_MAX + LINE_BYTES];
    snprintf(text, sizeof text, "found: %s in %s/%s (%s)", group->fingerprint.text,
             campaign->folder.text, group->folder, group->plan);
    campaign_print_note(campaign, text);
}

/* --- progress --------------------------------------------------------------------------------- */

/* An estimate of the time that is left: by the budget, or by the runs. */
static void show_left(const struct campaign *campaign, double rate)
{
    uint64_t plans = campaign->runs_asked;
    double left = -1;
    for (size_t i = 0; i < campaign->subject_count && campaign->runs_asked == 0; i++)
        plans = campaign->subject[i].plans == STRATEGY_ENDLESS ? STRATEGY_ENDLESS
                                                               : plans + campaign->subject[i].plans;
    if (rate > 0 && plans > campaign->runs && plans != STRATEGY_ENDLESS)
        left = (double)(plans - campaign->runs) / rate;
    double budget = campaign->budget_s - campaign_elapsed_s(campaign);
    if (campaign->budget_s > 0 && (left < 0 || budget < left))
        left = budget > 0 ? budget : 0;
    if (left >= 0)
        fprintf(stderr, ", about %.0f s left", left);
}

void campaign_show(const struct campaign *campaign)
{
    size_t asked, open;
    uint64_t failures = 0;
    if (!campaign->progress.on)
        return;
    campaign_coverage(campaign, &asked, &open);
    for (size_t i = 0; i < campaign->group_count; i++)
        failures += campaign->group[i].count;
    double seconds = campaign_elapsed_s(campaign);
    double rate = seconds > 0 ? (double)campaign->runs / seconds : 0;
    bool red = failures > 0 && campaign->progress.colour;
    fprintf(stderr, CLEAR_LINE "%" PRIu64 " runs, %.1f/s, %s%" PRIu64 " failures in %zu groups%s",
            campaign->runs, rate, red ? RED : "", failures, campaign->group_count,
            red ? PLAIN : "");
    fprintf(stderr, ", %" PRIu64 " vacuous, %zu of %zu situations open",
            campaign->verdict[VERDICT_VACUOUS], open, asked);
    show_left(campaign, rate);
    fflush(stderr);
}
