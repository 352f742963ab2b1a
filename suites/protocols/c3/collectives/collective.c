/* See collective.h. */
#include "c3/collectives/collective.h"

#include "c3/calls.h"
#include "c3/line.h"
#include "c3/log.h"
#include "c3/replay.h"

#include <stdlib.h>
#include <string.h>

/* Ids of calls among those of messages, which count from 0: the suppressList has both. */
#define ID_OF_CALL ((uint64_t)1 << 63)

/* --- numbers ---------------------------------------------------------------------------------- */

/* Calls on one communicator so far. Found by handle.data; at recovery by id, until the handle has
 * it. */
struct numbered {
    struct numbered *next;
    uint64_t communicator; /* its id */
    uint64_t calls;
};

static struct numbered *all_numbered;

/* Made when first asked for. */
static struct numbered *numbered_as(uint64_t communicator)
{
    struct numbered *one = all_numbered;
    while (one && one->communicator != communicator)
        one = one->next;
    if (!one) {
        one = memory(1, sizeof *one);
        *one = (struct numbered){.next = all_numbered, .communicator = communicator};
        all_numbered = one;
    }
    return one;
}

static struct numbered *numbered_of(struct handle *communicator)
{
    if (!communicator->data)
        communicator->data = numbered_as(communicator->id);
    return communicator->data;
}

void collective_numbers_freed(struct handle *communicator)
{
    struct numbered **link = &all_numbered;
    while (*link && (*link)->communicator != communicator->id)
        link = &(*link)->next;
    struct numbered *one = *link;
    if (!one)
        return;
    *link = one->next;
    free(one);
    communicator->data = NULL;
}

void collective_numbers_save(struct bytes *out)
{
    for (const struct numbered *one = all_numbered; one; one = one->next) {
        bytes_put_number(out, one->communicator);
        bytes_put_number(out, one->calls);
    }
}

/* What was called before the restore is forgotten, like what was sent. */
void collective_numbers_restore(struct reader in)
{
    for (struct numbered *one = all_numbered; one; one = one->next)
        one->calls = 0;
    while (in.left > 0 && !in.failed) {
        uint64_t communicator = reader_number(&in), calls = reader_number(&in);
        if (!in.failed)
            numbered_as(communicator)->calls = calls;
    }
    if (in.failed)
        die("the checkpoint's numbers of collective calls are damaged");
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    const uint64_t both[2] = {a, b};
    return XXH3_64bits(both, sizeof both);
}

/* --- the call --------------------------------------------------------------------------------- */

static bits *room_for_bits(int size)
{
    static bits *room;
    static int had;
    if (had < size) {
        room = larger(room, (size_t)size * sizeof *room);
        had = size;
    }
    return room;
}

void collective_begin_on(struct collective *call, struct handle *communicator)
{
    *call = (struct collective){.communicator = communicator,
                                .real = communicator->real,
                                .rank = communicator->rank,
                                .size = communicator->size,
                                .bits = room_for_bits(communicator->size)};
}

void collective_number(struct collective *call)
{
    uint64_t number = ++numbered_of(call->communicator)->calls;
    call->id = mixed(call->communicator->id, number) | ID_OF_CALL;
}

bool collective_begin(struct collective *call, MPI_Comm comm)
{
    struct handle *communicator = call_begin(comm);
    if (communicator)
        collective_begin_on(call, communicator);
    return communicator != NULL;
}

bool collective_has_root(const struct collective *call, int root)
{
    return root >= 0 && root < call->size;
}

static int world_of(const struct collective *call, int rank)
{
    return call->communicator->world[rank];
}

/* --- the log ---------------------------------------------------------------------------------- */

static void log_result(const struct collective *call, const struct parts *result)
{
    uint64_t bytes = parts_bytes(result);
    char *row = memory(1, bytes);
    parts_pack(result, row);
    struct log_entry entry = {
        .kind = LOG_RESULT, .positive = 1, .number = call->id, .bytes = bytes, .data_bytes = bytes};
    log_append(&entry, row);
    free(row);
    phase("result-logged");
}

