/* H.progress: the run ends. Where it does not, the witness is who waits for whom. */
#include "oracles/history_claims/doing.h"
#include "oracles/judging.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Ranks that had not ended by themselves, nor by a fault, when the run was given up. */
static void who_lived(const struct judging *judging, bool *alive)
{
    int newest = judging->traces->incarnations - 1;
    for (int rank = 0; rank < judging->traces->ranks; rank++) {
        const struct trace *trace = trace_set_find(judging->traces, rank, newest);
        alive[rank] = trace != NULL && trace->end == NULL && !atomic_load(&trace->header->closed);
    }
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.incarnation == newest && evidence_kills(judging, evidence) &&
            evidence->victim >= 0 && evidence->victim < judging->traces->ranks)
            alive[evidence->victim] = false;
    }
}

#define RUNNERS_FIRST 2 /* of those that do not wait, told before those that do */
#define GROUP_BYTES 128

/* After "rank 2 waits": what it waits for. */
static const char *what_for(const struct wait_for *wait)
{
    const char *waits = strstr(wait->text, " waits");
    return waits != NULL ? waits + strlen(" waits") : "";
}

/* Ranks that wait for the same, from the first on, in one line: "ranks 0, 2 wait in ...". */
static void say_group(struct finding *finding, const struct hang *hang, size_t first, size_t count)
{
    char ranks[GROUP_BYTES], events[GROUP_BYTES], event[EVENT_TEXT_BYTES];
    size_t used = 0, put = 0, others = 0;
    for (size_t i = first; i < count; i++) {
        const struct wait_for *wait = &hang->waits[i];
        if (strcmp(what_for(wait), what_for(&hang->waits[first])) != 0)
            continue;
        others += i > first;
        if (used + 16 < sizeof ranks && put + EVENT_TEXT_BYTES < sizeof events) {
            used += (size_t)snprintf(ranks + used, sizeof ranks - used, "%s%d",
                                     used > 0 ? ", " : "", wait->rank);
            put += (size_t)snprintf(events + put, sizeof events - put, "%s%s", put > 0 ? ", " : "",
                                    event_text(wait->call, event));
        } else if (ranks[used - 1] != '.') {
            used += (size_t)snprintf(ranks + used, sizeof ranks - used, ", ...");
        }
    }
    finding_say(finding, "rank%s %s wait%s%s: %s", others > 0 ? "s" : "", ranks,
                others > 0 ? "" : "s", what_for(&hang->waits[first]), events);
}

static bool is_told(const struct hang *hang, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(what_for(&hang->waits[i]), what_for(&hang->waits[at])) == 0)
            return true;
    return false;
}

static void say_waits(struct finding *finding, const struct hang *hang)
{
    size_t count = hang->cycle > 0 ? hang->cycle : hang->count;
    if (hang->why != NULL)
        finding_say(finding, "%s", hang->why);
    for (size_t i = 0; i < count; i++) {
        if (!is_told(hang, i))
            say_group(finding, hang, i, count);
        finding_show(finding, hang->waits[i].call);
    }
}

/* The newest record of a call in the rank's newest incarnation. */
static bool last_call(const struct judging *judging, int rank, struct event_ref *event,
                      unsigned *call)
{
    const struct trace *trace =
        trace_set_find(judging->traces, rank, judging->traces->incarnations - 1);
    for (uint64_t at = trace == NULL ? 0 : trace->count; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        if (!record_is_event(record) || record->call == CALL_NONE)
            continue;
        *event = event_of(trace, at - 1);
        *call = record->call;
        return true;
    }
    return false;
}

static void say_last_call(const struct judging *judging, struct finding *finding, int rank,
                          const char *what)
{
    char text[EVENT_TEXT_BYTES];
    struct event_ref event;
    unsigned call;
    if (!last_call(judging, rank, &event, &call)) {
        finding_say(finding, "rank %d %s, and recorded no call", rank, what);
        return;
    }
    finding_say(finding, "rank %d %s; the last call it recorded is %s: %s", rank, what,
                call_name(call), event_text(event, text));
    finding_show(finding, event);
}

/* The rank that ended badly by itself, or aborted the job: the first of them, for the launcher ends
 * the others, and what they came to until then is a matter of time. */
static void say_bad_end(const struct judging *judging, struct finding *finding)
{
    char what[64];
    for (size_t i = 0; i < judging->facts->rank_end_count; i++) {
        const struct rank_end *end = &judging->facts->rank_ends[i];
        int status = end->wait_status;
        if (!end->first || end->incarnation != judging->traces->incarnations - 1)
            continue;
        if (end->aborted)
            snprintf(what, sizeof what, "aborted the job");
        else if (WIFSIGNALED(status))
            snprintf(what, sizeof what, "died of signal %d", WTERMSIG(status));
        else
            snprintf(what, sizeof what, "exited with status %d", WEXITSTATUS(status));
        say_last_call(judging, finding, end->rank, what);
    }
}

