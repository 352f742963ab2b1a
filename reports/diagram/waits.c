/* See waits.h. */
#include "reports/diagram/waits.h"

#include "base/memory.h"
#include "oracles/oracle.h"
#include "reports/diagram/diagram.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NODE_RADIUS 17.0
#define NODE_SPACE 64.0 /* along the circle */
#define LEAST_RADIUS 62.0
#define MARGIN 30.0
#define HEAD_LENGTH 9.0
#define HEAD_HALF 4.0
#define POINTS_BYTES 96
#define FULL_CIRCLE 6.283185307179586
#define BEND 0.12 /* of its length: two arrows between the same ranks do not lie on each other */

struct circle {
    struct xml *xml;
    int ranks;
    bool *on;      /* by rank: in the picture */
    double *x, *y; /* by rank */
    double size;
};

/* Ranks that had not ended by themselves, nor by a fault. */
static void who_lived(const struct trace_set *set, bool *alive)
{
    int newest = set->incarnations - 1;
    for (int rank = 0; rank < set->ranks; rank++) {
        const struct trace *trace = trace_set_find(set, rank, newest);
        alive[rank] = trace != NULL && !atomic_load(&trace->header->closed);
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        for (uint64_t at = 0; trace->incarnation == newest && at < trace->count; at++) {
            const struct record *record = &trace->record[at];
            bool kill = record->kind == RECORD_FAULT &&
                        (record->comm == FAULT_KILL || record->comm == FAULT_KILL_INSIDE);
            if (kill && record->peer >= 0 && record->peer < set->ranks)
                alive[record->peer] = false;
        }
    }
}

static bool place_ranks(struct circle *circle, const struct hang *hang)
{
    size_t count = 0, at = 0;
    circle->on = memory_new((size_t)circle->ranks, sizeof *circle->on);
    circle->x = memory_new((size_t)circle->ranks, sizeof *circle->x);
    circle->y = memory_new((size_t)circle->ranks, sizeof *circle->y);
    for (size_t i = 0; i < hang->count; i++) {
        circle->on[hang->waits[i].rank] = true;
        for (unsigned k = 0; k < hang->waits[i].target_count; k++)
            if (hang->waits[i].target[k] >= 0 && hang->waits[i].target[k] < circle->ranks)
                circle->on[hang->waits[i].target[k]] = true;
    }
    for (int rank = 0; rank < circle->ranks; rank++)
        count += circle->on[rank];
    double radius = fmax(LEAST_RADIUS, (double)count * NODE_SPACE / FULL_CIRCLE);
    circle->size = 2 * (radius + MARGIN);
    for (int rank = 0; rank < circle->ranks; rank++) {
        double angle = FULL_CIRCLE * (double)at / (double)count - FULL_CIRCLE / 4;
        circle->x[rank] = circle->size / 2 + radius * cos(angle);
        circle->y[rank] = circle->size / 2 + radius * sin(angle);
        at += circle->on[rank];
    }
    return count <= WAITS_RANKS_MOST;
}

static void put_node(const struct circle *circle, int rank, bool waits, bool cycle)
{
    xml_begin(circle->xml, "node");
    xml_number(circle->xml, "rank", rank);
    xml_real(circle->xml, "x", circle->x[rank], 1);
    xml_real(circle->xml, "y", circle->y[rank], 1);
    xml_flag(circle->xml, "waits", waits);
    xml_flag(circle->xml, "cycle", cycle);
    xml_end(circle->xml);
}

