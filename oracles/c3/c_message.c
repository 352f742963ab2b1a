/* How findings of family C speak of a message: its name, and where its ends stand. */
#include "oracles/c3/c_message.h"

#include <inttypes.h>
#include <stdio.h>

static const char *text_of(const struct c_message *message, char buffer[MESSAGE_TEXT_BYTES])
{
    const struct channel *channel = message->channel;
    return message_text(channel->source, channel->destination, channel->comm, channel->tag,
                        message->sent->number, buffer);
}

static void show_mark(struct finding *finding, const struct mark *mark)
{
    if (mark->there)
        finding_show(finding, mark->event);
}

void c_show_line(struct finding *finding, const struct rank_lines *rank, uint64_t number)
{
    const struct line *line = lines_find(rank, number);
    if (line == NULL)
        return;
    show_mark(finding, &line->checkpoint);
    show_mark(finding, &line->stop);
}

const char *c_stand_text(const struct rank_lines *rank, uint64_t number, uint64_t ticks,
                         char buffer[STAND_TEXT_BYTES])
{
    char event[EVENT_TEXT_BYTES];
    const struct line *line = lines_find(rank, number);
    enum standing standing = lines_standing(rank, number, ticks);
    buffer[0] = '\0';
    if (standing == STANDS_BEYOND && line != NULL && line->stop.there)
        snprintf(buffer, STAND_TEXT_BYTES, "beyond its stop-log line %" PRIu64 " (%s)", number,
                 event_text(line->stop.event, event));
    else if (standing == STANDS_BEYOND)
        snprintf(buffer, STAND_TEXT_BYTES, "beyond line %" PRIu64, number);
    else if (standing == STANDS_LOGGING)
        snprintf(buffer, STAND_TEXT_BYTES, "logging, after its checkpoint of line %" PRIu64 " (%s)",
                 number, event_text(line->checkpoint.event, event));
    else if (line != NULL && line->checkpoint.there)
        snprintf(buffer, STAND_TEXT_BYTES, "before its checkpoint of line %" PRIu64 " (%s)", number,
                 event_text(line->checkpoint.event, event));
    else
        snprintf(buffer, STAND_TEXT_BYTES, "before any checkpoint of line %" PRIu64, number);
    return buffer;
}

struct finding *c_message_finding(const struct c_pass *pass, const struct c_message *message,
                                  enum claim_id claim, uint64_t line)
{
    char name[MESSAGE_TEXT_BYTES], stand[STAND_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, claim, VERDICT_VIOLATION);
    if (finding == NULL)
        return NULL;
    finding_say(finding, "rank %d sent %s %s: %s", message->channel->source, text_of(message, name),
                c_stand_text(message->from, line, message->sent->leave, stand),
                event_text(message->sent->event, event));
    finding_say(finding, "rank %d delivered it %s: %s", message->channel->destination,
                c_stand_text(message->to, line, message->received->leave, stand),
                event_text(message->received->delivered, event));
    finding_show(finding, message->sent->event);
    finding_show(finding, message->received->delivered);
    finding_decide(finding, message->received->delivered);
    c_show_line(finding, message->from, line);
    c_show_line(finding, message->to, line);
    return finding;
}
