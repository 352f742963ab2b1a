/* See memory.h. */
#include "system/memory.h"

#include "base/whole_file.h"
#include "system/status.h"

#include <jansson.h>
#include <libxml/xmlmemory.h>
#include <stdlib.h>
#include <string.h>

static void *or_end(void *block)
{
    if (block != NULL)
        return block;
    fputs("faultline: out of memory\n", stderr);
    whole_file_abandon();
    exit(STATUS_HARNESS);
}

static void *allocate(size_t bytes)
{
    return or_end(malloc(bytes > 0 ? bytes : 1));
}

static void *resize(void *block, size_t bytes)
{
    return or_end(realloc(block, bytes > 0 ? bytes : 1));
}

static char *duplicate(const char *text)
{
    return or_end(strdup(text));
}

void memory_or_end(void)
{
    json_set_alloc_funcs(allocate, free);
    if (xmlMemSetup(free, allocate, resize, duplicate) != 0)
        abort(); /* it takes any functions but NULL */
}
