/* See histories.h. */
#include "oracles/history_claims/histories.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Things told are remembered up to this many; beyond, only the newest incarnation's are told. */
#define TOLD_MAX (1u << 20)

bool passage_counts(const struct passage *passage, struct event_ref event)
{
    return passage->newest ||
           (event.incarnation == passage->incarnation && !histories_have(passage->later, event));
}

bool passage_tells(struct passage *passage, unsigned kind, struct event_ref event)
{
    uint64_t first = (uint64_t)kind << 32 | (uint32_t)event.incarnation;
    uint64_t second = event.index << 16 ^ (uint64_t)(uint32_t)event.rank;
    if (table_get(passage->told, first, second) != NULL)
        return false;
    if (passage->told->used >= TOLD_MAX)
        return passage->newest;
    /* Without memory it may be told twice. */
    (void)table_put(passage->told, first, second, passage);
    return true;
}

const char *message_text(const struct channel *channel, uint64_t number,
                         char buffer[MESSAGE_TEXT_BYTES])
{
    char where[32] = "", which[32] = "";
    if (channel->comm != COMM_WORLD_ID)
        snprintf(where, sizeof where, ", communicator %#" PRIx32, channel->comm);
    if (number > 0)
        snprintf(which, sizeof which, ", #%" PRIu64, number);
    snprintf(buffer, MESSAGE_TEXT_BYTES, "m(%d→%d, tag %d%s%s)", channel->source,
             channel->destination, channel->tag, where, which);
    return buffer;
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    struct passage *passage = context;
    if (passage->messages)
        messages_pair(passage, sent, received);
    if (passage->lines)
        crossing_pair(passage, channel, sent, received);
}

static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct passage *passage = context;
    if (passage->messages)
        messages_strange(passage, strange, channel, sent, received, other);
}

static void on_event(void *context, const struct stream_event *event)
{
    struct passage *passage = context;
    if (event->restarted) {
        passage->match.rank[event->rank].incarnation = event->trace->incarnation;
        match_restart(&passage->match, event->rank);
    }
    if (event->record->level != LEVEL_APP)
        return;
    match_record(&passage->match, event);
    if (passage->messages)
        collectives_record(&passage->collectives, event);
}

/* Communicators that were made before a `restored` note. */
static void learn_communicators(struct passage *passage)
{
    passage->collectives.helper = passage->histories->tenures.helper;
    for (int rank = 0; rank < passage->histories->ranks; rank++) {
        const struct history *history = &passage->histories->of[rank];
        if (!passage->histories->tenures.application[rank])
            collectives_leave_out(&passage->collectives, rank);
        for (size_t i = 0; i < history->piece_count; i++)
            collectives_learn(&passage->collectives, history->piece[i].trace, LEVEL_APP,
                              history->piece[i].from);
    }
}

static enum error_code stream(struct passage *passage, struct error *error)
{
    const struct trace_set *traces = passage->judging->traces;
    struct match_listener listener = {passage, on_pair, on_strange};
    enum error_code code = match_init(&passage->match, traces->ranks,
                                      traces->trace[0].header->ticks_per_second, &listener, error);
    if (code != OK)
        return code;
    passage->match.helper = passage->histories->tenures.helper;
    passage->match.cut_off = !passage->newest || passage->judging->facts->end != RUN_FINISHED;
    learn_communicators(passage);
    code = stream_run(passage->histories, LEVEL_APP, on_event, passage, NULL, error);
    match_finish(&passage->match);
    collectives_finish(&passage->collectives);
    if (passage->messages)
        messages_finish(passage);
    if (code == OK && (passage->match.exhausted || passage->collectives.exhausted))
        code = error_set(error, ERROR_MEMORY, "no memory for the messages in flight");
    return code;
}

static bool any_asked(const struct judging *judging, enum claim_history history)
{
    for (size_t i = 0; i < claim_count; i++)
        if (judging->asked[i] && claims[i].history == history)
            return true;
    return false;
}

bool histories_tell_unknown(struct judging *judging, const struct histories *histories,
                            enum claim_id claim)
{
    const struct history *unknown = histories_unknown(histories);
    if (unknown == NULL || !judging->asked[claim])
        return unknown != NULL;
    if (judging->history_told) {
        judging_unknown(judging, claim);
        return true;
    }
    judging->history_told = true;
    struct finding *finding = judging_find(judging, claim, VERDICT_UNKNOWN);
    finding_say(finding, "%s", unknown->why);
    finding_say(finding, "so its effective history is not known, and nothing that rests on "
                         "effective histories can be judged");
    return true;
}

/* For all that is judged here. */
static bool tell_unknown(struct judging *judging, const struct histories *histories)
{
    bool unknown = false;
    for (size_t i = 0; i < claim_count; i++)
        if (claims[i].history != HISTORY_NONE)
            unknown |= histories_tell_unknown(judging, histories, (enum claim_id)i);
    return unknown;
}

static enum error_code pass(struct passage *passage, struct error *error)
{
    struct judging *judging = passage->judging;
    struct collective_listener listener = collective_claim;
    enum error_code code = OK;
    listener.context = passage;
    collectives_init(&passage->collectives, judging->traces->ranks, &listener);
    if (!tell_unknown(judging, passage->histories)) {
        if (passage->lines)
            crossing_begin(passage);
        code = stream(passage, error);
    }
    match_release(&passage->match);
    collectives_release(&passage->collectives);
    free(passage->undelivered);
    return code;
}

static bool takes_checkpoints(const struct trace_set *traces, int incarnation)
{
    uint64_t index;
    for (size_t i = 0; i < traces->count; i++)
        if (traces->trace[i].incarnation == incarnation &&
            note_find(&traces->trace[i], NOTE_CHECKPOINT, LINE_ANY, UINT64_MAX, &index))
            return true;
    return false;
}

/* What an incarnation did behind the line it was rolled back to is in no later history: what went
 * wrong there is found only in its own. */
static enum error_code pass_older(struct judging *judging, int incarnation,
                                  const struct histories *newest, struct table *told,
                                  struct error *error)
{
    struct histories histories = {0};
    struct passage passage = {.judging = judging,
                              .histories = &histories,
                              .later = newest,
                              .told = told,
                              .incarnation = incarnation,
                              .messages = any_asked(judging, HISTORY_MESSAGES) &&
                                          history_is_whole(judging->traces, incarnation),
                              .lines = any_asked(judging, HISTORY_LINES) &&
                                       takes_checkpoints(judging->traces, incarnation)};
    if (!passage.messages && !passage.lines)
        return OK;
    enum error_code code = histories_effective(judging->traces, incarnation, &histories, error);
    if (code == OK)
        code = pass(&passage, error);
    histories_release(&histories);
    return code;
}

static enum error_code judge_histories(struct judging *judging, struct error *error)
{
    int last = judging->traces->incarnations - 1;
    struct histories newest = {0};
    struct table told = {0};
    if (judging->traces->count == 0 ||
        (!any_asked(judging, HISTORY_MESSAGES) && !any_asked(judging, HISTORY_LINES)))
        return OK;
    struct passage passage = {.judging = judging,
                              .histories = &newest,
                              .told = &told,
                              .incarnation = last,
                              .newest = true,
                              .messages = true,
                              .lines = any_asked(judging, HISTORY_LINES)};
    enum error_code code = histories_effective(judging->traces, last, &newest, error);
    if (code == OK)
        code = pass(&passage, error);
    for (int i = 0; i < last && code == OK; i++)
        code = pass_older(judging, i, &newest, &told, error);
    table_release(&told);
    histories_release(&newest);
    return code;
}

const struct oracle oracle_histories = {judge_histories, true};
