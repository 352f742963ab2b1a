/* See trees.h. Below the program each rank passes multicasts on and puts contributions together
 * whenever it looks at what has come: when that happens shows nowhere, so nobody needs to know it
 * again, but at the root of a reduction and where the program gets a multicast.
 *
 * [CM] does with less, and is wrong there: README.md of the protocol says how. So here a rank keeps
 * the determinants of a contribution whose payload it drops, and the root keeps what its children
 * gave, for the case that one of them dies. */
#include "common/logging/trees.h"

#include "common/logging/counts.h"

#include "common/logging/recovery.h"
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

/* A reduction of another root, under way here. */
struct gathering {
    struct gathering *next;
    uint64_t comm;
    int root;
    uint64_t number;
    struct packet_list parts; /* of children */
    struct packet *own;       /* NULL: the program has not come to it. Owned */
    struct layer_combining how;
    struct comm *members; /* then; held */
};

/* Reductions on a communicator to a root up to that number. */
struct finished {
    struct finished *next;
    uint64_t comm;
    int root;
    uint64_t number;
};

/* A packet and what it came with. */
struct held {
    struct held *next;
    struct letter letter;
    struct packet *packet; /* owned */
};

static struct {
    struct stream *streams;
    struct gathering *gatherings;
    struct finished *finished;
    struct held *unknown; /* multicasts and contributions taken, whose communicator is to come */
    struct held *early;   /* multicasts ahead of others */
    struct held *given;   /* contributions to reductions of this rank, since the line */
} trees;

uint64_t trees_handle(uint64_t comm)
{
    const struct comm *one = comm_by_id(comm);
    return one && !one->freed ? (uint64_t)one->user : 0;
}

/* A rank of the application in a communicator. */
static int place_in(const struct comm *comm, int rank)
{
    int place = 0;
    while (place < comm->size && comm->world[place] != rank)
        place++;
    return place;
}

static struct tree own_tree(const struct comm *comm, int root)
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

static void send_to_children(const struct comm *comm, int root, struct letter_bytes *bytes,
                             int kind)
{
    struct tree tree = own_tree(comm, root);
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
    faultline_multicast((uint64_t)comm->user, self.rank, packet->head.number);
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
    send_to_children(comm, self.rank, bytes, LETTER_MULTICAST);
}

/* Line 19, 20 there. What its root knew goes no further than to its children, who have it stored
 * before they pass the payload on. */
static void pass_on(const struct comm *comm, const struct letter *letter,
                    const struct packet *packet)
{
    struct letter passed = {.kind = LETTER_MULTICAST, .line = self.line, .origin = letter->origin};
    struct letter_bytes *bytes = logging_write(passed, NULL, packet);
    send_to_children(comm, packet->head.from, bytes, LETTER_MULTICAST);
    letter_bytes_drop(bytes);
}

/* --- reductions under way --------------------------------------------------------------------- */

static struct finished *finished_of(uint64_t comm, int root)
{
    struct finished *one = trees.finished;
    while (one && (one->comm != comm || one->root != root))
        one = one->next;
    if (one)
        return one;
    one = memory(1, sizeof *one);
    *one = (struct finished){.next = trees.finished, .comm = comm, .root = root};
    return trees.finished = one;
}

static struct gathering *gathering_of(uint64_t comm, int root, uint64_t number)
{
    struct gathering *one = trees.gatherings;
    while (one && (one->comm != comm || one->number != number))
        one = one->next;
    if (one)
        return one;
    one = memory(1, sizeof *one);
    *one =
        (struct gathering){.next = trees.gatherings, .comm = comm, .root = root, .number = number};
    return trees.gatherings = one;
}

static void gathering_free(struct gathering *one)
{
    struct gathering **link = &trees.gatherings;
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    packet_list_clear(&one->parts);
    packet_drop(one->own);
    if (one->members)
        comm_drop(one->members);
    free(one);
}

