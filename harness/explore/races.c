/* Happens-before by vector clocks: see races.h. An actor has a column; the clock of a transition
 * says, of each actor, how many of its transitions come before it or are it. */
#include "explore/races.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Who touched an object, oldest first. */
struct touched {
    bool used;
    uint64_t object;
    size_t changers, changer_room; /* transitions of the whole run that change it: */
    size_t *changer;
    size_t count, room;
    struct toucher {
        size_t step;
        enum touch how;
    } * by;
};

struct steps {
    size_t count, room;
    size_t *step; /* owned */
};

struct races {
    const struct step *step; /* borrowed */
    size_t count;
    size_t actors;
    uint32_t *column;      /* of each step: its actor's */
    uint32_t *position;    /* of each step: how many-th of its actor's, from 1 */
    uint32_t *clock;       /* of each step: a row of `actors` */
    struct steps *found;   /* of each: those that it has a race with */
    struct steps *awaited; /* of each: those that it has one with if it could have come without */
    size_t *let_by;        /* of each step: the change that let a poll go on; SIZE_MAX: none */
    size_t *own_before;    /* of each step: its actor's last; SIZE_MAX: none */
    struct touched *table; /* by hash, open addressing */
    size_t room;           /* power of two */
};

static uint32_t *clock_of(const struct races *races, size_t step)
{
    return races->clock + step * races->actors;
}

/* --- who touched what ------------------------------------------------------------------------- */

static struct touched *find_object(struct races *races, uint64_t object)
{
    size_t at = object & (races->room - 1);
    while (races->table[at].used && races->table[at].object != object)
        at = (at + 1) & (races->room - 1);
    return &races->table[at];
}

static void add_toucher(struct races *races, size_t step, const struct entry *touch)
{
    struct touched *object = find_object(races, touch->value);
    object->by = memory_room(object->by, object->count, &object->room, sizeof *object->by);
    object->by[object->count++] = (struct toucher){step, (enum touch)touch->flag};
}

static void add_changer(struct touched *object, size_t step)
{
    if (object->changers > 0 && object->changer[object->changers - 1] == step)
        return;
    object->changer = memory_room(object->changer, object->changers, &object->changer_room,
                                  sizeof *object->changer);
    object->changer[object->changers++] = step;
}

static void make_table(struct races *races)
{
    size_t touches = 0;
    for (size_t i = 0; i < races->count; i++)
        touches += races->step[i].touches;
    for (races->room = 16; races->room < 2 * touches; races->room *= 2)
        ;
    races->table = memory_new(races->room, sizeof *races->table);
    for (size_t i = 0; i < races->count; i++)
        for (size_t t = 0; t < races->step[i].touches; t++) {
            const struct entry *touch = &races->step[i].touch[t];
            struct touched *object = find_object(races, touch->value);
            object->used = true;
            object->object = touch->value;
            if (touch_changes((enum touch)touch->flag))
                add_changer(object, i);
        }
}

/* --- columns ---------------------------------------------------------------------------------- */

static void number_actors(struct races *races)
{
    uint64_t *actor = memory_new(races->count + 1, sizeof *actor);
    uint32_t *taken = memory_new(races->count + 1, sizeof *taken);
    for (size_t i = 0; i < races->count; i++) {
        size_t k = 0;
        while (k < races->actors && actor[k] != races->step[i].actor)
            k++;
        if (k == races->actors)
            actor[races->actors++] = races->step[i].actor;
        races->column[i] = (uint32_t)k;
        races->position[i] = ++taken[k];
    }
    free(actor);
    free(taken);
}

/* --- clocks and races ------------------------------------------------------------------------- */

struct meeting_before {
    size_t step;
    bool awaited; /* without it, or something in its place, the later one could not have been */
};

static int newest_first(const void *left, const void *right)
{
    const struct meeting_before *a = left, *b = right;
    return a->step < b->step ? 1 : a->step > b->step ? -1 : 0;
}

static bool touches(const struct step *step, enum touch how, uint64_t object)
{
    for (size_t t = 0; t < step->touches; t++)
        if (step->touch[t].flag == how && step->touch[t].value == object)
            return true;
    return false;
}

static bool is_awaited(enum touch earlier, enum touch later)
{
    return later == TOUCH_AFTER && (earlier == TOUCH_WRITE || earlier == TOUCH_ADD);
}

static void take_in(struct races *races, size_t step, size_t earlier)
{
    uint32_t *own = clock_of(races, step);
    const uint32_t *other = clock_of(races, earlier);
    for (size_t k = 0; k < races->actors; k++)
        own[k] = own[k] > other[k] ? own[k] : other[k];
}

static bool knows(const struct races *races, size_t step, size_t earlier)
{
    return clock_of(races, step)[races->column[earlier]] >= races->position[earlier];
}

/* Has it come to the object since the actor of `step` looked, which was before its last transition?
 * What came before that is known there. */
static bool came_since(const struct races *races, size_t step, size_t changer)
{
    return races->column[changer] != races->column[step] && !knows(races, step, changer);
}

