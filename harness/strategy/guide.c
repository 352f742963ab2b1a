/* See guide.h. */
#include "strategy/guide.h"

#include "base/memory.h"
#include "strategy/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_PERCENT 20  /* of runs that could be made of an earlier one are not */
#define VARIED_PERCENT 25 /* of those that are: another fault, else another end of the schedule */
#define LOOKED_AT 3       /* of the kept runs, at each choice of one */

/* What draws are for: far from those of the strategies, which have the same seed. */
enum purpose { PURPOSE_ORIGIN = 0x67756964, PURPOSE_CHANGE };

/* A run that was taken. */
struct taken {
    bool is_there;
    struct guided_run made;
    unsigned lives;
    unsigned choices[GUIDED_LIVES];
    uint32_t *thing; /* owned */
    size_t things;
};

struct guide {
    uint64_t seed, first, stride;
    uint64_t next; /* how many runs were made: those GUIDE_LAG before it have been looked at */
    struct taken *taken; /* owned; by number: (index - first) / stride */
    size_t room;
    uint64_t *seen; /* owned; by thing: how many runs brought it */
    size_t seen_room;
    size_t *kept; /* owned; numbers of runs, as they came */
    size_t kept_count, kept_room;
};

/* --- a run as text ---------------------------------------------------------------------------- */

struct guided_run guided_plain(uint64_t index)
{
    return (struct guided_run){.root = index, .other = index};
}

void guided_text(const struct guided_run *run, char text[GUIDED_TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < run->branches; i++)
        used += (size_t)snprintf(text + used, GUIDED_TEXT_BYTES - used, "+%u.%u:%" PRIx64,
                                 run->branch[i].incarnation, run->branch[i].choice,
                                 run->branch[i].seed);
}

bool guided_parse(const char *text, struct guided_run *run)
{
    for (run->branches = 0; *text != '\0'; run->branches++) {
        struct guided_branch branch;
        int length = 0;
        if (run->branches == GUIDED_BRANCHES ||
            sscanf(text, "+%u.%u:%" SCNx64 "%n", &branch.incarnation, &branch.choice, &branch.seed,
                   &length) != 3)
            return false;
        run->branch[run->branches] = branch;
        text += length;
    }
    return true;
}

/* --- what was seen ---------------------------------------------------------------------------- */

struct guide *guide_new(uint64_t seed, uint64_t first, uint64_t stride)
{
    struct guide *guide = memory_new(1, sizeof *guide);
    guide->seed = seed;
    guide->first = first;
    guide->stride = stride;
    return guide;
}

void guide_release(struct guide *guide)
{
    if (guide == NULL)
        return;
    for (size_t i = 0; i < guide->room; i++)
        free(guide->taken[i].thing);
    free(guide->taken);
    free(guide->seen);
    free(guide->kept);
    free(guide);
}

/* `array` of `room` things, zeroed ones behind them: of at least `least`. */
static void *grown(void *array, size_t *room, size_t least, size_t bytes)
{
    size_t now = *room;
    if (least <= now)
        return array;
    *room = least < 2 * now ? 2 * now : least;
    array = memory_resized(array, *room, bytes);
    memset((char *)array + now * bytes, 0, (*room - now) * bytes);
    return array;
}

void guide_take(struct guide *guide, uint64_t index, const struct guided_run *made,
                const struct guided_seen *seen)
{
    if (index < guide->first || (index - guide->first) % guide->stride != 0)
        return;
    size_t number = (size_t)((index - guide->first) / guide->stride);
    guide->taken = grown(guide->taken, &guide->room, number + 1, sizeof *guide->taken);
    struct taken *taken = &guide->taken[number];
    if (taken->is_there)
        return;
    taken->is_there = true;
    taken->made = *made;
    taken->lives = seen->lives < GUIDED_LIVES ? seen->lives : GUIDED_LIVES;
    memcpy(taken->choices, seen->choices, sizeof taken->choices);
    taken->things = seen->things;
    taken->thing = memory_new(seen->things, sizeof *taken->thing);
    if (seen->things > 0)
        memcpy(taken->thing, seen->thing, seen->things * sizeof *taken->thing);
}

