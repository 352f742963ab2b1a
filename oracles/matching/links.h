/* Which record of a run belongs to which other: the send of each message that the library
 * delivered, and the members of each collective, at the wire level. What happens before what
 * follows from these links and from the order on each rank (walk.h).
 *
 * Eight bytes for each record, in a temporary file without a name that is mapped: what is resident
 * does not grow with the length of the traces. Besides that messages in flight and collectives
 * under way. Must not know: verdicts, forms of export. */
#ifndef ORACLES_MATCHING_LINKS_H
#define ORACLES_MATCHING_LINKS_H

#include "base/error.h"
#include "oracles/matching/pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a record is to the other one. */
enum link_kind {
    LINK_NONE,
    LINK_SENT,     /* to the record that delivers the message */
    LINK_RECEIVED, /* to its send */
    LINK_JOINED,   /* to the record with which the next member joined the collective: a ring */
    LINK_LEFT,     /* from the completion of a collective to the own record that began it */
};

/* `at` is the number of a record among all of the run: see links_place. */
struct link {
    enum link_kind kind;
    uint64_t at;
};

struct links {
    const struct trace_set *set; /* borrowed */
    uint64_t *base;              /* by place of a trace in the set: number of its first record */
    uint64_t total;              /* records of the run */
    uint64_t *slot;              /* mapped; by number */
    bool *doubtful;              /* by incarnation: some message of its wire could not be matched */
};

/* Without any link yet. Owned by the caller: links_release, also after an error. ERROR_IO: no
 * temporary file (TMPDIR). */
enum error_code links_begin(const struct trace_set *set, struct links *links, struct error *error);
/* Those of an incarnation are there once the pass over its wire has ended. */
void links_listen(struct pass *pass, struct links *links);
/* Both, for all incarnations. */
enum error_code links_read(const struct trace_set *set, struct links *links, struct error *error);
void links_release(struct links *links);

bool links_are_uncertain(const struct links *links); /* of any incarnation */

/* Of record `index` of the trace at `place`. */
struct link links_of(const struct links *links, size_t place, uint64_t index);

/* The member of the same collective that follows record number `at` in its ring, and the place of
 * its trace; `at` itself where it has joined none. */
uint64_t links_next_member(const struct links *links, uint64_t at, size_t *place);

/* Place of the trace that holds record number `at`; *index is the record's within it. */
size_t links_place(const struct links *links, uint64_t at, uint64_t *index);

/* The records below `index` of the trace will not be asked for soon. */
void links_forget(const struct links *links, size_t place, uint64_t index);

#endif
