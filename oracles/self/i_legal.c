/* I.legal: what went over the wire, with our faults in it, is something that MPI allows: nothing
 * overtaken, made up, repeated or changed, nothing lost between messages that arrived, no
 * synchronous send complete without its receive. Judged on each incarnation by itself; what is
 * found is ours (or the MPI library's) and never the protocol's. Messages that nobody receives
 * before all ranks have finalized are the program's doing: H.loss speaks of them.
 *
 * The passage over the wire also collects what I.complete and I.installed need: one reading serves
 * all three. */
#include "oracles/self/i_legal.h"
#include "oracles/matching/match.h"

#include "trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>

static void say_channel(struct finding *finding, const struct channel *channel)
{
    finding_say(finding, "on the wire, rank %d to rank %d, tag %d, communicator %#" PRIx32,
                channel->source, channel->destination, channel->tag, channel->comm);
}

static void say_event(struct finding *finding, const char *what, struct event_ref event)
{
    char text[EVENT_TEXT_BYTES];
    finding_say(finding, "%s: %s", what, event_text(event, text));
    finding_show(finding, event);
}

static struct finding *find(struct judging *judging, const struct channel *channel)
{
    struct finding *finding = judging_find(judging, CLAIM_I_LEGAL, VERDICT_HARNESS_ERROR);
    say_channel(finding, channel);
    return finding;
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    struct judging *judging = context;
    (void)channel;
    (void)sent;
    (void)received;
    judging_saw(judging, CLAIM_I_LEGAL, 1);
}

static void report_undelivered(struct judging *judging, const struct channel *channel,
                               const struct sent *sent, const struct pair *other)
{
    bool returned = sent->synchronous && sent->returned != 0;
    if (other == NULL && !returned)
        return;
    struct finding *finding = find(judging, channel);
    if (other != NULL) {
        say_event(finding, "a message was sent and never received", sent->event);
        say_event(finding, "a later one of the same channel was received", other->delivered);
    } else {
        say_event(finding, "a synchronous send returned, but no receive took its message",
                  sent->event);
    }
}

static void report_order(struct judging *judging, const struct channel *channel,
                         const struct sent *sent, const struct received *received,
                         const struct pair *other)
{
    struct finding *finding = find(judging, channel);
    say_event(finding, "a message was sent", sent->event);
    if (other != NULL)
        say_event(finding, "a later one was received before it", other->delivered);
    if (received != NULL)
        say_event(finding, "it was received only then", received->delivered);
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct judging *judging = context;
    struct finding *finding;
    switch (anomaly) {
    case ANOMALY_UNDELIVERED:
        report_undelivered(judging, channel, sent, other);
        break;
    case ANOMALY_ORDER:
        report_order(judging, channel, sent, received, other);
        break;
    case ANOMALY_DUPLICATE:
        finding = find(judging, channel);
        say_event(finding, "a message was received", other->delivered);
        say_event(finding, "it was received again", received->delivered);
        break;
    case ANOMALY_ORPHAN:
    case ANOMALY_UNDONE:
        finding = find(judging, channel);
        say_event(finding, "a message was received that nobody had sent", received->delivered);
        break;
    case ANOMALY_PAYLOAD:
        /* The buffer of a non-blocking send is the program's to spoil before it is complete. */
        if (!sent->blocking)
            break;
        finding = find(judging, channel);
        say_event(finding, "a message was sent", sent->event);
        say_event(finding, "it was received with other bytes", received->delivered);
        break;
    case ANOMALY_EARLY_RETURN:
        finding = find(judging, channel);
        say_event(finding, "a synchronous send returned", sent->event);
        say_event(finding, "only then its receive was posted", received->posted);
        break;
    case ANOMALY_LOST_SIGHT:
    case ANOMALY_UNSEEN:
        break; /* what follows on that communicator at that rank is not judged */
    }
}

static void keep_evidence(struct judging *judging, const struct stream_event *event)
{
    const struct record *record = event->record;
    struct evidence evidence = {event_of(event->trace, event->index),
                                record->comm,
                                record->tag,
                                record->peer,
                                record->bytes,
                                record->error,
                                record->request};
    bool kills = evidence_kills(judging, &evidence);
    judging->faulted |= kills;
    if (judging->evidence_count < EVIDENCE_KEPT - (kills ? 0 : EVIDENCE_FOR_KILLS))
        judging->evidence[judging->evidence_count++] = evidence;
    else
        judging->evidence_lost = true;
}

static void on_event(void *context, const struct stream_event *event)
{
    if (event->record->level != LEVEL_WIRE && event->record->kind == RECORD_FAULT)
        keep_evidence(context, event);
}

static void listen(struct judging *judging, struct pass *pass)
{
    pass_listen(pass,
                &(struct listener){
                    .context = judging, .event = on_event, .pair = on_pair, .anomaly = on_anomaly});
}

/* The plan held messages of this rank, or chose for it. */
static bool is_steered(const struct judging *judging, const struct trace *trace)
{
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.rank == trace->rank &&
            evidence->event.incarnation == trace->incarnation &&
            (evidence->kind == FAULT_HELD || evidence->kind == FAULT_RELEASED ||
             evidence->kind == FAULT_CHOSEN))
            return true;
    }
    return judging->evidence_lost;
}

static void judge_steering(struct judging *judging)
{
    for (size_t i = 0; i < judging->traces->count; i++)
        if (is_steered(judging, &judging->traces->trace[i]))
            legal_steering(judging, &judging->traces->trace[i]);
}

const struct oracle oracle_legal = {.wire = listen, .judge = judge_steering};
