/* What Faultline does not look into and must pass through: MPI-IO (whose library calls MPI itself),
 * windows, callbacks of the program that call MPI from inside the library, generalized and
 * partitioned requests, the tools interface. For 2 ranks; the argument is a file to write. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/expect.h"

static int rank, other;
static MPI_Comm world = MPI_COMM_WORLD;

static void files(const char *path)
{
    int out[64], in[64];
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype every_other;
    for (int i = 0; i < 64; i++)
        out[i] = 1000 * rank + i;
    expect(MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
           MPI_SUCCESS);
    MPI_Type_vector(64, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_set_view(file, (MPI_Offset)rank * (MPI_Offset)sizeof(int), MPI_INT, every_other,
                      "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out, 64, MPI_INT, &status);
    MPI_File_sync(file);
    MPI_File_set_view(file, (MPI_Offset)other * (MPI_Offset)sizeof(int), MPI_INT, every_other,
                      "native", MPI_INFO_NULL);
    MPI_File_read_all(file, in, 64, MPI_INT, MPI_STATUS_IGNORE);
    expect(in[0] == 1000 * other && in[63] == 1000 * other + 63);
    MPI_File_iread_at(file, 0, in, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in[0] == 1000 * other);
    MPI_File_close(&file);
    MPI_Type_free(&every_other);
}

/* Values are not looked at: MPICH 4.0.2 with UCX gets them wrong on some machines, without us. */
static void windows(void)
{
    int *memory, value = rank + 5, flag;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &window);
    *memory = 0;
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock_all(0, window);
    MPI_Rget(&value, 1, MPI_INT, other, 0, 1, MPI_INT, window, &request);
    for (flag = 0; !flag;)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size, rank_inside;
    MPI_Type_size(*type, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_inside);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    expect(size == (int)sizeof(int) && rank_inside == rank);
}

static int copies;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int size;
    (void)key, (void)extra;
    MPI_Comm_size(comm, &size);
    *(void **)out = in;
    *flag = 1;
    copies += size == 2;
    return MPI_SUCCESS;
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    int class, size;
    MPI_Error_class(*code, &class);
    MPI_Comm_size(*comm, &size);
    handled += class == MPI_ERR_RANK && size == 2;
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 1;
    status->MPI_TAG = 2;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    int one = 1, sum = 0, key, count, byte = 0;
    MPI_Op op;
    MPI_Comm dup;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Status status;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, world);
    expect(sum == 2);
    MPI_Op_free(&op);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(world, key, &one);
    MPI_Comm_dup(world, &dup);
    expect(copies == 1);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(world, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(world, handler);
    MPI_Send(&byte, 1, MPI_INT, 17, 0, world);
    expect(handled == 1);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(count == 3 && status.MPI_TAG == 2);
}

static void partitions(void)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, flag = 0;
    MPI_Request requests[2];
    MPI_Psend_init(out, 2, 2, MPI_INT, other, 7, world, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 2, 2, MPI_INT, other, 7, world, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[0]);
    MPI_Pready(1, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    (void)flag;
    expect(in[0] == 1 && in[3] == 4);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void tools(void)
{
    int provided, number = 0;
    expect(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    MPI_T_cvar_get_num(&number);
    expect(number > 0);
    MPI_T_finalize();
    MPI_Pcontrol(2, "anything", 3, 4.5);
    expect(MPI_Wtime() > 0 && MPI_Wtick() > 0);
    expect(MPI_Aint_diff(MPI_Aint_add(16, 8), 16) == 8);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    other = 1 - rank;
    files(argc > 1 ? argv[1] : "taps_rest.data");
    windows();
    callbacks();
    partitions();
    tools();
    MPI_Finalize();
    return expect_end("rest", rank);
}
