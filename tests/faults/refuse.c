/* Preloaded into a command of ours: allocation number FAULTS_REFUSE of its process (of whatever
 * library) is refused, once. Then the file FAULTS_TOLD is made: so the caller knows that there was
 * such an allocation. Children that run another program are spared. glibc only. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static _Atomic long left; /* allocations until the one that is refused; 0 or less: none */
static const char *told;

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAULTS_REFUSE");
    told = getenv("FAULTS_TOLD");
    unsetenv("LD_PRELOAD");
    if (number != NULL && told != NULL)
        atomic_store(&left, strtol(number, NULL, 10));
}

static bool is_refused(void)
{
    if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
        return false;
    int file = open(told, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return is_refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    return is_refused() ? NULL : __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused() ? NULL : __libc_memalign(alignment, bytes);
}
