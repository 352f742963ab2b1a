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
struct task_notes {
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

static void read_piece(const struct piece *piece, struct task_notes *notes)
{
    for (uint64_t i = piece->from; i < piece->to; i++) {
        const struct record *note = &piece->trace->record[i];
        if (note->kind != RECORD_NOTE || (note->tag != NOTE_TASKS && note->tag != NOTE_COUNTED))
            continue;
        struct event_ref event = event_of(piece->trace, i);
        if (note->tag == NOTE_TASKS) {
            notes->leads = true;
            notes->tasks = note->bytes;
            notes->began = event;
            continue;
        }
        notes->counted =
            memory_room(notes->counted, notes->count, &notes->room, sizeof *notes->counted);
        notes->counted[notes->count] = (struct counted){note->bytes, notes->count, event};
        notes->count++;
    }
}

static void read_rank(const struct history *history, struct task_notes *notes)
{
    *notes = (struct task_notes){.leads = false};
    for (size_t i = 0; i < history->piece_count; i++)
        read_piece(&history->piece[i], notes);
    if (notes->count > 0)
        qsort(notes->counted, notes->count, sizeof *notes->counted, compare);
    for (size_t i = 0; i < notes->count && notes->counted[i].task <= notes->first_open; i++)
        notes->first_open = notes->counted[i].task + 1;
    if (notes->first_open > notes->tasks)
        notes->first_open = notes->tasks;
}

/* What has counted and should not have. */
static void judge_counted(struct judging *judging, int rank, const struct task_notes *notes)
{
    char event[EVENT_TEXT_BYTES];
    for (size_t i = 0; i < notes->count; i++) {
        const struct counted *now = &notes->counted[i];
        bool again = i > 0 && now[-1].task == now->task;
        if (!again && (!notes->leads || now->task < notes->tasks))
            continue;
        struct finding *finding = judging_find(judging, CLAIM_W_ONCE, VERDICT_VIOLATION);
        struct event_ref first = again ? now[-1].event : notes->began;
        if (again)
            finding_say(finding, "the result of task %" PRIu64 " counts at rank %d: %s", now->task,
                        rank, event_text(first, event));
        else
            finding_say(finding, "rank %d leads %" PRIu64 " tasks, numbered from 0: %s", rank,
                        notes->tasks, event_text(first, event));
        finding_say(finding, "task %" PRIu64 " counts there%s: %s", now->task,
                    again ? " once more" : "", event_text(now->event, event));
        finding_show(finding, first);
        finding_show(finding, now->event);
    }
}

/* The job is over, and the rank led it. */
static void judge_open(struct judging *judging, int rank, const struct task_notes *notes, bool died)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_W_ONCE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d leads %" PRIu64 " tasks: %s", rank, notes->tasks,
                event_text(notes->began, event));
    if (died)
        finding_say(finding,
                    "it died before task %" PRIu64 " had counted, and in no rank that "
                    "leads all tasks have",
                    notes->first_open);
    else
        finding_say(finding, "the result of task %" PRIu64 " never counts there",
                    notes->first_open);
    finding_show(finding, notes->began);
    finding_decide_at_end(finding);
}

static void judge_end(struct judging *judging, const struct task_notes *notes, int ranks)
{
    bool complete = false;
    for (int rank = 0; rank < ranks; rank++)
        complete = complete || (notes[rank].leads && notes[rank].first_open == notes[rank].tasks);
    for (int rank = 0; rank < ranks; rank++) {
        bool died = lives_is_dead(&judging->reading.lives, rank);
        if (notes[rank].leads && notes[rank].first_open < notes[rank].tasks && !(died && complete))
            judge_open(judging, rank, &notes[rank], died);
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
    struct task_notes *notes = memory_new((size_t)histories->ranks, sizeof *notes);
    for (int rank = 0; rank < histories->ranks; rank++) {
        read_rank(&histories->of[rank], &notes[rank]);
        judging_saw(judging, CLAIM_W_ONCE, notes[rank].count);
        judge_counted(judging, rank, &notes[rank]);
    }
    if (judging->facts->end == RUN_FINISHED)
        judge_end(judging, notes, histories->ranks);
    for (int rank = 0; rank < histories->ranks; rank++)
        free(notes[rank].counted);
    free(notes);
}

const struct oracle oracle_tasks = {.judge = judge_tasks, .needs_sound_traces = true};
