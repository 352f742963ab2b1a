/* A layer below protocols that log messages as Meneses and Kalé do, "CAMEL: Collective-Aware
 * Message Logging" (2015) [CM]; this is algorithm 1 there: what the parts of it share. Every rank
 * keeps what it has sent since the last line; the order in which it takes messages goes to others
 * with what it sends, until one of them says that it has it. When a rank dies a new process takes
 * its place, gets its messages again in the old order, and nobody else goes back. The messages of
 * the program are packets of common/messages. Must not know: what the program computes. */
#ifndef COMMON_LOGGING_LOGGER_H
#define COMMON_LOGGING_LOGGER_H

#include "common/base/lines.h"
#include "common/job/job.h"
#include "common/messages/layer.h"

#include <stdbool.h>
#include <stdint.h>

#define EVERY_DEFAULT 10 /* potential checkpoints per line */
#define EVERY_MAX 1000000
#define CHOICE_MOST 16 /* bytes of one choice of the program */
#define NOBODY (-1)

/* What a letter is; its tag on the wire. */
enum letter_kind {
    LETTER_MESSAGE = 1, /* a packet of the program */
    LETTER_STORED = 2,  /* the determinants in it are stored */
    LETTER_STAGE = 3,   /* how far its sender is with a line */
    LETTER_RESENT = 4,  /* its sender has sent again all that it has logged for a new process */
    LETTER_SAFE = 5,    /* the determinants in it are to be stored before its sender goes on */
    /* Along trees: all from here on. */
    LETTER_MULTICAST = 6,
    LETTER_CONTRIBUTION = 7, /* to a reduction */
    LETTER_FINISHED = 8,     /* reductions are */
    LETTER_RETURNED = 9, /* a contribution, to the process that takes the place of who gave it */
    LETTER_DETERMINANTS = 10 /* the determinants of a contribution that is not kept */
};

/* Of what: a message that came, a choice of the program, a message that was handed over. */
enum determinant_kind { TAKEN, CHOSEN, DELIVERED };

/* [CM]'s <sender, recver, ssn, rsn>, and when. What a program in MPI sees of a message depends on
 * when it comes as well, a poll before it says no; so the determinant of a delivery is two: that
 * the message came, at step `step` of the program since line `line`, which it takes to do the same
 * again; and that it was handed over, which follows from it and is [CM]'s. A choice of the program
 * is one too. */
struct determinant {
    uint64_t line;
    uint64_t step;
    uint64_t rsn;   /* receive sequence number, from 1, over lines and incarnations: of what was
                       delivered by itself, of the others together */
    uint64_t ssn;   /* send sequence number: among the sender's to this receiver, from 0; along a
                       tree,   the packet's number; of a choice, its bytes */
    uint64_t comm;  /* along a tree: the packet's; else 0 */
    int32_t sender; /* of a choice, NOBODY */
    int32_t receiver;
    uint64_t kind;
    unsigned char choice[CHOICE_MOST];
};

struct logger {
    int rank;
    int ranks;
    unsigned every;        /* potential checkpoints per line */
    uint64_t line;         /* the newest that this rank has saved; LINE_NONE: the beginning */
    uint64_t rsn;          /* of what came or was chosen last */
    uint64_t delivered;    /* messages */
    uint64_t *incarnation; /* by rank: how often its process has been replaced */
    bool begun;            /* checkpoint_restore was called */
    struct line_store store;
};

extern struct logger self;

/* What a protocol above this layer is: it defines this, and this_protocol of common/job. */
struct logger_kind {
    const char *every;     /* the environment variable of its potential checkpoints per line */
    const char *reserve;   /* ... of how many processes are in reserve; NULL: none */
    bool trees;            /* multicasts and reductions go along trees */
    bool pessimistic;      /* nothing is sent before the determinants of this rank are stored */
    const char *team_size; /* ... of the ranks in a team; NULL: each is alone. Not with processes in
                              reserve, with trees, nor pessimistic */
};
extern const struct logger_kind this_logger;

/* A named point for scenarios: "scmel:<name>", with the protocol's name. */
void phase(const char *name);

#endif
