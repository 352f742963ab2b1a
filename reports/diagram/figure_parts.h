/* For figure.c and figure_arrows.c: what one needs of the other. */
#ifndef REPORTS_DIAGRAM_FIGURE_PARTS_H
#define REPORTS_DIAGRAM_FIGURE_PARTS_H

#include "reports/diagram/figure.h"
#include "reports/diagram/labels.h"

#define POINTS_BYTES 32
#define TITLE_BYTES 1024

struct stroke {
    double x1, y1, x2, y2;
    double bow; /* of a curve: how far it bends up */
};

/* Ends at the rim of what it joins. */
struct stroke figure_shorten(struct stroke stroke);

bool figure_is_shown(const struct figure *figure, size_t event);

/* Two attributes, with one decimal. */
void figure_put_place(const struct figure *figure, const char *x_name, const char *y_name, double x,
                      double y);

/* The elements <arrow>; what stands at them takes room of `labels`. */
void figure_write_arrows(const struct figure *figure, struct labels *labels);

#endif
