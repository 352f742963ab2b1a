/* H.probe: a receive that names the source and the tag of a message that a probe found gets that
 * message. Messages are told apart by their length: a probe shows no bytes. Judged in each process
 * for itself. A wildcard receive may take the message as well: then nothing is known of the probe
 * any more. */
#include "base/memory.h"
#include "oracles/judging.h"

#include <inttypes.h>
#include <stdlib.h>

/* A message that a probe found, until a receive takes it. */
struct found {
    struct event_ref event;
    int rank; /* that the process is */
    const struct record *record;
    uint32_t request; /* of the receive that was posted for it; 0: none yet */
    struct event_ref posted;
};

struct probes {
    struct judging *judging;
    int incarnation;
    size_t count, room;
    struct found *found; /* owned */
};

static void forget(struct probes *probes, size_t index)
{
    probes->found[index] = probes->found[--probes->count];
}

/* A later probe of the same process that found the same channel's first message stands for it. */
static void take_probe(struct probes *probes, const struct stream_event *event)
{
    const struct record *record = event->record;
    for (size_t i = probes->count; i > 0; i--) {
        const struct found *found = &probes->found[i - 1];
        if (found->rank == event->rank && found->request == 0 &&
            found->record->comm == record->comm && found->record->peer == record->peer &&
            found->record->tag == record->tag)
            forget(probes, i - 1);
    }
    /* A message that MPI_Mprobe found is out of reach of other receives. */
    if (record->request != 0 || record->peer < 0 || record->bytes == BYTES_UNKNOWN)
        return;
    probes->found = memory_room(probes->found, probes->count, &probes->room, sizeof *probes->found);
    probes->found[probes->count++] = (struct found){
        .event = event_of(event->trace, event->index), .rank = event->rank, .record = record};
}

/* A message that its sender has cancelled is gone, although a probe found it. */
static bool cancels(const struct trace_set *traces, int rank)
{
    for (size_t i = 0; i < traces->count; i++)
        for (uint64_t at = 0; traces->trace[i].rank == rank && at < traces->trace[i].count; at++)
            if (traces->trace[i].record[at].kind == RECORD_COMPLETE &&
                (traces->trace[i].record[at].flags & FLAG_CANCELLED))
                return true;
    return false;
}

static void compare(const struct probes *probes, const struct found *found,
                    const struct stream_event *event)
{
    const struct record *probe = found->record, *got = event->record;
    if (got->error != 0 || got->peer < 0 || (got->flags & (FLAG_CANCELLED | FLAG_FREED)) ||
        got->bytes == BYTES_UNKNOWN)
        return;
    judging_saw(probes->judging, CLAIM_H_PROBE, 1);
    if (got->bytes == probe->bytes || cancels(probes->judging->traces, probe->peer))
        return;
    char message[MESSAGE_TEXT_BYTES], text[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(probes->judging, CLAIM_H_PROBE, VERDICT_VIOLATION);
    message_text(probe->peer, found->rank, probe->comm, probe->tag, 0, message);
    finding_say(finding, "rank %d probed and found %s with %" PRIu64 " bytes: %s", found->rank,
                message, probe->bytes, event_text(found->event, text));
    finding_show(finding, found->event);
    if (found->request != 0)
        finding_show(finding, found->posted);
    struct event_ref delivered = event_of(event->trace, event->index);
    finding_say(finding,
                "its next receive of that source and tag got a message of %" PRIu64 " bytes: %s",
                got->bytes, event_text(delivered, text));
    finding_show(finding, delivered);
}

static bool covers(int32_t wanted, int32_t any, int32_t of)
{
    return wanted == any || wanted == of;
}

static void take_receive(struct probes *probes, const struct stream_event *event)
{
    const struct record *record = event->record;
    for (size_t i = probes->count; i > 0; i--) {
        struct found *found = &probes->found[i - 1];
        const struct record *probe = found->record;
        if (found->rank != event->rank || found->request != 0 || probe->comm != record->comm ||
            !covers(record->want_peer, PEER_ANY, probe->peer) ||
            !covers(record->want_tag, TAG_ANY, probe->tag))
            continue;
        bool named = record->want_peer == probe->peer && record->want_tag == probe->tag;
        if (named && record->thread == probe->thread && record->request != 0) {
            found->request = record->request;
            found->posted = event_of(event->trace, event->index);
            continue;
        }
        if (named && record->thread == probe->thread && !event->in_progress)
            compare(probes, found, event);
        forget(probes, i - 1);
    }
}

static void take_completion(struct probes *probes, const struct stream_event *event)
{
    for (size_t i = probes->count; i > 0; i--)
        if (probes->found[i - 1].rank == event->rank && event->record->request != 0 &&
            probes->found[i - 1].request == event->record->request) {
            if (!event->in_progress)
                compare(probes, &probes->found[i - 1], event);
            forget(probes, i - 1);
        }
}

static void forget_rank(struct probes *probes, int rank)
{
    for (size_t i = probes->count; i > 0; i--)
        if (probes->found[i - 1].rank == rank)
            forget(probes, i - 1);
}

/* Each incarnation is passed: a process is judged in its own. */
static void on_event(void *context, const struct stream_event *event)
{
    struct probes *probes = context;
    const struct record *record = event->record;
    if (event->trace->incarnation != probes->incarnation)
        return;
    bool restored = record->kind == RECORD_NOTE && record->tag == NOTE_RESTORED;
    if (event->restarted || restored)
        forget_rank(probes, event->rank);
    if (record->level != LEVEL_APP || (record->flags & FLAG_NEGATIVE) != 0)
        return;
    if (record->kind == RECORD_PROBE && !event->in_progress && record->error == 0)
        take_probe(probes, event);
    else if (record->kind == RECORD_RECV && (record->flags & FLAG_MATCHED) == 0)
        take_receive(probes, event);
    else if (record->kind == RECORD_COMPLETE)
        take_completion(probes, event);
}

static void on_end(void *context)
{
    struct probes *probes = context;
    free(probes->found);
    free(probes);
}

static void listen(struct judging *judging, struct pass *pass)
{
    if (!judging->asked[CLAIM_H_PROBE])
        return;
    struct probes *probes = memory_new(1, sizeof *probes);
    *probes = (struct probes){.judging = judging, .incarnation = pass->incarnation};
    pass_listen(pass, &(struct listener){.context = probes, .event = on_event, .end = on_end});
}

const struct oracle oracle_probe = {.application = listen, .needs_sound_traces = true};
