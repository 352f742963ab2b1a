/* The two tables of the engine: what it answers itself, and the MPI library's own functions for
 * what is local to a process (datatypes, packing, operations, info, attributes, names, error
 * handlers, fields of a status, generalized requests). */
#ifndef ENGINE_LIBRARY_H
#define ENGINE_LIBRARY_H

#include "injectors/record/library.h"

/* The MPI library's own. Never to be called where other ranks or messages are meant. */
extern struct library local;

/* In the process from which the ranks are forked. */
void engine_prepare(void);

/* Keeps `library` as `local` and fills it with the engine's functions; what is not local and the
 * engine has not is refused by name. Where the upper tap led to the library itself, it leads to the
 * engine. */
void engine_fill(struct library *table);

/* The parts of it: each sets the members that it answers. */
void life_fill(struct library *table);
void requests_fill(struct library *table);
void messages_fill(struct library *table);
void communicators_fill(struct library *table);
void collectives_fill(struct library *table);
void ulfm_fill(struct library *table);
void dynamic_fill(struct library *table);

#endif
