/* What a rank was doing when its trace ended, in words: for one that was not seen to wait for
 * another, in a job that does not end. Must not know: claims, why the job was ended. */
#ifndef ORACLES_HISTORY_CLAIMS_DOING_H
#define ORACLES_HISTORY_CLAIMS_DOING_H

#include "trace/event.h"
#include "trace/reader.h"

#define DOING_TEXT_BYTES 320

/* What the program did last, in the rank's newest incarnation, as a sentence that begins with the
 * rank; times are seconds since the run began. One of
 *   - rank 1 repeats MPI_Send of 0 bytes to rank 3, tag 5: 40 times since 0.310 s (r1#0:e20)
 *   - rank 1 is inside MPI_Recv from rank 0, tag 7, and has polled in vain 3 times since ...
 *   - rank 1 has made no call since 0.310 s, after MPI_Barrier (r1#0:e20)
 *   - rank 1 has made no call
 * What is repeated are up to DOING_PERIOD_MOST calls with the same arguments, DOING_TIMES_LEAST
 * times at least. Of several threads it is the one that called last. Returns text. */
#define DOING_PERIOD_MOST 8
#define DOING_TIMES_LEAST 16
const char *doing_text(const struct trace_set *traces, int rank, char text[DOING_TEXT_BYTES]);

#endif
