/* Rank 0 prints whether it has mapped plugins of hwloc or modules of UCX, and what the variable is
 * that says where plugins are; for the tests of the step engine, which leaves them out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096

static int count_plugins(void)
{
    char line[LINE_BYTES];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        count += (strstr(line, "/hwloc_") != NULL || strstr(line, "/libuct_") != NULL) &&
                 strstr(line, " r-xp ") != NULL;
    if (maps != NULL)
        fclose(maps);
    return count;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *path = getenv("HWLOC_PLUGINS_PATH");
    if (rank == 0)
        printf("plugins %s, path %s\n", count_plugins() > 0 ? "some" : "none",
               path != NULL ? path : "not set");
    MPI_Finalize();
    return 0;
}
