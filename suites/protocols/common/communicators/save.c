/* handles_save: see saved.h for what is written. */
#include "common/base/numbered.h"
#include "common/communicators/saved.h"
#include "common/communicators/topology.h"

#include <stdlib.h>

/* In the order of enum saved_handler. */
static const MPI_Errhandler handlers[] = {MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL,
                                          MPI_ERRORS_RETURN, MPI_ERRORS_ABORT};
#define HANDLERS (sizeof handlers / sizeof handlers[0])

static enum saved_handler saved_handler_of(MPI_Comm comm)
{
    MPI_Errhandler handler;
    enum saved_handler found = HANDLER_OTHER;
    PMPI_Comm_get_errhandler(comm, &handler);
    for (size_t i = HANDLER_FATAL; i < HANDLERS; i++)
        if (handler == handlers[i])
            found = (enum saved_handler)i;
    PMPI_Errhandler_free(&handler);
    return found;
}

void saved_handler_set(MPI_Comm comm, enum saved_handler handler)
{
    if (handler > HANDLER_OTHER && (size_t)handler < HANDLERS)
        PMPI_Comm_set_errhandler(comm, handlers[handler]);
}

/* Appends `part` as a row, and empties it. */
static void put_part(struct bytes *out, struct bytes *part)
{
    bytes_put_row(out, part->data, part->size);
    out->failed |= part->failed;
    bytes_release(part);
}

static void write_properties(const struct handle *handle, struct bytes *out)
{
    struct bytes part = {0};
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    PMPI_Comm_get_name(handle->real, name, &length);
    bytes_put_row(&part, name, (size_t)length);
    bytes_put_number(&part, saved_handler_of(handle->real));
    bytes_put_row(&part, handle->made.row, handle->made.size * sizeof *handle->made.row);
    put_part(out, &part);
}

static void write_claim(const struct handle *handle, struct bytes *out)
{
    struct bytes topology = {0};
    topology_write(handle->real, &topology);
    bytes_put_number(out, handle->id);
    bytes_put_row(out, handle->world, (size_t)handle->size * sizeof *handle->world);
    put_part(out, &topology);
}

static void write_handle(const struct handle *handle, struct bytes *out)
{
    bytes_put_number(out, handle->id);
    bytes_put_number(out, HANDLE_BITS(handle->user));
    bytes_put_number(out, handle->freed);
    bytes_put_number(out, handle->early);
    write_properties(handle, out);
}

static void write_handles(struct bytes *out)
{
    struct bytes claims = {0};
    uint64_t number = 0;
    for (const struct handle *handle = handles.all; handle; handle = handle->next)
        number++;
    bytes_put_number(&claims, number);
    for (const struct handle *handle = handles.all; handle; handle = handle->next)
        write_claim(handle, &claims);
    put_part(out, &claims);
    bytes_put_number(out, number);
    for (const struct handle *handle = handles.all; handle; handle = handle->next)
        write_handle(handle, out);
}

static void write_done(struct bytes *out)
{
    uint64_t number = 0;
    for (const struct done_creation *done = handles.done; done; done = done->next)
        number++;
    bytes_put_number(out, number);
    for (const struct done_creation *done = handles.done; done; done = done->next) {
        bytes_put_number(out, done->series);
        bytes_put_number(out, done->count);
        bytes_put_number(out, done->result);
    }
}

/* They are part of this checkpoint alone: no later line runs through the same calls. */
static void write_passed(struct bytes *out)
{
    struct bytes all = {0};
    uint64_t number = 0;
    for (const struct passed_creation *passed = handles.passed; passed; passed = passed->next)
        number++;
    bytes_put_number(&all, number);
    while (handles.passed) {
        struct passed_creation *passed = handles.passed;
        handles.passed = passed->next;
        bytes_put_number(&all, passed->series);
        bytes_put_number(&all, passed->count);
        put_part(&all, &passed->members);
        free(passed);
    }
    put_part(out, &all);
}

void handles_save(struct bytes *out)
{
    bytes_put_number(out, handles.numbers);
    bytes_put_number(out, handles.early_numbers);
    write_properties(&handles.world, out);
    write_properties(&handles.own, out);
    write_handles(out);
    write_done(out);
    write_passed(out);
    if (out->failed)
        handles_fail("out of memory for the communicators of a checkpoint");
}
