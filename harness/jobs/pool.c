/* See pool.h. */
#include "jobs/pool.h"

#include "jobs/run_folder.h"
#include "launch/leftovers.h"
#include "launch/zygotes.h"
#include "system/path.h"
#include "system/process.h"
#include "system/status.h"
#include "trace/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define NS_PER_S 1e9

enum error_code pool_open(struct pool *pool, const struct options *options, struct error *error)
{
    memset(pool, 0, sizeof *pool);
    pool->options = options;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    process_add_unless_ignored(&signals, SIGINT);
    process_add_unless_ignored(&signals, SIGTERM);
    process_add_unless_ignored(&signals, SIGHUP);
    process_own_descendants();
    (void)clock_ticks_per_second(); /* measured here, once, and not by each job */
    pool->signals = process_signals(&signals, &pool->mask);
    if (pool->signals < 0)
        return error_set(error, ERROR_LAUNCH, "signalfd: %s", strerror(errno));
    pool->open = true;
    return OK;
}

void pool_close(struct pool *pool)
{
    if (!pool->open)
        return;
    zygotes_close();
    process_end_descendants(NULL, NULL);
    run_folder_close();
    close(pool->signals);
    sigprocmask(SIG_SETMASK, &pool->mask, NULL);
    pool->open = false;
    pool->running = 0;
}

bool pool_has_room(const struct pool *pool)
{
    return pool->interrupted == 0 && pool->running < pool->options->jobs &&
           pool->running < POOL_MAX_JOBS;
}

enum error_code pool_start(struct pool *pool, struct job *job, struct error *error)
{
    if (pool->running == POOL_MAX_JOBS)
        return error_set(error, ERROR_LAUNCH, "more than %d jobs at once", POOL_MAX_JOBS);
    zygotes_want(job->scenario, &pool->mask);
    job->short_of_memory = false;
    if (job->scenario->engine != NULL)
        run_folder_begin(job->folder.text);
    enum error_code code = job_start(job, pool->options, &pool->mask, error);
    if (code == OK)
        pool->job[pool->running++] = job;
    return code;
}

/* The rest of what the pool reaps are orphans of jobs, and of no interest. */
static void note_reaped(void *context, pid_t pid, int wait_status)
{
    struct pool *pool = context;
    zygotes_note_reaped(pid);
    for (int i = 0; i < pool->running; i++) {
        struct job *job = pool->job[i];
        if (job->pid != pid || job->state != JOB_RUNNING)
            continue;
        job->state = JOB_DONE;
        job->wait_status = wait_status;
        job->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : STATUS_HARNESS;
        job->seconds = (double)(clock_monotonic_ns() - job->start_ns) / NS_PER_S;
    }
}

/* What is not done is lost with the command. */
static void remove_from_memory(const struct pool *pool)
{
    for (int i = 0; i < pool->running; i++)
        if (run_folder_is_in_memory(pool->job[i]->folder.text))
            (void)run_folder_remove(pool->job[i]->folder.text, NULL);
    run_folder_close();
}

/* The first asks the jobs to end: they clear up and write their reports. The second ends all. */
static void interrupt(struct pool *pool, int number)
{
    if (pool->interrupted != 0) {
        process_end_descendants(NULL, NULL);
        remove_from_memory(pool);
        process_end_like(number);
    }
    pool->interrupted = number;
    for (int i = 0; i < pool->running; i++)
        if (pool->job[i]->state == JOB_RUNNING)
            kill(pool->job[i]->pid, number);
}

