/* See pass.h. To read, match and number the records is what costs; so it is done once, and all
 * listeners hear of it. What nobody listens to is not done: without a listener to pairs nothing is
 * matched, without one to collectives nothing is numbered. For each record, in this order: a new
 * life is reported to the matching; the listeners hear the record; it is matched; it is numbered.
 */
#include "oracles/matching/pass.h"

#include <stdlib.h>
#include <string.h>

/* --- to all who listen --------------------------------------------------------------------- */

static void on_message(const struct pass *pass, const struct sent *sent,
                       const struct received *received, bool anomaly)
{
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].message != NULL)
            pass->listener[i].message(pass->listener[i].context, sent, received, anomaly);
}

static void on_doubt(const struct pass *pass)
{
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].doubt != NULL)
            pass->listener[i].doubt(pass->listener[i].context);
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    const struct pass *pass = context;
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].pair != NULL)
            pass->listener[i].pair(pass->listener[i].context, channel, sent, received);
    if (!received_is_unseen(received))
        on_message(pass, sent, received, false);
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    const struct pass *pass = context;
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].anomaly != NULL)
            pass->listener[i].anomaly(pass->listener[i].context, anomaly, channel, sent, received,
                                      other);
    if (anomaly_is_message(anomaly, received))
        on_message(pass, sent, received, true);
    if (anomaly_leaves_doubt(anomaly, received))
        on_doubt(pass);
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    const struct pass *pass = context;
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].joined != NULL)
            pass->listener[i].joined(pass->listener[i].context, event, gathering, number);
}

static void on_left(void *context, const struct stream_event *event,
                    const struct collective_request *request)
{
    const struct pass *pass = context;
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].left != NULL)
            pass->listener[i].left(pass->listener[i].context, event, request);
}

static void on_complete(void *context, const struct instance *instance)
{
    const struct pass *pass = context;
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].complete != NULL)
            pass->listener[i].complete(pass->listener[i].context, instance);
}

static void on_discord(void *context, enum discord discord, const struct instance *instance,
                       const struct contribution *with, const struct contribution *against)
{
    const struct pass *pass = context;
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].discord != NULL)
            pass->listener[i].discord(pass->listener[i].context, discord, instance, with, against);
}

static bool is_kept(const struct pass *pass, const struct stream_event *event)
{
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].keeps != NULL &&
            pass->listener[i].keeps(pass->listener[i].context, event))
            return true;
    return false;
}

static void report_event(const struct pass *pass, const struct stream_event *event)
{
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].event != NULL)
            pass->listener[i].event(pass->listener[i].context, event);
}

/* What the application calls processes that came later are the ranks that they took over. */
static void name_ranks(const struct lives *lives, int incarnation, struct record *record)
{
    unsigned kind = record->kind;
    uint64_t ticks = record->enter;
    if (kind != RECORD_COMM)
        record->peer = lives_peer(lives, incarnation, ticks, record->peer);
    if (kind == RECORD_RECV || kind == RECORD_PROBE)
        record->want_peer = lives_peer(lives, incarnation, ticks, record->want_peer);
}

static void on_event(void *context, const struct stream_event *recorded)
{
    struct pass *pass = context;
    const struct lives *lives = &pass->reading->lives;
    struct stream_event named = *recorded;
    const struct stream_event *event = recorded;
    struct record record;
    if (pass->level == LEVEL_APP && lives->ranks > lives->traces->world &&
        event->record->level == LEVEL_APP) {
        record = *event->record;
        name_ranks(lives, event->trace->incarnation, &record);
        named.record = &record;
        event = &named;
    }
    if (event->restarted && pass->matches)
        match_restart(&pass->match, event);
    if (event->record->kind == RECORD_NONE)
        return;
    if (pass->hears)
        report_event(pass, recorded);
    if (event->record->level != pass->level ||
        (pass->level == LEVEL_APP &&
         uncounted_has(&pass->reading->uncounted, event->trace, event->index)))
        return;
    if (pass->matches && !(pass->keeps && is_kept(pass, recorded)))
        match_record(&pass->match, event);
    if (pass->numbers)
        collectives_record(&pass->collectives, event);
}

