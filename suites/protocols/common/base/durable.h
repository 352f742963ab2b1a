/* A file that is there whole or not at all. It is written under a temporary name, brought to stable
 * storage, and only then given its own name: a crash at any moment leaves what was there before.
 * A checksum over everything tells a damaged file from a good one. Must not know: MPI, Faultline,
 * what the bytes mean.
 *
 * On disk: struct durable_header, `bytes` bytes of payload, XXH3 64 of all that (8 bytes). */
#ifndef COMMON_BASE_DURABLE_H
#define COMMON_BASE_DURABLE_H

#define XXH_INLINE_ALL
#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

#define DURABLE_VERSION 1u
#define DURABLE_BYTE_ORDER 0x01020304u
#define DURABLE_KIND_BYTES 8
#define DURABLE_SUFFIX ".new" /* of the temporary name */

struct durable_header {
    char kind[DURABLE_KIND_BYTES]; /* what the payload is; 0-padded */
    uint32_t version;              /* DURABLE_VERSION */
    uint32_t byte_order;           /* DURABLE_BYTE_ORDER as the writer's machine stores it */
    uint64_t bytes;                /* of the payload */
};

/* One file being written. Closed when fd is -1. */
struct durable_file {
    int fd;
    uint64_t left; /* payload bytes still to come */
    XXH3_state_t hash;
    char path[PATH_MAX];
    char temporary[PATH_MAX];
};

/* Begins a file of exactly `bytes` payload bytes; `kind` has at most DURABLE_KIND_BYTES characters.
 * The folder must exist. After an error the file is closed and `path` is what it was. */
enum error_code durable_create(struct durable_file *file, const char *path, const char *kind,
                               uint64_t bytes, struct error *error);

/* Appends to the payload. */
enum error_code durable_write(struct durable_file *file, const void *data, uint64_t bytes,
                              struct error *error);

/* The payload is complete: adds the checksum and waits until all is on stable storage, still under
 * the temporary name. Closes the file. */
enum error_code durable_finish(struct durable_file *file, struct error *error);

/* Gives the finished file its name, in place of what had it, and waits until that is stable too. */
enum error_code durable_publish(struct durable_file *file, struct error *error);

/* Makes every folder of the path that is not there, and waits until its name is stable: what is in
 * a folder is lost with it. */
enum error_code durable_folder(const char *path, struct error *error);

/* Whether there is anything at `path`, readable or not. */
bool durable_exists(const char *path);

/* Reads and checks a whole file. *payload is owned by the caller: free. Errors name the path and
 * what is wrong with the file: ERROR_FORMAT (foreign, truncated, damaged), ERROR_VERSION, ERROR_IO,
 * ERROR_MEMORY. */
enum error_code durable_read(const char *path, const char *kind, void **payload, uint64_t *bytes,
                             struct error *error);

#endif
