/* S.cut where data flows inside collective calls, as messages without a channel: what a rank got
 * from a call that it had left before its checkpoint of a line does not come from one that entered
 * the call after its own. A call in which a checkpoint lies is on both sides of it. Must not know:
 * how a library or a protocol carries a collective out. */
#include "oracles/cuts/s_family.h"

#include <inttypes.h>

/* Data of one call from a member to another, and their checkpoints of a line. */
struct flow {
    const struct d_call *call;
    const struct d_part *source;
    const struct d_part *target;
    const struct s_note *from;
    const struct s_note *to;
};

static void report(const struct s_pass *pass, const struct flow *flow)
{
    char name[D_CALL_TEXT_BYTES], event[EVENT_TEXT_BYTES], line[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, CLAIM_S_CUT, VERDICT_VIOLATION);
    finding_say(finding,
                "rank %d gave its part to %s after its checkpoint of line %" PRIu64 " (%s): %s",
                flow->source->rank, d_call_text(flow->call, name), flow->from->line,
                event_text(flow->from->event, line), event_text(d_event(flow->source), event));
    finding_say(finding, "rank %d had returned from it before its own (%s): %s", flow->target->rank,
                event_text(flow->to->event, line), event_text(d_event(flow->target), event));
    finding_say(finding,
                "so line %" PRIu64 " has received what it has not sent: it is no consistent cut",
                flow->from->line);
    finding_show(finding, flow->from->event);
    finding_show(finding, d_event(flow->source));
    finding_show(finding, d_event(flow->target));
    finding_show(finding, flow->to->event);
}

/* From after the one's checkpoint, while the other had not taken its own. */
static bool may_break(const struct s_pass *pass, uint64_t line, struct flow *flow)
{
    if (flow->source->trace == NULL || flow->target->trace == NULL)
        return false;
    flow->from = s_find(pass, NOTE_CHECKPOINT, line, flow->source->rank, PEER_ANY);
    flow->to = s_find(pass, NOTE_CHECKPOINT, line, flow->target->rank, PEER_ANY);
    return flow->from != NULL && flow->to != NULL && flow->source->enter > flow->from->ticks &&
           flow->source->enter < flow->to->ticks;
}

/* Of pairs that break it the first is told. */
static void judge_call(const struct s_pass *pass, const struct d_call *call, uint64_t line)
{
    struct flow flow = {.call = call};
    bool told = false;
    for (unsigned from = 0; from < call->size; from++)
        for (unsigned to = 0; to < call->size; to++) {
            flow.source = &call->part[from];
            flow.target = &call->part[to];
            if (!d_flows(call, from, to) || !may_break(pass, line, &flow))
                continue;
            judging_saw(pass->judging, CLAIM_S_CUT, 1);
            if (told || flow.target->received == 0 || flow.target->received > flow.to->ticks)
                continue;
            report(pass, &flow);
            told = true;
        }
}

void s_judge_flows(const struct s_pass *pass)
{
    for (size_t i = 0; i < pass->calls.call_count && pass->judging->asked[CLAIM_S_CUT]; i++)
        for (size_t k = 0; k < pass->line_count; k++)
            if (pass->calls.call[i]->category != D_NO_CATEGORY)
                judge_call(pass, pass->calls.call[i], pass->line[k]);
}
