/* The library keeps attributes, with two exceptions: those whose values it would get from its
 * launcher; and the attributes of MPI_COMM_WORLD and MPI_COMM_SELF are deleted here, since the
 * library's MPI_Finalize is not called in a rank. */
#include "engine/communicators/parts.h"

#include <stdlib.h>

/* Keys with which the program has set attributes of the two, in that order. */
struct keys {
    int *key;
    int count, room;
};
static struct keys keys_of_world, keys_of_self;

static struct keys *keys_of(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return &keys_of_world;
    return comm == MPI_COMM_SELF ? &keys_of_self : NULL;
}

static void forget(struct keys *keys, int key)
{
    int kept = 0;
    for (int i = 0; i < keys->count; i++)
        if (keys->key[i] != key)
            keys->key[kept++] = keys->key[i];
    keys->count = kept;
}

static void note(struct keys *keys, int key)
{
    forget(keys, key);
    if (keys->count == keys->room) {
        keys->room = 2 * keys->room + 8;
        keys->key = realloc(keys->key, (size_t)keys->room * sizeof *keys->key);
        if (!keys->key)
            engine_abort(MPI_ERR_NO_MEM);
    }
    keys->key[keys->count++] = key;
}

static int comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    int result = local.Comm_set_attr(comm, keyval, value);
    if (result == MPI_SUCCESS && keys_of(comm))
        note(keys_of(comm), keyval);
    return result;
}

static int comm_delete_attr(MPI_Comm comm, int keyval)
{
    int result = local.Comm_delete_attr(comm, keyval);
    if (result == MPI_SUCCESS && keys_of(comm))
        forget(keys_of(comm), keyval);
    return result;
}

static int comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    static int universe, application;
    bool asked = keyval == MPI_UNIVERSE_SIZE || keyval == MPI_APPNUM;
    if (!asked || !communicator_view(comm) || !value || !flag)
        return local.Comm_get_attr(comm, keyval, value, flag);
    universe = engine->ranks;
    *(int **)value = keyval == MPI_UNIVERSE_SIZE ? &universe : &application;
    *flag = 1;
    return MPI_SUCCESS;
}

/* The last one that was set ends first. */
static void delete_all(MPI_Comm comm, struct keys *keys)
{
    while (keys->count > 0)
        local.Comm_delete_attr(comm, keys->key[--keys->count]);
}

void communicators_close(void)
{
    delete_all(MPI_COMM_SELF, &keys_of_self);
    delete_all(MPI_COMM_WORLD, &keys_of_world);
}

void attributes_fill(struct library *table)
{
    table->Comm_set_attr = comm_set_attr;
    table->Attr_put = comm_set_attr;
    table->Comm_delete_attr = comm_delete_attr;
    table->Attr_delete = comm_delete_attr;
    table->Comm_get_attr = comm_get_attr;
    table->Attr_get = comm_get_attr;
}
