/* faultline.h: how a protocol or a program tells Faultline what its taps cannot see.
 *
 * Header only. Without Faultline loaded every call does nothing and needs no library: the functions
 * are weak references, resolved by libfaultline.so when it is preloaded. All may be called from any
 * thread, before MPI_Init and after MPI_Finalize; none fails, blocks or calls MPI.
 *
 * `line` numbers a recovery line (the C3 paper's epoch): 1 is the first checkpoint, 0 is the start
 * of the program. */
#ifndef FAULTLINE_H
#define FAULTLINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It is one more whenever a function or a field is added, or does
 * not mean any more what it did. What was built with another version than that of the Faultline
 * that runs it is not run: Faultline says so, and the verdict is harness-error. */
#define FAULTLINE_HEADER_VERSION 6
/* `inside`: any address in the program or library that was built with it. */
void faultline_header(int version, const void *inside) __attribute__((weak));
__attribute__((constructor)) static void faultline_tell_header(void)
{
    if (faultline_header)
        faultline_header(FAULTLINE_HEADER_VERSION, __func__);
}

/* Numbers of enum note_kind in the trace; do not change. */
enum faultline_note {
    FAULTLINE_CHECKPOINT = 1,
    FAULTLINE_SAVED = 2,
    FAULTLINE_COMMIT = 3,
    FAULTLINE_RESTORED = 4,
    FAULTLINE_STOP_LOG = 5,
    FAULTLINE_PHASE = 6,
    FAULTLINE_RESULT = 7,
    FAULTLINE_HANDLE = 8,
    FAULTLINE_INITIATED = 9,
    FAULTLINE_READY = 10,
    FAULTLINE_LOGGED = 11,
    FAULTLINE_REPLAYED = 12,
    FAULTLINE_EARLY = 13,
    FAULTLINE_SUPPRESSED = 14,
    FAULTLINE_DECISION = 15,
    FAULTLINE_DRAWN = 16,
    FAULTLINE_RECORDED = 17,
    FAULTLINE_CLEAR = 18,
    FAULTLINE_NOTIFIED = 19,
    FAULTLINE_BECOMES = 20,
    FAULTLINE_ADDRESS = 21,
    FAULTLINE_WITHOUT = 22,
    FAULTLINE_KEPT = 23,
    FAULTLINE_UNKEPT = 24,
    FAULTLINE_DROPPED = 25,
    FAULTLINE_HELD = 26,
    FAULTLINE_LET_GO = 27,
    FAULTLINE_TAKEN = 28,
    FAULTLINE_DISCARDED = 29,
    FAULTLINE_INCARNATION = 30,
    FAULTLINE_MULTICAST = 31,
    FAULTLINE_REDUCED = 32,
    FAULTLINE_KEPT_PART = 33,
    FAULTLINE_PROMISED = 34,
    FAULTLINE_TEAM = 35,
    FAULTLINE_POTENTIAL = 36,
    FAULTLINE_GIVEN_UP = 37,
    FAULTLINE_SETTLES = 38,
    FAULTLINE_LEARNED = 39,
    FAULTLINE_TASKS = 40,
    FAULTLINE_COUNTED = 41,
    FAULTLINE_REPAIRED = 42,
    FAULTLINE_REPLICA = 43,
    FAULTLINE_SURVIVES = 44,
    FAULTLINE_CANNOT = 45,
    FAULTLINE_NEAR = 46,
    FAULTLINE_CARRIES = 47,
    FAULTLINE_RECORDED_CARRIED = 48,
    FAULTLINE_BEGINS = 49
};
#define FAULTLINE_NO_RANK UINT64_MAX
enum faultline_handle { FAULTLINE_COMM = 1, FAULTLINE_REQUEST = 2, FAULTLINE_COMM_IDENTITY = 3 };

/* What all functions below call. name may be NULL; data may be NULL when bytes is 0; both are only
 * read. Prefer the named functions below. */
void faultline_note(int kind, uint64_t value, const char *name, const void *data, size_t bytes)
    __attribute__((weak));
