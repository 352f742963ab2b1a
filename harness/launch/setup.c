/* See setup.h. */
#include "launch/setup.h"

#include "base/memory.h"
#include "system/process.h"
#include "trace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 127 /* as a shell says it */
#define LOOK_MS 1000     /* how long the deadline may go unnoticed */

/* A command with '/' is found as programs are, another on the PATH. */
static enum error_code find(const struct scenario *scenario, struct path *path, struct error *error)
{
    return strchr(scenario->setup[0], '/') != NULL
               ? path_program(scenario->setup[0], scenario->file, path, error)
               : path_format(path, error, "%s", scenario->setup[0]);
}

static bool is_redirected(const struct launch *launch)
{
    struct path path;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        return false;
    int out = STDERR_FILENO; /* standard output is the command's */
    if (launch->capture)
        out = path_format(&path, NULL, "%s/output/setup", launch->folder) == OK
                  ? open(path.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                  : -1;
    return out >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0;
}

static _Noreturn void become(const struct launch *launch, const char *command)
{
    const struct scenario *scenario = launch->scenario;
    char **words = memory_new(scenario->setup_count + 1, sizeof *words);
    memcpy(words, scenario->setup, scenario->setup_count * sizeof *words);
    for (size_t i = 0; i < scenario->environment_count; i++)
        putenv(scenario->environment[i]);
    setenv("FAULTLINE_FILES", launch->files, 1);
    setenv("FAULTLINE_RANKS", memory_format("%d", scenario->ranks), 1);
    setsid();
    process_reset_signals(&launch->mask);
    if (is_redirected(launch))
        execvp(command, words);
    _exit(CANNOT_START);
}

/* Waits for the end of the command or of the launch. 0: the deadline has passed; else the signal
 * that this process got, SIGCHLD where the command has ended. */
static int wait_for(pid_t pid, const struct launch *launch, int *wait_status)
{
    struct pollfd look = {.fd = launch->signals, .events = POLLIN};
    while (clock_monotonic_ns() < launch->deadline_ns) {
        struct signalfd_siginfo info;
        if (waitpid(pid, wait_status, WNOHANG) == pid)
            return SIGCHLD;
        poll(&look, 1, LOOK_MS);
        while (read(launch->signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo != SIGCHLD)
                return (int)info.ssi_signo;
    }
    return 0;
}

static enum launch_end end_of(const struct launch *launch, int wait_status, char *text,
                              size_t bytes)
{
    const char *command = launch->scenario->setup[0];
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
        return LAUNCH_FINISHED;
    if (WIFSIGNALED(wait_status))
        snprintf(text, bytes, "setup: %s was ended by SIG%s", command,
                 sigabbrev_np(WTERMSIG(wait_status)));
    else
        snprintf(text, bytes,
                 "setup: %s exited with status %d%s; what it printed is in %s/output/setup",
                 command, WEXITSTATUS(wait_status),
                 WEXITSTATUS(wait_status) == CANNOT_START ? " (it cannot be started)" : "",
                 launch->shown);
    return LAUNCH_VOID;
}

enum launch_end setup_run(const struct launch *launch, char *text, size_t bytes)
{
    struct path command;
    struct error error = {0};
    int wait_status = 0;
    if (launch->scenario->setup_count == 0)
        return LAUNCH_FINISHED;
    if (find(launch->scenario, &command, &error) != OK) {
        snprintf(text, bytes, "setup: %s", error.text);
        return LAUNCH_VOID;
    }
    fflush(NULL); /* or the child would print it once more */
    pid_t pid = fork();
    if (pid == 0)
        become(launch, command.text);
    if (pid < 0) {
        snprintf(text, bytes, "setup: fork: %s", strerror(errno));
        return LAUNCH_VOID;
    }
    int ended_by = wait_for(pid, launch, &wait_status);
    kill(-pid, SIGKILL);
    if (ended_by == SIGCHLD)
        return end_of(launch, wait_status, text, bytes);
    kill(pid, SIGKILL); /* it may not have its own group yet */
    waitpid(pid, NULL, 0);
    if (ended_by != 0) {
        snprintf(text, bytes, "interrupted by SIG%s", sigabbrev_np(ended_by));
        return LAUNCH_INTERRUPTED;
    }
    snprintf(text, bytes, "setup: %s did not end in the %g s of the run",
             launch->scenario->setup[0], launch->timeout_s);
    return LAUNCH_VOID;
}
