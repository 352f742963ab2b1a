/* The step engine's state, shared by all ranks of an incarnation, and the token.
 *
 * One mapping at one address in all processes of an incarnation (engine_map), made before they are
 * forked: pointers into it mean the same everywhere. Exactly one process holds the token and runs;
 * only it reads or writes the mapping, so there are no locks. A rank keeps the token from one wire
 * call to the next, and dies (if it does) outside the engine: what it leaves behind is consistent.
 *
 * A wire call that another rank can see:
 *
 *     engine_turn();                 anybody may run before it
 *     ... look, change; engine_wake(process) for each process that could see the change ...
 *     engine_wait(ready, data);      a call that blocks
 *
 * and one that answers "no" at once instead (Test, Iprobe):
 *
 *     engine_turn_to_poll();
 *     if (!engine_poll(question, ready, data))
 *         return no;
 *
 * A process is a rank of the job by its number: 0 .. ranks - 1 are MPI_COMM_WORLD, those that
 * MPI_Comm_spawn makes come after. Must not know: MPI, messages, traces. */
#ifndef ENGINE_CORE_CORE_H
#define ENGINE_CORE_CORE_H

#include "board/board.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENGINE_MAX_PROCESSES 1024
#define ENGINE_NOBODY (-1)
#define ENGINE_TEXT_BYTES 256
/* A standard send of no more is complete at once, as everywhere, and so is the part of a member in
 * a collective that needs nothing from the others; of more they may be. */
#define ENGINE_EAGER_BYTES 65536u
#define ENGINE_MOST_TURNS_LEFT 64 /* of all processes together, when one has ended the job */

/* May this process be given the token? */
enum process_state {
    PROCESS_ABSENT = 0,
    PROCESS_READY,   /* yes */
    PROCESS_BLOCKED, /* when somebody has woken it */
    PROCESS_POLLING, /* the same; when virtual time has come to wake_ns, if that is not 0; or when
                        nobody else can run: then its answer is no again */
    PROCESS_ASLEEP,  /* when virtual time has come to wake_ns */
    PROCESS_LEFT,    /* no: the zygote has seen it end in order */
    PROCESS_DEAD,    /* no: it was killed, or ended otherwise before MPI_Finalize */
};

/* What the engine decides; each decision is written down by the name of its kind. */
#define DECISIONS(X)                                                                               \
    X(NEXT, "next")     /* which process runs, or which message arrives, next */                   \
    X(BUFFER, "buffer") /* does a standard send complete before it is matched */                   \
    X(WHICH,                                                                                       \
      "which") /* which of several complete requests Waitany, Testany, Waitsome, Testsome tell */  \
    X(DEATH, "death") /* is this process told now of a death */                                    \
    X(END, "end")     /* how many more turns the others have when the job is to end */             \
    X(LEAVE, "leave") /* does a member leave a collective before all have come to it */            \
    X(RAISE, "raise") /* does an operation that a death touches complete or fail at this member */

enum decision {
#define X(name, text) DECIDE_##name,
    DECISIONS(X)
#undef X
        DECISION_KINDS
};

/* Of a process. Whoever gives the token to one that has not yet gone to sleep need not wake it. */
enum token { TOKEN_ELSEWHERE = 0, TOKEN_AWAITED, TOKEN_HERE };

/* As it stands in the file of choices. */
static inline const char *decision_name(enum decision kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        DECISIONS(X)
#undef X
    };
    return names[kind];
}

struct process {
    _Atomic uint32_t token; /* futex word: enum token */
    uint32_t state;         /* enum process_state */
    pid_t pid;
    bool woken;              /* something that it could see has changed since it began to wait */
    bool lingers;            /* PROCESS_POLLING: whatever others do wakes it */
    bool only_waits;         /* PROCESS_POLLING: Faultline asks, and not the program */
    bool looks;              /* it finds out whether it can go on: see engine_wait */
    bool awaits_kill;        /* see engine_await_kill */
    _Atomic uint32_t doomed; /* it has come to where it is to be killed */
    bool initializing;       /* it has come to MPI_Init */
    bool initialized;        /* MPI_Init has returned */
    bool finalizing;         /* it has come to MPI_Finalize */
    bool finalized;          /* MPI_Finalize has returned */
    uint32_t polls;          /* polls in a row that said no, with nothing seen to change between */
    uint32_t failures;       /* calls in a row that failed */
    uint32_t sleeps;         /* since the program polled in vain last */
    bool only_sleeps;        /* PROCESS_ASLEEP: it has slept more often than between two polls */
    uint64_t idle_polls; /* polls while nobody could go on: in this life, and engine_most_polls of
                            the lives before */
    struct asked *asked; /* of a run that is explored: see asked.c */
    uint64_t wake_ns;    /* PROCESS_ASLEEP, PROCESS_POLLING: virtual time; else 0 */
    uint64_t really_ns;  /* PROCESS_ASLEEP: how long it then sleeps in real time; 0: it does not */
    uint64_t deaths_known;   /* how many of engine->deaths it is informed of */
    uint64_t ended_ns;       /* PROCESS_LEFT, PROCESS_DEAD: virtual time, since when */
    _Atomic uint32_t gone;   /* the zygote has seen its end: see process.wait_status */
    _Atomic int wait_status; /* as waitpid gave it; valid when gone */
};

