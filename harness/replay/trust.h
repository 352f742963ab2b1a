/* Whether what an archive names may be run: it comes with the program, the arguments and the
 * environment that whoever packed it chose. Must not know: how archives are read, how runs are
 * repeated. */
#ifndef REPLAY_TRUST_H
#define REPLAY_TRUST_H

#include "replay/replay.h"

/* OK for the archive `file`, unpacked into the folder `unpacked` and opened as *recorded, if it was
 * packed from a run that still stands in the folder of all runs `out`, if `trusted`, or if the user
 * says yes at the terminal. Unless it is such a run, standard error says what would be run.
 * ERROR_USAGE: it may not. */
enum error_code trust_ask(const char *file, const char *unpacked, const char *out, bool trusted,
                          const struct recorded *recorded, struct error *error);

#endif
