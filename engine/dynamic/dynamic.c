/* Dynamic processes. */
#include "engine/library.h"

void dynamic_fill(struct library *table)
{
    (void)table;
}
