/* See image.h. */
#include "common/messages/image.h"

#include "common/base/fresh.h"
#include "common/messages/layer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct state state;
    char *memory; /* owned */
    uint64_t bytes;
} image;

/* After one another. */
static void lay_out(const struct state *program)
{
    char *next = image.memory;
    image.state = *program;
    for (size_t i = 0; i < image.state.count; i++) {
        image.state.piece[i].data = next;
        next += image.state.piece[i].as_stored.bytes;
    }
}

struct state *image_room(const struct state *program)
{
    uint64_t bytes = state_data_bytes(program);
    if (!image.memory || bytes != image.bytes) {
        free(image.memory);
        image.memory = fresh_memory(bytes);
        image.bytes = bytes;
    }
    if (!image.memory)
        die("out of memory for an image of %" PRIu64 " bytes of state", bytes);
    lay_out(program);
    return &image.state;
}

void image_copy(const struct state *program)
{
    const struct state *copy = image_room(program);
    for (size_t i = 0; i < program->count; i++)
        if (program->piece[i].as_stored.bytes > 0)
            memcpy(copy->piece[i].data, program->piece[i].data, program->piece[i].as_stored.bytes);
}

const struct state *image_state(void)
{
    return &image.state;
}
