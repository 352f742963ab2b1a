/* Checkpoint on failure over ULFM ([UL] section 7; Bland, Du, Bouteiller, Herault, Bosilca and
 * Dongarra 2012): nothing is saved as long as nobody dies. When a rank has died the others save
 * what they have, leave, and are started again, and the state of the dead rank is rebuilt from
 * theirs. A layer over PMPI. README.md says what it assumes.
 *
 * Every potential checkpoint is a line: each rank keeps a copy of its own state and the exclusive
 * or of all states, in memory. Must not know: what the program computes. */
#include "checkpoint_on_failure.h"

#include "checkpoint.h"
#include "faultline.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job job;

_Noreturn void job_give_up(const char *why)
{
    fprintf(stderr, PROTOCOL ": rank %d: %s\n", job.rank, why);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE);
}

/* --- lines in memory -------------------------------------------------------------------------- */

static uint64_t *new_words(void)
{
    uint64_t *made = calloc((size_t)job.words + 1, sizeof *made);
    if (made == NULL)
        job_give_up("out of memory");
    return made;
}

/* All give what they have; the result goes to all. False: somebody has died. */
static bool sum_up(const uint64_t *own, uint64_t *sum)
{
    return PMPI_Allreduce(own, sum, job.words, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD) ==
           MPI_SUCCESS;
}

static void keep(struct line line)
{
    free(job.before.own);
    free(job.before.sum);
    job.before = job.newest;
    job.newest = line;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    struct line line = {job.newest.number + 1, new_words(), new_words()};
    state_copy(&job.state, line.own);
    faultline_checkpoint(line.number);
    if (!sum_up(line.own, line.sum))
        job_failed();
    keep(line);
    return (int)line.number;
}

/* --- after a start ---------------------------------------------------------------------------- */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    if (state_register(&job.state, name, data, bytes, &error) != OK)
        job_give_up(error.text);
}

/* This rank's files of other lines. One that a rank left, and that the others gave up, must not be
 * taken for its part of a later line of the same number. */
static void remove_others(uint64_t line)
{
    DIR *folder = opendir(job.store.folder);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        uint64_t number;
        int rank, end = 0;
        if (sscanf(entry->d_name, "line-%" SCNu64 ".rank-%d%n", &number, &rank, &end) == 2 &&
            entry->d_name[end] == '\0' && rank == job.rank && number != line)
            line_remove(&job.store, number);
    }
    if (folder != NULL)
        closedir(folder);
}

/* What this rank has of the line on disk: *sum and the program's state. False: nothing. */
static bool load(uint64_t line, uint64_t *sum)
{
    struct error error;
    void *stored;
    uint64_t bytes;
    if (line_load_with(&job.store, line, &job.state, &stored, &bytes, &error) != OK) {
        fprintf(stderr, PROTOCOL ": rank %d: its state is rebuilt from the others': %s\n", job.rank,
                error.text);
        return false;
    }
    if (bytes != (uint64_t)job.words * sizeof *sum)
        job_give_up("a file was saved by a program with another state");
    memcpy(sum, stored, bytes);
    free(stored);
    return true;
}

/* All have the line in memory again. At most one rank has lost its part: what the others have, and
 * the sum of all, make it. False: somebody has died. */
static bool rebuild(bool loaded, struct line *line)
{
    int holder = loaded ? job.rank : job.ranks, first, have = loaded, count;
    uint64_t *others = new_words();
    bool well = PMPI_Allreduce(&have, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS &&
                PMPI_Allreduce(&holder, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS;
    if (well && count < job.ranks - 1)
        job_give_up("the states of more than one rank are lost");
    well = well &&
           PMPI_Bcast(line->sum, job.words, MPI_UINT64_T, first, MPI_COMM_WORLD) == MPI_SUCCESS &&
           sum_up(line->own, others);
    for (int i = 0; well && !loaded && i < job.words; i++)
        line->own[i] = others[i] ^ line->sum[i];
    free(others);
    return well;
}

static void go_back(uint64_t number)
{
    struct line line = {number, new_words(), new_words()};
    bool loaded = load(number, line.sum);
    if (loaded)
        state_copy(&job.state, line.own);
    if (!rebuild(loaded, &line))
        job_failed();
    keep(line);
    state_put_back(&job.state, line.own);
    faultline_restored(number);
}

EXPORTED int protocol_restore(void)
{
    struct error error;
    uint64_t line;
    int words = (int)((state_data_bytes(&job.state) + 7) / 8);
    if (line_store_open(&job.store, PROTOCOL, job.rank, job.ranks, &error) != OK ||
        line_newest(&job.store, &line, &error) != OK)
        job_give_up(error.text);
    remove_others(line);
    if (PMPI_Allreduce(&words, &job.words, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
        job_failed();
    if (line != LINE_NONE)
        go_back(line);
    return (int)line;
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int begun(int result)
{
    if (result != MPI_SUCCESS)
        return result;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    return result;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    return begun(PMPI_Init(argc, argv));
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)required; /* threads are not supported */
    return begun(PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, provided));
}

/* All have done their work, or all leave. */
EXPORTED int MPI_Finalize(void)
{
    if (!job_all_well(MPI_COMM_WORLD, true))
        job_leave();
    return PMPI_Finalize();
}
