/* Dynamic processes: MPI_Comm_spawn of the program that is run, connections by ports, published
 * names. What all processes have in common lies in the mapping (engine->dynamic). */
#ifndef ENGINE_DYNAMIC_DYNAMIC_H
#define ENGINE_DYNAMIC_DYNAMIC_H

#include "engine/communicators/parts.h"

#define PORT_BYTES 64

/* A process that waits at a port, for one that comes from the other direction. */
struct visitor {
    struct visitor *next;
    bool accepts; /* it called MPI_Comm_accept, else MPI_Comm_connect */
    int32_t process;
    struct deposit *members;          /* of its side */
    struct shared_communicator *made; /* NULL: nobody has come */
};

struct port {
    struct port *next;
    char name[PORT_BYTES];
    int32_t owner;
    struct visitor *waiting;
};

/* A service under which a port is published. */
struct service {
    struct service *next;
    char name[MPI_MAX_INFO_VAL];
    char port[PORT_BYTES];
};

/* How a process that was spawned begins. */
struct birth {
    int32_t *world;
    int size, rank;
    struct shared_communicator *family; /* with its parents, who are side 0 */
    int arguments;
    char **argument; /* in the mapping; without the command */
};

struct dynamic {
    int ports_made;
    struct port *ports;
    struct service *services;
    struct birth *birth[ENGINE_MAX_PROCESSES]; /* NULL: not spawned */
};

struct dynamic *dynamic_common(void);

/* MPI_Init: the communicators of this process. Of one that was spawned the arguments become those
 * that it was spawned with. */
void dynamic_begin(int *argc, char ***argv);

void spawn_fill(struct library *table); /* spawn.c */
void ports_fill(struct library *table); /* ports.c */
void names_fill(struct library *table); /* names.c */

#endif
