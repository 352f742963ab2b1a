/* ULFM. */
#include "engine/library.h"

void ulfm_fill(struct library *table)
{
    (void)table;
}
