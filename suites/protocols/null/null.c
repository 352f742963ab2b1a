/* The protocol that does nothing: no checkpoint, so every restart begins at the beginning. The
 * smallest member of this folder, to copy. It defines no MPI function; a protocol that must see
 * messages defines MPI_X and calls PMPI_X. */
#include "checkpoint.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    (void)name;
    (void)data;
    (void)bytes;
}

EXPORTED int protocol_restore(void)
{
    return 0;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    return 0;
}
