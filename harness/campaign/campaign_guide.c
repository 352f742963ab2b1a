/* Guided campaigns: what runs have brought, and what is made of that; and how the step engine
 * decides, for all campaigns. See campaign.h and guide.h.
 *
 * What a run brings is which of the claims that are asked for had their situation in it, each with
 * how often to the next power of two: so a claim that is open is worth most, and one whose
 * situation has come once is worth something when it comes often. Each subject is guided by its own
 * runs; a shard by those that it has made itself, for it knows of no others. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "base/mix.h"
#include "oracles/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCT_DEPTHS 3
#define OFTEN_BITS 6 /* of a thing: how often the situation arose */

void campaign_open_guides(struct campaign *campaign)
{
    uint64_t shards = campaign->shards > 0 ? (uint64_t)campaign->shards : 1;
    for (size_t i = 0; i < campaign->subject_count; i++) {
        uint64_t first = 0;
        while (!campaign_owns_plan(campaign, i, first))
            first++;
        if (campaign->strategy->guided)
            campaign->subject[i].guide = guide_new(campaign->seed, first, shards);
    }
}

static uint32_t number_of(const char *claim)
{
    uint32_t number = 0;
    while (number < claim_count && claims[number].id != claim)
        number++;
    return number;
}

/* A number for 1, 2 or 3, 4 to 7, ... */
static uint32_t how_often(uint64_t situations)
{
    uint32_t often = 0;
    for (; situations > 1; situations /= 2)
        often++;
    return often;
}

void campaign_guide_take(struct campaign *campaign, const struct campaign_record *record)
{
    if (!campaign->strategy->guided || record->of != RECORD_OF_RUN ||
        record->subject >= campaign->subject_count)
        return;
    struct subject *subject = &campaign->subject[record->subject];
    uint32_t *thing = memory_new(record->arose_count, sizeof *thing);
    struct guided_seen seen = {.thing = thing, .lives = record->lives};
    for (size_t i = 0; i < record->arose_count; i++) {
        uint32_t claim = number_of(record->arose[i]);
        if (claim < claim_count && subject->asked[claim])
            thing[seen.things++] = claim << OFTEN_BITS | how_often(record->situations[i]);
    }
    memcpy(seen.choices, record->choices, sizeof seen.choices);
    guide_take(subject->guide, record->index, &record->made, &seen);
    free(thing);
}

bool campaign_guide_waits(const struct campaign *campaign)
{
    bool wraps = campaign->turn == campaign->subject_count;
    size_t subject = wraps ? 0 : campaign->turn;
    return campaign->strategy->guided &&
           campaign_owns_plan(campaign, subject, campaign->round + wraps) &&
           !guide_is_ready(campaign->subject[subject].guide);
}

struct guided_run campaign_guide_next(struct campaign *campaign, size_t subject, uint64_t index)
{
    return campaign->strategy->guided ? guide_next(campaign->subject[subject].guide)
                                      : guided_plain(index);
}

/* --- how the step engine decides -------------------------------------------------------------- */

/* Of a guided campaign half of the runs that come from no other go by pct. What comes from such a
 * run does, too, until it branches off. */
static const char *name_policy(const struct strategy *strategy, const struct task *task)
{
    if (strategy->policy == NULL)
        return "";
    if (!strategy->guided)
        return strategy->policy;
    return task->made.root % 2 == 0 ? "pct" : "random";
}

/* Of priorities that change up to twice: what needs more is found by chance. */
void campaign_choose_policy(const struct campaign *campaign, struct task *task)
{
    const struct subject *subject = &campaign->subject[task->subject];
    const char *policy = name_policy(campaign->strategy, task);
    char branches[GUIDED_TEXT_BYTES];
    guided_text(&task->made, branches);
    if (subject->scenario.engine == NULL)
        task->job.policy[0] = '\0';
    else if (strcmp(policy, "pct") != 0)
        snprintf(task->job.policy, sizeof task->job.policy, "%s%s", policy, branches);
    else
        snprintf(task->job.policy, sizeof task->job.policy, "pct:%u:%u%s",
                 1 + (unsigned)(mix_two(task->job.round, PCT_DEPTHS) % PCT_DEPTHS),
                 subject->turns > 0 ? subject->turns : 1, branches);
}
