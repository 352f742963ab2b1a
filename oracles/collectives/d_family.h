/* What the files of family D share: C3, collectives. A run is judged incarnation by incarnation,
 * from the calls of the application in its effective histories, by the data flow of their category,
 * and from which of them reached the wire. Must not know: how a library or a protocol carries a
 * collective out. */
#ifndef ORACLES_COLLECTIVES_D_FAMILY_H
#define ORACLES_COLLECTIVES_D_FAMILY_H

#include "oracles/judging.h"

/* Data flow (C3, section 4). Scans are not in the paper: data flows from lower ranks to higher. */
enum d_category {
    D_SINGLE_SENDER,
    D_SINGLE_RECEIVER,
    D_ALL_TO_ALL,
    D_BARRIER,
    D_SCAN,
    D_CATEGORIES,
    D_NO_CATEGORY = D_CATEGORIES, /* neighbourhoods, making of communicators */
};

/* What one member did in a call. */
struct d_part {
    int rank;                  /* of MPI_COMM_WORLD */
    const struct trace *trace; /* NULL: it has not come to the call */
    uint64_t index;            /* of the application's record */
    uint64_t enter;            /* ticks, as all that follow */
    uint64_t sent;             /* when the call that starts it returned; 0: it did not */
    uint64_t received;         /* when it was complete; 0: not seen */
    uint64_t result;           /* hash of what the rank got; 0: nothing, or not hashed */
    bool here;                 /* in the incarnation judged, else before the line restored */
    bool on_wire;              /* a collective went on the wire inside the call */
};

/* The number-th collective of each member on a communicator. */
struct d_call {
    uint32_t comm;
    uint64_t number;
    unsigned size;
    unsigned call; /* of the first member that came */
    enum d_category category;
    int root;            /* its place among the parts; -1: none */
    struct d_part *part; /* by rank in the communicator; owned */
};

/* Inside what a collective went on the wire. */
enum d_inside {
    D_INSIDE_NOTHING, /* no call of the application */
    D_INSIDE_CALL,    /* a collective of the application that is in the histories */
    D_INSIDE_OTHER,
};

/* That a rank came to a collective of the wire (see meetings.h). */
struct d_join {
    int rank;
    uint64_t index;
    enum d_inside inside;
    struct d_call *of; /* with D_INSIDE_CALL */
};

/* What is kept from one incarnation to the next. */
struct d_run {
    bool native[D_CATEGORIES]; /* some call of it reached the wire */
    bool lives_on;             /* some ranks did: nothing more is judged */
};

/* The calls of the application as of one incarnation; filled by a pass, see d_calls.c. */
struct d_calls {
    int ranks;
    int incarnation;
    size_t call_count, call_room;
    struct d_call **call;  /* in the order in which they were come to; owned */
    struct table numbered; /* (communicator, number) to struct d_call */
    struct table located;  /* (rank, record of this incarnation) to struct d_call */
    struct table open;     /* (rank and incarnation, request) to struct d_part */
    struct pool call_pool;
};

/* One incarnation. */
struct d_pass {
    struct judging *judging;
    int incarnation;
    const struct lines *lines;
    const struct histories *histories;
    const struct causal *causal;
    const struct meetings *meetings; /* of the wire */
    struct d_calls calls;
    bool *native; /* by category, as in struct d_run */
};

/* d_calls.c: for a listener whose context is the calls. */
void d_calls_begin(struct d_calls *calls, const struct pass *pass);
void d_calls_release(struct d_calls *calls);
void d_calls_joined(void *calls, const struct stream_event *event,
                    const struct gathering *gathering, uint64_t number);
void d_calls_left(void *calls, const struct stream_event *event,
                  const struct collective_request *request);
/* Data flows in the call from the member at place `from` to that at `to`. */
bool d_flows(const struct d_call *call, unsigned from, unsigned to);
/* NULL if the rank is no member of the call's communicator. */
struct d_part *d_part_of(const struct d_call *call, int rank);
struct event_ref d_event(const struct d_part *part);

#define D_CALL_TEXT_BYTES 96
/* "MPI_Bcast number 3 on MPI_COMM_WORLD"; returns buffer. */
const char *d_call_text(const struct d_call *call, char buffer[D_CALL_TEXT_BYTES]);

/* d_wire.c: what the rank's collective of the wire is inside of; false: it did not come to it. */
bool d_join_of(const struct d_pass *pass, const struct meeting *meeting, int rank,
               struct d_join *join);
/* Marks the calls that a collective went on the wire inside of. */
void d_mark_wire(struct d_pass *pass);

/* d_flows.c: D.2.2, D.2.3, D.barrier, D.cell.*. */
void d_judge_flows(struct d_pass *pass);

/* d_recovery.c: D.all, D.gather, D.bcast, of an incarnation in which a line was restored. */
void d_judge_recovery(struct d_pass *pass);

#endif
