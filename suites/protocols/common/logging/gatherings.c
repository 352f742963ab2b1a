/* See gatherings.h. When contributions are put together shows nowhere but at the root of a
 * reduction, so nobody needs to know it again.
 *
 * [CM] does with less, and is wrong there: README.md of the protocol says how. So here a rank keeps
 * the determinants of a contribution whose payload it drops. */
#include "common/logging/gatherings.h"

#include "common/logging/counts.h"
#include "common/logging/letters.h"
#include "common/logging/trees.h"
#include "common/messages/comms.h"
#include "common/messages/tree.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

/* A reduction of another root, under way here. */
struct gathering {
    struct gathering *next;
    uint64_t comm;
    int root;
    uint64_t number;
    struct packet_list parts;   /* of children */
    struct packet *own;         /* NULL: the program has not come to it. Owned */
    struct layer_combining how; /* then; with a hold of handles */
    struct comm *members;       /* then; held */
};

/* Reductions on a communicator to a root up to that number. */
struct finished {
    struct finished *next;
    uint64_t comm;
    int root;
    uint64_t number;
    uint64_t line; /* of this rank, when it heard of the last of them */
};

static struct {
    struct gathering *first;
    struct finished *finished;
} gatherings;

static struct finished *finished_of(uint64_t comm, int root)
{
    struct finished *one = gatherings.finished;
    while (one && (one->comm != comm || one->root != root))
        one = one->next;
    if (one)
        return one;
    one = memory(1, sizeof *one);
    *one = (struct finished){.next = gatherings.finished, .comm = comm, .root = root};
    return gatherings.finished = one;
}

static void note_finished(struct finished *finished, uint64_t number)
{
    finished->line = self.line;
    if (number > finished->number)
        finished->number = number;
}

static struct gathering *gathering_of(uint64_t comm, int root, uint64_t number)
{
    struct gathering *one = gatherings.first;
    while (one && (one->comm != comm || one->number != number))
        one = one->next;
    if (one)
        return one;
    one = memory(1, sizeof *one);
    *one =
        (struct gathering){.next = gatherings.first, .comm = comm, .root = root, .number = number};
    return gatherings.first = one;
}

