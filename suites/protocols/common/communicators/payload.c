/* See payload.h. */
#include "common/communicators/payload.h"

#include "common/base/numbered.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_REMEMBERED 16 /* datatypes; a power of 2 */

/* A named type without holes: its row of bytes is its memory. Named types are never freed, so what
 * is known of one stays true. */
struct plain {
    MPI_Datatype type;
    bool is; /* plain */
    uint64_t bytes;
};

static struct plain remembered[PLAIN_REMEMBERED];

static struct plain learn(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    MPI_Count bytes = 0, low, extent;
    struct plain plain = {.type = type};
    if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return plain;
    plain.bytes = (uint64_t)bytes;
    plain.is =
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
        combiner == MPI_COMBINER_NAMED &&
        PMPI_Type_get_extent_x(type, &low, &extent) == MPI_SUCCESS && low == 0 && extent == bytes;
    return plain;
}

static struct plain plain_of(MPI_Datatype type)
{
    struct plain *place =
        &remembered[(HANDLE_BITS(type) ^ HANDLE_BITS(type) >> 8) % PLAIN_REMEMBERED];
    if (place->is && place->type == type)
        return *place;
    struct plain plain = learn(type);
    if (plain.is)
        *place = plain;
    return plain;
}

uint64_t payload_bytes(const struct payload *payload)
{
    return payload->count > 0 ? (uint64_t)payload->count * plain_of(payload->type).bytes : 0;
}

void payload_span(const struct payload *payload, char **first, uint64_t *bytes)
{
    MPI_Aint low, extent, true_low, true_extent;
    *first = payload->buffer;
    *bytes = 0;
    if (payload->count < 1 || PMPI_Type_get_extent(payload->type, &low, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(payload->type, &true_low, &true_extent) != MPI_SUCCESS)
        return;
    MPI_Aint last = (payload->count - 1) * extent;
    *first = (char *)payload->buffer + true_low + (last < 0 ? last : 0);
    *bytes = (uint64_t)(true_extent + (last < 0 ? -last : last));
}

/* The library packs nothing that begins at NULL, so MPI_BOTTOM's addresses are counted from 1. */
static int counted_from_one(const struct payload *payload, struct payload *shifted)
{
    const MPI_Aint back = -1;
    *shifted = (struct payload){.buffer = (char *)1, .count = 1};
    int error = PMPI_Type_create_hindexed(1, &payload->count, &back, payload->type, &shifted->type);
    return error == MPI_SUCCESS ? PMPI_Type_commit(&shifted->type) : error;
}

static int pack(const struct payload *payload, void *row, uint64_t bytes)
{
    int position = 0;
    if (bytes > INT_MAX)
        return MPI_ERR_COUNT;
    return PMPI_Pack(payload->buffer, payload->count, payload->type, row, (int)bytes, &position,
                     MPI_COMM_SELF);
}

static int unpack(const struct payload *payload, const void *row, uint64_t bytes)
{
    int position = 0;
    if (bytes > INT_MAX)
        return MPI_ERR_COUNT;
    return PMPI_Unpack(row, (int)bytes, &position, payload->buffer, payload->count, payload->type,
                       MPI_COMM_SELF);
}

int payload_pack(const struct payload *payload, void *row)
{
    struct plain plain = plain_of(payload->type);
    uint64_t bytes = payload_bytes(payload);
    if (bytes == 0)
        return MPI_SUCCESS;
    if (plain.is) {
        memcpy(row, payload->buffer, bytes);
        return MPI_SUCCESS;
    }
    if (payload->buffer != MPI_BOTTOM)
        return pack(payload, row, bytes);
    struct payload shifted;
    int error = counted_from_one(payload, &shifted);
    if (error == MPI_SUCCESS)
        error = pack(&shifted, row, bytes);
    PMPI_Type_free(&shifted.type);
    return error;
}

/* Whole elements, and of one more its first bytes: what lies after them keeps what it holds. */
static int unpack_elements(const struct payload *payload, const char *row, uint64_t bytes,
                           uint64_t element_bytes)
{
    struct payload whole = *payload;
    whole.count = (int)(bytes / element_bytes);
    uint64_t rest = bytes % element_bytes;
    int error = whole.count > 0 ? unpack(&whole, row, bytes - rest) : MPI_SUCCESS;
    if (error != MPI_SUCCESS || rest == 0)
        return error;
    MPI_Aint low, extent;
    PMPI_Type_get_extent(payload->type, &low, &extent);
    struct payload last = {.buffer = (char *)payload->buffer + whole.count * extent,
                           .count = 1,
                           .type = payload->type};
    char *element = malloc(element_bytes);
    if (!element)
        return MPI_ERR_NO_MEM;
    error = pack(&last, element, element_bytes);
    memcpy(element, row + (bytes - rest), rest);
    if (error == MPI_SUCCESS)
        error = unpack(&last, element, element_bytes);
    free(element);
    return error;
}

int payload_unpack(const struct payload *payload, const void *row, uint64_t bytes)
{
    struct plain plain = plain_of(payload->type);
    if (bytes == 0)
        return MPI_SUCCESS;
    if (plain.is) {
        memcpy(payload->buffer, row, bytes);
        return MPI_SUCCESS;
    }
    if (payload->buffer != MPI_BOTTOM)
        return unpack_elements(payload, row, bytes, plain.bytes);
    struct payload shifted;
    int error = counted_from_one(payload, &shifted);
    if (error == MPI_SUCCESS)
        error = unpack_elements(&shifted, row, bytes, payload_bytes(&shifted));
    PMPI_Type_free(&shifted.type);
    return error;
}

int payload_framed(const struct payload *payload, const void *header, size_t header_bytes,
                   MPI_Datatype *framed)
{
    int lengths[2] = {(int)header_bytes, payload->count};
    MPI_Datatype types[2] = {MPI_BYTE, payload->type};
    MPI_Aint addresses[2];
    PMPI_Get_address(header, &addresses[0]);
    PMPI_Get_address(payload->buffer, &addresses[1]);
    int error = PMPI_Type_create_struct(2, lengths, addresses, types, framed);
    return error == MPI_SUCCESS ? PMPI_Type_commit(framed) : error;
}
