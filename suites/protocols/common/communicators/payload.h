/* User data between its place in the program and a row of bytes. Wherever the library packs
 * homogeneous data as it is in memory, as MPICH does, a row of bytes and the datatype describe the
 * same message. Must not know: the protocol, requests. */
#ifndef COMMON_COMMUNICATORS_PAYLOAD_H
#define COMMON_COMMUNICATORS_PAYLOAD_H

#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Data of a call: `count` elements of `type` at `buffer` (MPI_BOTTOM allowed). */
struct payload {
    void *buffer;
    int count;
    MPI_Datatype type;
};

/* Bytes that it has on the wire; 0 for a type that the library does not know. */
uint64_t payload_bytes(const struct payload *payload);

/* Copies all of it to `row`, payload_bytes() long. Returns an MPI error code. */
int payload_pack(const struct payload *payload, void *row);

/* Copies the first `bytes` of what was packed, at most payload_bytes(), into its place; what lies
 * after them is left as it was. Returns an MPI error code. */
int payload_unpack(const struct payload *payload, const void *row, uint64_t bytes);

/* A committed datatype, relative to MPI_BOTTOM, of `header_bytes` at `header` and then the payload:
 * one message without a copy. Returns an MPI error code; owned by the caller: PMPI_Type_free. */
int payload_framed(const struct payload *payload, const void *header, size_t header_bytes,
                   MPI_Datatype *framed);

/* The lowest address it touches and how many bytes from there it spans. */
void payload_span(const struct payload *payload, char **first, uint64_t *bytes);

#endif
