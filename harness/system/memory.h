/* Memory for libraries that go on without it: jansson leaves out what it cannot store, libxml2 and
 * libxslt draw another page, or crash. Must not know: what they are used for. */
#ifndef SYSTEM_MEMORY_H
#define SYSTEM_MEMORY_H

/* From now on a process in which one of them is refused memory says so and exits with
 * STATUS_HARNESS; what it was writing in place of a file is removed, and that file stays. Before
 * they are used first; for forked children too. */
void memory_or_end(void);

#endif
