/* I.legal, at the sender: what was held is let go once and in the order in which it was sent, what
 * is sent after a held message does not go before it, a synchronous send is not complete while its
 * message is held, and nothing is still held when its rank has finalized. At the receiver: the
 * message taken is the one that is said to be chosen. (That receivers see no message overtaken,
 * lost or repeated is judged on the messages themselves, in i_legal.c.)
 *
 * One passage over the trace of one rank, in the order of its records. */
#include "oracles/self/i_legal.h"

#include "base/memory.h"
#include "plan/action.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

/* A message that is held, or one that was sent after it and is not (yet) known to be. */
struct kept {
    uint64_t sent;  /* index of its SEND record */
    uint64_t since; /* of its HELD record; of a suspect: of the one it was sent after */
    bool tags_apart;
    uint64_t completed; /* index + 1 of the COMPLETE record of its request; 0: none yet */
};

/* Grows; all in the order in which they came. */
struct kept_list {
    struct kept *entry;
    size_t count;
    size_t room;
};

struct passage {
    struct judging *judging;
    const struct trace *trace;
    struct kept_list held;
    struct kept_list suspects; /* sends after a held message that no HELD record follows yet */
    struct kept_list chosen;   /* `sent`: the record of the call, `since`: the CHOSEN record */
    bool finalized;
};

static void keep(struct kept_list *list, struct kept entry)
{
    list->entry = memory_room(list->entry, list->count, &list->room, sizeof *list->entry);
    list->entry[list->count++] = entry;
}

static void drop(struct kept_list *list, size_t i)
{
    list->count--;
    memmove(&list->entry[i], &list->entry[i + 1], (list->count - i) * sizeof *list->entry);
}

/* Place of the message sent in record `sent`, or count. */
static size_t find(const struct kept_list *list, uint64_t sent)
{
    size_t i = 0;
    while (i < list->count && list->entry[i].sent != sent)
        i++;
    return i;
}

/* --- what is said ----------------------------------------------------------------------------- */

static void report(const struct passage *passage, const char *what, uint64_t first, uint64_t second)
{
    char text[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_I_LEGAL, VERDICT_HARNESS_ERROR);
    struct event_ref a = event_of(passage->trace, first), b = event_of(passage->trace, second);
    finding_say(finding, "rank %d, %s: %s", passage->trace->rank, what, event_text(a, text));
    finding_show(finding, a);
    if (second != first)
        finding_show(finding, b);
}

/* --- sends ------------------------------------------------------------------------------------ */

static const struct record *record_at(const struct passage *passage, uint64_t index)
{
    return &passage->trace->record[index];
}

/* One receive could match both. */
static bool same_lane(const struct passage *passage, uint64_t a, uint64_t b, bool tags_apart)
{
    const struct record *first = record_at(passage, a), *second = record_at(passage, b);
    return first->comm == second->comm && first->peer == second->peer &&
           (!tags_apart || first->tag == second->tag);
}

/* Sends of several threads at once have no order. */
static void on_send(struct passage *passage, uint64_t index)
{
    for (size_t i = 0; i < passage->held.count; i++) {
        const struct kept *held = &passage->held.entry[i];
        if (same_lane(passage, held->sent, index, held->tags_apart) &&
            record_at(passage, held->sent)->thread == record_at(passage, index)->thread) {
            keep(&passage->suspects, (struct kept){.sent = index, .since = held->since});
            return;
        }
    }
}

static bool tags_apart(const struct passage *passage, int32_t step)
{
    const struct plan *plan = passage->judging->facts->plan;
    return plan != NULL && step >= 0 && (size_t)step < plan->count && plan->steps[step].tags_apart;
}

/* The send that a HELD or RELEASED record speaks of. */
static bool has_send(const struct passage *passage, const struct record *fault, uint64_t *sent)
{
    *sent = fault->bytes - 1;
    return fault->bytes > 0 && *sent < passage->trace->count &&
           record_at(passage, *sent)->kind == RECORD_SEND;
}

