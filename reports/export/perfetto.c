/* The Chrome trace event form (JSON), which Perfetto's viewer opens: a process for each rank and
 * incarnation, a thread for each of its threads, calls as spans, the library's inside the
 * application's, messages of the wire as arrows between them. Process and thread numbers begin at
 * 1: 0 is the viewer's own. Streams. */
#include "base/memory.h"
#include "reports/export/export.h"
#include "reports/export/spans.h"
#include "reports/text/trace_line.h"
#include "system/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000.0 /* the form's unit is the microsecond */
#define REAL_DIGITS 15   /* nanoseconds of ten days, and no rounding in the last one */

struct perfetto {
    struct spans spans;
    FILE *out;
    bool any; /* something was written: a comma comes first */
};

static void write_event(struct perfetto *perfetto, json_t *event)
{
    fputs(perfetto->any ? ",\n" : "\n", perfetto->out);
    perfetto->any = true;
    json_put(event, perfetto->out, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS), "");
}

/* What every event has. */
static json_t *event_of_phase(const char *phase, const char *name, const char *category,
                              const struct span_thread *thread, uint64_t ns)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:f}", "ph", phase, "name", name, "cat", category,
                     "pid", (json_int_t)thread->place + 1, "tid", (json_int_t)thread->thread + 1,
                     "ts", (double)ns / NS_PER_US);
}

static json_t *arguments_of(const struct walk_event *event)
{
    char name[EVENT_TEXT_BYTES], words[TRACE_LINE_BYTES + 1];
    struct event_ref own = {event->trace->rank, event->trace->incarnation, event->index};
    trace_event_words(event->trace, event->index, words);
    json_t *arguments =
        json_pack("{s:s, s:o}", "event", event_text(own, name), "what", json_text(words));
    if (event->in_progress)
        json_object_set_new(arguments, "in_progress", json_true());
    return arguments;
}

/* One end of an arrow. "bp": "e" ties its head to the span around it, not to the next one. */
static void write_arrow(struct perfetto *perfetto, const struct span_thread *thread,
                        const struct walk_event *event, bool head, uint64_t ns)
{
    json_t *arrow = event_of_phase(head ? "f" : "s", "message", "message", thread, ns);
    json_object_set_new(arrow, "id", json_integer((json_int_t)event->message));
    if (head)
        json_object_set_new(arrow, "bp", json_string("e"));
    write_event(perfetto, arrow);
}

static void on_enter(void *context, const struct span_thread *thread, const struct span *span,
                     uint64_t ns)
{
    char name[TRACE_EVENT_NAME_BYTES];
    if (!span->part) {
        json_t *event = event_of_phase("B", trace_event_name(span->event.record, name),
                                       level_text(span->event.record->level), thread, ns);
        json_object_set_new(event, "args", arguments_of(&span->event));
        write_event(context, event);
    }
    if (span->event.link == LINK_SENT)
        write_arrow(context, thread, &span->event, false, ns);
}

static void on_leave(void *context, const struct span_thread *thread, const struct span *span,
                     uint64_t ns)
{
    char name[TRACE_EVENT_NAME_BYTES];
    if (span->event.link == LINK_RECEIVED)
        write_arrow(context, thread, &span->event, true, ns);
    if (!span->part)
        write_event(context, event_of_phase("E", trace_event_name(span->event.record, name),
                                            level_text(span->event.record->level), thread, ns));
}

static void on_point(void *context, const struct span_thread *thread,
                     const struct walk_event *event, uint64_t ns)
{
    char name[TRACE_EVENT_NAME_BYTES];
    json_t *point = event_of_phase("i", trace_event_name(event->record, name),
                                   record_kind_text(event->record->kind), thread, ns);
    json_object_set_new(point, "s", json_string("t"));
    json_object_set_new(point, "args", arguments_of(event));
    write_event(context, point);
}

static void name_processes(const struct export *export)
{
    for (size_t i = 0; i < export->set->count; i++) {
        const struct trace *trace = &export->set->trace[i];
        char name[EVENT_TEXT_BYTES];
        write_event(export->state,
                    json_pack("{s:s, s:s, s:I, s:{s:s}}", "ph", "M", "name", "process_name", "pid",
                              (json_int_t)i + 1, "args", "name", export_process_text(trace, name)));
        write_event(export->state,
                    json_pack("{s:s, s:s, s:I, s:{s:I}}", "ph", "M", "name", "process_sort_index",
                              "pid", (json_int_t)i + 1, "args", "sort_index", (json_int_t)i));
    }
}

static void perfetto_begin(struct export *export)
{
    struct perfetto *perfetto = export->state = memory_new(1, sizeof *perfetto);
    struct span_listener listener = {perfetto, on_enter, on_leave, on_point};
    spans_init(&perfetto->spans, &listener);
    perfetto->out = export->out;
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", export->out);
    name_processes(export);
}

static void perfetto_event(struct export *export, const struct walk_event *event)
{
    spans_event(&((struct perfetto *)export->state)->spans, event);
}

static void perfetto_end(struct export *export)
{
    spans_finish(&((struct perfetto *)export->state)->spans);
    fputs("\n]}\n", export->out);
}

static void perfetto_release(struct export *export)
{
    struct perfetto *perfetto = export->state;
    spans_release(&perfetto->spans);
    free(perfetto);
}

const struct exporter export_perfetto = {.name = "perfetto",
                                         .begin = perfetto_begin,
                                         .event = perfetto_event,
                                         .end = perfetto_end,
                                         .release = perfetto_release};
