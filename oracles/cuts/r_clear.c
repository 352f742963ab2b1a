/* R.clear: when a rank takes its checkpoint of a line, to disk or to another process, all other
 * ranks' ready messages are there and all that was sent to it before them is in its buffer. What
 * crosses the line towards it is what was sent before the sender's own checkpoint. */
#include "oracles/cuts/s_family.h"

#include <inttypes.h>

static void report_not_ready(const struct s_pass *pass, const struct s_note *taken, int peer,
                             const struct s_note *clear)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, CLAIM_R_CLEAR, VERDICT_VIOLATION);
    finding_say(finding, "rank %d took its checkpoint of line %" PRIu64 ": %s", taken->rank,
                taken->line, event_text(taken->event, event));
    finding_show(finding, taken->event);
    if (clear == NULL) {
        finding_say(finding, "the ready message of rank %d never came", peer);
        return;
    }
    finding_say(finding, "the ready message of rank %d came only then: %s", peer,
                event_text(clear->event, event));
    finding_show(finding, clear->event);
}

/* The note that the message was taken in; not one that another message has. */
static struct s_note *find_recorded(const struct s_pass *pass, const struct s_crossing *crossing)
{
    struct s_note *note =
        s_find(pass, NOTE_RECORDED, crossing->line, crossing->destination, crossing->source);
    while (note != NULL &&
           (note->used || note->comm != crossing->comm || note->tag != crossing->tag ||
            !(note->no_hash || crossing->no_hash || note->hash == crossing->hash)))
        note = s_next(pass, note, crossing->source);
    return note;
}

static void report_under_way(const struct s_pass *pass, const struct s_note *taken,
                             const struct s_crossing *crossing, const struct s_note *recorded)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, CLAIM_R_CLEAR, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s before its checkpoint of line %" PRIu64 ": %s",
                crossing->source, s_message_text(crossing, message), crossing->line,
                event_text(crossing->sent, event));
    finding_say(finding, "rank %d took its own: %s", taken->rank, event_text(taken->event, event));
    finding_show(finding, crossing->sent);
    finding_show(finding, taken->event);
    if (recorded == NULL) {
        finding_say(finding, "it was under way then: it had not been delivered, and is not in the "
                             "buffer");
        return;
    }
    finding_say(finding, "it was under way then: it came into the buffer only later: %s",
                event_text(recorded->event, event));
    finding_show(finding, recorded->event);
}

static void judge_ready(const struct s_pass *pass, const struct s_note *taken)
{
    judging_saw(pass->judging, CLAIM_R_CLEAR, 1);
    for (int peer = 0; peer < pass->histories->ranks; peer++) {
        const struct s_note *clear = s_find(pass, NOTE_CLEAR, taken->line, taken->rank, peer);
        if (peer != taken->rank && s_is_rank(pass, peer) &&
            (clear == NULL || clear->ticks > taken->ticks))
            report_not_ready(pass, taken, peer, clear);
    }
}

static void judge_message(const struct s_pass *pass, const struct s_crossing *crossing)
{
    const struct s_note *taken =
        s_find(pass, NOTE_CHECKPOINT, crossing->line, crossing->destination, PEER_ANY);
    struct s_note *recorded = find_recorded(pass, crossing);
    if (recorded != NULL)
        recorded->used = true;
    if (!crossing->optional && (recorded == NULL || recorded->ticks > taken->ticks))
        report_under_way(pass, taken, crossing, recorded);
}

void r_judge_clear(struct s_pass *pass)
{
    for (size_t i = 0; i < pass->note_count; i++) {
        const struct s_note *note = &pass->note[i];
        pass->note[i].used = false;
        if (note->kind == NOTE_CHECKPOINT && s_tells_channels(pass, note->line))
            judge_ready(pass, note);
    }
    for (size_t i = 0; i < pass->crossing_count; i++)
        if (s_tells_channels(pass, pass->crossing[i].line))
            judge_message(pass, &pass->crossing[i]);
}
