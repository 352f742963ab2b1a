/* What of a run is read once, for all who judge or draw it: the table of lives, and for each
 * incarnation the effective histories, where the ranks stand against the lines, and what was told
 * of messages. Each is made when it is asked for first. What passes over the records themselves is
 * pass.h. Must not know: claims. */
#ifndef ORACLES_READING_READING_H
#define ORACLES_READING_READING_H

#include "oracles/reading/history.h"
#include "oracles/reading/lines.h"
#include "oracles/reading/lives.h"
#include "oracles/reading/message_notes.h"
#include "oracles/reading/uncounted.h"

/* Of one incarnation, as far as it was asked for. */
struct incarnation {
    bool has_histories, has_lines, has_told;
    struct histories histories;
    struct lines lines;
    struct message_notes notes;
};

struct reading {
    const struct trace_set *traces; /* borrowed; at least one */
    struct lives lives;
    struct uncounted uncounted;
    bool finished;          /* the run came to its end: nothing more would have come */
    struct incarnation *of; /* by incarnation */
};

/* Released by reading_end. */
void reading_begin(struct reading *reading, const struct trace_set *traces, bool finished);
void reading_end(struct reading *reading);

/* Owned by the reading; valid until it ends, or forgets the incarnation. */
const struct histories *reading_histories(struct reading *reading, int incarnation);
const struct lines *reading_lines(struct reading *reading, int incarnation);
/* None of them is taken. */
struct message_notes *reading_message_notes(struct reading *reading, int incarnation);

/* They may be asked for again. */
void reading_forget(struct reading *reading, int incarnation);

#endif
