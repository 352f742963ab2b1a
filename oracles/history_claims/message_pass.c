/* See histories.h. */
#include "oracles/history_claims/message_pass.h"

#include "base/memory.h"

#include <stdlib.h>

/* Things told are remembered up to this many; beyond, only the newest incarnation's are told. */
#define TOLD_MAX (1u << 20)

bool passage_counts(const struct passage *passage, struct event_ref event)
{
    return passage->pass->newest || (event.incarnation == passage->pass->incarnation &&
                                     !histories_have(passage->newest, event));
}

bool passage_tells(struct passage *passage, unsigned kind, struct event_ref event)
{
    struct table *told = &passage->judging->told;
    uint64_t first = (uint64_t)kind << 32 | (uint32_t)event.incarnation;
    uint64_t second = event.index << 16 ^ (uint64_t)(uint32_t)event.rank;
    if (table_get(told, first, second) != NULL)
        return false;
    if (told->used >= TOLD_MAX)
        return passage->pass->newest;
    table_put(told, first, second, passage->judging);
    return true;
}

const char *channel_text(const struct channel *channel, uint64_t number,
                         char buffer[MESSAGE_TEXT_BYTES])
{
    return message_text(channel->source, channel->destination, channel->comm, channel->tag, number,
                        buffer);
}

static void on_end(void *context)
{
    struct passage *passage = context;
    if (passage->messages)
        messages_finish(passage);
    free(passage->undelivered);
    free(passage);
}

static bool any_asked(const struct judging *judging, enum claim_history history)
{
    for (size_t i = 0; i < claim_count; i++)
        if (judging->asked[i] && claims[i].history == history)
            return true;
    return false;
}

/* For all that is judged here. */
static bool report_unknown(struct judging *judging, const struct histories *histories)
{
    bool unknown = false;
    for (size_t i = 0; i < claim_count; i++)
        if (claims[i].history != HISTORY_NONE)
            unknown |= histories_report_unknown(judging, histories, (enum claim_id)i);
    return unknown;
}

static bool takes_checkpoints(const struct lives *lives, int incarnation)
{
    uint64_t index;
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].trace->incarnation == incarnation &&
            note_find(lives->life[i].trace, NOTE_CHECKPOINT, LINE_ANY, UINT64_MAX, &index))
            return true;
    return false;
}

/* Two processes do what a rank does. */
static bool has_replicas(const struct trace_set *traces)
{
    uint64_t index;
    for (size_t i = 0; i < traces->count; i++)
        if (note_find(&traces->trace[i], NOTE_REPLICA, LINE_ANY, UINT64_MAX, &index))
            return true;
    return false;
}

/* What an incarnation did after the line it was rolled back to is in no later history: what went
 * wrong there is found only in its own. */
static void listen(struct judging *judging, struct pass *pass)
{
    const struct lives *lives = &judging->reading.lives;
    bool messages = any_asked(judging, HISTORY_MESSAGES);
    bool lines = any_asked(judging, HISTORY_LINES);
    if (pass->newest)
        messages |= lines;
    else {
        messages = messages && history_is_whole(lives, pass->incarnation);
        lines = lines && takes_checkpoints(lives, pass->incarnation);
    }
    if (!(messages || lines) || report_unknown(judging, pass->histories))
        return;
    struct passage *passage = memory_new(1, sizeof *passage);
    *passage = (struct passage){
        .judging = judging,
        .pass = pass,
        .histories = pass->histories,
        .newest = reading_histories(&judging->reading, judging->traces->incarnations - 1),
        .messages = messages,
        .replicas = has_replicas(judging->traces)};
    if (messages)
        pass_listen(pass, &(struct listener){.context = passage,
                                             .pair = messages_pair,
                                             .anomaly = messages_anomaly,
                                             .waits = loss_waits,
                                             .complete = collective_complete,
                                             .discord = collective_discord});
    if (lines)
        crossing_begin(passage);
    pass_listen(pass, &(struct listener){
                          .context = passage, .pair = lines ? crossing_pair : NULL, .end = on_end});
}

const struct oracle oracle_histories = {
    .application = listen, .needs_sound_traces = true, .newest_first = true};
