/* A write on the store writes less than it was asked to, and says so. */
#include "injectors/rules/injection.h"

static bool fits(const struct plan_step *step, unsigned call, uint64_t bytes)
{
    return storage_is_write(call) && step->count < bytes;
}

static uint64_t room(const struct plan_step *step)
{
    return step->count;
}

const struct injection inject_short = {.fits = fits, .room = room};
