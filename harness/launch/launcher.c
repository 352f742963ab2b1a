/* What the kinds of launchers have in common: a process that everything descends from. */
#include "launch/launcher.h"

#include "base/regular_file.h"
#include "board/mpich_ulfm.h"
#include "launch/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the launcher itself says goes to a file: standard output carries TAP alone. */
static bool redirect(const struct launch_order *order)
{
    struct path path;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        return false;
    if (path_format(&path, NULL, "%s/output/launcher", order->folder) != OK)
        return false;
    int file;
    return regular_extend(path.text, &file, NULL) == OK && dup2(file, STDOUT_FILENO) >= 0 &&
           dup2(file, STDERR_FILENO) >= 0;
}

enum error_code launcher_find(const struct launcher *self, struct path *command,
                              struct error *error)
{
    return path_command(self->name, self->variable, command, error);
}

enum error_code launcher_fork(const struct launcher *self, const struct launch_order *order,
                              struct launched *launched, struct error *error)
{
    pid_t driver = getpid();
    launched->pid = fork();
    if (launched->pid < 0) {
        launched->pid = 0;
        return error_set(error, ERROR_LAUNCH, "cannot fork: %s", strerror(errno));
    }
    if (launched->pid > 0)
        return OK;
    setpgid(0, 0);
    if (!process_die_with(driver, SIGKILL) || !redirect(order))
        _exit(EXIT_NOT_STARTED);
    order_forget_outer_run();
    order_forget_batch_job();
    process_reset_signals(order->mask);
    self->become(order, driver);
    _exit(EXIT_NOT_STARTED);
}

bool launcher_has_ended(struct launched *launched)
{
    return launched->ended;
}

void launcher_end_all(struct launched *launched, process_reaped *reaped, void *context)
{
    (void)launched; /* there is no other process below the driver */
    process_end_descendants(reaped, context);
}

void launcher_explain(const struct launched *launched, const struct launch_order *order, char *text,
                      size_t bytes)
{
    size_t used = strlen(text);
    int status = launched->wait_status;
    if (launched->left && WIFSIGNALED(status))
        snprintf(text + used, bytes - used, " (%s was ended by SIG%s)", order->launcher,
                 sigabbrev_np(WTERMSIG(status)));
    else if (launched->left)
        snprintf(text + used, bytes - used, " (%s exited with status %d; see %s/output/launcher)",
                 order->launcher, WEXITSTATUS(status), order->shown);
    else
        snprintf(text + used, bytes - used, " (see %s/output/launcher)", order->shown);
}

static const struct launcher *of_library(void)
{
    const struct launcher *own = &LAUNCHER_OF_LIBRARY;
    return own->hides_deaths && mpich_has_ulfm() ? &launcher_hydra_ulfm : own;
}

const struct launcher *launcher_of(const char *engine)
{
    return engine != NULL && strcmp(engine, launcher_step.name) == 0 ? &launcher_step
                                                                     : of_library();
}
