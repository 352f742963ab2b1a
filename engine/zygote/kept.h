/* A zygote that is kept over the runs of a command: it has run up to the program's first MPI call
 * and initialized the MPI library once, and forks a launcher process (launcher.h) for each
 * incarnation that is asked of it.
 *
 * The command and its jobs hold one end of a socket, the zygote the other. A request is one message
 * there: "NAME=value" texts, each with its 0, which become the variables FAULTLINE_... of that
 * incarnation, and with them (SCM_RIGHTS) one end of a socket between the job and the launcher
 * process. On that the launcher process says what goes on; when the job closes its end, or is gone,
 * the launcher process ends all below it. */
#ifndef ENGINE_ZYGOTE_KEPT_H
#define ENGINE_ZYGOTE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

/* "CONTROL OUTPUT BINDS": descriptors, of the socket and of the file that standard output and error
 * go to; 1: KEPT_BINDS was set for the loader alone, so that ranks need not look up functions each
 * by itself. */
#define KEPT_ENVIRONMENT "FAULTLINE_ENGINE_KEPT"
#define KEPT_BINDS "LD_BIND_NOW"
#define KEPT_REQUEST_BYTES 65536
#define KEPT_LEAST_DESCRIPTOR 500 /* those of the program begin where they do without it */

enum kept_word {
    KEPT_READY = 1,   /* zygote to command: it may be asked */
    KEPT_REFUSED = 2, /* zygote to command: the program has done what each run has to do anew */
    KEPT_BEGINS = 3,  /* launcher process to job; value: its process number */
    KEPT_GO = 4,      /* job to launcher process, the answer */
    KEPT_LOOK = 5,    /* launcher process to job: nothing goes on; the board says why */
    KEPT_ENDS = 6,    /* launcher process to job, the last; value: its exit status */
};

struct kept_message {
    int32_t word; /* enum kept_word */
    int32_t value;
};

/* When the library is loaded: takes the descriptors from the environment, if there are any. */
void kept_open(void);

/* This process is to be kept. */
bool kept_is_asked_for(void);

/* At the program's first MPI call, before the MPI library is initialized: ends the process if a
 * program that came so far cannot be forked for several runs. */
void kept_check(void);

/* Serves requests. Returns in each launcher process, with the environment of its incarnation. */
void kept_serve(void);

/* --- in a launcher process; each does nothing where it was not forked by a kept zygote ----------
 */

/* What is read from here is the end of the job; -1: nothing. */
int kept_job(void);
void kept_send(enum kept_word word, int value);

/* Ends what the ranks have left behind: all of it comes to this process. */
void kept_end_leftovers(void);

/* In a rank. */
void kept_forget(void);

#endif