static struct packet *take_part(struct gathering *one, int child)
{
    struct packet_list rest = {0};
    struct packet *found = NULL, *packet;
    while ((packet = packet_take_first(&one->parts)))
        if (packet->head.source == child && !found)
            found = packet;
        else
            packet_append(&rest, packet);
    one->parts = rest;
    return found;
}

static int count(const struct packet_list *list)
{
    int number = 0;
    for (const struct packet *one = list->first; one; one = one->next)
        number++;
    return number;
}

/* [CM], algorithm 3, lines 9 to 19. */
static void pass_up(const struct comm *comm, const struct gathering *one, struct packet *packet,
                    int parent)
{
    struct letter letter = {.kind = LETTER_CONTRIBUTION, .line = self.line};
    int to = comm->world[parent];
    struct letter_bytes *bytes = logging_write(letter, logging_own(), packet);
    tree_log_add(&(struct part){.line = self.line,
                                .comm = comm->id,
                                .number = one->number,
                                .to = to,
                                .root = one->root,
                                .has_payload = true,
                                .bytes = bytes});
    counts.logged += sizeof packet->head + packet->head.bytes;
    logging_count(bytes);
    channels_send(bytes, to, LETTER_CONTRIBUTION);
}

static void combine_if_ready(struct gathering *one)
{
    if (!one->own)
        return;
    struct comm *comm = one->members;
    struct tree tree = own_tree(comm, one->root);
    if (count(&one->parts) < tree.children)
        return;
    struct packet_head head = one->own->head;
    for (int i = 0; i < tree.children; i++) {
        struct packet *part = take_part(one, tree.child[i].rank);
        one->own = tree.child[i].ahead ? layer_combine(&one->how, part, one->own)
                                       : layer_combine(&one->how, one->own, part);
    }
    head.bytes = one->own->head.bytes;
    one->own->head = head;
    pass_up(comm, one, one->own, tree.parent);
    gathering_free(one);
}

/* Lines 21 to 27 of algorithm 2. What is finished, or was given back to this rank, is not done
 * again. */
void trees_contribute(struct packet *packet, const struct layer_combining *how)
{
    const struct packet_head *head = &packet->head;
    int root = (int)head->about;
    if (!self.begun)
        refuse("a collective call before checkpoint_restore", "calls after it");
    if (head->number <= finished_of(head->comm, root)->number ||
        tree_log_was_given_back(head->comm, head->number)) {
        packet_drop(packet);
        return;
    }
    struct gathering *one = gathering_of(head->comm, root, head->number);
    one->own = packet;
    one->how = *how;
    one->members = comm_by_id(head->comm);
    comm_hold(one->members);
    combine_if_ready(one);
}

/* --- finished --------------------------------------------------------------------------------- */

static struct letter_bytes *write_finished(uint64_t comm, int root, uint64_t number)
{
    struct letter letter = {.kind = LETTER_FINISHED, .line = self.line};
    struct packet packet = {.head = {.comm = comm, .about = (uint64_t)root, .number = number}};
    return logging_write(letter, NULL, &packet);
}

/* Lines 25 to 29 of algorithm 3. */
static void tell_children(const struct comm *comm, int root, uint64_t number)
{
    struct letter_bytes *bytes = write_finished(comm->id, root, number);
    send_to_children(comm, root, bytes, LETTER_FINISHED);
    letter_bytes_drop(bytes);
}

void trees_reduced(uint64_t id, uint64_t number)
{
    const struct comm *comm = comm_by_id(id);
    struct finished *finished = finished_of(id, self.rank);
    if (number > finished->number)
        finished->number = number;
    faultline_reduced((uint64_t)comm->user, self.rank, number);
    tell_children(comm, self.rank, number);
}

