/* What the fuzz targets share: an input as a file, and facts that must hold whatever it is. A
 * target is one entry point for bad input; libFuzzer calls it with bytes. Only the sanitisers and
 * fuzz_check judge: an error is a fine answer, a crash, a leak or a lie is not. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_PATH_BYTES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Ends the process, so that libFuzzer keeps the input. */
#define fuzz_check(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The bytes as a file without a name; `path` leads to it until fuzz_close. */
static inline int fuzz_open(const void *data, size_t bytes, char path[FUZZ_PATH_BYTES])
{
    int file = memfd_create("input", MFD_CLOEXEC);
    fuzz_check(file >= 0);
    fuzz_check(write(file, data, bytes) == (ssize_t)bytes);
    snprintf(path, FUZZ_PATH_BYTES, "/proc/self/fd/%d", file);
    return file;
}

static inline void fuzz_close(int file)
{
    close(file);
}

/* A failure has a code and a text; OK has neither. */
static inline void fuzz_check_error(enum error_code code, const struct error *error)
{
    fuzz_check(code == error->code);
    fuzz_check((code == OK) == (error->text[0] == '\0'));
}

#endif
