/* What a search over all schedules has to know of a run: its transitions, and which of them could
 * be exchanged. A transition is what happens from one choice of who is next to the following one: a
 * process from one turn to the next (its actor is the process), or a message that arrives (its
 * actor is the lane on which it comes). While a run is explored, every transition writes down
 *
 *   - which actors could have been chosen, and which was;
 *   - the other decisions taken in it;
 *   - what it has touched of the state that others see, and how.
 *
 * Two transitions of different actors may be exchanged when they touch no common object, or only in
 * ways that commute: two that look, or two that add. TOUCH_AFTER says that the transition was not
 * possible before another one that wrote or added to the object: it comes after it, and there is
 * nothing to exchange.
 *
 * A process that waits does so in two steps when a run is explored: it is possible to go on (found
 * out without a choice), and it goes on (a transition). So what it does before it waits and what it
 * does after it are different transitions whether it had to wait or not.
 *
 * Where a job goes on after a death, each process is told of it by a transition whose actor is that
 * piece of news; so it is where a communicator is revoked (news.c). What a call does then depends
 * on what its process has been told, which is touched where it asks.
 *
 * Polls that are repeated in vain wait as well, in a transition of their own: asked.c.
 *
 * Sleeping actors are those whose next transition need not be made now, since another run has made
 * it: they wake when a transition touches what theirs does. (Sleep sets: Godefroid, 1996.)
 * Must not know: the search. */
#ifndef ENGINE_CORE_TRANSITION_H
#define ENGINE_CORE_TRANSITION_H

#include "base/mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum touch {
    TOUCH_LOOK,     /* commutes with LOOK */
    TOUCH_ADD,      /* commutes with ADD */
    TOUCH_WRITE,    /* commutes with none */
    TOUCH_ARRIVE,   /* commutes with ADD and ARRIVE, as far as is known yet: a wildcard may show the
                     * order later, and then the transition has written */
    TOUCH_AFTER,    /* this transition was not possible before the one that wrote or added */
    TOUCH_INSTEAD,  /* LOOK; and whoever writes the object would have made this transition possible,
                     * too: it need not have waited for what TOUCH_AFTER says of it */
    TOUCH_LET,      /* a poll has waited, and this has let it go on: it comes after that */
    TOUCH_COULD,    /* and this could have let it go on instead; it commutes with it otherwise */
    TOUCH_MAY_LOOK, /* nothing, as far as is known yet: it may turn out later that it looked */
    TOUCHES
};

/* An entry of what is written down. */
enum entry_kind {
    ENTRY_TURN,  /* a choice of who is next: value is the chosen actor, extra the number of possible
                  * ones, which follow as ENTRY_COULD; flag: given by the search */
    ENTRY_COULD, /* value: an actor that could have been chosen; in the order of the choice */
    ENTRY_DECIDE, /* another decision: extra possibilities, value chosen; flag: its kind */
    ENTRY_TOUCH, /* value: the object; flag: enum touch; extra: the turn that touched it, from 1; 0:
                  * the one before */
    ENTRY_ASLEEP, /* the run ends here: every actor that could be chosen sleeps */
    ENTRY_POLLS,  /* the first of all; extra: so often a question is answered at once (asked.c) */
};

struct entry {
    uint16_t kind; /* enum entry_kind */
    uint16_t flag;
    uint32_t extra;
    uint64_t value;
};

/* An actor that sleeps, in the file for the engine: followed by `touches` entries of kind
 * ENTRY_TOUCH. It sleeps from the moment when `from` turns have been taken. */
struct sleeper {
    uint64_t actor;
    uint32_t touches;
    uint32_t from;
};

/* An actor is a process, by its number, or a lane or a piece of news, by its name. */
static inline bool transition_is_process(uint64_t actor)
{
    return actor < 1024;
}

#define TRANSITION_FILE "transitions" /* .INCARNATION: struct entry, one after the other */
#define SLEEPER_FILE "sleepers"       /* .INCARNATION: struct sleeper with its entries, each */

