/* See report_story.h. The traces say which faults were done and when, run.json how each process
 * ended. */
#include "reports/page/report_story.h"

#include "base/memory.h"
#include "plan/action.h"
#include "reports/page/moments.h"
#include "reports/text/trace_line.h"
#include "reports/walk/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CAUSE_BYTES 96
#define NAMES_SHOWN 64 /* of processes that ended in the same way, or go on from the same line */
#define NS_PER_S 1e9
#define RESTORED "restored" /* a kind of moment */

/* A process that did not come to its end by itself. */
struct death {
    int rank, incarnation;
    uint64_t ns; /* the last that is known of it */
    bool first;  /* of its incarnation */
    bool told;   /* in some moment */
    char cause[CAUSE_BYTES];
};

struct story {
    const struct report_source *source;
    const struct trace_set *set;
    const struct plan *plan; /* NULL: not known */
    struct moments moments;
    size_t death_count;
    struct death *death; /* owned; in the order of run.json */
};

/* --- how processes ended ---------------------------------------------------------------------- */

static uint64_t last_ns(const struct trace_set *set, const struct trace *trace)
{
    uint64_t last = trace->end != NULL ? trace->end->enter : 0;
    for (uint64_t i = trace->count; i > 0 && last == 0; i--) {
        const struct record *record = &trace->record[i - 1];
        if (record_is_event(record))
            last = record->leave > record->enter ? record->leave : record->enter;
    }
    return trace_ns(set, last);
}

static void say_cause(const struct rank_end *end, char cause[CAUSE_BYTES])
{
    int status = end->wait_status;
    if (WIFSIGNALED(status))
        snprintf(cause, CAUSE_BYTES, "SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(cause, CAUSE_BYTES, "exit status %d%s", WEXITSTATUS(status),
                 end->aborted     ? " (MPI_Abort, or an error of MPI that is fatal)"
                 : end->finalized ? ""
                                  : " (without MPI_Finalize)");
}

static bool ended_well(const struct rank_end *end)
{
    return !end->known ||
           (WIFEXITED(end->wait_status) && WEXITSTATUS(end->wait_status) == 0 && end->finalized);
}

static void read_deaths(struct story *story)
{
    const struct run *run = &story->source->run;
    size_t count = story->source->has_run ? run->rank_end_count : 0;
    story->death = memory_new(count + 1, sizeof *story->death);
    for (size_t i = 0; i < count; i++) {
        const struct rank_end *end = &run->rank_ends[i];
        const struct trace *trace = trace_set_find(story->set, end->rank, end->incarnation);
        if (ended_well(end))
            continue;
        struct death *death = &story->death[story->death_count++];
        *death = (struct death){end->rank,
                                end->incarnation,
                                trace != NULL ? last_ns(story->set, trace) : 0,
                                end->first,
                                false,
                                ""};
        say_cause(end, death->cause);
    }
}

static struct death *find_death(const struct story *story, int rank, int incarnation)
{
    for (size_t i = 0; i < story->death_count; i++)
        if (story->death[i].rank == rank && story->death[i].incarnation == incarnation)
            return &story->death[i];
    return NULL;
}

/* --- faults ----------------------------------------------------------------------------------- */

static const struct plan_step *step_of(const struct story *story, const struct record *fault)
{
    bool known = story->plan != NULL && fault->tag >= 0 && (size_t)fault->tag < story->plan->count;
    return known ? &story->plan->steps[fault->tag] : NULL;
}

/* The one that stands for all that a step does in the same way in an incarnation. */
static struct moment *find_moment(const struct story *story, const struct record *fault,
                                  int incarnation)
{
    for (size_t i = 0; i < story->moments.count; i++) {
        struct moment *moment = &story->moments.moment[i];
        if (moment->fault == fault->comm && moment->step == fault->tag &&
            moment->incarnation == incarnation)
            return moment;
    }
    return NULL;
}

static void say_dies(struct story *story, struct moment *moment, int rank, int incarnation,
                     const char *format)
{
    struct death *death = find_death(story, rank, incarnation);
    if (death == NULL || death->told)
        return;
    death->told = true;
    moment_say(moment, "%s %s", format, death->cause);
}

/* What was done to the call on the store, or that it failed. */
static const char *done_to_call(const struct plan_step *step)
{
    switch (step != NULL ? step->action : ACTION_FAIL) {
    case ACTION_SHORT:
        return "writes less than was asked for";
    case ACTION_TEAR:
        return "is torn";
    case ACTION_FLIP:
        return "leaves a bit of the file inverted";
    default:
        return "fails";
    }
}

