/* Decisions: those given are followed, what comes after them is drawn. All are written down. See
 * core.h. */
#include "engine/core/core.h"

#include <string.h>

#define FIRST_ROOM 1024

/* xorshift64*: enough to choose among a few, the same on every machine. */
static uint64_t draw(void)
{
    uint64_t x = engine->random != 0 ? engine->random : 0x9e3779b97f4a7c15u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    engine->random = x;
    return x * 0x2545f4914f6cdd1du;
}

static void write_down(enum decision kind, unsigned chosen, unsigned count)
{
    if (engine->choices == engine->choice_room) {
        size_t room = engine->choice_room == 0 ? FIRST_ROOM : 2 * engine->choice_room;
        struct engine_choice *more = engine_allocate(room * sizeof *more);
        if (engine->choices > 0)
            memcpy(more, engine->choice, engine->choices * sizeof *more);
        engine_release(engine->choice);
        engine->choice = more;
        engine->choice_room = room;
    }
    engine->choice[engine->choices++] = (struct engine_choice){
        .kind = (uint8_t)kind, .chosen = (uint16_t)chosen, .count = (uint16_t)count};
}

unsigned engine_decide(enum decision kind, unsigned count)
{
    if (count <= 1)
        return 0;
    unsigned chosen;
    if (engine->choices < engine->givens && engine->given[engine->choices].kind == kind)
        chosen = engine->given[engine->choices].chosen % count;
    else
        chosen = (unsigned)((draw() >> 32) * count >> 32);
    write_down(kind, chosen, count);
    return chosen;
}
