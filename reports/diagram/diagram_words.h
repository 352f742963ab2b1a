/* For diagram.c: what an event is called, in a picture and in a table. Must not know: places. */
#ifndef REPORTS_DIAGRAM_DIAGRAM_WORDS_H
#define REPORTS_DIAGRAM_DIAGRAM_WORDS_H

#include "plan/plan.h"
#include "reports/walk/slice.h"

#define DIAGRAM_LABEL_BYTES 64
#define DIAGRAM_WORDS_BYTES 640

/* What stands at it in a picture; empty: nothing, its form says it. plan: that of the run; NULL:
 * not known. Escaped by nobody. */
const char *diagram_label(const struct slice_event *event, const struct plan *plan,
                          char buffer[DIAGRAM_LABEL_BYTES]);

/* A record of a fault, in a few words: "kill r1", "storage: ENOSPC on rename of Ckpt2", "held". */
const char *diagram_fault(const struct trace *trace, uint64_t index, const struct plan *plan,
                          char buffer[DIAGRAM_LABEL_BYTES]);

/* The form it is drawn in, one of: send deliver post wait probe collective call comm checkpoint
 * saved commit restored stop note told kill hold release fault storage. Static. */
const char *diagram_shape(const struct slice_event *event);

/* What filters are for: message, collective, note, fault, call, storage. Static. */
const char *diagram_kind(const struct slice_event *event);

/* "MPI_Send to 1 tag 7 ...". */
const char *diagram_words(const struct slice_event *event, char buffer[DIAGRAM_WORDS_BYTES]);

/* "world", "self", "0x1234"; empty: none. */
const char *diagram_comm(const struct slice_event *event, char buffer[DIAGRAM_LABEL_BYTES]);

#endif
