/* See survivors.h. */
#include "launch/survivors.h"

#include "launch/ends.h"
#include "oracles/reading/history.h"
#include "oracles/reading/lives.h"
#include "trace/reader.h"

#include <stdio.h>

static bool has_finished(const struct board *board, const struct rank_end *end)
{
    uint32_t state = atomic_load(&board->slot[end->rank].state);
    return (end->finalized && end->known && end->wait_status == 0) || state == RANK_FINALIZING;
}

/* Some process has noted that the job goes on without the rank. */
static bool is_given_up(const struct trace_set *traces, int incarnation, int rank)
{
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        uint64_t at = trace->count;
        while (trace->incarnation == incarnation && note_before(trace, at, &at))
            if (trace->record[at].tag == NOTE_WITHOUT && trace->record[at].bytes == (uint64_t)rank)
                return true;
    }
    return false;
}

/* The process of the rank's newest life, if it was that rank to its end; -1: it has none. */
static int process_of(const struct lives *lives, int incarnation, int rank)
{
    const struct life *life = lives_newest(lives, rank, incarnation);
    if (life == NULL || life->trace->incarnation != incarnation || life->to < life->trace->count)
        return -1;
    return life->trace->rank;
}

/* True: the plan killed it. */
static bool describe(const struct board *board, const struct plan *plan,
                     const struct rank_end *ends, int rank, int process, char *text, size_t bytes)
{
    int step = process < 0 ? -1 : ends_killer(board, plan, &ends[process]);
    if (step >= 0)
        snprintf(text, bytes,
                 "rank %d was killed by step %d of the plan%s, and no process has taken its place",
                 rank, step + 1, process == rank ? "" : " in a later life");
    else
        snprintf(text, bytes, "no process is rank %d any more", rank);
    return step >= 0;
}

enum launch_end survivors_classify(const struct survivors *survivors, const struct board *board,
                                   const struct rank_end *ends, char *text, size_t bytes)
{
    struct trace_set traces;
    struct lives lives;
    struct error error;
    int incarnation = atomic_load(&board->incarnation);
    enum launch_end end = LAUNCH_FINISHED;
    if (trace_set_open_run(survivors->folder, &traces, &error) != OK) {
        snprintf(text, bytes, "%s", error.text);
        return LAUNCH_VOID;
    }
    lives_read(&traces, &lives);
    snprintf(text, bytes, "every rank finished");
    bool killed = false;
    for (int rank = 0; !killed && rank < survivors->ranks; rank++) {
        int process = process_of(&lives, incarnation, rank);
        bool finished = process >= 0 && has_finished(board, &ends[process]);
        if (finished || is_given_up(&traces, incarnation, rank) || lives.helper[rank] ||
            !lives.application[rank])
            continue;
        killed = describe(board, survivors->plan, ends, rank, process, text, bytes);
        end = LAUNCH_KILLED;
    }
    lives_release(&lives);
    trace_set_release(&traces);
    return end;
}