void faultline_draw(const char *name, void *data, size_t bytes) __attribute__((weak));
void faultline_handle(int what, uint64_t handle, uint64_t stands_for) __attribute__((weak));
void faultline_group(uint64_t comm, const int *world, int size, int rank) __attribute__((weak));
void faultline_message(int kind, uint64_t line, uint64_t comm, int peer, int tag, const void *data,
                       size_t bytes) __attribute__((weak));

/* A message by its numbers, see "Message logging" below. */
struct faultline_number {
    uint64_t comm; /* the application's handle, of a multicast or reduction; 0: point to point */
    int sender;    /* ranks of the application in MPI_COMM_WORLD */
    int receiver;
    uint64_t ssn;      /* send sequence number */
    uint64_t rsn;      /* receive sequence number */
    uint64_t identity; /* of the communicator, in place of a handle; 0: comm says it */
};
void faultline_numbered(int kind, const struct faultline_number *number) __attribute__((weak));

/* One side of a collective, as the application gave it: what it sends, or what it receives. NULL:
 * the call has no such array, or what it says is of no significance at this rank. */
struct faultline_side {
    const void *buffer;
    int64_t count;
    uint64_t datatype;
    const int *counts; /* by rank; then count is of no use */
    const int *displacements;
    const void *datatypes; /* by rank, of the MPI's type of them */
};

/* A persistent collective. */
struct faultline_collective {
    const char *call; /* that made it: "MPI_Bcast_init" */
    int root;
    struct faultline_side sent, received; /* of a broadcast both are its buffer */
};

/* A request of the application that a protocol has brought back after a restart, or a message that
 * a matched probe had found; numbers as the application would give them to MPI. */
struct faultline_request {
    uint64_t handle;
    uint64_t comm;
    int message;    /* 1: a message, and of the fields below only `peer` and `tag` count */
    int receives;   /* 0: it sends */
    int persistent; /* 0: the handle goes when it is complete */
    int active;     /* it is under way */
    int peer;
    int tag;
    const void *buffer;
    int64_t count;
    uint64_t datatype;
    /* NULL: a message. Else persistent, not under way, and the fields from `receives` on but these
     * are of no use. Arrays in it stay until the request is freed. */
    const struct faultline_collective *collective;
};
void faultline_request(const struct faultline_request *request) __attribute__((weak));

/* 1 if Faultline records this process, else 0. */
static inline int faultline_present(void)
{
    return faultline_note != NULL;
}

/* This rank has taken its local checkpoint of `line`: its state as of now is what a restart from
 * `line` gives back. Call it at the point of the cut itself, which may lie inside a call of the
 * application: the call is done again after a restart. What it receives counts as not handed over
 * at the cut, wherever its bytes are by then; what it sends may be sent before the cut or after
 * it, and is not sent again if it was before. */
static inline void faultline_checkpoint(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_CHECKPOINT, line, NULL, NULL, 0);
}

/* Everything this rank must keep for `line` is on stable storage. */
static inline void faultline_saved(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_SAVED, line, NULL, NULL, 0);
}

/* The initiator has durably recorded `line` as the one to recover from. Of transactions (family T):
 * this process has committed it. */
static inline void faultline_commit(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_COMMIT, line, NULL, NULL, 0);
}

/* This rank's state is again what it was at its checkpoint of `line`. Once per incarnation (by a
 * process that takes over a rank: once for that), at the moment from which the rank lives on from
 * that state: what the program did before in this incarnation was only to get there. If the cut lay
 * inside a call, inside the call that is done again or before it. Never for a start from nothing
 * of the whole job. Where ranks live on when one dies (survivors), also by a rank that goes back
 * while it lives, and by the process that takes a dead rank over; line 0 is the beginning. A rank
 * that does not tell it has not rolled back. */
static inline void faultline_restored(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_RESTORED, line, NULL, NULL, 0);
}

/* This rank stops logging for `line` (C3 section 2.2, the stop-log line). */
static inline void faultline_stop_log(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_STOP_LOG, line, NULL, NULL, 0);
}

