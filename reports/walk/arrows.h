/* The messages and collectives between the events of a slice, and what they are against the
 * recovery lines: of the application as the oracles of family C see them (oracles/reading/lines.h,
 * told.h), and of the wire what is left: a protocol's own. Must not know: where things are drawn.
 */
#ifndef REPORTS_DIAGRAM_ARROWS_H
#define REPORTS_DIAGRAM_ARROWS_H

#include "reports/walk/news.h"
#include "reports/walk/slice.h"

#define ARROW_KINDS(X)                                                                             \
    X(PLAIN, "message")         /* no rank took a checkpoint in its life */                        \
    X(INTRA, "intra")           /* sent and delivered in the same epoch [C3 definition 1] */       \
    X(LATE, "late")             /* sent in an earlier epoch than delivered */                      \
    X(EARLY, "early")           /* in a later one */                                               \
    X(REPLAYED, "replayed")     /* handed over after a restart, from a log */                      \
    X(SUPPRESSED, "suppressed") /* sent again after a restart, and kept from the wire */           \
    X(CONTROL, "control")       /* of the wire: of the protocol, or the program did not ask for it \
                                   so */

enum arrow_kind {
#define X(name, text) ARROW_##name,
    ARROW_KINDS(X)
#undef X
        ARROW_KIND_COUNT
};

/* As in the page: "late", ...; static. */
const char *arrow_kind_text(enum arrow_kind kind);

struct arrow {
    enum arrow_kind kind;
    size_t from, to; /* in the slice; SLICE_NONE: that end is not shown, or not known */
    bool sent_known, delivered_known;
    struct event_ref sent, delivered; /* valid as known */
    bool anomaly;                     /* the channel's order or the bytes speak against it */
    bool again; /* its send is a later life's, which sends again what was delivered before it began
                 */
};

/* A collective that several events of the slice are calls of. */
struct meeting {
    size_t count;
    size_t *event; /* owned; in the slice */
};

struct arrows {
    size_t count, room;
    struct arrow *arrow; /* owned */
    size_t meeting_count;
    struct meeting *meeting; /* owned */
    struct news news;        /* of deaths */
    bool uncertain;          /* some message could not be matched */
};

/* Both ends are in the slice, and it is not sent again. */
bool arrow_is_forward(const struct arrow *arrow);

/* Owned by the caller: arrows_release. */
void arrows_read(const struct slice *slice, const struct links *links, struct arrows *arrows);
void arrows_release(struct arrows *arrows);

#endif
