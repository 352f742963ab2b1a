/* See payload.h. */
#include "injectors/payload.h"

#include "injectors/library.h"
#include "injectors/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TYPES_REMEMBERED 64      /* per thread; a power of 2 */
#define HASHES_REMEMBERED 128    /* per thread; a power of 2: what one MPI_Waitall may complete */
#define REMEMBER_ABOVE_BYTES 256 /* a shorter payload is hashed again sooner than looked up */
#define NESTING_MAX 16 /* datatypes of datatypes that are followed; deeper ones are packed */

/* What is known of a datatype. */
struct type_facts {
    MPI_Datatype type;
    uint32_t generation; /* of `freed` when it was learned; 0: an empty place */
    bool named;          /* exists from start to end */
    bool in_place;       /* packed form == memory, from the buffer's first byte on */
    uint64_t size;
};

enum side { SIDE_OUT, SIDE_IN };

struct remembered_hash {
    const void *buffer;
    uint64_t bytes;
    MPI_Datatype type;
    uint32_t passage; /* thread_state.passage; 0: an empty place */
    uint8_t side;
    uint64_t hash;
};

struct payload_state {
    struct type_facts type[TYPES_REMEMBERED];
    struct remembered_hash hash[HASHES_REMEMBERED];
    char *packed; /* owned; freed when the thread ends */
    size_t packed_bytes;
};

static __thread struct payload_state state __attribute__((tls_model("initial-exec")));
static enum hash_mode mode = HASH_SAMPLE;
static _Atomic uint32_t freed = 1; /* counts frees: derived types learned before are asked again */

void payload_set_mode(enum hash_mode chosen)
{
    mode = chosen;
}

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
    atomic_fetch_add(&freed, 1);
}

/* --- datatypes
 * ------------------------------------------------------------------------------------ */
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
    int ints, addrs, bases, combiner;
    if (library.Type_get_envelope(base, &ints, &addrs, &bases, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_INTEGER &&
        combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX)
        library.Type_free(&base); /* MPI gave us a handle of our own */
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

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    return library.Type_get_envelope(type, &integers, &addresses, &types, &combiner) ==
               MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

static void learn(struct type_facts *facts, MPI_Datatype type)
{
    MPI_Count size = 0;
    facts->type = type;
    facts->generation = atomic_load_explicit(&freed, memory_order_relaxed);
    thread_state.wire_depth++;
    bool known = library.Type_size_x(type, &size) == MPI_SUCCESS && size >= 0;
    facts->size = known ? (uint64_t)size : 0;
    facts->named = known && is_named(type);
    facts->in_place = known && is_in_place(type, 0);
    thread_state.wire_depth--;
}

/* Handles of basic types differ in their low bits or, where they are pointers, above the fourth. */
static inline struct type_facts *facts_of(MPI_Datatype type)
{
    uintptr_t number = (uintptr_t)type;
    struct type_facts *facts =
        &state.type[(number ^ number >> 4 ^ number >> 8) & (TYPES_REMEMBERED - 1)];
    if (__builtin_expect(facts->type != type || facts->generation == 0, 0) ||
        (!facts->named && facts->generation != atomic_load_explicit(&freed, memory_order_relaxed)))
        learn(facts, type);
    return facts;
}

uint64_t payload_bytes(MPI_Count count, MPI_Datatype type)
{
    if (count < 1 || type == MPI_DATATYPE_NULL)
        return 0;
    return (uint64_t)count * facts_of(type)->size;
}

/* --- packing
 * -------------------------------------------------------------------------------------- */
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
    if (bytes > PAYLOAD_PACK_MAX_BYTES)
        return NULL;
    thread_state.wire_depth++;
    if (library.Pack_size((int)count, type, MPI_COMM_SELF, &needed) == MPI_SUCCESS)
        out = room_to_pack((size_t)needed);
    if (out != NULL &&
        library.Pack(buffer, (int)count, type, out, needed, &packed, MPI_COMM_SELF) != MPI_SUCCESS)
        out = NULL;
    thread_state.wire_depth--;
    /* A library that adds something of its own to the packed form gives no comparable hash. */
    return (uint64_t)packed == bytes ? out : NULL;
}

/* --- hashing
 * -------------------------------------------------------------------------------------- */
static uint64_t hash_of(const void *data, uint64_t bytes)
{
    return mode == HASH_FULL ? hash_bytes(data, bytes) : hash_sample(data, bytes);
}

static struct remembered_hash *place_of(const void *buffer)
{
    uint64_t mixed = (uint64_t)(uintptr_t)buffer * UINT64_C(0x9e3779b97f4a7c15);
    return &state.hash[(mixed >> 32) & (HASHES_REMEMBERED - 1)];
}

static uint64_t hash_anew(const void *buffer, MPI_Count count, MPI_Datatype type,
                          const struct type_facts *facts, uint64_t bytes, bool *hashed)
{
    const void *data = facts->in_place ? buffer : pack(buffer, count, type, bytes);
    *hashed = data != NULL;
    return data != NULL ? hash_of(data, bytes) : 0;
}

static uint64_t hash_once(const void *buffer, MPI_Count count, MPI_Datatype type,
                          const struct type_facts *facts, uint64_t bytes, enum side side,
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

static uint64_t hash_payload(const void *buffer, MPI_Count count, MPI_Datatype type, enum side side,
                             bool *hashed)
{
    *hashed = false;
    if (mode == HASH_NONE || buffer == MPI_IN_PLACE)
        return 0;
    if (count < 1 || type == MPI_DATATYPE_NULL) {
        *hashed = true;
        return hash_bytes(NULL, 0);
    }
    const struct type_facts *facts = facts_of(type);
    uint64_t bytes = (uint64_t)count * facts->size;
    if (facts->in_place && bytes <= REMEMBER_ABOVE_BYTES && (buffer != NULL || bytes == 0)) {
        *hashed = true;
        return hash_bytes(buffer, bytes);
    }
    if (thread_state.direct)
        return hash_once(buffer, count, type, facts, bytes, side, hashed);
    return hash_anew(buffer, count, type, facts, bytes, hashed);
}

uint64_t payload_hash(const void *buffer, MPI_Count count, MPI_Datatype type, bool *hashed)
{
    return hash_payload(buffer, count, type, SIDE_OUT, hashed);
}

uint64_t payload_result_hash(const void *buffer, MPI_Count count, MPI_Datatype type, bool *hashed)
{
    return hash_payload(buffer, count, type, SIDE_IN, hashed);
}
