/* See transfer.h: in recovery, messages that a probe has told the program of and that are still to
 * be received. A receive with the probe's own source and tag takes that very message [MPI 3.1,
 * section 3.8.1], though what it took is in no log if it was posted beyond the stop-log line. */
#include "c3/transfer.h"

#include <stdlib.h>

#define FIRST_ROOM 16

struct probed {
    uint64_t communicator; /* its identity */
    int asked_source;
    int asked_tag;
    int source;
    int tag;
};

static struct {
    struct probed *one; /* owned */
    size_t count;
    size_t room;
} list;

void probed_add(const struct handle *communicator, int asked_source, int asked_tag, int source,
                int tag)
{
    probed_received(communicator, source, tag);
    if (list.count == list.room) {
        list.room = list.room ? 2 * list.room : FIRST_ROOM;
        list.one = larger(list.one, list.room * sizeof *list.one);
    }
    list.one[list.count++] =
        (struct probed){communicator->id, asked_source, asked_tag, source, tag};
}

bool probed_find(const struct handle *communicator, int *source, int *tag)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.one[i].communicator == communicator->id && list.one[i].asked_source == *source &&
            list.one[i].asked_tag == *tag) {
            *source = list.one[i].source;
            *tag = list.one[i].tag;
            return true;
        }
    return false;
}

static bool fits(const struct probed *one, const struct handle *communicator, int source, int tag)
{
    return one->communicator == communicator->id &&
           (source == MPI_ANY_SOURCE || source == one->source) &&
           (tag == MPI_ANY_TAG || tag == one->tag);
}

bool probed_narrow(const struct handle *communicator, int *source, int *tag)
{
    (void)probed_find(communicator, source, tag);
    for (size_t i = 0; i < list.count; i++)
        if (fits(&list.one[i], communicator, *source, *tag))
            return true;
    return false;
}

void probed_received(const struct handle *communicator, int source, int tag)
{
    size_t kept = 0;
    for (size_t i = 0; i < list.count; i++)
        if (!fits(&list.one[i], communicator, source, tag))
            list.one[kept++] = list.one[i];
    list.count = kept;
}
