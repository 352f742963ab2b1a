/* Ending all descendants (system/process.h): none of them sees another's death. */
#include "system/process.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WATCHERS 200

/* What the children write, so that it is seen at once. */
static struct {
    _Atomic int ready;
    _Atomic int saw_it; /* watchers that were told of the end of the one that they watch */
} * shared;

/* Ends when the pipe does: when the process that holds its other end has gone. */
static void watch(int pipe)
{
    char byte;
    shared->ready++;
    if (read(pipe, &byte, 1) == 0)
        shared->saw_it++;
    for (;;)
        pause();
}

/* The first child holds the pipes of all others, which are ended after it: it has the lowest pid.
 */
static void start(int go[2], int watched[2])
{
    char byte;
    pid_t first = fork();
    if (first == 0) {
        close(go[1]);
        close(watched[0]);
        while (read(go[0], &byte, 1) > 0)
            ;
        for (;;)
            pause();
    }
    close(watched[1]);
    for (int i = 0; first > 0 && i < WATCHERS; i++)
        if (fork() == 0)
            watch(watched[0]);
}

int main(void)
{
    int go[2], watched[2];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(go) != 0 || pipe(watched) != 0)
        return 1;
    process_own_descendants();
    start(go, watched);
    while (shared->ready < WATCHERS)
        usleep(1000);
    process_end_descendants(NULL, NULL);
    check(shared->saw_it == 0, "%d of %d acted on the death of another", shared->saw_it, WATCHERS);
    return done();
}
