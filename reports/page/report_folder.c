/* index.html of an output folder: the newest set of runs in full (what did not pass, grouped; every
 * scenario; what was covered), and how the sets before it went. See report.h. */
#include "reports/page/report.h"

#include "base/memory.h"
#include "oracles/oracle.h"
#include "reports/page/page.h"
#include "reports/page/report_campaign.h"
#include "reports/page/report_coverage.h"
#include "reports/page/report_history.h"
#include "reports/page/stored_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHEET "index.xsl"
#define SCENARIOS_MOST 2000
#define GROUPS_MOST 200
#define DRAWN_MOST 50   /* pages of runs, of those that have none */
#define MEMBERS_MOST 20 /* of a group, by name; the others are counted */

#define NUMBER_BYTES 32

#define TREND_BAR 26 /* of the picture of the trend */
#define TREND_GAP 6

/* --- what did not pass -------------------------------------------------------------------------
 */

/* Failures that look the same. */
struct group {
    const char *name; /* fingerprint, else verdict */
    enum stored_end end;
    size_t first; /* of the runs of the set */
    size_t count;
};

static const int place_of_end[STORED_ENDS] = {
    [STORED_VIOLATION] = 0, [STORED_HARNESS] = 1, [STORED_UNDECIDED] = 2, [STORED_PASS] = 3};

struct groups {
    size_t count, left_out;
    struct group group[GROUPS_MOST];
};

static const char *verdict_of(const struct stored_run *run)
{
    return run->verdict.word[0] != '\0' ? run->verdict.word : "not judged";
}

static const char *group_name(const struct stored_run *run)
{
    const struct stored_verdict *verdict = &run->verdict;
    if (verdict->fingerprint != NULL && verdict->fingerprint[0] != '\0')
        return verdict->fingerprint;
    return verdict->remark[0] != '\0' ? verdict->remark : verdict_of(run);
}

static void take_group(struct groups *groups, const struct stored_set *set, size_t at)
{
    const char *name = group_name(&set->run[at]);
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->group[i].name, name) == 0) {
            groups->group[i].count++;
            return;
        }
    if (groups->count == GROUPS_MOST)
        groups->left_out++;
    else
        groups->group[groups->count++] = (struct group){name, stored_end_of(&set->run[at]), at, 1};
}

/* Violations first, then what says least of the protocol last; of the same by how many. */
static int by_weight(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->end != b->end)
        return place_of_end[a->end] - place_of_end[b->end];
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->first > b->first ? 1 : -1;
}

/* --- elements ----------------------------------------------------------------------------------
 */

/* The sentence that says best why the run did not pass; NULL: none does. */
static const char *why_of(const struct stored_run *run)
{
    const struct stored_finding *finding = stored_verdict_finding(&run->verdict);
    if (run->verdict.why != NULL && run->verdict.why[0] != '\0')
        return run->verdict.why;
    return finding != NULL && finding->why_count > 0 ? finding->why[0] : NULL;
}

