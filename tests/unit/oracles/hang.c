/* Which ranks can never go on: what is a deadlock, and what only looks like one. */
#include "inline_trace.h"
#include "oracles/oracle.h"
#include "tap.h"

#define RANKS_MAX 8

/* `dead`: ranks whose process is gone, as a bit each. */
static void analyse(const char *what, const char *text, unsigned dead, bool deadlocked,
                    size_t cycle, const char *first)
{
    struct trace_set set;
    struct hang hang;
    bool alive[RANKS_MAX];
    inline_trace(text, &set);
    for (int rank = 0; rank < RANKS_MAX; rank++)
        alive[rank] = !(dead & 1u << rank);
    hang_analyse(&set, alive, set.ranks, &hang);
    check(hang.deadlocked == deadlocked, "%s: %s", what, deadlocked ? "deadlock" : "no deadlock");
    check(hang.cycle == cycle, "%s: a cycle of %zu (expected %zu)", what, hang.cycle, cycle);
    if (first != NULL)
        check(hang.count > 0 && strcmp(hang.waits[0].text, first) == 0, "%s: %s", what,
              hang.count > 0 ? hang.waits[0].text : "nobody waits");
    hang_release(&hang);
    trace_set_release(&set);
}

static void messages(void)
{
    analyse("two receives",
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag any in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Recv for a message from rank 1, tag 7");
    analyse("a message is under way",
            "r0#0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag any in-progress\n",
            0, false, 0, NULL);
    analyse("but it has another tag",
            "r0#0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 9 in-progress\n",
            0, true, 2, NULL);
    analyse("or an earlier request takes it",
            "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Irecv from 0 tag 9 request 1\n"
            "r1#0 wire recv MPI_Recv from 0 tag 9 in-progress\n",
            0, true, 2, NULL);
    analyse("the earlier one is to be cancelled, and may take nothing",
            "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Irecv from 0 tag 9 request 1\n"
            "r1#0 wire call MPI_Cancel request 1\n"
            "r1#0 wire recv MPI_Recv from 0 tag 9 in-progress\n",
            0, false, 0, NULL);
    analyse("one rank computes",
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire send MPI_Send to 0 tag 8 bytes 8 hash 1\n",
            0, false, 0, NULL);
    analyse("a record is being written",
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire call MPI_Wtime\n"
            "r1#0 none\n",
            0, false, 0, NULL);
    analyse("a dead end: the other rank is gone",
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire call MPI_Finalize\n",
            2, true, 0, "rank 0 waits in MPI_Recv for a message from rank 1, tag 7");
    analyse("wildcards all around",
            "r0#0 wire recv MPI_Recv from any tag any in-progress\n"
            "r1#0 wire probe MPI_Probe from any tag any in-progress\n"
            "r2#0 wire recv MPI_Recv from any tag 3 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Recv for a message from any rank, any tag");
}

static void held(void)
{
    analyse("the message is held by the plan",
            "r0#0:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 fault held 1 step 0 value 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag any in-progress\n",
            0, true, 2, NULL);
    analyse("one behind it does not overtake",
            "r0#0:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 fault held 1 step 0 value 1\n"
            "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 9 in-progress\n",
            0, true, 2, NULL);
    analyse("one to another rank does",
            "r0#0:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 fault held 1 step 0 value 1\n"
            "r0#0 wire send MPI_Send to 2 tag 9 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 9 in-progress\n"
            "r2#0 wire recv MPI_Recv from 0 tag 9 in-progress\n",
            0, false, 2, NULL);
    analyse("it has been let go",
            "r0#0:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 fault held 1 step 0 value 1\n"
            "r0#0 fault released 1 step 0 value 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag any in-progress\n",
            0, false, 0, NULL);
}

static void sends(void)
{
    analyse("large sends to each other",
            "r0#0 wire send MPI_Send to 1 tag 7 bytes 1048576 hash 1 in-progress\n"
            "r1#0 wire send MPI_Send to 0 tag 7 bytes 1048576 hash 1 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Send for rank 1 to receive its message, tag 7");
    analyse("small ones are about to return",
            "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 1 in-progress\n"
            "r1#0 wire send MPI_Send to 0 tag 7 bytes 8 hash 1 in-progress\n",
            0, false, 0, NULL);
    analyse("synchronous ones do not",
            "r0#0 wire send MPI_Ssend to 1 tag 7 bytes 8 hash 1 in-progress\n"
            "r1#0 wire send MPI_Ssend to 0 tag 7 bytes 8 hash 1 in-progress\n",
            0, true, 2, NULL);
    analyse("unless the receive is posted",
            "r1#0 wire recv MPI_Irecv from 0 tag 7 request 1\n"
            "r0#0 wire send MPI_Ssend to 1 tag 7 bytes 8 hash 1 in-progress\n"
            "r1#0 wire send MPI_Ssend to 0 tag 7 bytes 8 hash 1 in-progress\n",
            0, false, 0, NULL);
    analyse("a wildcard receive that could take it",
            "r1#0 wire recv MPI_Irecv from any tag any request 1\n"
            "r0#0 wire send MPI_Ssend to 1 tag 7 bytes 8 hash 1 in-progress\n"
            "r1#0 wire send MPI_Ssend to 0 tag 7 bytes 8 hash 1 in-progress\n",
            0, false, 0, NULL);
    analyse("both halves of a sendrecv",
            "r0#0 wire send MPI_Sendrecv to 1 tag 1 bytes 8 hash 1 in-progress\n"
            "r0#0 wire recv MPI_Sendrecv from 1 tag 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 2 in-progress\n",
            0, true, 2, NULL);
}

static void requests(void)
{
    analyse("Wait for a receive",
            "r0#0 wire recv MPI_Irecv from 1 tag 7 request 1\n"
            "r0#0 wire complete MPI_Wait request 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Wait for a message from rank 1, tag 7");
    analyse("Waitall: one of two has come",
            "r1#0 wire send MPI_Send to 0 tag 7 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 7 request 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 8 request 2\n"
            "r0#0 wire call MPI_Waitall request 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Waitall for a message from rank 1, tag 8");
    analyse("Waitany: one of two has come",
            "r1#0 wire send MPI_Send to 0 tag 7 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 7 request 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 8 request 2\n"
            "r0#0 wire call MPI_Waitany request 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, false, 0, NULL);
    analyse("Waitsome: none has",
            "r0#0 wire recv MPI_Irecv from 1 tag 7 request 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 8 request 2\n"
            "r0#0 wire call MPI_Waitsome request 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, NULL);
    analyse("Wait for a request that is not known",
            "r0#0 wire complete MPI_Wait request 5 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, false, 0, NULL);
    analyse("Wait for a barrier that one rank has not entered",
            "r0#0 wire collective MPI_Ibarrier request 1\n"
            "r0#0 wire complete MPI_Wait request 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Wait for rank 1");
}

static void collectives(void)
{
    analyse("a barrier that one rank does not enter",
            "r0#0 wire collective MPI_Barrier in-progress\n"
            "r1#0 wire collective MPI_Barrier in-progress\n"
            "r2#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Barrier for rank 2");
    analyse("all are inside",
            "r0#0 wire collective MPI_Barrier in-progress\n"
            "r1#0 wire collective MPI_Barrier in-progress\n",
            0, false, 0, NULL);
    analyse("a broadcast waits for its root alone",
            "r0#0 wire collective MPI_Bcast root 0 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire collective MPI_Bcast root 0 bytes 8 in-progress\n"
            "r2#0 wire recv MPI_Recv from 1 tag 7 in-progress\n",
            0, false, 0, NULL);
    analyse("which has not come",
            "r0#0 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#0 wire collective MPI_Bcast root 0 bytes 8 in-progress\n",
            0, true, 2, NULL);
    analyse("the root of a reduction waits for all",
            "r0#0 wire collective MPI_Reduce root 0 bytes 8 hash 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Reduce for rank 1");
    analyse("making a communicator takes all",
            "r0#0 wire call MPI_Comm_dup comm 1 in-progress\n"
            "r1#0 wire collective MPI_Barrier in-progress\n",
            0, false, 0, NULL);
    analyse("and the one that does not come is missed",
            "r0#0 wire call MPI_Comm_dup comm 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Comm_dup for rank 1");
}

static void scans_and_neighbours(void)
{
    analyse("a scan waits for the ranks below",
            "r0#0 wire recv MPI_Recv from 2 tag 7 in-progress\n"
            "r1#0 wire collective MPI_Scan bytes 8 hash 1 in-progress\n"
            "r2#0 wire collective MPI_Exscan bytes 8 hash 1 in-progress\n",
            0, true, 2, NULL);
    analyse("and not for those above",
            "r0#0 wire collective MPI_Scan bytes 8 hash 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, false, 0, NULL);
    analyse("below and above are those of the communicator",
            "r0#0 wire comm MPI_Comm_split id 5 parent 1 rank 1 members 1 0\n"
            "r1#0 wire comm MPI_Comm_split id 5 parent 1 rank 0 members 1 0\n"
            "r0#0 wire collective MPI_Scan comm 5 bytes 8 hash 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Scan for rank 1 (communicator 0x5)");
    analyse("neighbours: nobody else has come",
            "r0#0 wire collective MPI_Neighbor_allgather bytes 8 hash 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Neighbor_allgather for rank 1");
    analyse("neighbours: one has come, and may be the only one",
            "r0#0 wire collective MPI_Neighbor_allgather bytes 8 hash 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n"
            "r2#0 wire collective MPI_Neighbor_allgather bytes 8 hash 1 in-progress\n",
            0, false, 0, NULL);
}

static void life(void)
{
    analyse("all in MPI_Finalize",
            "r0#0 wire call MPI_Finalize in-progress\n"
            "r1#0 wire call MPI_Finalize in-progress\n",
            0, false, 0, NULL);
    analyse("one in MPI_Finalize, one waiting for it",
            "r0#0 wire call MPI_Finalize in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Finalize for the others");
    analyse("another thread of the rank is outside of MPI",
            "r0#0 wire recv MPI_Recv from 1 tag 7 thread 0 in-progress\n"
            "r0#0 wire call MPI_Wtime thread 1\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, false, 0, NULL);
    analyse("only the newest incarnation counts",
            "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 1\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n"
            "r0#1 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#1 wire recv MPI_Recv from 0 tag 7 in-progress\n",
            0, true, 2, NULL);
}

int main(void)
{
    messages();
    held();
    sends();
    requests();
    collectives();
    scans_and_neighbours();
    life();
    return done();
}