/* Does it change the object for those who look? */
static inline bool touch_changes(enum touch how)
{
    return how == TOUCH_WRITE || how == TOUCH_ADD || how == TOUCH_ARRIVE;
}

/* Do two touches of one object keep their transitions from being exchanged? */
static inline bool touches_conflict(enum touch a, enum touch b)
{
    bool adds_a = a == TOUCH_ADD || a == TOUCH_ARRIVE, adds_b = b == TOUCH_ADD || b == TOUCH_ARRIVE;
    bool looks_a = a == TOUCH_LOOK || a == TOUCH_INSTEAD;
    bool looks_b = b == TOUCH_LOOK || b == TOUCH_INSTEAD;
    return (a == TOUCH_WRITE && (b == TOUCH_WRITE || looks_b || adds_b)) ||
           (b == TOUCH_WRITE && (looks_a || adds_a)) || (looks_a && adds_b) || (adds_a && looks_b);
}

/* The same where not all is known of one of them. */
static inline bool touches_may_conflict(enum touch a, enum touch b)
{
    return touches_conflict(a, b) || (a == TOUCH_ARRIVE && b == TOUCH_ARRIVE) ||
           (a == TOUCH_MAY_LOOK && touch_changes(b)) || (touch_changes(a) && b == TOUCH_MAY_LOOK);
}

/* --- in the engine ---------------------------------------------------------------------------- */

/* What a touched object is: a name for it that is the same in every run. */
enum object {
    OBJECT_LANE = 1, /* from, to, context: an actor, too */
    OBJECT_SENT,     /* process, how many-th that it sent */
    OBJECT_ARRIVED,  /* the same */
    OBJECT_MATCHED,  /* the same */
    OBJECT_INBOX,    /* process, context, source and tag: the order of what arrives and fits */
    OBJECT_POSTED,   /* process, how many-th receive: whether it has got a message */
    OBJECT_BEGUN,    /* process, how many-th receive: it has been posted */
    OBJECT_MEETING,  /* context, key: who has come */
    OBJECT_JOINED,   /* the same, and the participant */
    OBJECT_PROCESS,  /* how far a process is: MPI_Init, MPI_Finalize, death */
    OBJECT_FILE,     /* hash of its path */
    OBJECT_NAMES,    /* the same, of a folder: what is in it */
    OBJECT_STORE,    /* all that was done to the store */
    OBJECT_JOB,      /* that it goes on: what outlives it must have been done before it ends */
    OBJECT_DEATH,    /* process: where a death does not end the job */
    OBJECT_REVOKED,  /* context */
    OBJECT_NEWS,     /* process, what it is told: an actor */
    OBJECT_INFORMED, /* the same */
    OBJECT_SPAWNED,  /* process; ENGINE_MAX_PROCESSES: how many there are */
};
static inline uint64_t object_name(enum object kind, uint64_t a, uint64_t b, uint64_t c)
{
    return mix_two(mix_two(mix_two((uint64_t)kind, a), b), c);
}

/* Nothing where no run is explored, and where a process only finds out whether it may go on. */
void engine_touch(enum touch how, uint64_t object);

/* It turns out now what an earlier transition did, by its number (from 1). */
void engine_touch_earlier(uint32_t turn, enum touch how, uint64_t object);
/* The number of this transition; 0: no run is explored. */
uint32_t engine_transition(void);

/* What this process saw had been done to the object: by a wait, that came after it; by a poll, that
 * could have been otherwise. */
void engine_touch_seen(uint64_t object);

/* The same where only a poll touches it. */
void engine_touch_polled(uint64_t object);

/* The parent of the ranks, before they run: reads who sleeps from the folder. Ends the process with
 * a message where that cannot be read. `polls`: so often a question is answered at once (asked.c).
 * `loses`: what is not synced may be lost. */
void transitions_open(const char *folder, int incarnation, unsigned polls, bool loses);
/* Afterwards: what was written down, into the run folder. */
void transitions_write(const char *folder, int incarnation);

#endif
