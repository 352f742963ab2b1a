/* See moments.h. */
#include "reports/page/moments.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 32

void moments_release(struct moments *moments)
{
    free(moments->moment);
    *moments = (struct moments){0};
}

struct moment *moments_add(struct moments *moments, const char *kind, uint64_t ns)
{
    if (moments->count == moments->room) {
        moments->room = moments->room > 0 ? 2 * moments->room : ROOM;
        moments->moment = memory_resized(moments->moment, moments->room, sizeof *moments->moment);
    }
    struct moment *moment = &moments->moment[moments->count];
    memset(moment, 0, sizeof *moment);
    moment->kind = kind;
    moment->ns = ns;
    moment->order = moments->count++;
    moment->times = 1;
    moment->step = -1;
    return moment;
}

void moment_say(struct moment *moment, const char *format, ...)
{
    size_t used = strlen(moment->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(moment->text + used, sizeof moment->text - used, format, arguments);
    va_end(arguments);
}

static int by_time(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void moments_sort(struct moments *moments)
{
    if (moments->count > 0)
        qsort(moments->moment, moments->count, sizeof *moments->moment, by_time);
}
