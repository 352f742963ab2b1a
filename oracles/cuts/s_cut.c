/* S.cut: the recorded states form a consistent cut: what a rank delivered before its checkpoint of
 * a line was not sent after the sender's. A message is sent and delivered inside the calls that do
 * so; a call in which the checkpoint lies delivers after it, and may have sent on either side.
 * What collective calls carry: s_flows.c. */
#include "oracles/cuts/s_family.h"

#include <inttypes.h>
#include <stdio.h>

static void report(const struct s_pass *pass, const struct channel *channel,
                   const struct sent *sent, const struct received *received,
                   const struct s_note *from, const struct s_note *to)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES], line[EVENT_TEXT_BYTES];
    const struct s_crossing crossing = {.comm = channel->comm,
                                        .tag = channel->tag,
                                        .source = channel->source,
                                        .destination = channel->destination,
                                        .number = sent->number};
    struct finding *finding = judging_find(pass->judging, CLAIM_S_CUT, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s after its checkpoint of line %" PRIu64 " (%s): %s",
                channel->source, s_message_text(&crossing, message), from->line,
                event_text(from->event, line), event_text(sent->event, event));
    finding_say(finding, "rank %d delivered it before its own (%s): %s", channel->destination,
                event_text(to->event, line), event_text(received->delivered, event));
    finding_say(finding,
                "so line %" PRIu64 " has received what it has not sent: it is no consistent cut",
                from->line);
    finding_show(finding, from->event);
    finding_show(finding, sent->event);
    finding_show(finding, received->delivered);
    finding_show(finding, to->event);
}

void s_judge_delivery(struct s_pass *pass, const struct channel *channel, const struct sent *sent,
                      const struct received *received)
{
    for (size_t i = 0; i < pass->line_count; i++) {
        uint64_t line = pass->line[i];
        const struct s_note *from = s_find(pass, NOTE_CHECKPOINT, line, channel->source, PEER_ANY);
        const struct s_note *to =
            s_find(pass, NOTE_CHECKPOINT, line, channel->destination, PEER_ANY);
        if (from == NULL || to == NULL || sent->enter <= from->ticks || sent->enter >= to->ticks)
            continue;
        /* The receiver had not taken its own when it was sent: nothing but the protocol kept it
         * from being delivered before. */
        judging_saw(pass->judging, CLAIM_S_CUT, 1);
        if (received->leave <= to->ticks)
            report(pass, channel, sent, received, from, to);
    }
}