/* A decision as it was taken: `chosen` of `count` possibilities. */
struct engine_choice {
    uint8_t kind; /* enum decision */
    uint16_t chosen, count;
};

/* How decisions are taken that are not given: see policy.c. */
#define POLICY_MOST_DEPTH 16
#define POLICY_MOST_BRANCHES 8
struct policy {
    enum { POLICY_RANDOM, POLICY_PCT, POLICY_SWARM, POLICY_SKEWED, POLICY_BURSTS } kind;
    uint64_t seed; /* what decisions are drawn from now */
    /* Others, each from one choice of this incarnation on: */
    unsigned branches, branched;
    struct policy_branch {
        size_t choice;
        uint64_t seed;
    } branch[POLICY_MOST_BRANCHES];
    /* Of POLICY_PCT: */
    unsigned depth, steps;
    unsigned step; /* choices of who is next so far */
    unsigned change[POLICY_MOST_DEPTH - 1];
    bool fell[POLICY_MOST_DEPTH - 1];
    uint64_t fallen[POLICY_MOST_DEPTH - 1]; /* actor */
};

struct engine {
    size_t used;            /* bytes of the mapping that have ever been given out */
    void *unused[64];       /* chains of free blocks, by size class */
    int32_t ranks;          /* of MPI_COMM_WORLD */
    int32_t processes;      /* ever started: process[0 .. processes) */
    int32_t most_processes; /* that may be */
    _Atomic int32_t holder; /* of the token; ENGINE_NOBODY: the zygote's launcher process */
    pid_t launcher;         /* process that forked the ranks */
    int events;             /* eventfd in all processes: something for the launcher process */
    uint64_t now_ns;        /* virtual time since the run began */
    uint64_t idle_ns;       /* by how much time moved when nobody could run */
    uint64_t turns;         /* taken so far, polls left out */
    /* Since anybody did anything that another one could see: */
    uint64_t idle_polls; /* polls that said no while nobody could go on */
    uint64_t sleeps;     /* of processes that only sleep */
    bool slept;          /* time has moved to a process that waited for it; nobody polled since */

    uint64_t polls_again;   /* so many polls in vain a rank may repeat in a later life of its own */
    uint64_t seed;          /* of this incarnation: what is random in it is drawn from that */
    _Atomic uint32_t stuck; /* enum board_stuck */
    /* The job is to end: the turns that processes still have, + 1; 0: it goes on. */
    _Atomic uint32_t turns_left;
    bool goes_on;    /* a death does not end the job: the others are informed */
    uint64_t deaths; /* processes that died so far, in order: */
    int32_t dead[ENGINE_MAX_PROCESSES];
    uint64_t *file; /* inodes of the store, in the order in which they were seen first */
    size_t files, file_room;
    struct engine_choice *choice; /* taken so far; in the mapping */
    size_t choices, choice_room;
    const struct engine_choice *given; /* to be followed first; in the mapping */
    size_t givens;
    struct policy policy;
    struct transitions *transitions; /* NULL: the run is not explored; see transition.h */
    struct synced *synced;           /* of a run that is explored: see synced.c */
    struct news *news;               /* of a run that is explored: the oldest; see news.c */
    bool aborted;                    /* MPI_Abort was called */
    char
        refused[ENGINE_TEXT_BYTES]; /* what the engine does not do and was asked for; empty: none */
    void *messages;                 /* of engine/messages; NULL when a run begins, as the next */
    void *communicators;            /* of engine/communicators */
    void *dynamic;                  /* of engine/dynamic */
    _Atomic uint32_t forked;        /* processes that the launcher process has forked */
    struct process process[ENGINE_MAX_PROCESSES];
};

/* NULL: no engine in this process. */
extern struct engine *engine;

