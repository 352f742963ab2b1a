/* See held.h. Kept per (rank, peer and communicator): the first record that is held. */
#include "oracles/history_claims/held.h"

#include "base/memory.h"

#include <stdlib.h>

/* What is known of one channel. */
struct held_channel {
    uint64_t first; /* lowest index of a held SEND */
};

static uint64_t channel_of(const struct record *send)
{
    return (uint64_t)send->comm << 32 | (uint32_t)send->peer;
}

static bool is_fault(const struct record *record, enum fault_kind kind)
{
    return record->kind == RECORD_FAULT && record->comm == (uint32_t)kind;
}

static bool was_released(const struct trace *trace, uint64_t from, uint64_t number)
{
    for (uint64_t i = from; i < trace->count; i++)
        if (is_fault(&trace->record[i], FAULT_RELEASED) && trace->record[i].bytes == number)
            return true;
    return false;
}

static void add(struct table *held, int rank, uint64_t index, const struct record *send)
{
    struct held_channel *channel = table_get(held, (uint64_t)rank, channel_of(send));
    if (channel != NULL) {
        channel->first = index < channel->first ? index : channel->first;
        return;
    }
    channel = memory_new(1, sizeof *channel);
    channel->first = index;
    table_put(held, (uint64_t)rank, channel_of(send), channel);
}

static void read_trace(const struct trace *trace, struct table *held)
{
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct record *record = &trace->record[i];
        if (is_fault(record, FAULT_HELD) && record->bytes > 0 && record->bytes <= trace->count &&
            !was_released(trace, i, record->bytes))
            add(held, trace->rank, record->bytes - 1, &trace->record[record->bytes - 1]);
    }
}

void held_read(const struct trace_set *traces, int incarnation, struct table *held)
{
    *held = (struct table){0};
    for (size_t i = 0; i < traces->count; i++)
        if (traces->trace[i].incarnation == incarnation)
            read_trace(&traces->trace[i], held);
}

void held_release(struct table *held)
{
    for (size_t i = 0; i < held->capacity; i++)
        free(held->slot[i].value);
    table_release(held);
}

bool held_keeps(const struct table *held, int rank, uint64_t index, const struct record *send)
{
    if (held->used == 0 || send->kind != RECORD_SEND)
        return false;
    const struct held_channel *channel = table_get(held, (uint64_t)rank, channel_of(send));
    return channel != NULL && index >= channel->first;
}
