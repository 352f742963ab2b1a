/* B.empty: a blocking checkpoint finds the channels empty. No application message is sent before
 * its sender's checkpoint of a line and delivered after the receiver's, nor the other way round.
 * Judged on the history of every incarnation that takes a checkpoint.
 *
 *     rank 0:  send m   checkpoint 1                 m is sent after 0 checkpoints, and delivered
 *     rank 1:           checkpoint 1   recv m        after 1: it crosses line 1
 *
 * For each pair of a send and a delivery the newest line at each end is found by binary search. If
 * they are the same nothing was crossed. If not, the line crossed first is the next one of the end
 * that has the older line. It is reported only if both have taken that line: if the other end never
 * does, the line was not finished. */
#include "oracles/history_claims/message_pass.h"

#include <inttypes.h>

void crossing_begin(const struct passage *passage)
{
    for (int rank = 0; rank < passage->histories->ranks; rank++) {
        const struct history *history = &passage->histories->of[rank];
        for (size_t i = 0; i < history->checkpoint_count; i++)
            if (history->checkpoint[i].event.incarnation == passage->pass->incarnation)
                judging_saw(passage->judging, CLAIM_B_EMPTY, 1);
    }
}

/* How many checkpoints of the history were taken before `ticks`. */
static size_t taken_before(const struct history *history, uint64_t ticks)
{
    size_t low = 0, high = history->checkpoint_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->checkpoint[middle].ticks < ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A line is a number in an incarnation: a protocol may count anew after a restart. */
struct line_taken {
    int incarnation;
    uint64_t number;
};

static struct line_taken line_of(const struct checkpoint *checkpoint)
{
    return (struct line_taken){checkpoint->event.incarnation, checkpoint->line};
}

static struct line_taken line_at(const struct history *history, size_t taken)
{
    return taken == 0 ? (struct line_taken){0, 0} : line_of(&history->checkpoint[taken - 1]);
}

/* Below, at or above 0, as `a` is the older line, the same or the newer one. */
static int compare_lines(struct line_taken a, struct line_taken b)
{
    if (a.incarnation != b.incarnation)
        return a.incarnation < b.incarnation ? -1 : 1;
    return (a.number > b.number) - (a.number < b.number);
}

/* The checkpoint of `line` among the first `taken`, newest first, or NULL. */
static const struct checkpoint *checkpoint_of(const struct history *history, size_t taken,
                                              struct line_taken line)
{
    for (size_t i = taken; i > 0; i--)
        if (compare_lines(line_of(&history->checkpoint[i - 1]), line) == 0)
            return &history->checkpoint[i - 1];
    return NULL;
}

/* One end of a message: which rank, at which event, and its checkpoint of the line crossed. */
struct end {
    struct event_ref event;
    const struct checkpoint *checkpoint;
    const char *when;
};

static void report(const struct passage *passage, const struct channel *channel,
                   const struct sent *sent, const struct end *sender, const struct end *receiver)
{
    char message[MESSAGE_TEXT_BYTES], at[EVENT_TEXT_BYTES], line[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_B_EMPTY, VERDICT_VIOLATION);
    uint64_t number = sender->checkpoint->line;
    finding_say(finding, "rank %d sent %s %s its checkpoint of line %" PRIu64 " (%s): %s",
                channel->source, channel_text(channel, sent->number, message), sender->when, number,
                event_text(sender->checkpoint->event, line), event_text(sender->event, at));
    finding_say(finding, "rank %d delivered it %s its checkpoint of line %" PRIu64 " (%s): %s",
                channel->destination, receiver->when, number,
                event_text(receiver->checkpoint->event, line), event_text(receiver->event, at));
    finding_say(finding,
                "so the message crosses line %" PRIu64
                ": the channels were not empty when the checkpoint was taken",
                number);
    finding_show(finding, sender->event);
    finding_show(finding, sender->checkpoint->event);
    finding_show(finding, receiver->checkpoint->event);
    finding_show(finding, receiver->event);
}

void crossing_pair(void *context, const struct channel *channel, const struct sent *sent,
                   const struct received *received)
{
    const struct passage *passage = context;
    const struct history *from = &passage->histories->of[channel->source];
    const struct history *to = &passage->histories->of[channel->destination];
    size_t sent_taken = taken_before(from, sent->leave ? sent->leave : sent->enter);
    size_t delivered_taken = taken_before(to, received->leave);
    int order = compare_lines(line_at(from, sent_taken), line_at(to, delivered_taken));
    /* A send that is done again: that the first one crossed was told in its own incarnation. */
    bool again = sent->born > received->leave;
    if (order == 0 || received->blind || again ||
        (sent->event.incarnation != passage->pass->incarnation &&
         received->delivered.incarnation != passage->pass->incarnation))
        return;
    /* The first line crossed is the next one of the end that has the older line. It counts only if
     * both have taken it. */
    bool late = order < 0;
    const struct history *low = late ? from : to;
    size_t low_taken = late ? sent_taken : delivered_taken;
    if (low_taken == low->checkpoint_count)
        return;
    const struct checkpoint *after = &low->checkpoint[low_taken];
    const struct checkpoint *before =
        checkpoint_of(late ? to : from, late ? delivered_taken : sent_taken, line_of(after));
    if (before == NULL)
        return;
    struct end sender = {sent->event, late ? after : before, late ? "before" : "after"};
    struct end receiver = {received->delivered, late ? before : after, late ? "after" : "before"};
    report(passage, channel, sent, &sender, &receiver);
}
