/* Where texts stand in a picture: what is taken, and whether there is room for one more. Must not
 * know: what the texts say. */
#ifndef REPORTS_DIAGRAM_LABELS_H
#define REPORTS_DIAGRAM_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* In units of the picture; left < right, top < bottom. */
struct label_box {
    double left, top, right, bottom;
};

/* Begins as all 0; labels_release. */
struct labels {
    size_t count, room;
    struct label_box *box; /* owned */
};

void labels_release(struct labels *labels);

/* Monospaced letters so high, their base line at y, the middle of the text at x. */
struct label_box labels_box(double x, double y, size_t letters, double size);

void labels_take(struct labels *labels, const struct label_box *box);

/* Nothing that was taken touches it. */
bool labels_have_room(const struct labels *labels, const struct label_box *box);

#endif
