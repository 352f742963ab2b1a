/* See memory.h. */
#include "base/memory.h"

#include "base/whole_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

void memory_refused(void)
{
    fputs("faultline: out of memory\n", stderr);
    whole_file_abandon();
    exit(MEMORY_EXIT_STATUS);
}

static void *or_end(void *block)
{
    if (block == NULL)
        memory_refused();
    return block;
}

void *memory_new(size_t count, size_t bytes)
{
    return or_end(calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1));
}

void *memory_resized(void *block, size_t count, size_t bytes)
{
    bool fits = bytes == 0 || count <= SIZE_MAX / bytes;
    return or_end(fits ? realloc(block, count * bytes > 0 ? count * bytes : 1) : NULL);
}

char *memory_text(const char *text)
{
    return or_end(strdup(text));
}

char *memory_vformat(const char *format, va_list arguments)
{
    char *text;
    return or_end(vasprintf(&text, format, arguments) >= 0 ? text : NULL);
}

char *memory_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = memory_vformat(format, arguments);
    va_end(arguments);
    return text;
}

void *memory_room(void *array, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return array;
    *room = *room > 0 ? 2 * *room : FIRST_ROOM;
    return memory_resized(array, *room, bytes);
}

FILE *memory_stream(char **text, size_t *bytes)
{
    return or_end(open_memstream(text, bytes));
}

void memory_stream_end(FILE *stream)
{
    bool whole = ferror(stream) == 0;
    if (fclose(stream) != 0 || !whole)
        memory_refused();
}
