/* One pass over one level of an incarnation: the records of all ranks in the order of time, the
 * messages between them matched, their collectives numbered, once for all who listen. Of the
 * application: its effective histories as of the incarnation. Of the wire: all that the processes
 * of the incarnation did. Must not know: claims, pictures. */
#ifndef ORACLES_MATCHING_PASS_H
#define ORACLES_MATCHING_PASS_H

#include "oracles/matching/match.h"
#include "oracles/reading/collective.h"
#include "oracles/reading/reading.h"

#define PASS_LISTENERS 8

/* Any function may be NULL. What is passed lives as long as the call. */
struct listener {
    void *context;
    /* Each record of the level and of LEVEL_SELF, before the other functions are told of it. */
    void (*event)(void *context, const struct stream_event *event);
    /* True: the message of this send is kept where it is; it is not matched. */
    bool (*keeps)(void *context, const struct stream_event *event);
    /* As in channel.h. */
    void (*pair)(void *context, const struct channel *channel, const struct sent *sent,
                 const struct received *received);
    void (*anomaly)(void *context, enum anomaly anomaly, const struct channel *channel,
                    const struct sent *sent, const struct received *received,
                    const struct pair *other);
    /* The same as which message went from where to where: each that was sent and whose delivery was
     * seen. `anomaly`: out of order, or with other bytes. */
    void (*message)(void *context, const struct sent *sent, const struct received *received,
                    bool anomaly);
    /* Which message something was is not known: others may have been taken for each other. */
    void (*doubt)(void *context);
    /* As in collective.h. */
    void (*joined)(void *context, const struct stream_event *event,
                   const struct gathering *gathering, uint64_t number);
    void (*left)(void *context, const struct stream_event *event,
                 const struct collective_request *request);
    void (*complete)(void *context, const struct instance *instance);
    void (*discord)(void *context, enum discord discord, const struct instance *instance,
                    const struct contribution *with, const struct contribution *against);
    /* Nothing more will come, and what waits still waits: the pass may be asked for it. */
    void (*waits)(void *context);
    /* Nothing more will come. Releases the context, if that is the listener's. */
    void (*end)(void *context);
};

struct pass {
    struct reading *reading;
    enum level level;
    int incarnation;
    bool newest;  /* it is the last of the run */
    bool cut_off; /* the application would have gone on, with what was under way at the end */
    const struct histories *histories;
    struct match match;
    struct collectives collectives;
    /* Private. */
    struct histories raw;
    size_t listener_count;
    struct listener listener[PASS_LISTENERS];
    bool hears, keeps, matches, numbers; /* somebody listens */
};

/* To be released, whatever else is done with it. */
void pass_begin(struct pass *pass, struct reading *reading, enum level level, int incarnation);
void pass_listen(struct pass *pass, const struct listener *listener);

/* Reads all records; nothing, if nobody listens. What waits for others still waits: pass->match and
 * pass->collectives may be asked for it. seen: see stream.h. */
void pass_read(struct pass *pass, struct stream_seen *seen);

/* Tells what was left over, and the end. */
void pass_finish(struct pass *pass);

/* Releases what the pass owns; the listeners' contexts are theirs. */
void pass_release(struct pass *pass);

/* All of it, for one who listens. */
void pass_run(struct reading *reading, enum level level, int incarnation,
              const struct listener *listener);

#endif
