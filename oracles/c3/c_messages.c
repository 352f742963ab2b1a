/* C.1.2, C.1.3, C.early.list, C.class, C.epoch, C.cell.*: where the two ends of each message of the
 * application stand against the recovery lines, and what the protocol
 * told of it. A message is sent when the call that started its send returns, and delivered when the
 * call that hands it over returns (C3, figure 1). */
#include "oracles/c3/c_message.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- cells --------------------------------------------------------------------------------- */

static const enum claim_id cells[3][3] = {
    [STANDS_BEFORE] = {CLAIM_C_CELL_BEFORE_BEFORE, CLAIM_C_CELL_BEFORE_LOGGING, CLAIM_C_1_3},
    [STANDS_LOGGING] = {CLAIM_C_CELL_LOGGING_BEFORE, CLAIM_C_CELL_LOGGING_LOGGING,
                        CLAIM_C_CELL_LOGGING_BEYOND},
    [STANDS_BEYOND] = {CLAIM_C_1_2, CLAIM_C_1_2, CLAIM_C_CELL_BEYOND_BEYOND}};

static void report_forbidden(const struct c_pass *pass, const struct c_message *message,
                             enum claim_id claim, uint64_t line)
{
    struct finding *finding = c_message_finding(pass, message, claim, line);
    finding_say(finding,
                claim == CLAIM_C_1_2 ? "so what rank %d logged for line %" PRIu64
                                       " may depend on what rank %d did unlogged"
                                     : "so rank %d cannot have logged it for line %" PRIu64
                                       ", and rank %d will not send it again after recovery",
                message->channel->destination, line, message->channel->source);
}

static void judge_cell(const struct c_pass *pass, const struct c_message *message, uint64_t line)
{
    struct judging *judging = pass->judging;
    enum standing sender = lines_standing(message->from, line, message->sent->leave);
    enum standing receiver = lines_standing(message->to, line, message->received->leave);
    enum claim_id cell = cells[sender][receiver];
    bool forbidden = cell == CLAIM_C_1_2 || cell == CLAIM_C_1_3;
    if (forbidden)
        report_forbidden(pass, message, cell, line);
    else
        judging_saw(judging, cell, 1);
    /* The receiver had not stopped when it was sent: nothing but the protocol kept it from being
     * delivered before. */
    if (sender == STANDS_BEYOND &&
        lines_standing(message->to, line, message->sent->leave) != STANDS_BEYOND)
        judging_saw(judging, CLAIM_C_1_2, 1);
    if (sender == STANDS_BEFORE && receiver != STANDS_BEFORE)
        judging_saw(judging, CLAIM_C_1_3, 1);
}

/* Lines that lie before both ends, or after both, say nothing new but for the nearest. */
static void judge_cells(const struct c_pass *pass, const struct c_message *message)
{
    const struct lines *lines = pass->lines;
    uint64_t low = message->sent_epoch, high = message->delivered_epoch;
    if (low > high) {
        low = message->delivered_epoch;
        high = message->sent_epoch;
    }
    for (size_t i = 0; i < lines->taken_count; i++) {
        uint64_t line = lines->taken[i];
        if (line < low || line <= message->from->base || line <= message->to->base)
            continue;
        judge_cell(pass, message, line);
        if (line > high)
            break;
    }
}

/* --- early --------------------------------------------------------------------------------- */

static void judge_list(const struct c_pass *pass, const struct c_message *message,
                       const struct message_note *note)
{
    char event[EVENT_TEXT_BYTES];
    uint64_t line = message->sent_epoch;
    const struct line *own = lines_find(message->to, line);
    if (own == NULL || !own->checkpoint.there)
        return; /* its list was never saved */
    judging_saw(pass->judging, CLAIM_C_EARLY_LIST, 1);
    if (note != NULL && note->line == line)
        return;
    struct finding *finding = c_message_finding(pass, message, CLAIM_C_EARLY_LIST, line);
    finding_decide(finding, own->checkpoint.event);
    if (note == NULL) {
        finding_say(finding, "it is early, and rank %d did not list it before its checkpoint",
                    message->channel->destination);
        return;
    }
    finding_say(finding, "it is early, and was listed for line %" PRIu64 ": %s", note->line,
                event_text(note->event, event));
    finding_show(finding, note->event);
}

