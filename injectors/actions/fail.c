/* A call on the store fails. */
#include "injectors/rules/injection.h"

static bool fits(const struct plan_step *step, unsigned call, uint64_t bytes)
{
    (void)step;
    (void)call;
    (void)bytes;
    return true;
}

static int error(const struct plan_step *step)
{
    return step->choice;
}

const struct injection inject_fail = {.fits = fits, .error = error};
