/* handles_restore: the communicators of a checkpoint are made again. Every rank has told all others
 * which must exist for its sake (claims.c); the members of each make it together, in the order of
 * the ids, whether they have it at their checkpoint, have freed it, or will make it. README.md has
 * the reasons. */
#include "common/communicators/saved.h"
#include "common/communicators/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAKING_TAG 0 /* one after the other: they need not be told apart */

/* One communicator of the checkpoint. */
struct saved_handle {
    uint64_t id;
    MPI_Comm user; /* MPI_COMM_NULL: not yet given to the program */
    bool freed;
    bool early;
    struct reader properties;
};

struct saved {
    uint64_t numbers;
    uint64_t early_numbers;
    struct reader world;
    struct reader own;
    struct reader claims;
    struct saved_handle *handle; /* owned */
    size_t count;
    struct reader passed;
};

/* --- reading ---------------------------------------------------------------------------------- */

static void read_handles(struct reader *in, struct saved *saved)
{
    uint64_t number = reader_number(in);
    if (number > in->left)
        saved_is_damaged();
    saved->handle = handles_memory(number, sizeof *saved->handle);
    for (; saved->count < number; saved->count++) {
        struct saved_handle *handle = &saved->handle[saved->count];
        handle->id = reader_number(in);
        handle->user = (MPI_Comm)reader_number(in);
        handle->freed = reader_number(in) != 0;
        handle->early = reader_number(in) != 0;
        handle->properties = reader_row(in);
    }
}

static void read_done(struct reader *in)
{
    for (uint64_t left = reader_number(in); left > 0 && !in->failed; left--) {
        uint64_t series = reader_number(in), count = reader_number(in);
        creation_is_done(series, count, reader_number(in));
    }
}

static void read_saved(struct reader in, struct saved *saved)
{
    *saved = (struct saved){.numbers = reader_number(&in), .early_numbers = reader_number(&in)};
    saved->world = reader_row(&in);
    saved->own = reader_row(&in);
    saved->claims = reader_row(&in);
    read_handles(&in, saved);
    read_done(&in);
    saved->passed = reader_row(&in);
    if (in.failed || in.left > 0)
        saved_is_damaged();
}

static void take_properties(struct handle *handle, struct reader in)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    struct reader stored_name = reader_row(&in);
    enum saved_handler handler = (enum saved_handler)reader_number(&in);
    struct reader made = reader_row(&in);
    if (in.failed || stored_name.left >= sizeof name)
        saved_is_damaged();
    if (stored_name.left > 0)
        memcpy(name, stored_name.next, stored_name.left);
    PMPI_Comm_set_name(handle->real, name);
    saved_handler_set(handle->real, handler);
    free(handle->made.row);
    handle->made.size = made.left / sizeof *handle->made.row;
    handle->made.row = handles_memory(made.left, 1);
    if (made.left > 0)
        memcpy(handle->made.row, made.next, made.left);
}

/* --- making ----------------------------------------------------------------------------------- */

static void make(const struct claim *claim)
{
    MPI_Group group;
    MPI_Comm comm;
    PMPI_Group_incl(handles.world_group, claim->size, claim->world, &group);
    PMPI_Comm_create_group(MPI_COMM_WORLD, group, MAKING_TAG, &comm);
    PMPI_Group_free(&group);
    if (!topology_attach(&comm, claim->topology, claim->topology_is_mine))
        saved_is_damaged();
    struct handle *handle = handle_new(comm, claim->id);
    if (handles.protocol->hidden)
        PMPI_Comm_dup(comm, &handle->hidden);
    handle_insert(handle);
}

/* What the program itself made before checkpoint_restore is there, on all its members. */
static void make_all(const struct claims *claims)
{
    for (size_t i = 0; i < claims->count; i++)
        if (!handles_by_id(claims->row[i].id))
            make(&claims->row[i]);
}

/* --- giving them to the program --------------------------------------------------------------- */

static void check_early(const struct handle *handle, const struct saved_handle *saved)
{
    if (handle->user != saved->user)
        handles_fail("the program makes other communicators before checkpoint_restore than in the "
                     "run that took the checkpoint");
}

static void give(const struct saved_handle *saved)
{
    struct handle *handle = handles_by_id(saved->id);
    if (!handle || (saved->early && !handle->early))
        handles_fail("a communicator that the checkpoint knows was not made again");
    take_properties(handle, saved->properties);
    if (handle->early)
        check_early(handle, saved);
    else if (saved->user != MPI_COMM_NULL)
        handle_publish(handle, saved->user);
    if (saved->freed)
        handle_unpublish(handle);
    handle->unsettled = saved->freed;
}

static bool is_wanted(const struct handle *handle, const struct saved *saved)
{
    for (size_t i = 0; i < saved->count; i++)
        if (saved->handle[i].id == handle->id)
            return true;
    for (const struct done_creation *done = handles.done; done; done = done->next)
        if (done->result == handle->id)
            return true;
    return false;
}

/* Other members wanted them; or the program has made them before checkpoint_restore, and freed them
 * before its checkpoint. */
static void drop_unwanted(const struct saved *saved)
{
    for (struct handle *next, *handle = handles.all; handle; handle = next) {
        next = handle->next;
        if (is_wanted(handle, saved))
            continue;
        if (handle->user != MPI_COMM_NULL)
            handle_unpublish(handle);
        handle_drop(handle);
    }
}

/* A communicator that is there on one member and gone on another could not be made again. */
static void check_none_is_held(void)
{
    for (const struct handle *handle = handles.all; handle; handle = handle->next)
        if (handle->freed)
            handles_refuse("a request outstanding at checkpoint_restore on a freed communicator",
                           "requests that are made after checkpoint_restore");
}

static void restore(const struct saved *saved)
{
    struct claims claims;
    check_none_is_held();
    if (saved->early_numbers != handles.numbers)
        handles_fail("the program makes %" PRIu64 " communicators before checkpoint_restore, and "
                     "%" PRIu64 " in the run that took the checkpoint",
                     handles.numbers, saved->early_numbers);
    claims_exchange(saved->claims, saved->passed, &claims);
    make_all(&claims);
    claims_release(&claims);
    take_properties(&handles.world, saved->world);
    take_properties(&handles.own, saved->own);
    for (size_t i = 0; i < saved->count; i++)
        give(&saved->handle[i]);
    drop_unwanted(saved);
    handles.numbers = saved->numbers;
}

void handles_restore(const void *stored, size_t bytes)
{
    handles.early_numbers = handles.numbers;
    if (stored) {
        struct saved saved;
        read_saved((struct reader){.next = stored, .left = bytes}, &saved);
        restore(&saved);
        free(saved.handle);
    }
    handles.running = true;
}

void handles_settle(void)
{
    for (struct handle *next, *handle = handles.all; handle; handle = next) {
        next = handle->next;
        if (!handle->unsettled)
            continue;
        handle->unsettled = false;
        handle_drop(handle);
    }
}
