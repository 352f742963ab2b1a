/* See table.h and handles.h. */
#include "common/communicators/table.h"

#include "common/base/mix.h"
#include "common/base/numbered.h"
#include "faultline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_WORLD 1
#define ID_SELF 2

struct handles handles;

void handles_fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: rank %d: ", handles.protocol->name, handles.rank);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void handles_refuse(const char *what, const char *instead)
{
    handles.protocol->refuse(what, instead);
    handles_fail("%s is not supported; supported: %s", what, instead);
}

void *handles_memory(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        handles_fail("out of memory for %zu times %zu bytes", count, bytes);
    return memory;
}

/* --- identities ------------------------------------------------------------------------------- */

uint64_t group_identity(const int *world, int size)
{
    uint64_t identity = mix_two(0, (uint64_t)size);
    for (int i = 0; i < size; i++)
        identity = mix_two(identity, (uint64_t)world[i]);
    return identity;
}

int *group_world(MPI_Group group, int *size)
{
    PMPI_Group_size(group, size);
    int *ranks = handles_memory((size_t)*size, sizeof *ranks);
    int *world = handles_memory((size_t)*size, sizeof *world);
    for (int i = 0; i < *size; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(group, *size, ranks, handles.world_group, world);
    free(ranks);
    return world;
}

uint64_t count_next(struct handle_counts *counts, uint64_t group)
{
    for (size_t i = 0; i < counts->size; i++)
        if (counts->row[i].group == group)
            return counts->row[i].count++;
    struct handle_count *row = realloc(counts->row, (counts->size + 1) * sizeof *row);
    if (!row)
        handles_fail("out of memory for the communicators made of one");
    counts->row = row;
    row[counts->size++] = (struct handle_count){group, 1};
    return 0;
}

void count_back(struct handle_counts *counts, uint64_t group)
{
    for (size_t i = 0; i < counts->size; i++)
        if (counts->row[i].group == group)
            counts->row[i].count--;
}

void creation_is_done(uint64_t series, uint64_t count, uint64_t result)
{
    for (const struct done_creation *done = handles.done; done; done = done->next)
        if (done->series == series && done->count == count)
            return;
    struct done_creation *done = handles_memory(1, sizeof *done);
    *done = (struct done_creation){handles.done, series, count, result};
    handles.done = done;
}

/* --- one communicator ------------------------------------------------------------------------- */

static void fill(struct handle *handle, MPI_Comm real, uint64_t id)
{
    MPI_Group group;
    PMPI_Comm_group(real, &group);
    *handle = (struct handle){
        .user = MPI_COMM_NULL, .real = real, .hidden = MPI_COMM_NULL, .id = id, .holds = 1};
    handle->world = group_world(group, &handle->size);
    PMPI_Comm_rank(real, &handle->rank);
    PMPI_Group_free(&group);
}

struct handle *handle_new(MPI_Comm real, uint64_t id)
{
    struct handle *handle = handles_memory(1, sizeof *handle);
    fill(handle, real, id);
    return handle;
}

void handle_insert(struct handle *handle)
{
    handle->next = handles.all;
    handles.all = handle;
}

static struct handle **bucket_of(MPI_Comm user)
{
    return &handles.bucket[HANDLE_BITS(user) / 2 % NUMBER_BUCKETS];
}

MPI_Comm handles_next_number(void)
{
    if (handles.numbers == NUMBERED_COMMUNICATORS_MAX)
        handles_fail("the program has made %d communicators, more than this layer has numbers for",
                     NUMBERED_COMMUNICATORS_MAX);
    return NUMBERED(MPI_Comm, NUMBERED_COMMUNICATORS, handles.numbers++);
}

void handle_publish(struct handle *handle, MPI_Comm user)
{
    handle->user = user;
    handle->in_bucket = *bucket_of(user);
    *bucket_of(user) = handle;
    faultline_stands_for(FAULTLINE_COMM, (uint64_t)user, (uint64_t)handle->real);
    faultline_identity((uint64_t)user, handle->id);
    if (handles.protocol->made)
        handles.protocol->made(handle);
}

void handle_unpublish(struct handle *handle)
{
    struct handle **link = bucket_of(handle->user);
    while (*link != handle)
        link = &(*link)->in_bucket;
    *link = handle->in_bucket;
    handle->freed = true;
}

/* What is noted of its messages was of this communicator until now, though the program has freed
 * it. */
static void forget(const struct handle *handle)
{
    faultline_stands_for(FAULTLINE_COMM, (uint64_t)handle->user, 0);
    faultline_identity((uint64_t)handle->user, 0);
}

static void release(struct handle *handle)
{
    struct handle **link = &handles.all;
    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    if (handle->freed)
        forget(handle);
    if (handles.protocol->freed && handle->user != MPI_COMM_NULL)
        handles.protocol->freed(handle);
    if (handle->hidden != MPI_COMM_NULL)
        PMPI_Comm_free(&handle->hidden);
    PMPI_Comm_free(&handle->real);
    free(handle->world);
    free(handle->made.row);
    free(handle);
}

void handle_hold(struct handle *handle)
{
    handle->holds++;
}

void handle_drop(struct handle *handle)
{
    if (--handle->holds == 0)
        release(handle);
}

/* --- looking up ------------------------------------------------------------------------------- */

struct handle *handles_of(MPI_Comm user)
{
    if (user == MPI_COMM_WORLD)
        return &handles.world;
    if (user == MPI_COMM_SELF)
        return &handles.own;
    struct handle *handle = *bucket_of(user);
    while (handle && handle->user != user)
        handle = handle->in_bucket;
    return handle;
}

MPI_Comm handles_real(MPI_Comm user)
{
    const struct handle *handle = handles_of(user);
    return handle && handles.protocol ? handle->real : user;
}

struct handle *handles_by_id(uint64_t id)
{
    if (id == handles.world.id)
        return &handles.world;
    if (id == handles.own.id)
        return &handles.own;
    struct handle *handle = handles.all;
    while (handle && handle->id != id)
        handle = handle->next;
    return handle;
}

/* --- life ------------------------------------------------------------------------------------- */

static void open_predefined(struct handle *handle, MPI_Comm comm, uint64_t id)
{
    fill(handle, comm, id);
    handle->user = comm;
    if (handles.protocol->hidden)
        PMPI_Comm_dup(comm, &handle->hidden);
    if (handles.protocol->made)
        handles.protocol->made(handle);
}

void handles_open(const struct handles_protocol *protocol)
{
    handles.protocol = protocol;
    PMPI_Comm_rank(MPI_COMM_WORLD, &handles.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &handles.ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &handles.world_group);
    open_predefined(&handles.world, MPI_COMM_WORLD, ID_WORLD);
    open_predefined(&handles.own, MPI_COMM_SELF, mix_two(ID_SELF, (uint64_t)handles.rank));
}

static void close_one(struct handle *handle)
{
    if (handles.protocol->freed && handle->user != MPI_COMM_NULL)
        handles.protocol->freed(handle);
    if (handle->hidden != MPI_COMM_NULL)
        PMPI_Comm_free(&handle->hidden);
    free(handle->world);
    free(handle->made.row);
}

void handles_close(void)
{
    while (handles.all) {
        struct handle *handle = handles.all;
        handles.all = handle->next;
        close_one(handle);
        free(handle);
    }
    close_one(&handles.own);
    close_one(&handles.world);
    for (struct done_creation *next, *done = handles.done; done; done = next) {
        next = done->next;
        free(done);
    }
    for (struct passed_creation *next, *passed = handles.passed; passed; passed = next) {
        next = passed->next;
        bytes_release(&passed->members);
        free(passed);
    }
    PMPI_Group_free(&handles.world_group);
    handles = (struct handles){0};
}
