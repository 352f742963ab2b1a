/* Why a session of a campaign ends, and how that is said; see campaign.h. */
#include "campaign/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

/* Less than this is free on a disk that is full: what was under way has been removed by then. */
#define DISK_LEAST_BYTES (1u << 20)

static const char *const end_words[CAMPAIGN_ENDS] = {
    [CAMPAIGN_GOES_ON] = "going",   [CAMPAIGN_COMPLETE] = "complete",
    [CAMPAIGN_RUNS] = "runs",       [CAMPAIGN_BUDGET] = "budget",
    [CAMPAIGN_FAILURE] = "failure", [CAMPAIGN_INTERRUPTED] = "interrupted",
    [CAMPAIGN_CANARY] = "canary",   [CAMPAIGN_BROKEN] = "broken",
};

const char *campaign_end_word(enum campaign_end end)
{
    return end_words[end];
}

enum campaign_end campaign_end_from_word(const char *word)
{
    int end = 0;
    while (end < CAMPAIGN_ENDS && (word == NULL || strcmp(end_words[end], word) != 0))
        end++;
    return (enum campaign_end)end;
}

void campaign_end_with(struct campaign *campaign, enum campaign_end end, const char *why)
{
    if (campaign->end != CAMPAIGN_GOES_ON)
        return;
    campaign->end = end;
    snprintf(campaign->why, sizeof campaign->why, "%s", why);
}

void campaign_end_interrupted(struct campaign *campaign)
{
    char why[CAMPAIGN_TEXT_BYTES];
    snprintf(why, sizeof why, "not complete: interrupted by SIG%s",
             sigabbrev_np(campaign->pool.interrupted));
    campaign_end_with(campaign, CAMPAIGN_INTERRUPTED, why);
}

static bool disk_is_full(const struct campaign *campaign)
{
    struct statvfs disk;
    if (statvfs(campaign->folder.text, &disk) != 0)
        return false;
    return disk.f_bavail * disk.f_frsize < DISK_LEAST_BYTES ||
           (disk.f_files > 0 && disk.f_favail == 0);
}

bool campaign_ends_by_full_disk(struct campaign *campaign)
{
    char why[CAMPAIGN_TEXT_BYTES];
    if (!disk_is_full(campaign))
        return false;
    snprintf(why, sizeof why, "not complete: the disk of %.300s is full", campaign->folder.text);
    campaign_end_with(campaign, CAMPAIGN_BROKEN, why);
    return true;
}

/* One that could not be run says nothing; it is run again when the campaign goes on. */
void campaign_end_without_canary(struct campaign *campaign)
{
    char why[CAMPAIGN_TEXT_BYTES] =
        "not complete: a canary did not do what it is made to do, so nothing that this campaign "
        "could say would mean anything";
    for (size_t i = 0; i < campaign->canary_count; i++)
        if (campaign->canary[i].job->status == STATUS_HARNESS)
            snprintf(why, sizeof why,
                     "not complete: a canary could not be run (%.300s); --resume runs it again",
                     campaign->canary[i].job->folder.text);
    campaign_end_with(campaign, CAMPAIGN_CANARY, why);
}

static bool has_endless(const struct campaign *campaign, uint64_t *plans)
{
    bool endless = false;
    *plans = 0;
    for (size_t i = 0; i < campaign->subject_count; i++) {
        endless |= campaign->subject[i].plans == STRATEGY_ENDLESS;
        *plans += endless ? 0 : campaign->subject[i].plans;
    }
    return endless;
}

static void end_early(struct campaign *campaign, enum campaign_end end, const char *what)
{
    char why[CAMPAIGN_TEXT_BYTES];
    uint64_t plans;
    if (has_endless(campaign, &plans))
        snprintf(why, sizeof why, "not complete: %s; there is no last plan", what);
    else
        snprintf(why, sizeof why, "not complete: %s; there are %" PRIu64 " plans", what, plans);
    campaign_end_with(campaign, end, why);
}

void campaign_end_by_budget(struct campaign *campaign)
{
    char what[CAMPAIGN_TEXT_BYTES];
    size_t surveyed = 0;
    for (size_t i = 0; i < campaign->subject_count; i++)
        surveyed += campaign->subject[i].surveyed;
    if (campaign->runs > 0)
        snprintf(what, sizeof what, "the budget of %g s is spent", campaign->budget_s);
    else
        snprintf(what, sizeof what,
                 "the budget of %g s was spent on the runs without faults of %zu of %zu subjects: "
                 "no plan was run",
                 campaign->budget_s, surveyed, campaign->subject_count);
    end_early(campaign, CAMPAIGN_BUDGET, what);
}

/* All plans that there are; but there are none of a subject that could not be surveyed. */
static void end_complete(struct campaign *campaign)
{
    char bounds[STRATEGY_TEXT_BYTES] = "", why[CAMPAIGN_TEXT_BYTES];
    size_t surveyed = 0;
    for (size_t i = 0; i < campaign->subject_count; i++)
        surveyed += campaign->subject[i].surveyed;
    if (surveyed < campaign->subject_count) {
        snprintf(why, sizeof why,
                 "%zu of %zu subjects did not finish without faults, so there is nothing to aim at",
                 campaign->subject_count - surveyed, campaign->subject_count);
        end_early(campaign, CAMPAIGN_RUNS, why);
        return;
    }
    if (campaign->shards > 0) {
        snprintf(why, sizeof why, "complete as shard %d of %d: %" PRIu64 " runs", campaign->shard,
                 campaign->shards, campaign->runs);
    } else if (campaign->subject_count == 1) {
        campaign->strategy->bounds(&campaign->subject->survey, bounds);
        snprintf(why, sizeof why, "complete: %s", bounds);
    } else {
        snprintf(why, sizeof why, "complete: %" PRIu64 " plans of %zu subjects", campaign->runs,
                 campaign->subject_count);
    }
    campaign_end_with(campaign, CAMPAIGN_COMPLETE, why);
}

void campaign_settle(struct campaign *campaign)
{
    char what[CAMPAIGN_TEXT_BYTES];
    if (campaign->pool.interrupted != 0) {
        campaign_end_interrupted(campaign);
        return;
    }
    switch (campaign->last) {
    case CAMPAIGN_COMPLETE:
        end_complete(campaign);
        break;
    case CAMPAIGN_BUDGET:
        campaign_end_by_budget(campaign);
        break;
    case CAMPAIGN_FAILURE:
        end_early(campaign, CAMPAIGN_FAILURE, "stopped at the first failure");
        break;
    default:
        snprintf(what, sizeof what, "%" PRIu64 " runs, as asked for", campaign->runs);
        end_early(campaign, CAMPAIGN_RUNS, what);
        break;
    }
}