static void on_held(struct passage *passage, uint64_t index)
{
    const struct record *fault = record_at(passage, index);
    uint64_t sent;
    if (!has_send(passage, fault, &sent))
        return;
    judging_saw(passage->judging, CLAIM_I_LEGAL, 1);
    size_t suspect = find(&passage->suspects, sent);
    if (suspect < passage->suspects.count)
        drop(&passage->suspects, suspect);
    keep(
        &passage->held,
        (struct kept){.sent = sent, .since = index, .tags_apart = tags_apart(passage, fault->tag)});
}

/* Whether the call of the record had returned when the other was written. */
static bool returned_before(const struct record *call, const struct record *moment)
{
    uint64_t leave = atomic_load(&call->leave);
    return leave != 0 && (moment == NULL || leave < moment->enter);
}

static void clear_suspects(struct passage *passage, const struct kept *held,
                           const struct record *released)
{
    for (size_t i = passage->suspects.count; i > 0; i--) {
        const struct kept *suspect = &passage->suspects.entry[i - 1];
        if (suspect->since != held->since)
            continue;
        const struct record *send = record_at(passage, suspect->sent);
        if (send->error == 0 && returned_before(send, released))
            report(passage, "a message was sent after a held one and went before it", held->sent,
                   suspect->sent);
        drop(&passage->suspects, i - 1);
    }
}

/* Its call, or that of its request, has returned before the message was let go; `released` is that
 * record, or count: never. A call has its record when it is entered. */
static void judge_synchronous(const struct passage *passage, const struct kept *held,
                              uint64_t released)
{
    const struct record *send = record_at(passage, held->sent);
    const struct record *moment =
        released < passage->trace->count ? record_at(passage, released) : NULL;
    if (!call_is_synchronous(send->call))
        return;
    if (send->request == 0 && returned_before(send, moment))
        report(passage, "a synchronous send returned while its message was held", held->sent,
               moment ? released : held->since);
    else if (held->completed > 0 &&
             returned_before(record_at(passage, held->completed - 1), moment))
        report(passage, "a synchronous send was complete while its message was held", held->sent,
               held->completed - 1);
}

static void on_released(struct passage *passage, uint64_t index)
{
    const struct record *fault = record_at(passage, index);
    uint64_t sent;
    if (!has_send(passage, fault, &sent))
        return;
    size_t place = find(&passage->held, sent);
    if (place == passage->held.count) {
        report(passage, "a message was let go that was not held", sent, index);
        return;
    }
    struct kept held = passage->held.entry[place];
    for (size_t i = 0; i < place && fault->error == 0; i++)
        if (same_lane(passage, passage->held.entry[i].sent, sent,
                      passage->held.entry[i].tags_apart)) {
            report(passage, "a message was let go before one that was sent earlier",
                   passage->held.entry[i].sent, index);
            break;
        }
    judge_synchronous(passage, &held, index);
    drop(&passage->held, place);
    clear_suspects(passage, &held, fault);
}

/* The request of a held message is complete; see judge_synchronous. */
static void on_complete(struct passage *passage, uint64_t index)
{
    const struct record *r = record_at(passage, index);
    if (r->request == 0 || r->error != 0 ||
        (r->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) != 0)
        return;
    for (size_t i = 0; i < passage->held.count; i++)
        if (record_at(passage, passage->held.entry[i].sent)->request == r->request)
            passage->held.entry[i].completed = index + 1;
}

/* --- choices ---------------------------------------------------------------------------------- */

/* The plan names the source, and the evidence says that another was taken. */
static bool is_not_asked_for(const struct passage *passage, const struct record *fault)
{
    const struct plan *plan = passage->judging->facts->plan;
    if (plan == NULL || fault->tag < 0 || (size_t)fault->tag >= plan->count)
        return false;
    const struct plan_step *step = &plan->steps[fault->tag];
    return action_of(step)->evidence == FAULT_CHOSEN && step->choice != PLAN_ANY &&
           step->choice != fault->peer;
}

