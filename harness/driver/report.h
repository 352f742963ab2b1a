/* `faultline report`: pages of stored runs and of whole output folders. Reads what is in the
 * folders and changes no verdict: what cannot be drawn is an error of the report alone.
 *
 * Every one of these writes to `output` in one step (a temporary file beside it, renamed), or, if
 * that is NULL, to the place named below. */
#ifndef DRIVER_REPORT_H
#define DRIVER_REPORT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* A run folder: it has a run.json, a verdict.json or a folder of traces. Anything else may be an
 * output folder. */
bool report_is_run(const char *folder);

/* report.html of a run folder; with the diagram of the run `beside` below it if that is not NULL.
 * Of verdict, run.json and traces any may be missing, but not all. ERROR_USAGE, ERROR_IO,
 * ERROR_FORMAT (which file, and what is wrong with it). */
enum error_code report_run(const char *run, const char *beside, const char *output,
                           struct error *error);

/* index.html of an output folder (report_folder.c). */
enum error_code report_folder(const char *folder, const char *output, struct error *error);

/* The diagnostic of a run in prose, and its causal slice in columns (report_text.c). */
enum error_code report_text(const char *run, FILE *out, struct error *error);

#endif