/* In the order of runs: what is new is new whatever was done first. */
static void look_at(struct guide *guide, size_t number)
{
    const struct taken *taken = &guide->taken[number];
    bool is_new = false;
    for (size_t i = 0; i < taken->things; i++) {
        uint32_t thing = taken->thing[i];
        guide->seen = grown(guide->seen, &guide->seen_room, (size_t)thing + 1, sizeof *guide->seen);
        is_new |= guide->seen[thing]++ == 0;
    }
    if (!is_new)
        return;
    guide->kept =
        memory_room(guide->kept, guide->kept_count, &guide->kept_room, sizeof *guide->kept);
    guide->kept[guide->kept_count++] = number;
}

bool guide_is_ready(const struct guide *guide)
{
    if (guide->next < GUIDE_LAG)
        return true;
    uint64_t number = guide->next - GUIDE_LAG;
    return number < guide->room && guide->taken[number].is_there;
}

/* --- what comes next -------------------------------------------------------------------------- */

/* How many runs brought what fewest brought of what this one did. */
static uint64_t rarity(const struct guide *guide, size_t number)
{
    const struct taken *taken = &guide->taken[number];
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < taken->things; i++)
        if (guide->seen[taken->thing[i]] < least)
            least = guide->seen[taken->thing[i]];
    return least;
}

/* The rarest of a few. NULL: what it brought comes anyway, by chance the more often the more runs
 * have brought it. */
static const struct taken *choose_kept(const struct guide *guide, struct draw *draw)
{
    if (guide->kept_count == 0)
        return NULL;
    size_t best = guide->kept[draw_below(draw, guide->kept_count)];
    for (int i = 1; i < LOOKED_AT; i++) {
        size_t number = guide->kept[draw_below(draw, guide->kept_count)];
        if (rarity(guide, number) < rarity(guide, best))
            best = number;
    }
    bool comes_anyway = draw_below(draw, guide->next - GUIDE_LAG) < rarity(guide, best);
    return comes_anyway ? NULL : &guide->taken[best];
}

static uint64_t count_choices(const struct taken *taken)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < taken->lives; i++)
        count += taken->choices[i];
    return count;
}

static bool is_before(const struct guided_branch *a, const struct guided_branch *b)
{
    return a->incarnation != b->incarnation ? a->incarnation < b->incarnation
                                            : a->choice < b->choice;
}

/* Behind a place of the schedule, drawn, it goes on in another way. */
static void branch_off(const struct taken *from, struct draw *draw, struct guided_run *run)
{
    uint64_t place = draw_below(draw, count_choices(from));
    struct guided_branch branch = {.seed = draw_number(draw)};
    while (place >= from->choices[branch.incarnation])
        place -= from->choices[branch.incarnation++];
    branch.choice = (unsigned)place;
    while (run->branches > 0 && !is_before(&run->branch[run->branches - 1], &branch))
        run->branches--;
    if (run->branches == GUIDED_BRANCHES)
        branch = (struct guided_branch){.incarnation = run->branch[GUIDED_BRANCHES - 1].incarnation,
                                        .choice = run->branch[GUIDED_BRANCHES - 1].choice,
                                        .seed = branch.seed};
    run->branches -= run->branches == GUIDED_BRANCHES;
    run->branch[run->branches++] = branch;
}

struct guided_run guide_next(struct guide *guide)
{
    uint64_t number = guide->next++;
    uint64_t index = guide->first + number * guide->stride;
    if (number >= GUIDE_LAG)
        look_at(guide, (size_t)(number - GUIDE_LAG));
    struct draw draw = draw_for(guide->seed, index, PURPOSE_ORIGIN);
    const struct taken *from = choose_kept(guide, &draw);
    if (from == NULL || draw_chance(&draw, FRESH_PERCENT))
        return guided_plain(index);
    struct guided_run run = from->made;
    draw = draw_for(guide->seed, index, PURPOSE_CHANGE);
    if (draw_chance(&draw, VARIED_PERCENT) || count_choices(from) == 0)
        run.other = index;
    else
        branch_off(from, &draw, &run);
    return run;
}
