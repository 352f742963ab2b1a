/* See payload.h. */
#include "injectors/record/payload.h"

#include "injectors/record/library.h"
#include "injectors/record/runtime.h"

#include <float.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HASHES_REMEMBERED 128    /* per thread; a power of 2: what one MPI_Waitall may complete */
#define REMEMBER_ABOVE_BYTES 256 /* a shorter payload is hashed again sooner than looked up */
#define NESTING_MAX 16 /* datatypes of datatypes that are followed; deeper ones are packed */

struct remembered_hash {
    const void *buffer;
    uint64_t bytes;
    MPI_Datatype type;
    uint32_t passage; /* thread_state.passage; 0: an empty place */
    uint8_t side;
    uint64_t hash;
};

struct payload_state {
    struct remembered_hash hash[HASHES_REMEMBERED];
    char *packed; /* owned; freed when the thread ends */
    size_t packed_bytes;
};

static __thread struct payload_state state __attribute__((tls_model("initial-exec")));
enum hash_mode payload_mode = HASH_SAMPLE;

__thread struct payload_type payload_types[PAYLOAD_TYPES_REMEMBERED]
    __attribute__((tls_model("initial-exec")));
_Atomic uint32_t payload_types_freed = 1;

bool payload_mode_from_text(const char *text, enum hash_mode *chosen)
{
    static const char *const texts[] = {"none", "sample", "full"};
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(text, texts[i]) == 0) {
            *chosen = (enum hash_mode)i;
            return true;
        }
    return false;
}

void payload_forget_type(MPI_Datatype type)
{
    (void)type; /* other threads remember it too, so all that was made is forgotten */
    atomic_fetch_add(&payload_types_freed, 1);
}

/* --- datatypes -------------------------------------------------------------------------------- */
/* Only what is one block of memory in the order of its packed form: a named type without holes, and
 * contiguous and dup of such. */
static bool is_in_place(MPI_Datatype type, unsigned depth);

static bool is_solid(MPI_Datatype type)
{
    MPI_Count size, low, extent;
    return library.Type_size_x(type, &size) == MPI_SUCCESS &&
           library.Type_get_extent_x(type, &low, &extent) == MPI_SUCCESS && low == 0 &&
           extent == size;
}

/* MPI_Type_get_contents gave us a handle of our own, unless the type is one that nobody frees. */
static void give_back(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    if (library.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_INTEGER &&
        combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX)
        library.Type_free(&type);
}

/* The type that a contiguous or dup type is made of. */
static bool base_is_in_place(MPI_Datatype type, int integers, int addresses, int types,
                             unsigned depth)
{
    int integer[1];
    MPI_Aint address[1];
    MPI_Datatype base;
    if (integers > 1 || addresses > 0 || types != 1 || depth == NESTING_MAX ||
        library.Type_get_contents(type, 1, 1, 1, integer, address, &base) != MPI_SUCCESS)
        return false;
    bool answer = is_in_place(base, depth + 1);
    give_back(base);
    return answer;
}

