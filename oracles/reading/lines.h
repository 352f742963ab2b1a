/* Where the ranks of one incarnation stand against its recovery lines, by their notes alone (C3
 * section 3.2, definition 2). All ranks of an incarnation are beyond the line that it was restored
 * from. Must not know: messages, claims. */
#ifndef ORACLES_READING_LINES_H
#define ORACLES_READING_LINES_H

#include "oracles/reading/history.h"

/* Of a rank, against one line. */
enum standing {
    STANDS_BEFORE,  /* has not taken its checkpoint */
    STANDS_LOGGING, /* has, and has not stopped logging */
    STANDS_BEYOND,  /* has stopped logging, or was restored from the line */
};

/* A note; the first of its kind and line. */
struct mark {
    bool there;
    uint64_t ticks;
    struct event_ref event;
};

/* What one rank noted of one line. */
struct line {
    uint64_t number;
    struct mark checkpoint, stop, ready, saved;
};

struct rank_lines {
    const struct trace *trace; /* NULL: the rank has none in this incarnation */
    bool helper;               /* it belongs to the library under test, and stands nowhere */
    uint64_t base;             /* the line it was restored from; 0: the start of the program */
    struct mark restored;
    size_t count;
    struct line *line; /* by number */
};

struct lines {
    int ranks;
    int incarnation;
    struct rank_lines *of; /* by rank */
    size_t taken_count;
    uint64_t *taken; /* lines that some rank took a checkpoint of here, by number */
};

/* Owned by the caller. Notes before the newest `restored` of a rank are left out. */
void lines_read(const struct trace_set *traces, int incarnation, struct lines *lines);
void lines_release(struct lines *lines);

/* NULL if the rank noted nothing of that line. */
const struct line *lines_find(const struct rank_lines *rank, uint64_t number);

/* The newest line whose checkpoint the rank had taken at `ticks`, or the one it was restored from.
 */
uint64_t lines_epoch(const struct rank_lines *rank, uint64_t ticks);
/* It took a checkpoint or stopped logging between these times. */
bool lines_moved(const struct rank_lines *rank, uint64_t from, uint64_t to);
enum standing lines_standing(const struct rank_lines *rank, uint64_t number, uint64_t ticks);

#endif
