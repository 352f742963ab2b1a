/* The board: one shared-memory segment per run, a slot per process: those of the first
 * MPI_COMM_WORLD by their ranks, then those that came later, in the order in which they came. How
 * ranks, their parents and the driver learn of each other; no control message of ours travels
 * through MPI. Lives in the file `board` of the run folder. All access goes through here: a job on
 * several hosts will need a board that spans them. Must not know: MPI, Lua, traces. libc only (it
 * is part of libfaultline.so). */
#ifndef BOARD_BOARD_H
#define BOARD_BOARD_H

#include "base/error.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BOARD_MAGIC 0x31445242464cull /* "FLBRD1" */
#define BOARD_VERSION 11u
#define BOARD_MAX_RANKS 1024
#define BOARD_MAX_STEPS 256
#define BOARD_NEWCOMERS 64 /* slots for processes that come later, where some may */
#define BOARD_TEXT_BYTES 256
/* "1": when a rank has died the others go on; else the job ends. */
#define SURVIVORS_ENVIRONMENT "FAULTLINE_SURVIVORS"
/* The parent of a process that was spawned gets its number as --first N. It gets the numbers of its
 * parents in the environment, with commas between. */
#define FIRST_OPTION "first"
#define PARENTS_ENVIRONMENT "FAULTLINE_PARENTS"
#define BOARD_NAME_BYTES 16 /* of a process, as the kernel keeps it */

/* Life of a rank's process in the current incarnation. */
enum rank_state {
    RANK_ABSENT = 0,       /* not started */
    RANK_LOADED = 1,       /* libfaultline.so is in the process */
    RANK_INITIALIZING = 2, /* inside the MPI library's own MPI_Init */
    RANK_INITIALIZED = 3,  /* MPI_Init returned */
    RANK_FINALIZING = 4,   /* MPI_Finalize has been called */
    RANK_FINALIZED = 5,    /* MPI_Finalize returned */
};

/* What a process is with others in that all need all for; see survivors_open. */
enum board_together {
    TOGETHER_NOT = 0,
    TOGETHER_IN = 1,     /* so it must not be killed now */
    TOGETHER_KILLED = 2, /* its parent kills it */
};

/* One rank. Written by the rank itself except where said. */
struct board_slot {
    alignas(128) _Atomic int32_t pid; /* of the rank's process; 0 none. Written by its parent */
    _Atomic int32_t parent_pid;       /* of `faultline exec` around it. Written by the parent */
    _Atomic uint32_t state;           /* enum rank_state */
    _Atomic int32_t launcher_pid;     /* of the process that started the parent. By the parent */
    _Atomic uint32_t ended;           /* 1: wait_status is valid. Written by the parent */
    _Atomic int32_t wait_status;      /* as waitpid gave it. Written by the parent */
    _Atomic uint64_t ended_ns;        /* CLOCK_MONOTONIC when the parent saw that */
    _Atomic uint64_t aborted_ns;      /* CLOCK_MONOTONIC when the rank told the launcher to end the
                                         job (MPI_Abort, a fatal MPI error); 0: it has not */
    _Atomic uint64_t sent_within;     /* a bit for each signal that the plan, Faultline or a rank of
                                         the job has sent to this rank; see board_note_signal */
    _Atomic uint32_t orphaned; /* 1: the launcher ended while the rank was alive. By the parent */
    /* A signal that the parent was sent, to pass on; the first one. Written by the parent */
    _Atomic int32_t signal_sent;   /* which; 0: none */
    _Atomic int32_t signal_sender; /* pid of who sent it */
    _Atomic int32_t sent_itself;   /* the newest signal that the program has sent to its own
                                      process; 0: none */
    _Atomic uint64_t signal_ns;
    char signal_sender_name[BOARD_NAME_BYTES]; /* of that process, valid when `signal_sent` is not 0
                                                */
    _Atomic uint32_t kill_request;             /* step + 1 of a kill from outside, 0 none */
    _Atomic int32_t world_size;                /* as MPI says after Init */
    _Atomic int32_t tid;                       /* thread that is inside blocking_call */
    _Atomic uint64_t blocking_call; /* record index + 1 of the wire call in progress that may
                                       block; 0: not inside one */
    _Atomic uint64_t line;          /* newest line this rank has checkpointed or restored */
    _Atomic uint64_t stopped_line;  /* newest line this rank has stopped logging for, or restored */
    _Atomic uint32_t held;          /* messages of this rank that a hold keeps back now */
    _Atomic uint64_t born_in;       /* of the first of those that were spawned together: the call,
                                       as board_take_newcomers was told; 0: none */
    _Atomic uint32_t nobody;        /* 1: the process has noted that it is no rank now */
    _Atomic uint32_t leaving;       /* 1: it has come to the MPI library's own MPI_Finalize */
    _Atomic uint32_t together;      /* enum board_together. By the rank and its parent */
    _Atomic uint32_t meets_with;    /* what it asks for there; see tap_survivors.c */
    _Atomic uint64_t meets;         /* name of the meeting that it has come to; 0: none */
    _Atomic uint64_t agreed;        /* name of the newest one in which it has agreed to go on */
    _Atomic uint32_t lost;          /* 1: the trace of this rank is incomplete (disk full) */
    _Atomic uint32_t attention;     /* futex word: counts requests to the parent */
    /* The following are kept only while the plan has steps to watch for. */
    _Atomic uint32_t choosing;  /* waits for a choice or answer of the plan to become possible */
    _Atomic uint32_t app_call;  /* enum call_id of the newest call at the upper level */
    _Atomic uint32_t wire_call; /* the same at the lower level: what blocking_call is */
    _Atomic uint32_t lose;      /* step + 1 of the kill that takes along what this rank has not
                                   synced; 0: none. Written by whoever kills */
    _Atomic uint32_t arrived;   /* 1: of a replayed run: the rank is where it ended then */
    _Atomic uint32_t stored;    /* of a replayed run: calls on the store that it has made */
    _Atomic uint64_t polls;     /* polls that said no */
    _Atomic uint64_t polled_at; /* records of this rank when it last polled in vain, without
                                   those of values that it drew */
    /* A bit for each step that has stopped this rank and not let it go on. Cleared by the parent */
    _Atomic uint64_t stopped_by[BOARD_MAX_STEPS / 64];
};

