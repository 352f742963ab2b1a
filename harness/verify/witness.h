/* The verification of a violation: derived once more from the events of its witness, by other means
 * than the oracles, so that an oracle that is wrong does not go unseen. Must not know: the oracles,
 * and nothing of theirs but the list of claims; only how traces are read. */
#ifndef VERIFY_WITNESS_H
#define VERIFY_WITNESS_H

#include "trace/reader.h"

#define WITNESS_EVENTS_MOST 16

struct witness_event {
    int rank;
    int incarnation;
    uint64_t index;
};

/* A result that the run without faults declared. */
struct witness_reference {
    int rank;
    const char *name;
    bool near; /* a number: its bits in `hash` */
    uint64_t bytes;
    uint64_t hash;
};

/* Two lines, of a rank's output and of the one without faults; NULL: there is no such line. */
struct witness_printed {
    int rank;
    const char *text;
    const char *reference;
};

/* What is reported. All is borrowed. */
struct witness {
    const struct trace_set *traces;
    const char *claim; /* its id */
    size_t count;
    struct witness_event event[WITNESS_EVENTS_MOST];
    bool finished; /* every rank came to its end */
    size_t reference_count;
    const struct witness_reference *reference;
    size_t printed_count; /* lines that are reported to differ */
    const struct witness_printed *printed;
};

/* What the events show is a violation of the claim. */
bool witness_holds(const struct witness *witness);

#endif
