/* MPI's functions that make, free and ask communicators. To duplicate one or to make one from a
 * group every member comes to the same identity by itself; to split one its members send each other
 * colour and key, by messages of this layer, so a line may run through the call. In any case none
 * returns before all have made theirs: what is sent through a communicator then finds it at its
 * receiver, which can tell what it is that it keeps across a line. */
#include "common/messages/calls.h"
#include "common/messages/collectives.h"

#include <stdlib.h>
#include <string.h>

static int *ranks_memory(int count)
{
    int *made = memory((size_t)count + 1, sizeof *made);
    return made;
}

/* Without a step: as often as the program likes. NULL: the library has complained. */
static struct comm *asked(MPI_Comm user)
{
    if (!layer_is_open())
        die("an MPI call outside MPI_Init and MPI_Finalize");
    struct comm *comm = comm_of(user);
    if (!comm)
        call_error(MPI_ERR_COMM);
    return comm;
}

/* --- asking ----------------------------------------------------------------------------------- */

LAYER_EXPORTED int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    const struct comm *it = asked(comm);
    if (!it)
        return MPI_ERR_COMM;
    *rank = it->rank;
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Comm_size(MPI_Comm comm, int *size)
{
    const struct comm *it = asked(comm);
    if (!it)
        return MPI_ERR_COMM;
    *size = it->size;
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    *flag = 0;
    return asked(comm) ? MPI_SUCCESS : MPI_ERR_COMM;
}

/* The library's group of the same numbers. */
LAYER_EXPORTED int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    MPI_Group world;
    const struct comm *it = asked(comm);
    if (!it)
        return MPI_ERR_COMM;
    layer_everybody(&world);
    int error = PMPI_Group_incl(world, it->size, it->world, group);
    PMPI_Group_free(&world);
    return error;
}

LAYER_EXPORTED int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    MPI_Group one, other;
    if (!asked(comm1) || !asked(comm2))
        return MPI_ERR_COMM;
    MPI_Comm_group(comm1, &one);
    MPI_Comm_group(comm2, &other);
    int error = PMPI_Group_compare(one, other, result);
    PMPI_Group_free(&one);
    PMPI_Group_free(&other);
    if (*result == MPI_IDENT && comm1 != comm2)
        *result = MPI_CONGRUENT;
    return error;
}

/* --- making ----------------------------------------------------------------------------------- */

static void meet(struct comm *parent)
{
    char nothing = 0;
    collective_exchange(parent, &nothing, 0, &nothing);
}

LAYER_EXPORTED int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *parent = call_begin(comm);
    if (!parent)
        return MPI_ERR_COMM;
    int *world = ranks_memory(parent->size);
    memcpy(world, parent->world, (size_t)parent->size * sizeof *world);
    *newcomm = comm_make(parent, comm_count(parent), 0, world, parent->size)->user;
    meet(parent);
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    int size, rank;
    MPI_Group all;
    struct comm *parent = call_begin(comm);
    if (!parent)
        return MPI_ERR_COMM;
    uint64_t count = comm_count(parent);
    *newcomm = MPI_COMM_NULL;
    PMPI_Group_size(group, &size);
    int *world = ranks_memory(size), *in_group = ranks_memory(size);
    for (int i = 0; i < size; i++)
        in_group[i] = i;
    layer_everybody(&all);
    PMPI_Group_translate_ranks(group, size, in_group, all, world);
    PMPI_Group_free(&all);
    free(in_group);
    for (rank = 0; rank < size && world[rank] != layer_rank();)
        rank++;
    if (rank < size)
        *newcomm = comm_make(parent, count, 0, world, size)->user;
    else
        free(world);
    meet(parent);
    return MPI_SUCCESS;
}

struct choice {
    int color;
    int key;
    int rank; /* in the parent */
};

static int by_key(const void *a, const void *b)
{
    const struct choice *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

/* Of those with the same colour, in the order of their keys. */
static MPI_Comm make_split(const struct comm *parent, uint64_t count, int color,
                           struct choice *choice)
{
    int size = 0;
    int *world = ranks_memory(parent->size);
    qsort(choice, (size_t)parent->size, sizeof *choice, by_key);
    for (int i = 0; i < parent->size; i++)
        if (choice[i].color == color)
            world[size++] = parent->world[choice[i].rank];
    return comm_make(parent, count, (uint64_t)(unsigned)color, world, size)->user;
}

LAYER_EXPORTED int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct comm *parent = call_begin(comm);
    if (!parent)
        return MPI_ERR_COMM;
    if (color < 0 && color != MPI_UNDEFINED)
        return call_error(MPI_ERR_ARG);
    uint64_t count = comm_count(parent);
    struct choice mine = {.color = color, .key = key, .rank = parent->rank};
    struct choice *all = memory((size_t)parent->size, sizeof *all);
    collective_exchange(parent, &mine, sizeof mine, all);
    *newcomm = color == MPI_UNDEFINED ? MPI_COMM_NULL : make_split(parent, count, color, all);
    free(all);
    meet(parent);
    return MPI_SUCCESS;
}

/* --- freeing ---------------------------------------------------------------------------------- */

static int give_up(MPI_Comm *comm)
{
    struct comm *it = call_begin(*comm);
    if (!it)
        return MPI_ERR_COMM;
    if (it->id == COMM_ID_WORLD || it->id == COMM_ID_SELF)
        return call_error(MPI_ERR_COMM);
    comm_free(it);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Comm_free(MPI_Comm *comm)
{
    return give_up(comm);
}

LAYER_EXPORTED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return give_up(comm);
}

/* --- passed on -------------------------------------------------------------------------------- */

LAYER_EXPORTED int MPI_Abort(MPI_Comm comm, int errorcode)
{
    (void)comm;
    return PMPI_Abort(MPI_COMM_WORLD, errorcode);
}

LAYER_EXPORTED int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return asked(comm) ? PMPI_Comm_set_errhandler(LAYER_HAS_HANDLER, errhandler) : MPI_ERR_COMM;
}

LAYER_EXPORTED int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return asked(comm) ? PMPI_Comm_get_errhandler(LAYER_HAS_HANDLER, errhandler) : MPI_ERR_COMM;
}

LAYER_EXPORTED int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    return asked(comm) ? PMPI_Comm_call_errhandler(LAYER_HAS_HANDLER, errorcode) : MPI_ERR_COMM;
}

/* The time is a choice of nobody's: in the past it is what it was. */
LAYER_EXPORTED double MPI_Wtime(void)
{
    double time = PMPI_Wtime();
    if (layer_is_open())
        layer_decision("MPI_Wtime", &time, sizeof time);
    return time;
}
