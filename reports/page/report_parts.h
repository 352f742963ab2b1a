/* For report_run.c and report_text.c: what is in a run folder, and the parts of a page that are not
 * drawn. */
#ifndef REPORTS_PAGE_REPORT_PARTS_H
#define REPORTS_PAGE_REPORT_PARTS_H

#include "reports/text/xml.h"
#include "run/run.h"
#include "verdict/stored_verdict.h"

/* A run folder, as far as it is there. */
struct report_source {
    const char *folder;                   /* as the user typed it; borrowed */
    struct stored_verdict verdict;        /* owned */
    const struct stored_finding *finding; /* of the verdict, the one that decided; NULL: none */
    struct event_list witness;
    bool has_run;
    struct run run; /* owned */
    struct scenario_list owner;
    bool has_traces;
    struct trace_set traces;  /* owned */
    struct error trace_error; /* they are there, and cannot be read */
};

/* ERROR_USAGE: nothing is there; ERROR_FORMAT, ERROR_VERSION: of verdict.json or run.json. Owned by
 * the caller, also after an error: report_source_close. */
enum error_code report_source_open(const char *folder, struct report_source *source,
                                   struct error *error);
void report_source_close(struct report_source *source);

/* What repeats the run, in the same words as in TAP: by its decisions where they are kept. Returns
 * text. */
const char *report_repeat_command(const struct report_source *source, char *text, size_t bytes);

/* Each writes attributes or elements into the element that is open. */
void report_put_heading(struct xml *xml, const struct report_source *source);
void report_put_verdict(struct xml *xml, const struct report_source *source);
void report_put_facts(struct xml *xml, const struct report_source *source);
void report_put_output(struct xml *xml, const struct report_source *source);

/* Words into the element that is open; the events that they name, and the words of the glossary,
 * are elements of their own. */
void report_put_words(struct xml *xml, const char *text);
/* An element with such words; nothing for NULL and for no words. */
void report_put_sentence(struct xml *xml, const char *element, const char *sentence);

#endif
