/* The way of a process' state to a skeleton process: a TCP connection from the one that migrates to
 * the one that takes its place [CC, sections 4 and 5.2]. Sizes in bytes. What is sent is received
 * as it is: both ends are the same program on machines of one kind. Must not know: MPI, what the
 * bytes mean. */
#ifndef COCHECK_TRANSPORT_H
#define COCHECK_TRANSPORT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a skeleton process listens: an IPv4 address and a port, in one number so that it fits into
 * a message. 0 is nowhere. */
typedef uint64_t transport_address;

/* One end of a connection, or a socket that listens. Closed when fd is -1. */
struct transport {
    int fd;
};
#define TRANSPORT_CLOSED ((struct transport){.fd = -1})

/* Listens at a free port of the host's address `host` (numbers and points, as 127.0.0.1). Errors:
 * ERROR_USAGE (no address of this host), ERROR_IO. */
enum error_code transport_listen(struct transport *listener, const char *host,
                                 transport_address *address, struct error *error);

/* Takes a connection that has come: *there says whether one had. Does not wait. */
enum error_code transport_accept(const struct transport *listener, struct transport *end,
                                 bool *there, struct error *error);

/* Waits until it is connected. */
enum error_code transport_connect(struct transport *end, transport_address address,
                                  struct error *error);

/* Wait until all of it is on its way, or is here. Errors: ERROR_IO, also where the other end has
 * closed before. */
enum error_code transport_send(struct transport *end, const void *data, size_t bytes,
                               struct error *error);
enum error_code transport_receive(struct transport *end, void *data, size_t bytes,
                                  struct error *error);

/* Harmless on what is closed. What was sent still arrives. */
void transport_close(struct transport *end);

#endif
