/* What the files of family M (message logging, the CAMEL paper) share: the state of all ranks as
 * the records of an incarnation are passed over in the order of time. Everything is by rank of the
 * application. Which message a delivery is of is told by numbers (faultline.h), which are held
 * against the source and the bytes that the records show; what depends on what, and who holds what,
 * is kept here and never asked of the protocol.
 *
 * Memory: for each delivery and each message that somebody may still need again, a word for each
 * rank. */
#ifndef ORACLES_LOGGING_M_FAMILY_H
#define ORACLES_LOGGING_M_FAMILY_H

#include "oracles/judging.h"

#define M_ALL (-1) /* the receiver of a multicast; any sender or receiver */

/* A message by its number; of a reduction, one contribution. */
struct m_message {
    struct m_message *next; /* of the same sender, newest first */
    uint32_t comm;          /* 0: point to point */
    int sender;
    int receiver; /* M_ALL: a multicast */
    uint64_t ssn;
    uint64_t hash;
    bool no_hash;
    bool kept; /* in the log of its sender; set by m_set_kept alone */
    struct m_message *kept_before, *kept_after; /* in the log; NULL: none */
    bool told;                                  /* that it is not there when it is needed */
    bool gone; /* it was, and the sender has died since, and has not kept it again */
    bool lost; /* the same, and somebody needs it */
    struct event_ref sent;
    uint64_t *clock;       /* by rank: how many of its deliveries the sender reflected; owned */
    uint64_t *taken;       /* by rank: its `beginnings` when it took it; 0: not yet. Owned */
    uint64_t *taken_lines; /* by rank: the checkpoints that it had taken by then; owned */
    uint64_t kept_line;    /* the sender's newest line when it kept it; 0: none */
    uint64_t *delivered;   /* by rank: as its how-manieth; 0: not yet. Owned */
};

struct m_delivery {
    struct m_message *message; /* NULL: its number is not told, or is that of no message */
    uint32_t comm;
    int sender;
    uint64_t ssn;
    uint64_t rsn; /* 0: not told */
    struct event_ref event;
    bool *held; /* by rank; owned */
    bool reported;
};

/* A determinant that a rank other than the receiver stored before the receiver told the delivery.
 */
struct m_early {
    int holder;
    uint32_t comm;
    int sender;
    uint64_t ssn;
    uint64_t rsn;
};

/* A checkpoint. */
struct m_line {
    uint64_t line;
    uint64_t count; /* deliveries by then */
    bool saved;
    uint64_t *clock;
};

/* A message that a call hands over, and of which nothing is told yet. */
struct m_open {
    int source;
    uint64_t hash;
    bool no_hash;
    uint64_t leave;
    struct event_ref event;
};

struct m_rank {
    const struct life *life;
    uint64_t beginnings; /* lives seen so far, and returns to a line in the midst of one */
    bool restored;       /* the life has told it */
    bool dead, recovering;
    bool mate_died;   /* one of its team, and this one has not gone back since */
    bool left;        /* ... and it had not failed, nor one of its team: it gave its rank up */
    bool finalizes;   /* the program has called MPI_Finalize */
    bool finalized;   /* ... which has returned, or will: no end of its process is a failure */
    uint64_t needed;  /* deliveries that it must do again to have recovered */
    uint64_t pending; /* messages that it must keep again */
    uint64_t to_hold; /* determinants of others that it had got by its restart, not noted yet */
    bool goes_on;     /* a line of an incarnation before is restored: its first rsn is not known */
    uint64_t base;    /* deliveries that it had done then, as its first rsn says */
    bool misnumbered; /* it told an rsn that was not the next */
    uint64_t count;   /* deliveries that count; the array may have more: those that were undone */
    size_t delivery_count, delivery_room;
    struct m_delivery *delivery; /* by rsn, from base + 1; owned */
    size_t early_count, early_room;
    struct m_early *early;        /* of deliveries still to come; owned */
    uint64_t stable;              /* deliveries that will never be done again */
    size_t stable_lines;          /* in `line`, up to the newest that is there to restore */
    uint64_t newest_line;         /* of the life so far; 0: none */
    uint64_t restored_line;       /* from which a new process goes on; else 0 */
    struct event_ref restored_at; /* where it told so */
    uint64_t *clock;              /* by rank; its own is `count`; owned */
    uint64_t *incarnation;        /* by rank: none older is accepted; owned */
    size_t line_count, line_room;
    struct m_line *line; /* owned */
    size_t open_count, open_room;
    struct m_open *open; /* owned */
    size_t ahead_count, ahead_room;
    uint64_t *ahead; /* records still to come, of which it has been told already; owned */
    struct m_message *message;
    struct m_message *kept; /* the newest in its log, the others behind it as kept_after */
    uint64_t team;          /* 0: alone; else 1 + its number */
};

