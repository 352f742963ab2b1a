/* See memory.h. */
#include "system/memory.h"

#include "base/memory.h"
#include "system/status.h"

#include <jansson.h>
#include <libxml/xmlmemory.h>
#include <stdlib.h>

_Static_assert(MEMORY_EXIT_STATUS == (int)STATUS_HARNESS, "the exit statuses are in cli/verb.h");

static void *allocate(size_t bytes)
{
    return memory_resized(NULL, 1, bytes);
}

static void *resize(void *block, size_t bytes)
{
    return memory_resized(block, 1, bytes);
}

void memory_or_end(void)
{
    json_set_alloc_funcs(allocate, free);
    if (xmlMemSetup(free, allocate, resize, memory_text) != 0)
        abort(); /* it takes any functions but NULL */
}
