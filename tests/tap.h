/* Unit tests in C print TAP: check() per fact, done() last. A test with no checks fails. */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

#define check(condition, ...) tap_check((condition), __FILE__, __LINE__, #condition, __VA_ARGS__)

__attribute__((format(printf, 5, 6))) static inline bool
tap_check(bool good, const char *file, int line, const char *what, const char *format, ...)
{
    printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    vprintf(format, arguments);
    __builtin_va_end(arguments);
    printf("\n");
    if (!good) {
        printf("# %s:%d: %s\n", file, line, what);
        tap_failed++;
    }
    return good;
}

/* A fact that cannot be looked at here, and why. */
static inline void skip(const char *what, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
}

/* The value that main returns. */
static inline int done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed > 0 || tap_count == 0;
}

#endif
