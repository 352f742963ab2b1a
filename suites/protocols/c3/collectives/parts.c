/* See parts.h. */
#include "c3/collectives/parts.h"

#include <limits.h>
#include <stdlib.h>

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return extent;
}

static int length_of(const struct parts *parts, int piece)
{
    return parts->lengths ? parts->lengths[piece] : parts->length;
}

struct payload part(const struct parts *parts, int piece)
{
    struct payload payload = {parts->buffer, length_of(parts, piece),
                              parts->types ? parts->types[piece] : parts->type};
    MPI_Aint bytes = 0;
    if (parts->types)
        bytes = parts->offsets[piece];
    else if (parts->offsets)
        bytes = parts->offsets[piece] * extent_of(parts->type);
    else if (piece > 0)
        bytes = (MPI_Aint)piece * parts->length * extent_of(parts->type);
    payload.buffer = (char *)parts->buffer + bytes;
    return payload;
}

uint64_t part_bytes(const struct parts *parts, int piece)
{
    struct payload payload = {NULL, length_of(parts, piece),
                              parts->types ? parts->types[piece] : parts->type};
    return payload_bytes(&payload);
}

uint64_t parts_bytes(const struct parts *parts)
{
    uint64_t all = 0;
    for (int piece = 0; piece < parts->pieces; piece++)
        all += part_bytes(parts, piece);
    return all;
}

int parts_pack(const struct parts *parts, char *row)
{
    int error = MPI_SUCCESS;
    for (int piece = 0; piece < parts->pieces && error == MPI_SUCCESS; piece++) {
        struct payload payload = part(parts, piece);
        error = payload_pack(&payload, row);
        row += payload_bytes(&payload);
    }
    return error;
}

int parts_unpack(const struct parts *parts, const char *row)
{
    int error = MPI_SUCCESS;
    for (int piece = 0; piece < parts->pieces && error == MPI_SUCCESS; piece++) {
        struct payload payload = part(parts, piece);
        uint64_t bytes = payload_bytes(&payload);
        error = payload_unpack(&payload, row, bytes);
        row += bytes;
    }
    return error;
}

/* --- rows with bits --------------------------------------------------------------------------- */

/* What was needed once is kept: a program makes the same calls again. */
static struct {
    char *bytes;
    uint64_t room;
    int *places;
    int places_room;
} kept[ROWS_COUNT];

struct rows rows_for(enum rows_which which, const struct parts *parts)
{
    int pieces = parts->pieces;
    if (kept[which].places_room < 2 * pieces) {
        kept[which].places_room = 2 * pieces;
        kept[which].places =
            larger(kept[which].places, 2 * (size_t)pieces * sizeof *kept[which].places);
    }
    int *length = kept[which].places, *offset = length + pieces;
    uint64_t all = 0;
    for (int piece = 0; piece < pieces; piece++) {
        uint64_t bytes = BITS_BYTES + part_bytes(parts, piece);
        if (all + bytes > INT_MAX)
            refuse("C3_COLLECTIVE_BITS=piggyback on more than 2 GiB in one call",
                   "C3_COLLECTIVE_BITS=separate, auto");
        length[piece] = (int)bytes;
        offset[piece] = (int)all;
        all += bytes;
    }
    if (kept[which].room < all) {
        kept[which].room = all;
        kept[which].bytes = larger(kept[which].bytes, all);
    }
    return (struct rows){kept[which].bytes, pieces, length, offset};
}

int rows_put(const struct rows *rows, const struct parts *parts, int piece)
{
    struct payload payload = part(parts, piece);
    char *row = rows->bytes + rows->offset[piece];
    *(bits *)row = bits_own();
    return payload_pack(&payload, row + BITS_BYTES);
}

int rows_put_all(const struct rows *rows, const struct parts *parts)
{
    int error = MPI_SUCCESS;
    for (int piece = 0; piece < parts->pieces && error == MPI_SUCCESS; piece++)
        error = rows_put(rows, parts, piece);
    return error;
}

int rows_take(const struct rows *rows, const struct parts *parts, int piece, bits *one)
{
    struct payload payload = part(parts, piece);
    const char *row = rows->bytes + rows->offset[piece];
    *one = *(const bits *)row;
    return payload_unpack(&payload, row + BITS_BYTES, payload_bytes(&payload));
}

int rows_take_all(const struct rows *rows, const struct parts *parts, int except, bits *all)
{
    int error = MPI_SUCCESS;
    for (int piece = 0; piece < parts->pieces && error == MPI_SUCCESS; piece++)
        if (piece == except)
            all[piece] = bits_own();
        else
            error = rows_take(rows, parts, piece, &all[piece]);
    return error;
}

void *room_for(int count, MPI_Datatype type, char **owned)
{
    char *first;
    uint64_t bytes;
    payload_span(&(struct payload){NULL, count, type}, &first, &bytes);
    *owned = memory(1, bytes);
    return *owned - (first - (char *)NULL);
}
