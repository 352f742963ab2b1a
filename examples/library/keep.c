/* See keep.h. It calls MPI by its MPI_ names, like any program; what it cannot be seen to do it
 * tells Faultline (faultline_...), which costs nothing without Faultline. */
#include "keep.h"

#include <faultline.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define SLOTS 2 /* the newest line, and the one that is being made */

enum request { WHICH, COMMIT, FINISH };

struct head {
    int line, bytes;
    unsigned sum;
};

static MPI_Comm all, workers; /* with and without the warden */
static int rank, count, warden, line;
static int partner = 1, syncs = 1, verifies = 1;
static char *state;
static int state_bytes;

static void give_up(const char *what)
{
    fprintf(stderr, "keep: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_conf(const char *conf)
{
    char word[16], value[16];
    FILE *file = fopen(conf, "r");
    if (file == NULL)
        give_up("no configuration");
    while (fscanf(file, "%15s %15s", word, value) == 2) {
        if (strcmp(word, "partner") == 0)
            partner = atoi(value);
        else if (strcmp(word, "sync") == 0)
            syncs = strcmp(value, "yes") == 0;
        else if (strcmp(word, "verify") == 0)
            verifies = strcmp(value, "yes") == 0;
        else
            give_up("a word in the configuration that is not known");
    }
    fclose(file);
}

/* --- files ------------------------------------------------------------------------------------ */

static const char *node_store(void)
{
    return getenv("FAULTLINE_NODE_STORE");
}

static const char *global_store(void)
{
    return getenv("FAULTLINE_STORE");
}

static int sync_folder(const char *folder)
{
    int opened = open(folder, O_RDONLY | O_DIRECTORY);
    int good = opened >= 0 && fsync(opened) == 0;
    return opened >= 0 && close(opened) == 0 && good;
}

/* The old file or the new one. 0: it could not be written, and the old one stays. */
static int write_file(const char *folder, const char *name, const struct head *head,
                      const char *data)
{
    char fresh[PATH_BYTES], whole[PATH_BYTES];
    snprintf(fresh, sizeof fresh, "%s/new.%s", folder, name);
    snprintf(whole, sizeof whole, "%s/%s", folder, name);
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        return 0;
    int good = fwrite(head, sizeof *head, 1, file) == 1 &&
               fwrite(data, 1, (size_t)head->bytes, file) == (size_t)head->bytes &&
               fflush(file) == 0 && (!syncs || fsync(fileno(file)) == 0);
    faultline_phase("keep:written");
    good = fclose(file) == 0 && good && rename(fresh, whole) == 0;
    return good && (!syncs || sync_folder(folder));
}

static unsigned sum_of(const char *data, int bytes)
{
    unsigned sum = 2166136261u;
    for (int i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)data[i]) * 16777619u;
    return sum;
}

/* 0: there is none of this line. */
static int read_file(const char *folder, const char *name, int wanted, char *data)
{
    char path[PATH_BYTES];
    struct head head;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    int good = fread(&head, sizeof head, 1, file) == 1 && head.line == wanted &&
               head.bytes == state_bytes &&
               fread(data, 1, (size_t)state_bytes, file) == (size_t)state_bytes;
    fclose(file);
    return good && (!verifies || sum_of(data, state_bytes) == head.sum);
}

/* --- the warden ------------------------------------------------------------------------------- */

static void serve(void)
{
    struct head head = {0, 0, 0};
    int asked[2], no_state = 0;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/commit", global_store());
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fread(&head, sizeof head, 1, file) != 1)
            give_up("the commit record cannot be read");
        fclose(file);
    }
    do {
        MPI_Recv(asked, 2, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
        if (asked[0] == COMMIT) {
            struct head next = {asked[1], 0, 0};
            if (write_file(global_store(), "commit", &next, "")) {
                head = next;
                faultline_commit((uint64_t)head.line);
            }
        }
        MPI_Send(asked[0] == FINISH ? &no_state : &head.line, 1, MPI_INT, 0, 0, all);
    } while (asked[0] != FINISH);
    MPI_Comm_free(&all);
    MPI_Finalize();
    exit(0);
}

