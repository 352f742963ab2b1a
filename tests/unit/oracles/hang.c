/* Which ranks can never go on: what is a deadlock, and what only looks like one; and what is told
 * of those that do not wait. */
#include "inline_trace.h"
#include "oracles/history_claims/doing.h"
#include "oracles/oracle.h"
#include "tap.h"
#include "traces/example.h"

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
    analyse("one after it does not overtake",
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
    analyse("it is held in a later incarnation",
            "r0#0 wire call MPI_Init\n"
            "r1#0 wire call MPI_Init\n"
            "r0#1:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#1 fault held 1 step 0 value 1\n"
            "r0#1 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#1 wire recv MPI_Recv from 0 tag any in-progress\n",
            0, true, 2, NULL);
    analyse("it was held in an incarnation that is over",
            "r0#0:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#0 fault held 1 step 0 value 1\n"
            "r1#0 wire call MPI_Init\n"
            "r0#1:e0 wire send MPI_Send to 1 tag 8 bytes 8 hash 1\n"
            "r0#1 wire recv MPI_Recv from 1 tag 7 in-progress\n"
            "r1#1 wire recv MPI_Recv from 0 tag any in-progress\n",
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
    analyse("Waitsome: one of two has come",
            "r1#0 wire send MPI_Send to 0 tag 7 bytes 8 hash 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 7 request 1\n"
            "r0#0 wire recv MPI_Irecv from 1 tag 8 request 2\n"
            "r0#0 wire call MPI_Waitsome request 1 in-progress\n"
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

/* --- what a rank does that does not wait -------------------------------------------------- */

#define TIMES 20

/* `before`, then TIMES times `again`, then `after`; rank 0 is told of. */
static void doing(const char *before, const char *again, const char *after, const char *expected)
{
    struct trace_set set;
    char text[8192], doing[DOING_TEXT_BYTES];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", before);
    for (int i = 0; i < TIMES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", again);
    snprintf(text + used, sizeof text - used, "%s", after);
    inline_trace(text, &set);
    doing_text(&set, 0, doing);
    check(strcmp(doing, expected) == 0, "%s (expected %s)", doing, expected);
    trace_set_release(&set);
}

static void repeats(void)
{
    doing("r0#0 app collective MPI_Barrier\n",
          "r0#0 app send MPI_Send to 1 tag 5 bytes 0 hash 1 lasts 1\n"
          "r0#0 wire send MPI_Send to 1 tag 5 bytes 0 hash 1\n",
          "",
          "rank 0 repeats MPI_Send of 0 bytes to rank 1, tag 5: 20 times since 0.000 s (r0#0:e1)");
    doing("r0#0 app send MPI_Send to 1 tag 4 bytes 8 hash 1\n",
          "r0#0 app send MPI_Send to 1 tag 5 bytes 8 hash 1\n"
          "r0#0 app recv MPI_Recv from any tag 6 got 1 tag 6 bytes 8 hash 2\n",
          "",
          "rank 0 repeats MPI_Send of 8 bytes to rank 1, tag 5; MPI_Recv from any rank, tag 6: "
          "20 times since 0.000 s (r0#0:e1)");
    doing("r0#0 app recv MPI_Irecv from 1 tag 7 request 1\n", "",
          "r0#0 app complete MPI_Test request 1 negative bytes 1500000\n",
          "rank 0 repeats MPI_Test (\"not yet\"): 1.5 million times since 0.000 s (r0#0:e1)");
}

static void does_not_repeat(void)
{
    doing("", "r0#0 app call MPI_Wtime\n", "r0#0 app send MPI_Send to 1 tag 4 bytes 8 hash 1\n",
          "rank 0 has made no call since 0.000 s, after MPI_Send of 8 bytes to rank 1, tag 4 "
          "(r0#0:e20)");
    doing("r0#0 app recv MPI_Recv from 1 tag 7 in-progress\n", "",
          "r0#0 wire complete MPI_Test request 1 negative bytes 300\n",
          "rank 0 is inside MPI_Recv from rank 1, tag 7, and has polled in vain 300 times since "
          "0.000 s (r0#0:e0)");
    doing("r0#0 wire call MPI_Init\n", "", "", "rank 0 has made no call");
}

/* --- what is told of it ------------------------------------------------------------------- */

static bool is_said(const struct judgement *judgement, const char *sentence)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        for (unsigned k = 0; k < judgement->findings[i].why_count; k++)
            if (strcmp(judgement->findings[i].why[k], sentence) == 0)
                return true;
    return false;
}

/* `sentences` end with NULL. */
static void told(const char *path, const char *const *sentences)
{
    static struct example example;
    struct judgement judgement = {0};
    struct error error = {0};
    if (check(example_read(path, &example, &error) == OK, "%s is read", path) &&
        check(judge(&example.traces, &example.facts, example.id, example.id_count, &judgement,
                    &error) == OK,
              "%s is judged", path))
        for (size_t i = 0; sentences[i] != NULL; i++)
            check(is_said(&judgement, sentences[i]), "%s: %s", path, sentences[i]);
    judgement_release(&judgement);
    example_release(&example);
}

static void findings(void)
{
    told(
        "oracles/golden/h_progress_repeats.txt",
        (const char *const[]){
            "rank 1 repeats MPI_Send of 0 bytes to rank 2, tag 5: 20 times since 0.000 s (r1#0:e0)",
            "ranks 0, 2 wait in MPI_Recv for a message from rank 1, tag 7: r0#0:e0, r2#0:e0",
            NULL});
    told("oracles/golden/h_progress_communicators.txt",
         (const char *const[]){
             "two ranks wait for each other in collectives on different communicators: "
             "neither comes to the other's before its own returns",
             "rank 0 waits in MPI_Barrier for rank 1, which is in MPI_Allreduce on communicator "
             "0x5: r0#0:e2",
             "rank 1 waits in MPI_Allreduce for rank 0 (communicator 0x5), which is in MPI_Barrier "
             "on MPI_COMM_WORLD: r1#0:e2",
             NULL});
}

static void the_dead(void)
{
    told("oracles/golden/lives_progress.txt",
         (const char *const[]){
             "rank 0 waits in MPI_Recv for a message from rank 1, tag 7, which is dead: r0#0:e0",
             NULL});
    told("oracles/golden/lives_progress_collective.txt",
         (const char *const[]){
             "ranks 0, 2 wait in MPI_Barrier for rank 1, which is dead: r0#0:e0, r2#0:e0", NULL});
    analyse("one of those waited for is dead",
            "trace r1#0 open\n"
            "r0#0 wire collective MPI_Barrier in-progress\n"
            "r1#0 wire call MPI_Init\n"
            "r2#0 wire call MPI_Wtime\n",
            1u << 1, false, 0, "rank 0 waits in MPI_Barrier for ranks 1, 2, of which dead: 1");
}

/* What goes on without the dead waits for those who live. */
static void meetings(void)
{
    analyse("one who lives does not come to an agreement",
            "r0#0 wire call MPIX_Comm_agree comm 1 in-progress\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 in-progress\n"
            "r2#0 wire call MPI_Wtime\n",
            1u << 2, true, 2, "rank 0 waits in MPIX_Comm_agree for rank 1");
    analyse("all who live have come to it",
            "r0#0 wire call MPIX_Comm_agree comm 1 in-progress\n"
            "r1#0 wire call MPIX_Comm_agree comm 1 in-progress\n"
            "r2#0 wire call MPI_Wtime\n",
            1u << 2, false, 0, NULL);
    analyse("two who have come to different ones",
            "r0#0 wire call MPIX_Comm_agree comm 1 in-progress\n"
            "r1#0 wire call MPIX_Comm_shrink comm 1 in-progress\n",
            0, true, 2, "rank 0 waits in MPIX_Comm_agree for rank 1");
    analyse("the second of one is not the first of the other",
            "r0#0 wire call MPIX_Comm_agree comm 1\n"
            "r0#0 wire call MPIX_Comm_agree comm 1 in-progress\n"
            "r1#0 wire call MPIX_Comm_agree comm 1 in-progress\n",
            0, false, 0, NULL);
    analyse("processes are made when all members have come, the dead too",
            "r0#0 wire call MPI_Comm_spawn comm 1 in-progress\n"
            "r1#0 wire call MPI_Comm_spawn comm 1 in-progress\n"
            "trace r2#0 open\n"
            "r2#0 wire call MPI_Init\n",
            1u << 2, true, 0, "rank 0 waits in MPI_Comm_spawn for rank 2, which is dead");
    analyse("a merge waits for both sides",
            "r0#0 wire comm MPI_Comm_spawn id 0x71 parent 1 rank 0 members 0 remote 1\n"
            "r0#0 wire call MPI_Intercomm_merge comm 0x71 in-progress\n"
            "r1#0 wire recv MPI_Recv comm 0x71 from 0 tag 7 in-progress\n",
            0, true, 2, "rank 0 waits in MPI_Intercomm_merge for rank 1 (communicator 0x71)");
}

int main(void)
{
    the_dead();
    meetings();
    messages();
    held();
    sends();
    requests();
    collectives();
    scans_and_neighbours();
    life();
    repeats();
    does_not_repeat();
    findings();
    return done();
}