/* The initiator begins to make `line` (C3 section 3.1, pleaseCheckpoint is sent next). */
static inline void faultline_initiated(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_INITIATED, line, NULL, NULL, 0);
}

/* This rank is at a potential checkpoint; whether it takes one is told afterwards. */
static inline void faultline_potential(void)
{
    if (faultline_note)
        faultline_note(FAULTLINE_POTENTIAL, 0, NULL, NULL, 0);
}

/* The protocol does not make `line` any more, for a reason that it has: a sentence for people. */
static inline void faultline_given_up(uint64_t line, const char *reason)
{
    if (faultline_note)
        faultline_note(FAULTLINE_GIVEN_UP, line, reason, NULL, 0);
}

/* The protocol promises: a line that was begun (`initiated`, `notified` or `checkpoint` was told of
 * it) is committed, or given up, before every rank has passed `passed` (1 or more) further
 * potential checkpoints. Once per incarnation, by one rank or by all, with one number. Without it
 * nothing is asked for; nor where the plan keeps messages or stops ranks. */
static inline void faultline_settles(uint64_t passed)
{
    if (faultline_note)
        faultline_note(FAULTLINE_SETTLES, passed, NULL, NULL, 0);
}

/* The protocol promises: where no line is under way (at the beginning of an incarnation, and when
 * one is committed or given up) the next one is begun before every rank has passed `passed` (1 or
 * more) further potential checkpoints. As faultline_settles in all else. */
static inline void faultline_begins(uint64_t passed)
{
    if (faultline_note)
        faultline_note(FAULTLINE_BEGINS, passed, NULL, NULL, 0);
}

/* This rank has all late messages of `line` and says so next (C3 section 3.1,
 * readyToStopLogging). */
static inline void faultline_ready(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_READY, line, NULL, NULL, 0);
}

/* What a protocol does with one message of the application. Call them inside the MPI call of the
 * application that sends the message or hands it over, on the same thread. `comm` is the
 * application's handle as an integer ((uint64_t)comm), `peer` a rank in it: the source of a message
 * that was received, the destination of one that is sent. data: its packed bytes, only read; NULL
 * where the protocol does not have them. Not for messages of the protocol's own. */

/* A late message, handed over now, is in the log of `line` (C3 section 2.3). */
static inline void faultline_logged(uint64_t line, uint64_t comm, int peer, int tag,
                                    const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_LOGGED, line, comm, peer, tag, data, bytes);
}

/* A late message of `line` is handed over from its log, after recovery; or one that was recorded
 * with `line`. */
static inline void faultline_replayed(uint64_t line, uint64_t comm, int peer, int tag,
                                      const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_REPLAYED, line, comm, peer, tag, data, bytes);
}

/* An early message, handed over now, is in the list of what is not to be sent again after recovery
 * from `line` (C3 section 3.3, suppressList); `line` is the one this rank has not taken yet. */
static inline void faultline_early(uint64_t line, uint64_t comm, int peer, int tag,
                                   const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_EARLY, line, comm, peer, tag, data, bytes);
}

/* A send of the application that is not put on the wire after recovery from `line`. */
static inline void faultline_suppressed(uint64_t line, uint64_t comm, int peer, int tag,
                                        const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_SUPPRESSED, line, comm, peer, tag, data, bytes);
}

/* A message that was under way at the cut of `line` is kept with the line: `peer` had sent it
 * before its own cut, and it had not been handed over here at this rank's (the state of a channel
 * of Chandy and Lamport; CoCheck's buffer). Handed over: the call that completes its receive has
 * returned; so a message that an MPI_Irecv has already got, and no wait or test, is recorded too.
 * From each peer, on each communicator, in the order of sending, whatever the tags; altogether in
 * the order in which they came. Once for each line: again for the next one if it still waits then.
 * Unlike those above it may be told outside the call that hands the message over. After a restart,
 * `replayed`. Not for messages of which a collective of the application is made: see
 * faultline_carries. */
static inline void faultline_recorded(uint64_t line, uint64_t comm, int peer, int tag,
                                      const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_RECORDED, line, comm, peer, tag, data, bytes);
}

