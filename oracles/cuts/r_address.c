/* R.address: once a process says that a rank is reached elsewhere, nothing goes from it to where
 * the rank was before, through the communicator it named, unless that process is another rank by
 * now. And the application never sees a rank that is none of its own. */
#include "oracles/judging.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* A process at which one process says that a rank is no more, through one communicator. */
struct old_place {
    uint32_t comm;
    int process;
    int rank;
    struct event_ref note;
};

struct sender {
    struct judging *judging;
    const struct trace *trace;
    int ranks;
    int *process;   /* by rank: where it is reached */
    int *before;    /* by rank: where it was before that; -1: nowhere */
    bool *moved;    /* by rank: it has been reached elsewhere */
    uint32_t *comm; /* by rank: through what */
    size_t old_count, old_room;
    struct old_place *old; /* owned */
};

/* NULL: none. */
static struct old_place *find_old(const struct sender *sender, int process, uint32_t comm)
{
    for (size_t i = 0; i < sender->old_count; i++)
        if (sender->old[i].process == process && sender->old[i].comm == comm)
            return &sender->old[i];
    return NULL;
}

static void keep_old(struct sender *sender, struct old_place old)
{
    struct old_place *place = find_old(sender, old.process, old.comm);
    if (place == NULL) {
        sender->old =
            memory_room(sender->old, sender->old_count, &sender->old_room, sizeof *sender->old);
        place = &sender->old[sender->old_count++];
    }
    *place = old;
}

/* The same move may be told of several communicators, one after the other. */
static void take_note(struct sender *sender, uint64_t index)
{
    const struct record *note = &sender->trace->record[index];
    if (note->bytes >= (uint64_t)sender->ranks || note->peer < 0 || note->peer >= sender->ranks)
        return;
    int rank = (int)note->bytes;
    if (sender->process[rank] != note->peer)
        sender->before[rank] = sender->process[rank];
    int before = sender->before[rank];
    if (before >= 0)
        keep_old(sender,
                 (struct old_place){note->comm, before, rank, event_of(sender->trace, index)});
    sender->moved[rank] |= before != note->peer;
    sender->comm[rank] = note->comm;
    sender->process[rank] = note->peer;
}

/* A rank of the application is reached there, as far as the sender knows. */
static bool is_somebody(const struct sender *sender, int process)
{
    for (int rank = 0; rank < sender->ranks; rank++)
        if (sender->process[rank] == process)
            return true;
    return false;
}

static void report_old(const struct sender *sender, const struct old_place *old, uint64_t index)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(sender->judging, CLAIM_R_ADDRESS, VERDICT_VIOLATION);
    finding_say(finding, "process %d says that rank %d is reached elsewhere: %s",
                sender->trace->rank, old->rank, event_text(old->note, event));
    finding_say(finding, "it sends to where the rank was, on the same communicator: %s",
                event_text(event_of(sender->trace, index), event));
    finding_show(finding, old->note);
    finding_show(finding, event_of(sender->trace, index));
}

static void judge_send(struct sender *sender, uint64_t index)
{
    const struct record *record = &sender->trace->record[index];
    if (record->peer < 0 || record->peer >= sender->ranks)
        return;
    for (int rank = 0; rank < sender->ranks; rank++)
        if (sender->moved[rank] && sender->process[rank] == record->peer &&
            sender->comm[rank] == record->comm)
            judging_saw(sender->judging, CLAIM_R_ADDRESS, 1);
    const struct old_place *old = find_old(sender, record->peer, record->comm);
    if (old != NULL && !is_somebody(sender, record->peer))
        report_old(sender, old, index);
}

/* What the application names or is told as its peer. */
static void judge_peer(struct judging *judging, const struct lives *lives,
                       const struct trace *trace, uint64_t index)
{
    char event[EVENT_TEXT_BYTES];
    const struct record *record = &trace->record[index];
    if (record->peer < 0 || record->peer >= lives->ranks || lives->application[record->peer] ||
        (record->flags & FLAG_NEGATIVE))
        return;
    struct finding *finding = judging_find(judging, CLAIM_R_ADDRESS, VERDICT_VIOLATION);
    finding_say(finding, "the application sees rank %" PRId32 " at process %d: %s", record->peer,
                trace->rank, event_text(event_of(trace, index), event));
    finding_say(finding, "that is a process in reserve, and no rank of the application");
    finding_show(finding, event_of(trace, index));
}

static bool is_of_peer(unsigned kind)
{
    return kind == RECORD_SEND || kind == RECORD_RECV || kind == RECORD_COMPLETE ||
           kind == RECORD_PROBE;
}

static void judge_trace(struct sender *sender, const struct lives *lives)
{
    const struct trace *trace = sender->trace;
    for (int rank = 0; rank < sender->ranks; rank++) {
        sender->process[rank] = lives->application[rank] ? rank : -1;
        sender->moved[rank] = false;
        sender->before[rank] = -1;
    }
    sender->old_count = 0;
    for (uint64_t at = 0; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind == RECORD_NOTE && record->tag == NOTE_ADDRESS)
            take_note(sender, at);
        else if (kind == RECORD_SEND && record->level == LEVEL_WIRE)
            judge_send(sender, at);
        else if (is_of_peer(kind) && record->level == LEVEL_APP)
            judge_peer(sender->judging, lives, trace, at);
    }
}

static bool tells_addresses(const struct trace_set *traces)
{
    uint64_t index;
    for (size_t i = 0; i < traces->count; i++)
        if (note_find(&traces->trace[i], NOTE_ADDRESS, LINE_ANY, UINT64_MAX, &index))
            return true;
    return false;
}

static void judge_traces(struct judging *judging, const struct lives *lives)
{
    const struct trace_set *traces = judging->traces;
    size_t room = (size_t)traces->ranks;
    struct sender sender = {.judging = judging,
                            .ranks = traces->ranks,
                            .process = memory_new(room, sizeof *sender.process),
                            .moved = memory_new(room, sizeof *sender.moved),
                            .comm = memory_new(room, sizeof *sender.comm),
                            .before = memory_new(room, sizeof *sender.before)};
    for (size_t i = 0; i < traces->count; i++) {
        sender.trace = &traces->trace[i];
        judge_trace(&sender, lives);
    }
    free(sender.process);
    free(sender.before);
    free(sender.moved);
    free(sender.comm);
    free(sender.old);
}

static void judge_addresses(struct judging *judging)
{
    const struct lives *lives = &judging->reading.lives;
    if (judging->asked[CLAIM_R_ADDRESS] && (lives->moved || tells_addresses(judging->traces)))
        judge_traces(judging, lives);
}

const struct oracle oracle_address = {.judge = judge_addresses, .needs_sound_traces = true};
