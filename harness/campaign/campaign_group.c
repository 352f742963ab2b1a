/* What a campaign has found so far; see campaign.h. */
#include "campaign/campaign.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool verdict_is_failure(enum verdict verdict)
{
    return verdict == VERDICT_VIOLATION || verdict == VERDICT_HARNESS_ERROR ||
           verdict == VERDICT_UNKNOWN;
}

/* --- groups ----------------------------------------------------------------------------------- */

struct group *campaign_find_group(const struct campaign *campaign, const char *fingerprint)
{
    for (size_t i = 0; i < campaign->group_count; i++)
        if (strcmp(campaign->group[i].fingerprint.text, fingerprint) == 0)
            return &campaign->group[i];
    return NULL;
}

/* The first of its group is the one shown. */
static struct group *add_group(struct campaign *campaign, const struct campaign_record *record)
{
    campaign->group =
        memory_resized(campaign->group, campaign->group_count + 1, sizeof *campaign->group);
    struct group *group = &campaign->group[campaign->group_count++];
    *group = (struct group){.fingerprint = record->fingerprint,
                            .verdict = record->verdict,
                            .first = record->number,
                            .subject = record->subject,
                            .replays_wanted = (unsigned)campaign->options.replays};
    snprintf(group->claim, sizeof group->claim, "%s", record->claim);
    snprintf(group->plan, sizeof group->plan, "%s", record->plan);
    snprintf(group->folder, sizeof group->folder, "%s", record->folder);
    return group;
}

static struct group *count_failure(struct campaign *campaign, const struct campaign_record *record)
{
    struct group *group = campaign_find_group(campaign, record->fingerprint.text);
    if (group == NULL)
        group = add_group(campaign, record);
    group->count++;
    group->kept += record->folder[0] != '\0';
    return group;
}

void campaign_release_groups(struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->group_count; i++)
        campaign_release_recorded(&campaign->group[i]);
    free(campaign->group);
    campaign->group = NULL;
    campaign->group_count = 0;
}

/* --- counts ----------------------------------------------------------------------------------- */

static void count_coverage(struct subject *subject, const struct campaign_record *record)
{
    for (size_t i = 0; i < record->arose_count; i++)
        for (size_t k = 0; k < claim_count; k++)
            subject->arose_in[k] += strcmp(record->arose[i], claims[k].id) == 0;
}

/* What was replayed in an earlier session. */
static void count_replays(struct campaign *campaign, const struct campaign_record *record)
{
    struct group *group = campaign_find_group(campaign, record->fingerprint.text);
    if (group == NULL)
        return;
    group->replays = record->asked;
    group->replays_same = record->same;
    group->replays_wanted = 0;
    snprintf(group->mpiexec, sizeof group->mpiexec, "%s", record->mpiexec);
}

enum error_code campaign_count(struct campaign *campaign, const struct campaign_record *record,
                               struct group **group, struct error *error)
{
    *group = NULL;
    if (record->of == RECORD_OF_REPLAYS) {
        count_replays(campaign, record);
        return OK;
    }
    if (record->subject >= campaign->subject_count)
        return error_set(error, ERROR_FORMAT, "there are %zu subjects, and this run is of %zu",
                         campaign->subject_count, record->subject + 1);
    struct subject *subject = &campaign->subject[record->subject];
    count_coverage(subject, record);
    if (record->of == RECORD_OF_SURVEY) {
        campaign->survey_noted[record->subject] = true;
    } else {
        subject->runs++;
        campaign->runs++;
        campaign->verdict[record->verdict]++;
    }
    if (verdict_is_failure(record->verdict))
        *group = count_failure(campaign, record);
    return OK;
}

/* --- what it comes to ------------------------------------------------------------------------- */

static bool is_asked(const struct campaign *campaign, size_t claim)
{
    for (size_t i = 0; i < campaign->subject_count; i++)
        if (campaign->subject[i].asked[claim])
            return true;
    return false;
}

bool campaign_claim_is_open(const struct campaign *campaign, size_t claim)
{
    for (size_t i = 0; i < campaign->subject_count; i++)
        if (campaign->subject[i].arose_in[claim] > 0)
            return false;
    return is_asked(campaign, claim);
}

void campaign_coverage(const struct campaign *campaign, size_t *asked, size_t *open)
{
    *asked = *open = 0;
    for (size_t i = 0; i < claim_count; i++) {
        *asked += is_asked(campaign, i);
        *open += campaign_claim_is_open(campaign, i);
    }
}

bool campaign_tested_nothing(const struct campaign *campaign)
{
    return campaign->group_count == 0 && campaign->verdict[VERDICT_PASS] == 0;
}

enum exit_status campaign_status(const struct campaign *campaign)
{
    enum exit_status status = STATUS_PASS;
    if (campaign->end == CAMPAIGN_CANARY || campaign->end == CAMPAIGN_BROKEN)
        status = STATUS_HARNESS;
    else if (campaign_tested_nothing(campaign))
        status = STATUS_UNDECIDED;
    for (size_t i = 0; i < campaign->group_count; i++)
        status = status_worst(status, status_of_verdict(campaign->group[i].verdict));
    return status;
}