static void say_storage(struct story *story, struct moment *moment, const struct trace *trace,
                        uint64_t index)
{
    const struct record *fault = &trace->record[index];
    const struct plan_step *step = step_of(story, fault);
    const char *error = fault->error != 0 ? strerrorname_np(fault->error) : NULL;
    char path[CAUSE_BYTES] = "";
    uint64_t call;
    bool known = trace_fault_call(trace, index, &call);
    if (known)
        trace_text(trace, call, path, sizeof path);
    moment_say(moment, "Storage: in rank %d the %s%s%s %s", trace->rank,
               known ? storage_call_text((unsigned)trace->record[call].tag) : "call on the store",
               known ? " of " : "", path, done_to_call(step));
    if (error != NULL)
        moment_say(moment, " with %s (%s)", error, strerrordesc_np(fault->error));
    if (step != NULL && action_of(step)->kills == KILLS_ITSELF)
        say_dies(story, moment, trace->rank, trace->incarnation, ", and the rank dies by");
}

/* Of faults that a step does to many: what is done each time. */
static void say_other(struct moment *moment, const struct trace *trace, const struct record *fault)
{
    switch (fault->comm) {
    case FAULT_HELD:
        moment_say(moment, "A message from rank %d to rank %" PRId32 " is held back", trace->rank,
                   fault->peer);
        break;
    case FAULT_STOPPED:
        moment_say(moment, "Rank %" PRId32 " is stopped", fault->peer);
        break;
    case FAULT_CHOSEN:
        moment_say(moment, "A receive of rank %d from any source gets the message of rank %" PRId32,
                   trace->rank, fault->peer);
        break;
    case FAULT_ANSWERED:
        moment_say(moment, "A test or probe of rank %d is answered as the plan says", trace->rank);
        break;
    case FAULT_LOST:
        moment_say(moment, "With the death go %s",
                   fault->bytes == LOSE_STORAGE ? "all files of the node"
                   : fault->bytes == LOSE_FILES ? "files of the store"
                                                : "all changes to files that were not synced");
        break;
    case FAULT_DETECTED:
        moment_say(moment, "Rank %" PRId32 " is told of the death of rank %" PRIu64, fault->peer,
                   fault->bytes);
        break;
    default:
        moment_say(moment, "Fault: %s", fault_kind_text(fault->comm));
        break;
    }
}

static void add_fault(struct story *story, const struct trace *trace, uint64_t index)
{
    const struct record *fault = &trace->record[index];
    bool kill = fault->comm == FAULT_KILL || fault->comm == FAULT_KILL_INSIDE;
    bool damage = kill || fault->comm == FAULT_STORAGE;
    int victim = fault->comm == FAULT_KILL ? fault->peer : trace->rank;
    struct moment *moment = kill ? NULL : find_moment(story, fault, trace->incarnation);
    struct event_ref event = {trace->rank, trace->incarnation, index};
    char name[EVENT_TEXT_BYTES];
    if (moment != NULL) {
        moment->times++;
        return;
    }
    moment =
        moments_add(&story->moments, kill ? "death" : "fault", trace_ns(story->set, fault->enter));
    moment->damage = damage;
    moment->fault = fault->comm;
    moment->step = fault->tag;
    moment->incarnation = trace->incarnation;
    if (kill) {
        moment_say(moment, "Rank %d is killed", victim);
        say_dies(story, moment, victim, trace->incarnation, " by");
    } else if (damage) {
        say_storage(story, moment, trace, index);
    } else {
        say_other(moment, trace, fault);
    }
    moment_say(moment, ": %s", event_text(event, name));
}

static void add_faults(struct story *story)
{
    for (size_t i = 0; i < story->set->count; i++) {
        const struct trace *trace = &story->set->trace[i];
        for (uint64_t at = 0; at < trace->count; at++)
            if (slice_is_done_to_job(&trace->record[at]))
                add_fault(story, trace, at);
    }
}

/* --- deaths that no fault told of ------------------------------------------------------------- */

/* The ranks that Faultline ended itself, in the end of a run that did not. */
static bool is_by_us(const struct story *story, const struct death *death)
{
    const struct run *run = &story->source->run;
    return (run->end == RUN_DEADLOCK || run->end == RUN_TIME_LIMIT ||
            run->end == RUN_INTERRUPTED) &&
           death->incarnation == run->incarnations - 1 && strcmp(death->cause, "SIGKILL") == 0;
}

/* One that ends after the first of its incarnation ends with it: the launcher sees to that. */
static bool is_with_another(const struct story *story, const struct death *death)
{
    return !death->first && !story->source->run.scenario->survivors;
}

