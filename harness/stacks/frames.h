/* The frames of one call stack, and how they are printed: function, file and line, as far as the
 * files on disk have them. For whoever walks a stack with libdw. Must not know: where the stack
 * comes from, runs, ranks. */
#ifndef STACKS_FRAMES_H
#define STACKS_FRAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FRAMES_MOST 32 /* of one stack; what lies further out is left out */

struct frame {
    Dwarf_Addr address; /* of the call, not of the return */
    Dwfl_Module *module;
};

/* Innermost first. Begins as all 0; modules belong to the Dwfl session. */
struct frames {
    struct frame frame[FRAMES_MOST];
    size_t count;
    bool more;
    bool inside_mpi; /* a frame of an MPI library is among them */
};

/* For dwfl_thread_getframes, with a struct frames as its argument. */
int frames_take(Dwfl_Frame *state, void *frames);

/* A line a frame, out to main; those of Faultline itself, and all but the outermost of an MPI
 * library, are only counted. While the session that
 * they were taken in is open. Function names, also of static and inlined functions, need the symbol
 * table of the program (or its debug information); file and line need debug information. */
void frames_print(FILE *out, const struct frames *frames);

#endif
