/* See state.h. */
#include "common/base/state.h"

#include <inttypes.h>
#include <string.h>

enum error_code state_register(struct state *state, const char *name, void *data, size_t bytes,
                               struct error *error)
{
    if (!name || !*name || strlen(name) >= STATE_NAME_BYTES)
        return error_set(error, ERROR_USAGE,
                         "name '%s' of a piece of state; accepted: 1 to %d bytes", name ? name : "",
                         STATE_NAME_BYTES - 1);
    if (state->count == STATE_MAX_PIECES)
        return error_set(error, ERROR_LIMIT, "piece '%s' of state; accepted: at most %d pieces",
                         name, STATE_MAX_PIECES);
    for (size_t i = 0; i < state->count; i++)
        if (strcmp(state->piece[i].as_stored.name, name) == 0)
            return error_set(error, ERROR_USAGE, "piece '%s' of state is registered twice", name);
    struct piece *piece = &state->piece[state->count++];
    *piece = (struct piece){.as_stored.bytes = bytes, .data = data};
    strcpy(piece->as_stored.name, name);
    return OK;
}

uint64_t state_table_bytes(const struct state *state)
{
    return state->count * sizeof(struct stored_piece);
}

uint64_t state_data_bytes(const struct state *state)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < state->count; i++)
        bytes += state->piece[i].as_stored.bytes;
    return bytes;
}

int state_around(const struct state *state, const void *first, uint64_t bytes)
{
    for (size_t i = 0; i < state->count; i++) {
        const struct piece *piece = &state->piece[i];
        const char *data = piece->data;
        if ((const char *)first >= data && bytes <= piece->as_stored.bytes &&
            (uint64_t)((const char *)first - data) <= piece->as_stored.bytes - bytes)
            return (int)i;
    }
    return -1;
}

void state_copy(const struct state *state, void *to)
{
    char *at = to;
    for (size_t i = 0; i < state->count; i++) {
        memcpy(at, state->piece[i].data, state->piece[i].as_stored.bytes);
        at += state->piece[i].as_stored.bytes;
    }
}

void state_put_back(const struct state *state, const void *from)
{
    const char *at = from;
    for (size_t i = 0; i < state->count; i++) {
        memcpy(state->piece[i].data, at, state->piece[i].as_stored.bytes);
        at += state->piece[i].as_stored.bytes;
    }
}

enum error_code state_write_table(const struct state *state, struct durable_file *file,
                                  struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; i < state->count && code == OK; i++)
        code = durable_write(file, &state->piece[i].as_stored, sizeof(struct stored_piece), error);
    return code;
}

enum error_code state_write_data(const struct state *state, struct durable_file *file,
                                 struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; i < state->count && code == OK; i++)
        code = durable_write(file, state->piece[i].data, state->piece[i].as_stored.bytes, error);
    return code;
}

/* The stored table must be the registered one, piece by piece. */
static enum error_code check_table(const struct state *state, const char *stored, uint64_t bytes,
                                   const char *path, struct error *error)
{
    for (size_t i = 0; i < state->count; i++) {
        const struct stored_piece *mine = &state->piece[i].as_stored;
        struct stored_piece theirs;
        if (bytes < (i + 1) * sizeof theirs)
            return error_set(error, ERROR_FORMAT, "%s: of another program: no piece '%s'", path,
                             mine->name);
        memcpy(&theirs, stored + i * sizeof theirs, sizeof theirs);
        if (memcmp(&theirs, mine, sizeof theirs) != 0)
            return error_set(error, ERROR_FORMAT,
                             "%s: of another program: piece %zu is '%.*s' of %" PRIu64
                             " bytes, registered is '%s' of %" PRIu64,
                             path, i + 1, STATE_NAME_BYTES - 1, theirs.name, theirs.bytes,
                             mine->name, mine->bytes);
    }
    return OK;
}

enum error_code state_load(struct state *state, const void *stored, uint64_t bytes,
                           const char *path, struct error *error)
{
    enum error_code code = check_table(state, stored, bytes, path, error);
    if (code != OK)
        return code;
    uint64_t expected = state_table_bytes(state) + state_data_bytes(state);
    if (bytes != expected)
        return error_set(error, ERROR_FORMAT,
                         "%s: of another program: %" PRIu64
                         " bytes of state, registered are %" PRIu64,
                         path, bytes, expected);
    const char *next = (const char *)stored + state_table_bytes(state);
    for (size_t i = 0; i < state->count; i++) {
        const struct piece *piece = &state->piece[i];
        if (piece->as_stored.bytes > 0)
            memcpy(piece->data, next, piece->as_stored.bytes);
        next += piece->as_stored.bytes;
    }
    return OK;
}
