/* What the parts of the protocol share: the snapshot algorithm of Chandy and Lamport ("Distributed
 * Snapshots: Determining Global States of Distributed Systems", 1985; slides 22 to 33 of Pingali's
 * "Application-Level Fault Tolerance for MPI Programs" [CL]) as a layer over PMPI. The messages of
 * the program are carried, and its state at any call is saved, by common/messages; README.md says
 * what is made of it. Must not know: what the program computes. */
#ifndef CHANDY_LAMPORT_H
#define CHANDY_LAMPORT_H

#include "common/base/lines.h"
#include "common/job/job.h"
#include "common/messages/layer.h"

#include <stdbool.h>
#include <stdint.h>

#define INITIATOR 0
#define EVERY_DEFAULT 10 /* the initiator's potential checkpoints per line */
/* Promised of each line, in potential checkpoints (faultline_settles): for messages of the protocol
 * that are long on their way. */
#define SETTLES 50
#define EVERY_MAX 1000000
#define STEPS_MAX 1000000

/* Control packets; number: the line. */
enum {
    MARKER = PACKET_CONTROL,  /* on every channel */
    DONE = PACKET_CONTROL + 1 /* up the tree: everything below has been saved */
};

/* Lane of a marker; the other is that of the messages. */
enum { LANE_MESSAGES = 0, LANE_MARKERS = 1 };

/* CHANDY_* in the environment: see README.md. Each leaves out one of the paper's assumptions. */
struct options {
    unsigned every;
    unsigned steps;          /* after the potential checkpoint, until the line begins */
    bool fifo;               /* markers are in the channels of the messages */
    bool any_time;           /* the state is saved at the first marker */
    bool native_collectives; /* what they carry is in no channel */
};

struct chandy {
    struct options options;
    struct line_store store;
};

extern struct chandy self;

/* A named point for scenarios: "chandy_lamport:<name>". */
void phase(const char *name);

#endif
