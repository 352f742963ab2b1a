/* Call stacks out of snapshots: taken by a process of itself and from outside, walked when it is
 * gone; files that are no snapshots. */
#include "stacks/unwind.h"
#include "stacks/snapshot.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUTER __attribute__((noipa)) static int /* the compiler leaves it as it stands */
#define HUGE_BYTES (SNAPSHOT_STACK_MOST * 2)

static char folder[] = "/tmp/faultline-unwind-XXXXXX";
static char own[PATH_MAX], other[PATH_MAX], bad[PATH_MAX];
static volatile int sink; /* what comes back is used: no call is a tail call */

/* --- where they stand ------------------------------------------------------------------------- */
OUTER innermost(int depth)
{
    return snapshot_take(own) ? depth + 1 : -1;
}

static inline __attribute__((always_inline)) int inlined_level(int depth)
{
    return innermost(depth + 1) + 1;
}

OUTER middle_level(int depth)
{
    return inlined_level(depth + 1) + depth;
}

OUTER level_with_much(int depth)
{
    volatile char much[HUGE_BYTES];
    for (size_t i = 0; i < sizeof much; i += 4096)
        much[i] = (char)depth;
    return innermost(much[4096]) + much[0];
}

OUTER spinning_level(int told)
{
    if (write(told, "x", 1) != 1)
        _exit(1);
    for (;;)
        sink++;
    return sink;
}

/* --- helpers ---------------------------------------------------------------------------------- */
static char *unwound(const char *path, enum error_code *code)
{
    char *text = NULL;
    size_t bytes = 0;
    struct error error = {0};
    FILE *out = open_memstream(&text, &bytes);
    *code = unwind_write(path, out, &error);
    if (*code != OK)
        fprintf(out, "error: %s\n", error.text);
    fclose(out);
    return text;
}

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

static void test_text(const char *what, const char *path, const char *const *names)
{
    enum error_code code;
    char *text = unwound(path, &code);
    if (!check(code == OK && in_order(text, names), "%s", what))
        printf("# %s\n", text);
    free(text);
}

static void test_refused(const char *what, const char *path, enum error_code expected)
{
    enum error_code code;
    char *text = unwound(path, &code);
    if (!check(code == expected && strstr(text, "#0") == NULL, "%s", what))
        printf("# %s\n", text);
    free(text);
}

/* --- tests ------------------------------------------------------------------------------------ */
static void test_own(void)
{
    static const char *const names[] = {"innermost at unwind.c:", "inlined_level at unwind.c:",
                                        "middle_level at unwind.c:", "main at unwind.c:", NULL};
    pid_t pid = fork();
    if (pid == 0)
        _exit(middle_level(1) > 0 ? 0 : 1);
    int status;
    waitpid(pid, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process takes one of itself, goes on");
    test_text("and is walked when it is gone: static and inlined functions", own, names);
    check(!snapshot_take(own), "what is there is not written over");
}

static void test_other(void)
{
    static const char *const names[] = {"spinning_level at unwind.c:", "main at unwind.c:", NULL};
    int told[2], status;
    char byte;
    if (pipe(told) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0)
        _exit(spinning_level(told[1]));
    if (read(told[0], &byte, 1) != 1)
        abort();
    check(snapshot_take_of(pid, other), "of a child that runs");
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
        ;
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "which is killed then");
    test_text("and walked afterwards", other, names);
    check(!snapshot_take_of(pid, bad) && access(bad, F_OK) != 0, "of one that is gone: no file");
}

/* Emulators of a processor have none. */
static bool ptrace_is_there(void)
{
    return ptrace(PTRACE_SEIZE, 0, NULL, NULL) == 0 || errno != ENOSYS;
}

/* What lies further out than is kept is left out: the innermost is there. */
static void test_deep(void)
{
    static const char *const names[] = {"innermost at unwind.c:", "level_with_much", NULL};
    unlink(own);
    check(level_with_much(1) > 0, "of a stack that is larger than what is kept");
    test_text("the innermost frames are there", own, names);
    struct stat status;
    check(stat(own, &status) == 0 && status.st_size < (off_t)HUGE_BYTES, "and not all of it");
}

static void write_bad(const void *data, size_t bytes)
{
    int file = open(bad, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
        abort();
    close(file);
}

static void test_bad(void)
{
    struct snapshot snapshot = {.magic = SNAPSHOT_MAGIC, .version = SNAPSHOT_VERSION + 1};
    test_refused("no file", "/nowhere/at/all", ERROR_IO);
    write_bad("hello", 5);
    test_refused("a short file", bad, ERROR_FORMAT);
    write_bad(&snapshot, sizeof snapshot);
    test_refused("another version", bad, ERROR_VERSION);
    snapshot.version = SNAPSHOT_VERSION;
    snapshot.stack_bytes = 100;
    write_bad(&snapshot, sizeof snapshot);
    test_refused("a cut one", bad, ERROR_FORMAT);
    snapshot.stack_bytes = UINT64_MAX;
    write_bad(&snapshot, sizeof snapshot);
    test_refused("one that says that it is endless", bad, ERROR_FORMAT);
    snapshot.stack_bytes = 0;
    snapshot.registers.count = REGISTERS_MOST + 1;
    write_bad(&snapshot, sizeof snapshot);
    test_refused("one of more registers than any processor has", bad, ERROR_FORMAT);
    snapshot.registers.count = 0;
    write_bad(&snapshot, sizeof snapshot);
    test_refused("one without anything in it", bad, ERROR_IO);
}

/* A file that was changed since would give wrong names. */
static void test_changed(void)
{
    struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    utimensat(AT_FDCWD, other, long_ago, 0);
    test_refused("a program that was changed since", other, ERROR_VERSION);
    struct stat program;
    if (stat("/proc/self/exe", &program) != 0)
        abort();
    struct timespec just_before = program.st_mtim; /* as a rule in the same second */
    just_before.tv_sec -= just_before.tv_nsec == 0;
    just_before.tv_nsec -= just_before.tv_nsec != 0;
    utimensat(AT_FDCWD, other, (struct timespec[2]){just_before, just_before}, 0);
    test_refused("a program that was changed a moment later", other, ERROR_VERSION);
    utimensat(AT_FDCWD, other, (struct timespec[2]){program.st_mtim, program.st_mtim}, 0);
    test_text("a program that is as old as the snapshot is walked", other,
              (const char *const[]){"spinning_level at unwind.c:", NULL});
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(own, sizeof own, "%s/own", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(bad, sizeof bad, "%s/bad", folder);
    bool traces = ptrace_is_there();
    if (!traces)
        skip("of a child that runs; of a program that was changed since", "no ptrace here");
    test_own();
    if (traces)
        test_other();
    test_deep();
    test_bad();
    if (traces)
        test_changed();
    unlink(own);
    unlink(other);
    unlink(bad);
    rmdir(folder);
    return done();
}
