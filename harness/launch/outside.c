/* See outside.h. */
#include "launch/outside.h"

#include "system/process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SENDER_BYTES 64

static const int sent_signals[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGKILL, SIGUSR1,
                                   SIGUSR2, SIGTERM, SIGSTKFLT, SIGPWR};

bool outside_is_sent(int number)
{
    for (size_t i = 0; i < sizeof sent_signals / sizeof sent_signals[0]; i++)
        if (sent_signals[i] == number)
            return true;
    return false;
}

/* NULL: it does not come from a limit. */
static const char *limit_of(int number)
{
    return number == SIGXFSZ ? "ulimit -f" : number == SIGXCPU ? "ulimit -t" : NULL;
}

bool outside_ended(const struct board_slot *slot, const struct rank_end *end)
{
    if (atomic_load(&slot->ended) == 0 || !WIFSIGNALED(end->wait_status))
        return false;
    int number = WTERMSIG(end->wait_status);
    return (outside_is_sent(number) || limit_of(number) != NULL) &&
           !board_sent_within(slot, number);
}

static bool was_sent_by_launcher(const struct board_slot *slot)
{
    return atomic_load(&slot->signal_sender) == atomic_load(&slot->launcher_pid);
}

/* The launcher passes signals on: those that it is sent, and those by which it clears up when a
 * rank has failed. */
static bool is_clearing_up(const struct board_slot *slot, uint64_t failed_ns)
{
    return failed_ns != 0 && was_sent_by_launcher(slot) &&
           failed_ns < atomic_load(&slot->signal_ns);
}

/* "process 17 (bash)" */
static const char *sender_text(const struct board_slot *slot, char text[SENDER_BYTES])
{
    snprintf(text, SENDER_BYTES, "%sprocess %d%s%.15s%s",
             was_sent_by_launcher(slot) ? "the launcher's " : "", atomic_load(&slot->signal_sender),
             slot->signal_sender_name[0] != '\0' ? " (" : "", slot->signal_sender_name,
             slot->signal_sender_name[0] != '\0' ? ")" : "");
    return text;
}

static void write_ended(const struct board_slot *slot, int rank, int number, char *text,
                        size_t bytes)
{
    char sender[SENDER_BYTES];
    const char *name = sigabbrev_np(number);
    if (limit_of(number) != NULL)
        snprintf(text, bytes, "rank %d was ended by SIG%s: it came to the limit of %s", rank, name,
                 limit_of(number));
    else if (atomic_load(&slot->signal_sent) == number)
        snprintf(text, bytes,
                 "rank %d was ended by SIG%s from outside the plan: sent by %s by way of the "
                 "rank's parent",
                 rank, name, sender_text(slot, sender));
    else
        snprintf(text, bytes,
                 "rank %d was ended by SIG%s from outside the plan: neither Faultline nor a rank "
                 "of the job sent it",
                 rank, name);
}

bool outside_disturbed(const struct board *board, const struct rank_end *ends, uint64_t failed_ns,
                       char *text, size_t bytes)
{
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        if (!outside_ended(slot, &ends[rank]))
            continue;
        int number = WTERMSIG(ends[rank].wait_status);
        if (atomic_load(&slot->signal_sent) == number && is_clearing_up(slot, failed_ns))
            continue;
        write_ended(slot, rank, number, text, bytes);
        return true;
    }
    return false;
}

bool outside_signalled(const struct board *board, uint64_t failed_ns, char *text, size_t bytes)
{
    char sender[SENDER_BYTES];
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        int number = atomic_load(&slot->signal_sent);
        if (number == 0 || is_clearing_up(slot, failed_ns))
            continue;
        snprintf(text, bytes, "rank %d was sent SIG%s from outside the plan, by %s", rank,
                 sigabbrev_np(number), sender_text(slot, sender));
        return true;
    }
    return false;
}

uint64_t outside_end_signal_ns(const struct board *board)
{
    uint64_t first_ns = 0;
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        int number = atomic_load(&slot->signal_sent);
        uint64_t when_ns = atomic_load(&slot->signal_ns);
        if ((number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT) &&
            (first_ns == 0 || when_ns < first_ns))
            first_ns = when_ns;
    }
    return first_ns;
}

bool outside_stopped(const struct board *board, pid_t launcher, char *text, size_t bytes)
{
    if (launcher != 0 && process_is_stopped(launcher)) {
        snprintf(text, bytes, "the launcher (process %d) was stopped from outside the plan",
                 (int)launcher);
        return true;
    }
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        const pid_t pids[] = {atomic_load(&slot->pid), atomic_load(&slot->parent_pid),
                              atomic_load(&slot->launcher_pid)};
        static const char *const names[] = {"rank %d", "the parent of rank %d",
                                            "the launcher of rank %d"};
        for (int i = 0; i < 3; i++) {
            bool by_plan = i == 0 && board_sent_within(slot, SIGSTOP);
            if (pids[i] == 0 || by_plan || !process_is_stopped(pids[i]))
                continue;
            int used = snprintf(text, bytes, names[i], rank);
            snprintf(text + used, bytes - (size_t)used,
                     " (process %d) was stopped from outside the plan", (int)pids[i]);
            return true;
        }
    }
    return false;
}
