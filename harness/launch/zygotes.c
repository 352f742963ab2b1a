/* See zygotes.h. */
#include "launch/zygotes.h"

#include "base/memory.h"
#include "engine/zygote/kept.h"
#include "launch/rank.h"
#include "launch/step.h"
#include "system/process.h"
#include "trace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_BEFORE 2 /* of a kind, before a zygote pays */
#define ALIVE_MOST 16
#define READY_WITHIN_NS 60000000000u
#define BEGIN_WITHIN_MS 10000
#define END_WITHIN_MS 60000 /* against hanging alone */

enum zygote_state { ZYGOTE_NONE, ZYGOTE_STARTING, ZYGOTE_READY, ZYGOTE_REFUSED };

struct zygote {
    char *kind; /* owned; see kind_of */
    unsigned jobs;
    enum zygote_state state;
    pid_t pid;
    int control;         /* our end of its socket; jobs have it, too */
    uint64_t started_ns; /* CLOCK_MONOTONIC */
    uint64_t used;       /* the larger, the later */
};

static struct {
    struct zygote zygote[ZYGOTES_MOST];
    size_t count;
    uint64_t uses;
} all;

/* What is the same for all incarnations that one zygote may begin. */
static char *kind_of(const struct launch_order *order)
{
    char *text;
    size_t bytes;
    FILE *out = memory_stream(&text, &bytes);
    fprintf(out, "%s", order->preload.text);
    for (size_t i = 0; order->command[i] != NULL; i++)
        fprintf(out, "\n%s", order->command[i]);
    for (size_t i = 0; i + order->setting_count < order->environment_count; i++)
        fprintf(out, "\n=%s", order->environment[i]);
    memory_stream_end(out);
    return text;
}

/* Takes over `kind`. NULL: there are too many. */
static struct zygote *find(char *kind)
{
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.zygote[i].kind, kind) == 0) {
            free(kind);
            return &all.zygote[i];
        }
    if (all.count == ZYGOTES_MOST) {
        free(kind);
        return NULL;
    }
    struct zygote *fresh = &all.zygote[all.count++];
    *fresh = (struct zygote){.kind = kind, .control = -1};
    return fresh;
}

/* --- in the command --------------------------------------------------------------------------- */

/* Once its jobs have let go of the socket too, it ends; what it has begun goes on. */
static void let_go(struct zygote *zygote, enum zygote_state state)
{
    if (zygote->control >= 0)
        close(zygote->control);
    zygote->control = -1;
    zygote->state = state;
}

static void end(struct zygote *zygote, enum zygote_state state)
{
    if (zygote->pid != 0)
        kill(zygote->pid, SIGKILL);
    let_go(zygote, state);
}

/* Where the program's own descriptors do not come to; -1: it cannot be had. */
static int move_away(int fd)
{
    int moved = fcntl(fd, F_DUPFD, KEPT_LEAST_DESCRIPTOR);
    return moved >= 0 ? moved : fcntl(fd, F_DUPFD, STDERR_FILENO + 1);
}

_Noreturn static void become(const struct launch_order *order, pid_t command, int control)
{
    char descriptors[64];
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int output = memfd_create("faultline-output", MFD_CLOEXEC);
    setpgid(0, 0);
    if (!process_die_with(command, SIGKILL) || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(EXIT_NOT_STARTED);
    order_forget_outer_run();
    process_reset_signals(order->mask);
    step_set_environment(order);
    snprintf(descriptors, sizeof descriptors, "%d %d %d", move_away(control), move_away(output),
             getenv(KEPT_BINDS) == NULL);
    setenv(KEPT_ENVIRONMENT, descriptors, 1);
    setenv(KEPT_BINDS, "1", 0);
    execv(order->command[0], (char *const *)(uintptr_t)order->command);
    _exit(EXIT_NOT_STARTED);
}

static void start(struct zygote *zygote, const struct launch_order *order)
{
    int pair[2];
    pid_t command = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    zygote->pid = fork();
    if (zygote->pid == 0)
        become(order, command, pair[1]);
    close(pair[1]);
    zygote->control = pair[0];
    zygote->state = ZYGOTE_STARTING;
    zygote->started_ns = clock_monotonic_ns();
    if (zygote->pid < 0) {
        zygote->pid = 0;
        let_go(zygote, ZYGOTE_NONE);
    }
}

/* What it has printed so far. If it ended before it was ready, it has printed what a run should
 * print: the program is started anew for each run. */
static void look_at(struct zygote *zygote)
{
    struct kept_message message = {0};
    if (zygote->state == ZYGOTE_READY) {
        if (recv(zygote->control, &message, sizeof message, MSG_DONTWAIT) == 0)
            let_go(zygote, ZYGOTE_NONE);
        return;
    }
    if (zygote->state != ZYGOTE_STARTING)
        return;
    ssize_t got = recv(zygote->control, &message, sizeof message, MSG_DONTWAIT);
    bool late = clock_monotonic_ns() - zygote->started_ns > READY_WITHIN_NS;
    if (got > 0 && message.word == KEPT_READY)
        zygote->state = ZYGOTE_READY;
    else if (got >= 0 || errno != EAGAIN || late)
        end(zygote, ZYGOTE_REFUSED);
}

static bool is_alive(const struct zygote *zygote)
{
    return zygote->state == ZYGOTE_STARTING || zygote->state == ZYGOTE_READY;
}

static void make_room(void)
{
    size_t alive = 0;
    struct zygote *oldest = NULL;
    for (size_t i = 0; i < all.count; i++) {
        struct zygote *zygote = &all.zygote[i];
        if (!is_alive(zygote))
            continue;
        alive++;
        if (oldest == NULL || zygote->used < oldest->used)
            oldest = zygote;
    }
    if (alive >= ALIVE_MOST)
        let_go(oldest, ZYGOTE_NONE);
}

void zygotes_want(const struct scenario *scenario, const sigset_t *mask)
{
    struct launch launch = {.scenario = scenario, .folder = "", .store = "", .followed = ""};
    struct launch_order order = {0};
    struct error error = {0};
    launch.launcher = launcher_of(scenario->engine);
    launch.mask = *mask;
    if (launch.launcher != &launcher_step || launch_find_files(&launch, &error) != OK)
        return;
    struct zygote *zygote =
        order_make(&launch, &order, &error) == OK ? find(kind_of(&order)) : NULL;
    if (zygote != NULL) {
        zygote->used = ++all.uses;
        look_at(zygote);
        if (zygote->jobs++ >= JOBS_BEFORE && zygote->state == ZYGOTE_NONE && zygote->pid == 0) {
            make_room();
            start(zygote, &order);
        }
    }
    order_release(&order);
}

size_t zygotes_alive(pid_t *pids, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < all.count && count < room; i++)
        if (all.zygote[i].pid != 0)
            pids[count++] = all.zygote[i].pid;
    return count;
}