static bool is_in_place(MPI_Datatype type, unsigned depth)
{
    int integers, addresses, types, combiner;
    if (library.Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return is_solid(type);
    if (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP)
        return base_is_in_place(type, integers, addresses, types, depth);
    return false;
}

static bool is_padded(MPI_Datatype type, unsigned depth);

/* Of what a derived type is made. Asked once per type, so it may allocate. */
static bool part_is_padded(MPI_Datatype type, int integers, int addresses, int types,
                           unsigned depth)
{
    int *integer = calloc((size_t)integers + 1, sizeof *integer);
    MPI_Aint *address = calloc((size_t)addresses + 1, sizeof *address);
    MPI_Datatype *part = calloc((size_t)types + 1, sizeof *part);
    bool known = integer && address && part &&
                 library.Type_get_contents(type, integers, addresses, types, integer, address,
                                           part) == MPI_SUCCESS;
    bool answer = !known;
    for (int i = 0; known && i < types; i++) {
        answer |= is_padded(part[i], depth + 1);
        give_back(part[i]);
    }
    free(part);
    free(address);
    free(integer);
    return answer;
}

/* Does it hold bytes without a meaning? Of x87's long double 10 of 16 bytes count; what is in the
 * others differs from rank to rank, and packing copies it. true also where that is not known. */
static bool is_padded(MPI_Datatype type, unsigned depth)
{
    int integers, addresses, types, combiner;
    if (library.Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return true;
    if (types == 0)
        return LDBL_MANT_DIG == 64 &&
               (type == handles.LONG_DOUBLE || type == handles.C_LONG_DOUBLE_COMPLEX ||
                type == handles.CXX_LONG_DOUBLE_COMPLEX || type == handles.LONG_DOUBLE_INT);
    return depth == NESTING_MAX || part_is_padded(type, integers, addresses, types, depth);
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    return library.Type_get_envelope(type, &integers, &addresses, &types, &combiner) ==
               MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

void payload_learn(struct payload_type *place, MPI_Datatype type)
{
    MPI_Count size = 0;
    place->type = type;
    place->generation = atomic_load_explicit(&payload_types_freed, memory_order_relaxed);
    thread_state.wire_depth++;
    bool known = library.Type_size_x(type, &size) == MPI_SUCCESS && size >= 0;
    place->size = known ? (uint64_t)size : 0;
    place->named = known && is_named(type);
    place->padded = known && is_padded(type, 0);
    place->in_place = known && !place->padded && is_in_place(type, 0);
    thread_state.wire_depth--;
}

/* --- packing ---------------------------------------------------------------------------------- */
static pthread_key_t packed_key;
static pthread_once_t packed_once = PTHREAD_ONCE_INIT;

static void make_packed_key(void)
{
    pthread_key_create(&packed_key, free);
}

static char *room_to_pack(size_t bytes)
{
    if (bytes <= state.packed_bytes)
        return state.packed;
    char *larger = realloc(state.packed, bytes);
    if (larger == NULL)
        return NULL;
    state.packed = larger;
    state.packed_bytes = bytes;
    pthread_once(&packed_once, make_packed_key);
    pthread_setspecific(packed_key, larger);
    return larger;
}

/* NULL if it cannot be packed. Valid until this thread packs again. */
static const char *pack(const void *buffer, MPI_Count count, MPI_Datatype type, uint64_t bytes)
{
    int needed = 0;
    int packed = 0;
    char *out = NULL;
    if (library.Pack_size((int)count, type, handles.COMM_SELF, &needed) == MPI_SUCCESS)
        out = room_to_pack((size_t)needed);
    if (out == NULL || library.Pack(buffer, (int)count, type, out, needed, &packed,
                                    handles.COMM_SELF) != MPI_SUCCESS)
        return NULL;
    /* A library that adds something of its own to the packed form gives no comparable hash. */
    return (uint64_t)packed == bytes ? out : NULL;
}

/* Below this nothing is ever mapped: a buffer that begins there is a NULL pointer given by mistake,
 * for the library to complain about. */
#define LOWEST_ADDRESS 4096

/* MPI_BOTTOM: the datatype holds addresses. MPICH takes a NULL buffer for a mistake when it packs,
 * so the addresses are counted from 1 instead of 0. */
static const char *pack_from_bottom(MPI_Count count, MPI_Datatype type, uint64_t bytes)
{
    static char *const one = (char *)1;
    const MPI_Aint shift = -1;
    int blocks = (int)count;
    MPI_Count low, extent;
    MPI_Datatype shifted;
    const char *out = NULL;
    if (library.Type_get_true_extent_x(type, &low, &extent) != MPI_SUCCESS ||
        low < LOWEST_ADDRESS ||
        library.Type_create_hindexed(1, &blocks, &shift, type, &shifted) != MPI_SUCCESS)
        return NULL;
    if (library.Type_commit(&shifted) == MPI_SUCCESS)
        out = pack(one, 1, shifted, bytes);
    library.Type_free(&shifted);
    return out;
}

static const char *packed_form(const void *buffer, MPI_Count count, MPI_Datatype type,
                               uint64_t bytes)
{
    if (bytes > PAYLOAD_PACK_MAX_BYTES)
        return NULL;
    thread_state.wire_depth++;
    const char *out = buffer == MPI_BOTTOM ? pack_from_bottom(count, type, bytes)
                                           : pack(buffer, count, type, bytes);
    thread_state.wire_depth--;
    return out;
}

/* Where it lies, or packed until this thread packs again; NULL if it cannot be. */
static const void *packed_or_in_place(const void *buffer, MPI_Count count, MPI_Datatype type,
                                      uint64_t bytes)
{
    if (bytes == 0)
        return "";
    if (payload_type_of(type)->in_place)
        return buffer;
    return count <= INT_MAX ? packed_form(buffer, count, type, bytes) : NULL;
}

void *payload_copy(const void *buffer, MPI_Count count, MPI_Datatype type, uint64_t *bytes)
{
    *bytes = payload_bytes(count, type);
    const void *packed =
        *bytes <= PAYLOAD_PACK_MAX_BYTES ? packed_or_in_place(buffer, count, type, *bytes) : NULL;
    void *copy = packed != NULL ? malloc(*bytes + 1) : NULL;
    if (copy != NULL)
        memcpy(copy, packed, *bytes);
    return copy;
}

/* --- looking into it -------------------------------------------------------------------------- */
static __thread struct {
    const struct record *record;
    uint64_t enter;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
} shown __attribute__((tls_model("initial-exec")));

void payload_show(const struct record *record, uint64_t enter, const void *buffer, MPI_Count count,
                  MPI_Datatype type)
{
    shown.record = record;
    shown.enter = enter;
    shown.buffer = buffer;
    shown.count = count;
    shown.type = type;
}

/* A poll is shown in the thread's own record and asked about in that of the trace: these have their
 * entry in common. */
bool tap_payload_peek(const struct record *r, uint64_t offset, unsigned bytes, uint64_t *value)
{
    uint8_t as8;
    uint16_t as16;
    uint32_t as32;
    if (shown.record != r && (r->enter == 0 || shown.enter != r->enter))
        return false;
    uint64_t whole = payload_bytes(shown.count, shown.type);
    if (bytes > whole || offset > whole - bytes)
        return false;
    MPI_Count count = (MPI_Count)((offset + bytes - 1) / payload_bytes(1, shown.type)) + 1;
    const char *packed =
        packed_or_in_place(shown.buffer, count, shown.type, payload_bytes(count, shown.type));
    if (packed == NULL)
        return false;
    switch (bytes) {
    case 1:
        memcpy(&as8, packed + offset, 1);
        *value = as8;
        return true;
    case 2:
        memcpy(&as16, packed + offset, 2);
        *value = as16;
        return true;
    case 4:
        memcpy(&as32, packed + offset, 4);
        *value = as32;
        return true;
    case 8:
        memcpy(value, packed + offset, 8);
        return true;
    default:
        return false;
    }
}

/* --- hashing ---------------------------------------------------------------------------------- */
static uint64_t hash_of(const void *data, uint64_t bytes)
{
    return payload_mode == HASH_FULL ? hash_bytes(data, bytes) : hash_sample(data, bytes);
}

static struct remembered_hash *place_of(const void *buffer)
{
    uint64_t mixed = (uint64_t)(uintptr_t)buffer * UINT64_C(0x9e3779b97f4a7c15);
    return &state.hash[(mixed >> 32) & (HASHES_REMEMBERED - 1)];
}

static uint64_t hash_anew(const void *buffer, MPI_Count count, MPI_Datatype type,
                          const struct payload_type *facts, uint64_t bytes, bool *hashed)
{
    const void *data = facts->in_place ? buffer
                       : facts->padded ? NULL
                                       : packed_form(buffer, count, type, bytes);
    *hashed = data != NULL;
    return data != NULL ? hash_of(data, bytes) : 0;
}

static uint64_t hash_once(const void *buffer, MPI_Count count, MPI_Datatype type,
                          const struct payload_type *facts, uint64_t bytes, enum payload_side side,
                          bool *hashed)
{
    struct remembered_hash *place = place_of(buffer);
    if (place->passage == thread_state.passage && place->buffer == buffer &&
        place->bytes == bytes && place->type == type && place->side == side) {
        *hashed = true;
        return place->hash;
    }
    uint64_t hash = hash_anew(buffer, count, type, facts, bytes, hashed);
    if (*hashed)
        *place = (struct remembered_hash){buffer,        bytes, type, thread_state.passage,
                                          (uint8_t)side, hash};
    return hash;
}

uint64_t payload_hash_any(const void *buffer, MPI_Count count, MPI_Datatype type,
                          enum payload_side side, bool *hashed)
{
    *hashed = false;
    if (payload_mode == HASH_NONE || buffer == MPI_IN_PLACE)
        return 0;
    if (count < 1 || type == handles.DATATYPE_NULL) {
        *hashed = true;
        return hash_bytes(NULL, 0);
    }
    const struct payload_type *facts = payload_type_of(type);
    uint64_t bytes = (uint64_t)count * facts->size;
    if (bytes == 0 || (facts->in_place && bytes <= REMEMBER_ABOVE_BYTES && buffer != NULL)) {
        *hashed = true;
        return hash_bytes(buffer, bytes);
    }
    if (thread_state.direct)
        return hash_once(buffer, count, type, facts, bytes, side, hashed);
    return hash_anew(buffer, count, type, facts, bytes, hashed);
}

uint64_t payload_hash_packed(const void *data, uint64_t bytes, bool *hashed)
{
    *hashed = payload_mode != HASH_NONE && (data != NULL || bytes == 0);
    return *hashed ? hash_of(data, bytes) : 0;
}
