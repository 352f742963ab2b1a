/* How a parent takes leave of the launcher for its rank, over the connection that the rank had: the
 * answer, none, and one that never comes. */
#include "launch/stay.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LONG_MS 600000 /* never waited for */
#define SHORT_MS 20
#define WELL "cmd=finalize_ack\n"

static int launcher;    /* the other end */
static char much[5000]; /* more than is read at once */

static void connect_to_launcher(void)
{
    int end[2];
    char number[16];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0)
        exit(EXIT_FAILURE);
    snprintf(number, sizeof number, "%d", end[0]);
    setenv("PMI_FD", number, 1);
    launcher = end[1];
}

static void say(const char *text)
{
    if (send(launcher, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
        exit(EXIT_FAILURE);
}

static void hang_up(void)
{
    close(launcher);
    close(atoi(getenv("PMI_FD")));
    unsetenv("PMI_FD");
}

static void test_answered(void)
{
    char asked[64] = "";
    connect_to_launcher();
    say("cmd=barrier_out\n");
    say(WELL);
    check(stay_take_leave(LONG_MS), "the answer comes after one that the rank had asked for");
    check(recv(launcher, asked, sizeof asked - 1, 0) > 0 && strcmp(asked, "cmd=finalize\n") == 0,
          "the launcher was told in its protocol");
    memset(much, '.', sizeof much - 1);
    say(much);
    say(WELL);
    check(stay_take_leave(LONG_MS), "the answer comes after much else");
    hang_up();
}

static void test_not_answered(void)
{
    check(!stay_take_leave(LONG_MS), "without a launcher nothing is waited for");
    connect_to_launcher();
    shutdown(launcher, SHUT_WR);
    check(!stay_take_leave(LONG_MS), "a launcher that has ended is not waited for");
    hang_up();
    connect_to_launcher();
    check(!stay_take_leave(SHORT_MS),
          "one that never answers is waited for so long, and no longer");
    say("cmd=final");
    check(!stay_take_leave(SHORT_MS), "so is one that stops in the middle of its answer");
    hang_up();
}

int main(void)
{
    test_answered();
    test_not_answered();
    return done();
}
