/* system/process.h: all descendants are ended, and none sees another's death; threads that are
 * busy. */
#include "system/process.h"
#include "tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHERS 200
#define LOOKS 20000
#define LOOK_US 1000

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

/* --- threads ---------------------------------------------------------------------------------- */
static void *wait_for_child(void *nothing)
{
    /* Until the child has gone the kernel shows this thread as one that waits for a disk. */
    pid_t child = vfork();
    while (child == 0)
        pause();
    return nothing;
}

static void *sleep_on(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void *run_on(void *nothing)
{
    static volatile unsigned turns;
    for (;;)
        turns++;
    return nothing;
}

/* A process with a thread that does so; its main thread sleeps. */
static pid_t start_thread(void *(*run)(void *))
{
    pthread_t thread;
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        shared->ready++;
    for (;;)
        pause();
}

static void test_threads(void)
{
    static const struct {
        void *(*run)(void *);
        bool busy;
        const char *what;
    } tests[] = {{run_on, true, "one that runs is busy"},
                 {wait_for_child, true, "one that waits as for a disk is busy"},
                 {sleep_on, false, "one that sleeps is not"}};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        int looks = 0;
        shared->ready = 0;
        pid_t pid = start_thread(tests[i].run);
        while (shared->ready == 0)
            usleep(LOOK_US);
        while (process_has_busy_threads(pid) != tests[i].busy && ++looks < LOOKS)
            usleep(LOOK_US);
        check(looks < LOOKS, "%s", tests[i].what);
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

int main(void)
{
    int go[2], watched[2];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(go) != 0 || pipe(watched) != 0)
        return 1;
    test_threads();
    process_own_descendants();
    start(go, watched);
    while (shared->ready < WATCHERS)
        usleep(1000);
    process_end_descendants(NULL, NULL);
    check(shared->saw_it == 0, "%d of %d acted on the death of another", shared->saw_it, WATCHERS);
    return done();
}
