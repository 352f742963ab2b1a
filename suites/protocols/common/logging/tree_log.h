/* What is logged of multicasts and reductions. Must not know: trees, who has died. */
#ifndef COMMON_LOGGING_TREE_LOG_H
#define COMMON_LOGGING_TREE_LOG_H

#include "common/logging/channels.h"
#include "common/logging/logging.h"

/* In the log of the root of a multicast, or of who contributes to a reduction. */
struct part {
    struct part *next;
    uint64_t line;
    uint64_t comm; /* identity */
    uint64_t number;
    int to;       /* the parent in the tree; NOBODY: a multicast */
    int root;     /* of the reduction; a rank of the application */
    bool reduced; /* the reduction is known to be finished */
    bool has_payload;
    struct comm *members;       /* held; NULL of one that was given back */
    struct letter_bytes *bytes; /* held */
};

/* Takes over a hold of the bytes, and holds the members. */
void tree_log_add(const struct part *part);

/* Likewise of a contribution that was given back to this rank: ahead of those of a higher number on
 * its communicator. One that is there already stays as it is. */
void tree_log_give_back(const struct part *part);
bool tree_log_was_given_back(uint64_t comm, uint64_t number);

/* In the order of sending; NULL: there are none. */
struct part *tree_log_first(void);

/* The payload is not needed any more; what came along with it is, and is in `bytes`, of which a
 * hold is taken over. */
void tree_log_forget_payload(struct part *part, struct letter_bytes *bytes);

void tree_log_drop_before(uint64_t line);
void tree_log_close(void);

#endif