struct m_state {
    struct judging *judging;
    const struct lives *lives;
    int incarnation;
    int ranks;
    const struct trace *trace; /* of the record that is looked at */
    struct m_rank *rank;
    struct table
        messages; /* (communicator, sender; receiver) to a table by ssn: see m_message_find */
    struct table finished; /* reductions */
    uint64_t promised;
    uint64_t ended;      /* ticks; see ended_at */
    bool saves, commits; /* somebody tells so */
    bool stopped;        /* more have died than the protocol promises to survive */
};

/* NULL: none. `make`: a new one then. */
struct m_message *m_message_find(struct m_state *state, uint32_t comm, int sender, int receiver,
                                 uint64_t ssn, bool make);
/* Puts the message into the log of its sender, or takes it out. */
void m_set_kept(struct m_state *state, struct m_message *message, bool kept);
/* "m(0→2, number 7)"; returns buffer. */
const char *m_message_text(uint32_t comm, int sender, int receiver, uint64_t ssn,
                           char buffer[MESSAGE_TEXT_BYTES]);
/* Both roll back when one of them dies. */
bool m_together(const struct m_state *state, int a, int b);
/* The receiver had taken it before the newest checkpoint that is there to restore, so it is saved
 * there, delivered or not. */
bool m_is_saved(const struct m_state *state, const struct m_message *message, int receiver);
/* The receiver will need its payload again if it dies now. */
bool m_is_needed(const struct m_state *state, const struct m_message *message, int receiver);

/* The record hands a message over to the application, at the return of its call. */
bool m_hands_over(const struct record *record);
struct m_open m_open_of(const struct m_state *state, const struct trace *trace, uint64_t index);
/* m_deliver.c */
void m_deliver(struct m_state *state, int rank, const struct record *note, struct event_ref event);
void m_deliver_untold(struct m_state *state, int rank, const struct m_open *open);
/* m_orphan.c: M.orphan, of the number-th delivery (from 1) of `rank`; `at`: what has just happened.
 */
void m_judge_orphan(struct m_state *state, int rank, uint64_t number, struct event_ref at);
void m_judge_orphans(struct m_state *state, struct event_ref at);
/* A new process goes on from where the rank had done `restored` deliveries: none after that which
 * others reflect may be without a determinant. */
void m_judge_undone(struct m_state *state, int rank, uint64_t restored, struct event_ref at);
void m_hold(struct m_state *state, int rank, const struct record *note, struct event_ref event);
void m_let_go(struct m_state *state, int rank, const struct record *note, struct event_ref event);
/* Those who have stored the determinant of the rank's newest delivery ahead of it hold it. */
void m_hold_early(struct m_state *state, struct m_rank *own);
/* What `holder` has stored ahead of deliveries, it has no more. */
void m_forget_early(struct m_state *state, int holder);
/* m_lives.c */
void m_die(struct m_state *state, const struct life *life);
void m_begin_life(struct m_state *state, const struct life *life);
void m_restore(struct m_state *state, int rank, uint64_t line, struct event_ref event);
void m_checkpoint(struct m_state *state, int rank, uint64_t line, struct event_ref event);
void m_saved(struct m_state *state, int rank, uint64_t line);
void m_stabilize(struct m_state *state, int rank, uint64_t line);
void m_finalize(struct m_state *state, int rank, bool returns, struct event_ref event);
/* Whether the rank is down no more; M.orphan is judged then. `at`: what has just happened. */
void m_look_recovered(struct m_state *state, int rank, struct event_ref at);
/* m_payload.c */
void m_keep(struct m_state *state, int rank, const struct record *note, struct event_ref event);
void m_drop(struct m_state *state, int rank, const struct record *note, struct event_ref event);
void m_arrive(struct m_state *state, int rank, const struct record *note, struct event_ref event);
/* m_part.c */
void m_multicast(struct m_state *state, int rank, const struct record *note,
                 struct event_ref event);
void m_keep_part(struct m_state *state, int rank, const struct record *note,
                 struct event_ref event);
void m_reduced(struct m_state *state, int rank, const struct record *note, struct event_ref event);
void m_judge_multicasts(struct m_state *state);

#endif
