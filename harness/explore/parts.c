/* See search.h. */
#include "explore/search.h"

#include "base/memory.h"

#include <stdlib.h>

static struct scenario *scenario_of(const struct search *search, size_t above,
                                    const struct plan_step *death)
{
    const struct scenario *from = death != NULL ? search->part[above].scenario : search->scenario;
    struct scenario *made = memory_new(1, sizeof *made);
    *made = *from;
    plan_init(&made->plan);
    for (size_t i = 0; i < from->plan.count; i++)
        (void)plan_add(&made->plan, &from->plan.steps[i], NULL);
    for (size_t i = 0; i < from->plan.wires; i++)
        made->plan.wire[made->plan.wires++] = from->plan.wire[i];
    if (death != NULL)
        (void)plan_add(&made->plan, death, NULL);
    if (death != NULL && made->max_incarnations > 0)
        made->max_incarnations++;
    return made;
}

void part_add(struct search *search, size_t above, const struct plan_step *death)
{
    struct part part = {.above = above, .scenario = scenario_of(search, above, death)};
    if (death != NULL) {
        part.deaths = search->part[above].deaths + 1;
        part.death = *death;
    }
    search->part = memory_room(search->part, search->count, &search->room, sizeof *search->part);
    search->part[search->count++] = part;
}

static bool has_death(const struct search *search, size_t part, const struct plan_step *death)
{
    for (; search->part[part].deaths > 0; part = search->part[part].above)
        if (place_same_death(&search->part[part].death, death))
            return true;
    return false;
}

/* The deaths of part `a` are among those of `b`. */
static bool is_among(const struct search *search, size_t a, size_t b)
{
    for (; search->part[a].deaths > 0; a = search->part[a].above)
        if (!has_death(search, b, &search->part[a].death))
            return false;
    return true;
}

/* Where others survive, the deaths of a part may come about in any order. */
static bool has_part(const struct search *search, size_t above, const struct plan_step *death)
{
    int deaths = search->part[above].deaths + 1;
    for (size_t i = 1; i < search->count; i++) {
        const struct part *part = &search->part[i];
        if (part->deaths != deaths || !has_death(search, i, death))
            continue;
        if (search->scenario->survivors
                ? is_among(search, above, i)
                : part->above == above && place_same_death(&part->death, death))
            return true;
    }
    return false;
}

/* Where others survive, a process dies once. */
static bool dies_already(const struct search *search, size_t part, int32_t process)
{
    for (; search->part[part].deaths > 0; part = search->part[part].above)
        if (search->part[part].death.when.rank == process)
            return search->scenario->survivors;
    return false;
}

static void add_death(struct search *search, size_t above, const struct place *place, uint64_t nth)
{
    bool loses = search->options.losses && search->part[above].places.can_lose;
    for (int lose = LOSE_NOTHING; lose <= (loses ? LOSE_NODE : LOSE_NOTHING); lose++) {
        struct plan_step death = place_death(place, nth, (enum plan_lose)lose);
        if (!has_part(search, above, &death))
            part_add(search, above, &death);
    }
}

void part_add_deaths(struct search *search, size_t above)
{
    for (size_t i = 0; i < search->part[above].places.count; i++) {
        struct place place = search->part[above].places.place[i];
        if (dies_already(search, above, place.when.rank))
            continue;
        for (uint64_t nth = 1; nth <= place.seen; nth++)
            add_death(search, above, &place, nth);
    }
}

struct tree_limits exploration_limits(const struct search *search)
{
    const struct options *options = &search->options;
    struct tree_limits limits = {
        .reduce = !options->all_orders && options->preemptions < 0,
        .preempts = options->preemptions >= 0,
        .preemptions = options->preemptions >= 0 ? (uint32_t)options->preemptions : 0,
    };
    if (limits.reduce)
        limits.states = (struct store_states *)(uintptr_t)&search->states;
    return limits;
}

void part_end(struct part *part)
{
    part->over = true;
    if (part->tree != NULL)
        tree_release(part->tree);
    part->tree = NULL;
}

struct exploration_counts exploration_counts(const struct search *search)
{
    struct exploration_counts all = {0};
    double done = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct part *part = &search->part[i];
        all.runs += part->counts.runs;
        all.redundant += part->counts.redundant;
        all.known += part->counts.known;
        all.left_out += part->counts.left_out;
        all.races += part->counts.races;
        all.turns = part->counts.turns > all.turns ? part->counts.turns : all.turns;
        all.idle += part->idle;
        all.open += !part->over;
        done += part->over ? 1 : part->counts.done;
    }
    all.done = search->count > 0 ? done / (double)search->count : 0;
    return all;
}

static void release_part(struct part *part)
{
    part_end(part);
    places_release(&part->places);
    plan_release(&part->scenario->plan);
    free(part->scenario);
}

void exploration_release(struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        release_part(&search->part[i]);
    free(search->part);
    free(search->slot);
    free(search->states.state);
    outcomes_release(&search->outcomes);
}
