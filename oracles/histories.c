/* See histories.h. */
#include "oracles/histories.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    messages_pair(passage, sent, received);
    if (passage->judging->asked[CLAIM_B_EMPTY])
        crossing_pair(passage, channel, sent, received);
}

static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct passage *passage = context;
    if (passage->newest)
        messages_strange(passage, strange, channel, sent, received, other);
}

static void on_event(void *context, const struct stream_event *event)
{
    struct passage *passage = context;
    if (event->restarted)
        match_restart(&passage->match, event->rank);
    if (event->record->level != LEVEL_APP)
        return;
    match_record(&passage->match, event);
    if (passage->newest)
        collectives_record(&passage->collectives, event);
}

/* Communicators that were made before a `restored` note. */
static void learn_communicators(struct passage *passage)
{
    for (int rank = 0; rank < passage->histories->ranks; rank++) {
        const struct history *history = &passage->histories->of[rank];
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
    learn_communicators(passage);
    code = stream_run(passage->histories, LEVEL_APP, on_event, passage, NULL, error);
    match_finish(&passage->match);
    collectives_finish(&passage->collectives);
    messages_finish(passage);
    if (code == OK && (passage->match.exhausted || passage->collectives.exhausted))
        code = error_set(error, ERROR_MEMORY, "no memory for the messages in flight");
    return code;
}

/* Everything judged on histories. */
static const enum claim_id judged_here[] = {CLAIM_H_ORPHAN,  CLAIM_H_LOSS,  CLAIM_H_DUPLICATE,
                                            CLAIM_H_PAYLOAD, CLAIM_H_ORDER, CLAIM_H_COLLECTIVE,
                                            CLAIM_B_EMPTY};
#define JUDGED_HERE (sizeof judged_here / sizeof judged_here[0])

static bool any_asked(const struct judging *judging)
{
    for (size_t i = 0; i < JUDGED_HERE; i++)
        if (judging->asked[judged_here[i]])
            return true;
    return false;
}

/* A line was restored that nobody took: one finding says so, for all that cannot be judged. */
static bool tell_unknown(struct judging *judging, const struct histories *histories)
{
    const struct history *unknown = NULL;
    for (int rank = 0; rank < histories->ranks && unknown == NULL; rank++)
        if (histories->of[rank].unknown)
            unknown = &histories->of[rank];
    bool told = false;
    for (size_t i = 0; i < JUDGED_HERE && unknown != NULL; i++) {
        if (told || !judging->asked[judged_here[i]]) {
            judging_unknown(judging, judged_here[i]);
            continue;
        }
        struct finding *finding = judging_find(judging, judged_here[i], VERDICT_UNKNOWN);
        finding_say(finding, "%s", unknown->why);
        finding_say(finding, "so its effective history is not known, and nothing that rests on "
                             "effective histories can be judged");
        told = true;
    }
    return unknown != NULL;
}

static enum error_code pass(struct judging *judging, int incarnation, bool newest,
                            struct error *error)
{
    struct histories histories = {0};
    struct passage passage = {
        .judging = judging, .histories = &histories, .incarnation = incarnation, .newest = newest};
    struct collective_listener listener = collective_claim;
    listener.context = &passage;
    collectives_init(&passage.collectives, judging->traces->ranks, &listener);
    enum error_code code = histories_effective(judging->traces, incarnation, &histories, error);
    if (code == OK && !tell_unknown(judging, &histories)) {
        crossing_begin(&passage);
        code = stream(&passage, error);
    }
    match_release(&passage.match);
    collectives_release(&passage.collectives);
    histories_release(&histories);
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

static enum error_code judge_histories(struct judging *judging, struct error *error)
{
    int newest = judging->traces->incarnations - 1;
    if (!any_asked(judging) || judging->traces->count == 0)
        return OK;
    enum error_code code = pass(judging, newest, true, error);
    /* What an incarnation did behind the line it was rolled back to is in no later history;
     * messages that crossed a line there are found only in its own. */
    for (int i = 0; i < newest && code == OK && judging->asked[CLAIM_B_EMPTY]; i++)
        if (takes_checkpoints(judging->traces, i))
            code = pass(judging, i, false, error);
    return code;
}

const struct oracle oracle_histories = {judge_histories, true};
