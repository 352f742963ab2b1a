/* The state a program has registered: named pieces of its memory, and how they are stored. Must not
 * know: MPI, Faultline, files of a protocol.
 *
 * Stored: the table (one struct stored_piece per piece), then the bytes of each piece in the same
 * order. */
#ifndef COMMON_BASE_STATE_H
#define COMMON_BASE_STATE_H

#include "base/error.h"
#include "common/base/durable.h"

#include <stddef.h>
#include <stdint.h>

#define STATE_MAX_PIECES 64
#define STATE_NAME_BYTES 48

struct stored_piece {
    char name[STATE_NAME_BYTES]; /* 0-padded */
    uint64_t bytes;
};

/* data is the program's. */
struct piece {
    struct stored_piece as_stored;
    void *data;
};

struct state {
    size_t count;
    struct piece piece[STATE_MAX_PIECES];
};

/* Errors: a name that is empty, too long or taken (ERROR_USAGE), too many pieces (ERROR_LIMIT). */
enum error_code state_register(struct state *state, const char *name, void *data, size_t bytes,
                               struct error *error);

/* Size of the table, and of all pieces. */
uint64_t state_table_bytes(const struct state *state);
uint64_t state_data_bytes(const struct state *state);

/* The number of the piece in which all of these bytes lie; -1: there is none. */
int state_around(const struct state *state, const void *first, uint64_t bytes);

/* The pieces one after the other, state_data_bytes of them: as they are now, and back again. */
void state_copy(const struct state *state, void *to);
void state_put_back(const struct state *state, const void *from);

/* Append the table, and the pieces as they are now. */
enum error_code state_write_table(const struct state *state, struct durable_file *file,
                                  struct error *error);
enum error_code state_write_data(const struct state *state, struct durable_file *file,
                                 struct error *error);

/* Overwrites the pieces with what is stored, or changes nothing: ERROR_FORMAT when the stored names
 * or sizes are not those registered. `path` is for the error. */
enum error_code state_load(struct state *state, const void *stored, uint64_t bytes,
                           const char *path, struct error *error);

#endif