/* What the warden answers; the same at all ranks of the program. */
static int ask(int request, int about)
{
    int asked[2] = {request, about}, answer = 0;
    if (rank == 0) {
        MPI_Send(asked, 2, MPI_INT, warden, 0, all);
        MPI_Recv(&answer, 1, MPI_INT, warden, 0, all, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&answer, 1, MPI_INT, 0, workers);
    return answer;
}

/* --- what the program calls ------------------------------------------------------------------- */

MPI_Comm keep_init(const char *conf)
{
    MPI_Comm of_program;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &count);
    warden = --count;
    read_conf(conf);
    MPI_Comm_split(all, rank == warden, rank, &workers);
    if (rank == warden) {
        MPI_Comm_free(&workers);
        serve();
    }
    MPI_Comm_dup(workers, &of_program);
    return of_program;
}

void keep_protect(void *data, int bytes)
{
    state = data;
    state_bytes = bytes;
}

static const char *name_of(char text[32], char whose, int owner, int of_line)
{
    snprintf(text, 32, "%c%d.%d", whose, owner, of_line % SLOTS);
    return text;
}

/* The state of this rank here, and that of the one whose partner this is. */
static int save(void)
{
    char name[32], *copy = malloc((size_t)state_bytes);
    int to = (rank + partner) % count, owner = (rank - partner + count) % count;
    if (copy == NULL)
        give_up("no memory");
    MPI_Sendrecv(state, state_bytes, MPI_BYTE, to, 1, copy, state_bytes, MPI_BYTE, owner, 1,
                 workers, MPI_STATUS_IGNORE);
    struct head own = {line, state_bytes, sum_of(state, state_bytes)};
    struct head other = {line, state_bytes, sum_of(copy, state_bytes)};
    int good = write_file(node_store(), name_of(name, 'r', rank, line), &own, state) &&
               write_file(node_store(), name_of(name, 'p', owner, line), &other, copy);
    free(copy);
    return good;
}

/* Rank `owner` has lost its state of the line: its partner has a copy. */
static void bring_back(int owner)
{
    char name[32];
    int from = (owner + partner) % count, there = 1;
    char *copy = malloc((size_t)state_bytes);
    if (copy == NULL)
        give_up("no memory");
    if (rank == from) {
        there = read_file(node_store(), name_of(name, 'p', owner, line), line, copy);
        MPI_Send(&there, 1, MPI_INT, owner, 2, workers);
        if (there)
            MPI_Send(copy, state_bytes, MPI_BYTE, owner, 2, workers);
    }
    if (rank == owner) {
        MPI_Recv(&there, 1, MPI_INT, from, 2, workers, MPI_STATUS_IGNORE);
        if (!there)
            give_up("its state is neither on its node nor with its partner");
        MPI_Recv(state, state_bytes, MPI_BYTE, from, 2, workers, MPI_STATUS_IGNORE);
    }
    free(copy);
}

int keep_restart(void)
{
    char name[32];
    line = ask(WHICH, 0);
    if (line == 0)
        return 0;
    char *read = malloc((size_t)state_bytes);
    int *have = malloc((size_t)count * sizeof *have);
    if (read == NULL || have == NULL)
        give_up("no memory");
    int mine = read_file(node_store(), name_of(name, 'r', rank, line), line, read);
    if (mine)
        memcpy(state, read, (size_t)state_bytes);
    MPI_Allgather(&mine, 1, MPI_INT, have, 1, MPI_INT, workers);
    for (int owner = 0; owner < count; owner++)
        if (!have[owner])
            bring_back(owner);
    free(read);
    free(have);
    faultline_restored((uint64_t)line);
    if (!save()) /* what was lost with a node is there twice again */
        give_up("the line cannot be written again");
    return line;
}

int keep_checkpoint(void)
{
    int good, all_good;
    line++;
    MPI_Barrier(workers);
    faultline_checkpoint((uint64_t)line);
    good = save();
    if (good)
        faultline_saved((uint64_t)line);
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, workers);
    if (all_good)
        all_good = ask(COMMIT, line) == line;
    if (!all_good && rank == 0)
        faultline_given_up((uint64_t)line, "a node could not write it");
    return all_good;
}

void keep_finish(void)
{
    ask(FINISH, 0);
    MPI_Comm_free(&workers);
    MPI_Comm_free(&all);
}
