/* See overview.h. Other than the diagrams it shows all events of the run, and it shows time: a lane
 * for each rank, or for some where there are many, and in it how many events there were in each of
 * so many intervals, in three shades. */
#include "reports/diagram/overview.h"

#include "base/memory.h"
#include "reports/diagram/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1180.0
#define LEFT 70.0
#define RIGHT 24.0
#define TOP 20.0 /* letters of the witness, and what the faults are */
#define AXIS 24.0
#define LANES_MOST 16
#define LANE_HEIGHT 12.0
#define INTERVALS 240
#define SHADES 3
#define TICKS 8.0 /* about */
#define NS_PER_S 1e9
#define LABEL_SIZE 10.0
#define TICK_BYTES 32

struct overview {
    const struct figure *figure;
    const struct trace_set *set;
    int lanes;
    uint64_t end_ns;
    uint64_t (*count)[INTERVALS]; /* by lane; owned */
    uint64_t highest;
};

static int lane_of(const struct overview *overview, int rank)
{
    return (int)((int64_t)rank * overview->lanes / overview->set->ranks);
}

static double x_of(const struct overview *overview, uint64_t ns)
{
    double share = (double)ns / (double)overview->end_ns;
    return LEFT + fmin(share, 1) * (WIDTH - LEFT - RIGHT);
}

static double y_of(int lane)
{
    return TOP + lane * LANE_HEIGHT;
}

static uint64_t enter_ns(const struct overview *overview, const struct record *record)
{
    return trace_ns(overview->set, record->enter);
}

/* --- counting --------------------------------------------------------------------------------- */

static void find_end(struct overview *overview)
{
    for (size_t i = 0; i < overview->set->count; i++) {
        const struct trace *trace = &overview->set->trace[i];
        for (uint64_t at = 0; at < trace->count; at++) {
            uint64_t ns =
                record_is_event(&trace->record[at]) ? enter_ns(overview, &trace->record[at]) : 0;
            overview->end_ns = ns > overview->end_ns ? ns : overview->end_ns;
        }
    }
}

static void count_events(struct overview *overview)
{
    overview->count = memory_new((size_t)overview->lanes, sizeof *overview->count);
    for (size_t i = 0; i < overview->set->count; i++) {
        const struct trace *trace = &overview->set->trace[i];
        uint64_t *count = overview->count[lane_of(overview, trace->rank)];
        for (uint64_t at = 0; at < trace->count; at++) {
            if (!record_is_event(&trace->record[at]))
                continue;
            double share =
                (double)enter_ns(overview, &trace->record[at]) / (double)overview->end_ns;
            size_t interval = (size_t)(share * INTERVALS);
            uint64_t *one = &count[interval < INTERVALS ? interval : INTERVALS - 1];
            if (++*one > overview->highest)
                overview->highest = *one;
        }
    }
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static void put_lanes(const struct overview *overview)
{
    struct xml *xml = overview->figure->xml;
    int ranks = overview->set->ranks;
    for (int lane = 0, rank = 0; lane < overview->lanes; lane++) {
        int first = rank;
        char name[TICK_BYTES];
        while (rank < ranks && lane_of(overview, rank) == lane)
            rank++;
        snprintf(name, sizeof name, rank - first > 1 ? "%d-%d" : "rank %d", first, rank - 1);
        xml_begin(xml, "lane");
        xml_attribute(xml, "name", name);
        xml_real(xml, "y", y_of(lane), 1);
        xml_real(xml, "height", LANE_HEIGHT, 1);
        xml_end(xml);
    }
}

/* 0: nothing happened; else the shade, from 1, the darkest for the most. Few are to be seen too. */
static int shade_of(const struct overview *overview, int lane, size_t interval)
{
    uint64_t count = overview->count[lane][interval];
    if (count == 0)
        return 0;
    double share = log1p((double)count) / log1p((double)overview->highest);
    int shade = 1 + (int)(share * SHADES);
    return shade < SHADES ? shade : SHADES;
}

/* One path for all intervals of a shade; those that follow each other are one rectangle. */
static void put_shade(const struct overview *overview, int shade)
{
    char *text = NULL;
    size_t bytes = 0;
    double width = (WIDTH - LEFT - RIGHT) / INTERVALS;
    FILE *out = memory_stream(&text, &bytes);
    for (int lane = 0; lane < overview->lanes; lane++)
        for (size_t first = 0, end; first < INTERVALS; first = end) {
            end = first + 1;
            if (shade_of(overview, lane, first) != shade)
                continue;
            while (end < INTERVALS && shade_of(overview, lane, end) == shade)
                end++;
            fprintf(out, "M%.1f,%.1fh%.1fv%.1fh%.1fz", LEFT + (double)first * width,
                    y_of(lane) + 1.5, (double)(end - first) * width, LANE_HEIGHT - 3,
                    -(double)(end - first) * width);
        }
    memory_stream_end(out);
    xml_begin(overview->figure->xml, "shade");
    xml_number(overview->figure->xml, "level", shade);
    xml_attribute(overview->figure->xml, "path", text);
    xml_end(overview->figure->xml);
    free(text);
}

/* "20 ms": no more digits than tell the ticks apart. */
static void say_time(double seconds, double step, char text[TICK_BYTES])
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && step < units[unit].unit * 0.0999)
        unit++;
    snprintf(text, TICK_BYTES, "%.*f %s", step < units[unit].unit * 0.999 ? 1 : 0,
             seconds / units[unit].unit, units[unit].name);
}

