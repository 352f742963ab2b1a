/* A program that runs under the library of keeper.h: a token goes round, and a sum is made of it at
 * every step. Every third step is followed by a checkpoint. With OPENED the library is opened by
 * the program, and its first call of MPI is not the program's first. */
#include "keeper.h"

#include <faultline.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 12
#define EVERY 3
#define TAG 7

struct state {
    int step;
    long sum;
};

#ifdef OPENED
static MPI_Comm (*open_keeper)(void);
static void (*meet)(void);
static int (*restore)(void *state, int bytes);
static void (*checkpoint)(const void *state, int bytes);
static void (*close_keeper)(void);

static void find(void *library, const char *name, void *function)
{
    *(void **)function = library != NULL ? dlsym(library, name) : NULL;
    if (*(void **)function != NULL)
        return;
    fprintf(stderr, "%s\n", dlerror());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY);
    find(library, "keeper_open", &open_keeper);
    find(library, "keeper_meet", &meet);
    find(library, "keeper_restore", &restore);
    find(library, "keeper_checkpoint", &checkpoint);
    find(library, "keeper_close", &close_keeper);
}
#else
#define open_keeper keeper_open
#define meet keeper_meet
#define restore keeper_restore
#define checkpoint keeper_checkpoint
#define close_keeper keeper_close
#define load(path) (void)(path)
#endif

/* What the rank before sends arrives before anybody goes on. */
static void work(struct state *state, MPI_Comm comm)
{
    int rank, size;
    long mine, theirs = 0, all = 0;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = state->sum + rank + state->step;
    MPI_Irecv(&theirs, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comm, &request);
    MPI_Send(&mine, 1, MPI_LONG, (rank + 1) % size, TAG, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&theirs, &all, 1, MPI_LONG, MPI_SUM, comm);
    state->sum = (state->sum * 3 + all + theirs) % 1000003;
    state->step++;
}

int main(int argc, char **argv)
{
    struct state state = {0};
    MPI_Init(&argc, &argv);
    load(argv[1]);
    MPI_Comm comm = open_keeper();
    if (comm != MPI_COMM_NULL) {
        meet();
        restore(&state, sizeof state);
        while (state.step < STEPS) {
            work(&state, comm);
            if (state.step % EVERY == 0)
                checkpoint(&state, sizeof state);
        }
        faultline_result("sum", &state.sum, sizeof state.sum);
        close_keeper();
    }
    MPI_Finalize();
    return 0;
}
