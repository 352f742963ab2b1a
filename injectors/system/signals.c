/* What libc offers to send signals. Each is noted on the board before it is sent: a rank that dies
 * of a signal which nobody of the job has sent was ended from outside. Must not know: what for. */
#include "injectors/system/real.h"
#include "injectors/system/system.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define SENDERS(X)                                                                                 \
    X(kill) X(killpg) X(raise) X(tgkill) X(pthread_kill) X(sigqueue) X(pthread_sigqueue)

static struct board *job; /* NULL: this process belongs to none */

REAL_TABLE(SENDERS)

static void note(pid_t pid, int number)
{
    int error = errno;
    if (job != NULL)
        board_note_signal_of_program(job, pid, number);
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
