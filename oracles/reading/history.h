/* What a rank did, as pieces of its traces.
 *
 * Effective history of a rank in an incarnation (architecture: what it did up to the checkpoint it
 * was restored from, followed by what it did afterwards, recursively): if that incarnation restored
 * line e, the effective history of the incarnations before up to the newest checkpoint of e in it,
 * then everything after the `restored` note; what an incarnation does before its `restored` note
 * belongs to no effective history, but for the call of the application inside which the note was
 * made: it was under way at the checkpoint and is done again. An incarnation that restores nothing
 * starts from nothing. One that was cut off before it restored, while others of its incarnation
 * did, counts as restored to the same line: it had no time to do otherwise.
 *
 * A rank that lives on while others die may go back to a line of its own: what it did after the
 * checkpoint and before the `restored` note is undone then. One that tells no `restored` note did
 * not roll back. A newcomer that takes a dead rank over (lives.h) has the line restored that it
 * tells; 0 is the beginning. If it tells none, nothing is undone where nobody in the run ever took
 * or restored a checkpoint; where somebody did, and the newcomer came to its end, it began from
 * nothing; and if it was cut off before, the rank's history ends with the life before. Of one that
 * did the same as the dead all the time (note `replica`), its own is all that counts.
 *
 * A rank that moves (lives.h) is restored by the process that takes it over, in the midst of an
 * incarnation. Histories are by rank of the application; events name processes. */
#ifndef ORACLES_READING_HISTORY_H
#define ORACLES_READING_HISTORY_H

#include "oracles/oracle.h"
#include "oracles/reading/lives.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_WHY_BYTES 200

/* Records from..to-1 of a trace. A call that returned after `cut` counts as in progress: at the
 * checkpoint that ends the piece it had not returned. */
struct piece {
    const struct trace *trace;
    uint64_t from;
    uint64_t to;
    uint64_t cut;      /* ticks; UINT64_MAX: none */
    uint64_t restored; /* index + 1 of the note it begins with; below: the call that was done again;
                        * 0: none */
    uint64_t born;   /* ticks when the life began that the piece is of, or when it went back to the
                      * line that the piece begins with; 0: the first of its rank */
    bool anew;       /* the life took over a rank that had died, and undid nothing */
    bool takes_over; /* ... others lived on: what it had sent may be delivered at any time */
    bool replica;    /* ... and it had done the same before: the times of both count for nothing */
};

/* A checkpoint note within the pieces. */
struct checkpoint {
    uint64_t line;
    uint64_t ticks;
    struct event_ref event;
};

/* One rank. Arrays are owned by the histories. */
struct history {
    size_t piece_count; /* 0: the rank has no trace */
    struct piece *piece;
    size_t checkpoint_count;
    struct checkpoint *checkpoint; /* in order */
    bool unknown;                  /* a line was restored that was never taken: `why` */
    char why[HISTORY_WHY_BYTES];
};

struct histories {
    int ranks;
    struct history *of;        /* by rank */
    const struct lives *lives; /* borrowed */
};

/* The effective histories of all ranks as of `incarnation`. Owned by the caller:
 * histories_release. */
void histories_effective(const struct lives *lives, int incarnation, struct histories *histories);

/* One of which it is not known, or NULL. */
const struct history *histories_unknown(const struct histories *histories);

/* The rank of the application that did this, or in whose place this was; as the process is numbered
 * where nothing moved. */
int histories_rank(const struct histories *histories, struct event_ref event);

/* All of one incarnation, without what went before, by process. No checkpoints. Owned as above. */
void histories_incarnation(const struct lives *lives, int incarnation, struct histories *histories);

/* True if `incarnation`, which was not the last, can be judged on its effective histories: every
 * rank has a trace of it and died with it (none lived on), and had restored the line that others
 * restored. What was under way at its end is unknown, as always. */
bool history_is_whole(const struct lives *lives, int incarnation);

/* True if the event is in one of the pieces. */
bool history_has(const struct history *history, struct event_ref event);
/* ... of its rank. */
bool histories_have(const struct histories *histories, struct event_ref event);

/* Releases what the histories own; the traces are the caller's. */
void histories_release(struct histories *histories);

/* Newest note of `kind` in `trace` below record `below`; of line `line` unless that is LINE_ANY.
 * False if there is none. */
#define LINE_ANY UINT64_MAX
bool note_find(const struct trace *trace, unsigned kind, uint64_t line, uint64_t below,
               uint64_t *index);

/* The note before the one at `index` (newest: pass trace->count), or false. Survives a chain that
 * was cut. */
bool note_before(const struct trace *trace, uint64_t index, uint64_t *before);

/* The first `restored` note of the life; false: it tells none. */
bool history_first_restored(const struct life *life, uint64_t *index);

/* The first record that counts from a `restored` note at record `note` on: that of the
 * application's call inside which it was made, which is done again, or the one after the note. */
uint64_t history_begin(const struct trace *trace, uint64_t note);

/* How record `index` of the trace is called in findings. */
struct event_ref event_of(const struct trace *trace, uint64_t index);

#endif
