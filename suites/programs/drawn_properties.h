/* Of the program `drawn`: what a communicator has besides its members. Each rank gives names and
 * error handlers to communicators in some steps, and asks for them in all. One that is made ahead
 * of checkpoint_restore has an attribute and an error handler of the program's own. Must not know:
 * messages. */
#ifndef DRAWN_PROPERTIES_H
#define DRAWN_PROPERTIES_H

#include "checkpoint.h"
#include "collective_calls.h"
#include "drawn_plan.h"
#include "drawn_rare.h"
#include "program.h"

#define OUR_NAMES "drawn in step " /* no library gives a communicator such a name */

static struct {
    struct {
        uint64_t named;   /* the step in which it got its name, plus one; 0: not from us */
        uint64_t returns; /* its error handler is MPI_ERRORS_RETURN, else MPI_ERRORS_ARE_FATAL */
    } of[SLOT_INTER];
} properties;

static MPI_Comm attributed = MPI_COMM_NULL;
static MPI_Errhandler counting;
static int attribute_key, end_key, attribute = 7, errors;
static bool ended; /* in MPI_Finalize, with what MPI says of it */

static void count_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    errors++;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF while all of MPI can still be used (MPI 4.0,
 * section 11.2.4). */
static int at_end(MPI_Comm self_comm, int key, void *value, void *extra)
{
    int keyval, *found, there;
    MPI_Errhandler handler, before;
    (void)self_comm, (void)key, (void)extra;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value);
    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &there);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    errors = 0;
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&before);
    ended = there && found == &attribute && errors == 1;
    return MPI_SUCCESS;
}

/* Ahead of checkpoint_restore. The one that has the attribute is a duplicate of one that got it. */
static void properties_prepare(void)
{
    MPI_Comm parent;
    checkpoint_register("properties", &properties, sizeof properties);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &attribute_key, NULL);
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_attr(parent, attribute_key, &attribute);
    MPI_Comm_set_errhandler(parent, counting);
    MPI_Comm_dup(parent, &attributed);
    MPI_Comm_free(&parent);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &end_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, end_key, &attribute);
    MPI_Comm_free_keyval(&end_key);
}

static void properties_end(void)
{
    MPI_Comm_free(&attributed);
    MPI_Comm_free_keyval(&attribute_key);
    MPI_Errhandler_free(&counting);
}

static MPI_Errhandler handler_of(int slot)
{
    return properties.of[slot].returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
}

/* A communicator has no name at first, and the error handler of the one that it is made of; but
 * MPICH 4.0.2 does not hand that down in MPI_Comm_create and MPI_Comm_create_group. */
static void properties_of_new(uint64_t step)
{
    enum constructor how = constructor_of(step);
    properties.of[SLOT_CHANGING].named = 0;
    properties.of[SLOT_CHANGING].returns = properties.of[SLOT_WORLD].returns;
    if (how == CREATE || how == CREATE_GROUP)
        MPI_Comm_set_errhandler(comm_of(SLOT_CHANGING), handler_of(SLOT_CHANGING));
}

static bool has_its_name(MPI_Comm comm, uint64_t named)
{
    char name[MPI_MAX_OBJECT_NAME], expected[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(comm, name, &length);
    if (named == 0)
        return strncmp(name, OUR_NAMES, strlen(OUR_NAMES)) != 0;
    snprintf(expected, sizeof expected, OUR_NAMES "%llu", (unsigned long long)named);
    return strcmp(name, expected) == 0;
}

static bool has_its_handler(MPI_Comm comm, MPI_Errhandler expected)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    bool same = handler == expected;
    MPI_Errhandler_free(&handler);
    return same;
}

static void check_attributed(uint64_t step)
{
    int *found, there;
    errors = 0;
    MPI_Comm_get_attr(attributed, attribute_key, &found, &there);
    MPI_Comm_call_errhandler(attributed, MPI_ERR_OTHER);
    if (!there || found != &attribute)
        wrong_in(step, "a communicator has lost its attribute");
    if (errors != 1)
        wrong_in(step, "an error handler of the program's own is not called");
}

static void check_properties(uint64_t step)
{
    for (int slot = 0; slot < SLOT_INTER; slot++) {
        MPI_Comm comm = comm_of((enum slot)slot);
        if (comm == MPI_COMM_NULL)
            continue;
        if (!has_its_name(comm, properties.of[slot].named))
            wrong_in(step, "a communicator has another name than it was given");
        if (!has_its_handler(comm, handler_of(slot)))
            wrong_in(step, "a communicator has another error handler than it was given");
    }
    check_attributed(step);
}

static void change_properties(uint64_t step)
{
    for (int slot = 0; slot < SLOT_INTER; slot++) {
        MPI_Comm comm = comm_of((enum slot)slot);
        int what = draw(step, 94000 + self.rank * SLOT_INTER + slot, 8);
        char name[MPI_MAX_OBJECT_NAME];
        if (comm == MPI_COMM_NULL || what > 2)
            continue;
        if (what == 0) {
            properties.of[slot].named = step + 1;
            snprintf(name, sizeof name, OUR_NAMES "%llu", (unsigned long long)step + 1);
            MPI_Comm_set_name(comm, name);
        } else {
            properties.of[slot].returns = what == 1;
            MPI_Comm_set_errhandler(comm, handler_of(slot));
        }
    }
}

#endif
