/* See repetition.h. */
#include "verdict/repetition.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "decisions/compare.h"
#include "decisions/extract.h"
#include "decisions/identical.h"
#include "run/keep.h"
#include "system/wilson.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a stored run ----------------------------------------------------------------------------- */
enum error_code recorded_open(const char *folder, struct recorded *recorded, struct error *error)
{
    struct decisions decisions = {0};
    memset(recorded, 0, sizeof *recorded);
    enum error_code code = run_load(folder, &recorded->run, &recorded->owner, error);
    if (code == OK)
        code = path_format(&recorded->decisions, error, "%s/" DECISIONS_FILE,
                           recorded->run.folder.text);
    if (code == OK && !path_exists(recorded->decisions.text))
        code = error_set(error, ERROR_USAGE,
                         "%s: there are no decisions to follow: they are kept of runs that did not "
                         "pass, and of all with --keep",
                         folder);
    if (code == OK)
        code = decisions_open(recorded->decisions.text, &decisions, error);
    if (code == OK)
        recorded->identity = decisions.header->identity;
    if (code == OK)
        code = fingerprint_load(folder, &recorded->fingerprint, error);
    if (code == OK)
        recorded->has_choices = run_has_choices(&recorded->run);
    decisions_release(&decisions);
    return code;
}

void recorded_set_engine(struct recorded *recorded, const char *engine)
{
    if (engine != NULL)
        scenario_set_engine(recorded->owner.scenario, engine);
}

void recorded_release(struct recorded *recorded)
{
    run_release(&recorded->run);
    scenario_list_release(&recorded->owner);
}

static void append_change(bool changed, const char *what, char text[REPLAYED_TEXT_BYTES],
                          unsigned *count)
{
    if (changed)
        snprintf(text, REPLAYED_TEXT_BYTES, "%s is not what it was when the run was recorded",
                 what);
    *count += changed;
}

unsigned recorded_changes(const struct recorded *recorded,
                          char text[REPLAY_WARNINGS][REPLAYED_TEXT_BYTES])
{
    const struct decisions_identity *then = &recorded->identity;
    struct decisions_identity now;
    char what[REPLAYED_TEXT_BYTES / 2];
    unsigned count = 0;
    run_identify(recorded->run.scenario, &now);
    append_change(then->library != now.library ||
                      strncmp(then->faultline, now.faultline, sizeof now.faultline) != 0,
                  "Faultline", text[count], &count);
    snprintf(what, sizeof what, "the protocol %.200s", recorded->run.scenario->protocol);
    append_change(then->protocol != now.protocol, what, text[count], &count);
    snprintf(what, sizeof what, "the program %.200s", recorded->run.scenario->program);
    append_change(then->program != now.program, what, text[count], &count);
    return count;
}

/* --- comparing -------------------------------------------------------------------------------- */
/* What a rank wrote that came to something else; false: none did. */
static bool read_divergence(const char *folder, char text[REPLAYED_TEXT_BYTES])
{
    struct path path;
    FILE *file = path_format(&path, NULL, "%s/" DIVERGENCE_FILE, folder) == OK
                     ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                     : NULL;
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, REPLAYED_TEXT_BYTES - 1, file);
    text[length] = '\0';
    fclose(file);
    return true;
}

static enum error_code compare_decisions(const struct recorded *recorded, const struct run *run,
                                         struct difference *difference, struct error *error)
{
    struct decisions then = {0}, now = {0};
    enum error_code code = decisions_open(recorded->decisions.text, &then, error);
    if (code == OK)
        code = run_decisions(run, &then, &now, error);
    if (code == OK)
        decisions_compare(&then, &now, difference);
    decisions_release(&then);
    decisions_release(&now);
    return code;
}

/* Both runs are of the step engine, with the same decisions. */
static bool is_of_engine(const struct recorded *recorded, const struct run *run)
{
    return recorded->has_choices && run->scenario->engine != NULL;
}

/* Of runs of the step engine; of a packed one there may be no traces. false: they are the same, or
 * there are none. */
