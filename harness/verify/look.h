/* What can be asked of traces: about records and messages, who a process was, where it stood
 * against a line, what it could know, and what counts after restarts. For witness.c alone. */
#ifndef VERIFY_LOOK_H
#define VERIFY_LOOK_H

#include "trace/calls.h"
#include "trace/reader.h"

#define NEVER UINT64_MAX

/* `record` NULL: there is none. */
struct at {
    const struct trace *trace;
    uint64_t index;
    const struct record *record;
};

/* To the next event of the trace, or of all; from none to the first. False: none is left. GROUP and
 * TEXT records are parts of the one before them, and members or text stand there where others have
 * their time: at_next_part goes to these alone, of the record that it comes from. */
bool at_next(struct at *at);
bool at_next_part(struct at *at);
bool at_next_of_all(const struct trace_set *traces, struct at *at);

bool at_is_sent(struct at at);                   /* a send of the application, begun */
bool at_is_got(struct at at);                    /* what hands a message to the application */
bool at_takes(struct at at);                     /* the same, at whatever level */
bool at_is_call(struct at at, enum level level); /* a collective */
bool at_is_note(struct at at, enum note_kind kind, uint64_t line); /* line 0: of any */

/* Of a helper, or to or from one: that is the library's under test, and none of the program's. */
bool at_is_helpers(const struct trace_set *traces, struct at at);

/* When the call returns, NEVER while it is in progress. The send of an MPI_Sendrecv is done when it
 * is entered. */
uint64_t at_done(struct at at);
bool at_before(struct at a, struct at b);
bool at_inside(struct at inner, struct at outer);
bool at_is_over(struct at call, struct at then); /* it had returned; in progress: had begun */
struct at at_completion(struct at call);         /* of its request */
struct at at_posting(struct at got);             /* the receive that it completes, or itself */

/* A collective, or only that one, on the wire inside the call and before that record. */
bool is_on_wire(struct at call, enum call_operation operation, uint64_t before);

/* What a send, a delivery or a note is about. */
struct message {
    uint32_t comm;
    int tag;
    int source, destination;
    const struct record *like;      /* whose bytes; NULL: any */
    const struct trace_set *traces; /* source and destination are ranks, whatever processes are
                                     * called that came later; NULL: they are what records say */
};
struct message message_of(struct at at);
/* The same between ranks, not processes. */
struct message message_of_ranks(const struct trace_set *traces, struct at at);
/* One message, but for its bytes. traces: as in struct message. */
bool is_pair(const struct trace_set *traces, struct at sent, struct at got);
bool same_bytes(const struct record *a, const struct record *b); /* as far as that is known */
bool is_other(const struct record *a, const struct record *b);   /* other bytes, or more */
uint64_t data_of(const struct record *call); /* hash of what a collective gives, or is given */

/* What the record says of itself; whose record it is, the caller knows. */
bool message_is_at(const struct message *message, struct at at);

/* Such notes on the message in the trace, or, with a record, inside that call; before `before`. */
unsigned message_notes(const struct message *message, struct at call, enum note_kind kind,
                       uint64_t line, uint64_t before);

/* Inside the call, on its message whatever its bytes; or one with them, of that line and before the
 * note that ends it. And: no call in which the note was made delivers what it is on. */
unsigned notes_inside(struct at call, enum note_kind kind);
bool is_noted(struct at call, enum note_kind kind, uint64_t line, enum note_kind end);
bool is_of_nothing(struct at noted);

/* Which rank of the application the process was then: it may note it (`becomes`). A process that
 * came later than the first MPI_COMM_WORLD is from its start the rank that it notes first. */
int at_rank(struct at at);
/* A process of the first MPI_COMM_WORLD notes that it is another rank than MPI says, or a later one
 * notes its rank more than once. */
bool ranks_move(const struct trace_set *traces);
/* The rank that a peer stands for in that incarnation: of a process that came later, the one that
 * it took over. */
int peer_rank(const struct trace_set *traces, int incarnation, int peer);
/* The process came later than the first MPI_COMM_WORLD. It did not end with exit status 0. */
bool came_later(const struct trace *trace);
/* It did what its rank did all the time, beside the process that was the rank and has died. */
bool was_replica(const struct trace *trace);
bool has_died(const struct trace *trace); /* or left */
/* The program has come out of MPI_Finalize: it owes nothing any more, whatever it returns. */
bool is_finalized(const struct trace *trace);
/* The note by which the process says that it is no rank any more, before it ends, with status 0 and
 * without MPI_Finalize; no record: it does not leave so. */
struct at left_at(const struct trace *trace);
/* The newest process of the rank; `before`: that was born before this one. NULL: none. */
const struct trace *newest_of(const struct trace_set *traces, int rank, const struct trace *before);
/* The note with which the process takes over its first rank. */
struct at first_place(const struct trace *trace);

/* newcomer.c. Of two communicators one goes on in the place of the other: where a process that took
 * a dead one's place could not use the old one. */
bool goes_on(const struct trace_set *traces, uint32_t a, uint32_t b);
/* A message or a collective that another process had with one that came later, before that one had
 * its rank and the state of it; or one of its own from that time. It is part of no history. */
bool is_before_it_counts(const struct trace_set *traces, struct at at);

/* Its newest process died, and nobody came in its place. */
bool rank_is_dead(const struct trace_set *traces, int rank);
/* ... and had not come to MPI_Finalize. */
bool rank_died_at_work(const struct trace_set *traces, int rank);
bool ranks_have(const struct trace_set *traces, int rank); /* some process was it once */

/* The rank belongs to the communicator: as its making was recorded; of the world, all ranks. */
bool is_member(const struct trace_set *traces, uint32_t comm, int rank);

/* The first note of `kind` and `line` in the trace; its end where there is none. */
struct at at_first_note(const struct trace *trace, enum note_kind kind, uint64_t line);

/* The rank's own, in the incarnation and of the line of that note. */
struct at checkpoint_of(const struct trace_set *traces, int rank, struct at like);

/* When the call returns: the newest line that the process has gone past by notes of `kind`, or come
 * back to; and where that is. */
uint64_t at_newest(struct at at, enum note_kind kind);
enum stand { STAND_BEFORE, STAND_LOGGING, STAND_BEYOND };
enum stand at_stand(struct at at, uint64_t line);

/* Lines that the process took after line `a` up to line `b`, or the other way round. Numbers may be
 * left out. */
unsigned lines_between(struct at of, uint64_t a, uint64_t b);

/* How often the process was told "not yet" between the line and the event. */
uint64_t polls(struct at until, uint64_t line);

/* Whether `from` can be known at `to`: by messages of the wire; collectives are not followed, and
 * not chains that take too long to find. */
bool at_is_known(const struct trace_set *traces, struct at from, struct at to);

/* There is a rank of which `then` cannot know such a note of its line; or which is not the peer of
 * one of its own, where that is `clear`. */
bool somebody_lacks(const struct trace_set *traces, enum note_kind kind, struct at then);

#endif