/* The number of this process; ENGINE_NOBODY in the zygote and its launcher process. */
extern int engine_self;

/* --- the mapping ------------------------------------------------------------------------------ */

/* Makes the mapping of a new incarnation, empty but for `ranks` processes that are PROCESS_ABSENT.
 * False with errno set. */
bool engine_map(int ranks);

/* Memory of the mapping, zeroed, aligned to 16 bytes. Ends the process with a message when there is
 * none. 0 bytes are allowed. */
void *engine_allocate(size_t bytes);
/* As it was given by engine_allocate; NULL is allowed. By whichever process. */
void engine_release(void *block);
/* `array` of the mapping, with `count` things of `bytes` bytes, and room for one more: it moves to
 * a block of twice the size when *room of them are there. NULL and 0: a new one. */
void *engine_room(void *array, size_t count, size_t *room, size_t bytes);

/* --- the token -------------------------------------------------------------------------------- */

/* The process that was just forked waits until it is given the token for the first time. */
void engine_join(int process);

/* In a child that a rank has forked: it is no rank. An MPI call ends it, with a message. */
void engine_forget(void);

/* A call that other ranks can see begins: the token may go to others first. */
void engine_turn(void);
void engine_turn_to_poll(void);

/* Gives the token away until ready(data), which is asked whenever somebody has woken this process,
 * and changes nothing. */
typedef bool engine_ready(void *data);
void engine_wait(engine_ready *ready, void *data);

/* The same for one of several things: which of them are ready depends on the schedule. */
void engine_wait_for_one(engine_ready *ready, void *data);

/* From here on this process calls `call` at the end of each wait, for what has become ready besides
 * what it waited for. There is one such function. */
void engine_when_waited(void (*call)(void));

/* When Faultline itself has to look again at what it keeps in this process (messages that the plan
 * holds): in so many ns of virtual time, or when something that the process could see has changed.
 * Two values are no times: */
#define ENGINE_WHENEVER 0       /* whenever another process has done something, or time has moved */
#define ENGINE_NEVER UINT64_MAX /* it keeps nothing */

/* Called over and over while this process waits in a call: does what other processes may be waiting
 * for, such as to send messages on that the plan held, and says when it has to be called again.
 * After ENGINE_NEVER it is not, until the wait is over. NULL: it never has to. */
extern uint64_t (*engine_meanwhile)(void);

/* Whether ready(data), which changes nothing. A process that does nothing but poll in vain is not
 * given the token before something that it could see has changed, or nobody else can run; then time
 * has moved. `question`: a name for what is asked, the same whenever the same is asked. */
bool engine_poll(uint64_t question, engine_ready *ready, void *data);

/* A call of the process is at its end. Who calls a million times in a row what fails, as a program
 * that takes no notice of errors does, polls in vain from then on. */
void engine_call_ends(bool failed);

/* A round of a loop of Faultline's own: returns when it is to look again, or when nobody else can
 * run. */
void engine_linger(uint64_t looks_in);

/* Called where the program polls in vain, if Faultline steers: when has it to look again? Of this
 * process alone. NULL: it keeps nothing, ever. */
extern uint64_t (*engine_looks_in)(void);

/* How often one process has polled while nobody could go on: the most in this life, added to the
 * most in each life before. */
uint64_t engine_most_polls(void);

/* Until virtual time has come to now + ns, and no less than a call takes. */
void engine_sleep(uint64_t ns);

/* Is the calling thread one that the engine runs: it has called MPI, and no thread of this process
 * waits for the token? Others run whenever the kernel lets them: virtual time is nothing to them,
 * and they must not touch the mapping. True where this process is no rank. */
bool engine_runs_thread(void);

/* Something that the process could see has changed. The process itself is allowed. In runs that are
 * explored this concerns calls that wait alone: for polls see asked.c. */
void engine_wake(int process);
void engine_wake_all(void);
/* The same of something that the process has done itself, such as a message to itself that has
 * come: nobody else sees it, so it is no sign that the job goes on. */
void engine_wake_from_own(int process);

/* This process has done something that another one could see, now or when it comes to it. A job in
 * which nobody does is one that only waits, whatever else its processes call: on communicators of
 * their own, for example. */
void engine_did(void);

/* This process has got something that another one has done: a message, a meeting that is over. */
void engine_took(void);

/* The process will do nothing more. Called by whoever kills it, or by the launcher process. */
void engine_died(int process);
static inline bool engine_is_dead(int process)
{
    return engine->process[process].state == PROCESS_DEAD;
}

/* The name of the object that the death of a process writes (transition.h). */
uint64_t engine_death_of(int process);

