/* I.complete: the traces hold all that happened. A rank that was killed may have left the record it
 * was writing, one per thread; anything else that is missing is ours, and then nothing that rests
 * on the traces is to be believed. */
#include "oracles/judging.h"

#include <inttypes.h>

static struct finding *find(struct judging *judging)
{
    return judging_find(judging, CLAIM_I_COMPLETE, VERDICT_HARNESS_ERROR);
}

/* The rank was killed while its file grew: it had reserved a record, which never had room. */
static bool died_growing(const struct trace *trace)
{
    uint64_t room = atomic_load(&trace->header->room);
    return !atomic_load(&trace->header->closed) && trace->end == NULL && room > 0 &&
           trace->count >= room && atomic_load(&trace->header->next) > trace->count;
}

static void check_length(struct judging *judging, const struct trace *trace)
{
    uint64_t next = atomic_load(&trace->header->next) - (trace->end != NULL);
    uint32_t lost = atomic_load(&trace->header->lost);
    if (next > trace->count && !died_growing(trace))
        finding_say(find(judging),
                    "the trace of rank %d, incarnation %d, has %" PRIu64 " records, but %" PRIu64
                    " were written: the file was cut",
                    trace->rank, trace->incarnation, trace->count, next);
    if (lost > 0)
        finding_say(find(judging),
                    "%" PRIu32 " records of rank %d, incarnation %d, could not be stored: was the "
                    "disk full?",
                    lost, trace->rank, trace->incarnation);
}

/* What never had room belongs to the same hole. */
static bool ends_in_hole(const struct trace *trace)
{
    return trace->count > 0 && atomic_load_explicit(&trace->record[trace->count - 1].kind,
                                                    memory_order_acquire) == RECORD_NONE;
}

static void check_holes(struct judging *judging, const struct trace *trace,
                        const struct stream_seen *seen)
{
    bool died = !atomic_load(&trace->header->closed);
    unsigned threads = seen->threads > 0 ? seen->threads : 1;
    bool inner = threads == 1 && seen->hole_before_event;
    uint64_t runs = seen->hole_runs + (died_growing(trace) && !ends_in_hole(trace));
    char event[EVENT_TEXT_BYTES];
    if (runs == 0 || (died && !inner && runs <= threads))
        return;
    struct event_ref first = event_of(trace, seen->first_hole);
    struct finding *finding = find(judging);
    finding_say(finding,
                "%" PRIu64 " places in the trace of rank %d, incarnation %d, were never "
                "written; the first is %s",
                runs, trace->rank, trace->incarnation, event_text(first, event));
    finding_say(finding, "%s",
                died ? "a rank that dies leaves at most one per thread, at the end"
                     : "the rank ended in order, so there must be none");
    finding_show(finding, first);
}

static void check_records(struct judging *judging, const struct trace *trace,
                          const struct stream_seen *seen)
{
    char event[EVENT_TEXT_BYTES];
    if (seen->foreign > 0) {
        struct event_ref first = event_of(trace, seen->first_foreign);
        struct finding *finding = find(judging);
        finding_say(finding,
                    "%" PRIu64 " records of rank %d, incarnation %d, are of a kind or level that "
                    "does not exist; the first is %s: kind %u, level %u",
                    seen->foreign, trace->rank, trace->incarnation, event_text(first, event),
                    (unsigned)atomic_load(&trace->record[first.index].kind),
                    (unsigned)trace->record[first.index].level);
        finding_show(finding, first);
    }
    if (seen->backwards > 0) {
        struct event_ref first = event_of(trace, seen->first_backwards);
        struct finding *finding = find(judging);
        finding_say(finding,
                    "time goes back in the trace of rank %d, incarnation %d, at %" PRIu64
                    " places; the first is %s, which ends before a record above it began",
                    trace->rank, trace->incarnation, seen->backwards, event_text(first, event));
        finding_show(finding, first);
    }
}

/* So many were asked for. */
static int ranks_in(const struct judging *judging, int incarnation)
{
    const struct run_facts *facts = judging->facts;
    return incarnation > 0 && facts->restart_ranks > 0 ? facts->restart_ranks : facts->ranks;
}

static void check_world(struct judging *judging, const struct trace *trace)
{
    const struct trace_header *header = trace->header;
    int asked = ranks_in(judging, trace->incarnation);
    if (trace->rank >= asked) /* its MPI_COMM_WORLD is another one */
        return;
    if (header->ranks != asked)
        finding_say(find(judging),
                    "rank %d, incarnation %d, was started as one of %d ranks; %d "
                    "were asked for",
                    trace->rank, trace->incarnation, header->ranks, asked);
    if (header->world_size != 0 && header->world_size != asked)
        finding_say(find(judging),
                    "MPI_COMM_WORLD of rank %d, incarnation %d, has %d ranks; %d were asked for",
                    trace->rank, trace->incarnation, header->world_size, asked);
}

static void check_presence(struct judging *judging, int incarnation)
{
    int missing = 0, first = -1, ranks = ranks_in(judging, incarnation);
    for (int rank = 0; rank < ranks; rank++) {
        if (trace_set_find(judging->traces, rank, incarnation) != NULL ||
            lives_on(&judging->reading.lives, rank, incarnation))
            continue;
        if (missing++ == 0)
            first = rank;
    }
    if (missing == 0 || evidence_kills_in(judging, incarnation))
        return;
    struct finding *finding = find(judging);
    finding_say(finding, "%d of %d ranks have no trace in incarnation %d; the first is rank %d",
                missing, ranks, incarnation, first);
    finding_say(finding, "was libfaultline.so preloaded for every rank, and is the program an MPI "
                         "program?");
}

static void judge_completeness(struct judging *judging)
{
    for (size_t i = 0; i < judging->traces->count; i++) {
        const struct trace *trace = &judging->traces->trace[i];
        judging_saw(judging, CLAIM_I_COMPLETE, 1);
        check_length(judging, trace);
        check_holes(judging, trace, &judging->seen[i]);
        check_records(judging, trace, &judging->seen[i]);
        check_world(judging, trace);
    }
    int incarnations = judging->traces->incarnations;
    if (judging->facts->incarnations > incarnations)
        finding_say(find(judging), "there were %d incarnations, but traces of only %d",
                    judging->facts->incarnations, incarnations);
    for (int i = 0; i < incarnations; i++)
        check_presence(judging, i);
}

const struct oracle oracle_complete = {.judge = judge_completeness};