/* At round times: 1, 2 or 5 of some power of ten. */
static void put_ticks(const struct overview *overview)
{
    double end = (double)overview->end_ns / NS_PER_S, raw = end / TICKS;
    double power = pow(10, floor(log10(raw))), part = raw / power;
    double step = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    for (unsigned i = 0; i * step <= end; i++) {
        char text[TICK_BYTES];
        say_time(i * step, step, text);
        xml_begin(overview->figure->xml, "tick");
        xml_real(overview->figure->xml, "x", x_of(overview, (uint64_t)(i * step * NS_PER_S)), 1);
        xml_attribute(overview->figure->xml, "name", text);
        xml_end(overview->figure->xml);
    }
}

/* The text stands above the lanes where there is room, with the faults first. */
static void put_mark(const struct overview *overview, struct labels *labels, size_t at,
                     const char *kind, const char *name)
{
    struct xml *xml = overview->figure->xml;
    const struct slice_event *event = &overview->figure->slice->event[at];
    double x = x_of(overview, event->enter_ns);
    double half = labels_box(0, 0, strlen(name), LABEL_SIZE).right;
    double middle = fmin(fmax(x, half), WIDTH - half);
    struct label_box box = labels_box(middle, TOP - 6, strlen(name) + 1, LABEL_SIZE);
    bool room = labels_have_room(labels, &box);
    char id[DIAGRAM_ID_BYTES];
    xml_begin(xml, "mark");
    xml_attribute(xml, "kind", kind);
    xml_attribute(xml, "id", figure_event_id(overview->figure, at, id));
    xml_attribute(xml, "words", name);
    xml_real(xml, "x", x, 1);
    xml_real(xml, "y", y_of(lane_of(overview, event->trace->rank)) + LANE_HEIGHT / 2, 1);
    if (room) {
        labels_take(labels, &box);
        xml_attribute(xml, "name", name);
        xml_real(xml, "name-x", middle, 1);
        xml_real(xml, "name-y", TOP - 6, 1);
    }
    xml_end(xml);
}

static void put_marks(const struct overview *overview)
{
    const struct figure *figure = overview->figure;
    struct labels labels = {0};
    for (size_t i = 0; i < figure->slice->count; i++)
        if (figure->slice->event[i].fault)
            put_mark(overview, &labels, i, "fault", figure->label[i]);
    for (size_t i = 0; i < figure->slice->count; i++)
        if (figure_letter(figure, i) != NULL)
            put_mark(overview, &labels, i, "witness", figure_letter(figure, i));
    labels_release(&labels);
}

void overview_write(const struct figure *figure)
{
    const struct trace_set *set = figure->slice->set;
    struct overview overview = {
        .figure = figure, .set = set, .lanes = set->ranks < LANES_MOST ? set->ranks : LANES_MOST};
    find_end(&overview);
    if (overview.end_ns == 0)
        return;
    count_events(&overview);
    xml_begin(figure->xml, "overview");
    xml_real(figure->xml, "width", WIDTH, 0);
    xml_real(figure->xml, "height", TOP + overview.lanes * LANE_HEIGHT + AXIS, 0);
    xml_real(figure->xml, "left", LEFT, 1);
    xml_real(figure->xml, "right", WIDTH - RIGHT, 1);
    xml_real(figure->xml, "top", TOP, 1);
    xml_real(figure->xml, "bottom", TOP + overview.lanes * LANE_HEIGHT, 1);
    xml_real(figure->xml, "seconds", (double)overview.end_ns / NS_PER_S, 9);
    put_lanes(&overview);
    for (int shade = 1; shade <= SHADES; shade++)
        put_shade(&overview, shade);
    put_ticks(&overview);
    put_marks(&overview);
    xml_end(figure->xml);
    free(overview.count);
}
