/* See serial.h. */
#include "script/serial.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM_BYTES 4096

void serial_init(struct serial *serial)
{
    *serial = (struct serial){0};
}

void serial_release(struct serial *serial)
{
    free(serial->bytes);
    serial_init(serial);
}

void serial_clear(struct serial *serial)
{
    serial->used = 0;
    serial->taken = 0;
    serial->bad = false;
}

static bool grow(struct serial *serial, size_t bytes)
{
    size_t room = serial->room > 0 ? serial->room : FIRST_ROOM_BYTES;
    while (room - serial->used < bytes)
        if (__builtin_mul_overflow(room, 2, &room))
            return false;
    char *larger = realloc(serial->bytes, room);
    if (larger == NULL)
        return false;
    serial->bytes = larger;
    serial->room = room;
    return true;
}

void serial_put(struct serial *serial, const void *data, size_t bytes)
{
    if (serial->bad || bytes == 0)
        return;
    if (serial->room - serial->used < bytes && !grow(serial, bytes)) {
        serial->bad = true;
        return;
    }
    memcpy(serial->bytes + serial->used, data, bytes);
    serial->used += bytes;
}

void serial_put_number(struct serial *serial, int64_t number)
{
    serial_put(serial, &number, sizeof number);
}

void serial_put_text(struct serial *serial, const char *text, size_t length)
{
    serial_put_number(serial, (int64_t)length);
    serial_put(serial, text, length);
}

void serial_take(struct serial *serial, void *data, size_t bytes)
{
    if (serial->bad || serial->used - serial->taken < bytes) {
        serial->bad = true;
        memset(data, 0, bytes);
        return;
    }
    memcpy(data, serial->bytes + serial->taken, bytes);
    serial->taken += bytes;
}

int64_t serial_take_number(struct serial *serial)
{
    int64_t number;
    serial_take(serial, &number, sizeof number);
    return number;
}

char *serial_take_text(struct serial *serial)
{
    int64_t length = serial_take_number(serial);
    if (serial->bad || length < 0 || (uint64_t)length > serial->used - serial->taken) {
        serial->bad = true;
        return NULL;
    }
    char *text = memory_new((size_t)length + 1, 1);
    serial_take(serial, text, (size_t)length);
    return text;
}
