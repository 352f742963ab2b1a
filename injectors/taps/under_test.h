/* What of this process belongs to the library under test, where the scenario names one: the calls
 * of MPI that come from its object, and whole ranks.
 *
 * A library that calls MPI_X and not PMPI_X is seen by the upper tap as if the program had called.
 * So its references to MPI_X are bound to what lies behind the upper tap: its calls are on the wire
 * alone, like those of a protocol that calls PMPI_X, and a call that is the last thing a function
 * does, where the return address is that of somebody else, is told rightly as well. What comes by
 * the upper tap all the same (by a pointer that dlsym gave; the first call after a dlopen) is told
 * by its return address. */
#ifndef INJECTORS_TAPS_UNDER_TEST_H
#define INJECTORS_TAPS_UNDER_TEST_H

#include <stdbool.h>

/* First: what the environment names (LIBRARY_ENVIRONMENT, HELPERS_ENVIRONMENT). A loaded object has
 * such a name, or such a name and a version ("libx.so.2"). */
void under_test_read(void);

bool under_test_is_helper(int rank);

/* When the trace is open and the library table is filled: finds the libraries that are there and
 * binds their calls. False: none is named, and nothing need be asked. */
bool under_test_open(void);

/* A call has come by such a reference. */
void under_test_took(void);

/* For an upper call, with the address that it returns to: a named library makes it. Looks for
 * libraries that were opened since. Any thread. */
bool under_test_calls(const void *returns_to);

/* When MPI_Init has returned to a rank of the program, in a job of `size` processes: a protocol
 * that keeps helpers from the program gives it an MPI_COMM_WORLD without them, and what the program
 * says of ranks there is counted so. */
void under_test_look_at_world(int rank, int size);

#endif