/* One step of the plan, as far as it has come. */
struct board_step {
    _Atomic uint64_t count;         /* events seen since it was armed */
    _Atomic uint64_t release_count; /* events of its release condition since it was done */
    _Atomic uint64_t done_ns;       /* CLOCK_MONOTONIC when it was done; 0: not yet */
    _Atomic uint32_t claimed;       /* 1: a rank is doing it (steps that count no events) */
    _Atomic uint32_t reserved;      /* matches given to the taps and not given back */
    _Atomic uint32_t taken;         /* messages held, or answers given, so far */
    _Atomic uint32_t turn;          /* how many of an ordered hold have been let go */
    _Atomic uint32_t released;      /* 1: what it holds is let go */
    _Atomic uint32_t released_by;   /* enum board_release */
    _Atomic uint32_t unstick;       /* board->unstick when it first took or stopped something */
    _Atomic int32_t rank;           /* who did it; valid when done */
    _Atomic int32_t incarnation;    /* in which it was done; valid when done */
};

/* Why something was let go. */
enum board_release {
    RELEASED_NOT = 0,
    RELEASED_BY_CONDITION = 1,
    RELEASED_BY_TIME = 2,
    RELEASED_BY_STEP = 3,
    RELEASED_BY_END = 4,     /* all ranks are in MPI_Finalize */
    RELEASED_BY_UNSTICK = 5, /* the job could not go on otherwise */
    RELEASED_BY_QUIET = 6,   /* the run's time for faults was over */
};

enum board_stuck {
    STUCK_NOT = 0,
    STUCK_DEADLOCK = 1, /* every rank waits for another one */
    STUCK_STALL = 2,    /* some poll, and nothing else has been done for many polls */
};

/* When a process is informed of a death. */
enum death_notice {
    NOTICE_IS_OPEN,     /* the plan says nothing of it */
    NOTICE_IS_WITHHELD, /* not yet */
    NOTICE_IS_DUE,      /* as soon as that one is dead */
};

struct board {
    uint64_t magic;
    uint32_t version;
    int32_t ranks;             /* of the first MPI_COMM_WORLD of this incarnation, 1..slots */
    int32_t slots;             /* ranks, and room for processes that come later */
    _Atomic int32_t processes; /* of this incarnation so far: ranks, and those that came later.
                                  Written by who starts them */
    double ticks_per_second;
    _Atomic int32_t incarnation; /* of the whole job; written by the driver */
    _Atomic uint32_t unstick;    /* counts: the driver found that the job cannot go on
                                    while messages are held or ranks stopped; all that
                                    was held or stopped before is let go */
    _Atomic uint32_t quiet;      /* enum board_release, why; 0: not yet. The faults have
                                    stopped: nothing is armed, all is let go */
    _Atomic uint32_t unrecorded; /* MPI processes that found this board and have no trace */
    pthread_mutex_t store_turn;  /* of board_enter_store */
    _Atomic uint32_t stuck;      /* enum board_stuck: whoever runs the ranks one by one sees
                                    that none can go on, and nothing is held or stopped */
    _Atomic uint32_t over;       /* 1: the driver ends the job; the step engine kills the ranks, and
                                    writes its decisions down */
    uint64_t virtual_ns;         /* the step engine's time at the end of the incarnation before */
    uint64_t polls;              /* the most polls in vain of one rank, on the step engine, in
                                    the incarnations before */
    char refused[BOARD_TEXT_BYTES];  /* what he does not do and a rank asked for; empty: nothing */
    char misbuilt[BOARD_TEXT_BYTES]; /* what was built with another faultline.h; empty: nothing */
    char library[BOARD_TEXT_BYTES];  /* file of the MPI library; empty: not known. By rank 0 */
    char library_version[BOARD_TEXT_BYTES]; /* what it calls itself, cut. By rank 0 */
    struct board_step progress[BOARD_MAX_STEPS];
    struct board_slot slot[];
};

