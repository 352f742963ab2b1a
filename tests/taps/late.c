/* A program that opens its MPI code, and with it the library, when it is running, as Python does.
 * Built twice: as the program, and with -DPART as the part it opens (its first argument). */
#ifdef PART
#include <mpi.h>
#include <stddef.h>

int part(void);

int part(void)
{
    int rank = -1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rank < 0;
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *opened = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*part)(void);
    if (!opened || !(*(void **)&part = dlsym(opened, "part"))) {
        puts(dlerror());
        return 2;
    }
    return part();
}
#endif
