/* Numbers and texts in a row of bytes, to hand them from a process to the one it was forked from.
 * Both ends are the same program, so the bytes need no version and no byte order.
 *
 * Must not know: Lua, scenarios, pipes. */
#ifndef SCRIPT_PARCEL_H
#define SCRIPT_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owned by the caller. Once `bad` is true (out of memory while putting, too short while taking) it
 * stays so, and every further call does nothing: check it once, at the end. */
struct parcel {
    char *bytes;
    size_t used;
    size_t room;
    size_t taken; /* read so far */
    bool bad;
};

void parcel_init(struct parcel *parcel);
void parcel_release(struct parcel *parcel);
void parcel_clear(struct parcel *parcel); /* empties it, keeps the memory */

void parcel_put(struct parcel *parcel, const void *data, size_t bytes);
void parcel_put_number(struct parcel *parcel, int64_t number);
void parcel_put_text(struct parcel *parcel, const char *text, size_t length);

/* Zeros when the parcel is bad. */
void parcel_take(struct parcel *parcel, void *data, size_t bytes);
int64_t parcel_take_number(struct parcel *parcel);

/* A copy, terminated, owned by the caller (free); NULL when the parcel is bad. */
char *parcel_take_text(struct parcel *parcel);

#endif