/* The determinants alone: with the payload gone they may be nowhere else when the parent dies. */
static struct letter_bytes *without_payload(const struct letter_bytes *bytes)
{
    struct letter letter;
    struct letter_bytes *rest;
    memcpy(&letter, bytes->data, sizeof letter);
    size_t size = sizeof letter + letter.determinants * sizeof(struct determinant);
    rest = letter_bytes_new(size);
    memcpy(rest->data, bytes->data, size);
    letter.kind = LETTER_TOLD;
    memcpy(rest->data, &letter, sizeof letter);
    return rest;
}

/* Lines 30 to 34. */
static void is_finished(struct part *part)
{
    uint64_t handle = trees_handle(part->comm);
    if (part->reduced)
        return;
    part->reduced = true;
    if (part->to != part->root)
        tree_log_forget_payload(part, without_payload(part->bytes));
    if (handle != 0)
        faultline_reduced(handle, part->root, part->number);
}

static void finish_up_to(const struct packet_head *head)
{
    int root = (int)head->about;
    struct finished *finished = finished_of(head->comm, root);
    const struct comm *comm = comm_by_id(head->comm);
    if (head->number > finished->number)
        finished->number = head->number;
    for (struct part *part = tree_log_first(); part; part = part->next)
        if (part->to != NOBODY && part->comm == head->comm && part->root == root &&
            part->number <= head->number)
            is_finished(part);
    for (struct gathering *one = trees.gatherings, *next; one; one = next) {
        next = one->next;
        if (one->comm == head->comm && one->root == root && one->number <= head->number)
            gathering_free(one);
    }
    if (comm)
        tell_children(comm, root, head->number);
}

/* --- what comes ------------------------------------------------------------------------------- */

/* Tells of what has come, and passes it on; it needs the communicator for that. */
static bool introduce(const struct letter *letter, const struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    const struct comm *comm = comm_by_id(head->comm);
    bool multicast = head->kind == PACKET_MULTICAST;
    if (!comm)
        return false;
    faultline_taken((uint64_t)comm->user, head->from, head->number,
                    multicast ? letter->origin : letter->incarnation);
    if (multicast)
        pass_on(comm, letter, packet);
    return true;
}

void trees_catch_up(void)
{
    struct held **link = &trees.unknown;
    while (*link)
        if (introduce(&(*link)->letter, (*link)->packet))
            packet_drop(let_go(link));
        else
            link = &(*link)->next;
    tree_log_tell();
}

static void drop(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    uint64_t handle = trees_handle(head->comm);
    if (handle != 0)
        faultline_discarded(handle, head->from, head->number,
                            head->kind == PACKET_MULTICAST ? letter->origin : letter->incarnation);
    packet_drop(packet);
}