void zygotes_note_reaped(pid_t pid)
{
    for (size_t i = 0; i < all.count; i++)
        if (all.zygote[i].pid == pid) {
            all.zygote[i].pid = 0;
            look_at(&all.zygote[i]);
        }
}

void zygotes_close(void)
{
    for (size_t i = 0; i < all.count; i++) {
        end(&all.zygote[i], ZYGOTE_NONE);
        free(all.zygote[i].kind);
    }
    all.count = 0;
}

/* --- in a job --------------------------------------------------------------------------------- */

static bool is_of_faultline(const char *entry)
{
    return strncmp(entry, "FAULTLINE_", strlen("FAULTLINE_")) == 0;
}

/* false: it is too long. */
static bool add(char *request, size_t *used, const char *entry)
{
    size_t bytes = strlen(entry) + 1;
    if (!is_of_faultline(entry))
        return true;
    if (bytes >= KEPT_REQUEST_BYTES - *used)
        return false;
    memcpy(request + *used, entry, bytes);
    *used += bytes;
    return true;
}

/* Of two with one name the last holds. */
static bool make_request(char *request, size_t *used, const struct launch_order *order,
                         const char *const *environment, size_t count)
{
    bool fits = true;
    *used = 0;
    for (char **entry = environ; fits && *entry != NULL; entry++)
        fits = order_is_of_outer_run(*entry) || add(request, used, *entry);
    for (size_t i = 0; fits && i < order->environment_count; i++)
        fits = add(request, used, order->environment[i]);
    for (size_t i = 0; fits && i < count; i++)
        fits = add(request, used, environment[i]);
    return fits;
}

static bool ask(int control, char *request, size_t bytes, int line)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof line)];
    } ancillary = {.header = {.cmsg_len = CMSG_LEN(sizeof line),
                              .cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&ancillary.header), &line, sizeof line);
    struct iovec part = {.iov_base = request, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary};
    return sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

/* Something has been said, or nobody is there any more. */
static bool await(int line, int timeout_ms)
{
    struct pollfd look = {.fd = line, .events = POLLIN};
    int ready;
    do
        ready = poll(&look, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* As of a child that was killed: nobody else can know. */
static void note_lost(struct launched *launched)
{
    launched->wait_status = SIGKILL;
    launched->ended = true;
}

void zygote_listen(struct launched *launched)
{
    struct kept_message message;
    while (!launched->ended) {
        ssize_t got = recv(launched->line, &message, sizeof message, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got != sizeof message) {
            note_lost(launched);
        } else if (message.word == KEPT_BEGINS) {
            launched->pid = (pid_t)message.value;
        } else if (message.word == KEPT_ENDS) {
            launched->wait_status = W_EXITCODE(message.value & 0xff, 0);
            launched->ended = true;
        }
    }
}

bool zygote_begins(const struct launch_order *order, const char *const *environment, size_t count,
                   struct launched *launched)
{
    static char request[KEPT_REQUEST_BYTES];
    size_t bytes;
    int pair[2];
    struct zygote *zygote = find(kind_of(order));
    if (zygote == NULL || zygote->state != ZYGOTE_READY ||
        !make_request(request, &bytes, order, environment, count) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    bool asked = ask(zygote->control, request, bytes, pair[1]);
    close(pair[1]);
    launched->line = pair[0];
    if (asked && await(pair[0], BEGIN_WITHIN_MS))
        zygote_listen(launched);
    const struct kept_message go = {.word = KEPT_GO};
    if (launched->pid != 0 && send(pair[0], &go, sizeof go, MSG_NOSIGNAL) == sizeof go)
        return true;
    close(pair[0]); /* it is gone, or was stopped: what it would begin does not go on */
    *launched = (struct launched){0};
    let_go(zygote, ZYGOTE_REFUSED);
    return false;
}

/* It is gone with all below it when it says so, or its end of the line is closed. */
void zygote_end(struct launched *launched)
{
    shutdown(launched->line, SHUT_WR);
    if (!launched->ended)
        kill(launched->pid, SIGCONT);
    while (!launched->ended && await(launched->line, END_WITHIN_MS))
        zygote_listen(launched);
    if (!launched->ended) {
        kill(launched->pid, SIGKILL);
        note_lost(launched);
    }
    close(launched->line);
    launched->line = 0;
}
