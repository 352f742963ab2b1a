/* What the files of family U share: ULFM, judged at the wire level, where the MPI library answers.
 * Each incarnation is passed once, in the order of time; what is kept of it is here: who died, the
 * communicators and what each member has done on them, and what is under way. Numbers of processes
 * are those of the traces. Must not know: effective histories, what a protocol makes of errors. */
#ifndef ORACLES_ULFM_U_FAMILY_H
#define ORACLES_ULFM_U_FAMILY_H

#include "oracles/judging.h"
#include "trace/calls.h"

#define U_NEVER UINT64_MAX

/* Of a process. It was alive when its last event ended, and dead when its parent saw that. */
struct u_death {
    uint64_t from; /* ticks; it did not die before. U_NEVER: it did not die */
    uint64_t gone; /* ... and was dead then */
    struct event_ref last;
    bool has_event; /* `last` is one */
};

/* An event and its record. record NULL: there is none. */
struct u_event {
    const struct record *record;
    const struct trace *trace;
    uint64_t index;
};

/* What one member of a communicator has done. */
struct u_seat {
    struct u_event knew;  /* the first that told it of the revocation */
    struct u_event ack;   /* newest */
    struct u_event acked; /* FAILED, after the newest ack if `fresh` */
    bool fresh;
    uint64_t met[2]; /* shrinks, agreements */
    uint64_t calls;  /* collectives, and what makes communicators of this one */
    uint64_t came;   /* ticks when it came to the newest of all these */
};

/* A member in a shrink or an agreement. */
struct u_part {
    struct u_event call; /* no record: it has not come */
    struct u_event made; /* COMM of a shrink */
};

enum u_meet_kind { U_SHRINK, U_AGREE };

/* The number-th shrink or agreement of each member. */
struct u_meet {
    struct u_meet *next;
    enum u_meet_kind kind;
    uint64_t number;
    uint64_t until;      /* ticks when the last that has returned did */
    struct u_part *part; /* by place of the member; owned */
};

/* A call that raised REVOKED and before which nobody is known to have revoked. */
struct u_early {
    struct u_early *next;
    struct u_event raised;
};

struct u_comm {
    struct u_comm *next;
    uint32_t id;
    bool inter;
    bool spawned;          /* what spawned processes have of their parents */
    int count;             /* members, of both sides */
    int *member;           /* those of one side after those of the other; owned */
    struct u_seat *seat;   /* by place among the members; owned */
    struct u_event revoke; /* the first */
    uint64_t done;         /* a collective that a member has returned from, by number; 0: none */
    uint64_t done_at;      /* ... ticks when it did */
    struct u_meet *meets;
    struct u_early *early;
};

/* A request that is not complete. */
struct u_open {
    struct u_event posted;
    struct u_event other; /* the second half of MPI_Isendrecv */
    uint64_t number;      /* of a collective: see struct u_seat, calls */
};

/* A live process is inside a call and did not come out. */
struct u_stuck {
    struct u_event call;
    struct u_event of; /* what it waits for: the call itself, or what began the request */
    uint64_t number;   /* if that is a collective; 0: it is none */
};

/* That a process knows of a death, because a call that named the dead one said so. */
struct u_knows {
    struct u_event told;
    uint32_t comm;
};

struct u_run {
    struct judging *judging;
    const struct pass *pass;
    int processes;
    struct u_death *death; /* by process; owned */
    bool spawn_failed;     /* a call of MPI_Comm_spawn raised */
    uint64_t first_gone;   /* the earliest; U_NEVER: nobody died */
    uint64_t begin, last;  /* ticks: the first and the newest that was recorded; U_NEVER and 0 */
    struct table comms;
    struct u_comm *first;
    struct table requests;  /* (process, number) to struct u_open */
    struct table knowledge; /* (process, dead) to struct u_knows */
    struct pool open_pool, early_pool, knows_pool;
    size_t *open; /* by process: requests that are not complete; owned */
    size_t stuck_count, stuck_room;
    struct u_stuck *stuck; /* owned */
};

/* --- what happened ------------------------------------------------------------------------- */

