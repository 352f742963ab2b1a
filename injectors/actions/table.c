/* See injection.h: by action. */
#include "injectors/rules/injection.h"

#define ACTION(NAME, name, ...) extern const struct injection inject_##name;
#include "plan/actions.def"

const struct injection *const injections[ACTION_COUNT] = {
#define ACTION(NAME, name, ...) [ACTION_##NAME] = &inject_##name,
#include "plan/actions.def"
};
