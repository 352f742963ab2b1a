/* For tests/replay_store.bats: does to the store what it did, but for one call, as STORE_DIFFERS
 * says: "bytes", "error" or "call". Other files are no other decision. */
#include "store_common.h"

static int differs(const char *how)
{
    const char *asked = getenv("STORE_DIFFERS");
    return asked != NULL && strcmp(asked, how) == 0;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    write_file(in_store("state-", rank), differs("bytes") ? 1000 : 1);
    must(mkdir(in_store("made-", rank), 0777) == 0, "mkdir");
    int made = mkdir(in_store(differs("error") ? "made-" : "other-", rank), 0777);
    must(made == 0 || differs("error"), "mkdir");
    if (differs("call"))
        must(rmdir(in_store("made-", rank)) == 0, "rmdir");
    else
        must(rename(in_store("made-", rank), in_store("moved-", rank)) == 0, "rename");
    MPI_Barrier(MPI_COMM_WORLD);
    return end(0);
}
