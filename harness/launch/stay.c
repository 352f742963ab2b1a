/* See stay.h. */
#include "launch/stay.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LEAVE "cmd=finalize\n"
#define ANSWER "cmd=finalize_ack"
#define ANSWER_BYTES 1024

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
    return connection() >= 0;
}

bool stay_is_possible(const struct board_slot *slot)
{
    return atomic_load(&slot->state) >= RANK_INITIALIZED;
}

/* Ahead of the answer there may be one that the rank had asked for when it died. */
static void await_answer(int file)
{
    char text[ANSWER_BYTES];
    size_t used = 0;
    for (;;) {
        ssize_t got = recv(file, text + used, sizeof text - used, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        used += (size_t)got;
        if (memmem(text, used, ANSWER, strlen(ANSWER)) != NULL)
            return;
        size_t kept = used < strlen(ANSWER) ? used : strlen(ANSWER);
        memmove(text, text + used - kept, kept);
        used = kept;
    }
}

void stay_take_leave(void)
{
    int file = connection();
    if (file >= 0 && send(file, LEAVE, strlen(LEAVE), MSG_NOSIGNAL) == (ssize_t)strlen(LEAVE))
        await_answer(file);
}
