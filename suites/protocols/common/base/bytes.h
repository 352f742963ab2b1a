/* A row of bytes that grows as values are appended, and its reading again: what protocols put into
 * their files and exchange at recovery. Values are stored as the machine has them; the files'
 * headers show another byte order (durable.h). Must not know: MPI, files, what the values mean. */
#ifndef COMMON_BASE_BYTES_H
#define COMMON_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. Once memory ran short `failed` is set and nothing is appended any more. */
struct bytes {
    char *data; /* owned */
    size_t size;
    size_t room;
    bool failed;
};

/* Append: bytes as they are; 8 bytes. */
void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_put_number(struct bytes *bytes, uint64_t number);
/* A size in front of them. */
void bytes_put_row(struct bytes *bytes, const void *data, size_t size);
/* Empty again, nothing kept. */
void bytes_release(struct bytes *bytes);

/* What is left to read. Once something was asked for that is not there, `failed` is set and every
 * answer is 0 or NULL: check once, at the end. The bytes are not owned. */
struct reader {
    const char *next;
    size_t left;
    bool failed;
};

/* NULL: so much is not there. Not aligned. */
const void *reader_take(struct reader *reader, size_t size);
uint64_t reader_number(struct reader *reader);
/* What bytes_put_row appended. */
struct reader reader_row(struct reader *reader);

#endif
