/* In force from its evidence on: every message asks for it (rules_jitter; steer_hold.c keeps it).
 */
#include "injectors/rules/injection.h"

const struct injection inject_jitter = {0};
