/* A program that keeps its own state, and can go on with it on another number of ranks: 24 cells in
 * a row, each rank has a part of them. Every third step all write their cells into one file, at the
 * places that the cells have in the row, so whoever starts again reads the places it has now.
 *
 * With --by-rank a rank looks for its cells where the rank of its number wrote them: that is right
 * only on as many ranks as before. */
#include <mpi.h>

#include <faultline.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS 24
#define STEPS 18
#define EVERY 3
#define PATH_BYTES 8192

static int rank, ranks;

/* What stands in front of the cells. */
struct head {
    uint64_t line;
    uint64_t step;
    uint64_t ranks;
};

static int first_of(int number, int of)
{
    return number * CELLS / of;
}

static void give_up(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* In a store of the scenario (`stores`); without Faultline here. */
static void place(char path[PATH_BYTES], const char *store, const char *name)
{
    const char *folder = getenv(store);
    snprintf(path, PATH_BYTES, "%s/%s", folder != NULL ? folder : ".", name);
}

static void sync_folder(const char *store)
{
    char path[PATH_BYTES];
    place(path, store, "");
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    if (folder < 0 || fsync(folder) != 0)
        give_up(path);
    close(folder);
}

static void checkpoint(const uint64_t *cell, uint64_t step)
{
    struct head head = {.line = step / EVERY, .step = step, .ranks = (uint64_t)ranks};
    char name[32], path[PATH_BYTES], newest[PATH_BYTES];
    int first = first_of(rank, ranks);
    size_t bytes = (size_t)(first_of(rank + 1, ranks) - first) * sizeof *cell;
    faultline_checkpoint(head.line);
    snprintf(name, sizeof name, "line.%llu", (unsigned long long)head.line);
    place(path, "FAULTLINE_STORE_GLOBAL", name);
    place(newest, "FAULTLINE_STORE_GLOBAL", "newest");
    int file = open(path, O_CREAT | O_WRONLY, 0666);
    if (file < 0 ||
        pwrite(file, cell, bytes, (off_t)sizeof head + first * (off_t)sizeof *cell) !=
            (ssize_t)bytes ||
        (rank == 0 && pwrite(file, &head, sizeof head, 0) != (ssize_t)sizeof head) ||
        fsync(file) != 0)
        give_up(path);
    close(file);
    faultline_saved(head.line);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (rename(path, newest) != 0)
            give_up(newest);
        sync_folder("FAULTLINE_STORE_GLOBAL");
        faultline_commit(head.line);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The step of the newest line; 0: there is none. */
static uint64_t restore(uint64_t *cell, int by_rank)
{
    struct head head;
    char newest[PATH_BYTES];
    place(newest, "FAULTLINE_STORE_GLOBAL", "newest");
    int file = open(newest, O_RDONLY);
    if (file < 0)
        return 0;
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head)
        give_up(newest);
    int first = first_of(rank, ranks), past = first_of(rank + 1, ranks);
    int from = by_rank ? first_of(rank % (int)head.ranks, (int)head.ranks) : first;
    size_t bytes = (size_t)(past - first) * sizeof *cell;
    ssize_t got = pread(file, cell, bytes, (off_t)sizeof head + from * (off_t)sizeof *cell);
    if (got < 0 || (!by_rank && got != (ssize_t)bytes))
        give_up(newest);
    close(file);
    faultline_restored(head.line);
    return head.step;
}

/* Every cell becomes the sum of what its neighbours and itself were. */
static void step_on(uint64_t *cell, int count)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    uint64_t before, after, was;
    MPI_Sendrecv(&cell[count - 1], 1, MPI_UINT64_T, right, 0, &before, 1, MPI_UINT64_T, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cell[0], 1, MPI_UINT64_T, left, 1, &after, 1, MPI_UINT64_T, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        was = cell[i];
        cell[i] = before + was + (i + 1 < count ? cell[i + 1] : after);
        before = was;
    }
}

int main(int argc, char **argv)
{
    uint64_t cell[CELLS] = {0}, sum = 0, all;
    int by_rank = argc > 1 && strcmp(argv[1], "--by-rank") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = first_of(rank, ranks), count = first_of(rank + 1, ranks) - first;
    for (int i = 0; i < count; i++)
        cell[i] = (uint64_t)(first + i) * 7 + 1;
    for (uint64_t step = restore(cell, by_rank); step < STEPS;) {
        step_on(cell, count);
        if (++step % EVERY == 0)
            checkpoint(cell, step);
    }
    for (int i = 0; i < count; i++)
        sum += cell[i] * (uint64_t)(first + i + 1);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    faultline_result("all", &all, sizeof all);
    faultline_result("mine", &sum, sizeof sum);
    printf("rank %d of %d: %llu of %llu\n", rank, ranks, (unsigned long long)sum,
           (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