static void on_chosen(struct passage *passage, uint64_t index)
{
    const struct record *fault = record_at(passage, index);
    if (fault->error == 0 && is_not_asked_for(passage, fault))
        report(passage, "another message was chosen than the plan names", index, index);
    if (fault->error == 0 && fault->bytes > 0 && fault->bytes <= passage->trace->count)
        keep(&passage->chosen, (struct kept){.sent = fault->bytes - 1, .since = index});
}

static bool takes_another(const struct record *taken, const struct record *chosen)
{
    return atomic_load(&taken->leave) != 0 && taken->error == 0 &&
           (taken->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) == 0 &&
           taken->peer != chosen->peer;
}

/* Of a receive with a request the completion says what it took. */
static void judge_choice(const struct passage *passage, const struct kept *chosen)
{
    const struct record *call = record_at(passage, chosen->sent);
    const struct record *said = record_at(passage, chosen->since);
    uint64_t index = chosen->sent;
    unsigned kind = atomic_load(&call->kind);
    if (call->level != LEVEL_WIRE || call->thread != said->thread ||
        (kind != RECORD_RECV && kind != RECORD_PROBE))
        return;
    judging_saw(passage->judging, CLAIM_I_LEGAL, 1);
    if (kind == RECORD_RECV && call->request != 0 && (call->flags & FLAG_MATCHED) == 0) {
        for (index++; index < passage->trace->count; index++) {
            const struct record *r = record_at(passage, index);
            if (atomic_load(&r->kind) == RECORD_COMPLETE && r->level == LEVEL_WIRE &&
                r->request == call->request && (r->flags & FLAG_NEGATIVE) == 0)
                break;
        }
        if (index == passage->trace->count)
            return;
    }
    if (takes_another(record_at(passage, index), said))
        report(passage, "a receive took another message than the one chosen for it", index,
               chosen->since);
}

/* --- the passage ------------------------------------------------------------------------------ */

static void on_fault(struct passage *passage, uint64_t index)
{
    switch (record_at(passage, index)->comm) {
    case FAULT_HELD:
        on_held(passage, index);
        break;
    case FAULT_RELEASED:
        on_released(passage, index);
        break;
    case FAULT_CHOSEN:
        on_chosen(passage, index);
        break;
    default:
        break;
    }
}

static void on_record(struct passage *passage, uint64_t index)
{
    const struct record *r = record_at(passage, index);
    unsigned kind = atomic_load(&r->kind);
    if (kind == RECORD_FAULT)
        on_fault(passage, index);
    if (r->level != LEVEL_WIRE)
        return;
    if (kind == RECORD_SEND && passage->held.count > 0)
        on_send(passage, index);
    else if (kind == RECORD_COMPLETE && passage->held.count > 0)
        on_complete(passage, index);
    else if (kind == RECORD_CALL && call_role(r->call) == ROLE_FINALIZE)
        passage->finalized = atomic_load(&r->leave) != 0 && r->error == 0;
}

/* A rank that died took what it held with it, as a buffer of the library would have gone. */
static void judge_rest(struct passage *passage)
{
    for (size_t i = 0; i < passage->held.count; i++) {
        clear_suspects(passage, &passage->held.entry[i], NULL);
        judge_synchronous(passage, &passage->held.entry[i], passage->trace->count);
        if (passage->finalized)
            report(passage, "a message was held and never handed to the library",
                   passage->held.entry[i].sent, passage->held.entry[i].since);
    }
    for (size_t i = 0; i < passage->chosen.count; i++)
        judge_choice(passage, &passage->chosen.entry[i]);
}

void legal_steering(struct judging *judging, const struct trace *trace)
{
    struct passage passage = {.judging = judging, .trace = trace};
    for (uint64_t i = 0; i < trace->count; i++)
        on_record(&passage, i);
    judge_rest(&passage);
    free(passage.held.entry);
    free(passage.suspects.entry);
    free(passage.chosen.entry);
}
