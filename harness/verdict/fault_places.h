/* Where the faults of a run took place: in which phase of which role, from the FAULT records that
 * judging found. The third part of coverage, beside claims and regions. Must not know: plans,
 * verdicts. */
#ifndef VERDICT_FAULT_PLACES_H
#define VERDICT_FAULT_PLACES_H

#include "oracles/oracle.h"
#include "trace/reader.h"

#include <jansson.h>
#include <stdbool.h>

#define FAULT_PLACES_MOST 512 /* of all runs; what is more is left out */
#define FAULT_PLACE_BYTES 56
#define FAULT_WORD_BYTES 16

/* The phase of a rank is its last note of itself: the name of its phase, or "checkpoint",
 * "saved" ...; "start" before that. The initiator is who initiates or commits lines. */
struct fault_place {
    char fault[FAULT_WORD_BYTES]; /* "kill", "hold", "stop", "choose", "answer", "storage", "lose",
                                    "detect" */
    char role[FAULT_WORD_BYTES];  /* "initiator", "participant" */
    char phase[FAULT_PLACE_BYTES];
    uint64_t count;
};

struct fault_places {
    size_t count;
    struct fault_place place[FAULT_PLACES_MOST];
};

/* Of the rank that suffers it: who is killed or stopped; else who does it. */
void fault_places_find(const struct trace_set *traces, const struct judgement *judgement,
                       struct fault_places *places);

/* [{fault, role, phase, count}], owned by the caller; and added from there. */
json_t *fault_places_pack(const struct fault_places *places);
void fault_places_unpack(const json_t *array, struct fault_places *places);

#endif
