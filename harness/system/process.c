/* See process.h. */
#include "system/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAT_BYTES 512
#define END_PAUSE_NS 1000000L /* between two looks at those who are being ended */

/* One process of the machine, as /proc shows it. */
struct process {
    pid_t pid;
    pid_t parent;
    bool mine; /* a descendant of this process */
};

struct process_list {
    size_t count;
    size_t room;
    struct process *process;
};

void process_own_descendants(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

bool process_die_with(pid_t parent, int signal_number)
{
    prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0);
    /* The parent may have ended before the line above: then no signal comes. */
    return getppid() == parent;
}

void process_reap(process_reaped *reaped, void *context)
{
    int wait_status;
    pid_t pid;
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0)
        if (reaped != NULL && !WIFSTOPPED(wait_status)) /* a snapshot of it is being taken */
            reaped(context, pid, wait_status);
}

/* From a `stat` file of /proc: false when its process or thread is gone. The name in the second
 * field may hold anything, so the fields are counted from the last parenthesis. */
static bool read_stat(const char *path, char *state, pid_t *parent)
{
    char text[STAT_BYTES];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    for (char *end = text + length; end > text; end--)
        if (end[-1] == ')')
            return sscanf(end, " %c %d", state, parent) == 2;
    return false;
}

/* 0 if it is gone. */
static pid_t parent_of(pid_t pid)
{
    char path[64], state;
    pid_t parent;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return read_stat(path, &state, &parent) ? parent : 0;
}

bool process_is_stopped(pid_t pid)
{
    char path[64], state;
    pid_t parent;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return read_stat(path, &state, &parent) && (state == 'T' || state == 't');
}

long process_killed_for_memory(void)
{
    char name[64];
    long count, found = 0;
    FILE *file = fopen("/proc/vmstat", "re");
    while (file != NULL && fscanf(file, "%63s %ld", name, &count) == 2)
        if (strcmp(name, "oom_kill") == 0)
            found = count;
    if (file != NULL)
        fclose(file);
    return found;
}

bool process_has_busy_threads(pid_t pid)
{
    char path[64], state;
    pid_t parent;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    bool busy = false;
    for (struct dirent *entry; folder != NULL && !busy && (entry = readdir(folder)) != NULL;) {
        int thread = atoi(entry->d_name);
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, thread);
        busy = thread != 0 && thread != pid && read_stat(path, &state, &parent) &&
               (state == 'R' || state == 'D');
    }
    if (folder != NULL)
        closedir(folder);
    return busy;
}

static bool list_add(struct process_list *list, struct process process)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        struct process *grown = realloc(list->process, room * sizeof *grown);
        if (grown == NULL)
            return false;
        list->process = grown;
        list->room = room;
    }
    list->process[list->count++] = process;
    return true;
}

static void list_all(struct process_list *list)
{
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        pid_t parent = pid > 0 ? parent_of(pid) : 0;
        if (parent > 0 && !list_add(list, (struct process){.pid = pid, .parent = parent}))
            break;
    }
    closedir(folder);
}

static bool is_mine(const struct process_list *list, pid_t pid)
{
    if (pid == getpid())
        return true;
    for (size_t i = 0; i < list->count; i++)
        if (list->process[i].pid == pid)
            return list->process[i].mine;
    return false;
}

static bool is_kept(const struct process_set *kept, pid_t pid)
{
    for (size_t i = 0; kept != NULL && i < kept->count; i++)
        if (kept->pid[i] == pid)
            return true;
    return false;
}

/* A child may stand before its parent in the list: look until nothing changes. What is below one
 * that is kept is not marked, for its parent is not. */
static void mark_descendants(struct process_list *list, const struct process_set *kept)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < list->count; i++) {
            struct process *process = &list->process[i];
            if (!process->mine && is_mine(list, process->parent) && !is_kept(kept, process->pid))
                changed = process->mine = true;
        }
    }
}

static void signal_marked(const struct process_list *list, int number)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->process[i].mine)
            kill(list->process[i].pid, number);
}

/* All are stopped before the first is killed: else those that are still alive would act on its
 * death. A rank whose launcher is gone crashes inside the MPI library, and that end would be taken
 * for its own. Returns whether there were any. */
static bool kill_descendants(const struct process_set *kept)
{
    struct process_list list = {0};
    bool any = false;
    list_all(&list);
    mark_descendants(&list, kept);
    signal_marked(&list, SIGSTOP);
    signal_marked(&list, SIGKILL);
    for (size_t i = 0; i < list.count; i++)
        any |= list.process[i].mine;
    free(list.process);
    return any;
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void process_end_descendants(process_reaped *reaped, void *context)
{
    process_reap(reaped, context);
    while (has_children()) {
        kill_descendants(NULL);
        nanosleep(&(struct timespec){.tv_nsec = END_PAUSE_NS}, NULL);
        process_reap(reaped, context);
    }
}

void process_end_others(const struct process_set *kept, process_reaped *reaped, void *context)
{
    while (kill_descendants(kept)) {
        nanosleep(&(struct timespec){.tv_nsec = END_PAUSE_NS}, NULL);
        process_reap(reaped, context);
    }
}

void process_add_unless_ignored(sigset_t *signals, int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        sigaddset(signals, number);
}

int process_signals(const sigset_t *signals, sigset_t *old)
{
    if (sigprocmask(SIG_BLOCK, signals, old) != 0)
        return -1;
    return signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

void process_reset_signals(const sigset_t *mask)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

_Noreturn void process_end_like(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        _exit(WEXITSTATUS(wait_status));
    int number = WTERMSIG(wait_status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    _exit(128 + number);
}

int process_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

void process_signal(int pidfd, int signal_number)
{
    syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0);
}