/* --- the pass ------------------------------------------------------------------------------ */

void pass_begin(struct pass *pass, struct reading *reading, enum level level, int incarnation)
{
    memset(pass, 0, sizeof *pass);
    pass->reading = reading;
    pass->level = level;
    pass->incarnation = incarnation;
    pass->newest = incarnation + 1 == reading->traces->incarnations;
    pass->cut_off = level == LEVEL_APP && (!pass->newest || !reading->finished);
    if (level == LEVEL_APP) {
        pass->histories = reading_histories(reading, incarnation);
    } else {
        histories_incarnation(&reading->lives, incarnation, &pass->raw);
        pass->histories = &pass->raw;
    }
}

void pass_listen(struct pass *pass, const struct listener *listener)
{
    pass->listener[pass->listener_count++] = *listener;
    pass->hears |= listener->event != NULL;
    pass->keeps |= listener->keeps != NULL;
    pass->matches |= listener->pair != NULL || listener->anomaly != NULL ||
                     listener->message != NULL || listener->waits != NULL || pass->keeps;
    pass->numbers |= listener->joined != NULL || listener->left != NULL ||
                     listener->complete != NULL || listener->discord != NULL;
}

/* Communicators that were made before a `restored` note. */
static void learn_communicators(struct pass *pass)
{
    for (int rank = 0; rank < pass->histories->ranks; rank++) {
        const struct history *history = &pass->histories->of[rank];
        if (!pass->reading->lives.application[rank])
            collectives_leave_out(&pass->collectives, rank);
        for (size_t i = 0; i < history->piece_count; i++)
            collectives_learn(&pass->collectives, history->piece[i].trace, LEVEL_APP,
                              history->piece[i].from);
    }
}

static void begin_collectives(struct pass *pass)
{
    struct collective_listener listener = {.context = pass, .joined = on_joined, .left = on_left};
    for (size_t i = 0; i < pass->listener_count; i++) {
        if (pass->listener[i].complete != NULL)
            listener.complete = on_complete;
        if (pass->listener[i].discord != NULL)
            listener.discord = on_discord;
    }
    const struct trace_set *traces = pass->reading->traces;
    collectives_init(&pass->collectives, &pass->reading->lives, pass->level, &listener);
    for (int rank = trace_set_world(traces, pass->incarnation); rank < traces->world; rank++)
        collectives_leave_out(&pass->collectives, rank); /* its MPI_COMM_WORLD has fewer ranks */
    if (pass->level == LEVEL_APP)
        learn_communicators(pass);
}

void pass_read(struct pass *pass, struct stream_seen *seen)
{
    struct match_listener messages = {pass, on_pair, on_anomaly};
    if (pass->matches)
        match_init(&pass->match, pass->reading->traces, pass->cut_off,
                   pass->level == LEVEL_APP ? &pass->reading->lives : NULL, &messages);
    if (pass->numbers)
        begin_collectives(pass);
    if (pass->listener_count > 0)
        stream_run(pass->histories, pass->level, on_event, pass, seen);
}

void pass_finish(struct pass *pass)
{
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].waits != NULL)
            pass->listener[i].waits(pass->listener[i].context);
    if (pass->matches)
        match_finish(&pass->match);
    if (pass->numbers)
        collectives_finish(&pass->collectives);
    for (size_t i = 0; i < pass->listener_count; i++)
        if (pass->listener[i].end != NULL)
            pass->listener[i].end(pass->listener[i].context);
}

void pass_release(struct pass *pass)
{
    match_release(&pass->match);
    collectives_release(&pass->collectives);
    if (pass->histories == &pass->raw)
        histories_release(&pass->raw);
}

void pass_run(struct reading *reading, enum level level, int incarnation,
              const struct listener *listener)
{
    struct pass pass;
    pass_begin(&pass, reading, level, incarnation);
    pass_listen(&pass, listener);
    pass_read(&pass, NULL);
    pass_finish(&pass);
    pass_release(&pass);
}
