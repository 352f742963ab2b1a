/* See report_campaign.h. Fields are those that campaign_store.c writes; what is not there is left
 * out, since a page of half a campaign is better than none. */
#include "reports/page/report_campaign.h"

#include "oracles/oracle.h"

#include <string.h>

static int64_t number_of(const json_t *object, const char *field)
{
    return json_integer_value(json_object_get(object, field));
}

static void put_real(struct xml *xml, const char *name, const json_t *object, const char *field,
                     int decimals)
{
    const json_t *value = json_object_get(object, field);
    if (json_is_number(value))
        xml_real(xml, name, json_number_value(value), decimals);
}

static void write_canary(struct xml *xml, const json_t *canary)
{
    xml_begin(xml, "canary");
    xml_attribute(xml, "protocol", stored_text(canary, "protocol"));
    xml_attribute(xml, "name", stored_text(canary, "name"));
    xml_attribute(xml, "claim", stored_text(canary, "claim"));
    xml_flag(xml, "done", json_is_true(json_object_get(canary, "done")));
    xml_flag(xml, "found", json_is_true(json_object_get(canary, "found")));
    xml_end(xml);
}

static void write_subject(struct xml *xml, const json_t *subject, size_t number)
{
    const json_t *identity = json_object_get(subject, "identity");
    const json_t *plans = json_object_get(subject, "plans");
    xml_begin(xml, "subject");
    xml_number(xml, "number", (int64_t)number);
    xml_attribute(xml, "protocol", stored_text(identity, "protocol"));
    xml_attribute(xml, "program", stored_text(identity, "program"));
    xml_number(xml, "ranks", number_of(identity, "ranks"));
    xml_number(xml, "runs", number_of(subject, "runs"));
    if (json_is_integer(plans))
        xml_number(xml, "plans", json_integer_value(plans));
    xml_attribute(xml, "bounds", stored_text(subject, "bounds"));
    xml_flag(xml, "surveyed", json_is_true(json_object_get(subject, "surveyed")));
    xml_flag(xml, "complete", json_is_true(json_object_get(subject, "complete")));
    xml_end(xml);
}

void campaign_write(struct xml *xml, const struct stored_set *set)
{
    const json_t *campaign = set->campaign, *asked = json_object_get(campaign, "asked");
    const json_t *canaries = json_object_get(campaign, "canaries");
    const json_t *subjects = json_object_get(campaign, "subjects");
    xml_begin(xml, "campaign");
    xml_attribute(xml, "strategy", stored_text(asked, "strategy"));
    xml_attribute(xml, "seed", stored_text(asked, "seed"));
    xml_flag(xml, "going", json_is_true(json_object_get(campaign, "going")));
    xml_flag(xml, "complete", json_is_true(json_object_get(campaign, "complete")));
    xml_attribute(xml, "why", stored_text(campaign, "why"));
    put_real(xml, "seconds", campaign, "seconds", 1);
    put_real(xml, "rate", campaign, "runs_per_s", 2);
    for (size_t i = 0; i < json_array_size(canaries); i++)
        write_canary(xml, json_array_get(canaries, i));
    for (size_t i = 0; i < json_array_size(subjects); i++)
        write_subject(xml, json_array_get(subjects, i), i + 1);
    xml_end(xml);
}

/* --- groups ----------------------------------------------------------------------------------- */

static void write_replays(struct xml *xml, const json_t *replays)
{
    if (!json_is_object(replays))
        return;
    xml_begin(xml, "replays");
    xml_number(xml, "asked", number_of(replays, "asked"));
    xml_number(xml, "same", number_of(replays, "same"));
    put_real(xml, "low", replays, "low", 2);
    put_real(xml, "high", replays, "high", 2);
    xml_end(xml);
}

void stored_put_place(struct xml *xml, const char *folder, bool has_page)
{
    struct path page;
    xml_attribute(xml, "folder", folder);
    if (has_page && path_format(&page, NULL, "%s/report.html", folder) == OK)
        xml_attribute(xml, "page", page.text);
}

/* The run that is shown of the group, if its folder was kept. */
static void write_member(struct xml *xml, const struct stored_set *set, const json_t *group)
{
    const char *folder = stored_text(group, "folder");
    struct path path;
    bool own = strcmp(set->name, ".") == 0;
    if (folder[0] == '\0' ||
        path_format(&path, NULL, "%s/%s/report.html", set->folder.text, folder) != OK)
        return;
    bool has_page = path_exists(path.text);
    xml_begin(xml, "member");
    xml_number(xml, "number", number_of(group, "first"));
    xml_attribute(xml, "name", stored_text(group, "plan"));
    if (path_format(&path, NULL, "%s%s%s", own ? "" : set->name, own ? "" : "/", folder) == OK)
        stored_put_place(xml, path.text, has_page);
    xml_end(xml);
}

static void write_group(struct xml *xml, const struct stored_set *set, const json_t *group)
{
    const struct claim *claim = claim_find(stored_text(group, "claim"));
    xml_begin(xml, "group");
    xml_attribute(xml, "name", stored_text(group, "fingerprint"));
    xml_number(xml, "count", number_of(group, "count"));
    xml_attribute(xml, "verdict", stored_text(group, "verdict"));
    if (claim != NULL) {
        xml_attribute(xml, "claim", claim->id);
        xml_attribute(xml, "text", claim->text);
        xml_attribute(xml, "source", claim->source);
    }
    xml_attribute(xml, "plan", stored_text(group, "plan"));
    xml_number(xml, "subject", number_of(group, "subject"));
    write_replays(xml, json_object_get(group, "replays"));
    write_member(xml, set, group);
    xml_end(xml);
}

/* Violations first. */
void campaign_write_groups(struct xml *xml, const struct stored_set *set)
{
    const json_t *groups = json_object_get(set->campaign, "groups");
    xml_begin(xml, "groups");
    xml_number(xml, "left-out", 0);
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < json_array_size(groups); i++) {
            const json_t *group = json_array_get(groups, i);
            bool violation = strcmp(stored_text(group, "verdict"), "violation") == 0;
            if (violation == (others == 0))
                write_group(xml, set, group);
        }
    xml_end(xml);
}

/* --- coverage --------------------------------------------------------------------------------- */

/* The run without faults from which plans were drawn counts as well. */
static void add_subject(const json_t *subject, struct coverage *all)
{
    const json_t *coverage = json_object_get(subject, "coverage");
    int64_t runs = number_of(subject, "runs") + json_is_true(json_object_get(subject, "surveyed"));
    for (size_t i = 0; i < json_array_size(coverage); i++) {
        const json_t *one = json_array_get(coverage, i);
        const struct claim *claim = claim_find(stored_text(one, "claim"));
        if (claim == NULL)
            continue;
        all[claim - claims].runs += (uint64_t)runs;
        all[claim - claims].situations += (uint64_t)number_of(one, "runs");
    }
}

void campaign_coverage_add(const struct stored_set *set, struct coverage *all)
{
    const json_t *subjects = json_object_get(set->campaign, "subjects");
    const json_t *groups = json_object_get(set->campaign, "groups");
    for (size_t i = 0; i < json_array_size(subjects); i++)
        add_subject(json_array_get(subjects, i), all);
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        const struct claim *claim = claim_find(stored_text(group, "claim"));
        if (claim != NULL && strcmp(stored_text(group, "verdict"), "violation") == 0)
            all[claim - claims].violations += (uint64_t)number_of(group, "count");
    }
}
