/* See trees.h. Below the program each rank passes multicasts on whenever it looks at what has come:
 * when that happens shows nowhere, so nobody needs to know it again, but where the program gets
 * one.
 *
 * [CM] does with less, and is wrong there: README.md of the protocol says how. So here the root of
 * a reduction keeps what its children gave, for the case that one of them dies. */
#include "common/logging/trees.h"

#include "common/logging/counts.h"
#include "common/logging/gatherings.h"
#include "common/logging/tree_log.h"
#include "common/messages/comms.h"
#include "common/messages/tree.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

/* What comes from a root, or up to a root from a child, has a number that goes up. */
struct stream {
    struct stream *next;
    uint64_t comm;
    int64_t root;
    int64_t from;   /* NOBODY: multicasts */
    uint64_t count; /* the next of them */
};

/* A packet and what it came with. */
struct held {
    struct held *next;
    struct letter letter;
    struct packet *packet; /* owned */
};

static struct {
    struct stream *streams;
    struct held *unknown; /* to be passed on, when the communicator is there */
    struct held *early;   /* multicasts ahead of others */
    struct held *given;   /* contributions to reductions of this rank, since the line */
} trees;

/* A rank of the application in a communicator. */
static int place_in(const struct comm *comm, int rank)
{
    int place = 0;
    while (place < comm->size && comm->world[place] != rank)
        place++;
    return place;
}

struct tree trees_own(const struct comm *comm, int root)
{
    return tree_of(comm->size, place_in(comm, root), comm->rank);
}

static struct held *hold(struct held **list, const struct letter *letter, struct packet *packet)
{
    struct held *one = memory(1, sizeof *one);
    *one = (struct held){.letter = *letter, .packet = packet};
    while (*list)
        list = &(*list)->next;
    return *list = one;
}

static struct packet *let_go(struct held **link)
{
    struct held *one = *link;
    struct packet *packet = one->packet;
    *link = one->next;
    free(one);
    return packet;
}

static struct stream *stream_of(const struct packet_head *head)
{
    bool multicast = head->kind == PACKET_MULTICAST;
    int64_t root = multicast ? head->from : (int64_t)head->about;
    int64_t from = multicast ? NOBODY : head->from;
    struct stream *one = trees.streams;
    while (one && (one->comm != head->comm || one->root != root || one->from != from))
        one = one->next;
    if (one)
        return one;
    one = memory(1, sizeof *one);
    *one = (struct stream){.next = trees.streams, .comm = head->comm, .root = root, .from = from};
    return trees.streams = one;
}

/* --- what goes out ---------------------------------------------------------------------------- */

void trees_send_to_children(const struct comm *comm, int root, struct letter_bytes *bytes, int kind)
{
    struct tree tree = trees_own(comm, root);
    for (int i = 0; i < tree.children; i++) {
        logging_count(bytes);
        channels_send(bytes, comm->world[tree.child[i].rank], kind);
    }
}

/* [CM], algorithm 2, lines 1 to 9. */
void trees_multicast(struct packet *packet)
{
    struct letter letter = {
        .kind = LETTER_MULTICAST, .line = self.line, .origin = self.incarnation[self.rank]};
    struct comm *comm = comm_by_id(packet->head.comm);
    if (!self.begun)
        refuse("a collective call before checkpoint_restore", "calls after it");
    logging_note(FAULTLINE_MULTICAST, comm->id, self.rank, 0, packet->head.number, 0);
    struct letter_bytes *bytes = logging_write(letter, logging_own(), packet);
    tree_log_add(&(struct part){.line = self.line,
                                .comm = comm->id,
                                .number = packet->head.number,
                                .to = NOBODY,
                                .root = self.rank,
                                .has_payload = true,
                                .members = comm,
                                .bytes = bytes});
    counts.logged += sizeof packet->head + packet->head.bytes;
    packet_drop(packet);
    trees_send_to_children(comm, self.rank, bytes, LETTER_MULTICAST);
}

/* Line 19, 20 there. What its root knew goes no further than to its children, who have it stored
 * before they pass the payload on. */
static void pass_on(const struct comm *comm, const struct letter *letter,
                    const struct packet *packet)
{
    struct letter passed = {.kind = LETTER_MULTICAST, .line = self.line, .origin = letter->origin};
    struct letter_bytes *bytes = logging_write(passed, NULL, packet);
    trees_send_to_children(comm, packet->head.from, bytes, LETTER_MULTICAST);
    letter_bytes_drop(bytes);
}

/* --- what comes ------------------------------------------------------------------------------- */

/* To those below; false: it needs the communicator for that. */
static bool go_further(const struct letter *letter, const struct packet *packet)
{
    const struct comm *comm = comm_by_id(packet->head.comm);
    if (letter->kind == LETTER_FINISHED)
        return gatherings_finish(&packet->head);
    if (comm)
        pass_on(comm, letter, packet);
    return comm != NULL;
}

void trees_catch_up(void)
{
    struct held **link = &trees.unknown;
    while (*link)
        if (go_further(&(*link)->letter, (*link)->packet))
            packet_drop(let_go(link));
        else
            link = &(*link)->next;
}

static void note(int kind, const struct letter *letter, const struct packet_head *head)
{
    bool multicast = head->kind == PACKET_MULTICAST;
    logging_note(kind, head->comm, head->from, 0, head->number,
                 multicast ? letter->origin : letter->incarnation);
}

static void drop(const struct letter *letter, struct packet *packet)
{
    note(FAULTLINE_DISCARDED, letter, &packet->head);
    packet_drop(packet);
}

