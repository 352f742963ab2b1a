/* What libc offers to send signals. Each is told on the board before it is sent: a rank that dies
 * of a signal which nobody of the job has sent was ended from outside. Must not know: what for. */
#include "injectors/system/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define SENDERS(X)                                                                                 \
    X(kill) X(killpg) X(raise) X(tgkill) X(pthread_kill) X(sigqueue) X(pthread_sigqueue)

static struct board *job; /* NULL: this process belongs to none */

static struct {
#define X(name) __typeof__(&name) name;
    SENDERS(X)
#undef X
} real;

/* Before the program runs, for a signal handler must not look for anything; a library that begins
 * before this one may send signals even earlier. */
__attribute__((constructor)) static void resolve(void)
{
    int number = errno;
#define X(name)                                                                                    \
    {                                                                                              \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
        memcpy(&real.name, &found, sizeof found);                                                  \
    }
    SENDERS(X)
#undef X
    errno = number;
}

#define REAL(name) (*(real.name == NULL ? (resolve(), real.name) : real.name))

static void note(pid_t pid, int number)
{
    int error = errno;
    if (job != NULL)
        board_note_signal(job, pid, number);
    errno = error;
}

void signals_open(struct board *board)
{
    job = board;
}

EXPORTED int kill(pid_t pid, int number)
{
    note(pid, number);
    return REAL(kill)(pid, number);
}

EXPORTED int killpg(pid_t group, int number)
{
    note(group > 0 ? -group : group, number);
    return REAL(killpg)(group, number);
}

EXPORTED int tgkill(pid_t pid, pid_t thread, int number)
{
    note(pid, number);
    return REAL(tgkill)(pid, thread, number);
}

EXPORTED int sigqueue(pid_t pid, int number, const union sigval value)
{
    note(pid, number);
    return REAL(sigqueue)(pid, number, value);
}

EXPORTED int raise(int number)
{
    note(getpid(), number);
    return REAL(raise)(number);
}

EXPORTED int pthread_kill(pthread_t thread, int number)
{
    note(getpid(), number);
    return REAL(pthread_kill)(thread, number);
}

EXPORTED int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
    note(getpid(), number);
    return REAL(pthread_sigqueue)(thread, number, value);
}
