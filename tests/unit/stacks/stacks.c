/* Call stacks of live processes: names of static functions, inside a signal handler, with signals
 * blocked; threads; processes that are not there. */
#include "stacks/stacks.h"
#include "stacks/kept_stacks.h"
#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function that the compiler leaves as it stands. */
#define OUTER __attribute__((noipa)) static int

/* ---- what the victims do. Each level adds to what it gets back, so that no call is a tail call.
 * ---- */

static int told = -1;     /* where a victim says that it is about to block */
static volatile int sink; /* what comes back is used */
static int until = -1;    /* what it blocks on */

OUTER block_in_read(int depth)
{
    char byte = 'x';
    if (write(told, &byte, 1) != 1 || read(until, &byte, 1) != 1)
        _exit(1);
    return depth + byte;
}

static inline __attribute__((always_inline)) int inlined_level(int depth)
{
    return block_in_read(depth + 1) + 1;
}

OUTER inner_level(int depth)
{
    return inlined_level(depth + 1) + depth;
}

OUTER outer_level(int depth)
{
    return inner_level(depth + 1) + depth;
}

OUTER deep_level(int depth)
{
    return depth == 0 ? outer_level(0) + 1 : (deep_level(depth - 1) & 0xffff) * 3 + depth;
}

__attribute__((noipa)) static void handler_that_blocks(int number)
{
    sink = block_in_read(number) + 1;
}

OUTER level_that_raises(int depth)
{
    return raise(SIGUSR1) + depth;
}

__attribute__((noipa)) static void victim_plain(void)
{
    sink = outer_level(1);
}

__attribute__((noipa)) static void victim_in_handler(void)
{
    struct sigaction action = {.sa_handler = handler_that_blocks};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sink = level_that_raises(1);
}

__attribute__((noipa)) static void victim_blocking_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sink = outer_level(1);
}

__attribute__((noipa)) static void victim_deep(void)
{
    sink = deep_level(100);
}

static void *other_thread(void *argument)
{
    pause();
    return argument;
}

__attribute__((noipa)) static void victim_with_threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other_thread, NULL);
    sink = outer_level(1);
}

/* ---- the test
 * ----------------------------------------------------------------------------------------- */

struct victim {
    pid_t pid;
    int release; /* write a byte: it ends with status 7 */
};

/* True once the process sleeps. */
static bool sleeps(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(file);
    return state == 'S';
}

static struct victim start(void (*body)(void))
{
    int say[2], hold[2];
    if (pipe(say) != 0 || pipe(hold) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        told = say[1];
        until = hold[0];
        close(hold[1]);
        body();
        _exit(7);
    }
    close(say[1]);
    close(hold[0]);
    char byte;
    if (read(say[0], &byte, 1) != 1)
        abort();
    close(say[0]);
    while (!sleeps(pid))
        usleep(1000);
    return (struct victim){pid, hold[1]};
}

/* It goes on after the stop, and ends as it would have. */
static bool ends_well(const struct victim *victim)
{
    int status = 0;
    bool told_it = write(victim->release, "", 1) == 1;
    close(victim->release);
    return told_it && waitpid(victim->pid, &status, 0) == victim->pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 7;
}

static char *stacks(const pid_t *pids, const int *ranks, size_t count, enum error_code *code)
{
    char *text = NULL;
    size_t bytes = 0;
    struct error error = {0};
    FILE *out = open_memstream(&text, &bytes);
    *code = stacks_write(pids, ranks, count, out, &error);
    if (*code != OK)
        fprintf(out, "error: %s\n", error.text);
    fclose(out);
    return text;
}

/* Each name of the list (0-terminated) stands in a line of its own, in that order. */
static bool in_order(const char *text, const char *const *names)
{
    for (; *names != NULL; names++) {
        text = strstr(text, *names);
        if (text == NULL)
            return false;
        text = strchr(text, '\n');
    }
    return true;
}

static void show(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (c == text || c[-1] == '\n')
            printf("# ");
        putchar(*c);
    }
}

static void test_one(const char *what, void (*body)(void), const char *const *names,
                     const char *absent)
{
    struct victim victim = start(body);
    enum error_code code;
    char *text = stacks(&victim.pid, (int[]){3}, 1, &code);
    char head[64];
    snprintf(head, sizeof head, "rank 3 (pid %d)\n  main thread\n", (int)victim.pid);
    bool good = code == OK && strncmp(text, head, strlen(head)) == 0 && in_order(text, names) &&
                (absent == NULL || strstr(text, absent) == NULL);
    if (!check(good, "%s", what))
        show(text);
    check(ends_well(&victim), "%s: it goes on afterwards", what);
    free(text);
}

