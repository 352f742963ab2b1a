/* See spans.h. */
#include "reports/export/spans.h"

#include "base/memory.h"

#include <stdlib.h>

#define OPEN_ROOM 16

void spans_init(struct spans *spans, const struct span_listener *listener)
{
    *spans = (struct spans){.listener = *listener};
    spans->last = &spans->first;
}

void spans_release(struct spans *spans)
{
    while (spans->first != NULL) {
        struct span_thread *thread = spans->first;
        spans->first = thread->next;
        free(thread->open);
        free(thread);
    }
    table_release(&spans->threads);
}

static struct span_thread *thread_of(struct spans *spans, const struct walk_event *event)
{
    unsigned number = event->record->thread;
    struct span_thread *thread = table_get(&spans->threads, event->place, number);
    if (thread != NULL)
        return thread;
    thread = memory_new(1, sizeof *thread);
    table_put(&spans->threads, event->place, number, thread);
    thread->place = event->place;
    thread->thread = number;
    thread->number = spans->count++;
    *spans->last = thread;
    spans->last = &thread->next;
    return thread;
}

static void pass_time(struct span_thread *thread, uint64_t ns)
{
    if (ns > thread->now_ns)
        thread->now_ns = ns;
}

static enum error_code end_innermost(struct spans *spans, struct span_thread *thread,
                                     struct error *error)
{
    const struct span *span = &thread->open[--thread->depth];
    pass_time(thread, span->leave_ns); /* nothing new of one in progress */
    return spans->listener.leave(spans->listener.context, thread, span, thread->now_ns, error);
}

/* Ends what was over at that time. Parts of one call end with it. */
static enum error_code end_until(struct spans *spans, struct span_thread *thread, uint64_t ns,
                                 struct error *error)
{
    enum error_code code = OK;
    while (code == OK && thread->depth > 0) {
        const struct span *span = &thread->open[thread->depth - 1];
        if (span->event.in_progress || span->leave_ns > ns)
            break;
        code = end_innermost(spans, thread, error);
    }
    return code;
}

/* Both are records of one call, which is the innermost that is open. */
static bool is_part(const struct span_thread *thread, const struct walk_event *event)
{
    if (thread->depth == 0)
        return false;
    const struct record *open = thread->open[thread->depth - 1].event.record;
    const struct record *record = event->record;
    return open->enter == record->enter && open->call == record->call &&
           open->level == record->level && open->kind != RECORD_STORAGE;
}

static bool make_room(struct span_thread *thread)
{
    if (thread->depth < thread->room)
        return true;
    size_t room = thread->room > 0 ? 2 * thread->room : OPEN_ROOM;
    struct span *grown = realloc(thread->open, room * sizeof *grown);
    if (grown == NULL)
        return false;
    thread->open = grown;
    thread->room = room;
    return true;
}

static enum error_code begin(struct spans *spans, struct span_thread *thread,
                             const struct walk_event *event, struct error *error)
{
    bool part = is_part(thread, event);
    if (!make_room(thread))
        return error_set(error, ERROR_MEMORY, "out of memory");
    struct span *span = &thread->open[thread->depth];
    *span = (struct span){*event, event->leave_ns, part};
    span->event.clock = NULL;
    if (thread->depth > 0) {
        const struct span *around = span - 1;
        if (!around->event.in_progress && span->leave_ns > around->leave_ns)
            span->leave_ns = around->leave_ns;
    }
    thread->depth++;
    return spans->listener.enter(spans->listener.context, thread, span, thread->now_ns, error);
}

enum error_code spans_event(struct spans *spans, const struct walk_event *event,
                            struct error *error)
{
    struct span_thread *thread = thread_of(spans, event);
    enum error_code code = end_until(spans, thread, event->enter_ns, error);
    if (code != OK)
        return code;
    pass_time(thread, event->enter_ns);
    unsigned kind = event->record->kind;
    if (kind == RECORD_NOTE || kind == RECORD_FAULT || kind == RECORD_COMM)
        return spans->listener.point(spans->listener.context, thread, event, thread->now_ns, error);
    return begin(spans, thread, event, error);
}

enum error_code spans_finish(struct spans *spans, struct error *error)
{
    enum error_code code = OK;
    for (struct span_thread *thread = spans->first; thread != NULL; thread = thread->next)
        while (code == OK && thread->depth > 0)
            code = end_innermost(spans, thread, error);
    return code;
}
