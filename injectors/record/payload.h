/* Payloads: how many bytes a (buffer, count, datatype) is, and a hash of them that is the same at
 * both ends of a message, whatever the datatypes there: XXH3-64 of the packed payload.
 *
 * Contiguous data of basic types is hashed where it lies; anything else is packed by the library's
 * own PMPI_Pack into a buffer of this thread. Never inside an MPI call of ours is anything
 * recorded: wire_depth is raised around it. */
#ifndef INJECTORS_RECORD_PAYLOAD_H
#define INJECTORS_RECORD_PAYLOAD_H

#include "injectors/record/handles.h"
#include "injectors/record/hash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What has to be packed and is larger than this is not hashed (FLAG_NO_HASH). */
#define PAYLOAD_PACK_MAX_BYTES (256u << 20)

/* Numbers of trace_header.hash_mode. */
enum hash_mode { HASH_NONE = 0, HASH_SAMPLE = 1, HASH_FULL = 2 };

/* Set before the first hash; the default is HASH_SAMPLE. */
extern enum hash_mode payload_mode;

/* "none", "sample", "full"; false and unchanged *mode for anything else. */
bool payload_mode_from_text(const char *text, enum hash_mode *mode);

/* What is known of a datatype. */
struct payload_type {
    MPI_Datatype type;
    uint32_t generation; /* of payload_types_freed when it was learned; 0: an empty place */
    bool named;          /* exists from start to end */
    bool padded;         /* holds bytes without a meaning: never hashed */
    bool in_place;       /* packed form == memory, from the buffer's first byte on */
    uint64_t size;
};

/* Per thread; a power of 2. */
#define PAYLOAD_TYPES_REMEMBERED 64

extern __thread struct payload_type payload_types[PAYLOAD_TYPES_REMEMBERED]
    __attribute__((tls_model("initial-exec")));
extern _Atomic uint32_t payload_types_freed; /* counts, from 1: derived types are asked again */

void payload_learn(struct payload_type *place, MPI_Datatype type);

/* Handles of basic types differ in their low bits or, where they are pointers, above the fourth. */
static inline const struct payload_type *payload_type_of(MPI_Datatype type)
{
    uintptr_t number = (uintptr_t)type;
    struct payload_type *known =
        &payload_types[(number ^ number >> 8) & (PAYLOAD_TYPES_REMEMBERED - 1)];
    if (__builtin_expect(known->type != type || !known->named, 0) &&
        (known->type != type ||
         known->generation != atomic_load_explicit(&payload_types_freed, memory_order_relaxed)))
        payload_learn(known, type);
    return known;
}

/* Size of the packed payload. 0 for MPI_DATATYPE_NULL and counts below 1. */
static inline uint64_t payload_bytes(MPI_Count count, MPI_Datatype type)
{
    if (__builtin_expect(count < 1 || type == handles.DATATYPE_NULL, 0))
        return 0;
    return (uint64_t)count * payload_type_of(type)->size;
}

enum payload_side { PAYLOAD_OUT, PAYLOAD_IN };

uint64_t payload_hash_any(const void *buffer, MPI_Count count, MPI_Datatype type,
                          enum payload_side side, bool *hashed);

/* A few bytes of a basic type, as in many a program that is all about latency, without a detour. */
static inline uint64_t payload_hash_side(const void *buffer, MPI_Count count, MPI_Datatype type,
                                         enum payload_side side, bool *hashed)
{
    if (__builtin_expect(payload_mode != HASH_NONE && count > 0 && type != handles.DATATYPE_NULL,
                         1)) {
        const struct payload_type *known = payload_type_of(type);
        uint64_t bytes = (uint64_t)count * known->size;
        if (known->in_place && bytes <= HASH_SMALL_BYTES && buffer != NULL &&
            buffer != MPI_IN_PLACE) {
            *hashed = true;
            return hash_small(buffer, bytes);
        }
    }
    return payload_hash_any(buffer, count, type, side, hashed);
}

/* Hash of data that goes out (payload_hash) or has come in (payload_result_hash): in a direct call
 * (runtime_direct_begin) the second level is given what the first computed, so a buffer that is
 * both must be hashed with the right one of the two. `buffer` may be MPI_BOTTOM. *hashed is false,
 * and the result 0, when hashing is off, the library refused, or the payload cannot be packed; the
 * caller then sets FLAG_NO_HASH. No bytes: the hash of nothing, *hashed true. */
static inline uint64_t payload_hash(const void *buffer, MPI_Count count, MPI_Datatype type,
                                    bool *hashed)
{
    return payload_hash_side(buffer, count, type, PAYLOAD_OUT, hashed);
}

static inline uint64_t payload_result_hash(const void *buffer, MPI_Count count, MPI_Datatype type,
                                           bool *hashed)
{
    return payload_hash_side(buffer, count, type, PAYLOAD_IN, hashed);
}

/* The same of bytes that are packed already. */
uint64_t payload_hash_packed(const void *data, uint64_t bytes, bool *hashed);

/* The packed payload in memory of its own (the caller's: free); *bytes is its length. NULL: it
 * cannot be packed, or is longer than PAYLOAD_PACK_MAX_BYTES. */
void *payload_copy(const void *buffer, MPI_Count count, MPI_Datatype type, uint64_t *bytes);

/* This thread's call has this payload, which can be read until the call returns; `record`, `enter`:
 * its record, and when the call was entered. See tap_payload_peek in rules.h. */
struct record;
void payload_show(const struct record *record, uint64_t enter, const void *buffer, MPI_Count count,
                  MPI_Datatype type);

/* The datatype is being freed: its handle may come back as another type. */
void payload_forget_type(MPI_Datatype type);

#endif