/* All that ended in the same way as the one at `from`. */
static void add_deaths_like(struct story *story, size_t from)
{
    const struct death like = story->death[from];
    bool with = is_with_another(story, &like);
    struct moment *moment = moments_add(&story->moments, "death", like.ns);
    size_t count = 0;
    moment_say(moment,
               with ? "The rest of the job ends with it, by %s:" : "Ended by %s:", like.cause);
    for (size_t i = from; i < story->death_count; i++) {
        struct death *death = &story->death[i];
        if (death->told || death->incarnation != like.incarnation ||
            strcmp(death->cause, like.cause) != 0 || is_with_another(story, death) != with)
            continue;
        death->told = true;
        moment->ns = death->ns > moment->ns ? death->ns : moment->ns;
        if (count++ < NAMES_SHOWN)
            moment_say(moment, "%s r%d#%d", count > 1 ? "," : "", death->rank, death->incarnation);
    }
    if (count > NAMES_SHOWN)
        moment_say(moment, " and %zu more", count - NAMES_SHOWN);
}

static void add_deaths(struct story *story)
{
    for (size_t i = 0; i < story->death_count; i++)
        if (!story->death[i].told && !is_by_us(story, &story->death[i]))
            add_deaths_like(story, i);
}

/* --- who goes on ------------------------------------------------------------------------------ */

static uint64_t first_ns(const struct trace_set *set, int incarnation)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        for (uint64_t at = 0; trace->incarnation == incarnation && at < trace->count; at++)
            if (record_is_event(&trace->record[at])) {
                uint64_t ns = trace_ns(set, trace->record[at].enter);
                first = ns < first ? ns : first;
                break;
            }
    }
    return first;
}

/* restored: the note with which a rank says so. The sentence is ended by end_restored. */
static void add_restored(struct story *story, const struct trace *trace,
                         const struct record *restored)
{
    struct moments *moments = &story->moments;
    uint64_t ns = trace_ns(story->set, restored->enter);
    struct moment *moment = NULL;
    for (size_t i = 0; i < moments->count; i++)
        if (strcmp(moments->moment[i].kind, RESTORED) == 0 &&
            moments->moment[i].incarnation == trace->incarnation &&
            moments->moment[i].line == restored->bytes)
            moment = &moments->moment[i];
    if (moment != NULL) {
        if (moment->times++ < NAMES_SHOWN)
            moment_say(moment, ", r%d#%d", trace->rank, trace->incarnation);
        moment->ns = ns < moment->ns ? ns : moment->ns;
        return;
    }
    moment = moments_add(moments, RESTORED, ns);
    moment->incarnation = trace->incarnation;
    moment->line = restored->bytes;
    moment_say(moment, "r%d#%d", trace->rank, trace->incarnation);
}

static void end_restored(struct moment *moment)
{
    if (moment->times > NAMES_SHOWN)
        moment_say(moment, " and %" PRIu64 " more", moment->times - NAMES_SHOWN);
    moment_say(moment, moment->times > 1 ? " go on from " : " goes on from ");
    if (moment->line > 0)
        moment_say(moment, "line %" PRIu64, moment->line);
    else
        moment_say(moment, "the beginning");
}

static void add_taken_over(struct story *story, const struct trace *trace, uint64_t index)
{
    const struct record *note = &trace->record[index];
    struct event_ref event = {trace->rank, trace->incarnation, index};
    char name[EVENT_TEXT_BYTES];
    if (note->bytes > INT32_MAX || note->bytes == (uint64_t)trace->rank)
        return;
    struct moment *moment =
        moments_add(&story->moments, "restart", trace_ns(story->set, note->enter));
    moment_say(moment, "Process %d takes the place of rank %" PRIu64 ": %s", trace->rank,
               note->bytes, event_text(event, name));
}

static void add_notes(struct story *story)
{
    for (size_t i = 0; i < story->set->count; i++) {
        const struct trace *trace = &story->set->trace[i];
        for (uint64_t at = 0; at < trace->count; at++) {
            const struct record *record = &trace->record[at];
            if (record->kind != RECORD_NOTE)
                continue;
            if (record->tag == NOTE_RESTORED)
                add_restored(story, trace, record);
            else if (record->tag == NOTE_BECOMES)
                add_taken_over(story, trace, at);
        }
    }
    for (size_t i = 0; i < story->moments.count; i++)
        if (strcmp(story->moments.moment[i].kind, RESTORED) == 0)
            end_restored(&story->moments.moment[i]);
}

static bool is_restored(const struct story *story, int incarnation)
{
    for (size_t i = 0; i < story->moments.count; i++)
        if (strcmp(story->moments.moment[i].kind, RESTORED) == 0 &&
            story->moments.moment[i].incarnation == incarnation)
            return true;
    return false;
}

