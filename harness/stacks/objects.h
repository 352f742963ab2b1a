/* The shared objects that a program or library is linked with, as the dynamic linker finds them;
 * its own files are listed by it (ld.so --list), nothing of them is run. Not among them: what is
 * opened later, by dlopen. */
#ifndef STACKS_OBJECTS_H
#define STACKS_OBJECTS_H

#include <stddef.h>

/* Adds the paths of those of `module`, by the dynamic linker that `program` names, to *objects,
 * each once; the list and its texts are the caller's to free. None where they are not known. */
void objects_add(const char *program, const char *module, char ***objects, size_t *count);

#endif