/* This process has been informed of that death: a decision at each call of this function, and
 * always true when the process has waited; or as the plan has it. */
bool engine_knows_dead(int process);

/* What the plan says of when `process` learns of the death of `dead`. NULL: nothing. */
extern enum death_notice (*engine_death_notice)(int process, int dead);

/* More processes, which begin where the first ones did: the launcher process forks them while this
 * one holds the token. Returns the number of the first of them. There are not more than
 * engine->most_processes then. */
int engine_spawn(int count);

/* MPI_Abort: the job ends; this process with `code`. */
_Noreturn void engine_abort(int code);

/* This process will be killed from outside: it stops where it waits next, or at a later turn of it,
 * as is decided, and the launcher process is called. */
void engine_await_kill(void);

/* The launcher process is to look at what there is for it. */
void engine_call_launcher(void);

/* May this process not be run for now? Asked in whichever process holds the token, and in the
 * launcher process; NULL: all may be. */
extern bool (*engine_is_stopped)(int process);

/* For the launcher process: wakes who waits for the word to change. */
void engine_futex_wake(_Atomic uint32_t *word);

/* For the launcher process, when the holder has ended or nobody holds the token: the next one gets
 * it. */
void engine_pass_on(void);

/* --- news, in runs that are explored ----------------------------------------------------------
 *
 * A death, or that a communicator is revoked: by the name of the object that this has written
 * (transition.h). Nothing where no run is explored, or a death ends the job. */

/* Each of these processes (NULL: all) will be informed, some time later. A second call for the same
 * death does nothing. */
void engine_spread(uint64_t about, const int32_t *process, int count);
/* This process has been informed; touches the object that says so. */
bool engine_was_informed(uint64_t about);
/* This process learns of it by what it does. */
void engine_learn(uint64_t about);
/* A call of this process would have ended otherwise if the process had been informed before. */
void engine_could_be_informed(uint64_t about);

/* For calls that do not say what they touch (transition.h): ends the process where the run is
 * explored, as engine_refuse does. */
void engine_not_explored(const char *call);

/* Said to the user and to the driver (verdict unknown); the process ends. `call`: MPI_X. */
_Noreturn void engine_refuse(const char *call, const char *why);

/* --- files ------------------------------------------------------------------------------------ */

/* The number of a file of the store, from 1, in the order in which the ranks come to them. */
uint32_t engine_file(uint64_t inode);
/* A file with this inode is new: its number is another one from now on. */
void engine_file_made(uint64_t inode);

/* In a run that is explored, of a folder of the store by the name of the object that is what is in
 * it: a name has come or gone; the folder is synced; it is judged now what is durable. */
void engine_names_changed(uint64_t names);
void engine_names_synced(uint64_t names);
void engine_names_judged(void);

/* --- decisions -------------------------------------------------------------------------------- */

/* One of 0 .. count - 1, count > 0. Of one possibility nothing is written down. */
unsigned engine_decide(enum decision kind, unsigned count);

/* Who is next, of these actors (transition.h), count > 0, processes first. Of one nothing is
 * written down. */
unsigned engine_choose(const uint64_t *actor, unsigned count);

/* "random", "swarm", "skewed", "bursts", "pct:DEPTH:STEPS"; NULL and empty: random. Behind it up to
 * POLICY_MOST_BRANCHES of "+INCARNATION.CHOICE:SEED", SEED in base 16: from this choice on all is
 * decided at random, from that seed. After the seed is known. False: it is none of these. */
bool engine_policy_set(const char *text, int incarnation);

/* For who chooses in another way than at random: what is given next, of this kind; false: nothing
 * is. And what was chosen. */
bool engine_given(enum decision kind, unsigned count, unsigned *chosen);
void engine_write_down(enum decision kind, unsigned chosen, unsigned count);

/* Messages that are on their way. Each may come next, as each process that is ready may go on next.
 */
struct engine_network {
    unsigned (*deliverable)(void);    /* how many could arrive next */
    uint64_t (*lane)(unsigned which); /* its actor: see transition.h */
    void (*deliver)(unsigned which);
};
extern const struct engine_network *engine_network; /* NULL: none */

/* --- time ------------------------------------------------------------------------------------- */

/* Virtual time in nanoseconds since the run began. */
uint64_t engine_now_ns(void);

/* The same, for the times of records: moves it a little, so that no two are the same. */
uint64_t engine_tick_ns(void);

/* Something took so long. Does nothing in a thread that the engine does not run. */
void engine_pass_time(uint64_t ns);

#endif