/* true: one of them was more than a child's end. */
static bool take_signals(struct pool *pool)
{
    struct signalfd_siginfo info;
    bool asked = false;
    while (read(pool->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD) {
            interrupt(pool, (int)info.ssi_signo);
            asked = true;
        }
    process_reap(note_reaped, pool);
    return asked;
}

/* A run that is part of another's folder leaves a list of its own. */
static void remove_leftovers(const struct path *folder)
{
    static const char *const parts[] = {".", "control", "again", "mpiexec", "twice"};
    struct path run;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (path_format(&run, NULL, "%s/%s", folder->text, parts[i]) == OK)
            leftovers_remove(run.text);
}

/* The process of a job clears up by itself, unless it is killed: what it has started has come to
 * this process then. What a zygote has begun for it ends when the job is gone. */
static void clear_up_after(struct pool *pool, const struct job *job)
{
    pid_t running[ZYGOTES_MOST + POOL_MAX_JOBS];
    struct process_set kept = {.pid = running, .count = zygotes_alive(running, ZYGOTES_MOST)};
    for (int i = 0; i < pool->running; i++)
        if (pool->job[i]->state == JOB_RUNNING)
            running[kept.count++] = pool->job[i]->pid;
    process_end_others(&kept, note_reaped, pool);
    remove_leftovers(&job->folder);
}

/* Where one run was short of memory, those beside it may have been, although there is enough by the
 * time that they are done. */
static bool was_short(struct pool *pool, struct job *job)
{
    bool is_short = run_folder_was_short(job->folder.text);
    for (int i = 0; is_short && i < pool->running; i++)
        pool->job[i]->short_of_memory = true;
    return job->short_of_memory;
}

/* A run that may have failed because it was made in memory is made again, on the disk. */
static bool repeat_on_disk(struct pool *pool, struct job *job)
{
    const char *folder = job->folder.text;
    bool fails_there = was_short(pool, job) || run_folder_refused_program(folder);
    return fails_there && pool->interrupted == 0 && job->status != STATUS_PASS &&
           run_folder_is_in_memory(folder) && run_folder_remove(folder, NULL) == OK &&
           job_start(job, pool->options, &pool->mask, NULL) == OK;
}

/* What jobs do by themselves where the run has passed: else it may have to be made again. */
static void bring_to_disk(struct job *job)
{
    struct error error;
    if (job->leaves_memory || run_folder_keep(job->folder.text, &error) == OK)
        return;
    job->status = (int)status_worst((enum exit_status)job->status, status_of_error(&error));
    (void)run_folder_remove(job->folder.text, NULL); /* no link is left that leads nowhere */
}

/* NULL: none is done. */
static struct job *take_done(struct pool *pool)
{
    for (int i = 0; i < pool->running; i++) {
        struct job *job = pool->job[i];
        if (job->state != JOB_DONE)
            continue;
        if (WIFSIGNALED(job->wait_status))
            clear_up_after(pool, job);
        if (repeat_on_disk(pool, job))
            continue;
        pool->job[i] = pool->job[--pool->running];
        bring_to_disk(job);
        return job;
    }
    return NULL;
}

/* What is left of the time, for poll. */
static int left_ms(uint64_t start_ns, int timeout_ms)
{
    uint64_t gone_ms = (clock_monotonic_ns() - start_ns) / NS_PER_MS;
    if (timeout_ms < 0)
        return -1;
    return gone_ms < (uint64_t)timeout_ms ? timeout_ms - (int)gone_ms : 0;
}

struct job *pool_wait(struct pool *pool, int timeout_ms)
{
    struct pollfd look = {.fd = pool->signals, .events = POLLIN};
    uint64_t start_ns = clock_monotonic_ns();
    struct job *job;
    while ((job = take_done(pool)) == NULL && pool->running > 0) {
        int left = left_ms(start_ns, timeout_ms);
        int ready = poll(&look, 1, left);
        if (take_signals(pool))
            return take_done(pool);
        if (ready == 0 && left >= 0)
            return take_done(pool);
    }
    return job;
}

void pool_pause(struct pool *pool, int timeout_ms)
{
    struct pollfd look = {.fd = pool->signals, .events = POLLIN};
    uint64_t start_ns = clock_monotonic_ns();
    while (poll(&look, 1, left_ms(start_ns, timeout_ms)) > 0)
        if (take_signals(pool))
            return;
}
