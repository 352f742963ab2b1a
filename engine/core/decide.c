/* Decisions. The given ones are followed; later ones are drawn from the seed as if the given ones
 * had been drawn, too, so a run that was cut off continues as it would have. All are recorded. See
 * core.h. */
#include "engine/core/core.h"

#include "engine/core/parts.h"

void engine_write_down(enum decision kind, unsigned chosen, unsigned count)
{
    engine->choice =
        engine_room(engine->choice, engine->choices, &engine->choice_room, sizeof *engine->choice);
    engine->choice[engine->choices++] = (struct engine_choice){
        .kind = (uint8_t)kind, .chosen = (uint16_t)chosen, .count = (uint16_t)count};
}

bool engine_given(enum decision kind, unsigned count, unsigned *chosen)
{
    if (engine->choices >= engine->givens || engine->given[engine->choices].kind != kind)
        return false;
    *chosen = engine->given[engine->choices].chosen % count;
    return true;
}

unsigned engine_decide(enum decision kind, unsigned count)
{
    unsigned chosen;
    if (count <= 1)
        return 0;
    if (engine->transitions != NULL)
        return transition_decide(kind, count);
    if (!engine_given(kind, count, &chosen))
        chosen = policy_decide(kind, count);
    engine_write_down(kind, chosen, count);
    return chosen;
}