/* What the protocol sends through `comm`, a communicator of the library, with `tag` is what calls
 * of the application are made of, collective ones too: it is the content of channels, and not the
 * protocol's own, as a marker is. Once per incarnation and tag, before the first line. From then on
 * faultline_recorded_carried is asked for (S.channel). */
static inline void faultline_carries(uint64_t comm, int tag)
{
    if (faultline_message)
        faultline_message(FAULTLINE_CARRIES, 0, comm, 0, tag, NULL, 0);
}

/* A message of the library that crosses the cut of `line` forwards is kept with the line: process
 * `peer` of `comm` had sent it before its own cut, and the receive that took it here ended after
 * this process's. data: the bytes that came. For what faultline_carries was told of; of each
 * process on each communicator in the order of sending, whatever the tags. */
static inline void faultline_recorded_carried(uint64_t line, uint64_t comm, int peer, int tag,
                                              const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_RECORDED_CARRIED, line, comm, peer, tag, data, bytes);
}

/* All that rank `peer` of `comm` sent here before its own cut of `line`, on whatever communicator,
 * has come: its marker (Chandy and Lamport) or its ready message (CoCheck section 4) is here. Once
 * for each line and each other rank of the application; `comm` only says how `peer` is counted. */
static inline void faultline_clear(uint64_t line, uint64_t comm, int peer)
{
    if (faultline_message)
        faultline_message(FAULTLINE_CLEAR, line, comm, peer, 0, NULL, 0);
}

/* This rank acts on having been told to make `line`: a first marker, CoCheck's notification.
 * CoCheck never does inside a call that sends (section 4), but where that has sent and waits for
 * something else: for the match of a synchronous send, for the other half of a sendrecv. */
static inline void faultline_notified(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_NOTIFIED, line, NULL, NULL, 0);
}

/* This process is rank `rank` of the application from here on, until it tells another or
 * FAULTLINE_NO_RANK: a process in reserve, or one that another has taken the place of (migration,
 * CoCheck section 4). Without any such note a process is the rank that MPI says; one that starts as
 * something else says so inside MPI_Init, before the program sees it return. A rank moves like
 * this: its process tells `checkpoint` of a line, then that it becomes nobody, and returns to the
 * program no more; the other tells that it becomes the rank, and `restored` of that line. In the
 * same way a process takes over a rank whose process has died; nothing of what that one did after
 * the line counts. */
static inline void faultline_becomes(uint64_t rank)
{
    if (faultline_note)
        faultline_note(FAULTLINE_BECOMES, rank, NULL, NULL, 0);
}

/* The job goes on without rank `rank` of the application: it has died, and nobody takes its place.
 * Told by one process or by several. Without it a job whose ranks live on when one dies has not
 * come to its end before that rank has. */
static inline void faultline_without(uint64_t rank)
{
    if (faultline_note)
        faultline_note(FAULTLINE_WITHOUT, rank, NULL, NULL, 0);
}

/* This process sends what is for rank `rank` of the application to process `process` of `comm`, a
 * communicator of the library, from here on (CoCheck's mapping table, section 4); before the first
 * such note, to the process with the rank's number in the world. From here on nothing goes from it
 * through `comm` to the process before, unless that is another rank by now: what is still to be
 * told to a process in reserve goes through another communicator. */
static inline void faultline_address(uint64_t rank, uint64_t comm, int process)
{
    if (faultline_message)
        faultline_message(FAULTLINE_ADDRESS, rank, comm, process, 0, NULL, 0);
}

/* A choice that the program made without MPI (a random number, the time of day), as it goes on with
 * it: what a protocol that logs such choices must give back after recovery (C3 section 2.3). */
static inline void faultline_decision(const char *name, const void *data, size_t bytes)
{
    if (faultline_note)
        faultline_note(FAULTLINE_DECISION, bytes, name, data, bytes);
}

/* What the program has just got by chance: a random number, the time of day. In a run that is
 * replayed `data` becomes what it was then. Before anybody else sees it: ahead of a protocol that
 * logs such choices. Of more than 12 bytes nothing is kept, and a replay may diverge. */