/* It is new, and for this rank's program, or to go further. Takes over the packet. */
static void accept(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    bool multicast = head->kind == PACKET_MULTICAST;
    note(FAULTLINE_TAKEN, letter, head);
    if (multicast && !go_further(letter, packet))
        hold(&trees.unknown, letter, packet_hold(packet));
    if (!multicast && (int)head->about != self.rank) {
        gatherings_add(packet);
        return;
    }
    if (!multicast) {
        hold(&trees.given, letter, packet_hold(packet))->letter.line = self.line;
        counts.given += sizeof *head + head->bytes;
    }
    logging_came(packet);
}

/* Lines 10 to 20 of algorithm 2. One that has overtaken others waits: it came by the tree, they
 * come from the root, which sends them to this process again. */
static void multicast_comes(const struct letter *letter, struct packet *packet)
{
    struct stream *stream = stream_of(&packet->head);
    if (packet->head.about > stream->count) {
        hold(&trees.early, letter, packet);
        return;
    }
    if (packet->head.about < stream->count) {
        drop(letter, packet);
        return;
    }
    stream->count++;
    accept(letter, packet);
    for (struct held **link = &trees.early; *link; link = &(*link)->next) {
        struct letter next = (*link)->letter;
        const struct packet_head *head = &(*link)->packet->head;
        if (stream_of(head) == stream && head->about <= stream->count) {
            multicast_comes(&next, let_go(link));
            return;
        }
    }
}

/* Lines 28 to 39. What nobody needs any more is no duplicate, so it is not noted as one. */
static void contribution_comes(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    struct stream *stream = stream_of(head);
    if (head->number < stream->count) {
        drop(letter, packet);
        return;
    }
    stream->count = head->number + 1;
    if (gatherings_are_over(head->comm, (int)head->about, head->number))
        packet_drop(packet);
    else
        accept(letter, packet);
}

void trees_comes(const struct letter *letter, struct packet *packet)
{
    if (letter->kind == LETTER_MULTICAST) {
        multicast_comes(letter, packet);
    } else if (letter->kind == LETTER_CONTRIBUTION) {
        contribution_comes(letter, packet);
    } else if (letter->kind == LETTER_RETURNED) {
        gatherings_give_back(letter, packet);
    } else if (letter->kind == LETTER_FINISHED) {
        if (go_further(letter, packet))
            packet_drop(packet);
        else
            hold(&trees.unknown, letter, packet);
    }
}

void trees_stale(const struct letter *letter, struct packet *packet)
{
    bool of_dead = packet && packet->head.from == letter->sender;
    if (of_dead && (letter->kind == LETTER_MULTICAST || letter->kind == LETTER_CONTRIBUTION))
        drop(letter, packet);
    else
        packet_drop(packet);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void drop_held_before(struct held **link, uint64_t line)
{
    while (*link)
        if ((*link)->letter.line < line)
            packet_drop(let_go(link));
        else
            link = &(*link)->next;
}

void trees_drop_before(uint64_t line)
{
    tree_log_drop_before(line);
    gatherings_drop_before(line);
    drop_held_before(&trees.given, line);
    drop_held_before(&trees.unknown, line);
}

void trees_write(struct bytes *out)
{
    uint64_t streams = 0;
    for (const struct stream *one = trees.streams; one; one = one->next)
        streams++;
    bytes_put_number(out, streams);
    for (const struct stream *one = trees.streams; one; one = one->next) {
        bytes_put_number(out, one->comm);
        bytes_put_number(out, (uint64_t)one->root);
        bytes_put_number(out, (uint64_t)one->from);
        bytes_put_number(out, one->count);
    }
    gatherings_write(out);
}

void trees_read(struct reader in)
{
    for (uint64_t left = reader_number(&in); left > 0 && !in.failed; left--) {
        struct stream *one = memory(1, sizeof *one);
        one->comm = reader_number(&in);
        one->root = (int64_t)reader_number(&in);
        one->from = (int64_t)reader_number(&in);
        one->count = reader_number(&in);
        one->next = trees.streams;
        trees.streams = one;
    }
    if (in.failed)
        die("the saved line is damaged");
    gatherings_read(in);
}

/* --- recovery --------------------------------------------------------------------------------- */

static bool is_multicast_to(const struct part *part, int rank)
{
    return part->to == NOBODY && place_in(part->members, rank) < part->members->size;
}

void trees_resend(int to)
{
    struct letter returned = {.kind = LETTER_RETURNED, .line = self.line};
    for (struct part *part = tree_log_first(); part; part = part->next)
        if (part->to == to)
            gatherings_send_again(part);
        else if (is_multicast_to(part, to))
            channels_send(part->bytes, to, LETTER_MULTICAST);
    for (const struct held *one = trees.given; one; one = one->next) {
        if (one->packet->head.from != to)
            continue;
        struct letter_bytes *bytes = logging_write(returned, NULL, one->packet);
        channels_send(bytes, to, LETTER_RETURNED);
        letter_bytes_drop(bytes);
    }
    gatherings_send_finished(to);
}

static void clear(struct held **list)
{
    while (*list)
        packet_drop(let_go(list));
}

void trees_close(void)
{
    tree_log_close();
    clear(&trees.unknown);
    clear(&trees.early);
    clear(&trees.given);
    for (struct stream *one = trees.streams, *next; one; one = next) {
        next = one->next;
        free(one);
    }
    gatherings_close();
}
