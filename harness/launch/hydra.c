/* MPICH's mpiexec. It starts a process on each host, which starts the parent of each rank
 * (rank.h), which starts the rank. When a rank ends badly it ends the others by itself. */
#include "launch/launcher.h"

#include "base/regular_file.h"
#include "launch/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBER_BYTES 16
#define FIXED_WORDS 12 /* of the command line: neither for a variable nor of the program */
#define WORDS_MAX                                                                                  \
    (FIXED_WORDS + 2 * (ORDER_SETTINGS + SCENARIO_MAX_ENVIRONMENT) + SCENARIO_MAX_ARGUMENTS)

struct words {
    size_t count;
    const char *word[WORDS_MAX + 1]; /* NULL-terminated */
};

static void add(struct words *words, const char *word)
{
    words->word[words->count++] = word;
}

_Noreturn static void become(const struct launch_order *order, pid_t driver)
{
    char ranks[NUMBER_BYTES], watched[NUMBER_BYTES];
    snprintf(ranks, sizeof ranks, "%d", order->ranks);
    snprintf(watched, sizeof watched, "%d", (int)driver);
    struct words words = {0};
    const char *fixed[] = {order->launcher, "-n",      ranks,   order->parent, "--in",
                           order->folder,   "--watch", watched, "--preload",   order->preload.text};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(&words, fixed[i]);
    for (size_t i = 0; i < order->environment_count; i++) {
        add(&words, "--env");
        add(&words, order->environment[i]);
    }
    add(&words, "--");
    for (size_t i = 0; order->command[i] != NULL; i++)
        add(&words, order->command[i]);
    execv(words.word[0], (char *const *)(uintptr_t)words.word);
    fprintf(stderr, "faultline: cannot start %s: %s\n", words.word[0], strerror(errno));
    _exit(EXIT_NOT_STARTED);
}

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

static enum error_code find(struct path *command, struct error *error)
{
    return path_command(launcher_hydra.name, launcher_hydra.variable, command, error);
}

static enum error_code start(const struct launch_order *order, struct launched *launched,
                             struct error *error)
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
    process_reset_signals(order->mask);
    become(order, driver);
}

static bool poll_ended(const struct launched *launched)
{
    return launched->ended;
}

static void stop(struct launched *launched, process_reaped *reaped, void *context)
{
    (void)launched; /* there is no other process below the driver */
    process_end_descendants(reaped, context);
}

static void explain(const struct launched *launched, const struct launch_order *order, char *text,
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

const struct launcher launcher_hydra = {
    .name = "mpiexec",
    .product = "MPICH's Hydra",
    .package = "mpich",
    .variable = "FAULTLINE_MPIEXEC",
    .mark = "HYDRA",
    .shared_bytes_of_rank = 5u << 20, /* MPICH over UCX: 4292720 */
    .find = find,
    .start = start,
    .poll = poll_ended,
    .stop = stop,
    .explain = explain,
};

const struct launcher *launcher_in_use(void)
{
    return &launcher_hydra;
}
