/* See wire.h. */
#include "common/messages/wire.h"

#include "common/messages/layer.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE (-1)

/* A packet that the library is still sending. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    struct packet *packet;
};

static struct {
    int lanes;
    int rank;
    int ranks;
    int processes;
    MPI_Comm comm[LAYER_LANES_MAX];
    int *process;                /* by rank; NOWHERE: suspended */
    struct packet_list *waiting; /* by rank: for one that is suspended */
    uint64_t *sent;              /* by lane and rank: packets */
    uint64_t *taken;             /* likewise */
    uint64_t *sent_to;           /* by process: packets */
    uint64_t taken_all;          /* from everybody */
    struct outgoing *first;
} wire;

void wire_open(int lanes, int rank, int ranks, const int *process)
{
    wire.lanes = lanes;
    wire.rank = rank;
    wire.ranks = ranks;
    PMPI_Comm_size(MPI_COMM_WORLD, &wire.processes);
    for (int lane = 0; lane < lanes; lane++) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &wire.comm[lane]);
        PMPI_Comm_set_errhandler(wire.comm[lane], MPI_ERRORS_ARE_FATAL);
    }
    wire.process = memory((size_t)ranks, sizeof *wire.process);
    wire.waiting = memory((size_t)ranks, sizeof *wire.waiting);
    for (int i = 0; i < ranks; i++)
        wire.process[i] = process ? process[i] : i;
    wire.sent = memory((size_t)(lanes * ranks), sizeof *wire.sent);
    wire.taken = memory((size_t)(lanes * ranks), sizeof *wire.taken);
    wire.sent_to = memory((size_t)wire.processes, sizeof *wire.sent_to);
}

void wire_close(void)
{
    for (int lane = 0; lane < wire.lanes; lane++)
        PMPI_Comm_free(&wire.comm[lane]);
    free(wire.process);
    free(wire.waiting);
    free(wire.sent);
    free(wire.taken);
    free(wire.sent_to);
}

/* --- out -------------------------------------------------------------------------------------- */

static uint64_t *in_channel(uint64_t *counts, uint32_t lane, int rank)
{
    return &counts[lane * (unsigned)wire.ranks + (unsigned)rank];
}

void wire_send(struct packet *packet, int to)
{
    if (wire.process[to] == NOWHERE) {
        packet_append(&wire.waiting[to], packet);
        return;
    }
    struct outgoing *one = memory(1, sizeof *one);
    size_t bytes = sizeof packet->head + packet->head.bytes;
    if (bytes > INT_MAX)
        die("a message of %zu bytes; accepted: less than 2 GiB", bytes);
    packet->head.from = wire.rank;
    packet->head.sequence = (*in_channel(wire.sent, packet->head.lane, to))++;
    wire.sent_to[wire.process[to]]++;
    one->packet = packet;
    PMPI_Isend(&packet->head, (int)bytes, MPI_BYTE, wire.process[to], (int)packet->head.kind,
               wire.comm[packet->head.lane], &one->request);
    one->next = wire.first;
    wire.first = one;
}

bool wire_is_sent(void)
{
    for (struct outgoing **link = &wire.first; *link;) {
        struct outgoing *one = *link;
        int done;
        PMPI_Test(&one->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        packet_drop(one->packet);
        free(one);
    }
    return wire.first == NULL;
}

/* --- in --------------------------------------------------------------------------------------- */

static void check_sequence(const struct packet_head *head, size_t bytes)
{
    if (head->from < 0 || head->from >= wire.ranks || (int)head->lane >= wire.lanes ||
        bytes != sizeof *head + head->bytes)
        die("a packet that is damaged, of kind %" PRIu32, head->kind);
    uint64_t expected = (*in_channel(wire.taken, head->lane, head->from))++;
    if (head->sequence != expected)
        die("the channel from rank %d is not in order: packet %" PRIu64 " came, %" PRIu64
            " was next",
            head->from, head->sequence, expected);
}

static struct packet *take_from(MPI_Comm comm)
{
    int there = 0, bytes;
    MPI_Message message;
    MPI_Status status;
    PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &message, &status);
    if (!there)
        return NULL;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes < (int)sizeof(struct packet_head))
        die("a packet of %d bytes", bytes);
    struct packet *packet = packet_new((size_t)bytes - sizeof packet->head);
    PMPI_Mrecv(&packet->head, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    wire.taken_all++;
    check_sequence(&packet->head, (size_t)bytes);
    return packet;
}

/* Control packets have the lanes after the first to themselves, so these are looked at first. */
struct packet *wire_take(void)
{
    for (int lane = wire.lanes - 1; lane >= 0; lane--) {
        struct packet *packet = take_from(wire.comm[lane]);
        if (packet)
            return packet;
    }
    return NULL;
}

/* --- together --------------------------------------------------------------------------------- */

static bool is_over(MPI_Request *request)
{
    int done;
    PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    return done;
}

void wire_meet(void (*meanwhile)(void))
{
    MPI_Request request;
    PMPI_Ibarrier(wire.comm[0], &request);
    while (!is_over(&request)) {
        meanwhile();
        sched_yield();
    }
}

void wire_drain(void (*take)(struct packet *packet))
{
    MPI_Request request;
    uint64_t expected = 0;
    uint64_t *to_me = memory((size_t)wire.processes, sizeof *to_me);
    PMPI_Ialltoall(wire.sent_to, 1, MPI_UINT64_T, to_me, 1, MPI_UINT64_T, wire.comm[0], &request);
    for (bool counted = false;; sched_yield()) {
        struct packet *packet = wire_take();
        if (packet)
            take(packet);
        if (!counted && is_over(&request)) {
            counted = true;
            for (int i = 0; i < wire.processes; i++)
                expected += to_me[i];
        }
        if (counted && wire.taken_all == expected && wire_is_sent())
            break;
    }
    free(to_me);
}

/* --- places ----------------------------------------------------------------------------------- */

static void begin_anew(int rank)
{
    for (uint32_t lane = 0; (int)lane < wire.lanes; lane++) {
        *in_channel(wire.sent, lane, rank) = 0;
        *in_channel(wire.taken, lane, rank) = 0;
    }
}

void wire_suspend(int rank)
{
    wire.process[rank] = NOWHERE;
    begin_anew(rank);
}

void wire_set_process(int rank, int process)
{
    struct packet *packet;
    if (wire.process[rank] != NOWHERE)
        begin_anew(rank);
    wire.process[rank] = process;
    while ((packet = packet_take_first(&wire.waiting[rank])))
        wire_send(packet, rank);
}

MPI_Comm wire_comm(void)
{
    return wire.comm[0];
}

int wire_process(int rank)
{
    return wire.process[rank];
}

void wire_become(int rank)
{
    wire.rank = rank;
}