static const char *violates_of(const struct stored_run *run)
{
    return stored_text(json_object_get(run->run, "scenario"), "violates");
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Where the run's page is, and its folder, as seen from the index. */
static void write_place(struct xml *xml, const struct stored_set *set, const struct stored_run *run)
{
    struct path path;
    char page[NUMBER_BYTES];
    bool own = strcmp(set->name, ".") == 0;
    if (set->pages != NULL) {
        snprintf(page, sizeof page, "%d.html", run->number);
        if (path_format(&path, NULL, "%s/%s", set->pages, page) == OK && is_file(path.text))
            xml_attribute(xml, "page", page);
        return;
    }
    if (path_format(&path, NULL, "%s/%d/report.html", set->folder.text, run->number) != OK)
        return;
    bool has_page = path_exists(path.text);
    if (path_format(&path, NULL, "%s%s%d", own ? "" : set->name, own ? "" : "/", run->number) == OK)
        stored_put_place(xml, path.text, has_page);
}

static void write_run(struct xml *xml, const char *element, const struct stored_set *set,
                      const struct stored_run *run)
{
    const json_t *scenario = json_object_get(run->run, "scenario");
    const json_t *seconds = json_object_get(run->run, "seconds");
    bool passed = stored_end_of(run) == STORED_PASS;
    xml_begin(xml, element);
    xml_number(xml, "number", run->number);
    xml_attribute(xml, "name", stored_text(scenario, "name"));
    xml_attribute(xml, "file", stored_text(scenario, "file"));
    xml_number(xml, "line", json_integer_value(json_object_get(scenario, "line")));
    xml_attribute(xml, "protocol", stored_text(scenario, "protocol"));
    xml_attribute(xml, "program", stored_text(scenario, "program"));
    xml_number(xml, "ranks", json_integer_value(json_object_get(scenario, "ranks")));
    xml_attribute(xml, "verdict", verdict_of(run));
    xml_attribute(xml, "remark", run->verdict.remark);
    xml_attribute(xml, "violates", violates_of(run));
    if (seconds != NULL)
        xml_real(xml, "seconds", json_number_value(seconds), 2);
    write_place(xml, set, run);
    if (!passed)
        xml_element(xml, "why", why_of(run));
    xml_end(xml);
}

static void write_group(struct xml *xml, const struct stored_set *set, const struct group *group)
{
    const struct stored_run *first = &set->run[group->first];
    const struct stored_finding *finding = stored_verdict_finding(&first->verdict);
    const struct claim *claim = finding != NULL ? finding->known : NULL;
    size_t told = 0;
    xml_begin(xml, "group");
    xml_attribute(xml, "name", group->name);
    xml_number(xml, "count", (int64_t)group->count);
    xml_attribute(xml, "verdict", verdict_of(first));
    if (claim != NULL) {
        xml_attribute(xml, "claim", claim->id);
        xml_attribute(xml, "text", claim->text);
        xml_attribute(xml, "source", claim->source);
    }
    xml_element(xml, "why", why_of(first));
    for (size_t i = group->first; i < set->run_count && told < MEMBERS_MOST; i++)
        if (stored_end_of(&set->run[i]) != STORED_PASS &&
            strcmp(group_name(&set->run[i]), group->name) == 0) {
            write_run(xml, "member", set, &set->run[i]);
            told++;
        }
    xml_end(xml);
}

static void write_groups(struct xml *xml, const struct stored_set *set)
{
    struct groups *groups = memory_new(1, sizeof *groups);
    for (size_t i = 0; i < set->run_count; i++)
        if (stored_end_of(&set->run[i]) != STORED_PASS)
            take_group(groups, set, i);
    qsort(groups->group, groups->count, sizeof groups->group[0], by_weight);
    xml_begin(xml, "groups");
    xml_number(xml, "left-out", (int64_t)groups->left_out);
    for (size_t i = 0; i < groups->count; i++)
        write_group(xml, set, &groups->group[i]);
    xml_end(xml);
    free(groups);
}

static void write_coverage(struct xml *xml, const struct stored_set *set)
{
    struct coverage *all = memory_new(claim_count, sizeof *all);
    for (size_t i = 0; set->campaign == NULL && i < set->run_count; i++)
        coverage_add(&set->run[i].verdict, violates_of(&set->run[i]), all);
    if (set->campaign != NULL)
        campaign_coverage_add(set, all);
    xml_begin(xml, "coverage");
    xml_flag(xml, "of-runs", set->campaign != NULL);
    coverage_write(xml, all);
    xml_end(xml);
    free(all);
}

/* Which of the undecided were vacuous: of a campaign that is not stored. */
static void write_undecided(struct xml *xml, const struct stored_set *set)
{
    uint64_t vacuous = 0;
    for (size_t i = 0; i < set->run_count; i++)
        vacuous += set->run[i].verdict.verdict == VERDICT_VACUOUS;
    if (set->campaign != NULL || vacuous > set->count[STORED_UNDECIDED])
        return;
    xml_number(xml, "vacuous", (int64_t)vacuous);
    xml_number(xml, "unknown", (int64_t)(set->count[STORED_UNDECIDED] - vacuous));
}

static void write_set(struct xml *xml, const struct stored_set *set)
{
    xml_begin(xml, "set");
    xml_attribute(xml, "name", set->name);
    ends_write(xml, set->count);
    write_undecided(xml, set);
    xml_number(xml, "folders", (int64_t)set->run_count);
    xml_number(xml, "damaged", (int64_t)set->damaged);
    if (set->campaign != NULL) {
        campaign_write(xml, set);
        campaign_write_groups(xml, set);
        history_write(xml, set);
    } else {
        write_groups(xml, set);
    }
    for (size_t i = 0; i < set->run_count && i < SCENARIOS_MOST; i++)
        write_run(xml, "scenario", set, &set->run[i]);
    write_coverage(xml, set);
    xml_end(xml);
}

/* --- the trend ---------------------------------------------------------------------------------
 */

static void write_bar(struct xml *xml, const struct stored_set *set, size_t place, uint64_t highest)
{
    xml_begin(xml, "bar");
    xml_attribute(xml, "name", set->name);
    xml_number(xml, "x", (int64_t)(place * (TREND_BAR + TREND_GAP)));
    xml_flag(xml, "is-campaign", set->campaign != NULL);
    ends_write(xml, set->count);
    ends_write_bar(xml, set->count, highest);
    xml_end(xml);
}

static void write_trend(struct xml *xml, const struct stored_set *sets, size_t count, size_t all)
{
    uint64_t highest = 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t runs = ends_total(sets[i].count);
        highest = runs > highest ? runs : highest;
    }
    xml_begin(xml, "trend");
    xml_number(xml, "width", (int64_t)(count * (TREND_BAR + TREND_GAP)));
    xml_number(xml, "height", ENDS_BAR_HEIGHT);
    xml_number(xml, "bar-width", TREND_BAR);
    xml_number(xml, "all", (int64_t)all);
    for (size_t i = 0; i < count; i++)
        write_bar(xml, &sets[i], i, highest);
    xml_end(xml);
}