/* --- what the protocol took it for --------------------------------------------------------- */

static const char *class_text(const struct c_message *message)
{
    if (message->sent_epoch == message->delivered_epoch)
        return "neither late nor early";
    return message->sent_epoch < message->delivered_epoch ? "late" : "early";
}

static void report_class(const struct c_pass *pass, const struct c_message *message, uint64_t line,
                         const struct message_note *note)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = c_message_finding(pass, message, CLAIM_C_CLASS, line);
    if (note == NULL) {
        finding_say(finding, "so it is %s, and the protocol took it for neither late nor early",
                    class_text(message));
        return;
    }
    finding_say(finding, "so it is %s, and the protocol took it for %s of line %" PRIu64 ": %s",
                class_text(message), note->kind == NOTE_LOGGED ? "late" : "early", note->line,
                event_text(note->event, event));
    finding_show(finding, note->event);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* right: the kind of note there must be, NOTE_NONE for none. */
static const struct message_note *judge_class(struct c_pass *pass, const struct c_message *message,
                                              unsigned right)
{
    uint64_t index = message->received->delivered.index;
    uint64_t line = greater(message->sent_epoch, message->delivered_epoch);
    const struct message_note *note = NULL, *more;
    judging_saw(pass->judging, CLAIM_C_CLASS, pass->lines->taken_count > 0);
    if (right != NOTE_NONE)
        note = message_note_take(pass->notes, message->trace, index, 1u << right);
    bool wrong = false;
    while ((more = message_note_take_more(pass->notes, message->trace, index,
                                          NOTE_BIT(LOGGED) | NOTE_BIT(EARLY))) != NULL) {
        report_class(pass, message, line, more);
        wrong = true;
    }
    if (right != NOTE_NONE && !wrong && (note == NULL || note->line != line))
        report_class(pass, message, line, note);
    return note;
}

/* --- one message --------------------------------------------------------------------------- */

/* How many lines were taken above the lower epoch, up to the higher. */
static unsigned lines_between(const struct lines *lines, uint64_t low, uint64_t high)
{
    unsigned count = 0;
    for (size_t i = 0; i < lines->taken_count; i++)
        count += lines->taken[i] > low && lines->taken[i] <= high;
    return count;
}

static unsigned judge_epochs(const struct c_pass *pass, const struct c_message *message)
{
    uint64_t sent = message->sent_epoch, delivered = message->delivered_epoch;
    bool late = sent < delivered;
    if (sent == delivered)
        return 0;
    unsigned crossed = lines_between(pass->lines, late ? sent : delivered, late ? delivered : sent);
    judging_saw(pass->judging, CLAIM_C_EPOCH, 1);
    if (crossed <= 1)
        return crossed;
    struct finding *finding =
        c_message_finding(pass, message, CLAIM_C_EPOCH, late ? delivered : sent);
    finding_say(finding,
                "it was sent in epoch %" PRIu64 " and delivered in epoch %" PRIu64
                ": %u lines lie between them",
                sent, delivered, crossed);
    return crossed;
}

static void judge_own(struct c_pass *pass, const struct c_message *message)
{
    judge_cells(pass, message);
    unsigned crossed = judge_epochs(pass, message);
    bool late = message->sent_epoch < message->delivered_epoch;
    if (crossed > 1) {
        while (message_note_take_more(pass->notes, message->trace,
                                      message->received->delivered.index,
                                      NOTES_ON_MESSAGES) != NULL)
            ;
        return;
    }
    const struct message_note *note = judge_class(pass, message,
                                                  crossed == 0 ? NOTE_NONE
                                                  : late       ? NOTE_LOGGED
                                                               : NOTE_EARLY);
    if (crossed == 1 && late) {
        c_judge_late(pass, message, note);
    } else if (crossed == 1) {
        judge_list(pass, message, note);
        c_recovery_keep(pass, message->channel, message->sent, message->received,
                        message->delivered_epoch, message->sent_epoch);
    }
    const struct message_note *replayed;
    while ((replayed = message_note_take_more(pass->notes, message->trace,
                                              message->received->delivered.index,
                                              NOTE_BIT(REPLAYED))) != NULL)
        c_recovery_wrong_replay(pass, replayed,
                                "the message delivered in that call was sent again in this "
                                "incarnation: it is not late");
}

