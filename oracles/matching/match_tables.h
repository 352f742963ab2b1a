/* What the matching engine looks up: channels, endpoints, lanes, requests. For match.c. */
#ifndef ORACLES_MATCHING_MATCH_TABLES_H
#define ORACLES_MATCHING_MATCH_TABLES_H

#include "oracles/matching/match.h"

/* As one key of a table. */
uint64_t match_request_key(int rank, int incarnation);

/* NULL if there is none. */
struct endpoint *match_find_endpoint(const struct match *match, int rank, uint32_t comm);

/* Made when first asked for. */
struct endpoint *match_endpoint(struct match *match, int rank, uint32_t comm);
struct channel *match_channel(struct match *match, uint32_t comm, int source, int destination,
                              int tag);
void *match_get_or_make(struct table *table, struct pool *pool, uint64_t first, uint64_t second);

/* After anything was done to a channel: it is idle, or busy, or neither. It may be gone afterwards.
 */
void match_refresh(struct match *match, struct channel *channel);

/* match_cut.c: of a send that was under way at the checkpoint from which its rank goes on. */
void match_remember_cut(struct match *match, const struct stream_event *event);
/* The send was under way at the checkpoint, and this is the call that is done again: what was made
 * of it then stands for both. True if its message was delivered by then, or else *enter is when it
 * was begun. */
bool match_sent_before(struct match *match, const struct stream_event *event,
                       struct channel *channel, uint64_t *enter);

/* A receive or probe that asks for these takes a message of that source and tag. */
bool match_pattern_takes(int want_peer, int want_tag, int source, int tag);

#endif