/* A rank beyond the line has sent its part of a result that is in the log: after recovery it must
 * not send it again. The suppressList is in the checkpoint, which is saved, so this goes into the
 * log. */
static void log_suppressed(const struct collective *call, int sender)
{
    struct log_entry entry = {
        .kind = LOG_SENDER, .positive = 1, .source = sender, .number = call->id};
    log_append(&entry, NULL);
}

bool collective_replayed(const struct collective *call, const struct parts *result)
{
    const char *data;
    const struct log_entry *entry = replay_result(call->id, &data);
    if (!entry)
        return false;
    if (entry->bytes != parts_bytes(result))
        die("in recovery the result of a collective call has %llu bytes, it had %llu",
            (unsigned long long)parts_bytes(result), (unsigned long long)entry->bytes);
    if (parts_unpack(result, data) != MPI_SUCCESS)
        die("the result of a collective call cannot be unpacked");
    phase("result-replayed");
    return true;
}

bool collective_suppressed(const struct collective *call, int root)
{
    if (call->rank == root || !replay_suppresses(call->id))
        return false;
    self.sent[world_of(call, root)]++;
    phase("call-suppressed");
    return true;
}

/* --- from the root to all --------------------------------------------------------------------- */

int collective_was_sent(const struct collective *call, int error)
{
    for (int rank = 0; error == MPI_SUCCESS && rank < call->size; rank++)
        if (rank != call->rank)
            self.sent[world_of(call, rank)]++;
    return error;
}

int collective_came_from_root(const struct collective *call, int root, const struct parts *result,
                              const struct reexec *reexec, int error)
{
    if (error != MPI_SUCCESS)
        return error;
    int world = world_of(call, root);
    struct bits_stand stand = bits_read(call->bits[root]);
    switch (stand.crossing) {
    case CROSSING_LATE:
        self.previous[world]++;
        log_result(call, result);
        break;
    case CROSSING_EARLY:
        self.next[world]++;
        reexec_add(reexec);
        break;
    case CROSSING_INTRA:
        self.current[world]++;
        if (stand.stopped)
            line_stop_logging();
        break;
    }
    return error;
}

/* --- from all to the root --------------------------------------------------------------------- */

int collective_was_sent_to_root(const struct collective *call, int root, int error)
{
    if (error == MPI_SUCCESS)
        self.sent[world_of(call, root)]++;
    return error;
}

/* Of the others, as this rank sees them. */
struct others {
    bool cross;   /* the line runs between one of them and this rank */
    bool stopped; /* one has stopped logging */
};

static struct others look_at_others(const struct collective *call)
{
    struct others others = {false, false};
    for (int rank = 0; rank < call->size; rank++) {
        struct bits_stand stand = bits_read(call->bits[rank]);
        if (rank == call->rank)
            continue;
        others.cross |= stand.crossing != CROSSING_INTRA;
        others.stopped |= stand.stopped;
    }
    return others;
}

static void count_contribution(const struct collective *call, int rank, bool logged)
{
    int world = world_of(call, rank);
    switch (bits_read(call->bits[rank]).crossing) {
    case CROSSING_LATE:
        self.previous[world]++;
        break;
    case CROSSING_EARLY:
        line_early(world, call->id);
        break;
    case CROSSING_INTRA:
        self.current[world]++;
        if (logged)
            log_suppressed(call, world);
        break;
    }
}

int collective_came_from_all(const struct collective *call, const struct parts *result, int error)
{
    if (error != MPI_SUCCESS)
        return error;
    struct others others = look_at_others(call);
    bool logged = others.cross && self.logging;
    for (int rank = 0; rank < call->size; rank++)
        if (rank != call->rank)
            count_contribution(call, rank, logged);
    if (logged)
        log_result(call, result);
    else if (others.stopped)
        line_stop_logging();
    return error;
}

/* --- from all to all -------------------------------------------------------------------------- */

int collective_was_exchanged(const struct collective *call, const struct parts *result, int error)
{
    if (error != MPI_SUCCESS)
        return error;
    struct others others = look_at_others(call);
    if (others.cross && self.logging)
        log_result(call, result);
    else if (others.stopped)
        line_stop_logging();
    return error;
}
