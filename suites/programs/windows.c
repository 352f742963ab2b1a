/* Windows and files while a member dies, for libraries that have them with ULFM: what each rank
 * calls, in order, is given as arguments, one step each.
 *
 *     windows window fence put=1 fence
 *
 * A step that begins with "R:" is for rank R alone. Nothing is revoked: the program goes on with
 * the next step whatever a call returns, says on standard output what did not end well, and does
 * not free what it has made, which would wait for the dead. */
#include "missing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 64
#define ITEMS 4

static struct {
    int rank;
    int shared[ITEMS], own[ITEMS];
    MPI_Win window;
    MPI_File file;
} me = {.window = MPI_WIN_NULL, .file = MPI_FILE_NULL};

/* --- windows ---------------------------------------------------------------------------------- */

static int window(int unused)
{
    (void)unused;
    int result = MPI_Win_create(me.shared, sizeof me.shared, sizeof(int), MPI_INFO_NULL,
                                MPI_COMM_WORLD, &me.window);
    if (result == MPI_SUCCESS)
        MPI_Win_set_errhandler(me.window, MPI_ERRORS_RETURN);
    return result;
}

static int fence(int unused)
{
    (void)unused;
    return MPI_Win_fence(0, me.window);
}

static int put(int target)
{
    return MPI_Put(me.own, ITEMS, MPI_INT, target, 0, ITEMS, MPI_INT, me.window);
}

static int lock(int target)
{
    return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, me.window);
}

static int unlock(int target)
{
    return MPI_Win_unlock(target, me.window);
}

static int flush(int target)
{
    return MPI_Win_flush(target, me.window);
}

/* --- files ------------------------------------------------------------------------------------ */

static int file(int unused)
{
    char name[4096];
    const char *store = getenv("FAULTLINE_STORE");
    (void)unused;
    snprintf(name, sizeof name, "%s/shared_file", store != NULL ? store : "/tmp");
    return MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &me.file);
}

static MPI_Offset own_place(void)
{
    return (MPI_Offset)((size_t)me.rank * sizeof me.own);
}

static int write_own(int unused)
{
    (void)unused;
    return MPI_File_write_at(me.file, own_place(), me.own, ITEMS, MPI_INT, MPI_STATUS_IGNORE);
}

static int write_all(int unused)
{
    (void)unused;
    return MPI_File_write_at_all(me.file, own_place(), me.own, ITEMS, MPI_INT, MPI_STATUS_IGNORE);
}

static int file_sync(int unused)
{
    (void)unused;
    return MPI_File_sync(me.file);
}

static int file_close(int unused)
{
    (void)unused;
    return MPI_File_close(&me.file);
}

/* --- steps ------------------------------------------------------------------------------------ */

static int barrier(int unused)
{
    (void)unused;
    return MPI_Barrier(MPI_COMM_WORLD);
}

/* For runs without Faultline. */
static int die(int unused)
{
    (void)unused;
    return raise(SIGKILL);
}

enum needs { NOTHING, WINDOW, FILE_OPEN };

static const struct {
    const char *name;
    int (*call)(int value);
    enum needs needs;
} steps[] = {
    {"barrier", barrier, NOTHING},
    {"die", die, NOTHING},
    {"window", window, NOTHING},
    {"fence", fence, WINDOW},
    {"put", put, WINDOW},
    {"lock", lock, WINDOW},
    {"unlock", unlock, WINDOW},
    {"flush", flush, WINDOW},
    {"file", file, NOTHING},
    {"write", write_own, FILE_OPEN},
    {"write_all", write_all, FILE_OPEN},
    {"sync", file_sync, FILE_OPEN},
    {"close", file_close, FILE_OPEN},
};

#define STEPS (sizeof steps / sizeof steps[0])

static void refuse(const char *name)
{
    fprintf(stderr, "windows: %s is no step; there are:", name);
    for (size_t i = 0; i < STEPS; i++)
        fprintf(stderr, " %s", steps[i].name);
    fprintf(stderr, " (put, lock, unlock and flush with =RANK); each may begin with RANK:\n");
    exit(EXIT_USAGE);
}

static int is_there(enum needs what)
{
    return what == NOTHING || (what == WINDOW && me.window != MPI_WIN_NULL) ||
           (what == FILE_OPEN && me.file != MPI_FILE_NULL);
}

static void take(const char *step)
{
    const char *colon = strchr(step, ':');
    const char *name = colon != NULL ? colon + 1 : step;
    size_t length = strcspn(name, "="), i = 0;
    while (i < STEPS &&
           (strlen(steps[i].name) != length || strncmp(steps[i].name, name, length) != 0))
        i++;
    if (i == STEPS)
        refuse(step);
    if ((colon != NULL && atoi(step) != me.rank) || !is_there(steps[i].needs))
        return;
    int class = MPI_SUCCESS;
    MPI_Error_class(steps[i].call(name[length] == '=' ? atoi(name + length + 1) : 0), &class);
    if (class != MPI_SUCCESS)
        printf("windows: rank %d: %s: %s\n", me.rank, name,
               class == MPIX_ERR_PROC_FAILED ? "proc-failed"
               : class == MPIX_ERR_REVOKED   ? "revoked"
                                             : "another error");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    for (int i = 0; i < ITEMS; i++)
        me.own[i] = me.rank;
    for (int i = 1; i < argc; i++)
        take(argv[i]);
    note_missing();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