/* It is new, and for this rank's program, or to go further. Takes over the packet. */
static void accept(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    bool is_mine = head->kind == PACKET_MULTICAST || (int)head->about == self.rank;
    if (!introduce(letter, packet))
        hold(&trees.unknown, letter, packet_hold(packet));
    if (head->kind == PACKET_CONTRIBUTION && is_mine)
        hold(&trees.given, letter, packet_hold(packet))->letter.line = self.line;
    if (is_mine) {
        logging_came(packet);
        return;
    }
    struct gathering *one = gathering_of(head->comm, (int)head->about, head->number);
    packet_append(&one->parts, packet);
    combine_if_ready(one);
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

/* Lines 28 to 39. */
static void contribution_comes(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    struct stream *stream = stream_of(head);
    bool is_mine = (int)head->about == self.rank;
    if (head->number < stream->count) {
        drop(letter, packet);
        return;
    }
    stream->count = head->number + 1;
    if (!is_mine && (head->number <= finished_of(head->comm, (int)head->about)->number ||
                     tree_log_was_given_back(head->comm, head->number)))
        packet_drop(packet);
    else
        accept(letter, packet);
}

/* This rank's contribution, which its process of before gave to a reduction of the sender. */
static void is_given_back(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    struct letter again = {.kind = LETTER_CONTRIBUTION, .line = self.line};
    tree_log_give_back(&(struct part){.line = self.line,
                                      .comm = head->comm,
                                      .number = head->number,
                                      .to = letter->sender,
                                      .root = letter->sender,
                                      .has_payload = true,
                                      .bytes = logging_write(again, NULL, packet)});
    for (struct gathering *one = trees.gatherings; one; one = one->next)
        if (one->comm == head->comm && one->number == head->number) {
            gathering_free(one);
            break;
        }
    packet_drop(packet);
}

void trees_comes(const struct letter *letter, struct packet *packet)
{
    if (letter->kind == LETTER_MULTICAST) {
        multicast_comes(letter, packet);
    } else if (letter->kind == LETTER_CONTRIBUTION) {
        contribution_comes(letter, packet);
    } else if (letter->kind == LETTER_RETURNED) {
        is_given_back(letter, packet);
    } else if (letter->kind == LETTER_FINISHED) {
        finish_up_to(&packet->head);
        packet_drop(packet);
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

void trees_drop_before(uint64_t line)
{
    tree_log_drop_before(line);
    for (struct held **link = &trees.given; *link;)
        if ((*link)->letter.line < line)
            packet_drop(let_go(link));
        else
            link = &(*link)->next;
}

void trees_write(struct bytes *out)
{
    uint64_t streams = 0;
    for (const struct stream *one = trees.streams; one; one = one->next)
        streams++;
    bytes_put_number(out, streams);
    for (const struct stream *one = trees.streams; one; one = one->next)
        bytes_put(out, one, sizeof *one);
    for (const struct gathering *one = trees.gatherings; one; one = one->next) {
        if (one->own)
            refuse("a reduction that a rank begins before a potential checkpoint and another one "
                   "after it",
                   "all on one side");
        for (const struct packet *packet = one->parts.first; packet; packet = packet->next)
            packet_write(packet, out);
    }
}

void trees_read(struct reader in)
{
    for (uint64_t left = reader_number(&in); left > 0; left--) {
        struct stream *one = memory(1, sizeof *one);
        const void *stored = reader_take(&in, sizeof *one);
        if (!stored)
            die("the saved line is damaged");
        memcpy(one, stored, sizeof *one);
        one->next = trees.streams;
        trees.streams = one;
    }
    while (in.left > 0) {
        struct packet *packet = packet_read(&in);
        if (!packet)
            die("the saved line is damaged");
        const struct packet_head *head = &packet->head;
        packet_append(&gathering_of(head->comm, (int)head->about, head->number)->parts, packet);
    }
}

/* --- recovery --------------------------------------------------------------------------------- */

static bool concerns(const struct part *part, int rank)
{
    return part->to == rank ||
           (part->members && place_in(part->members, rank) < part->members->size);
}

static void send_to(int to, struct letter_bytes *bytes, int kind)
{
    channels_send(bytes, to, kind);
    letter_bytes_drop(bytes);
}

void trees_send_again(int to)
{
    struct letter returned = {.kind = LETTER_RETURNED, .line = self.line};
    for (const struct part *part = tree_log_first(); part; part = part->next)
        if (concerns(part, to))
            channels_send(part->bytes, to,
                          part->to == NOBODY ? LETTER_MULTICAST : LETTER_CONTRIBUTION);
    for (const struct held *one = trees.given; one; one = one->next)
        if (one->packet->head.from == to)
            send_to(to, logging_write(returned, NULL, one->packet), LETTER_RETURNED);
    for (const struct finished *one = trees.finished; one; one = one->next)
        if (one->number > 0 && one->root != to)
            send_to(to, write_finished(one->comm, one->root, one->number), LETTER_FINISHED);
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
    while (trees.gatherings)
        gathering_free(trees.gatherings);
    for (struct stream *one = trees.streams, *next; one; one = next) {
        next = one->next;
        free(one);
    }
    for (struct finished *one = trees.finished, *next; one; one = next) {
        next = one->next;
        free(one);
    }
}