/* The change that has let a poll go on: the first that came since it asked. SIZE_MAX: none. */
static size_t what_let(const struct races *races, size_t step, const struct touched *object)
{
    for (size_t i = 0; i < object->changers && object->changer[i] < step; i++)
        if (came_since(races, step, object->changer[i]))
            return object->changer[i];
    return SIZE_MAX;
}

/* Earlier transitions of other actors that this one conflicts with or comes after. Owned by the
 * caller. The clock of the step has what its actor knew before. */
static struct meeting_before *list_before(struct races *races, size_t step, size_t *count)
{
    size_t room = 0;
    struct meeting_before *list = NULL;
    *count = 0;
    for (size_t t = 0; t < races->step[step].touches; t++) {
        const struct entry *touch = &races->step[step].touch[t];
        const struct touched *object = find_object(races, touch->value);
        enum touch how = (enum touch)touch->flag;
        size_t let = how == TOUCH_LET ? what_let(races, step, object) : SIZE_MAX;
        if (let != SIZE_MAX) {
            list = memory_room(list, *count, &room, sizeof *list);
            list[(*count)++] = (struct meeting_before){let, true};
            races->let_by[step] = let;
        }
        for (size_t i = object->count; i > 0; i--) {
            const struct toucher *by = &object->by[i - 1];
            bool awaited = is_awaited(by->how, how);
            if (races->column[by->step] == races->column[step] ||
                (!awaited && !touches_conflict(by->how, how)))
                continue;
            list = memory_room(list, *count, &room, sizeof *list);
            list[(*count)++] = (struct meeting_before){by->step, awaited};
        }
    }
    if (*count > 0)
        qsort(list, *count, sizeof *list, newest_first);
    return list;
}

static void note(struct steps *steps, size_t step)
{
    for (size_t i = 0; i < steps->count; i++)
        if (steps->step[i] == step)
            return;
    steps->step = memory_room(steps->step, steps->count, &steps->room, sizeof *steps->step);
    steps->step[steps->count++] = step;
}

/* Two transitions that conflict in one object are no race if the later one has awaited the earlier
 * one in another object, and nothing else could have come in the place of that: which is known when
 * all clocks are. */
static void look_at(struct races *races, size_t step)
{
    size_t count;
    size_t own = races->own_before[step];
    if (own != SIZE_MAX)
        take_in(races, step, own);
    struct meeting_before *list = list_before(races, step, &count);
    for (size_t i = 0; i < count;) {
        size_t earlier = list[i].step;
        bool awaited = false;
        for (; i < count && list[i].step == earlier; i++)
            awaited |= list[i].awaited;
        if (knows(races, step, earlier) && races->let_by[step] != earlier)
            continue;
        note(awaited ? &races->awaited[step] : &races->found[step], earlier);
        take_in(races, step, earlier);
    }
    clock_of(races, step)[races->column[step]] = races->position[step];
    free(list);
}

/* --- what could have come instead ------------------------------------------------------------- */

static bool comes_after(const struct races *races, size_t step, size_t earlier)
{
    return step >= earlier && knows(races, step, earlier);
}

/* The first that has changed the object and need not come after `earlier`. */
static size_t changed_without(const struct races *races, const struct touched *object,
                              size_t earlier)
{
    for (size_t i = 0; i < object->changers; i++)
        if (!comes_after(races, object->changer[i], earlier))
            return object->changer[i];
    return SIZE_MAX;
}

/* Something that a poll has waited for, since it asked, need not come after `earlier`. */
static bool let_without(struct races *races, size_t step, size_t earlier)
{
    size_t own = races->own_before[step];
    for (size_t t = 0; t < races->step[step].touches; t++) {
        const struct entry *touch = &races->step[step].touch[t];
        if (touch->flag != TOUCH_LET && touch->flag != TOUCH_COULD)
            continue;
        const struct touched *object = find_object(races, touch->value);
        for (size_t i = 0; i < object->changers; i++)
            if (came_since(races, own, object->changer[i]) &&
                !comes_after(races, object->changer[i], earlier))
                return true;
    }
    return false;
}

/* Another way in which the transition had become possible. (One that comes later in the run has a
 * race with it of its own.) */
static bool could_come_instead(struct races *races, size_t step, size_t earlier)
{
    for (size_t t = 0; t < races->step[step].touches; t++) {
        const struct entry *touch = &races->step[step].touch[t];
        if (touch->flag == TOUCH_INSTEAD &&
            !touches(&races->step[step], TOUCH_AFTER, touch->value) &&
            changed_without(races, find_object(races, touch->value), earlier) < step)
            return true;
    }
    return false;
}

static bool has_changed(const struct touched *object, size_t step)
{
    for (size_t i = 0; i < object->changers; i++)
        if (object->changer[i] == step)
            return true;
    return false;
}

/* Of two that touch one object: may they be a race where they are not bound by what came between?
 */
static bool could_be_race(enum touch earlier, enum touch later)
{
    return touches_conflict(earlier, later) || is_awaited(earlier, later) ||
           (touch_changes(earlier) && (later == TOUCH_LET || later == TOUCH_COULD));
}