static void add_restarts(struct story *story)
{
    for (int i = 1; i < story->set->incarnations; i++) {
        bool restored = is_restored(story, i);
        struct moment *moment = moments_add(&story->moments, "restart", first_ns(story->set, i));
        moment_say(moment, "The job is started again, incarnation %d%s", i,
                   restored ? "" : ": no rank goes back to a line, all begin from the beginning");
    }
}

/* --- how it ended ----------------------------------------------------------------------------- */

/* Where the claim is found violated: the last event of the witness. */
static void add_found(struct story *story)
{
    const struct report_source *source = story->source;
    const struct event_ref *last = NULL;
    uint64_t last_seen = 0;
    for (size_t i = 0; source->finding != NULL && i < source->witness.count; i++) {
        const struct event_ref *event = &source->witness.event[i];
        const struct trace *trace = trace_set_find(story->set, event->rank, event->incarnation);
        if (trace == NULL || event->index >= trace->count)
            continue;
        uint64_t ns = trace_ns(story->set, trace->record[event->index].enter);
        if (last == NULL || ns >= last_seen)
            last = event, last_seen = ns;
    }
    if (last == NULL ||
        (source->has_run && (source->run.end == RUN_DEADLOCK || source->run.end == RUN_TIME_LIMIT)))
        return;
    char name[EVENT_TEXT_BYTES];
    struct moment *moment = moments_add(&story->moments, "found", last_seen);
    moment_say(moment, "Here %s is %s: %s", source->finding->claim,
               strcmp(source->finding->verdict, "violation") == 0 ? "violated" : "left undecided",
               event_text(*last, name));
}

static void add_end(struct story *story)
{
    static const char *const ends[] = {[RUN_FINISHED] = "The run finishes",
                                       [RUN_FAILED] = "The run fails",
                                       [RUN_DEADLOCK] = "Deadlock",
                                       [RUN_TIME_LIMIT] = "The run does not end",
                                       [RUN_INTERRUPTED] = "The user ends it",
                                       [RUN_REFUSED] = "The step engine gives up",
                                       [RUN_VOID] = "The launcher ends by itself"};
    const struct run *run = &story->source->run;
    if (!story->source->has_run)
        return;
    struct moment *moment = moments_add(&story->moments, "end", UINT64_MAX);
    bool by_us = run->end == RUN_DEADLOCK || run->end == RUN_TIME_LIMIT;
    bool loops = run->end == RUN_TIME_LIMIT && strstr(run->end_text, RUN_POLLED) != NULL;
    moment_say(moment, "%s: %.*s%s", loops ? "Endless loop" : ends[run->end],
               (int)strcspn(run->end_text, ";"), run->end_text,
               by_us ? ". Faultline ends all ranks" : "");
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool asks_for_faults(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (action_of(&plan->steps[i])->is_fault)
            return true;
    return false;
}

/* The first death or failure of the store, else the first of what else the plan did. */
static void put_began(struct xml *xml, const struct story *story)
{
    const struct moment *first = NULL;
    for (size_t i = 0; i < story->moments.count; i++) {
        const struct moment *moment = &story->moments.moment[i];
        if (moment->fault != FAULT_NONE && (first == NULL || (moment->damage && !first->damage)))
            first = moment;
    }
    if (first != NULL)
        report_put_sentence(xml, "began", first->text);
    else if (story->plan != NULL)
        xml_element(xml, "not-begun",
                    asks_for_faults(story->plan)
                        ? "No fault of the plan took place."
                        : "No fault was asked for: the job did this by itself.");
}

static void put_moments(struct xml *xml, const struct story *story)
{
    for (size_t i = 0; i < story->moments.count; i++) {
        const struct moment *moment = &story->moments.moment[i];
        xml_begin(xml, "moment");
        xml_attribute(xml, "kind", moment->kind);
        if (moment->ns != UINT64_MAX)
            xml_real(xml, "at", (double)moment->ns / NS_PER_S, 6);
        if (moment->fault != FAULT_NONE && moment->step >= 0)
            xml_number(xml, "step", moment->step + 1);
        if (moment->fault != FAULT_NONE && moment->times > 1)
            xml_number(xml, "times", (int64_t)moment->times);
        report_put_words(xml, moment->text);
        xml_end(xml);
    }
}

void report_put_story(struct xml *xml, const struct report_source *source)
{
    struct story story = {.source = source,
                          .set = &source->traces,
                          .plan = source->has_run ? &source->run.scenario->plan : NULL};
    if (!source->has_traces)
        return;
    read_deaths(&story);
    add_faults(&story);
    add_deaths(&story);
    add_notes(&story);
    add_restarts(&story);
    add_found(&story);
    add_end(&story);
    moments_sort(&story.moments);
    xml_begin(xml, "story");
    put_began(xml, &story);
    put_moments(xml, &story);
    xml_end(xml);
    moments_release(&story.moments);
    free(story.death);
}
