/* See refused.h. */
#include "common/base/refused.h"

_Noreturn void layer_refuse(const char *what, const char *instead);

REFUSED_ALL(layer_refuse)
