/* A drawn program as the traces that the taps would leave of it: with crashes, and a protocol that
 * recovers from the newest committed line. Must not know: claims, oracles. */
#ifndef TESTS_PLANTED_RENDER_H
#define TESTS_PLANTED_RENDER_H

#include "planted/program.h"
#include "trace/reader.h"

#include <stdio.h>

#define LIVES_MOST 6
#define RESULT_NAME "sum"

/* What an op that is wrong does otherwise, in the last life that comes to it. */
enum op_wrong {
    WRONG_NOTHING,
    WRONG_NOT_DELIVERED,  /* the protocol takes a message in and hands it to nobody */
    WRONG_NOT_SENT,       /* a message that the program never sent is delivered */
    WRONG_TOO_SOON,       /* a send is synchronous, and complete before its receive has begun */
    WRONG_TWICE,          /* a message is delivered again */
    WRONG_BYTES,          /* it is delivered with other bytes */
    WRONG_PROBED,         /* a probe before it found one of another length */
    WRONG_SWAPPED,        /* and the next of its channel: each in the other's place */
    WRONG_CALL_RESULT,    /* a collective gives this rank something else */
    WRONG_CALL_GIVEN,     /* this rank gives something else to a collective */
    WRONG_NOT_SYNCED,     /* a file is not synced */
    WRONG_NOT_TOLD,       /* a control message is never sent */
    WRONG_NO_NOTE,        /* no logged, early, replayed or suppressed note of the message */
    WRONG_LOGGED,         /* a message that is neither late nor early is noted as logged */
    WRONG_SENT_OTHERWISE, /* an early message is sent with other bytes when it is sent again */
    WRONG_CHOICE,         /* another decision than before the crash */
    WRONG_COMMIT_LATE,    /* a commit is noted only after the beginning of the next line */
    WRONG_ON_WIRE,        /* the wire brings other bytes than were sent */
};

/* One incarnation: from `line` (0: from the beginning) to before op `cut`. */
struct life {
    int line;
    int cut;
};

struct buffer {
    struct trace_header header;
    struct record *record;
    size_t count, room;
};

struct rendering {
    const struct program *program;
    enum op_wrong wrong;
    int restored_wrong; /* as many restarts, from the first that can, come back to an older line */
    int results_wrong;  /* as many ranks declare another result */
    int holes;          /* as many ranks leave a hole in their last trace */
    int lives;
    struct life life[LIVES_MOST];
    int restored_wrongly; /* of those */
    struct trace_set set; /* points into the following */
    struct trace trace[LIVES_MOST * RANKS_MOST];
    struct buffer buffer[LIVES_MOST][RANKS_MOST];
    uint64_t clock;
    uint64_t record_count;
};

/* The lives that the program of the rendering has: drawn, as many as its shape says. */
void rendering_draw_lives(struct rendering *rendering);

/* Whether the last life comes to that op, and what it makes of it. */
bool is_done_last(const struct rendering *rendering, int op);
bool is_replayed_last(const struct rendering *rendering, int op);   /* the receive of a late one */
bool is_suppressed_last(const struct rendering *rendering, int op); /* the send of an early one */
bool straddles(const struct program *program, const struct call *call, int line);

/* Writes all traces; what the rendering held before is overwritten, its memory used again. */
void rendering_write(struct rendering *rendering);
void rendering_release(struct rendering *rendering);

/* What each rank declares in a run that is right. */
uint64_t result_hash_of(int rank);

#endif
