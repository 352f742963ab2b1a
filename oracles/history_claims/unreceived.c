/* Which messages a run leaves unreceived, by channel: asked of the run without faults, it says what
 * the program does by itself. */
#include "oracles/matching/pass.h"
#include "oracles/oracle.h"

#include "base/memory.h"

struct counting {
    struct unreceived *list;
    size_t count, room;
    bool known;
};

static void count(struct counting *counting, const struct channel *channel)
{
    struct unreceived *last = counting->count > 0 ? &counting->list[counting->count - 1] : NULL;
    if (last != NULL && last->comm == channel->comm && last->source == channel->source &&
        last->destination == channel->destination && last->tag == channel->tag) {
        last->messages++;
        return;
    }
    counting->list =
        memory_room(counting->list, counting->count, &counting->room, sizeof *counting->list);
    counting->list[counting->count++] =
        (struct unreceived){channel->comm, channel->source, channel->destination, channel->tag, 1};
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct counting *counting = context;
    (void)sent, (void)received, (void)other;
    if (anomaly == ANOMALY_UNDELIVERED)
        count(counting, channel);
    else if (anomaly == ANOMALY_LOST_SIGHT)
        counting->known = false;
}

void unreceived_find(const struct trace_set *traces, bool *known, struct unreceived **list,
                     size_t *list_count)
{
    int newest = traces->incarnations - 1;
    struct counting counting = {.known = true};
    struct reading reading;
    reading_begin(&reading, traces, true);
    pass_run(&reading, LEVEL_APP, newest,
             &(struct listener){.context = &counting, .anomaly = on_anomaly});
    *known = counting.known && histories_unknown(reading_histories(&reading, newest)) == NULL;
    *list = counting.list;
    *list_count = counting.count;
    reading_end(&reading);
}