/* --- the whole ---------------------------------------------------------------------------------
 */

/* All sets that are shown; the newest, the last, is read in full. */
struct stored_folder {
    size_t count, all;
    struct stored_set set[STORED_SETS_MOST]; /* owned */
};

static enum error_code read_sets(const char *folder, struct stored_folder *stored,
                                 struct error *error)
{
    static char names[STORED_SETS_MOST][NAME_MAX + 1];
    size_t count;
    enum error_code code = stored_set_names(folder, names, &count, &stored->all, error);
    if (code == OK && count == 0)
        return error_set(
            error, ERROR_USAGE,
            "%s: there are no runs; it is neither a run folder (OUT/<run-id>/<number>) "
            "nor a folder of them",
            folder);
    for (size_t i = 0; code == OK && i < count; i++) {
        struct path path;
        bool newest = i + 1 == count;
        code = path_format(&path, error, "%s/%s", folder, names[i]);
        if (code == OK)
            code = (newest ? stored_set_read : stored_set_count)(path.text, names[i],
                                                                 &stored->set[i], error);
        stored->count = i + 1;
    }
    return code;
}

static enum error_code read_folder(const char *folder, struct stored_folder *stored,
                                   struct error *error)
{
    if (!stored_set_is(folder))
        return read_sets(folder, stored, error);
    stored->count = stored->all = 1;
    return stored_set_read(folder, ".", &stored->set[0], error);
}

/* What did not pass gets its page, if it has none: it is what the index leads to. One that cannot
 * be drawn is left to who asks for it. */
static void draw_runs(const struct stored_set *set)
{
    size_t drawn = 0;
    for (size_t i = 0; i < set->run_count && drawn < DRAWN_MOST; i++) {
        struct path folder;
        struct error error = {0};
        const struct stored_run *run = &set->run[i];
        if (stored_end_of(run) == STORED_PASS ||
            path_format(&folder, NULL, "%s/%d", set->folder.text, run->number) != OK ||
            path_holds(folder.text, "report.html"))
            continue;
        drawn += report_run(folder.text, NULL, NULL, &error) == OK;
    }
}

static enum error_code write_page(const char *folder, const struct stored_folder *stored,
                                  const char *output, enum whole_name name, struct error *error)
{
    const struct stored_set *newest = &stored->set[stored->count - 1];
    struct page page;
    if (newest->pages == NULL)
        draw_runs(newest);
    page_begin(&page, "folder");
    xml_attribute(&page.xml, "name", folder);
    write_set(&page.xml, newest);
    write_trend(&page.xml, stored->set, stored->count, stored->all);
    enum error_code code = page_write_file(&page, SHEET, output, name, error);
    page_release(&page);
    return code;
}

enum error_code report_folder(const char *folder, const char *output, const char *pages,
                              struct error *error)
{
    struct stored_folder *stored = memory_new(1, sizeof *stored);
    struct path path;
    enum error_code code = path_format(&path, error, "%s/index.html", folder);
    if (code == OK)
        code = read_folder(folder, stored, error);
    if (code == OK) {
        stored->set[stored->count - 1].pages = pages;
        code = write_page(folder, stored, output != NULL ? output : path.text,
                          output != NULL ? WHOLE_NAMED : WHOLE_OURS, error);
    }
    for (size_t i = 0; i < stored->count; i++)
        stored_set_release(&stored->set[i]);
    free(stored);
    return code;
}

void report_folder_apart(const char *folder, const char *pages)
{
    struct error error = {0};
    struct path path;
    fflush(NULL);
    if (path_format(&path, &error, "%s/index.html", pages != NULL ? pages : folder) != OK)
        return;
    pid_t child = fork();
    if (child == 0) {
        alarm(REPORT_LIMIT_S);
        _exit(report_folder(folder, path.text, pages, &error) == OK ? 0 : 1);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}