static inline uint64_t u_left(struct u_event event)
{
    return atomic_load_explicit(&event.record->leave, memory_order_relaxed);
}

/* It raised PROC_FAILED, PROC_FAILED_PENDING or REVOKED. */
static inline bool u_raised(const struct record *record)
{
    return record->error >= RAISED_PROC_FAILED && record->error <= RAISED_REVOKED;
}

static inline struct event_ref u_ref(struct u_event event)
{
    return event_of(event.trace, event.index);
}

/* The process may have been dead at that time. False for what is no process of the run. */
bool u_may_be_dead(const struct u_run *run, int process, uint64_t ticks);
/* It was. */
bool u_is_dead(const struct u_run *run, int process, uint64_t ticks);

/* NULL: its members are not known. */
struct u_comm *u_comm_find(const struct u_run *run, uint32_t id);
/* -1: the process is no member. */
int u_place(const struct u_comm *comm, int process);
/* Of the process that did the event; NULL: it is no member. */
struct u_seat *u_seat_of(struct u_comm *comm, struct u_event event);
/* A member but for `besides` may have been dead then (u_may_be_dead); returns it, or -1. */
int u_dead_member(const struct u_run *run, const struct u_comm *comm, int besides, uint64_t ticks);
/* Somebody had revoked it by then. */
bool u_revoked(const struct u_comm *comm, uint64_t ticks);

/* Of COMM and FAILED: how many are listed, and each. */
int u_group_size(struct u_event group);
int u_group_member(struct u_event group, int place);
bool u_group_has(struct u_event group, int process);

/* The process knows that death, and since when. NULL: no call has told it. */
const struct u_knows *u_knowledge(const struct u_run *run, int process, int dead);

/* What a call is about: of COMPLETE what began the request, if that was seen; of a call for several
 * requests that has not returned what began the first; else itself. */
struct u_event u_operation(const struct u_run *run, struct u_event event);
/* All members of its communicator come to it, the k-th of each to the same. */
bool u_gathers(const struct record *operation);
/* The call reaches beyond the communicator that is recorded with it: spawn, connect and the like.
 */
bool u_reaches_beyond(unsigned call);
/* A send, receive or probe that names its peer; no half of MPI_Sendrecv, which names two. */
bool u_names_peer(const struct record *operation);
/* One half of MPI_Sendrecv and the like. */
bool u_is_exchange(const struct record *operation);
int u_peer(const struct record *operation);
bool u_is_wildcard(const struct record *operation);

/* --- words --------------------------------------------------------------------------------- */

#define U_COMM_BYTES 40
/* "MPI_COMM_WORLD", "communicator 0x1f". Returns buffer. */
const char *u_comm_text(uint32_t comm, char buffer[U_COMM_BYTES]);

/* "process 1 in MPI_Recv on MPI_COMM_WORLD: r1#0:e7". Shows the event as well. */
void u_say_call(struct finding *finding, struct u_event call, uint32_t comm, const char *what);
/* "process 2 had died: ..." or that nobody had. */
void u_say_death(const struct u_run *run, struct finding *finding, int process);

/* --- who judges what ----------------------------------------------------------------------- */

/* Every record of the wire that has returned, in the order of entry. */
void u_class_record(struct u_run *run, struct u_event event);
void u_local_record(struct u_run *run, struct u_event event);
void u_revoke_record(struct u_run *run, struct u_event event);
void u_ack_record(struct u_run *run, struct u_event event);
void u_stall_record(struct u_run *run, struct u_event event);
void u_cells_record(struct u_run *run, struct u_event event);
/* Of shrink and agree also where it has not returned. */
void u_meet_record(struct u_run *run, struct u_event event);

/* A communicator is revoked for the first time. */
void u_class_revoked(struct u_run *run, struct u_comm *comm);
/* A message was never received. */
void u_local_unreceived(struct u_run *run, const struct channel *channel, const struct sent *sent);

/* Nothing more will come. */
void u_class_end(struct u_run *run);
void u_meet_end(struct u_run *run);
void u_stall_end(struct u_run *run);

#endif