/* What was told of a message that is not judged, lest it be taken for one too many. */
static void pass_over(struct c_pass *pass, const struct trace *trace, uint64_t index)
{
    while (message_note_take_more(pass->notes, trace, index, NOTE_BIT(LOGGED) | NOTE_BIT(EARLY)) !=
           NULL)
        ;
}

static bool is_sendrecv(unsigned call)
{
    enum call_role role = call_role(call);
    return role == ROLE_SENDRECV || role == ROLE_SENDRECV_REPLACE;
}

/* A send that is one half of a call is started, as by a call of its own that returns at once,
 * before the other half waits for its message (MPI 4.0, section 3.10): while it waits the rank may
 * come to stand elsewhere. */
static struct sent with_send_point(const struct c_pass *pass, const struct sent *sent)
{
    struct sent half = *sent;
    const struct trace *trace = c_trace(pass->judging, sent->event);
    if (sent->leave != 0 && lines_moved(&pass->lines->of[trace->rank], sent->enter, sent->leave) &&
        is_sendrecv(trace->record[sent->event.index].call))
        half.leave = half.enter;
    return half;
}

static void judge_message(struct c_pass *pass, const struct channel *channel,
                          const struct sent *as_recorded, const struct received *received)
{
    const struct sent half = with_send_point(pass, as_recorded), *sent = &half;
    bool own_send = sent->event.incarnation == pass->incarnation;
    bool own_delivery = received->delivered.incarnation == pass->incarnation;
    struct c_message message = {channel,
                                sent,
                                received,
                                &pass->lines->of[channel->source],
                                &pass->lines->of[channel->destination],
                                c_trace(pass->judging, received->delivered),
                                0,
                                0};
    if (!own_send && own_delivery) {
        c_recovery_late(pass, channel, sent, received);
        pass_over(pass, message.trace, received->delivered.index);
        return;
    }
    if (!own_send)
        return;
    message.sent_epoch = lines_epoch(message.from, sent->leave);
    if (!own_delivery) {
        c_recovery_keep(pass, channel, sent, received, message.from->base, message.sent_epoch);
        return;
    }
    message.delivered_epoch = lines_epoch(message.to, received->leave);
    /* Its sender died inside the call, or nobody saw what was received. */
    if (sent->leave == 0 || received->blind)
        pass_over(pass, message.trace, received->delivered.index);
    else
        judge_own(pass, &message);
}

/* --- reading ------------------------------------------------------------------------------- */

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    judge_message(context, channel, sent, received);
}

/* A delivery that is nobody's, or somebody else's. */
static void on_wrong_delivery(struct c_pass *pass, const struct received *received, const char *why)
{
    const struct trace *trace = c_trace(pass->judging, received->delivered);
    const struct message_note *note;
    pass->anomaly = true;
    if (received->delivered.incarnation != pass->incarnation)
        return;
    pass_over(pass, trace, received->delivered.index);
    while ((note = message_note_take_more(pass->notes, trace, received->delivered.index,
                                          NOTE_BIT(REPLAYED))) != NULL)
        c_recovery_wrong_replay(pass, note, why);
}

static void on_undelivered(struct c_pass *pass, const struct channel *channel,
                           const struct sent *sent, const struct pair *other)
{
    if (sent->event.incarnation != pass->incarnation)
        c_recovery_left_out(pass, channel, sent, other);
    else
        c_judge_undelivered(pass, channel, sent);
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct c_pass *pass = context;
    if (anomaly_is_message(anomaly, received))
        judge_message(pass, channel, sent, received);
    else if (anomaly == ANOMALY_DUPLICATE)
        on_wrong_delivery(pass, received,
                          "the message delivered in that call had been delivered before");
    else if (anomaly == ANOMALY_ORPHAN)
        on_wrong_delivery(pass, received, "the message delivered in that call was never sent");
    else if (anomaly == ANOMALY_UNDELIVERED)
        on_undelivered(pass, channel, sent, other);
    else if (anomaly == ANOMALY_LOST_SIGHT)
        pass->anomaly = true;
}