static inline void faultline_drawn(const char *name, void *data, size_t bytes)
{
    if (faultline_draw)
        faultline_draw(name, data, bytes);
}

/* A named point that a scenario can aim at: `event = "phase", name = "..."`. */
static inline void faultline_phase(const char *name)
{
    if (faultline_note)
        faultline_note(FAULTLINE_PHASE, 0, name, NULL, 0);
}

/* A declared result: compared, by name and rank, with that of a run without faults. */
static inline void faultline_result(const char *name, const void *data, size_t bytes)
{
    if (faultline_note)
        faultline_note(FAULTLINE_RESULT, bytes, name, data, bytes);
}

/* A protocol that hands the application handles of its own says which of the library's each stands
 * for (`what` is enum faultline_handle); again after a restart. stands_for 0 forgets it. Handles
 * are passed as integers: (uint64_t)comm, or (uintptr_t) where the MPI's handles are pointers. */
static inline void faultline_stands_for(int what, uint64_t handle, uint64_t stands_for)
{
    if (faultline_handle)
        faultline_handle(what, handle, stands_for);
}

/* The application may complete this request, or receive this message, although nobody has made or
 * found it in this incarnation. Ahead of the first call that it makes with it; so a protocol that
 * lets the application do again what led to the cut (see faultline_restored) says what there is
 * where that begins. Only read. */
static inline void faultline_brought_back(const struct faultline_request *request)
{
    if (faultline_request)
        faultline_request(request);
}

/* A communicator that a protocol hands out and makes again after a restart, in another way than the
 * program did: `identity` is the same in every incarnation and on every member, and no other
 * communicator has it. After faultline_stands_for; inside the call that makes it, or where it is
 * made again. Messages of several incarnations are told apart and put together by it. */
static inline void faultline_identity(uint64_t comm, uint64_t identity)
{
    if (faultline_handle)
        faultline_handle(FAULTLINE_COMM_IDENTITY, comm, identity);
}

/* The members of a communicator that a protocol hands out and that stands for none of the
 * library's: ranks of the application in MPI_COMM_WORLD, of which the `rank`-th is this process.
 * Ahead of faultline_identity. MPI_COMM_WORLD and MPI_COMM_SELF may be told too, where the
 * application has fewer ranks than the job has processes. Only read. */
static inline void faultline_members(uint64_t comm, const int *world, int size, int rank)
{
    if (faultline_group)
        faultline_group(comm, world, size, rank);
}

/* Message logging (the CAMEL paper, section 2.3). A message point to point has a number of its
 * sender, ssn, which no other message from that sender to that receiver has; sent again after a
 * recovery it has the same. A multicast or reduction has a number on its communicator, which no
 * other multicast or reduction on it has; it counts as ssn, with the root of a multicast as the
 * sender of all its copies. A message whose number is not told has none, so nobody holds its
 * determinant. Ranks are those of the application in MPI_COMM_WORLD. What a process that takes over
 * a rank finds in its checkpoint, or is given by others, it tells anew: the logs of one that died
 * are gone with it. It tells payloads from before the line that it goes on from ahead of
 * faultline_restored, for its program does not send these messages again; and determinants that it
 * is given back directly after faultline_restored. */

/* The payload of the message that this call of the application sends is in the log of this process.
 * Inside the call, on its thread; comm, peer, data as for `logged`. */
static inline void faultline_kept(uint64_t ssn, uint64_t comm, int peer, int tag, const void *data,
                                  size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_KEPT, ssn, comm, peer, tag, data, bytes);
}

/* The same of a message that has the number, but whose payload is in no log: its receiver is of the
 * same team. */
static inline void faultline_unkept(uint64_t ssn, uint64_t comm, int peer, int tag,
                                    const void *data, size_t bytes)
{
    if (faultline_message)
        faultline_message(FAULTLINE_UNKEPT, ssn, comm, peer, tag, data, bytes);
}

