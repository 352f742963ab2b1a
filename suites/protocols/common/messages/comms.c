/* See comms.h. */
#include "common/messages/comms.h"

#include "common/base/mix.h"
#include "common/base/numbered.h"
#include "common/messages/layer.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct comm *all;
    uint64_t numbers; /* given to the program so far */
} comms;

static struct comm *insert(MPI_Comm user, uint64_t id, int *world, int size)
{
    struct comm *comm = memory(1, sizeof *comm);
    *comm = (struct comm){.next = comms.all, .user = user, .id = id, .rank = -1};
    comm->world = world;
    comm->size = size;
    for (int i = 0; i < size; i++)
        if (world[i] == layer_rank())
            comm->rank = i;
    comms.all = comm;
    return comm;
}

static int *first_ranks(int size, int first)
{
    int *world = memory((size_t)size, sizeof *world);
    for (int i = 0; i < size; i++)
        world[i] = first + i;
    return world;
}

static void remove_all(void)
{
    while (comms.all) {
        struct comm *comm = comms.all;
        comms.all = comm->next;
        free(comm->world);
        free(comm);
    }
}

void comms_close(void)
{
    remove_all();
}

struct comm *comm_of(MPI_Comm user)
{
    for (struct comm *comm = comms.all; comm; comm = comm->next)
        if (comm->user == user && !comm->freed)
            return comm;
    return NULL;
}

struct comm *comm_by_id(uint64_t id)
{
    for (struct comm *comm = comms.all; comm; comm = comm->next)
        if (comm->id == id)
            return comm;
    return NULL;
}

uint64_t comm_count(struct comm *parent)
{
    return parent->made++;
}

static bool is_predefined(const struct comm *comm)
{
    return comm->id == COMM_ID_WORLD || comm->id == COMM_ID_SELF;
}

/* The members first: the taps are to know them when they hear of the identity. */
static void note(const struct comm *comm)
{
    faultline_members((uint64_t)comm->user, comm->world, comm->size, comm->rank);
    faultline_identity((uint64_t)comm->user, comm->id);
}

/* The taps ask the library of these two, where a process in reserve is a member. */
static void note_predefined(void)
{
    int processes;
    struct comm *world = comm_by_id(COMM_ID_WORLD), *own = comm_by_id(COMM_ID_SELF);
    PMPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes == world->size || world->rank < 0)
        return;
    faultline_members((uint64_t)world->user, world->world, world->size, world->rank);
    faultline_members((uint64_t)own->user, own->world, own->size, own->rank);
}

void comms_open(int rank, int ranks)
{
    insert(MPI_COMM_SELF, COMM_ID_SELF, first_ranks(1, rank), 1);
    insert(MPI_COMM_WORLD, COMM_ID_WORLD, first_ranks(ranks, 0), ranks);
    note_predefined();
}

void comms_become(int rank)
{
    comm_by_id(COMM_ID_WORLD)->rank = rank;
    struct comm *own = comm_by_id(COMM_ID_SELF);
    own->world[0] = rank;
    own->rank = 0;
    note_predefined();
}

/* What is made of MPI_COMM_SELF is known to this rank alone, so its rank is part of the identity.
 */
struct comm *comm_make(const struct comm *parent, uint64_t count, uint64_t which, int *world,
                       int size)
{
    uint64_t id = mix_two(mix_two(mix_two(parent->id, count), which), (uint64_t)world[0]);
    if (comms.numbers == NUMBERED_CARRIED_MAX)
        die("more than %d communicators", NUMBERED_CARRIED_MAX);
    MPI_Comm user = NUMBERED(MPI_Comm, NUMBERED_CARRIED, comms.numbers++);
    struct comm *comm = insert(user, id, world, size);
    note(comm);
    return comm;
}

static void remove_if_unused(struct comm *comm)
{
    if (!comm->freed || comm->holds > 0)
        return;
    struct comm **link = &comms.all;
    while (*link != comm)
        link = &(*link)->next;
    *link = comm->next;
    free(comm->world);
    free(comm);
}

void comm_free(struct comm *comm)
{
    comm->freed = true;
    remove_if_unused(comm);
}

void comms_remove_unused(void)
{
    for (struct comm *comm = comms.all, *next; comm; comm = next) {
        next = comm->next;
        remove_if_unused(comm);
    }
}

void comm_hold(struct comm *comm)
{
    comm->holds++;
}

void comm_drop(struct comm *comm)
{
    comm->holds--;
    remove_if_unused(comm);
}

/* --- as bytes --------------------------------------------------------------------------------- */

void comms_write(struct bytes *out)
{
    bytes_put_number(out, comms.numbers);
    for (const struct comm *comm = comms.all; comm; comm = comm->next) {
        bytes_put_number(out, HANDLE_BITS(comm->user));
        bytes_put_number(out, comm->id);
        bytes_put_number(out, comm->made);
        bytes_put_number(out, comm->numbered);
        bytes_put_number(out, comm->multicasts);
        bytes_put_number(out, comm->freed);
        bytes_put_row(out, comm->world, (size_t)comm->size * sizeof *comm->world);
    }
}

/* The library's own handles may be others than when they were written. */
static MPI_Comm handle_now(uint64_t written, uint64_t id)
{
    return id == COMM_ID_WORLD  ? MPI_COMM_WORLD
           : id == COMM_ID_SELF ? MPI_COMM_SELF
                                : (MPI_Comm)(uintptr_t)written;
}

/* Requests hold theirs when they are read. */
static void read_one(struct reader *in)
{
    uint64_t user = reader_number(in);
    uint64_t id = reader_number(in), made = reader_number(in);
    uint64_t numbered = reader_number(in), multicasts = reader_number(in);
    uint64_t freed = reader_number(in);
    struct reader row = reader_row(in);
    size_t size = row.left / sizeof(int);
    if (in->failed || size == 0)
        die("the saved communicators are damaged");
    int *world = memory(size, sizeof *world);
    memcpy(world, row.next, size * sizeof *world);
    struct comm *comm = insert(handle_now(user, id), id, world, (int)size);
    comm->made = made;
    comm->numbered = numbered;
    comm->multicasts = multicasts;
    comm->freed = freed != 0;
    if (!is_predefined(comm)) /* a freed one, too: messages on it are still to come */
        note(comm);
}

static void reverse(void)
{
    struct comm *turned = NULL;
    while (comms.all) {
        struct comm *comm = comms.all;
        comms.all = comm->next;
        comm->next = turned;
        turned = comm;
    }
    comms.all = turned;
}

void comms_read(struct reader in)
{
    remove_all();
    comms.numbers = reader_number(&in);
    while (in.left > 0 && !in.failed)
        read_one(&in);
    reverse();
}
