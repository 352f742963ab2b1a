/* What `run` and `campaign` left in OUT/<run-id>: the runs that have a folder there, and how all of
 * them ended. Read as it is: what is missing or damaged is left out and counted, so that a page can
 * be drawn of a set that was interrupted. Must not know: how it is shown. */
#ifndef REPORTS_PAGE_STORED_SET_H
#define REPORTS_PAGE_STORED_SET_H

#include "base/error.h"
#include "system/path.h"
#include "verdict/stored_verdict.h"

#include <dirent.h>
#include <jansson.h>
#include <stdint.h>

#define STORED_SETS_MOST 30 /* of a folder, the newest */
#define STORED_RUNS_MOST 10000

/* How a run ended, in the words of the exit status: the page of many runs needs no more. */
enum stored_end { STORED_PASS, STORED_VIOLATION, STORED_UNDECIDED, STORED_HARNESS, STORED_ENDS };

struct stored_run {
    int number;                    /* of its folder */
    struct stored_verdict verdict; /* owned */
    json_t *run;                   /* run.json; owned; NULL: it has none */
};

struct stored_set {
    struct path folder;
    char name[NAME_MAX + 1]; /* the run-id; "." of a folder that is a set itself */
    size_t run_count;
    struct stored_run *run; /* owned; by number */
    size_t damaged;         /* files that are no JSON */
    json_t *campaign;       /* campaign.json; owned; NULL: it is no campaign */
    const char *pages;      /* the pages of its runs are NUMBER.html there; NULL: in their folders.
                               Borrowed; set by whoever knows */
    uint64_t count[STORED_ENDS];
};

/* The runs of one set. ERROR_IO. Owned by the caller, also after an error. */
enum error_code stored_set_read(const char *folder, const char *name, struct stored_set *set,
                                struct error *error);

/* Only `count` and `campaign`: cheap where the set has a summary. The same errors. */
enum error_code stored_set_count(const char *folder, const char *name, struct stored_set *set,
                                 struct error *error);

/* Releases what was read. Harmless on a set that is all zero. */
void stored_set_release(struct stored_set *set);

/* Whether the folder itself is a set. */
bool stored_set_is(const char *folder);

/* The names of the sets of an output folder, oldest first, at most the newest STORED_SETS_MOST.
 * *all: how many there are. ERROR_IO. */
enum error_code stored_set_names(const char *folder, char names[STORED_SETS_MOST][NAME_MAX + 1],
                                 size_t *count, size_t *all, struct error *error);

/* "" where there is none. */
const char *stored_text(const json_t *object, const char *field);

/* How a run with the verdict ended; and the run: one without a verdict is the harness's. */
enum stored_end stored_end_of_verdict(enum verdict verdict);
enum stored_end stored_end_of(const struct stored_run *run);

#endif
