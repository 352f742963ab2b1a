/* Call stacks of a run that is over, where ranks were killed and where its witness lies: out of the
 * snapshots that its processes left (stacks/snapshot.h), into stacks.txt of the run folder, after
 * what stands there of a hang. Headings: "r1#0, when it was killed", "r0#0:e97". What cannot be had
 * is said there too; nothing else comes of it. */
#ifndef STACKS_KEPT_STACKS_H
#define STACKS_KEPT_STACKS_H

#include "base/error.h"
#include "stacks/event_list.h"

#include <jansson.h>
#include <stdbool.h>

#define KEPT_STACKS_FILE "stacks.txt"

/* Those of the ranks that were killed; their snapshots are removed. Nothing if there are none. */
void kept_stacks_of_kills(const char *folder);

/* Those of the events of `witness` that have none yet, from the run in `from`, which followed that
 * in `folder`. Returns how many there were. */
size_t kept_stacks_of_witness(const char *from, const char *folder,
                              const struct event_list *witness);

/* The same for programs: by heading a list of frames, innermost first; owned by the caller. */
json_t *kept_stacks_read(const char *folder);

/* Writes a text in place of the stacks of the witness, for the reader. */
void kept_stacks_note(const char *folder, const char *text);

/* The run folder says something of these events already. */
bool kept_stacks_have(const char *folder, const struct event_list *witness);

/* A run that will be followed in the run folder `folder`, which is there, is to keep where its
 * ranks stand at these events. ERROR_IO. */
enum error_code kept_stacks_want(const char *folder, const struct event_list *witness,
                                 struct error *error);

#endif
