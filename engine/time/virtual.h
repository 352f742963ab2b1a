/* Virtual time in a rank of the step engine: what clocks show and how long waiting takes depends
 * only on what the ranks have done. */
#ifndef ENGINE_TIME_VIRTUAL_H
#define ENGINE_TIME_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

/* From now on, in this process, time is the engine's; or libc's again. */
void virtual_time_set(bool on);

/* What the monotonic clock of the ranks shows at this virtual time: the ticks of their traces. */
uint64_t virtual_ticks(uint64_t now_ns);

/* As MPI_Wtime. */
double virtual_wtime(void);

#endif