/* Bent to the right of its way. */
static void put_edge(const struct circle *circle, int from, int to, bool any, bool cycle)
{
    double dx = circle->x[to] - circle->x[from], dy = circle->y[to] - circle->y[from];
    double length = hypot(dx, dy);
    if (length < 1)
        return;
    double middle_x = (circle->x[from] + circle->x[to]) / 2 - dy * BEND;
    double middle_y = (circle->y[from] + circle->y[to]) / 2 + dx * BEND;
    double ux = circle->x[to] - middle_x, uy = circle->y[to] - middle_y, end = hypot(ux, uy);
    double vx = middle_x - circle->x[from], vy = middle_y - circle->y[from];
    double start = hypot(vx, vy);
    ux /= end, uy /= end;
    double tip_x = circle->x[to] - ux * NODE_RADIUS, tip_y = circle->y[to] - uy * NODE_RADIUS;
    double base_x = tip_x - ux * HEAD_LENGTH, base_y = tip_y - uy * HEAD_LENGTH;
    char path[POINTS_BYTES], head[POINTS_BYTES];
    snprintf(path, sizeof path, "M%.1f,%.1f Q%.1f,%.1f %.1f,%.1f",
             circle->x[from] + vx / start * NODE_RADIUS, circle->y[from] + vy / start * NODE_RADIUS,
             middle_x, middle_y, tip_x, tip_y);
    snprintf(head, sizeof head, "%.1f,%.1f %.1f,%.1f %.1f,%.1f", tip_x, tip_y,
             base_x - uy * HEAD_HALF, base_y + ux * HEAD_HALF, base_x + uy * HEAD_HALF,
             base_y - ux * HEAD_HALF);
    xml_begin(circle->xml, "edge");
    xml_number(circle->xml, "from", from);
    xml_number(circle->xml, "to", to);
    xml_attribute(circle->xml, "path", path);
    xml_attribute(circle->xml, "head", head);
    xml_flag(circle->xml, "any", any);
    xml_flag(circle->xml, "cycle", cycle);
    xml_end(circle->xml);
}

static void put_graph(const struct circle *circle, const struct hang *hang)
{
    for (size_t i = 0; i < hang->count; i++) {
        const struct wait_for *wait = &hang->waits[i];
        size_t next = i + 1 < hang->cycle ? i + 1 : 0;
        for (unsigned k = 0; k < wait->target_count; k++)
            if (wait->target[k] >= 0 && wait->target[k] < circle->ranks)
                put_edge(circle, wait->rank, wait->target[k], wait->any,
                         i < hang->cycle && hang->waits[next].rank == wait->target[k]);
    }
    for (int rank = 0; rank < circle->ranks; rank++) {
        size_t at = 0;
        while (at < hang->count && hang->waits[at].rank != rank)
            at++;
        if (circle->on[rank])
            put_node(circle, rank, at < hang->count, at < hang->cycle);
    }
}

static void put_waits(struct circle *circle, const struct hang *hang)
{
    bool drawn = place_ranks(circle, hang);
    xml_begin(circle->xml, "waits");
    xml_flag(circle->xml, "deadlocked", hang->deadlocked);
    xml_number(circle->xml, "cycle", (int64_t)hang->cycle);
    if (drawn)
        xml_real(circle->xml, "size", circle->size, 0);
    for (size_t i = 0; i < hang->count; i++) {
        char id[DIAGRAM_ID_BYTES], ref[EVENT_TEXT_BYTES];
        xml_begin(circle->xml, "wait");
        xml_number(circle->xml, "rank", hang->waits[i].rank);
        xml_attribute(circle->xml, "event", diagram_id(&hang->waits[i].call, id));
        xml_attribute(circle->xml, "ref", event_text(hang->waits[i].call, ref));
        xml_text(circle->xml, hang->waits[i].text);
        xml_end(circle->xml);
    }
    if (drawn)
        put_graph(circle, hang);
    xml_end(circle->xml);
    free(circle->on);
    free(circle->x);
    free(circle->y);
}

void waits_write(struct xml *xml, const struct trace_set *set)
{
    bool *alive = memory_new((size_t)set->ranks, sizeof *alive);
    struct hang hang = {0};
    who_lived(set, alive);
    hang_analyse(set, alive, set->ranks, &hang);
    struct circle circle = {.xml = xml, .ranks = set->ranks};
    if (hang.count > 0)
        put_waits(&circle, &hang);
    hang_release(&hang);
    free(alive);
}
