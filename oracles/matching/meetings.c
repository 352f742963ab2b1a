/* See meetings.h. */
#include "oracles/matching/meetings.h"

#include "base/memory.h"

#include <stdlib.h>

/* How far the records of a rank have been looked through for those of the application. */
struct looked {
    uint64_t until; /* below this one */
    uint64_t above; /* the newest of them, plus one */
};

struct meeting_reading {
    struct meetings *meetings;
    struct looked *looked; /* by rank */
    struct table numbered; /* (communicator, number) to struct meeting */
};

/* The newest record of the application before the event; asked for in their order. */
static uint64_t above(struct looked *looked, const struct stream_event *event)
{
    for (; looked->until < event->index; looked->until++)
        if (record_is_of_app(&event->trace->record[looked->until]))
            looked->above = looked->until + 1;
    return looked->above;
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    struct meeting_reading *reading = context;
    struct meetings *meetings = reading->meetings;
    struct meeting *meeting = table_get(&reading->numbered, gathering->comm, number);
    if (meeting == NULL) {
        meeting = memory_new(1, sizeof *meeting + (size_t)meetings->ranks * sizeof meeting->of[0]);
        meeting->comm = gathering->comm;
        table_put(&reading->numbered, gathering->comm, number, meeting);
        meetings->meeting = memory_room(meetings->meeting, meetings->count, &meetings->room,
                                        sizeof(struct meeting *));
        meetings->meeting[meetings->count++] = meeting;
    }
    meeting->of[event->rank] =
        (struct attendance){event->index + 1, above(&reading->looked[event->rank], event)};
}

static void on_end(void *context)
{
    struct meeting_reading *reading = context;
    table_release(&reading->numbered);
    free(reading->looked);
    free(reading);
}

void meetings_listen(struct pass *pass, struct meetings *meetings)
{
    int ranks = pass->reading->traces->ranks;
    struct meeting_reading *reading = memory_new(1, sizeof *reading);
    *meetings = (struct meetings){.ranks = ranks};
    *reading = (struct meeting_reading){
        .meetings = meetings, .looked = memory_new((size_t)ranks, sizeof *reading->looked)};
    pass_listen(pass, &(struct listener){.context = reading, .joined = on_joined, .end = on_end});
}

void meetings_release(struct meetings *meetings)
{
    for (size_t i = 0; i < meetings->count; i++)
        free(meetings->meeting[i]);
    free(meetings->meeting);
    *meetings = (struct meetings){0};
}
