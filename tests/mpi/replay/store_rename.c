/* For tests/replay_store.bats: all rename what they have over one file, as often as they like, and
 * take up what they find there. */
#include "store_common.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    uint64_t state = (uint64_t)rank + 1, found = 0, sum = 0;
    if (read_file(in_store("latest-", 0), &found)) /* a life before left it */
        state = mix(state, found);
    MPI_Bcast(&state, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        write_file(in_store("new-", rank), mix(state, (uint64_t)rank));
        must(rename(in_store("new-", rank), in_store("latest-", 0)) == 0, "rename");
        must(read_file(in_store("latest-", 0), &found), "latest");
        state = mix(state, found);
        /* Who found an even number sends it on: others may wait for it or not. */
        int even = found % 2 == 0, others;
        MPI_Allreduce(&even, &others, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (even)
            MPI_Send(&found, 1, MPI_UINT64_T, 0, step, MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < others; i++) {
            MPI_Recv(&found, 1, MPI_UINT64_T, MPI_ANY_SOURCE, step, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            sum = mix(sum, found);
        }
    }
    return end(mix(state, sum));
}