static void on_event(void *context, const struct stream_event *event)
{
    struct c_pass *pass = context;
    if (event->record->kind == RECORD_SEND && event->record->level == LEVEL_APP &&
        event->trace->incarnation == pass->incarnation)
        c_recovery_send(pass, event);
}

static enum claim_id claim_on(const struct message_note *note)
{
    if (note->kind == NOTE_REPLAYED)
        return CLAIM_C_LATE_REPLAY;
    return note->kind == NOTE_SUPPRESSED ? CLAIM_C_EARLY_SUPPRESS : CLAIM_C_CLASS;
}

/* A note of a message whose other end is not known: messages of such communicators are matched by
 * nobody. Said once for each kind of note. */
static void report_unknown_peer(struct c_pass *pass, const struct message_note *note)
{
    char event[EVENT_TEXT_BYTES];
    if (pass->noted_unknown & 1u << note->kind)
        return;
    pass->noted_unknown |= 1u << note->kind;
    struct finding *finding = judging_find(pass->judging, claim_on(note), VERDICT_UNKNOWN);
    finding_say(finding, "rank %d noted \"%s\" of a message of communicator %#" PRIx32 ": %s",
                note->rank, note_kind_text(note->kind), note->comm, event_text(note->event, event));
    finding_say(finding, "the members of that communicator are not known, and so not whose message "
                         "it is");
    finding_show(finding, note->event);
}

/* Inside a call that completes requests, of a rank that was restored: requests that the protocol
 * brought back from before the restart were not seen being made, and so are not seen complete. */
static bool may_be_brought_back(const struct c_pass *pass, const struct message_note *note)
{
    const struct rank_lines *rank = &pass->lines->of[note->rank];
    const struct record *call = message_note_inside(note, rank->trace);
    return rank->restored.there && note->kind != NOTE_SUPPRESSED && call != NULL &&
           call->kind == RECORD_CALL && call_role(call->call) >= ROLE_WAIT &&
           call_role(call->call) <= ROLE_TESTSOME;
}

static void report_brought_back(struct c_pass *pass, const struct message_note *note)
{
    char event[EVENT_TEXT_BYTES];
    if (pass->brought_back & 1u << note->kind)
        return;
    pass->brought_back |= 1u << note->kind;
    struct finding *finding = judging_find(pass->judging, claim_on(note), VERDICT_UNKNOWN);
    finding_say(finding, "rank %d noted \"%s\" inside %s: %s", note->rank,
                note_kind_text(note->kind),
                call_name(message_note_inside(note, pass->lines->of[note->rank].trace)->call),
                event_text(note->event, event));
    finding_say(finding, "the call shows no such message; but the rank was restored, and a request "
                         "that was brought back then is not seen complete");
    finding_show(finding, note->event);
}

bool c_is_failed_receive(const struct record *record, const struct message_note *note)
{
    return record_is_of_app(record) && record->error != 0 && record->comm == note->comm &&
           record->tag == (int32_t)note->tag &&
           (record->kind == RECORD_RECV || record->kind == RECORD_COMPLETE);
}

static bool is_inside(const struct message_note *note, const struct call_span *span)
{
    return span->enter <= note->ticks && note->ticks <= span->leave;
}

/* How many notes before this one in the list say the same of the same channel in this call, and
 * have no message either. */
static size_t count_alike(const struct c_pass *pass, const struct message_note *note,
                          const struct call_span *span)
{
    size_t count = 0;
    for (const struct message_note *other = pass->notes->note; other != note; other++)
        count += !other->taken && other->kind == note->kind && other->rank == note->rank &&
                 other->peer == note->peer && other->comm == note->comm &&
                 other->tag == note->tag && is_inside(other, span);
    return count;
}

/* A receive of this channel failed in the call, and no history has what it got: the note may be of
 * that message. Each failed receive explains one note of each kind. */
