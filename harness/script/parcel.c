/* See parcel.h. */
#include "script/parcel.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM_BYTES 4096

void parcel_init(struct parcel *parcel)
{
    *parcel = (struct parcel){0};
}

void parcel_release(struct parcel *parcel)
{
    free(parcel->bytes);
    parcel_init(parcel);
}

void parcel_clear(struct parcel *parcel)
{
    parcel->used = 0;
    parcel->taken = 0;
    parcel->bad = false;
}

static bool grow(struct parcel *parcel, size_t bytes)
{
    size_t room = parcel->room > 0 ? parcel->room : FIRST_ROOM_BYTES;
    while (room - parcel->used < bytes)
        if (__builtin_mul_overflow(room, 2, &room))
            return false;
    char *larger = realloc(parcel->bytes, room);
    if (larger == NULL)
        return false;
    parcel->bytes = larger;
    parcel->room = room;
    return true;
}

void parcel_put(struct parcel *parcel, const void *data, size_t bytes)
{
    if (parcel->bad || bytes == 0)
        return;
    if (parcel->room - parcel->used < bytes && !grow(parcel, bytes)) {
        parcel->bad = true;
        return;
    }
    memcpy(parcel->bytes + parcel->used, data, bytes);
    parcel->used += bytes;
}

void parcel_put_number(struct parcel *parcel, int64_t number)
{
    parcel_put(parcel, &number, sizeof number);
}

void parcel_put_text(struct parcel *parcel, const char *text, size_t length)
{
    parcel_put_number(parcel, (int64_t)length);
    parcel_put(parcel, text, length);
}

void parcel_take(struct parcel *parcel, void *data, size_t bytes)
{
    if (parcel->bad || parcel->used - parcel->taken < bytes) {
        parcel->bad = true;
        memset(data, 0, bytes);
        return;
    }
    memcpy(data, parcel->bytes + parcel->taken, bytes);
    parcel->taken += bytes;
}

int64_t parcel_take_number(struct parcel *parcel)
{
    int64_t number;
    parcel_take(parcel, &number, sizeof number);
    return number;
}

char *parcel_take_text(struct parcel *parcel)
{
    int64_t length = parcel_take_number(parcel);
    if (parcel->bad || length < 0 || (uint64_t)length > parcel->used - parcel->taken) {
        parcel->bad = true;
        return NULL;
    }
    char *text = memory_new((size_t)length + 1, 1);
    parcel_take(parcel, text, (size_t)length);
    return text;
}
