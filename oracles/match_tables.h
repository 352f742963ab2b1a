/* What the matching engine looks up: channels, endpoints, lanes, requests. For match.c. */
#ifndef ORACLES_MATCH_TABLES_H
#define ORACLES_MATCH_TABLES_H

#include "oracles/match.h"

uint64_t match_key(uint32_t high, uint32_t low);
uint64_t match_request_key(int rank, int incarnation);

/* NULL if there is none. */
struct endpoint *match_find_endpoint(const struct match *match, int rank, uint32_t comm);
struct channel *match_find_channel(const struct match *match, uint32_t comm, int source,
                                   int destination, int tag);

/* Made when first asked for; NULL when memory is exhausted (match->exhausted is set). */
struct endpoint *match_endpoint(struct match *match, int rank, uint32_t comm);
struct channel *match_channel(struct match *match, uint32_t comm, int source, int destination,
                              int tag);
void *match_get_or_make(struct match *match, struct table *table, struct pool *pool, uint64_t first,
                        uint64_t second);

/* After anything was done to a channel: it is idle, or busy, or neither. It may be gone afterwards.
 */
void match_refresh(struct match *match, struct channel *channel);

/* A receive or probe that asks for these takes a message of that source and tag. */
bool match_pattern_takes(int want_peer, int want_tag, int source, int tag);

#endif