/* Creates `path` (fails if it exists) with all slots zero and maps it. ranks in
 * 1..BOARD_MAX_RANKS; newcomers: processes that may come later, 0 or more, of which as many get a
 * slot as BOARD_MAX_RANKS allows. *out is owned by the caller: board_unmap. */
enum error_code board_create(const char *path, int ranks, int newcomers, double ticks_per_second,
                             struct board **out, struct error *error);

/* Maps an existing board for reading and writing. ERROR_FORMAT, ERROR_VERSION if it is not one. */
enum error_code board_map(const char *path, struct board **out, struct error *error);

/* NULL is allowed. */
void board_unmap(struct board *board);

/* The next incarnation has so many ranks, at most as many as the board was made for. To be called
 * before board_begin_incarnation. */
void board_set_ranks(struct board *board, int ranks);

/* Clears what belongs to one incarnation (every slot) and sets board->incarnation; steps and their
 * counts stay, but for matches that a rank had taken and not used when it died. Only while no rank
 * runs. */
void board_begin_incarnation(struct board *board, int incarnation);

/* Between the two no other rank is, so the times of calls on the store show which came first.
 * false: it could not be had in BOARD_STORE_WAIT_MS, because a rank was stopped in between; the
 * caller goes on without. A rank that dies in between lets the next one in. Not to be nested in a
 * thread. */
#define BOARD_STORE_WAIT_MS 1000
bool board_enter_store(struct board *board);
void board_leave_store(struct board *board);

/* Step `step` of the plan has been done. */
bool board_step_done(const struct board *board, unsigned step);

/* Of this incarnation so far: numbers are below. */
static inline int board_processes(const struct board *board)
{
    return atomic_load(&board->processes);
}

/* Numbers for `count` processes that a call of MPI_Comm_spawn makes: the first of them; -1: there
 * are not as many slots. born_in: names the call, the same at all processes that take part in it,
 * not 0. Numbers are taken for good, also if the call fails. */
int board_take_newcomers(struct board *board, int count, uint64_t born_in);

/* The first of those who were given numbers for that call; -1: nobody was. */
int board_find_newcomers(const struct board *board, uint64_t born_in);

/* Asks the parent of `rank` to kill it (step is the plan's, from 0): kill_request is set. */
void board_request_kill(struct board *board, int rank, unsigned step);

/* The rank is stopped, or will be by its parent when it has a process: its bit in stopped_by is
 * set. The parent lets it go on when all steps that have stopped it are released. */
void board_request_stop(struct board *board, int rank, unsigned step);

/* One of the steps that have stopped the rank, from 0; BOARD_MAX_STEPS: none has. `from`: the first
 * that is looked at. */
unsigned board_stopped_by(const struct board_slot *slot, unsigned from);

/* The step has nothing more against the rank's going on. For the parent. */
void board_stop_is_over(struct board_slot *slot, unsigned step);

static inline bool board_is_stopped(const struct board_slot *slot)
{
    return board_stopped_by(slot, 0) < BOARD_MAX_STEPS;
}

/* A signal is about to be sent to `pid` (as for kill: a group or everybody if it is not positive)
 * by the plan, by Faultline or by a rank of the job: noted for each rank that it reaches. May be
 * called in a signal handler. */
void board_note_signal(struct board *board, int32_t pid, int signal_number);

/* The same for a signal that the program sends. Also notes it if the process sends it to itself. */
void board_note_signal_of_program(struct board *board, int32_t pid, int signal_number);

/* Signal `signal_number` was sent to the rank by one of those. */
bool board_sent_within(const struct board_slot *slot, int signal_number);

/* The rank may be killed now, and begins nothing together with others any more. False: it is in
 * something that it does with others; it can be asked again. */
bool board_takes_kill(struct board_slot *slot);

/* The parent's wait for a request that came after it read `seen` from slot.attention; also returns
 * after timeout_ms, or when interrupted by a signal. */
void board_await_request(struct board *board, int rank, uint32_t seen, int timeout_ms);

#endif
