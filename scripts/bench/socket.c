/* How long a bare TCP socket takes to move so many bytes from one process to another on this
 * machine: what a migration is held against. The receiver's memory is new, as it is in a process
 * that a state comes to. Usage: socket BYTES [huge]; prints the seconds from the connection's
 * beginning to the last byte received. huge: both ask for huge pages, as a migration does. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES (1 << 20)
#define HUGE_PAGE_BYTES (2 << 20)

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(EXIT_FAILURE);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int listen_here(struct sockaddr_in *at)
{
    socklen_t length = sizeof *at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    must(listener >= 0 && bind(listener, (struct sockaddr *)at, sizeof *at) == 0 &&
             listen(listener, 1) == 0 && getsockname(listener, (struct sockaddr *)at, &length) == 0,
         "socket");
    return listener;
}

static char *new_memory(size_t bytes, int huge)
{
    if (!huge)
        return malloc(bytes);
    size_t whole = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    char *made = aligned_alloc(HUGE_PAGE_BYTES, whole);
    must(made && madvise(made, whole, MADV_HUGEPAGE) == 0, "memory");
    return made;
}

/* One byte back at the end: all has arrived. */
static void receive_all(int listener, size_t bytes, int huge)
{
    int end = accept(listener, NULL, NULL);
    char *data = new_memory(bytes, huge);
    must(end >= 0 && data, "accept");
    for (size_t came = 0; came < bytes;) {
        size_t left = bytes - came;
        ssize_t more = recv(end, data + came, left < CHUNK_BYTES ? left : CHUNK_BYTES, 0);
        must(more > 0, "recv");
        came += (size_t)more;
    }
    must(send(end, data, 1, 0) == 1, "send");
    exit(EXIT_SUCCESS);
}

static double send_all(const struct sockaddr_in *at, const char *data, size_t bytes)
{
    char answer;
    double begin = seconds();
    int end = socket(AF_INET, SOCK_STREAM, 0);
    must(end >= 0 && connect(end, (const struct sockaddr *)at, sizeof *at) == 0, "connect");
    for (size_t gone = 0; gone < bytes;) {
        size_t left = bytes - gone;
        ssize_t more = send(end, data + gone, left < CHUNK_BYTES ? left : CHUNK_BYTES, 0);
        must(more > 0, "send");
        gone += (size_t)more;
    }
    must(recv(end, &answer, 1, 0) == 1, "recv");
    return seconds() - begin;
}

int main(int argc, char **argv)
{
    size_t bytes = argc >= 2 ? strtoull(argv[1], NULL, 10) : 0;
    int huge = argc == 3 && strcmp(argv[2], "huge") == 0;
    struct sockaddr_in at;
    int status;
    if (bytes == 0 || argc > 2 + huge) {
        fprintf(stderr, "usage: socket BYTES [huge]\n");
        return 64;
    }
    int listener = listen_here(&at);
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0)
        receive_all(listener, bytes, huge);
    char *data = new_memory(bytes, huge);
    must(data != NULL, "malloc");
    memset(data, 1, bytes);
    printf("%.6f\n", send_all(&at, data, bytes));
    must(waitpid(child, &status, 0) == child && status == 0, "receiver");
    free(data);
    return 0;
}
