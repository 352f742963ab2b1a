/* The decisions of a run: all that a rank saw and could have seen otherwise, in a form that another
 * run can be made to follow. Taken from the traces when the run is over (extract.h), read by the
 * ranks of a replayed run (injectors/replay/replay.h). Must not know: MPI headers, the driver.
 *
 * One file per run, `decisions` in its folder: a header, then sections, shapes, events, actions,
 * orders, texts.
 *
 * An *event* is one record of a trace that stands for something the rank did: a call, at either
 * level, a note, a call on the store. What is alike in many events is their *shape* and is stored
 * once, so an event takes 16 bytes. A poll that said no is one event with a count. A *window* is a
 * row of such events: within it their order is not known and does not matter, for all said no.
 *
 * An *action* is what Faultline did to the run at a place in a rank's events.
 *
 * Calls on the store are numbered from 0 in each section, those that said no left out. An *order*
 * is what a rank waits for before it makes one: another rank has made so many of its own. */
#ifndef DECISIONS_DECISIONS_H
#define DECISIONS_DECISIONS_H

#include "base/error.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECISIONS_FILE "decisions"
#define DECISIONS_MAGIC "FLDECID" /* with its terminator: 8 bytes */
#define DECISIONS_VERSION 2u

/* Variable by which the ranks of a replayed run find the file that they follow. */
#define DECISIONS_ENVIRONMENT "FAULTLINE_REPLAY"

/* Where a rank that comes to something else says so, in the run folder. */
#define DIVERGENCE_FILE "divergence"

/* Bounds of one run, all ranks together. Longer ones are not kept. */
#define DECISIONS_MAX_EVENTS (1u << 22)
#define DECISIONS_MAX_SHAPES (1u << 20)
#define DECISIONS_MAX_ACTIONS (1u << 16)
#define DECISIONS_MAX_SECTIONS (1u << 16)
#define DECISIONS_MAX_ORDERS (1u << 23)
#define DECISIONS_MAX_TEXTS (1u << 26) /* bytes */

#define DECISIONS_TEXT_BYTES 128

/* What a run is made of, as hashes of files; 0: not known. */
struct decisions_identity {
    uint64_t library;  /* libfaultline.so */
    uint64_t protocol; /* its shared library */
    uint64_t program;
    uint64_t mpi;
    char faultline[16];                  /* version of the command */
    char mpi_text[DECISIONS_TEXT_BYTES]; /* what the MPI library calls itself, cut */
};

struct decisions_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint64_t checksum; /* XXH3 64 of all that is after this field */
    uint64_t bytes;    /* of the file */
    uint64_t seed;
    struct decisions_identity identity;
    int32_t ranks;
    int32_t incarnations;
    uint32_t sections;
    uint32_t shapes;
    uint32_t events;
    uint32_t actions;
    uint32_t orders;
    uint32_t texts; /* bytes */
};

/* How a rank came to its end in an incarnation. */
enum decision_end {
    DECISION_ENDED,     /* by others: a kill, or the launcher when the job was over */
    DECISION_BY_ITSELF, /* it exited or died of a signal of its own, before MPI_Finalize */
    DECISION_FINALIZED,
};

enum decision_section_flag {
    /* Calls on the store are no events: several threads made them, or another than the one that
     * calls MPI, and in what order was nobody's decision. */
    SECTION_WITHOUT_STORE = 1 << 0,
};

/* One rank in one incarnation. */
struct decision_section {
    int32_t rank;
    int32_t incarnation;
    uint32_t end; /* enum decision_end */
    uint32_t first_event, events;
    uint32_t first_action, actions;
    uint32_t incomplete; /* events that were in progress at the end */
    uint32_t first_order, orders;
    uint32_t flags; /* enum decision_section_flag */
    uint32_t unused;
};

enum decision_state {
    SHAPE_INCOMPLETE = 1 << 0, /* in progress when the trace ended */
    SHAPE_RESOLVED = 1 << 1,   /* a non-blocking receive: peer and tag are what it came to */
};

