/* Nothing but its evidence. */
#include "injectors/rules/injection.h"

const struct injection inject_await = {0};
