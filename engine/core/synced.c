/* Names that came and went in folders of the store, and syncs of these folders, in a run that is
 * explored. See core.h.
 *
 * The sync of a folder makes durable what names other processes have changed there: so it matters
 * which of the two came first. But it shows only where somebody asks what is durable: when a line
 * is noted as committed, or when a power failure loses what is not. And there it does not show
 * either where whoever changed a name has synced the folder itself after that: the name is durable
 * then, whatever others have synced. (That a sync or a change comes before the commit is kept by
 * what each of the three does to OBJECT_STORE.) So a sync is noted as one that may have looked
 * (TOUCH_MAY_LOOK), and looks, afterwards, where at a commit a name is not synced by who changed
 * it. Where the plan loses something it looks at once. */
#include "engine/core/parts.h"

struct name_event {
    uint64_t names; /* object: what is in the folder */
    int process;
    uint32_t turn;
    bool is_sync;
    bool is_noted; /* the sync has looked */
};

struct synced {
    struct name_event *event;
    size_t count, room;
};

static void add(uint64_t names, bool is_sync)
{
    if (engine->synced == NULL)
        engine->synced = engine_allocate(sizeof *engine->synced);
    struct synced *synced = engine->synced;
    synced->event = engine_room(synced->event, synced->count, &synced->room, sizeof *synced->event);
    synced->event[synced->count++] =
        (struct name_event){names, engine_self, engine_transition(), is_sync, false};
}

void engine_names_changed(uint64_t names)
{
    engine_touch(TOUCH_ADD, names);
    add(names, false);
}

void engine_names_synced(uint64_t names)
{
    engine_touch(transitions_lose() ? TOUCH_LOOK : TOUCH_MAY_LOOK, names);
    add(names, true);
}

static bool is_synced_by_itself(const struct synced *synced, size_t change)
{
    const struct name_event *changed = &synced->event[change];
    for (size_t i = change + 1; i < synced->count; i++) {
        const struct name_event *event = &synced->event[i];
        if (event->is_sync && event->names == changed->names && event->process == changed->process)
            return true;
    }
    return false;
}

static void look_at_names(struct synced *synced, uint64_t names)
{
    for (size_t i = 0; i < synced->count; i++) {
        struct name_event *event = &synced->event[i];
        if (!event->is_sync || event->is_noted || event->names != names)
            continue;
        engine_touch_earlier(event->turn, TOUCH_LOOK, names);
        event->is_noted = true;
    }
}

void engine_names_judged(void)
{
    struct synced *synced = engine->synced;
    for (size_t i = 0; synced != NULL && i < synced->count; i++)
        if (!synced->event[i].is_sync && !is_synced_by_itself(synced, i))
            look_at_names(synced, synced->event[i].names);
}
