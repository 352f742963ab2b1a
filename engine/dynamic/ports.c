/* MPI_Open_port, MPI_Comm_accept, MPI_Comm_connect: the leaders of two sides meet at a port. */
#include "engine/dynamic/dynamic.h"

#include <stdio.h>
#include <string.h>

static struct port **link_of(const char *name)
{
    struct port **link = &dynamic_common()->ports;
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static int raise(int class)
{
    return communicator_raise(MPI_COMM_WORLD, class);
}

static int open_port(MPI_Info info, char *port_name)
{
    (void)info;
    if (!port_name)
        return raise(MPI_ERR_ARG);
    engine_not_explored("MPI_Open_port");
    engine_turn();
    struct port *made = engine_allocate(sizeof *made);
    snprintf(made->name, sizeof made->name, "port#%d$process#%d$", dynamic_common()->ports_made++,
             engine_self);
    made->owner = engine_self;
    made->next = dynamic_common()->ports;
    dynamic_common()->ports = made;
    strcpy(port_name, made->name);
    return MPI_SUCCESS;
}

static int close_port(const char *port_name)
{
    if (!port_name)
        return raise(MPI_ERR_ARG);
    engine_turn();
    struct port **link = link_of(port_name), *gone = *link;
    if (!gone)
        return raise(MPI_ERR_PORT);
    *link = gone->next;
    engine_release(gone);
    return MPI_SUCCESS;
}

/* --- meeting at a port ------------------------------------------------------------------------ */

struct visit {
    struct joining joining; /* first, so that the one leads to the other */
    const char *port;
    bool accepts;
};

static struct members *members_brought(struct deposit *deposit)
{
    struct members *made =
        members_of(deposit_part(deposit, 0), (int)(deposit_bytes(deposit, 0) / sizeof(int32_t)));
    if (!made)
        engine_abort(MPI_ERR_NO_MEM);
    return made;
}

/* Takes the first process that waits on the other side of the port out of its queue. */
static struct visitor *take_partner(struct port *port, bool accepts)
{
    struct visitor **link = &port->waiting;
    while (*link && ((*link)->accepts == accepts || engine_is_dead((*link)->process)))
        link = &(*link)->next;
    struct visitor *found = *link;
    if (found)
        *link = found->next;
    return found;
}

static bool has_met(void *data)
{
    return ((const struct visitor *)data)->made != NULL;
}

static void wait_in_line(struct port *port, struct visitor *visitor)
{
    struct visitor **end = &port->waiting;
    while (*end)
        end = &(*end)->next;
    *end = visitor;
    engine_did();
    engine_wait(has_met, visitor);
}

/* Those who accept are side 0. */
static void join_with(struct visitor *partner, struct visitor *self)
{
    struct members *mine = members_brought(self->members);
    struct members *theirs = members_brought(partner->members);
    self->made = self->accepts ? shared_make(mine, theirs) : shared_make(theirs, mine);
    partner->made = shared_hold(self->made);
    shared_hold(self->made);
    members_drop(mine);
    members_drop(theirs);
    engine_wake(partner->process);
}

static struct shared_communicator *meet_at_port(struct joining *joining, int *side)
{
    const struct visit *visit = (const struct visit *)joining;
    const struct comm_view *view = joining->view;
    struct port *port = *link_of(visit->port);
    *side = visit->accepts ? 0 : 1;
    if (!port) {
        joining->result = MPI_ERR_PORT;
        return NULL;
    }
    struct visitor *self = engine_allocate(sizeof *self);
    self->accepts = visit->accepts;
    self->process = engine_self;
    self->members = deposit_of(view->local, (size_t)view->local_count * sizeof view->local[0]);
    struct visitor *partner = take_partner(port, visit->accepts);
    if (partner)
        join_with(partner, self);
    else
        wait_in_line(port, self);
    struct shared_communicator *made = self->made;
    engine_release(self->members);
    engine_release(self);
    return made;
}

static int visit(const char *port_name, bool accepts, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct visit visit = {.joining = {.leader = root,
                                      .name = accepts ? "MPI_Comm_accept" : "MPI_Comm_connect",
                                      .meet = meet_at_port},
                          .port = port_name,
                          .accepts = accepts};
    int result = inter_check(comm, root, newcomm, &visit.joining.view);
    if (result != MPI_SUCCESS)
        return result;
    if (visit.joining.view->rank == root && !port_name)
        return communicator_raise(comm, MPI_ERR_ARG);
    return inter_join(&visit.joining, newcomm);
}

static int comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                       MPI_Comm *newcomm)
{
    (void)info;
    return visit(port_name, true, root, comm, newcomm);
}

static int comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                        MPI_Comm *newcomm)
{
    (void)info;
    return visit(port_name, false, root, comm, newcomm);
}

void ports_fill(struct library *table)
{
    table->Open_port = open_port;
    table->Close_port = close_port;
    table->Comm_accept = comm_accept;
    table->Comm_connect = comm_connect;
}