static bool waits(const struct hang *hang, int rank)
{
    for (size_t i = 0; i < hang->count; i++)
        if (hang->waits[i].rank == rank)
            return true;
    return false;
}

/* Who was not seen to wait, though the run did not end: what it did. Told of the first
 * RUNNERS_FIRST of them, or of the others. */
static void say_who_runs(const struct judging *judging, struct finding *finding,
                         const struct hang *hang, const bool *alive, bool first)
{
    char text[DOING_TEXT_BYTES];
    int told = 0;
    for (int rank = 0; rank < judging->traces->ranks; rank++)
        if (alive[rank] && !waits(hang, rank) && (told++ < RUNNERS_FIRST) == first)
            finding_say(finding, "%s", doing_text(judging->traces, rank, text));
}

static void show_who_runs(const struct judging *judging, struct finding *finding,
                          const struct hang *hang, const bool *alive)
{
    struct event_ref event;
    unsigned call;
    for (int rank = 0; rank < judging->traces->ranks; rank++)
        if (alive[rank] && !waits(hang, rank) && last_call(judging, rank, &event, &call))
            finding_show(finding, event);
}

/* Failures that its calls have raised, of which it never asked for the class. */
static bool never_asks_for_class(const struct trace *trace, struct event_ref *raised)
{
    bool found = false;
    for (uint64_t at = 0; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        if (record->level != LEVEL_APP || !record_is_event(record))
            continue;
        if (record->kind == RECORD_CALL && record->call == CALL_MPI_Error_class)
            return false;
        if (!found && raised_text(record->error) != NULL) {
            *raised = event_of(trace, at);
            found = true;
        }
    }
    return found;
}

/* A program that compares codes with classes goes on as if nothing had been raised. */
static void say_codes(struct judging *judging, struct finding *finding)
{
    for (size_t i = 0; i < judging->traces->count; i++) {
        const struct trace *trace = &judging->traces->trace[i];
        struct event_ref raised;
        char text[EVENT_TEXT_BYTES];
        if (trace->incarnation != judging->traces->incarnations - 1 ||
            !never_asks_for_class(trace, &raised))
            continue;
        finding_say(finding,
                    "rank %d was told of a failure and never calls MPI_Error_class: if it compares "
                    "what a call returned with a class (MPIX_ERR_PROC_FAILED), these may be two "
                    "numbers: %s",
                    trace->rank, event_text(raised, text));
        return;
    }
}

static void report_stuck(struct judging *judging)
{
    bool *alive = memory_new((size_t)judging->traces->ranks, sizeof *alive);
    struct hang hang;
    who_lived(judging, alive);
    hang_analyse(judging->traces, alive, judging->traces->ranks, &hang);
    struct finding *finding = judging_find(judging, CLAIM_H_PROGRESS, VERDICT_VIOLATION);
    finding_decide_at_end(finding);
    /* The driver's sentence may name the waits too; here each gets a line and its event. */
    bool shown = judging->facts->end == RUN_DEADLOCK && hang.count > 0;
    finding_say(finding, "%s",
                shown ? "every live rank is blocked and nothing is in flight"
                      : judging->facts->end_text);
    bool runs = judging->facts->end == RUN_TIME_LIMIT;
    if (runs)
        say_who_runs(judging, finding, &hang, alive, true);
    if (judging->facts->end == RUN_FAILED)
        say_bad_end(judging, finding);
    else
        say_waits(finding, &hang);
    if (runs) {
        say_who_runs(judging, finding, &hang, alive, false);
        show_who_runs(judging, finding, &hang, alive);
    }
    say_codes(judging, finding);
    hang_release(&hang);
    free(alive);
}

static void judge_progress(struct judging *judging)
{
    const struct run_facts *facts = judging->facts;
    enum verdict verdict = VERDICT_PASS;
    judging_saw(judging, CLAIM_H_PROGRESS, 1);
    switch (facts->end) {
    case RUN_DEADLOCK:
    case RUN_TIME_LIMIT:
    case RUN_FAILED:
        report_stuck(judging);
        break;
    case RUN_INTERRUPTED:
    case RUN_REFUSED:
        verdict = VERDICT_UNKNOWN;
        break;
    case RUN_VOID:
        verdict = VERDICT_HARNESS_ERROR;
        break;
    default:
        break;
    }
    if (verdict != VERDICT_PASS)
        finding_say(judging_find(judging, CLAIM_H_PROGRESS, verdict), "%s", facts->end_text);
}

const struct oracle oracle_progress = {.judge = judge_progress};
