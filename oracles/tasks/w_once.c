/* W.once: the result of every task counts exactly once, whichever workers die, and the master ends.
 * Looks at notes alone, rank by rank, in effective histories: what a rank has counted it has, until
 * it rolls back or dies. A rank leads that tells how many tasks there are. A job that does not
 * finish is H.progress's affair: then only what has counted twice is told. */
#include "oracles/judging.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

struct counted {
    uint64_t task;
    size_t order; /* as it was told */
    struct event_ref event;
};

/* What one rank has told. */
struct told_by {
    size_t count, room;
    struct counted *counted; /* by task, then as it was told; owned */
    bool leads;
    uint64_t tasks; /* of one that leads; the newest it told */
    struct event_ref began;
    uint64_t first_open; /* the lowest task that has not counted; `tasks`: all have */
};

static int compare(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    int order = (a->task > b->task) - (a->task < b->task);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static void read_piece(const struct piece *piece, struct told_by *told)
{
    for (uint64_t i = piece->from; i < piece->to; i++) {
        const struct record *note = &piece->trace->record[i];
        if (note->kind != RECORD_NOTE || (note->tag != NOTE_TASKS && note->tag != NOTE_COUNTED))
            continue;
        struct event_ref event = event_of(piece->trace, i);
        if (note->tag == NOTE_TASKS) {
            told->leads = true;
            told->tasks = note->bytes;
            told->began = event;
            continue;
        }
        told->counted = memory_room(told->counted, told->count, &told->room, sizeof *told->counted);
        told->counted[told->count] = (struct counted){note->bytes, told->count, event};
        told->count++;
    }
}

static void read_rank(const struct history *history, struct told_by *told)
{
    *told = (struct told_by){.leads = false};
    for (size_t i = 0; i < history->piece_count; i++)
        read_piece(&history->piece[i], told);
    if (told->count > 0)
        qsort(told->counted, told->count, sizeof *told->counted, compare);
    for (size_t i = 0; i < told->count && told->counted[i].task <= told->first_open; i++)
        told->first_open = told->counted[i].task + 1;
    if (told->first_open > told->tasks)
        told->first_open = told->tasks;
}

/* What has counted and should not have. */
static void judge_counted(struct judging *judging, int rank, const struct told_by *told)
{
    char event[EVENT_TEXT_BYTES];
    for (size_t i = 0; i < told->count; i++) {
        const struct counted *now = &told->counted[i];
        bool again = i > 0 && now[-1].task == now->task;
        if (!again && (!told->leads || now->task < told->tasks))
            continue;
        struct finding *finding = judging_find(judging, CLAIM_W_ONCE, VERDICT_VIOLATION);
        struct event_ref first = again ? now[-1].event : told->began;
        if (again)
            finding_say(finding, "the result of task %" PRIu64 " counts at rank %d: %s", now->task,
                        rank, event_text(first, event));
        else
            finding_say(finding, "rank %d leads %" PRIu64 " tasks, numbered from 0: %s", rank,
                        told->tasks, event_text(first, event));
        finding_say(finding, "task %" PRIu64 " counts there%s: %s", now->task,
                    again ? " once more" : "", event_text(now->event, event));
        finding_show(finding, first);
        finding_show(finding, now->event);
    }
}

/* The job is over, and the rank led it. */
static void judge_open(struct judging *judging, int rank, const struct told_by *told, bool died)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_W_ONCE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d leads %" PRIu64 " tasks: %s", rank, told->tasks,
                event_text(told->began, event));
    if (died)
        finding_say(finding,
                    "it died before task %" PRIu64 " had counted, and in no rank that "
                    "leads all tasks have",
                    told->first_open);
    else
        finding_say(finding, "the result of task %" PRIu64 " never counts there", told->first_open);
    finding_show(finding, told->began);
    finding_decide_at_end(finding);
}

static void judge_end(struct judging *judging, const struct told_by *told, int ranks)
{
    bool complete = false;
    for (int rank = 0; rank < ranks; rank++)
        complete = complete || (told[rank].leads && told[rank].first_open == told[rank].tasks);
    for (int rank = 0; rank < ranks; rank++) {
        bool died = lives_is_dead(&judging->reading.lives, rank);
        if (told[rank].leads && told[rank].first_open < told[rank].tasks && !(died && complete))
            judge_open(judging, rank, &told[rank], died);
    }
}

static void judge_tasks(struct judging *judging)
{
    int incarnations = judging->traces->incarnations;
    if (!judging->asked[CLAIM_W_ONCE] || incarnations == 0)
        return;
    const struct histories *histories = reading_histories(&judging->reading, incarnations - 1);
    if (histories_report_unknown(judging, histories, CLAIM_W_ONCE))
        return;
    struct told_by *told = memory_new((size_t)histories->ranks, sizeof *told);
    for (int rank = 0; rank < histories->ranks; rank++) {
        read_rank(&histories->of[rank], &told[rank]);
        judging_saw(judging, CLAIM_W_ONCE, told[rank].count);
        judge_counted(judging, rank, &told[rank]);
    }
    if (judging->facts->end == RUN_FINISHED)
        judge_end(judging, told, histories->ranks);
    for (int rank = 0; rank < histories->ranks; rank++)
        free(told[rank].counted);
    free(told);
}

const struct oracle oracle_tasks = {.judge = judge_tasks, .needs_sound_traces = true};
