/* What all wrappers share, and the life of MPI in the process: see tap.h. */
#include "injectors/taps/tap.h"

#include "injectors/record/payload.h"
#include "injectors/taps/tap_communicator.h"
#include "injectors/taps/tap_request.h"
#include "injectors/taps/tap_spawn.h"
#include "injectors/taps/tap_survivors.h"

bool tap_ready;
bool tap_pairs;

bool upper_asks_who_calls(void)
{
    if (!library_found)
        library_require();
    if (runtime_recording == 0 || (thread_state.app_depth | thread_state.wire_depth) != 0)
        return false;
    return runtime_recording == RECORDS_ALL || !under_test_calls(thread_state.returns_to);
}

bool lower_begins_here(void)
{
    library_require();
    return runtime_recording != 0 && thread_state.wire_depth == 0;
}

/* What processes raise in others when they die has the same number with every MPI library. */
static int recorded_class(int class)
{
#ifdef MPIX_ERR_PROC_FAILED
    if (class == (MPIX_ERR_PROC_FAILED))
        return RAISED_PROC_FAILED;
    if (class == (MPIX_ERR_PROC_FAILED_PENDING))
        return RAISED_PROC_FAILED_PENDING;
    if (class == (MPIX_ERR_REVOKED))
        return RAISED_REVOKED;
#endif
    return class < RAISED_PROC_FAILED ? class : 255;
}

int tap_error_class(int result)
{
    int class = MPI_ERR_UNKNOWN;
    library_begin();
    library.Error_class(result, &class);
    library_end();
    return recorded_class(class);
}

struct record *call_begin(enum level level, unsigned call, MPI_Comm comm)
{
    struct record *r = record_begin(level, RECORD_CALL, call);
    r->comm = communicator_find(level, comm)->id;
    record_publish(r);
    return r;
}

struct record *agree_begin(enum level level, unsigned call, MPI_Comm comm, const int *flag)
{
    struct record *r = record_begin(level, RECORD_CALL, call);
    r->comm = communicator_find(level, comm)->id;
    r->tag = *flag;
    record_publish(r);
    return r;
}

void agree_end(struct record *r, const int *flag, int result)
{
    r->result_hash = (uint32_t)*flag;
    call_end(r, result);
}

static void open_taps(void)
{
    int rank = 0, size = 0, threads = MPI_THREAD_MULTIPLE, length = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    library_begin();
    library.Comm_rank(handles.COMM_WORLD, &rank);
    library.Comm_size(handles.COMM_WORLD, &size);
    library.Query_thread(&threads);
    library.Get_library_version(version, &length);
    library_end();
    communicator_open(rank, size, spawn_number(rank));
    spawn_open();
    runtime_library((const void *)(uintptr_t)library.Init, version);
    runtime_initialized(group_self.member[0], size, threads == MPI_THREAD_MULTIPLE);
    tap_ready = true;
    tap_pairs = threads != MPI_THREAD_MULTIPLE;
}

struct record *init_begin(enum level level, unsigned call)
{
    struct record *r = call_begin(level, call, handles.COMM_NULL);
    if (level == LEVEL_WIRE)
        runtime_initializing();
    return r;
}

/* The lower level sees every initialisation, whoever asked for it. */
void init_end(enum level level, struct record *r, int result)
{
    if (level == LEVEL_WIRE && result == MPI_SUCCESS && !tap_ready)
        open_taps();
    if (level == LEVEL_WIRE && result == MPI_SUCCESS)
        survivors_begin();
    if (level == LEVEL_APP && tap_ready)
        under_test_look_at_world(group_self.member[0], group_world.size);
    call_end(r, result);
}

struct record *finalize_begin(enum level level, unsigned call)
{
    runtime_finalizing();
    struct record *r = call_begin(level, call, handles.COMM_NULL);
    if (level == LEVEL_WIRE)
        runtime_leaving();
    if (level == LEVEL_WIRE && tap_ready)
        communicator_close();
    return r;
}

/* The record of the outermost MPI_Finalize is the last one. A process that is no rank of the
 * application may end inside whichever of its calls it ceased to be one in. */
void finalize_end(enum level level, struct record *r, int result)
{
    if (level == LEVEL_WIRE)
        tap_ready = tap_pairs = false;
    call_end(r, result);
    if ((thread_state.app_depth == 0 || runtime_is_nobody) && result == MPI_SUCCESS)
        runtime_finalized();
}

struct record *type_free_begin(enum level level, unsigned call, const MPI_Datatype *type)
{
    /* Only the wire's MPI_Type_free frees: a protocol may keep a type for longer. */
    if (type && tap_ready && level == LEVEL_WIRE) {
        request_type_freed(*type);
        payload_forget_type(*type);
    }
    return call_begin(level, call, handles.COMM_NULL);
}
