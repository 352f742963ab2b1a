/* An event in words, for people: what was expected, what came. See decisions.h. */
#include "decisions/decisions.h"

#include "trace/calls.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that grows at its end, cut where it is full. */
struct words {
    char *text;
    size_t bytes;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *format, ...)
{
    if (words->used >= words->bytes)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(words->text + words->used, words->bytes - words->used, format, arguments);
    va_end(arguments);
    words->used += length > 0 ? (size_t)length : 0;
}

static void add_peer(struct words *words, const char *before, int32_t peer)
{
    switch (peer) {
    case PEER_NULL:
        say(words, "%s nobody", before);
        break;
    case PEER_ANY:
        say(words, "%s any", before);
        break;
    case PEER_NONE:
        break;
    case PEER_UNKNOWN:
        say(words, "%s somebody", before);
        break;
    default:
        say(words, "%s %" PRId32, before, peer);
    }
}

static void add_tag(struct words *words, int32_t tag)
{
    if (tag == TAG_ANY)
        say(words, ", any tag");
    else
        say(words, ", tag %" PRId32, tag);
}

static void add_comm(struct words *words, uint32_t comm)
{
    if (comm == COMM_WORLD_ID)
        say(words, ", on world");
    else if (comm == COMM_SELF_ID)
        say(words, ", on self");
    else if (comm != 0)
        say(words, ", on %08" PRIx32, comm);
}

static void add_message(struct words *words, const struct decision_shape *shape)
{
    bool sends = shape->kind == RECORD_SEND;
    say(words, "%s", call_name(shape->call));
    add_peer(words, sends ? " to" : " from", sends ? shape->peer : shape->want_peer);
    add_tag(words, sends ? shape->tag : shape->want_tag);
    add_comm(words, shape->comm);
    if (sends)
        say(words, ", %" PRIu64 " bytes", shape->bytes);
}

static void add_outcome(struct words *words, const struct decision_shape *shape)
{
    bool has_outcome = shape->kind == RECORD_RECV || shape->kind == RECORD_PROBE ||
                       (shape->kind == RECORD_COMPLETE && shape->comm != 0);
    if (decision_is_negative(shape)) {
        say(words, ", which says no");
    } else if ((shape->state & SHAPE_INCOMPLETE) == 0 && shape->error != 0) {
        say(words, ", which fails with error class %u", shape->error);
    } else if (has_outcome && (shape->state & SHAPE_INCOMPLETE) == 0 && shape->peer != PEER_NONE) {
        add_peer(words, ", which gets that of", shape->peer);
        add_tag(words, shape->tag);
        if (shape->bytes != BYTES_UNKNOWN)
            say(words, ", %" PRIu64 " bytes", shape->bytes);
    }
}

static bool has_bytes(int32_t call)
{
    return call == STORAGE_WRITE || call == STORAGE_WRITE_SYNC || call == STORAGE_RESIZE ||
           call == STORAGE_READ;
}

static void add_storage(struct words *words, const struct decision_shape *shape, const char *file)
{
    say(words, "%s", storage_call_text((unsigned)shape->tag));
    if (file != NULL)
        say(words, " of \"%s\"", file);
    else
        say(words, " on the store");
    if (has_bytes(shape->tag) && (shape->bytes > 0 || (shape->state & SHAPE_INCOMPLETE) == 0))
        say(words, ", %" PRIu64 " bytes", shape->bytes);
    if ((shape->state & SHAPE_INCOMPLETE) != 0)
        return;
    if (decision_is_negative(shape))
        say(words, ", which finds none");
    else if (shape->error != 0)
        say(words, ", which fails with %s",
            strerrorname_np(shape->error) != NULL ? strerrorname_np(shape->error) : "an error");
}

void decision_text(const struct decision_shape *shape, uint32_t request, const char *file,
                   char *text, size_t bytes)
{
    struct words words = {text, bytes, 0};
    text[0] = '\0';
    switch (shape->kind) {
    case RECORD_SEND:
    case RECORD_RECV:
    case RECORD_PROBE:
        add_message(&words, shape);
        break;
    case RECORD_COLLECTIVE:
        say(&words, "%s", call_name(shape->call));
        add_peer(&words, ", root", shape->peer);
        add_comm(&words, shape->comm);
        say(&words, ", %" PRIu64 " bytes", shape->bytes);
        break;
    case RECORD_NOTE:
        say(&words, "the note \"%s\" %" PRIu64, note_kind_text((unsigned)shape->tag), shape->bytes);
        return;
    case RECORD_STORAGE:
        add_storage(&words, shape, file);
        return;
    default:
        say(&words, "%s", call_name(shape->call));
        add_comm(&words, shape->kind == RECORD_CALL ? shape->comm : 0);
    }
    if (request != 0)
        say(&words, ", request %" PRIu32, request);
    add_outcome(&words, shape);
    say(&words, shape->level == LEVEL_APP ? " (application)" : " (wire)");
}
