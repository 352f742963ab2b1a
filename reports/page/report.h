/* `faultline report`: pages of stored runs and of whole output folders. Reads what is in the
 * folders and changes no verdict: what cannot be drawn is an error of the report alone.
 *
 * Every one of these writes to `output` in one step (a temporary file beside it, renamed), or, if
 * that is NULL, to the place named below. */
#ifndef COMMAND_REPORT_H
#define COMMAND_REPORT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Records; a run of more is not drawn by itself, for that takes seconds. */
#define REPORT_APART_RECORDS_MOST 2000000u

/* A run folder: it has a run.json, a verdict.json, a folder of traces, or traces. Anything else may
 * be an output folder. */
bool report_is_run(const char *folder);

/* report.html of a run folder; with the diagram of the run `beside` below it if that is not NULL.
 * Of verdict, run.json and traces any may be missing, but not all. ERROR_USAGE, ERROR_IO,
 * ERROR_FORMAT (which file, and what is wrong with it). */
enum error_code report_run(const char *run, const char *beside, const char *output,
                           struct error *error);

/* The same for a run that is just over, in a process of its own and not for longer than a limit:
 * the caller has more to do, whatever becomes of the page. Very long traces are not drawn; the page
 * says how to. Nothing is said where it does not work. The caller has no children. */
#define REPORT_LIMIT_S 60
void report_run_apart(const char *run, const char *output);

/* index.html of an output folder (report_folder.c); of what did not pass the first runs that have
 * no report.html get one. `pages`: its runs have their pages there, called NUMBER.html, beside the
 * index; NULL: in their folders. */
enum error_code report_folder(const char *folder, const char *output, const char *pages,
                              struct error *error);

/* The index of the pages in the folder `pages` (`run --html`; NULL: as of report_folder), of runs
 * that are just over: as report_run_apart. */
void report_folder_apart(const char *folder, const char *pages);

/* The diagnostic of a run in prose, and its causal slice in columns (report_text.c). */
enum error_code report_text(const char *run, FILE *out, struct error *error);

#endif
