/* The trace of a run in a form that another program reads. An exporter is a few functions over the
 * one walk of all events (walk.h); export.c lists them all. Needs no MPI. Whatever comes from a
 * trace is escaped as the form asks for. Must not know: options, runs, verdicts. */
#ifndef REPORTS_EXPORT_EXPORT_H
#define REPORTS_EXPORT_EXPORT_H

#include "oracles/matching/walk.h"

#include <stdio.h>

#define EXPORT_SAID_BYTES 160

/* What is exported, and where to. All borrowed. */
struct export
{
    const struct trace_set *set;
    const struct links *links;
    FILE *out;                       /* of a form that is a stream */
    const char *folder;              /* of a form that is a folder: one that does not exist yet */
    const struct event_ref *witness; /* events that a form which is bounded is to show */
    size_t witness_count;
    void *state;                  /* the exporter's own */
    struct walk_seen seen;        /* once the walk is over */
    char said[EXPORT_SAID_BYTES]; /* what is not in it, one line; empty: all is */
    struct error error;           /* what the exporter met with: nothing more is exported */
};

struct exporter {
    const char *name; /* of the form, as an option gives it */
    bool is_folder;
    /* Any of them may be NULL but `event`. `begin` may walk by itself to find out what to show.
     * `release` is called whatever went wrong, if `begin` was. */
    void (*begin)(struct export *export);
    bool (*wanted)(struct export *export, const struct walk_event *event);
    void (*event)(struct export *export, const struct walk_event *event);
    void (*end)(struct export *export);
    void (*release)(struct export *export);
};

extern const struct exporter export_json, export_shiviz, export_perfetto, export_otf2;

extern const struct exporter *const exporters[];
extern const size_t exporter_count;

/* NULL if there is none. */
const struct exporter *exporter_find(const char *name);

/* Writes all. export: set, out or folder, and the witness are given; the rest is filled in here.
 * ERROR_IO: what was written did not arrive; what the exporter says. */
enum error_code export_run(const struct exporter *exporter, struct export *export,
                           struct error *error);

/* --- for exporters ---------------------------------------------------------------------------- */

/* "r0#1" and "r0#1:e7". Both return buffer. */
const char *export_process_text(const struct trace *trace, char buffer[EVENT_TEXT_BYTES]);

#endif
