/* See creation.h. After the library has made what was asked for, the members tell each other where
 * they stand; if a line runs through the call, also what each has got, so that those before the
 * line can keep it for those beyond it. */
#include "common/communicators/creation.h"

#include "common/base/mix.h"
#include "common/communicators/topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void take_parent(struct creation *creation, const char *function, MPI_Comm parent)
{
    *creation = (struct creation){
        .function = function, .parent = handles_of(parent), .made = MPI_COMM_NULL};
    creation->real = creation->parent ? creation->parent->real : parent;
}

/* Takes the creation out of those done at recovery. NULL: it is none of them. */
static struct done_creation *take_done(const struct creation *creation)
{
    struct done_creation **link = &handles.done;
    while (*link && ((*link)->series != creation->series || (*link)->count != creation->count))
        link = &(*link)->next;
    struct done_creation *done = *link;
    if (done)
        *link = done->next;
    return done;
}

/* As the library hands it down. */
static void inherit_handler(const struct handle *parent, const struct handle *made)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(parent->real, &handler);
    PMPI_Comm_set_errhandler(made->real, handler);
    PMPI_Errhandler_free(&handler);
}

static bool begin(struct creation *creation, MPI_Comm *user)
{
    creation->series = mix_two(creation->parent->id, creation->group);
    creation->count = count_next(&creation->parent->made, creation->group);
    struct done_creation *done = take_done(creation);
    if (!done)
        return false;
    *user = MPI_COMM_NULL;
    if (done->result) {
        struct handle *result = handles_by_id(done->result);
        inherit_handler(creation->parent, result);
        *user = handles_next_number();
        handle_publish(result, *user);
    }
    free(done);
    return true;
}

bool creation_begin(struct creation *creation, const char *function, MPI_Comm parent,
                    MPI_Comm *user)
{
    take_parent(creation, function, parent);
    return creation->parent && begin(creation, user);
}

bool creation_begin_group(struct creation *creation, const char *function, MPI_Comm parent,
                          MPI_Group group, int tag, MPI_Comm *user)
{
    take_parent(creation, function, parent);
    int size, rank = MPI_UNDEFINED;
    if (group != MPI_GROUP_NULL)
        PMPI_Group_rank(group, &rank);
    if (rank == MPI_UNDEFINED)
        creation->parent = NULL;
    if (!creation->parent)
        return false;
    int *world = group_world(group, &size);
    creation->group = mix_two(group_identity(world, size), (uint64_t)tag);
    free(world);
    return begin(creation, user);
}

/* --- where the members stand ------------------------------------------------------------------ */

/* The greatest of each over all members. */
struct stands {
    uint64_t line;
    uint64_t below_line; /* UINT64_MAX - line: the least line */
    uint64_t stopped;    /* line of a rank that is not logging */
    uint64_t running;
    uint64_t starting;
};
#define STANDS_NUMBERS ((int)(sizeof(struct stands) / sizeof(uint64_t)))

static struct handles_stand own_stand(void)
{
    struct handles_stand stand = {0};
    if (handles.protocol->stand)
        handles.protocol->stand(&stand);
    return stand;
}

static struct stands ask_members(const struct creation *creation, MPI_Comm members)
{
    struct handles_stand own = own_stand();
    struct stands mine = {.line = own.line,
                          .below_line = UINT64_MAX - own.line,
                          .stopped = own.logging ? 0 : own.line,
                          .running = handles.running,
                          .starting = !handles.running};
    struct stands all = mine;
    PMPI_Allreduce(&mine, &all, STANDS_NUMBERS, MPI_UINT64_T, MPI_MAX, members);
    if (all.running && all.starting)
        handles_refuse(creation->function,
                       "one communicator made before checkpoint_restore on all its ranks, or "
                       "after it on all");
    return all;
}

/* --- a line runs through the call ------------------------------------------------------------- */