/* Two have added to what `step` has awaited, `earlier` and `other`. All is the same where it was
 * the other one: but what comes after `step` need not come after what `earlier` came after. */
static void note_kept(struct races *races, size_t step, size_t later, const struct entry *touch,
                      size_t earlier, size_t other)
{
    const struct touched *object = find_object(races, touch->value);
    for (size_t i = 0; i < object->count; i++) {
        size_t before = object->by[i].step;
        bool awaited = is_awaited(object->by[i].how, (enum touch)touch->flag);
        if (races->column[before] != races->column[later] && comes_after(races, earlier, before) &&
            !comes_after(races, other, before) &&
            could_be_race(object->by[i].how, (enum touch)touch->flag) &&
            !(awaited && (later == step || before == earlier)))
            note(awaited ? &races->awaited[later] : &races->found[later], before);
    }
}

static void note_what_adding_kept(struct races *races, size_t step, size_t earlier, size_t other)
{
    for (size_t later = step; later < races->count; later++)
        for (size_t t = 0; comes_after(races, later, step) && t < races->step[later].touches; t++)
            note_kept(races, step, later, &races->step[later].touch[t], earlier, other);
}

/* They have only added to it. */
static bool is_added_to(const struct races *races, const struct touched *object)
{
    for (size_t i = 0; i < object->changers; i++)
        if (!touches(&races->step[object->changer[i]], TOUCH_ADD, object->object))
            return false;
    return true;
}

/* Of the objects in which the transition has awaited the earlier one: each could have been changed
 * by another. *added: it is one alone, and has only been added to; else NULL. */
static bool could_be_of_others(struct races *races, size_t step, size_t earlier,
                               const struct touched **added)
{
    size_t objects = 0;
    for (size_t t = 0; t < races->step[step].touches; t++) {
        const struct entry *touch = &races->step[step].touch[t];
        const struct touched *object = find_object(races, touch->value);
        if (touch->flag != TOUCH_AFTER || !has_changed(object, earlier))
            continue;
        if (changed_without(races, object, earlier) == SIZE_MAX)
            return false;
        *added = objects++ == 0 && is_added_to(races, object) ? object : NULL;
    }
    return true;
}

/* The transition has awaited the earlier one: that is a race if it could have awaited something
 * else. */
static void settle(struct races *races, size_t step, size_t earlier)
{
    const struct touched *added = NULL;
    bool could = races->let_by[step] == earlier
                     ? let_without(races, step, earlier)
                     : could_come_instead(races, step, earlier) ||
                           could_be_of_others(races, step, earlier, &added);
    if (could && added == NULL)
        note(&races->found[step], earlier);
    for (size_t i = 0; could && added != NULL && i < added->changers; i++)
        if (!comes_after(races, added->changer[i], earlier))
            note_what_adding_kept(races, step, earlier, added->changer[i]);
}

struct races *races_find(const struct step *steps, size_t count)
{
    struct races *races = memory_new(1, sizeof *races);
    races->step = steps;
    races->count = count;
    races->column = memory_new(count + 1, sizeof *races->column);
    races->position = memory_new(count + 1, sizeof *races->position);
    races->found = memory_new(count + 1, sizeof *races->found);
    races->awaited = memory_new(count + 1, sizeof *races->awaited);
    races->let_by = memory_new(count + 1, sizeof *races->let_by);
    races->own_before = memory_new(count + 1, sizeof *races->own_before);
    memset(races->let_by, 0xff, (count + 1) * sizeof *races->let_by);
    number_actors(races);
    races->clock = memory_new(count * races->actors + 1, sizeof *races->clock);
    make_table(races);
    size_t *last_of = memory_new(races->actors + 1, sizeof *last_of);
    memset(last_of, 0xff, (races->actors + 1) * sizeof *last_of);
    for (size_t i = 0; i < count; i++) {
        races->own_before[i] = last_of[races->column[i]];
        look_at(races, i);
        last_of[races->column[i]] = i;
        for (size_t t = 0; t < steps[i].touches; t++)
            add_toucher(races, i, &steps[i].touch[t]);
    }
    free(last_of);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < races->awaited[i].count; k++)
            settle(races, i, races->awaited[i].step[k]);
    return races;
}

void races_release(struct races *races)
{
    for (size_t i = 0; i < races->room; i++) {
        free(races->table[i].by);
        free(races->table[i].changer);
    }
    for (size_t i = 0; i < races->count; i++) {
        free(races->found[i].step);
        free(races->awaited[i].step);
    }
    free(races->table);
    free(races->found);
    free(races->awaited);
    free(races->let_by);
    free(races->own_before);
    free(races->clock);
    free(races->position);
    free(races->column);
    free(races);
}

bool races_before(const struct races *races, size_t a, size_t b)
{
    return knows(races, b, a);
}

size_t races_with(const struct races *races, size_t later, const size_t **list)
{
    *list = races->found[later].step;
    return races->found[later].count;
}
