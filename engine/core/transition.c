/* What a search knows of a run, and who sleeps: see transition.h. */
#include "engine/core/transition.h"

#include "base/regular_file.h"
#include "engine/core/core.h"
#include "engine/core/parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_NOT_STARTED 127

struct asleep {
    uint64_t actor;
    uint32_t from; /* turns before it sleeps */
    bool awake;
    uint32_t touches;
    const struct entry *touch;
};

/* In the mapping. */
struct transitions {
    struct entry *entry;
    size_t count, room;
    size_t segment; /* the entry after the newest turn's */
    uint64_t actor; /* of the newest turn */
    uint32_t turns;
    uint64_t last;     /* process that ran last, + 1; 0: none */
    bool polls;        /* the process that runs looks whether it can go on, and will not wait */
    bool goes_on;      /* it has waited, and looks by what it goes on */
    bool loses;        /* what is not synced may be lost */
    unsigned answered; /* so often a question is answered at once */
    struct asleep *asleep;
    size_t asleep_count;
};

static struct transitions *all(void)
{
    return engine->transitions;
}

static void add(enum entry_kind kind, unsigned flag, unsigned extra, uint64_t value)
{
    struct transitions *t = all();
    t->entry = engine_room(t->entry, t->count, &t->room, sizeof *t->entry);
    t->entry[t->count++] = (struct entry){
        .kind = (uint16_t)kind, .flag = (uint16_t)flag, .extra = extra, .value = value};
}

/* --- touches ---------------------------------------------------------------------------------- */

void engine_touch(enum touch how, uint64_t object)
{
    if (all() == NULL || all()->turns == 0)
        return;
    if (engine_self != ENGINE_NOBODY && engine->process[engine_self].looks)
        return;
    for (size_t i = all()->segment; i < all()->count; i++) {
        const struct entry *e = &all()->entry[i];
        if (e->kind == ENTRY_TOUCH && e->value == object && e->flag == how)
            return;
    }
    add(ENTRY_TOUCH, how, 0, object);
}

void engine_touch_earlier(uint32_t turn, enum touch how, uint64_t object)
{
    if (all() != NULL && turn > 0)
        add(ENTRY_TOUCH, how, turn, object);
}

uint32_t engine_transition(void)
{
    return all() != NULL ? all()->turns : 0;
}

void engine_touch_seen(uint64_t object)
{
    if (all() != NULL)
        engine_touch(all()->polls ? TOUCH_LOOK : TOUCH_AFTER, object);
}

void engine_touch_polled(uint64_t object)
{
    if (all() != NULL && all()->polls)
        engine_touch(TOUCH_LOOK, object);
}

void transition_polls(bool polls)
{
    if (all() != NULL)
        all()->polls = polls;
}

void transition_went_on(bool went_on)
{
    if (all() != NULL)
        all()->goes_on = went_on;
}

bool transition_goes_on(void)
{
    return all() != NULL && all()->goes_on;
}

/* --- who has asked for what is touched ---------------------------------------------------------
 */

void transition_for_each(void (*take)(void *data, enum touch how, uint64_t object), void *data)
{
    for (size_t i = all()->segment; i < all()->count; i++)
        if (all()->entry[i].kind == ENTRY_TOUCH && all()->entry[i].extra == 0)
            take(data, (enum touch)all()->entry[i].flag, all()->entry[i].value);
}

uint64_t transition_actor(void)
{
    return all()->actor;
}

/* --- who sleeps ------------------------------------------------------------------------------- */

/* The transition that has ended touches what the sleeper's would. */
static bool is_woken(const struct asleep *sleeper)
{
    for (size_t i = all()->segment; i < all()->count; i++) {
        const struct entry *e = &all()->entry[i];
        for (uint32_t k = 0; e->kind == ENTRY_TOUCH && e->extra == 0 && k < sleeper->touches; k++)
            if (sleeper->touch[k].value == e->value &&
                touches_may_conflict((enum touch)e->flag, (enum touch)sleeper->touch[k].flag))
                return true;
    }
    return false;
}

static void wake_sleepers(void)
{
    for (size_t i = 0; i < all()->asleep_count; i++) {
        struct asleep *sleeper = &all()->asleep[i];
        if (!sleeper->awake && all()->turns > sleeper->from && is_woken(sleeper))
            sleeper->awake = true;
    }
}

