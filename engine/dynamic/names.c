/* Published names: a service stands for a port. */
#include "engine/dynamic/dynamic.h"

#include <stdio.h>
#include <string.h>

static struct service **link_of(const char *name)
{
    struct service **link = &dynamic_common()->services;
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static int raise(int class)
{
    return communicator_raise(MPI_COMM_WORLD, class);
}

static int publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    (void)info;
    if (!service_name || !port_name)
        return raise(MPI_ERR_ARG);
    engine_not_explored("MPI_Publish_name");
    engine_turn();
    if (*link_of(service_name))
        return raise(MPI_ERR_SERVICE);
    struct service *made = engine_allocate(sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", service_name);
    snprintf(made->port, sizeof made->port, "%s", port_name);
    made->next = dynamic_common()->services;
    dynamic_common()->services = made;
    engine_did();
    return MPI_SUCCESS;
}

static int unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    (void)info;
    if (!service_name || !port_name)
        return raise(MPI_ERR_ARG);
    engine_turn();
    struct service **link = link_of(service_name), *gone = *link;
    if (!gone)
        return raise(MPI_ERR_SERVICE);
    *link = gone->next;
    engine_release(gone);
    engine_did();
    return MPI_SUCCESS;
}

static int lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    (void)info;
    if (!service_name || !port_name)
        return raise(MPI_ERR_ARG);
    engine_not_explored("MPI_Lookup_name");
    engine_turn();
    const struct service *found = *link_of(service_name);
    if (!found)
        return raise(MPI_ERR_NAME);
    snprintf(port_name, PORT_BYTES, "%s", found->port);
    return MPI_SUCCESS;
}

void names_fill(struct library *table)
{
    table->Publish_name = publish_name;
    table->Unpublish_name = unpublish_name;
    table->Lookup_name = lookup_name;
}
