/* Numbers and texts in a row of bytes, to hand them from a process to the one it was forked from.
 * Both ends are the same program, so the bytes need no version and no byte order.
 *
 * Must not know: Lua, scenarios, pipes. */
#ifndef SCRIPT_SERIAL_H
#define SCRIPT_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owned by the caller. Once `bad` is true (out of memory while putting, too short while taking) it
 * stays so, and every further call does nothing: check it once, at the end. */
struct serial {
    char *bytes;
    size_t used;
    size_t room;
    size_t taken; /* read so far */
    bool bad;
};

/* Empty. To be released. */
void serial_init(struct serial *serial);
void serial_release(struct serial *serial);
void serial_clear(struct serial *serial); /* empties it, keeps the memory */

/* Append: bytes as they are; 8 bytes; `length` bytes of text, which need not be terminated. */
void serial_put(struct serial *serial, const void *data, size_t bytes);
void serial_put_number(struct serial *serial, int64_t number);
void serial_put_text(struct serial *serial, const char *text, size_t length);

/* Zeros when the serial is bad. */
void serial_take(struct serial *serial, void *data, size_t bytes);
int64_t serial_take_number(struct serial *serial);

/* A copy, terminated, owned by the caller (free); NULL when the serial is bad. */
char *serial_take_text(struct serial *serial);

#endif
