/* See tool.h. */
#include "system/tool.h"

#include "system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_THERE 127 /* as a shell says it */
#define REST_BYTES 4096

static _Noreturn void become(const char *const *arguments, int out)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    process_reset_signals(&none);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        execvp(arguments[0], (char *const *)arguments);
    _exit(NOT_THERE);
}

/* To the end: a command that cannot write would be ended by that. */
static void read_all(int in, char *text, size_t bytes)
{
    char rest[REST_BYTES];
    size_t used = 0;
    for (;;) {
        bool full = used + 1 == bytes;
        ssize_t count =
            full ? read(in, rest, sizeof rest) : read(in, text + used, bytes - 1 - used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        used += full ? 0 : (size_t)count;
    }
    text[used] = '\0';
}

enum error_code tool_run(const char *const *arguments, char *text, size_t bytes,
                         struct error *error)
{
    int ends[2], status;
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, ERROR_LAUNCH, "%s: pipe: %s", arguments[0], strerror(errno));
    fflush(NULL); /* or the child would print it once more */
    pid_t pid = fork();
    if (pid == 0)
        become(arguments, ends[1]);
    close(ends[1]);
    if (pid > 0)
        read_all(ends[0], text, bytes);
    close(ends[0]);
    if (pid < 0)
        return error_set(error, ERROR_LAUNCH, "%s: cannot fork: %s", arguments[0], strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return OK;
    int length = (int)strcspn(text, "\n");
    if (WIFEXITED(status))
        return error_set(error, ERROR_LAUNCH, "%s exited with status %d: %.*s", arguments[0],
                         WEXITSTATUS(status), length, text);
    return error_set(error, ERROR_LAUNCH, "%s was ended by SIG%s: %.*s", arguments[0],
                     sigabbrev_np(WTERMSIG(status)), length, text);
}
