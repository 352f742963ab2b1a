/* Which event of a plan something recorded is. See plan.h. */
#include "plan/plan.h"
#include "trace/record.h"

enum plan_event plan_event_of_storage(unsigned call)
{
    switch (call) {
    case STORAGE_OPEN:
    case STORAGE_OPEN_WRITE:
    case STORAGE_OPEN_EMPTY:
    case STORAGE_CREATE:
        return EVENT_OPEN;
    case STORAGE_WRITE:
    case STORAGE_WRITE_SYNC:
    case STORAGE_RESIZE:
        return EVENT_WRITE;
    case STORAGE_SYNC:
    case STORAGE_SYNC_RANGE:
    case STORAGE_SYNC_ALL:
        return EVENT_SYNC;
    case STORAGE_RENAME:
    case STORAGE_LINK:
        return EVENT_RENAME;
    case STORAGE_UNLINK:
        return EVENT_UNLINK;
    default:
        return EVENT_NONE;
    }
}

unsigned plan_note_of_event(enum plan_event event)
{
    static const enum note_kind notes[EVENT_COUNT] = {
#define NOTE(NAME, ...) [EVENT_##NAME] = NOTE_##NAME,
#include "trace/notes.def"
    };
    return event < EVENT_COUNT ? notes[event] : NOTE_NONE;
}

enum plan_event plan_event_of_note(unsigned note)
{
    static const enum plan_event events[NOTE_KIND_COUNT] = {
#define NOTE(NAME, ...) [NOTE_##NAME] = EVENT_##NAME,
#include "trace/notes.def"
    };
    return note < NOTE_KIND_COUNT ? events[note] : EVENT_NONE;
}
