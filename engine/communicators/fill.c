/* The part of the engine's table that this folder answers. */
#include "engine/communicators/parts.h"

void communicators_fill(struct library *table)
{
    groups_fill(table);
    inquiry_fill(table);
    making_fill(table);
    creating_fill(table);
    inter_fill(table);
    grids_fill(table);
    graphs_fill(table);
    attributes_fill(table);
}
