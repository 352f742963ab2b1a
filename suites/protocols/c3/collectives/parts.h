/* Data of a collective call that lies in pieces, one per rank or one in all; and such data as a row
 * of bytes, with control bits in front of each piece or without. Must not know: MPI's collective
 * calls, the line. */
#ifndef C3_PARTS_H
#define C3_PARTS_H

#include "c3/collectives/bits.h"
#include "common/communicators/payload.h"

/* Where piece i begins and how long it is. Nothing is owned. */
struct parts {
    void *buffer;
    int pieces;
    int length;         /* of each; of no use if there are lengths */
    const int *lengths; /* or NULL */
    const int *offsets; /* or NULL: they lie after each other */
    MPI_Datatype type;
    const MPI_Datatype *types; /* of MPI_Alltoallw, whose offsets are bytes; else NULL */
};

static inline struct parts one_part(void *buffer, int count, MPI_Datatype type)
{
    return (struct parts){.buffer = buffer, .pieces = 1, .length = count, .type = type};
}

struct payload part(const struct parts *parts, int piece);
uint64_t part_bytes(const struct parts *parts, int piece);

/* Of all pieces. */
uint64_t parts_bytes(const struct parts *parts);

/* All pieces after each other to and from a row of parts_bytes(). Return an MPI error code. */
int parts_pack(const struct parts *parts, char *row);
int parts_unpack(const struct parts *parts, const char *row);

/* Pieces as rows of bytes, the sender's bits in front of each. The memory belongs to this module,
 * until the next call with the same `which`: one thing that is sent and one that is received. */
enum rows_which { ROWS_OUT, ROWS_IN, ROWS_COUNT };
struct rows {
    char *bytes;
    int pieces;
    int *length; /* of each in bytes, its bits included */
    int *offset;
};

/* Room for the pieces; ends the job if they are too long for one call of MPI. */
struct rows rows_for(enum rows_which which, const struct parts *parts);

/* This rank's bits and the piece's data into its row. Returns an MPI error code. */
int rows_put(const struct rows *rows, const struct parts *parts, int piece);
int rows_put_all(const struct rows *rows, const struct parts *parts);

/* The piece's data from its row to its place, and the bits in front of it. */
int rows_take(const struct rows *rows, const struct parts *parts, int piece, bits *one);

/* The same for all pieces; `except` keeps what it is: its bits are this rank's (-1: none is). */
int rows_take_all(const struct rows *rows, const struct parts *parts, int except, bits *all);

/* Room for `count` elements where a buffer of them may begin. Owned by the caller: free *owned. */
void *room_for(int count, MPI_Datatype type, char **owned);

#endif