static bool sleeps(uint64_t actor)
{
    for (size_t i = 0; i < all()->asleep_count; i++) {
        const struct asleep *sleeper = &all()->asleep[i];
        if (sleeper->actor == actor && !sleeper->awake && all()->turns >= sleeper->from)
            return true;
    }
    return false;
}

/* --- choices ---------------------------------------------------------------------------------- */

/* Given; or the process that ran last; or the first that does not sleep. */
static unsigned choose(const uint64_t *actor, unsigned count, bool *given)
{
    unsigned chosen;
    *given = count > 1 && engine_given(DECIDE_NEXT, count, &chosen);
    if (*given)
        return chosen;
    for (chosen = 0; chosen < count; chosen++)
        if (actor[chosen] + 1 == all()->last && !sleeps(actor[chosen]))
            return chosen;
    for (chosen = 0; chosen < count && sleeps(actor[chosen]); chosen++)
        ;
    return chosen;
}

bool transition_choose(const uint64_t *actor, unsigned count, unsigned *chosen)
{
    bool given;
    wake_sleepers();
    *chosen = choose(actor, count, &given);
    if (*chosen == count) {
        add(ENTRY_ASLEEP, 0, 0, 0);
        return false;
    }
    if (count > 1)
        engine_write_down(DECIDE_NEXT, *chosen, count);
    add(ENTRY_TURN, given, count, actor[*chosen]);
    for (unsigned i = 0; i < count; i++)
        add(ENTRY_COULD, 0, 0, actor[i]);
    all()->segment = all()->count;
    all()->actor = actor[*chosen];
    all()->turns++;
    if (transition_is_process(actor[*chosen]))
        all()->last = actor[*chosen] + 1;
    all()->polls = false;
    return true;
}

unsigned transition_decide(enum decision kind, unsigned count)
{
    unsigned chosen = 0;
    if (kind == DECIDE_BUFFER || kind == DECIDE_LEAVE || kind == DECIDE_END)
        return 0;
    if (!engine_given(kind, count, &chosen))
        chosen = 0;
    engine_write_down(kind, chosen, count);
    add(ENTRY_DECIDE, kind, count, chosen);
    return chosen;
}

/* --- files ------------------------------------------------------------------------------------ */

static void path_of(char path[PATH_MAX], const char *folder, const char *name, int incarnation)
{
    if (snprintf(path, PATH_MAX, "%s/%s.%d", folder, name, incarnation) >= PATH_MAX)
        path[0] = '\0';
}

_Noreturn static void give_up(const char *path)
{
    fprintf(stderr, "faultline: %s: who sleeps cannot be read\n", path);
    fflush(NULL);
    _exit(EXIT_NOT_STARTED);
}

static void read_sleepers(FILE *file, const char *path)
{
    struct sleeper head;
    size_t room = 0;
    while (fread(&head, sizeof head, 1, file) == 1) {
        struct entry *touch = engine_allocate(head.touches * sizeof *touch);
        if (fread(touch, sizeof *touch, head.touches, file) != head.touches)
            give_up(path);
        all()->asleep =
            engine_room(all()->asleep, all()->asleep_count, &room, sizeof *all()->asleep);
        all()->asleep[all()->asleep_count++] =
            (struct asleep){head.actor, head.from, false, head.touches, touch};
    }
}

unsigned transitions_polls(void)
{
    return all()->answered;
}

bool transitions_lose(void)
{
    return all() == NULL || all()->loses;
}

void transitions_open(const char *folder, int incarnation, unsigned polls, bool loses)
{
    char path[PATH_MAX];
    engine->transitions = engine_allocate(sizeof(struct transitions));
    all()->answered = polls;
    all()->loses = loses;
    if (folder == NULL)
        return;
    path_of(path, folder, SLEEPER_FILE, incarnation);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    read_sleepers(file, path);
    fclose(file);
}

void transitions_write(const char *folder, int incarnation)
{
    char path[PATH_MAX];
    if (all() == NULL)
        return;
    path_of(path, folder, TRANSITION_FILE, incarnation);
    FILE *file = regular_create(path, NULL);
    if (file == NULL)
        return;
    const struct entry polls = {.kind = ENTRY_POLLS, .extra = all()->answered};
    fwrite(&polls, sizeof polls, 1, file);
    fwrite(all()->entry, sizeof *all()->entry, all()->count, file);
    fclose(file);
}
