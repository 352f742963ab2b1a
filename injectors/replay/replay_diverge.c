/* The end of a replay in which a rank did something else than in the run that is followed: what was
 * expected and what came, as text. */
#include "injectors/replay/replay_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define TEXT_BYTES 512

_Noreturn void replay_diverge(const char *format, ...)
{
    char path[PATH_MAX], text[TEXT_BYTES];
    int length = snprintf(text, sizeof text, "r%d#%d: ", replay.rank, replay.incarnation);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text)
        length = (int)sizeof text - 1;
    int file = -1;
    if (snprintf(path, sizeof path, "%s/" DIVERGENCE_FILE, replay.run_folder) < (int)sizeof path)
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
        ssize_t written = write(file, text, (size_t)length);
        (void)written; /* the exit code says it too */
        close(file);
    }
    fprintf(stderr, "faultline: the replay diverges: %s\n", text);
    _exit(REPLAY_EXIT_DIVERGED);
}

/* The number of a rank's event among those of all sections. */
static uint32_t number_of(uint32_t event)
{
    return replay.section->first_event + event;
}

uint32_t replay_request_at(uint32_t event)
{
    return decision_request_at(&replay.decisions, number_of(event));
}

static const char *text_of(uint32_t event, char text[REPLAY_TEXT_BYTES])
{
    decision_text(replay_shape(event), replay_request_at(event),
                  decision_file_at(&replay.decisions, number_of(event)), text, REPLAY_TEXT_BYTES);
    return text;
}

const char *replay_text_of_record(const struct record *r, bool complete,
                                  char text[REPLAY_TEXT_BYTES])
{
    struct decision_shape shape;
    char file[RECORD_NAME_BYTES];
    bool stores = atomic_load_explicit(&r->kind, memory_order_relaxed) == RECORD_STORAGE;
    decision_shape_of(r, complete, &shape);
    if (stores) {
        record_name(r, file);
        shape.bytes = r->bytes; /* asked for, while it is in progress */
    }
    decision_text(&shape, decision_request_of(r), stores ? file : NULL, text, REPLAY_TEXT_BYTES);
    return text;
}

_Noreturn void replay_diverge_at(uint32_t event, const struct record *r, bool complete)
{
    char expected[REPLAY_TEXT_BYTES], got[REPLAY_TEXT_BYTES];
    replay_text_of_record(r, complete, got);
    if (event >= replay.events)
        replay_diverge("expected nothing more, for the rank was ended here; got %s", got);
    replay_diverge("event %u: expected %s%s; got %s", replay.event[event].index,
                   text_of(event, expected),
                   decision_is_negative(replay_shape(event)) ? " once more" : "", got);
}

_Noreturn void replay_gave_up(const struct record *r)
{
    char got[REPLAY_TEXT_BYTES];
    replay_diverge("waited %d s in %s for what it came to then", REPLAY_WAIT_MS / 1000,
                   replay_text_of_record(r, false, got));
}
