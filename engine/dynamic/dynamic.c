/* See dynamic.h. */
#include "engine/dynamic/dynamic.h"

struct dynamic *dynamic_common(void)
{
    if (!engine->dynamic)
        engine->dynamic = engine_allocate(sizeof(struct dynamic));
    return engine->dynamic;
}

static int comm_join(int fd, MPI_Comm *intercomm)
{
    (void)fd;
    (void)intercomm;
    engine_refuse("MPI_Comm_join", "it goes by a socket, which the engine does not see");
}

void dynamic_fill(struct library *table)
{
    table->Comm_join = comm_join;
    spawn_fill(table);
    ports_fill(table);
    names_fill(table);
}
