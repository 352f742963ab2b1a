/* R.atomic: a rank never acts on a notification inside a call that sends: it is handled before the
 * send or after it. Where the call has sent and waits for something else, for the match of a
 * synchronous send or for the other half of a sendrecv, it may, once something has gone out inside
 * the call, or if the rank was restored inside it, for then it sent in an earlier life; and where
 * it sends to nobody. */
#include "oracles/judging.h"

#include "trace/calls.h"

#include <inttypes.h>

/* It goes on to wait for something else when the message is sent. */
static bool waits(const struct record *record)
{
    enum call_role role = call_role(record->call);
    return record->call == CALL_MPI_Ssend || record->call == CALL_MPI_Ssend_c ||
           role == ROLE_SENDRECV || role == ROLE_SENDRECV_REPLACE;
}

/* Something went out inside the call, from whatever thread, or the rank was restored there, or it
 * is for this rank itself: then the message has gone. */
static bool has_sent(const struct judging *judging, const struct trace *trace, uint64_t call,
                     uint64_t note)
{
    const struct lives *lives = &judging->reading.lives;
    const struct life *life = lives_find(lives, event_of(trace, call));
    const struct record *own = &trace->record[call];
    bool sent =
        life == NULL || life->rank == lives_peer(lives, trace->incarnation, own->enter, own->peer);
    for (uint64_t at = call + 1; at < note && !sent; at++) {
        const struct record *record = &trace->record[at];
        sent = (record_is_event(record) && record->level == LEVEL_WIRE &&
                record->kind == RECORD_SEND) ||
               (record->kind == RECORD_NOTE && record->tag == NOTE_RESTORED);
    }
    return sent;
}

/* The send of the application that the note was made inside of, or false. MPI_Startall has a record
 * for each request, one after the other. */
static bool find_send(const struct judging *judging, const struct trace *trace, uint64_t note,
                      uint64_t *index)
{
    const struct record *made = &trace->record[note];
    for (uint64_t at = note; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        if (!record_is_of_app(record) || record->thread != made->thread)
            continue;
        uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
        if (leave != 0 && leave <= made->enter)
            return false;
        *index = at - 1;
        if (record->kind == RECORD_SEND && record->peer != PEER_NULL &&
            !(waits(record) && has_sent(judging, trace, at - 1, note)))
            return true;
    }
    return false;
}

static void judge_note(struct judging *judging, const struct trace *trace, uint64_t note)
{
    char event[EVENT_TEXT_BYTES];
    uint64_t index;
    judging_saw(judging, CLAIM_R_ATOMIC, 1);
    if (!find_send(judging, trace, note, &index))
        return;
    struct finding *finding = judging_find(judging, CLAIM_R_ATOMIC, VERDICT_VIOLATION);
    finding_say(finding, "process %d handled the notification of line %" PRIu64 ": %s", trace->rank,
                trace->record[note].bytes, event_text(event_of(trace, note), event));
    finding_say(finding, "it was inside %s, which sends: %s", call_name(trace->record[index].call),
                event_text(event_of(trace, index), event));
    finding_say(finding, "so the message is on neither side of the line");
    finding_show(finding, event_of(trace, index));
    finding_show(finding, event_of(trace, note));
}

static void judge_atomic(struct judging *judging)
{
    for (size_t i = 0; i < judging->traces->count; i++) {
        const struct trace *trace = &judging->traces->trace[i];
        uint64_t at = trace->count;
        while (note_before(trace, at, &at))
            if (trace->record[at].tag == NOTE_NOTIFIED)
                judge_note(judging, trace, at);
    }
}

const struct oracle oracle_atomic = {.judge = judge_atomic, .needs_sound_traces = true};
