/* See mpich_ulfm.h. */
#include "board/mpich_ulfm.h"

#include <stdlib.h>
#include <string.h>

bool mpich_has_ulfm(void)
{
    const char *set = getenv(MPICH_ULFM_ENVIRONMENT);
    return set != NULL && strcmp(set, "1") == 0;
}
