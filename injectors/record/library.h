/* The MPI library as a table of functions: the only way by which the taps reach it. Today it is the
 * MPI library of the process; whatever stands here need only do what MPI promises. */
#ifndef INJECTORS_RECORD_LIBRARY_H
#define INJECTORS_RECORD_LIBRARY_H

#include "injectors/record/handles.h"
#include "library_table.h"

#include <stdbool.h>

/* library.Send is the library's PMPI_Send. */
extern struct library library;

/* upper.Send is where the upper tap passes MPI_Send on to: the next MPI_Send in the process if that
 * is not the library's own (a protocol's), else our lower tap; with recording off the library
 * itself. */
extern struct library upper;

/* true: both tables and `handles` are filled. false: the process has no MPI library (yet). */
extern bool library_found;

/* Looks the library up (see library_found) and fills both tables; `recording` decides where `upper`
 * leads. Called when this object is loaded. Returns library_found. */
bool library_resolve(bool recording);

/* Called instead, once, by library_require; NULL: nothing is. What it calls finds the tables
 * filled, and this process may begin to record there. */
extern void (*library_wanted)(void);

/* For an MPI call that came before the library was found: looks again, among the libraries opened
 * since, and ends the process with a message if there is none. */
void library_require(void);

#endif
