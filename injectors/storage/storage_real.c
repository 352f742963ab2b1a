/* See storage_real.h. Must not know: what is done with them. */
#include "injectors/storage/storage_real.h"

struct storage_real storage_real;

void storage_resolve(void)
{
    int number = errno;
#define FIND(name) real_find(&storage_real.name, #name);
    STORAGE_REAL(FIND)
#undef FIND
    errno = number;
}
