/* Touches so much memory, in huge pages, and gives it back: on a virtual machine pages that nobody
 * has had for a while are the host's, and who gets them next waits for it. Before each measurement
 * this is run, so that none pays for that. Usage: warm BYTES. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STRIDE 4096 /* bytes */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (bytes == 0) {
        fprintf(stderr, "usage: warm BYTES\n");
        return 64;
    }
    char *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        perror("warm");
        return EXIT_FAILURE;
    }
    madvise(data, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes; i += STRIDE)
        data[i] = 1;
    return 0;
}
