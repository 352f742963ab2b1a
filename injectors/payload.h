/* Payloads: how many bytes a (buffer, count, datatype) is, and a hash of them that is the same at
 * both ends of a message, whatever the datatypes there: XXH3-64 of the packed payload.
 *
 * Contiguous data of basic types is hashed where it lies; anything else is packed by the library's
 * own PMPI_Pack into a buffer of this thread. Never inside an MPI call of ours is anything
 * recorded: wire_depth is raised around it. */
#ifndef INJECTORS_PAYLOAD_H
#define INJECTORS_PAYLOAD_H

#include "injectors/hash.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

/* What has to be packed and is larger than this is not hashed (FLAG_NO_HASH). */
#define PAYLOAD_PACK_MAX_BYTES (256u << 20)

/* Numbers of trace_header.hash_mode. */
enum hash_mode { HASH_NONE = 0, HASH_SAMPLE = 1, HASH_FULL = 2 };

/* Before the first hash; the default is HASH_SAMPLE. */
void payload_set_mode(enum hash_mode mode);

/* "none", "sample", "full"; false and unchanged *mode for anything else. */
bool payload_mode_from_text(const char *text, enum hash_mode *mode);

/* Size of the packed payload. 0 for MPI_DATATYPE_NULL and counts below 1. */
uint64_t payload_bytes(MPI_Count count, MPI_Datatype type);

/* Hash of data that goes out (payload_hash) or has come in (payload_result_hash): in a direct call
 * (runtime_direct_begin) the second level is given what the first computed, so a buffer that is
 * both must be hashed with the right one of the two. `buffer` may be MPI_BOTTOM. *hashed is false,
 * and the result 0, when hashing is off, the library refused, or the payload cannot be packed; the
 * caller then sets FLAG_NO_HASH. No bytes: the hash of nothing, *hashed true. */
uint64_t payload_hash(const void *buffer, MPI_Count count, MPI_Datatype type, bool *hashed);
uint64_t payload_result_hash(const void *buffer, MPI_Count count, MPI_Datatype type, bool *hashed);

/* The datatype is being freed: its handle may come back as another type. */
void payload_forget_type(MPI_Datatype type);

#endif
