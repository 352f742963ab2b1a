/* See reexec.h. */
#include "c3/collectives/reexec.h"

#include "c3/collectives/nonblocking.h"
#include "c3/collectives/parts.h"
#include "common/communicators/types.h"

#include <stdlib.h>

/* As in the checkpoint: five numbers, and the datatype in a row. */
struct listed {
    struct listed *next;
    struct handle *communicator; /* held */
    uint64_t kind;
    uint64_t root;
    uint64_t count;
    struct bytes type; /* owned */
    uint64_t order;    /* not in the checkpoint: there they are in this order */
};

static struct listed *first;

uint64_t reexec_next(void)
{
    static uint64_t begun;
    return ++begun;
}

static struct listed *insert(struct handle *communicator, uint64_t order)
{
    struct listed *one = memory(1, sizeof *one), **link = &first;
    one->communicator = communicator;
    one->order = order;
    handle_hold(communicator);
    while (*link && (*link)->order < order)
        link = &(*link)->next;
    one->next = *link;
    *link = one;
    return one;
}

void reexec_add(const struct reexec *reexec)
{
    struct error error;
    struct listed *one = insert(reexec->communicator, reexec->order);
    one->kind = reexec->kind;
    one->root = (uint64_t)reexec->root;
    one->count = (uint64_t)reexec->count;
    must(type_write(reexec->type, &one->type, &error), &error);
    phase("call-listed");
}

void reexec_save(struct bytes *out)
{
    for (const struct listed *one = first; one; one = one->next) {
        bytes_put_number(out, one->communicator->id);
        bytes_put_number(out, one->kind);
        bytes_put_number(out, one->root);
        bytes_put_number(out, one->count);
        bytes_put_row(out, one->type.data, one->type.size);
    }
}

bool reexec_empty(void)
{
    return !first;
}

void reexec_clear(void)
{
    while (first) {
        struct listed *one = first;
        first = one->next;
        handle_drop(one->communicator);
        bytes_release(&one->type);
        free(one);
    }
}

void reexec_restore(struct reader in)
{
    reexec_clear();
    while (in.left > 0 && !in.failed) {
        struct handle *communicator = handles_by_id(reader_number(&in));
        uint64_t kind = reader_number(&in), root = reader_number(&in), count = reader_number(&in);
        struct reader type = reader_row(&in);
        if (in.failed)
            break;
        if (!communicator || root >= (uint64_t)communicator->size)
            die("the checkpoint holds a collective call on a communicator that is not there");
        struct listed *one = insert(communicator, reexec_next());
        one->kind = kind;
        one->root = root;
        one->count = count;
        bytes_put(&one->type, type.next, type.left);
        self.current[communicator->world[root]]++;
    }
    if (in.failed)
        die("the checkpoint's list of collective calls is damaged");
}

static void perform(const struct reexec *reexec)
{
    char *owned;
    void *buffer = room_for(reexec->count, reexec->type, &owned);
    if (reexec_perform(reexec, buffer) != MPI_SUCCESS)
        die("a collective call of before the checkpoint cannot be done again");
    free(owned);
}

static void do_one(const struct listed *one)
{
    struct error error;
    struct reexec reexec = {.kind = (enum reexec_kind)one->kind,
                            .communicator = one->communicator,
                            .root = (int)one->root,
                            .count = (int)one->count};
    struct reader type = {.next = one->type.data, .left = one->type.size};
    must(type_read(&type, &reexec.type, &error), &error);
    phase("before-again");
    if (reexec.kind < REEXEC_IBCAST)
        perform(&reexec);
    else
        nonblocking_reexec(&reexec);
    phase("after-again");
    type_release(&reexec.type);
}

void reexec_do(void)
{
    for (const struct listed *one = first; one; one = one->next)
        do_one(one);
    nonblocking_reexec_finish();
    reexec_clear();
}
