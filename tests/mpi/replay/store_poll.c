/* For tests/replay_store.bats: rank 0 writes a file when it is ready, the others look for it over
 * and over in three ways, ask for messages in between, and count how often. They send the path on:
 * its length is that of the message. */
#include "store_common.h"

#define GO "go-on-as-soon-as-there-is-a-file-with-this-long-name-and-a-number-"

/* One look at the file of the step; true: it is there. A look in vain gives ENOENT. */
static int look(int step, uint64_t *value)
{
    struct stat facts;
    const char *path = in_store(GO, step);
    int there;
    errno = 0;
    switch (step % 3) {
    case 0:
        there = access(path, R_OK) == 0;
        break;
    case 1:
        there = stat(path, &facts) == 0;
        break;
    default:
        return read_file(path, value);
    }
    must(there || errno == ENOENT, "a look");
    return there && read_file(path, value);
}

static uint64_t await(int step)
{
    uint64_t looks = 0, value = 0;
    int flag;
    while (!look(step, &value)) {
        looks++;
        MPI_Iprobe(0, STEPS + step, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (step % 2 == 1)
            usleep(200);
    }
    return mix(looks, value);
}

/* Written beside and renamed, so that who sees it sees all of it. */
static void release(int step, uint64_t state)
{
    usleep((useconds_t)(getpid() % 7) * 300);
    write_file(in_store("new-", step), mix(state, (uint64_t)step));
    must(rename(in_store("new-", step), in_store(GO, step)) == 0, "rename");
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    begin(&argc, &argv);
    uint64_t state = (uint64_t)rank;
    for (int step = 0; step < STEPS; step++) {
        if (rank == 0)
            release(step, state);
        else
            state = mix(state, await(step));
        const char *own = in_store(GO, rank);
        MPI_Sendrecv(own, (int)strlen(own), MPI_CHAR, (rank + 1) % ranks, step, path,
                     (int)sizeof path, MPI_CHAR, (rank + ranks - 1) % ranks, step, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    return end(state);
}
