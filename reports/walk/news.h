/* What a death brings about among those who live on: who takes the rank over, who learns of it by
 * what, and whom a revocation of a communicator reaches. Between events of a slice and ends
 * of processes. Must not know: where things are drawn. */
#ifndef REPORTS_DIAGRAM_NEWS_H
#define REPORTS_DIAGRAM_NEWS_H

#include "reports/walk/slice.h"

enum news_kind {
    NEWS_TAKEN_OVER, /* from the end of a process to the note with which another becomes the rank
                      */
    NEWS_LEARNED,    /* from the end of a process to the first event by which another learns of it:
                      * a call that fails, a group of the failed, a note */
    NEWS_REVOKED     /* from the revocation to the first call of another that it ends */
};

struct news_item {
    enum news_kind kind;
    size_t dead; /* place of the process in the set; SLICE_NONE: of a revocation */
    size_t from; /* event of the revocation; SLICE_NONE: the end of `dead` */
    size_t to;   /* event */
};

struct news {
    size_t count, room;
    struct news_item *item; /* owned; as they come in the slice, by kind */
    int *rank_of; /* owned; by process: the rank that one which came later took over first;
                   * -1: none. Of the first MPI_COMM_WORLD its own number */
};

/* Owned by the caller: news_release. */
void news_read(const struct slice *slice, struct news *news);
void news_release(struct news *news);

/* The process is known to have died: it did not end with exit status 0. */
bool news_is_dead(const struct trace *trace);

#endif
