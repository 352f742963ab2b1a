/* Replication ([UL] section 2.3): every rank of the program is two processes that do the same. What
 * a rank sends goes from both to both. One of the two leads: it chooses what the program sees first
 * where MPI leaves that open, and the other follows it. When one dies the other is the rank alone.
 * README.md says how. This file: what the parts share. Must not know: what the program computes. */
#ifndef REPLICATION_REPLICATION_H
#define REPLICATION_REPLICATION_H

#include "common/messages/packet.h"

#include <stdbool.h>
#include <stdint.h>

/* The protocol's own packets. */
enum letter {
    LETTER_HAPPENED = PACKET_CONTROL, /* to who follows: what happened at which step */
    LETTER_KNOWN,                     /* ... and the answer that it has that */
    LETTER_HERE,                      /* its sender is in MPI_Init */
    LETTER_DONE                       /* its sender has come to MPI_Finalize and sends no more */
};

struct replica {
    int rank;   /* of the program */
    int ranks;  /* of the program: half of the processes */
    int other;  /* the process that is the same rank */
    bool leads; /* it chooses; else it follows the other */
};
extern struct replica self;

/* The rank that a process of MPI_COMM_WORLD is: process r leads rank r at first, and process
 * ranks + r follows it. */
static inline int rank_of(int process)
{
    return process % self.ranks;
}

/* A named point for scenarios: "replication:<name>". */
void phase(const char *name);

#endif
