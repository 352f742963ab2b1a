/* For match.c: the receives of the matching engine, from their posting to their messages. */
#ifndef ORACLES_MATCHING_MATCH_RECEIVE_H
#define ORACLES_MATCHING_MATCH_RECEIVE_H

#include "oracles/matching/match_tables.h"

/* A process whose messages are not looked at: it is outside of the run, or a helper. */
bool match_is_outside(const struct match *match, int32_t rank);

/* Pairs what can be paired in the channel, which may be gone afterwards. */
void match_advance(struct match *match, struct channel *channel);

/* Of a record that asks for a message of these. It waits nowhere yet: receive_wait or
 * receive_deliver is next. */
struct received *receive_post(struct match *match, const struct stream_event *event, int want_peer,
                              int want_tag);

/* Nothing is known yet of what it gets: it waits in its channel, or among the wildcards. */
void receive_wait(struct match *match, struct received *received);

/* The event says what arrived, and *received may be gone afterwards. Of one that waits nowhere, and
 * of one that waits. */
void receive_deliver(struct match *match, struct received *received,
                     const struct stream_event *event);
void receive_decide(struct match *match, struct received *received,
                    const struct stream_event *event);

/* One that waits gets nothing: it is gone. */
void receive_drop(struct match *match, struct received *received);

/* Of the lives of the rank that are over: one that could have taken what `record` says, or NULL;
 * and all of them go. */
struct received *receive_find_dormant(const struct match *match, int rank,
                                      const struct record *record);
void receive_drop_dormant(struct match *match, struct match_rank *rank);

/* Its request is freed; and so after it was cancelled. */
void receive_free(struct match *match, struct received *received);
void receive_free_cancelled(struct match *match, struct received *received);

#endif
