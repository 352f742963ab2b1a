/* Requests: see tap_request.h. */
#include "injectors/taps/tap_request.h"

#include "injectors/taps/tap_request_table.h"

#include <faultline.h>

#include <stdlib.h>
#include <string.h>

#define REQUESTS_AT_ONCE 64 /* allocated together; never given back */
#define TYPES_PER_REQUEST 2

static _Atomic uint32_t numbers[2];

uint32_t request_number(enum level level)
{
    return atomic_fetch_add_explicit(&numbers[level], 1, memory_order_relaxed) + 1;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Unused ones. One list for all threads: who completes a request need not be who made it. */
static struct request *unused;
static struct tap_lock unused_lock;

static void add_block(void)
{
    struct request *block = calloc(REQUESTS_AT_ONCE, sizeof *block);
    for (int i = 0; block && i < REQUESTS_AT_ONCE; i++) {
        block[i].unused = unused;
        unused = &block[i];
    }
}

static struct request *take_unused(void)
{
    tap_lock(&unused_lock);
    if (unlikely(!unused))
        add_block();
    struct request *request = unused;
    if (likely(request != NULL))
        unused = request->unused;
    tap_unlock(&unused_lock);
    return request;
}

struct request *request_new(enum level level, enum request_kind kind, unsigned call,
                            uint32_t number, struct communicator *communicator)
{
    struct request *request = take_unused();
    if (!request)
        return NULL;
    memset(request, 0, sizeof *request);
    request->level = (uint8_t)level;
    request->kind = (uint8_t)kind;
    request->call = (uint16_t)call;
    request->number = number;
    request->active = true;
    request->communicator = communicator_hold(communicator);
    return request;
}

/* The datatypes that will still be needed. */
static int request_types(struct request *request, MPI_Datatype *types[TYPES_PER_REQUEST])
{
    switch ((enum request_kind)request->kind) {
    case REQUEST_SEND:
    case REQUEST_RECEIVE:
        types[0] = &request->type;
        return request->count > 0 ? 1 : 0;
    case REQUEST_COLLECTIVE:
        types[0] = &request->collective.send.type;
        types[1] = &request->collective.recv.type;
        return 2;
    default:
        return 0;
    }
}

static void free_owned_types(struct request *request)
{
    MPI_Datatype *types[TYPES_PER_REQUEST];
    int count = request_types(request, types);
    library_begin();
    for (int i = 0; i < count; i++)
        if (request->owned_types & (1u << i)) {
            payload_forget_type(*types[i]);
            library.Type_free(types[i]);
        }
    library_end();
}

static void give_back(struct request *request)
{
    if (unlikely(request->owned_types))
        free_owned_types(request);
    communicator_drop(request->communicator);
    tap_lock(&unused_lock);
    request->unused = unused;
    unused = request;
    tap_unlock(&unused_lock);
}

/* --- the table -------------------------------------------------------------------------------- */

void request_insert(struct request *request, uint64_t handle, const void *where)
{
    request->handle = handle;
    request->where = where;
    struct request *gone = request_table_insert(request);
    if (gone)
        give_back(gone);
}

/* A handle of the protocol's own that stands for one of the library's, restored after a restart: it
 * is what the wire level says that one is. */
static struct request *claim_by_alias(uint64_t handle, const void *where)
{
    uint64_t wire = tap_handle_resolve(FAULTLINE_REQUEST, handle);
    struct request *below =
        wire == handle ? NULL : request_table_claim(LEVEL_WIRE, wire, where, false);
    if (!below)
        return NULL;
    struct request *request = request_new(LEVEL_APP, below->kind, below->call,
                                          request_number(LEVEL_APP), below->communicator);
    if (request && below->kind == REQUEST_RECEIVE) {
        request->buffer = below->buffer;
        request->count = below->count;
        request->type = below->type;
        request->claimed = true;
        request_insert(request, handle, where);
    } else if (request) {
        give_back(request);
        request = NULL;
    }
    request_unclaim(below);
    return request;
}

struct request *request_claim(enum level level, uint64_t handle, const void *where, bool message)
{
    if (handle == HANDLE(handles.REQUEST_NULL))
        return NULL;
    struct request *request = request_table_claim(level, handle, where, message);
    if (unlikely(!request) && level == LEVEL_APP && !message)
        request = claim_by_alias(handle, where);
    return request;
}

static struct side side_back(const struct faultline_side *noted)
{
    return (struct side){.buffer = noted->buffer,
                         .count = (MPI_Count)noted->count,
                         .type = (MPI_Datatype)noted->datatype,
                         .counts = noted->counts,
                         .displacements = noted->displacements,
                         .types = noted->datatypes};
}

static void collective_back(struct request *request, const struct faultline_collective *noted)
{
    request->active = false;
    request->collective = (struct collective){
        .operation = call_operation(request->call),
        .root = noted->root,
        .send = side_back(&noted->sent),
        .recv = side_back(&noted->received),
        .communicator = request->communicator,
        .types_gone = noted->sent.datatypes || noted->received.datatypes,
    };
}

static void message_back(struct request *request, const struct faultline_request *noted)
{
    request->active = noted->active != 0 || noted->message;
    request->cancel = request->active && noted->receives; /* perhaps, before the restart */
    request->buffer = noted->buffer;
    request->count = noted->count;
    request->type = (MPI_Datatype)noted->datatype;
    request->peer = noted->peer;
    request->tag = noted->tag;
}

static enum request_kind kind_back(const struct faultline_request *noted)
{
    return noted->message      ? REQUEST_MESSAGE
           : noted->collective ? REQUEST_COLLECTIVE
           : noted->receives   ? REQUEST_RECEIVE
                               : REQUEST_SEND;
}

/* One that nobody has made in this incarnation; NULL: out of memory. */
static struct request *new_back(const struct faultline_request *noted)
{
    unsigned call = noted->message      ? CALL_MPI_Mprobe
                    : noted->collective ? call_from_name(noted->collective->call)
                    : noted->receives   ? CALL_MPI_Irecv
                                        : CALL_MPI_Isend;
    return request_new(LEVEL_APP, kind_back(noted), call, request_number(LEVEL_APP),
                       communicator_find(LEVEL_APP, (MPI_Comm)noted->comm));
}

/* Is this the request that is brought back, made by the program once more in this incarnation? If
 * not, the protocol has given its handle to the one that is brought back. */
static bool is_made_anew(const struct request *request, const struct faultline_request *noted)
{
    return request->kind == kind_back(noted) && request->persistent == (noted->persistent != 0) &&
           request->communicator == communicator_find(LEVEL_APP, (MPI_Comm)noted->comm);
}

void tap_request_back(const struct faultline_request *noted)
{
    if (!tap_ready)
        return;
    struct request *request =
        request_table_claim(LEVEL_APP, noted->handle, NULL, noted->message != 0);
    bool known = request && is_made_anew(request, noted);
    if (request && !known)
        request_remove(request);
    if (!known)
        request = new_back(noted);
    if (!request)
        return;
    request->persistent = noted->persistent != 0 && !noted->message;
    if (!noted->collective || noted->message)
        message_back(request, noted);
    else if (!known)
        collective_back(request, noted->collective);
    if (known && request->active)
        request->number = request_number(LEVEL_APP);
    if (known)
        request_unclaim(request);
    else
        request_insert(request, noted->handle, NULL);
}

void request_remove(struct request *request)
{
    request_table_remove(request);
    give_back(request);
}

void request_done(struct request *request)
{
    if (!request->persistent) {
        request_remove(request);
        return;
    }
    request->active = false;
    request->cancel = false;
    request_unclaim(request);
}

/* --- datatypes freed early -------------------------------------------------------------------- */

/* Has the same type map and none of the original's attributes, whose copying would call back into
 * the program. false: *type is as it was. */
static bool copy_type(MPI_Datatype *type)
{
    MPI_Datatype copy;
    library_begin();
    bool copied = library.Type_contiguous(1, *type, &copy) == MPI_SUCCESS;
    if (copied) {
        library.Type_commit(&copy);
        *type = copy;
    }
    library_end();
    return copied;
}

static void keep_types(struct request *request, MPI_Datatype freed)
{
    MPI_Datatype *types[TYPES_PER_REQUEST];
    int count = request_types(request, types);
    for (int i = 0; i < count; i++)
        if (*types[i] == freed && copy_type(types[i]))
            request->owned_types |= (uint8_t)(1u << i);
}

static struct type_use *uses;
static struct tap_lock uses_lock;

void type_use_add(struct type_use *use, MPI_Datatype *type)
{
    use->type = type;
    use->owned = false;
    use->settled = false;
    tap_lock(&uses_lock);
    use->next = uses;
    uses = use;
    tap_unlock(&uses_lock);
}

void type_use_keep(struct type_use *use)
{
    tap_lock(&uses_lock);
    use->settled = true;
    tap_unlock(&uses_lock);
}

void type_use_remove(struct type_use *use)
{
    struct type_use **link = &uses;
    tap_lock(&uses_lock);
    while (*link != use)
        link = &(*link)->next;
    *link = use->next;
    tap_unlock(&uses_lock);
    if (!use->owned)
        return;
    library_begin();
    payload_forget_type(*use->type);
    library.Type_free(use->type);
    library_end();
}

/* true: a thread is reading the type for its record. */
static bool keep_uses(MPI_Datatype freed)
{
    bool busy = false;
    tap_lock(&uses_lock);
    for (struct type_use *use = uses; use; use = use->next) {
        if (*use->type != freed || use->owned)
            continue;
        busy |= use->settled;
        if (!use->settled)
            use->owned = copy_type(use->type);
    }
    tap_unlock(&uses_lock);
    return busy;
}

void request_type_freed(MPI_Datatype type)
{
    request_table_each(keep_types, type);
    while (keep_uses(type))
        sched_yield();
}

/* --- MPI_Request_free, MPI_Cancel ------------------------------------------------------------- */

struct record *request_free_begin(enum level level, unsigned call, const MPI_Request *request,
                                  struct request **freed)
{
    *freed = request && tap_ready ? request_claim(level, HANDLE(*request), request, false) : NULL;
    bool under_way = *freed && (*freed)->active;
    struct record *r = record_begin(level, under_way ? RECORD_COMPLETE : RECORD_CALL, call);
    if (*freed)
        r->request = (*freed)->number;
    if (under_way)
        r->flags = FLAG_FREED;
    record_publish(r);
    return r;
}

void request_free_end(struct record *r, struct request *freed, int result)
{
    if (freed && result == MPI_SUCCESS)
        request_remove(freed);
    else
        request_unclaim(freed);
    call_end(r, result);
}

struct record *cancel_begin(enum level level, unsigned call, const MPI_Request *request)
{
    struct record *r = record_begin(level, RECORD_CALL, call);
    if (request && tap_ready) {
        /* One that the table knows only by what it stands for is in it from now on. */
        request_unclaim(request_claim(level, HANDLE(*request), request, false));
        r->request = request_table_cancel(level, HANDLE(*request), request);
    }
    record_publish(r);
    return r;
}

/* --- MPI_Comm_idup ---------------------------------------------------------------------------- */

struct record *imake_begin(enum level level, unsigned call, MPI_Comm parent)
{
    struct record *r = record_begin(level, RECORD_CALL, call);
    r->comm = communicator_find(level, parent)->id;
    r->request = request_number(level);
    record_publish(r);
    return r;
}

void imake_end(enum level level, struct record *r, MPI_Comm parent, const MPI_Comm *made,
               const MPI_Request *request, int result)
{
    struct communicator *c = communicator_find(level, parent);
    struct request *making = NULL;
    if (result == MPI_SUCCESS && tap_ready)
        making = request_new(level, REQUEST_MAKE, r->call, r->request, c);
    if (making) {
        making->made = made;
        making->id = communicator_duplicate_id(level, c);
        request_insert(making, HANDLE(*request), request);
    }
    call_end(r, result);
}
