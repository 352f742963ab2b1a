/* The parent of a rank, as `faultline run` starts it: `faultline exec` in a program of its own,
 * which needs no library but libc. It is started once for each rank of each launch, and the
 * libraries of the whole command would cost more than all else that it does. */
#include "cli/verb.h"

#include <stddef.h>

int main(int argc, char **argv)
{
    return exec_with_lookout(argc, argv, NULL, NULL);
}
