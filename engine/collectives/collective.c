/* Collectives: see README.md. */
#include "engine/library.h"

void collectives_fill(struct library *table)
{
    (void)table;
}