static void test_several(void)
{
    struct victim a = start(victim_plain), b = start(victim_in_handler);
    pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT); /* a zombie now */
    enum error_code code;
    char *text = stacks((pid_t[]){a.pid, ended, b.pid}, (int[]){0, 1, 2}, 3, &code);
    static const char *const names[] = {
        "rank 0 (", "outer_level",         "rank 1 (", "no call stack: ",
        "rank 2 (", "handler_that_blocks", NULL};
    if (!check(code == OK && in_order(text, names), "several processes, one of them ended"))
        show(text);
    if (!check(strstr(text, "not to be stopped") == NULL, "the one that ended is not waited for"))
        show(text);
    free(text);
    check(ends_well(&a) && ends_well(&b), "they go on afterwards");
    waitpid(ended, NULL, 0);
    text = stacks(&ended, (int[]){1}, 1, &code);
    if (!check(code == ERROR_IO && strstr(text, "error: process ") != NULL,
               "none at all: an error"))
        show(text);
    free(text);
    free(stacks(NULL, NULL, 0, &code));
    check(code == OK, "nothing asked for is no error");
}

static bool registers_are_gone;

/* In place of libc's, for libdw: a thread that is killed once it has been stopped has no registers
 * any more. */
long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *), *data = va_arg(arguments, void *);
    va_end(arguments);
    bool peeks = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA;
    bool stops = request == PTRACE_ATTACH || request == PTRACE_CONT || request == PTRACE_DETACH;
    if (registers_are_gone && !peeks && !stops) {
        errno = ESRCH;
        return -1;
    }
    long word = 0;
    long result = syscall(SYS_ptrace, request, pid, address, peeks ? (void *)&word : data);
    return peeks && result == 0 ? word : result;
}

/* libdw ends the process that goes on with another thread after such a one. */
static void test_dying(void)
{
    struct victim victim = start(victim_with_threads);
    enum error_code code;
    registers_are_gone = true;
    char *text = stacks(&victim.pid, (int[]){0}, 1, &code);
    registers_are_gone = false;
    check(code == ERROR_IO && strstr(text, "error: process") != NULL,
          "a process that dies while it is looked at has no stacks");
    check(ends_well(&victim), "it is let go");
    free(text);
}

/* In stacks.txt an event has a line of its own ahead of its stack. */
static void test_kept(void)
{
    char folder[] = "/tmp/stacks-XXXXXX", name[sizeof folder + sizeof "/stacks.txt"];
    struct event_list fifth = {.event = {{.rank = 1, .index = 5}}, .count = 1};
    struct event_list other = {.event = {{.rank = 1, .index = 53}}, .count = 1};
    check(mkdtemp(folder) != NULL, "there is a folder");
    snprintf(name, sizeof name, "%s/stacks.txt", folder);
    FILE *out = fopen(name, "w");
    if (out != NULL) {
        fputs("r1#0:e53\n  #0  main\n", out);
        fclose(out);
    }
    check(kept_stacks_have(folder, &other), "the stack of an event is there");
    check(!kept_stacks_have(folder, &fifth), "that of event 53 is not that of event 5");
    remove(name);
    rmdir(folder);
}

int main(void)
{
    static const char *const plain[] = {"read",
                                        "block_in_read at stacks.c:",
                                        "inlined_level at stacks.c:",
                                        "inner_level at stacks.c:",
                                        "outer_level",
                                        "victim_plain",
                                        "main",
                                        NULL};
    test_one("static and inlined functions have their names", victim_plain, plain, "_start");
    static const char *const handler[] = {"block_in_read",     "handler_that_blocks", "raise",
                                          "level_that_raises", "victim_in_handler",   NULL};
    test_one("inside a signal handler", victim_in_handler, handler, NULL);
    static const char *const blocked[] = {"block_in_read", "outer_level", "victim_blocking_signals",
                                          NULL};
    test_one("with every signal blocked", victim_blocking_signals, blocked, NULL);
    static const char *const deep[] = {"block_in_read", "outer_level",         "deep_level",
                                       "#31",           "more than 32 frames", NULL};
    test_one("a deep stack is cut", victim_deep, deep, "#32");
    static const char *const threads[] = {"outer_level", "1 other thread outside of MPI", NULL};
    test_one("other threads are only counted", victim_with_threads, threads, "other_thread");
    test_several();
    test_dying();
    test_kept();
    return done();
}