static bool differs_in_traces(const struct recorded *recorded, const struct run *run, char *text,
                              size_t bytes)
{
    struct trace_set then = {0}, now = {0};
    bool differs = is_of_engine(recorded, run) &&
                   trace_set_open_run(recorded->run.folder.text, &then, NULL) == OK &&
                   trace_set_open_run(run->folder.text, &now, NULL) == OK &&
                   traces_differ(&then, &now, run->end == RUN_TIME_LIMIT, text, bytes);
    trace_set_release(&then);
    trace_set_release(&now);
    return differs;
}

static void conclude(const struct recorded *recorded, const struct fingerprint *fingerprint,
                     const struct difference *difference, struct replayed *replayed)
{
    const char *then = recorded->fingerprint.text, *now = fingerprint->text;
    if (difference->decisions) {
        replayed->end = REPLAY_DIVERGED;
        snprintf(replayed->text, sizeof replayed->text, "%s", difference->text);
    } else if (strcmp(then, now) != 0) {
        replayed->end = REPLAY_OTHER;
        snprintf(replayed->text, sizeof replayed->text,
                 "the same decisions led to \"%.120s\", then to \"%.120s\"%s%.400s",
                 now[0] != '\0' ? now : "nothing found", then[0] != '\0' ? then : "nothing found",
                 difference->payload ? "; the data differ first at " : "",
                 difference->payload ? difference->text : "");
    }
}

/* Ranks note which one they have in MPI_Init: where none came so far, nothing is known of it. On
 * another engine than then it is another one by intent. */
static bool has_other_mpi(const struct recorded *recorded, const struct run *run)
{
    struct decisions_identity now = {0};
    if ((run->scenario->engine != NULL) != recorded->has_choices)
        return false;
    run_identify_mpi(run->folder.text, &now);
    return now.mpi != 0 && recorded->identity.mpi != 0 && now.mpi != recorded->identity.mpi;
}

enum error_code replay_compare(const struct recorded *recorded, const char *folder,
                               struct replayed *replayed, struct error *error)
{
    struct run run = {0};
    struct scenario_list owner;
    struct fingerprint fingerprint;
    struct difference difference = {0};
    memset(replayed, 0, sizeof *replayed);
    enum error_code code = run_load(folder, &run, &owner, error);
    if (code == OK && read_divergence(folder, replayed->text)) {
        replayed->end = REPLAY_DIVERGED;
    } else if (code == OK && (run.end == RUN_VOID || run.end == RUN_INTERRUPTED)) {
        replayed->end = REPLAY_VOID;
        snprintf(replayed->text, sizeof replayed->text, "%.700s", run.end_text);
    } else if (code == OK &&
               differs_in_traces(recorded, &run, replayed->text, sizeof replayed->text)) {
        replayed->end = REPLAY_DIVERGED;
    } else if (code == OK) {
        /* Where the time limit cut off a run of the engine, its traces alone can be compared. */
        if (!is_of_engine(recorded, &run) || run.end != RUN_TIME_LIMIT)
            code = compare_decisions(recorded, &run, &difference, error);
        if (code == OK)
            code = fingerprint_load(folder, &fingerprint, error);
        if (code == OK)
            conclude(recorded, &fingerprint, &difference, replayed);
    }
    if (code == OK)
        replayed->other_mpi = has_other_mpi(recorded, &run);
    if (code == OK && run.store_bytes > recorded->run.store_bytes)
        replayed->longer_store = run.store_bytes;
    run_release(&run);
    scenario_list_release(&owner);
    return code;
}

void replay_rate_text(unsigned same, unsigned tries, char text[REPLAY_RATE_BYTES])
{
    if (same == tries || tries == 0) {
        snprintf(text, REPLAY_RATE_BYTES, "replayed %u/%u", same, tries);
        return;
    }
    struct wilson rate = wilson_interval(same, tries);
    snprintf(text, REPLAY_RATE_BYTES, "replayed %u/%u, 95 %% interval %.2f to %.2f", same, tries,
             rate.low, rate.high);
}
