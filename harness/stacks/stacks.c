/* See stacks.h. elfutils' libdw walks; what is printed: frames.c. */
#include "stacks/stacks.h"

#include "base/memory.h"
#include "stacks/frames.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

/* One process. Shared by two threads; the last that lets go of it frees it. */
struct job {
    pid_t pid;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int holders;
    bool done;
    char *text; /* the stacks; owned */
    size_t text_bytes;
    struct error error; /* code OK: text is good */
};

/* ---- one process
 * ------------------------------------------------------------------------------------ */

struct walk {
    FILE *out;
    pid_t pid;
    size_t stacks;
    size_t others;
};

static int walk_thread(Dwfl_Thread *of, void *argument)
{
    struct walk *walk = argument;
    struct frames frames = {.count = 0};
    pid_t tid = dwfl_thread_tid(of);
    if (dwfl_thread_getframes(of, frames_take, &frames) != 0 && frames.count == 0) {
        /* It died while it was looked at. libdw stays attached to it then, and ends this process if
         * it is asked for another thread. */
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
        return DWARF_CB_ABORT;
    }
    if (tid != walk->pid && !frames.inside_mpi) {
        walk->others++;
        return DWARF_CB_OK;
    }
    if (frames.count == 0)
        return DWARF_CB_OK;
    fprintf(walk->out, tid == walk->pid ? STACKS_MAIN_THREAD "\n" : "  thread %d\n", (int)tid);
    frames_print(walk->out, &frames);
    walk->stacks++;
    return DWARF_CB_OK;
}

/* Attaches, walks, detaches. */
static enum error_code walk_process(Dwfl *dwfl, struct walk *walk, struct error *error)
{
    int code = dwfl_linux_proc_report(dwfl, walk->pid);
    if (code == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        code = dwfl_linux_proc_attach(dwfl, walk->pid, false);
    if (code != 0)
        return error_set(error, ERROR_IO, "process %d: %s", (int)walk->pid,
                         code > 0 ? strerror(code) : dwfl_errmsg(-1));
    dwfl_errno(); /* forgets an older one */
    dwfl_getthreads(dwfl, walk_thread, walk);
    int number = dwfl_errno();
    if (walk->stacks == 0)
        return error_set(error, ERROR_IO, "process %d: %s", (int)walk->pid,
                         number ? dwfl_errmsg(number) : "it has no frames");
    if (walk->others > 0)
        fprintf(walk->out, "  %zu other thread%s outside of MPI\n", walk->others,
                walk->others == 1 ? "" : "s");
    return OK;
}

static enum error_code stacks_of(pid_t pid, FILE *out, struct error *error)
{
    /* No debuginfod here: a lookup in a network has no place in a hanging job. */
    static char *search = NULL;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_build_id_find_debuginfo,
                                             .debuginfo_path = &search};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl == NULL)
        memory_refused();
    struct walk walk = {.out = out, .pid = pid};
    enum error_code code = walk_process(dwfl, &walk, error);
    dwfl_end(dwfl);
    return code;
}

/* ---- not longer than the limit
 * -------------------------------------------------------------------- */

static void job_let_go(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    bool last = --job->holders == 0;
    pthread_mutex_unlock(&job->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->finished);
    free(job->text);
    free(job);
}

static void *job_run(void *argument)
{
    struct job *job = argument;
    FILE *out = memory_stream(&job->text, &job->text_bytes);
    stacks_of(job->pid, out, &job->error);
    memory_stream_end(out);
    pthread_mutex_lock(&job->lock);
    job->done = true;
    pthread_cond_signal(&job->finished);
    pthread_mutex_unlock(&job->lock);
    job_let_go(job);
    return NULL;
}

/* NULL: no thread can be made. */
static struct job *job_start(pid_t pid)
{
    struct job *job = memory_new(1, sizeof *job);
    pthread_condattr_t attributes;
    pthread_t thread;
    *job = (struct job){.pid = pid, .holders = 2};
    pthread_mutex_init(&job->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->finished, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&thread, NULL, job_run, job) != 0) {
        job->holders = 1;
        job_let_go(job);
        return NULL;
    }
    pthread_detach(thread);
    return job;
}

/* A process that is in the kernel and cannot be stopped would hold us for ever: its thread is left
 * to itself then. (A thread and not a process: where only ancestors may trace, a child of ours may
 * not.) */
static bool job_await(struct job *job)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STACKS_TIME_LIMIT_MS / 1000;
    int code = 0;
    pthread_mutex_lock(&job->lock);
    while (!job->done && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&job->finished, &job->lock, &until);
    bool done = job->done;
    pthread_mutex_unlock(&job->lock);
    return done;
}

static enum error_code write_one(pid_t pid, FILE *out, struct error *error)
{
    struct job *job = job_start(pid);
    if (job == NULL)
        return error_set(error, ERROR_IO, "process %d: there can be no thread for it", (int)pid);
    enum error_code code;
    if (!job_await(job))
        code = error_set(error, ERROR_LIMIT, "process %d: not to be stopped within %d s", (int)pid,
                         STACKS_TIME_LIMIT_MS / 1000);
    else if (job->error.code != OK)
        code = error_set(error, job->error.code, "%s", job->error.text);
    else
        code = fwrite(job->text, 1, job->text_bytes, out) == job->text_bytes
                   ? OK
                   : error_set(error, ERROR_IO, "call stacks: %s", strerror(errno));
    job_let_go(job);
    return code;
}

enum error_code stacks_write(const pid_t *pids, const int *ranks, size_t count, FILE *out,
                             struct error *error)
{
    size_t good = 0;
    struct error reason = {0};
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "rank %d (pid %d)\n", ranks[i], (int)pids[i]);
        if (write_one(pids[i], out, &reason) == OK)
            good++;
        else
            fprintf(out, "  no call stack: %s\n", reason.text);
    }
    if (count > 0 && good == 0)
        return error_set(error, ERROR_IO, "%s", reason.text);
    return OK;
}
