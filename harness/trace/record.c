/* Names of what a record holds; see record.h. */
#include "trace/record.h"

#include "faultline.h"

#include <ctype.h>
#include <stdlib.h>

#define TEXT_OF(list, count, number)                                                               \
    static const char *const texts[] = {list};                                                     \
    return (number) < (count) ? texts[number] : "?"
#define X(name, text) text,

const char *record_kind_text(unsigned kind)
{
    TEXT_OF(RECORD_KINDS(X), RECORD_KIND_COUNT, kind);
}

const char *note_kind_text(unsigned kind)
{
    static const char *const texts[] = {
        "none",
#define NOTE(NAME, text, about) text,
#define NOTE_APART NOTE
#include "trace/notes.def"
    };
    return kind < NOTE_KIND_COUNT ? texts[kind] : "?";
}

enum note_about note_about(unsigned kind)
{
    static const enum note_about abouts[] = {
        ABOUT_NOTHING,
#define NOTE(NAME, text, about) ABOUT_##about,
#define NOTE_APART NOTE
#include "trace/notes.def"
    };
    return kind < NOTE_KIND_COUNT ? abouts[kind] : ABOUT_NOTHING;
}

bool note_is_of_send(unsigned kind)
{
    return kind == NOTE_SUPPRESSED || kind == NOTE_KEPT || kind == NOTE_UNKEPT;
}

bool note_names_peer(unsigned kind)
{
    return note_about(kind) == ABOUT_MESSAGE || note_about(kind) == ABOUT_CHANNEL;
}

const char *peer_word(int64_t peer)
{
    static const char *const words[] = {"unknown", "none", "any", "null"};
    return peer >= PEER_UNKNOWN && peer <= PEER_NULL ? words[peer - PEER_UNKNOWN] : NULL;
}

/* What protocols are compiled with. */
#define NOTE(NAME, ...)                                                                            \
    _Static_assert((int)FAULTLINE_##NAME == (int)NOTE_##NAME, "faultline.h has another number");
#define NOTE_APART NOTE
#include "trace/notes.def"

const char *raised_text(unsigned error)
{
    switch (error) {
#define RAISED(name, number, text)                                                                 \
    case number:                                                                                   \
        return text;
        RAISED_CLASSES(RAISED)
#undef RAISED
    default:
        return NULL;
    }
}

const char *fault_kind_text(unsigned kind)
{
    TEXT_OF(FAULT_KINDS(X), FAULT_KIND_COUNT, kind);
}

const char *storage_call_text(unsigned call)
{
    TEXT_OF(STORAGE_CALLS(X), STORAGE_CALL_COUNT, call);
}

const char *level_text(unsigned level)
{
    static const char *const texts[] = {"app", "wire", "self"};
    return level < sizeof texts / sizeof texts[0] ? texts[level] : "?";
}

bool helpers_have(const char *helpers, int rank)
{
    while (isdigit((unsigned char)*helpers)) {
        char *end;
        if (strtol(helpers, &end, 10) == rank)
            return true;
        helpers = *end == ',' ? end + 1 : end;
    }
    return false;
}
