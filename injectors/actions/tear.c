/* A write on the store writes the first bytes, then the rank dies. */
#include "injectors/rules/injection.h"
#include "injectors/rules/rules.h"

static bool fits(const struct plan_step *step, unsigned call, uint64_t bytes)
{
    (void)step;
    (void)bytes;
    return storage_is_write(call);
}

static uint64_t room(const struct plan_step *step)
{
    return step->count;
}

static bool die(uint32_t step, const char *path, long result)
{
    (void)path;
    (void)result;
    rules_stored(step, rules_step(step)->count, 0);
    rules_die();
}

const struct injection inject_tear = {.fits = fits, .room = room, .after = die};
