/* See refused.h. */
#include "common/base/refused.h"

_Noreturn void refuse(const char *what, const char *instead);

REFUSED_ALL(refuse)
