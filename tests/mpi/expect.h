/* What the MPI test programs share: expect() says what is wrong and goes on, expect_end() is the
 * value that main returns. */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include <stdio.h>

static int expect_failed;

#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                         \
            expect_failed = 1;                                                                     \
        }                                                                                          \
    } while (0)

static inline int expect_end(const char *name, int rank)
{
    printf("%s: rank %d %s\n", name, rank, expect_failed ? "failed" : "ok");
    return expect_failed;
}

#endif