static bool may_be_of_failed(const struct c_pass *pass, const struct message_note *note)
{
    const struct trace *trace = pass->lines->of[note->rank].trace;
    struct call_span span = {0};
    size_t failed = 0;
    for (uint64_t at = 0; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        if (record->peer != note->peer || !c_is_failed_receive(record, note))
            continue;
        struct call_span own = call_span_of(trace, at);
        if (is_inside(note, &own)) {
            span = own;
            failed++;
        }
    }
    return failed > 0 && count_alike(pass, note, &span) < failed;
}

/* Notes that no message was found for. */
static void judge_leftover(struct c_pass *pass, const struct message_note *note)
{
    char name[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    if (note->peer < 0) {
        report_unknown_peer(pass, note);
        return;
    }
    if (note->kind != NOTE_SUPPRESSED && may_be_of_failed(pass, note))
        return;
    if (may_be_brought_back(pass, note)) {
        report_brought_back(pass, note);
        return;
    }
    if (note->kind == NOTE_REPLAYED) {
        c_recovery_wrong_replay(pass, note, "no such message was delivered in that call");
    } else if (note->kind == NOTE_SUPPRESSED) {
        c_recovery_wrong_suppress(pass, note);
    } else {
        struct finding *finding = judging_find(pass->judging, CLAIM_C_CLASS, VERDICT_VIOLATION);
        finding_say(finding, "the protocol took %s for %s of line %" PRIu64 ": %s",
                    message_text(note->peer, note->rank, note->comm, (int32_t)note->tag, 0, name),
                    note->kind == NOTE_LOGGED ? "late" : "early", note->line,
                    event_text(note->event, event));
        finding_say(finding, "no such message was delivered by rank %d in that call", note->rank);
        finding_show(finding, note->event);
    }
}

static void on_end(void *context)
{
    struct c_pass *pass = context;
    const struct trace_set *traces = pass->judging->traces;
    pass->run->complete[pass->incarnation] = !pass->anomaly;
    for (size_t i = 0; i < pass->notes->count && !pass->anomaly; i++) {
        const struct message_note *note = &pass->notes->note[i];
        if (!note->taken && message_note_in_finished_call(
                                note, trace_set_find(traces, note->rank, pass->incarnation)))
            judge_leftover(pass, note);
    }
    free(pass->resend);
    free(pass);
}

static const enum claim_id judged_here[] = {
    CLAIM_C_LATE_REPLAY, CLAIM_C_EARLY_SUPPRESS, CLAIM_C_EARLY_SAME, CLAIM_C_1_2,   CLAIM_C_1_3,
    CLAIM_C_LATE_LOG,    CLAIM_C_LATE_READY,     CLAIM_C_EARLY_LIST, CLAIM_C_CLASS, CLAIM_C_EPOCH};

/* A history that is not known makes them unknown; said once. True if so. */
static bool report_unknown(struct judging *judging, const struct histories *histories)
{
    const struct history *unknown = histories_unknown(histories);
    struct finding *finding = NULL;
    for (size_t i = 0; unknown != NULL && i < sizeof judged_here / sizeof judged_here[0]; i++) {
        judging_unknown(judging, judged_here[i]);
        if (finding == NULL && judging->asked[judged_here[i]]) {
            finding = judging_find(judging, judged_here[i], VERDICT_UNKNOWN);
            finding_say(finding, "%s", unknown->why);
        }
    }
    return unknown != NULL;
}

void c_listen_messages(struct judging *judging, struct pass *pass)
{
    if (report_unknown(judging, pass->histories))
        return;
    struct c_pass *own = memory_new(1, sizeof *own);
    *own = (struct c_pass){.judging = judging,
                           .run = judging->c3,
                           .pass = pass,
                           .incarnation = pass->incarnation,
                           .lines = reading_lines(&judging->reading, pass->incarnation),
                           .histories = pass->histories,
                           .notes = reading_message_notes(&judging->reading, pass->incarnation)};
    c_recovery_begin(own);
    pass_listen(pass, &(struct listener){.context = own,
                                         .event = on_event,
                                         .pair = on_pair,
                                         .anomaly = on_anomaly,
                                         .waits = c_recovery_waits,
                                         .end = on_end});
}