static inline void faultline_number_told(int kind, uint64_t comm, int sender, int receiver,
                                         uint64_t ssn, uint64_t rsn)
{
    const struct faultline_number number = {comm, sender, receiver, ssn, rsn, 0};
    if (faultline_numbered)
        faultline_numbered(kind, &number);
}

/* Payloads for `receiver` (-1: any) with numbers up to ssn are no longer in the log of this
 * process; UINT64_MAX: all. With a communicator: the payload of its multicast or reduction of that
 * number. */
static inline void faultline_dropped(uint64_t comm, int receiver, uint64_t ssn)
{
    faultline_number_told(FAULTLINE_DROPPED, comm, 0, receiver, ssn, 0);
}

/* This process has the determinant from here on: `receiver` delivered the message as its rsn-th.
 * The receiver itself tells it inside the call of the application that hands the message over, in
 * the order of delivery; others when they have it stored, before they say so to anybody: what comes
 * along with a message, ahead of the determinant of that message itself. rsn counts the deliveries
 * of a rank from 1, over restarts: one that is done again has the same. Where the whole job was
 * started again from a line, they go on. A process that goes back with its team tells anew, after
 * `restored`, what it still has of the deliveries of others. In a reduction the sender is the
 * child, and the root alone has determinants. */
static inline void faultline_held(uint64_t comm, int sender, uint64_t ssn, int receiver,
                                  uint64_t rsn)
{
    faultline_number_told(FAULTLINE_HELD, comm, sender, receiver, ssn, rsn);
}

/* ... and has it no more; sender -1: it has no determinant any more, of whatever message. */
static inline void faultline_let_go(uint64_t comm, int sender, uint64_t ssn, int receiver,
                                    uint64_t rsn)
{
    faultline_number_told(FAULTLINE_LET_GO, comm, sender, receiver, ssn, rsn);
}

/* One of the notes of this section, by its kind, of a multicast or reduction on a communicator that
 * is known by its identity (see faultline_identity): this process need not be in it, or not yet, or
 * no longer. Of the numbers those count that the note of that kind has. */
static inline void faultline_numbered_of(int kind, uint64_t identity, int sender, int receiver,
                                         uint64_t ssn, uint64_t rsn)
{
    const struct faultline_number number = {0, sender, receiver, ssn, rsn, identity};
    if (faultline_numbered)
        faultline_numbered(kind, &number);
}

/* A message of the application has come here from `sender`'s incarnation (0: the first), and will
 * be delivered: now, or when its turn comes (out of order). Ahead of its `held`. */
static inline void faultline_taken(uint64_t comm, int sender, uint64_t ssn, uint64_t incarnation)
{
    faultline_number_told(FAULTLINE_TAKEN, comm, sender, 0, ssn, incarnation);
}

/* ... and is dropped: of an old incarnation, or a duplicate. */
static inline void faultline_discarded(uint64_t comm, int sender, uint64_t ssn,
                                       uint64_t incarnation)
{
    faultline_number_told(FAULTLINE_DISCARDED, comm, sender, 0, ssn, incarnation);
}

/* From here on this process takes messages of `sender` only from its incarnation `incarnation` (or
 * newer ones): it knows that the one before has died. A multicast that has begun excepted. */
static inline void faultline_incarnation(int sender, uint64_t incarnation)
{
    faultline_number_told(FAULTLINE_INCARNATION, 0, sender, 0, incarnation, 0);
}

/* A multicast begins at this process, its root: ahead of its first copy. */
static inline void faultline_multicast(uint64_t comm, int root, uint64_t number)
{
    faultline_number_told(FAULTLINE_MULTICAST, comm, root, 0, number, 0);
}

/* This process knows that the reduction is finished: its root when it is, the others when they are
 * told, after they have dropped what they need no longer keep. */
static inline void faultline_reduced(uint64_t comm, int root, uint64_t number)
{
    faultline_number_told(FAULTLINE_REDUCED, comm, 0, root, number, 0);
}

/* The payload of a multicast (sender: its root; receiver: -1, all), or a contribution to a
 * reduction (sender: this rank; receiver: its parent), is in the log of this process. */