static void gathering_free(struct gathering *one)
{
    struct gathering **link = &gatherings.first;
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    packet_list_clear(&one->parts);
    packet_drop(one->own);
    if (one->members) {
        comm_drop(one->members);
        layer_drop_handles();
    }
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
                                .members = one->members,
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
    struct tree tree = trees_own(comm, one->root);
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

void gatherings_add(struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    struct gathering *one = gathering_of(head->comm, (int)head->about, head->number);
    packet_append(&one->parts, packet);
    combine_if_ready(one);
}

bool gatherings_are_over(uint64_t comm, int root, uint64_t number)
{
    return number <= finished_of(comm, root)->number || tree_log_was_given_back(comm, number);
}

/* Lines 21 to 27 of algorithm 2. What is over is not done again. */
void gatherings_contribute(struct packet *packet, const struct layer_combining *how)
{
    const struct packet_head *head = &packet->head;
    int root = (int)head->about;
    if (!self.begun)
        refuse("a collective call before checkpoint_restore", "calls after it");
    trees_catch_up();
    if (gatherings_are_over(head->comm, root, head->number)) {
        packet_drop(packet);
        return;
    }
    struct gathering *one = gathering_of(head->comm, root, head->number);
    one->own = packet;
    one->how = *how;
    one->members = comm_by_id(head->comm);
    comm_hold(one->members);
    layer_hold_handles();
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
static void inform_children(const struct comm *comm, int root, uint64_t number)
{
    struct letter_bytes *bytes = write_finished(comm->id, root, number);
    trees_send_to_children(comm, root, bytes, LETTER_FINISHED);
    letter_bytes_drop(bytes);
}

void gatherings_reduced(uint64_t id, uint64_t number)
{
    const struct comm *comm = comm_by_id(id);
    note_finished(finished_of(id, self.rank), number);
    logging_note(FAULTLINE_REDUCED, id, 0, self.rank, number, 0);
    inform_children(comm, self.rank, number);
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
    letter.kind = LETTER_DETERMINANTS;
    memcpy(rest->data, &letter, sizeof letter);
    return rest;
}

/* Lines 30 to 34. */
static void is_finished(struct part *part)
{
    if (part->reduced)
        return;
    part->reduced = true;
    if (part->to != part->root)
        tree_log_forget_payload(part, without_payload(part->bytes));
    logging_note(FAULTLINE_REDUCED, part->comm, 0, part->root, part->number, 0);
}

bool gatherings_finish(const struct packet_head *head)
{
    int root = (int)head->about;
    const struct comm *comm = comm_by_id(head->comm);
    note_finished(finished_of(head->comm, root), head->number);
    for (struct part *part = tree_log_first(); part; part = part->next)
        if (part->to != NOBODY && part->comm == head->comm && part->root == root &&
            part->number <= head->number)
            is_finished(part);
    for (struct gathering *one = gatherings.first, *next; one; one = next) {
        next = one->next;
        if (one->comm == head->comm && one->root == root && one->number <= head->number)
            gathering_free(one);
    }
    if (comm)
        inform_children(comm, root, head->number);
    return comm != NULL;
}

void gatherings_give_back(const struct letter *letter, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    struct letter contribution = {.kind = LETTER_CONTRIBUTION, .line = self.line};
    tree_log_give_back(&(struct part){.line = self.line,
                                      .comm = head->comm,
                                      .number = head->number,
                                      .to = letter->sender,
                                      .root = letter->sender,
                                      .has_payload = true,
                                      .bytes = logging_write(contribution, NULL, packet)});
    for (struct gathering *one = gatherings.first; one; one = one->next)
        if (one->comm == head->comm && one->number == head->number) {
            gathering_free(one);
            break;
        }
    packet_drop(packet);
}

static struct packet *packet_of(const struct letter_bytes *bytes)
{
    struct reader in = {.next = bytes->data, .left = bytes->size};
    struct letter letter;
    memcpy(&letter, reader_take(&in, sizeof letter), sizeof letter);
    struct determinants carried = letters_read_determinants(&letter, &in);
    determinants_release(&carried);
    return letters_read_packet(&in);
}

void gatherings_send_again(struct part *part)
{
    bool given_back = !part->members && part->has_payload;
    if (given_back) {
        struct letter letter = {.kind = LETTER_CONTRIBUTION, .line = part->line};
        struct packet *packet = packet_of(part->bytes);
        letter_bytes_drop(part->bytes);
        part->bytes = logging_write(letter, logging_own(), packet);
        packet_drop(packet);
    }
    channels_send(part->bytes, part->to, LETTER_CONTRIBUTION);
}

/* --- lines and recovery ----------------------------------------------------------------------- */

void gatherings_drop_before(uint64_t line)
{
    struct finished **link = &gatherings.finished;
    while (*link) {
        struct finished *one = *link;
        if (one->line >= line) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        free(one);
    }
}

void gatherings_write(struct bytes *out)
{
    for (const struct gathering *one = gatherings.first; one; one = one->next) {
        if (one->own)
            refuse("a reduction that a rank begins before a potential checkpoint and another one "
                   "after it",
                   "all on one side");
        for (const struct packet *packet = one->parts.first; packet; packet = packet->next)
            packet_write(packet, out);
    }
}

void gatherings_read(struct reader in)
{
    while (in.left > 0) {
        struct packet *packet = packet_read(&in);
        if (!packet)
            die("the saved line is damaged");
        const struct packet_head *head = &packet->head;
        packet_append(&gathering_of(head->comm, (int)head->about, head->number)->parts, packet);
    }
}

void gatherings_send_finished(int to)
{
    for (const struct finished *one = gatherings.finished; one; one = one->next) {
        if (one->number == 0 || one->root == to)
            continue;
        struct letter_bytes *bytes = write_finished(one->comm, one->root, one->number);
        channels_send(bytes, to, LETTER_FINISHED);
        letter_bytes_drop(bytes);
    }
}

void gatherings_close(void)
{
    while (gatherings.first)
        gathering_free(gatherings.first);
    for (struct finished *one = gatherings.finished, *next; one; one = next) {
        next = one->next;
        free(one);
    }
}
