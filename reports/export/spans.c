/* See spans.h. */
#include "reports/export/spans.h"

#include "base/memory.h"

#include <stdlib.h>

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

static void end_innermost(struct spans *spans, struct span_thread *thread)
{
    const struct span *span = &thread->open[--thread->depth];
    pass_time(thread, span->leave_ns); /* nothing new of one in progress */
    spans->listener.leave(spans->listener.context, thread, span, thread->now_ns);
}

/* Ends what was over at that time. Parts of one call end with it. */
static void end_until(struct spans *spans, struct span_thread *thread, uint64_t ns)
{
    while (thread->depth > 0) {
        const struct span *span = &thread->open[thread->depth - 1];
        if (span->event.in_progress || span->leave_ns > ns)
            break;
        end_innermost(spans, thread);
    }
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

static void begin(struct spans *spans, struct span_thread *thread, const struct walk_event *event)
{
    bool part = is_part(thread, event);
    thread->open = memory_room(thread->open, thread->depth, &thread->room, sizeof *thread->open);
    struct span *span = &thread->open[thread->depth];
    *span = (struct span){*event, event->leave_ns, part};
    span->event.clock = NULL;
    if (thread->depth > 0) {
        const struct span *around = span - 1;
        if (!around->event.in_progress && span->leave_ns > around->leave_ns)
            span->leave_ns = around->leave_ns;
    }
    thread->depth++;
    spans->listener.enter(spans->listener.context, thread, span, thread->now_ns);
}

void spans_event(struct spans *spans, const struct walk_event *event)
{
    struct span_thread *thread = thread_of(spans, event);
    unsigned kind = event->record->kind;
    end_until(spans, thread, event->enter_ns);
    pass_time(thread, event->enter_ns);
    if (kind == RECORD_NOTE || kind == RECORD_FAULT || kind == RECORD_COMM || kind == RECORD_FAILED)
        spans->listener.point(spans->listener.context, thread, event, thread->now_ns);
    else
        begin(spans, thread, event);
}

void spans_finish(struct spans *spans)
{
    for (struct span_thread *thread = spans->first; thread != NULL; thread = thread->next)
        while (thread->depth > 0)
            end_innermost(spans, thread);
}
