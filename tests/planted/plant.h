/* Which violations can be put into a run that is right otherwise, how, and what else they break by
 * what they say. Must not know: how oracles find them. */
#ifndef TESTS_PLANTED_PLANT_H
#define TESTS_PLANTED_PLANT_H

#include "oracles/oracle.h"
#include "planted/render.h"

/* One way to break one claim. */
struct plant {
    const char *claim;
    const char *judged; /* families and claims, blanks between: those that the run is judged by */
    const char *also;   /* claims that cannot hold where this one does not; may be violated too */
    enum verdict verdict;
    enum protocol protocol;
    enum line_wrong line; /* what k lines have wrong about them, or: */
    enum op_wrong op;     /* what k ops have, */
    bool (*fits)(const struct rendering *rendering, int op);
    int (*group)(const struct rendering *rendering, int op); /* one of each is taken; NULL: any */
    enum {
        OF_OPS, /* or lines */
        OF_RESTORED,
        OF_RESULTS,
        OF_HOLES,
        OF_PLAN, /* that asks for faults which never come */
        OF_END,  /* the run does not come to its end: once */
    } of;
    int restarts, ranks, collectives; /* of the shape; -1: as drawn */
    int quiet;
    bool plain; /* no wildcards, which would make something else of it */
};

extern const struct plant plants[];
extern const size_t plant_count;

/* A whole run, its program, traces and facts. Large: make it static. */
struct planted_run {
    struct program program;
    struct rendering rendering;
    struct run_facts facts; /* points into the following */
    struct plan plan;
    struct reference_result reference[RANKS_MOST];
};

/* A shape, drawn; and what a plant needs of it. */
struct shape draw_shape(void);
void plant_fit(const struct plant *plant, int count, struct shape *shape);

/* Draws a run of that shape with `count` violations of that kind; NULL: without any. Returns how
 * many there are in it: fewer where it has no room for them. Call planted_run_release once, at the
 * end; memory is used again. */
int planted_run_draw(struct planted_run *run, const struct shape *shape, const struct plant *plant,
                     int count);
void planted_run_release(struct planted_run *run);

#endif
