/* See stay.h. */
#include "launch/stay.h"

#include "board/mpich_ulfm.h"
#include "trace/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LEAVE "cmd=finalize\n"
#define ANSWER "cmd=finalize_ack"
#define ANSWER_BYTES 1024
#define NS_PER_MS UINT64_C(1000000)

bool stay_is_over(const struct board *board)
{
    for (int process = 0; process < board_processes(board); process++)
        if (atomic_load(&board->slot[process].ended) == 0)
            return false;
    return true;
}

/* The connection of the rank, which this process was started with; -1: there is none. */
static int connection(void)
{
    const char *text = getenv("PMI_FD");
    char *end;
    long number = text != NULL ? strtol(text, &end, 10) : -1;
    return text != NULL && end != text && *end == '\0' && number >= 0 && number <= INT_MAX
               ? (int)number
               : -1;
}

bool stay_is_meant(void)
{
    return connection() >= 0 && !mpich_has_ulfm();
}

bool stay_is_possible(const struct board_slot *slot)
{
    return atomic_load(&slot->state) >= RANK_INITIALIZED;
}

/* Some bytes, or 0: the other end is closed, or end_ns has come. */
static size_t receive(int file, char *text, size_t most, uint64_t end_ns)
{
    for (;;) {
        uint64_t now = clock_monotonic_ns();
        struct pollfd look = {.fd = file, .events = POLLIN};
        int ready = now < end_ns ? poll(&look, 1, (int)((end_ns - now) / NS_PER_MS) + 1) : 0;
        ssize_t got = ready > 0 ? recv(file, text, most, MSG_DONTWAIT) : ready;
        if (got >= 0)
            return (size_t)got;
        if (errno != EINTR && errno != EAGAIN)
            return 0;
    }
}

/* Ahead of the answer there may be one that the rank had asked for when it died. */
static bool await_answer(int file, int limit_ms)
{
    uint64_t end_ns = clock_monotonic_ns() + (uint64_t)limit_ms * NS_PER_MS;
    char text[ANSWER_BYTES];
    size_t used = 0;
    for (;;) {
        size_t got = receive(file, text + used, sizeof text - used, end_ns);
        if (got == 0)
            return false;
        used += got;
        if (memmem(text, used, ANSWER, strlen(ANSWER)) != NULL)
            return true;
        size_t kept = used < strlen(ANSWER) ? used : strlen(ANSWER);
        memmove(text, text + used - kept, kept);
        used = kept;
    }
}

bool stay_take_leave(int limit_ms)
{
    int file = connection();
    return file >= 0 && send(file, LEAVE, strlen(LEAVE), MSG_NOSIGNAL) == (ssize_t)strlen(LEAVE) &&
           await_answer(file, limit_ms);
}