static void write_own_part(const struct handle *result, struct bytes *out)
{
    struct member_of_creation part = {.world = handles.rank, .line = own_stand().line};
    struct bytes topology = {0};
    if (result) {
        part.id = result->id;
        part.rank = result->rank;
        topology_write(result->real, &topology);
    }
    bytes_put(out, &part, sizeof part);
    bytes_put_row(out, topology.data, topology.size);
    if (topology.failed || out->failed)
        handles_fail("out of memory for a communicator's topology");
    bytes_release(&topology);
}

/* The parts of all members after each other. */
static void gather_parts(const struct bytes *own, MPI_Comm members, struct bytes *all)
{
    int count, own_size = (int)own->size;
    PMPI_Comm_size(members, &count);
    int *sizes = handles_memory((size_t)count, sizeof *sizes);
    int *places = handles_memory((size_t)count, sizeof *places);
    PMPI_Allgather(&own_size, 1, MPI_INT, sizes, 1, MPI_INT, members);
    for (int i = 1; i < count; i++)
        places[i] = places[i - 1] + sizes[i - 1];
    all->size = all->room = (size_t)(places[count - 1] + sizes[count - 1]);
    all->data = handles_memory(all->size, 1);
    PMPI_Allgatherv(own->data, own_size, MPI_BYTE, all->data, sizes, places, MPI_BYTE, members);
    free(sizes);
    free(places);
}

static void line_runs_through(const struct creation *creation, const struct handle *result,
                              MPI_Comm members, const struct stands *stands)
{
    uint64_t least = UINT64_MAX - stands->below_line;
    if (stands->line - least > 1 || stands->stopped == stands->line)
        handles_fail("%s: its ranks stand at lines %" PRIu64 " to %" PRIu64 "%s",
                     creation->function, least, stands->line,
                     stands->stopped == stands->line ? ", and one has stopped logging already"
                                                     : "");
    struct bytes own = {0}, all = {0};
    write_own_part(result, &own);
    gather_parts(&own, members, &all);
    bytes_release(&own);
    if (own_stand().line == stands->line) {
        bytes_release(&all);
        return;
    }
    struct passed_creation *passed = handles_memory(1, sizeof *passed);
    *passed = (struct passed_creation){handles.passed, creation->series, creation->count, all};
    handles.passed = passed;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* What making it again would not bring back. */
static void check_inherited(const struct creation *creation, MPI_Comm made)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(made, &handler);
    bool own = handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN &&
               handler != MPI_ERRORS_ABORT;
    PMPI_Errhandler_free(&handler);
    bool attributes = creation->duplicate && creation->parent->attributes;
    if (handles.running && (own || attributes))
        handles_refuse(creation->function,
                       "communicators made after checkpoint_restore of such as have no attributes "
                       "and no error handler of the program's own");
}

/* Siblings have no member in common, so the first one's rank tells them apart. */
static struct handle *take_result(const struct creation *creation)
{
    struct handle *result = handle_new(creation->made, 0);
    result->id = mix_two(mix_two(creation->series, creation->count), (uint64_t)result->world[0]);
    result->early = !handles.running;
    result->attributes = creation->duplicate && creation->parent->attributes;
    if (handles.protocol->hidden)
        PMPI_Comm_dup(result->real, &result->hidden);
    handle_insert(result);
    return result;
}

int creation_end(struct creation *creation, int result, MPI_Comm *user)
{
    if (!creation->parent || result != MPI_SUCCESS) {
        if (creation->parent)
            count_back(&creation->parent->made, creation->group);
        if (result == MPI_SUCCESS)
            *user = creation->made;
        return result;
    }
    struct handle *got = NULL;
    if (creation->made != MPI_COMM_NULL) {
        check_inherited(creation, creation->made);
        got = take_result(creation);
    }
    MPI_Comm members = creation->group ? creation->made : creation->real;
    struct stands stands = ask_members(creation, members);
    if (stands.line != UINT64_MAX - stands.below_line)
        line_runs_through(creation, got, members, &stands);
    struct handles_stand own = own_stand();
    if (own.logging && stands.stopped == own.line)
        handles.protocol->stop_logging();
    *user = got ? handles_next_number() : MPI_COMM_NULL;
    if (got)
        handle_publish(got, *user);
    return MPI_SUCCESS;
}
