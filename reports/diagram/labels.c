/* See labels.h. A list that is looked through: some hundred texts, some thousand looks. */
#include "reports/diagram/labels.h"

#include "base/memory.h"

#include <stdlib.h>

/* Of the size of the letters, in DejaVu Sans Mono, the widest and highest of the usual fonts. */
#define WIDTH 0.61
#define ABOVE 0.95 /* the base line */
#define BELOW 0.25

void labels_release(struct labels *labels)
{
    free(labels->box);
    *labels = (struct labels){0};
}

struct label_box labels_box(double x, double y, size_t letters, double size)
{
    double half = (double)letters * size * WIDTH / 2;
    return (struct label_box){x - half, y - size * ABOVE, x + half, y + size * BELOW};
}

void labels_take(struct labels *labels, const struct label_box *box)
{
    if (labels->count == labels->room) {
        labels->room = labels->room > 0 ? 2 * labels->room : 64;
        labels->box = memory_resized(labels->box, labels->room, sizeof *labels->box);
    }
    labels->box[labels->count++] = *box;
}

bool labels_have_room(const struct labels *labels, const struct label_box *box)
{
    for (size_t i = 0; i < labels->count; i++) {
        const struct label_box *taken = &labels->box[i];
        if (taken->left < box->right && box->left < taken->right && taken->top < box->bottom &&
            box->top < taken->bottom)
            return false;
    }
    return true;
}
