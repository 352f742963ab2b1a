/* Which messages a run leaves unreceived, by channel: asked of the run without faults, it says what
 * the program does by itself. */
#include "oracles/matching/match.h"
#include "oracles/oracle.h"

#include <stdlib.h>

struct counting {
    struct match match;
    struct unreceived *list;
    size_t count;
    bool known;
    bool exhausted;
};

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    (void)context, (void)channel, (void)sent, (void)received;
}

static void count(struct counting *counting, const struct channel *channel)
{
    struct unreceived *last = counting->count > 0 ? &counting->list[counting->count - 1] : NULL;
    if (last != NULL && last->comm == channel->comm && last->source == channel->source &&
        last->destination == channel->destination && last->tag == channel->tag) {
        last->messages++;
        return;
    }
    struct unreceived *grown =
        realloc(counting->list, (counting->count + 1) * sizeof *counting->list);
    if (grown == NULL) {
        counting->exhausted = true;
        return;
    }
    counting->list = grown;
    grown[counting->count++] =
        (struct unreceived){channel->comm, channel->source, channel->destination, channel->tag, 1};
}

static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct counting *counting = context;
    (void)sent, (void)received, (void)other;
    if (strange == STRANGE_UNDELIVERED)
        count(counting, channel);
    else if (strange == STRANGE_LOST_SIGHT)
        counting->known = false;
}

static void on_event(void *context, const struct stream_event *event)
{
    struct counting *counting = context;
    if (event->restarted)
        match_restart(&counting->match, event->rank);
    if (event->record->level == LEVEL_APP)
        match_record(&counting->match, event);
}

enum error_code unreceived_find(const struct trace_set *traces, bool *known,
                                struct unreceived **list, size_t *list_count, struct error *error)
{
    struct counting counting = {.known = true};
    struct match_listener listener = {&counting, on_pair, on_strange};
    struct histories histories = {0};
    enum error_code code = histories_effective(traces, traces->incarnations - 1, &histories, error);
    if (code == OK)
        code = match_init(&counting.match, traces->ranks, traces->trace[0].header->ticks_per_second,
                          &listener, error);
    counting.match.helper = histories.tenures.helper;
    if (code == OK)
        code = stream_run(&histories, LEVEL_APP, on_event, &counting, NULL, error);
    if (code == OK) {
        match_finish(&counting.match);
        if (counting.exhausted || counting.match.exhausted)
            code = error_set(error, ERROR_MEMORY, "no memory for the messages in flight");
    }
    *known = code == OK && counting.known && histories_unknown(&histories) == NULL;
    *list = counting.list;
    *list_count = counting.count;
    match_release(&counting.match);
    histories_release(&histories);
    return code;
}