static inline void faultline_kept_part(uint64_t comm, int sender, int receiver, uint64_t number)
{
    faultline_number_told(FAULTLINE_KEPT_PART, comm, sender, receiver, number, 0);
}

/* The protocol survives up to `failures` at a time: as many ranks (teams, where there are any) may
 * be dead or not yet have recovered. Once, by any process, ahead of the first message; 1 where it
 * is not told. */
static inline void faultline_promised(uint64_t failures)
{
    if (faultline_note)
        faultline_note(FAULTLINE_PROMISED, failures, NULL, NULL, 0);
}

/* This rank is of team `team`, whose members all roll back when one of them dies. Each rank, ahead
 * of its first message; a rank that does not tell it is alone. */
static inline void faultline_team(uint64_t team)
{
    if (faultline_note)
        faultline_note(FAULTLINE_TEAM, team, NULL, NULL, 0);
}

/* Master and worker. This process leads: it gives out tasks, numbered from 0 to tasks - 1, and in
 * the end has the result of each. By a standby: when it begins to lead. */
static inline void faultline_tasks(uint64_t tasks)
{
    if (faultline_note)
        faultline_note(FAULTLINE_TASKS, tasks, NULL, NULL, 0);
}

/* The result of task `task` counts in what this process has, from now on. Also by one that leads
 * only later, or never, and is told of results. */
static inline void faultline_counted(uint64_t task)
{
    if (faultline_note)
        faultline_note(FAULTLINE_COUNTED, task, NULL, NULL, 0);
}

/* FT-MPI's modes ([UL] section 7): after a death MPI_COMM_WORLD has been repaired, all who live
 * have agreed on that, and this process is rank `rank` of it now. mode: "blank", "shrink" or
 * "replace". By each process that lives, survivor or new, once for each repair. */
static inline void faultline_repaired(const char *mode, uint64_t rank)
{
    if (faultline_note)
        faultline_note(FAULTLINE_REPAIRED, rank, mode, NULL, 0);
}

/* Replication ([UL] section 2.3): this process does what rank `rank` of the application does,
 * beside the process that is that rank. Told inside MPI_Init, after
 * faultline_becomes(FAULTLINE_NO_RANK). If that one dies and this one goes on as the rank, it tells
 * faultline_becomes; what counts is what it has done itself then, from its beginning. */
static inline void faultline_replica(uint64_t rank)
{
    if (faultline_note)
        faultline_note(FAULTLINE_REPLICA, rank, NULL, NULL, 0);
}

/* Algorithm-based fault tolerance ([UL] sections 2.6 and 6.2). This program gives its result in
 * spite of up to `losses` deaths in the run, whichever processes die and when: all deaths count,
 * those too that it has got over. Each rank, ahead of its work; again where it has changed. A rank
 * that does not tell it promises to survive none. */
static inline void faultline_survives(uint64_t losses)
{
    if (faultline_note)
        faultline_note(FAULTLINE_SURVIVES, losses, NULL, NULL, 0);
}

/* More is lost than this program can make up for, and it gives no result: the reason, a sentence
 * for people. By one rank or by several, before they end the job. */
static inline void faultline_cannot(const char *reason)
{
    if (faultline_note)
        faultline_note(FAULTLINE_CANNOT, 0, reason, NULL, 0);
}

/* A declared result that is a number: it differs by at most `tolerance` (0 or more, in the same
 * unit) from what is declared under this name in a run without faults. `name` says which number of
 * the job it is, "x[3]", for a rank may declare what was a dead one's. Several ranks may declare
 * one; what a rank declares under a name last counts. */
static inline void faultline_near(const char *name, double number, double tolerance)
{
    uint64_t tolerance_bits = 0;
    if (!faultline_note)
        return;
    __builtin_memcpy(&tolerance_bits, &tolerance, sizeof tolerance_bits);
    faultline_note(FAULTLINE_NEAR, tolerance_bits, name, &number, sizeof number);
}

#ifdef __cplusplus
}
#endif

#endif
