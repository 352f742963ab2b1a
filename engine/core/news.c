/* News in runs that are explored: what has happened, and who has been informed of it. See core.h.
 *
 * Each piece comes to each process as a transition of its own, also to one that has ended: else it
 * would not be seen that it could have come before something that the process did. */
#include "engine/core/parts.h"

#include <string.h>

struct news {
    struct news *next; /* in the order in which they happened */
    uint64_t about;
    int32_t count; /* of `process`; EVERYBODY: all processes, those that come later, too */
    int32_t *process;
    bool informed[ENGINE_MAX_PROCESSES];
};

#define EVERYBODY (-1)

static uint64_t informed_object(int process, uint64_t about)
{
    return object_name(OBJECT_INFORMED, (uint64_t)process, about, 0);
}

static struct news *find(uint64_t about)
{
    struct news *news = engine->news;
    while (news != NULL && news->about != about)
        news = news->next;
    return news;
}

void engine_spread(uint64_t about, const int32_t *process, int count)
{
    struct news **end = (struct news **)&engine->news;
    if (engine->transitions == NULL || find(about) != NULL)
        return;
    while (*end != NULL)
        end = &(*end)->next;
    *end = engine_allocate(sizeof **end);
    (*end)->about = about;
    (*end)->count = process != NULL ? count : EVERYBODY;
    if (process != NULL) {
        size_t bytes = (size_t)count * sizeof *process;
        (*end)->process = memcpy(engine_allocate(bytes), process, bytes);
    }
}

void engine_learn(uint64_t about)
{
    struct news *news = find(about);
    engine_touch(TOUCH_WRITE, informed_object(engine_self, about));
    if (news != NULL)
        news->informed[engine_self] = true;
}

void engine_could_be_informed(uint64_t about)
{
    if (engine->goes_on)
        engine_touch(TOUCH_INSTEAD, informed_object(engine_self, about));
}

bool engine_was_informed(uint64_t about)
{
    const struct news *news = engine->goes_on ? find(about) : NULL;
    bool informed = news != NULL && news->informed[engine_self];
    if (informed && transition_goes_on())
        engine_touch_seen(informed_object(engine_self, about));
    else
        engine_could_be_informed(about);
    return informed;
}

/* --- as actors -------------------------------------------------------------------------------- */

static int process_at(const struct news *news, int i)
{
    return news->count == EVERYBODY ? i : news->process[i];
}

/* The n-th process that is still to be informed of something. NULL: there are not so many; *n is
 * less by their number. */
static struct news *find_pending(unsigned *n, int *process)
{
    for (struct news *news = engine->news; news != NULL; news = news->next) {
        int count = news->count == EVERYBODY ? engine->processes : news->count;
        for (int i = 0; i < count; i++) {
            *process = process_at(news, i);
            if (!news->informed[*process] && (*n)-- == 0)
                return news;
        }
    }
    return NULL;
}

unsigned news_pending(void)
{
    unsigned left = UINT32_MAX;
    int process;
    find_pending(&left, &process);
    return UINT32_MAX - left;
}

uint64_t news_actor(unsigned which)
{
    int process;
    const struct news *news = find_pending(&which, &process);
    return object_name(OBJECT_NEWS, (uint64_t)process, news->about, 0);
}

void news_deliver(unsigned which)
{
    int process;
    struct news *news = find_pending(&which, &process);
    news->informed[process] = true;
    engine_touch(TOUCH_AFTER, news->about);
    engine_touch(TOUCH_AFTER, object_name(OBJECT_SPAWNED, (uint64_t)process, 0, 0));
    engine_touch(TOUCH_WRITE, informed_object(process, news->about));
    engine_wake(process);
}
