/* See kept.h. Must not know: what the ranks do. */
#include "engine/zygote/kept.h"

#include "base/regular_file.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define OURS "FAULTLINE_"
#define EXIT_NOT_STARTED 127
#define LINE_BYTES 512
#define COPY_BYTES 4096

static int control = -1, output = -1; /* of the zygote */
static int job = -1;                  /* of a launcher process */
static int opened;                    /* descriptors, when the library was loaded */
static bool asked; /* the program looked for a setting of the run, and found nothing */

bool kept_is_asked_for(void)
{
    return control >= 0;
}

/* How many descriptors there are; -1: not known. */
static int count_opened(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

void kept_open(void)
{
    const char *text = getenv(KEPT_ENVIRONMENT);
    int from[2], binds;
    if (text == NULL || sscanf(text, "%d %d %d", &from[0], &from[1], &binds) != 3)
        return;
    unsetenv(KEPT_ENVIRONMENT);
    if (binds)
        unsetenv(KEPT_BINDS);
    control = from[0];
    output = from[1];
    fcntl(control, F_SETFD, FD_CLOEXEC);
    fcntl(output, F_SETFD, FD_CLOEXEC);
    opened = count_opened();
    asked = false;
}

/* libc's, which would do the same: what a program reads before its first MPI call would be of no
 * run, or of the run before. */
EXPORTED char *getenv(const char *name)
{
    size_t length = strlen(name);
    asked |= control >= 0 && strncmp(name, OURS, sizeof OURS - 1) == 0;
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

/* --- may it be kept --------------------------------------------------------------------------- */

static bool has_threads(void)
{
    struct stat facts;
    return stat("/proc/self/task", &facts) != 0 || facts.st_nlink != 3; /* ".", "..", itself */
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static bool is_the_same(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The program has opened something: ranks of several runs would share its position, or what is at
 * its other end. */
static bool has_opened(void)
{
    return count_opened() != opened || !is_the_same(STDOUT_FILENO, output) ||
           !is_the_same(STDERR_FILENO, output);
}

static bool shares_memory(void)
{
    char line[LINE_BYTES];
    FILE *maps = fopen("/proc/self/maps", "re");
    bool shares = maps == NULL;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        shares |= strstr(line, " rw-s ") != NULL;
    if (maps != NULL)
        fclose(maps);
    return shares;
}

/* Python copies its environment when it begins. */
static bool has_copied_environment(void)
{
    return dlsym(RTLD_DEFAULT, "Py_Initialize") != NULL;
}

static void send_word(int to, enum kept_word word, int value)
{
    struct kept_message message = {word, value};
    ssize_t sent = send(to, &message, sizeof message, MSG_NOSIGNAL);
    (void)sent; /* a process that has ended need not know */
}

void kept_check(void)
{
    if (!asked && !has_threads() && !has_children() && !has_opened() && !shares_memory() &&
        !has_copied_environment())
        return;
    send_word(control, KEPT_REFUSED, 0);
    _exit(0);
}

/* --- requests --------------------------------------------------------------------------------- */

/* The bytes of the next request, and the line to the job; 0: the command is gone. */
static size_t next_request(char *text, size_t room, int *line)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof *line)];
    } ancillary;
    struct iovec part = {.iov_base = text, .iov_len = room};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary};
    ssize_t bytes;
    do
        bytes = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (bytes < 0 && errno == EINTR);
    struct cmsghdr *header = bytes > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *line = -1;
    if (header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(line, CMSG_DATA(header), sizeof *line);
    return bytes > 0 ? (size_t)bytes : 0;
}

static void forget_ours(void)
{
    char name[LINE_BYTES];
    if (environ == NULL)
        return;
    for (char **entry = environ; *entry != NULL;) {
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, OURS, sizeof OURS - 1) != 0 || length >= sizeof name) {
            entry++;
            continue;
        }
        memcpy(name, *entry, length);
        name[length] = '\0';
        unsetenv(name); /* the entries after it move up */
    }
}

static void set_environment(char *text, size_t bytes)
{
    forget_ours();
    for (char *end = text + bytes; text < end; text += strlen(text) + 1) {
        char *value = strchr(text, '=');
        if (value == NULL)
            continue;
        *value = '\0';
        setenv(text, value + 1, 1);
        *value = '=';
    }
}

/* What the program has said before its first MPI call stands at the beginning of what each launcher
 * says, as it does where the program is started anew. */
static void take_over_output(void)
{
    char path[PATH_MAX], part[COPY_BYTES];
    const char *folder = getenv("FAULTLINE_RUN");
    int file;
    off_t from = 0;
    if (folder == NULL ||
        snprintf(path, sizeof path, "%s/output/launcher", folder) >= (int)sizeof path ||
        regular_extend(path, &file, NULL) != OK)
        _exit(EXIT_NOT_STARTED);
    for (ssize_t got; (got = pread(output, part, sizeof part, from)) > 0; from += got)
        if (write(file, part, (size_t)got) != got)
            _exit(EXIT_NOT_STARTED);
    if (dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
        _exit(EXIT_NOT_STARTED);
    close(file);
    close(output);
}

/* A job that waited too long for the answer has started the incarnation by itself. */
static bool is_to_go(void)
{
    struct kept_message answer;
    kept_send(KEPT_BEGINS, (int)getpid());
    return recv(job, &answer, sizeof answer, 0) == sizeof answer && answer.word == KEPT_GO;
}

/* The process outlives the zygote, and ends with the job. */
static void become_launcher(int line, char *text, size_t bytes)
{
    close(control);
    control = -1;
    job = line;
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!is_to_go())
        _exit(EXIT_NOT_STARTED);
    set_environment(text, bytes);
    take_over_output();
}

void kept_serve(void)
{
    static char text[KEPT_REQUEST_BYTES];
    int line;
    send_word(control, KEPT_READY, 0);
    for (;;) {
        size_t bytes = next_request(text, sizeof text - 1, &line);
        if (bytes == 0)
            _exit(0);
        text[bytes] = '\0';
        if (line >= 0 && fork() == 0) {
            become_launcher(line, text, bytes);
            return;
        }
        if (line >= 0)
            close(line);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}

/* --- in a launcher process -------------------------------------------------------------------- */

int kept_job(void)
{
    return job;
}

void kept_send(enum kept_word word, int value)
{
    if (job >= 0)
        send_word(job, word, value);
}

/* Children that are inherited meanwhile are found by the next look. */
static void kill_children(void)
{
    int pid;
    FILE *children = fopen("/proc/thread-self/children", "re");
    while (children != NULL && fscanf(children, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (children != NULL)
        fclose(children);
}

void kept_end_leftovers(void)
{
    while (job >= 0 && has_children()) {
        kill_children();
        waitpid(-1, NULL, 0);
    }
}

void kept_forget(void)
{
    if (job >= 0)
        close(job);
    job = -1;
}
