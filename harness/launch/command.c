/* See command.h. */
#include "launch/command.h"

#include "launch/rank.h"
#include "system/process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* As a shell says it. */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

struct command {
    pid_t pid;
    bool ended;
    int wait_status;
    int signals;   /* signalfd */
    sigset_t mask; /* as it was */
    int passed_on; /* the signal, 0 none */
    const struct path *run;
    const struct lookout *lookout; /* NULL: none */
};

static enum error_code block_signals(struct command *command, struct error *error)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    process_add_unless_ignored(&signals, SIGTERM);
    process_add_unless_ignored(&signals, SIGINT);
    process_add_unless_ignored(&signals, SIGQUIT);
    process_add_unless_ignored(&signals, SIGHUP);
    command->signals = process_signals(&signals, &command->mask);
    return command->signals >= 0 ? OK
                                 : error_set(error, ERROR_LAUNCH, "signalfd: %s", strerror(errno));
}

_Noreturn static void become(const struct command *command, const char *preload, char **words)
{
    sigprocmask(SIG_SETMASK, &command->mask, NULL);
    setenv("FAULTLINE_RUN", command->run->text, 1);
    setenv("LD_PRELOAD", preload, 1);
    execvp(words[0], words);
    int reason = errno;
    fprintf(stderr, "faultline: cannot start %s: %s\n", words[0], strerror(reason));
    _exit(reason == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static void note_reaped(void *context, pid_t pid, int wait_status)
{
    struct command *command = context;
    if (pid != command->pid)
        return;
    command->ended = true;
    command->wait_status = wait_status;
}

/* A terminal sends its signals to the whole group, the command included. */
static void handle_signal(struct command *command, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGCHLD)
        process_reap(note_reaped, command);
    else if (info->ssi_code == SI_KERNEL)
        return;
    else if (command->passed_on != 0)
        process_end_descendants(note_reaped, command);
    else
        kill(command->pid, command->passed_on = (int)info->ssi_signo);
}

/* A command that was asked to end is left to do so. */
static bool is_to_be_ended(const struct command *command)
{
    const struct lookout *lookout = command->lookout;
    return lookout != NULL && !command->ended && command->passed_on == 0 &&
           lookout->look(lookout->context, command->run);
}

static void wait_for_end(struct command *command)
{
    struct pollfd look = {.fd = command->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    while (!command->ended) {
        poll(&look, 1, command->lookout != NULL ? command->lookout->period_ms : -1);
        while (!command->ended && read(command->signals, &info, sizeof info) == sizeof info)
            handle_signal(command, &info);
        if (is_to_be_ended(command)) {
            process_end_descendants(note_reaped, command);
            command->wait_status = command->lookout->status << 8;
            return;
        }
    }
    if (command->passed_on == 0)
        return;
    process_end_descendants(NULL, NULL);
    if (command->wait_status == 0) /* as MPICH's mpiexec does: ended, and content with it */
        command->wait_status = command->passed_on;
}

enum error_code command_run(const struct path *run, char **words, const struct lookout *lookout,
                            int *wait_status, struct error *error)
{
    struct command command = {.signals = -1, .run = run, .lookout = lookout};
    struct path library;
    enum error_code code = path_library(&library, error);
    char *preload = code == OK ? rank_preload(library.text) : NULL;
    if (preload == NULL)
        return code != OK ? code : error_set(error, ERROR_MEMORY, "out of memory");
    process_own_descendants();
    code = block_signals(&command, error);
    if (code == OK) {
        command.pid = fork();
        if (command.pid == 0)
            become(&command, preload, words);
        if (command.pid < 0)
            code = error_set(error, ERROR_LAUNCH, "cannot fork: %s", strerror(errno));
    }
    free(preload);
    if (code == OK)
        wait_for_end(&command);
    if (command.signals >= 0)
        close(command.signals);
    *wait_status = command.wait_status;
    return code;
}
