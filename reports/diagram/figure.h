/* For diagram.c: one picture of a slice, laid out, as XML elements with coordinates. Must not know:
 * which events are worth a picture. */
#ifndef REPORTS_DIAGRAM_FIGURE_H
#define REPORTS_DIAGRAM_FIGURE_H

#include "reports/diagram/diagram.h"
#include "reports/diagram/diagram_words.h"
#include "reports/walk/arrows.h"
#include "reports/walk/layout.h"

struct figure {
    struct xml *xml;
    const struct diagram_wish *wish;
    const struct slice *slice;
    const struct arrows *arrows;
    const struct layout *layout;        /* of this picture */
    const char *name;                   /* of this picture */
    unsigned *letters;                  /* by event: of its label; owned */
    unsigned *marks;                    /* by event: of the witnesses that it is; owned */
    char (*letter)[4];                  /* by event: "A" or "AC", the witnesses that it is; owned */
    char (*label)[DIAGRAM_LABEL_BYTES]; /* by event: what stands at it; owned */
    bool has_witness;                   /* some event shown is one: then others can fade */
    bool has_line;                      /* of this picture: some rank takes a checkpoint in it */
};

/* Owned by the caller: figure_release. */
void figure_init(struct figure *figure, struct xml *xml, const struct diagram_wish *wish,
                 const struct slice *slice, const struct arrows *arrows);
void figure_release(struct figure *figure);

/* One element <figure>. */
void figure_write(struct figure *figure);

/* "f-r1-0-83". Returns buffer. */
const char *figure_event_id(const struct figure *figure, size_t event,
                            char buffer[DIAGRAM_ID_BYTES]);
/* NULL: no witness. */
const char *figure_letter(const struct figure *figure, size_t event);
/* It has nothing to do with the witness, and is no fault. */
bool figure_is_faded(const struct figure *figure, size_t event);

#endif
