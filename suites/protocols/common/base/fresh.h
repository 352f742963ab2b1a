/* Large memory that is about to be written for the first time: the kernel is asked for huge pages,
 * for to bring in small ones one by one takes longer than to copy what goes into them. Where it has
 * none to give nothing changes but the time. Must not know: MPI, what the memory is for. */
#ifndef COMMON_BASE_FRESH_H
#define COMMON_BASE_FRESH_H

#include <stddef.h>

/* Of the bytes at `data`, the whole huge pages that lie in them. Harmless where they are there. */
void fresh_expect(void *data, size_t bytes);

/* New memory, not zeroed, owned by the caller: free. NULL: there is none. */
void *fresh_memory(size_t bytes);

#endif
