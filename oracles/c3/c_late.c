/* C.late.log, C.late.ready: what becomes of late messages while the line is made. */
#include "oracles/c3/c_message.h"

#include <inttypes.h>

static void report_not_logged(const struct c_pass *pass, const struct c_message *message,
                              uint64_t line, const struct message_note *note)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = c_message_finding(pass, message, CLAIM_C_LATE_LOG, line);
    const struct line *own = lines_find(message->to, line);
    if (note == NULL) {
        finding_say(finding, "it is late, and rank %d did not log it",
                    message->channel->destination);
        return;
    }
    if (note->line != line)
        finding_say(finding, "it is late, and was logged for line %" PRIu64 ": %s", note->line,
                    event_text(note->event, event));
    else if (own != NULL && own->stop.there && note->ticks > own->stop.ticks)
        finding_say(finding, "it is late, and was logged only after logging had stopped: %s",
                    event_text(note->event, event));
    else
        finding_say(finding,
                    "it was delivered with hash %#" PRIx64 " and logged with hash %#" PRIx64 ": %s",
                    message->received->hash, note->hash, event_text(note->event, event));
    finding_show(finding, note->event);
}

static void judge_log(const struct c_pass *pass, const struct c_message *message,
                      const struct message_note *note)
{
    uint64_t line = message->delivered_epoch;
    const struct line *own = lines_find(message->to, line);
    judging_saw(pass->judging, CLAIM_C_LATE_LOG, 1);
    if (note == NULL || note->line != line ||
        (own != NULL && own->stop.there && note->ticks > own->stop.ticks) ||
        (!note->no_hash && !message->received->no_hash && note->hash != message->received->hash))
        report_not_logged(pass, message, line, note);
}

/* A rank may say that it is ready inside the very call that delivers its last late message, once
 * that is in the log. */
static void judge_ready(const struct c_pass *pass, const struct c_message *message,
                        const struct message_note *note)
{
    char event[EVENT_TEXT_BYTES];
    uint64_t line = message->delivered_epoch;
    const struct line *own = lines_find(message->to, line);
    if (own == NULL || !own->ready.there)
        return;
    judging_saw(pass->judging, CLAIM_C_LATE_READY, 1);
    if (own->ready.ticks > message->received->leave)
        return;
    struct call_span span = call_span_of(message->trace, message->received->delivered.index);
    if (own->ready.ticks >= span.enter && (note == NULL || note->ticks < own->ready.ticks))
        return;
    struct finding *finding = c_message_finding(pass, message, CLAIM_C_LATE_READY, line);
    finding_say(finding, "it is late, and rank %d had said before that it had them all: %s",
                message->channel->destination, event_text(own->ready.event, event));
    finding_show(finding, own->ready.event);
    finding_decide(finding, own->ready.event);
}

void c_judge_late(const struct c_pass *pass, const struct c_message *message,
                  const struct message_note *note)
{
    judge_log(pass, message, note);
    judge_ready(pass, message, note);
}

/* A message that was never delivered, sent before the line of which its receiver was ready. */
void c_judge_undelivered(const struct c_pass *pass, const struct channel *channel,
                         const struct sent *sent)
{
    char name[MESSAGE_TEXT_BYTES], stand[STAND_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct rank_lines *from = &pass->lines->of[channel->source];
    const struct rank_lines *to = &pass->lines->of[channel->destination];
    for (size_t i = 0; i < to->count; i++) {
        const struct line *line = &to->line[i];
        if (!line->ready.there || lines_standing(from, line->number, sent->leave) != STANDS_BEFORE)
            continue;
        judging_saw(pass->judging, CLAIM_C_LATE_READY, 1);
        struct finding *finding =
            judging_find(pass->judging, CLAIM_C_LATE_READY, VERDICT_VIOLATION);
        finding_say(finding, "rank %d sent %s %s: %s", channel->source,
                    message_text(channel->source, channel->destination, channel->comm, channel->tag,
                                 sent->number, name),
                    c_stand_text(from, line->number, sent->leave, stand),
                    event_text(sent->event, event));
        finding_say(finding, "rank %d never delivered it in this incarnation",
                    channel->destination);
        finding_say(finding,
                    "and yet it said that it had all late messages of line %" PRIu64 ": %s",
                    line->number, event_text(line->ready.event, event));
        finding_show(finding, sent->event);
        c_show_line(finding, from, line->number);
        finding_show(finding, line->ready.event);
        finding_decide(finding, line->ready.event);
        return;
    }
}