/* Fields as in struct record. Of an event in progress and of a negative poll the outcome is 0. */
struct decision_shape {
    uint8_t level; /* enum level */
    uint8_t kind;  /* enum record_kind */
    uint16_t call;
    uint8_t flags; /* those of FLAGS_OF_EVENTS in decisions.c */
    uint8_t error;
    uint8_t state; /* enum decision_state */
    uint8_t unused;
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    int32_t want_peer;
    int32_t want_tag;
    uint32_t unused_too;
    uint64_t bytes;
};

struct decision_event {
    uint32_t shape;
    uint32_t request; /* its number, 0 if it has none; of a call on the store: where its path stands
                         in the texts, + 1 */
    uint32_t value;   /* negative poll: how often; call on the store in progress: 1 if the file
                         system was called; else the hash of the payload, folded */
    uint32_t index;   /* of the record in its trace */
};

/* The place of an action: so many events had begun, so many were complete (negative polls do not
 * count). */
struct decision_action {
    uint8_t kind; /* enum fault_kind */
    uint8_t error;
    uint16_t step; /* of the plan, from 0 */
    int32_t peer;
    uint32_t begun;
    uint32_t completed;
    uint32_t event;  /* in the section: the send, receive, poll or store call; DECISION_NO_EVENT */
    uint32_t number; /* HELD: its number in the hold; RELEASED, CONTINUED: enum board_release */
};

#define DECISION_NO_EVENT UINT32_MAX

/* By event; several may have the same. */
struct decision_order {
    uint32_t event; /* in the section: a call on the store */
    int32_t rank;   /* another one, in the same incarnation */
    uint32_t stored;
};

_Static_assert(sizeof(struct decision_section) == 48, "no padding: the file is hashed");
_Static_assert(sizeof(struct decision_shape) == 40, "no padding: shapes are compared as bytes");
_Static_assert(sizeof(struct decision_event) == 16, "an event is 16 bytes");
_Static_assert(sizeof(struct decision_action) == 24, "no padding");
_Static_assert(sizeof(struct decision_order) == 12, "no padding");

/* A file, mapped. Pointers point into the mapping; what is written there stays in this process. */
struct decisions {
    struct decisions_header *header;
    struct decision_section *section;
    struct decision_shape *shape;
    struct decision_event *event;
    struct decision_action *action;
    struct decision_order *order;
    const char *text; /* each terminated */
    size_t mapped;    /* bytes; 0: made in memory (extract.h) */
};

/* Errors: ERROR_IO; ERROR_FORMAT for a foreign, short or damaged file, its numbers and its checksum
 * are verified; ERROR_VERSION names both versions. *decisions is all 0 then. */
enum error_code decisions_open(const char *path, struct decisions *decisions, struct error *error);

/* Of a whole file in memory, which *decisions then points into. */
enum error_code decisions_parse(const char *name, void *data, size_t bytes,
                                struct decisions *decisions, struct error *error);

/* Computes the checksum of a whole file in memory and puts it into its header. */
void decisions_seal(struct decisions_header *header);

/* NULL: that rank left nothing in that incarnation. */
const struct decision_section *decisions_find(const struct decisions *decisions, int rank,
                                              int incarnation);

/* false: the record is no event (a fault, what belongs to another record, a hole). */
bool decision_is_event(const struct record *record);

/* Number of the request of an event; 0: none. */
uint32_t decision_request_at(const struct decisions *decisions, uint32_t event);

/* Path of the file of an event that is a call on the store, below the store; else NULL. */
const char *decision_file_at(const struct decisions *decisions, uint32_t event);

/* What the record says, without SHAPE_RESOLVED. `complete`: it has its outcome. */
void decision_shape_of(const struct record *record, bool complete, struct decision_shape *shape);
uint32_t decision_request_of(const struct record *record);

/* Did the rank ask for the same, and did it come to the same? */
bool decision_same_question(const struct decision_shape *a, const struct decision_shape *b);
bool decision_same_outcome(const struct decision_shape *a, const struct decision_shape *b);

static inline bool decision_is_negative(const struct decision_shape *shape)
{
    return (shape->flags & FLAG_NEGATIVE) != 0;
}

/* "MPI_Recv from any, tag 7, on world (application)", "write of "commit", 12 bytes". file: of a
 * call on the store; NULL: not known. Always terminated. */
void decision_text(const struct decision_shape *shape, uint32_t request, const char *file,
                   char *text, size_t bytes);

#endif
