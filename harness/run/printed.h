/* What the ranks of a run print on standard output, compared with what they print in the run
 * without faults, for a scenario that says result = "output".
 *
 * A rank's last life is compared. After a restart the program need not print again what it printed
 * before: then there may be one gap, anywhere, that the run without faults fills. What ranks print
 * in the lives before cannot be compared: a kill takes what is still in their buffers. */
#ifndef RUN_PRINTED_H
#define RUN_PRINTED_H

#include "run/run.h"

/* The regular expressions in the `result` of a scenario (POSIX, extended). ERROR_USAGE. */
enum error_code printed_check(const char *result, struct error *error);

/* `file` is what that rank of the run prints without faults: it is kept in the run folder, from
 * where all is compared. ERROR_IO. */
enum error_code printed_keep(const struct run *run, int rank, const char *file,
                             struct error *error);

/* The same from another run of the same scenario, as far as that has kept it. */
enum error_code printed_keep_of(const struct run *run, const struct run *from, struct error *error);

/* Of each rank whose output without faults is kept; none where the run did not finish. *printed is
 * owned by the caller (free). */
enum error_code printed_compare(const struct run *run, struct printed **printed, size_t *count,
                                struct error *error);

/* For tests: two texts compared. `after_restart`: the second is of a life after a restart. */
void printed_compare_texts(const char *result, const char *reference, const char *text,
                           bool after_restart, struct printed *printed);

#endif
