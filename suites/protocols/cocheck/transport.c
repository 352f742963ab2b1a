/* See transport.h. */
#include "cocheck/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PENDING_MOST 4       /* connections that wait to be taken: one is expected */
#define ADDRESS_PORT_BITS 16 /* of a transport_address; the IPv4 address is above them */
#define CHUNK_BYTES (1 << 20)

static enum error_code failed(struct error *error, const char *what)
{
    return error_set(error, ERROR_IO, "migration: cannot %s: %s", what, strerror(errno));
}

static transport_address address_of(const struct sockaddr_in *at)
{
    return (transport_address)ntohl(at->sin_addr.s_addr) << ADDRESS_PORT_BITS | ntohs(at->sin_port);
}

static struct sockaddr_in socket_of(transport_address address)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)address),
        .sin_addr.s_addr = htonl((uint32_t)(address >> ADDRESS_PORT_BITS)),
    };
}

enum error_code transport_listen(struct transport *listener, const char *host,
                                 transport_address *address, struct error *error)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    *listener = TRANSPORT_CLOSED;
    if (inet_pton(AF_INET, host, &at.sin_addr) != 1)
        return error_set(error, ERROR_USAGE,
                         "migration: '%s' is no address; accepted: four numbers, as 127.0.0.1",
                         host);
    listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0)
        return failed(error, "make a socket");
    if (bind(listener->fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener->fd, PENDING_MOST) != 0 ||
        getsockname(listener->fd, (struct sockaddr *)&at, &length) != 0) {
        enum error_code code = failed(error, "listen");
        transport_close(listener);
        return code;
    }
    *address = address_of(&at);
    return OK;
}

enum error_code transport_accept(const struct transport *listener, struct transport *end,
                                 bool *there, struct error *error)
{
    end->fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    *there = end->fd >= 0;
    if (*there || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return OK;
    return failed(error, "accept a connection");
}

enum error_code transport_connect(struct transport *end, transport_address address,
                                  struct error *error)
{
    const struct sockaddr_in at = socket_of(address);
    const int on = 1;
    end->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end->fd < 0)
        return failed(error, "make a socket");
    int result;
    do
        result = connect(end->fd, (const struct sockaddr *)&at, sizeof at);
    while (result != 0 && errno == EINTR);
    if (result != 0) {
        enum error_code code = failed(error, "connect to the skeleton process");
        transport_close(end);
        return code;
    }
    setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return OK;
}

enum error_code transport_send(struct transport *end, const void *data, size_t bytes,
                               struct error *error)
{
    for (const char *next = data; bytes > 0;) {
        ssize_t sent = send(end->fd, next, bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return failed(error, "send the state");
        next += sent;
        bytes -= (size_t)sent;
    }
    return OK;
}

enum error_code transport_receive(struct transport *end, void *data, size_t bytes,
                                  struct error *error)
{
    for (char *next = data; bytes > 0;) {
        ssize_t came = recv(end->fd, next, bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES, 0);
        if (came < 0 && errno == EINTR)
            continue;
        if (came < 0)
            return failed(error, "receive the state");
        if (came == 0)
            return error_set(error, ERROR_IO, "migration: the state ends %zu bytes too early",
                             bytes);
        next += came;
        bytes -= (size_t)came;
    }
    return OK;
}

void transport_close(struct transport *end)
{
    if (end->fd >= 0)
        close(end->fd);
    end->fd = -1;
}
