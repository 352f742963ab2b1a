/* See bytes.h. */
#include "common/base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 256

static bool make_room(struct bytes *bytes, size_t more)
{
    size_t room = bytes->room ? bytes->room : ROOM_FIRST;
    while (room - bytes->size < more && room <= SIZE_MAX / 2)
        room *= 2;
    char *data = room - bytes->size >= more ? realloc(bytes->data, room) : NULL;
    if (!data)
        return false;
    bytes->data = data;
    bytes->room = room;
    return true;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
    if (bytes->failed || size == 0)
        return;
    if (bytes->room - bytes->size < size && !make_room(bytes, size)) {
        bytes->failed = true;
        return;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void bytes_put_number(struct bytes *bytes, uint64_t number)
{
    bytes_put(bytes, &number, sizeof number);
}

void bytes_put_row(struct bytes *bytes, const void *data, size_t size)
{
    bytes_put_number(bytes, size);
    bytes_put(bytes, data, size);
}

void bytes_release(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

const void *reader_take(struct reader *reader, size_t size)
{
    if (reader->failed || size > reader->left) {
        *reader = (struct reader){.failed = true};
        return NULL;
    }
    const char *taken = reader->next;
    reader->next += size;
    reader->left -= size;
    return taken;
}

uint64_t reader_number(struct reader *reader)
{
    uint64_t number = 0;
    const void *stored = reader_take(reader, sizeof number);
    if (stored)
        memcpy(&number, stored, sizeof number);
    return number;
}

struct reader reader_row(struct reader *reader)
{
    uint64_t size = reader_number(reader);
    const void *row = reader_take(reader, size);
    return (struct reader){.next = row, .left = row ? size : 0, .failed = !row};
}
