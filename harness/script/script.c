/* Loads a scenario file in a forked process and takes its scenarios back as data. See script.h.
 *
 * Why a process: nothing inside one can end `string.find` with a pattern that never comes back (it
 * is C code that calls no hook), nor a script that catches each error and goes on. A SIGKILL from
 * outside ends both, and what a script does to its memory stays in a process that is thrown away.
 */
#include "script/script.h"

#include "base/memory.h"
#include "script/list.h"
#include "script/sandbox.h"
#include "trace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES 65536
#define RESULT_MAX_BYTES (256u << 20)
#define PATIENCE 24 /* wall clock for a limit of processor time, in such limits */

const struct script_options script_options_default = {
    .limits = {.instructions = 200000000, .memory_bytes = 64u << 20, .time_ms = 5000}};

/* The run of one file, seen from outside. Closed: child 0, in -1, progress NULL. */
struct watch {
    const char *path;
    pid_t child;
    uint64_t begun_ns;
    int in;
    struct script_progress *progress;
    struct serial result;
};

static void watch_release(struct watch *watch)
{
    if (watch->child > 0) {
        kill(watch->child, SIGKILL);
        while (waitpid(watch->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (watch->in >= 0)
        close(watch->in);
    if (watch->progress != NULL)
        munmap(watch->progress, sizeof *watch->progress);
    serial_release(&watch->result);
}

/* In the child: it dies with the caller, and none of the caller's handlers run in it. */
static void become_plain(pid_t caller)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != caller)
        _exit(1);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static enum error_code watch_start(struct watch *watch, const struct script_options *options,
                                   struct error *error)
{
    watch->progress = mmap(NULL, sizeof *watch->progress, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch->progress == MAP_FAILED) {
        watch->progress = NULL;
        return error_set(error, ERROR_IO, "%s: %s", watch->path, strerror(errno));
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, ERROR_IO, "%s: pipe: %s", watch->path, strerror(errno));
    watch->in = ends[0];
    pid_t caller = getpid();
    watch->begun_ns = clock_monotonic_ns();
    watch->child = fork();
    if (watch->child == 0) {
        become_plain(caller);
        close(ends[0]);
        sandbox_run(watch->path, options, watch->progress, ends[1]);
    }
    close(ends[1]);
    if (watch->child < 0)
        return error_set(error, ERROR_IO, "%s: fork: %s", watch->path, strerror(errno));
    return OK;
}

/* How long the child may still work. Its processor time counts, as a machine with other work may
 * give it little; a child that is not even run has an end, too. */
static int64_t time_left_ms(const struct watch *watch, int time_ms)
{
    clockid_t clock;
    struct timespec worked = {0};
    if (clock_getcpuclockid(watch->child, &clock) == 0)
        clock_gettime(clock, &worked);
    int64_t worked_ms = (int64_t)worked.tv_sec * 1000 + worked.tv_nsec / 1000000;
    int64_t waited_ms = (int64_t)(clock_monotonic_ns() - watch->begun_ns) / 1000000;
    return waited_ms < (int64_t)time_ms * PATIENCE ? time_ms - worked_ms : 0;
}

/* Waits for bytes: 1 there are some (or the end), 0 too late. */
static int await_bytes(const struct watch *watch, int time_ms)
{
    for (int64_t left_ms; (left_ms = time_left_ms(watch, time_ms)) > 0;) {
        struct pollfd want = {.fd = watch->in, .events = POLLIN};
        int ready = poll(&want, 1, (int)left_ms);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return 1;
    }
    return 0;
}

/* Reads until the child has closed its end. */
static enum error_code watch_read(struct watch *watch, int time_ms, struct error *error)
{
    char bytes[READ_BYTES];
    for (;;) {
        if (!await_bytes(watch, time_ms))
            return error_set(error, ERROR_LIMIT, "%s:%d: the script does not end within %g s",
                             watch->path, atomic_load(&watch->progress->line), time_ms / 1000.0);
        ssize_t count = read(watch->in, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_set(error, ERROR_IO, "%s: pipe: %s", watch->path, strerror(errno));
        if (count == 0)
            return OK;
        serial_put(&watch->result, bytes, (size_t)count);
        if (watch->result.bad)
            memory_refused();
        if (watch->result.used > RESULT_MAX_BYTES)
            return error_set(error, ERROR_LIMIT, "%s:%d: its scenarios need more than %u MiB",
                             watch->path, atomic_load(&watch->progress->line),
                             RESULT_MAX_BYTES >> 20);
    }
}

static void add_scenario(struct watch *watch, struct scenario_list *list)
{
    struct scenario scenario;
    scenario_take(&watch->result, watch->path, &scenario);
    scenario_list_add(list, &scenario);
}

static void add_covered(struct watch *watch, struct scenario_list *list)
{
    int line = (int)serial_take_number(&watch->result);
    scenario_list_add_covered(list, watch->path, line, serial_take_text(&watch->result));
}

static enum error_code died(const struct watch *watch, struct error *error)
{
    return error_set(error, ERROR_LIMIT, "%s:%d: the process that runs the script died",
                     watch->path, atomic_load(&watch->progress->line));
}

/* The last message: how the script ended. */
static enum error_code take_end(struct watch *watch, struct error *error)
{
    enum error_code code = (enum error_code)serial_take_number(&watch->result);
    char *text = serial_take_text(&watch->result);
    if (text == NULL)
        return died(watch, error);
    if (code != OK)
        error_set(error, code, "%s", text);
    free(text);
    return code;
}

/* The messages of the child, in order. Without the last one it has not ended by itself. */
static enum error_code watch_take(struct watch *watch, struct scenario_list *list,
                                  struct error *error)
{
    for (;;) {
        int64_t message = serial_take_number(&watch->result);
        if (watch->result.bad || message < SANDBOX_SCENARIO || message > SANDBOX_COVER)
            return died(watch, error);
        if (message == SANDBOX_DONE)
            return take_end(watch, error);
        (message == SANDBOX_COVER ? add_covered : add_scenario)(watch, list);
    }
}

enum error_code script_load(const char *path, const struct script_options *options,
                            struct scenario_list *list, struct error *error)
{
    struct watch watch = {.path = path, .in = -1};
    struct scenario_list loaded;
    scenario_list_init(&loaded);
    enum error_code code = watch_start(&watch, options, error);
    if (code == OK)
        code = watch_read(&watch, options->limits.time_ms, error);
    if (code == OK)
        code = watch_take(&watch, &loaded, error);
    if (code == OK)
        code = scenario_list_append(list, &loaded, error);
    scenario_list_release(&loaded);
    watch_release(&watch);
    return code;
}
