/* Which steps of a plan were done before a violation: by messages, collectives and restarts. */
#include "shrink/shrink_past.h"
#include "tap.h"
#include "traces/text_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 8

static const struct {
    const char *what;
    const char *trace;
    struct event_ref witness; /* rank -1: none */
    const char *before;       /* "x.": of which steps it is so */
} pasts[] = {
    {"a message carries what its sender had seen, and no more",
     "ranks 3\n"
     "r0#0 fault kill 1 step 0\n"
     "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x1\n"
     "r0#0 fault kill 1 step 1\n"
     "r1#0 fault kill 1 step 2\n"
     "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1\n"
     "r1#0 fault kill 2 step 3\n"
     "r2#0 fault kill 1 step 4\n",
     {1, 0, 1},
     "x.x....."},
    {"what reached the rank only later was not before",
     "ranks 2\n"
     "r0#0 fault kill 1 step 0\n"
     "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x1\n"
     "r1#0 note checkpoint 1\n"
     "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1\n",
     {1, 0, 0},
     "........"},
    {"over two messages",
     "ranks 3\n"
     "r2#0 fault kill 1 step 5\n"
     "r2#0 wire send MPI_Send to 0 tag 7 bytes 8 hash 0x1\n"
     "r0#0 wire recv MPI_Recv from 2 tag 7 got 2 tag 7 bytes 8 hash 0x1\n"
     "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x1\n"
     "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1\n",
     {1, 0, 0},
     ".....x.."},
    {"a collective joins its members",
     "ranks 2\n"
     "r0#0 fault kill 1 step 0\n"
     "r1#0 fault kill 1 step 1\n"
     "r0#0 wire collective MPI_Barrier\n"
     "r1#0 wire collective MPI_Barrier\n"
     "r0#0 fault kill 1 step 2\n",
     {1, 0, 1},
     "xx......"},
    {"all that an incarnation did is before the next",
     "ranks 2\n"
     "r0#0 fault kill 1 step 0\n"
     "r1#0 fault kill 1 step 1\n"
     "r0#1 note restored 1\n"
     "r1#1 fault kill 1 step 2\n",
     {0, 1, 0},
     "xx......"},
    {"data flows from the root of a broadcast and not to it",
     "ranks 3\n"
     "r0#0 fault kill 1 step 0\n"
     "r1#0 fault kill 1 step 1\n"
     "r2#0 fault kill 1 step 2\n"
     "r0#0 wire collective MPI_Bcast root 0\n"
     "r1#0 wire collective MPI_Bcast root 0\n"
     "r2#0 wire collective MPI_Bcast root 0\n"
     "r2#0 note checkpoint 1\n",
     {2, 0, 2},
     "x.x....."},
    {"where receives wait for each other, and nobody can be first, all counts",
     "ranks 2\n"
     "r0#0 fault kill 1 step 0\n"
     "r0#0 wire recv MPI_Recv from 1 tag 7 got 1 tag 7 bytes 8 hash 0x1\n"
     "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x2\n"
     "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x2\n"
     "r1#0 wire send MPI_Send to 0 tag 7 bytes 8 hash 0x1\n"
     "r1#0 fault kill 1 step 1\n",
     {0, 0, 0},
     "xx......"},
    {"without a witness all that was done counts",
     "ranks 2\n"
     "r0#0 fault kill 1 step 0\n"
     "r1#0 fault kill 1 step 7\n",
     {-1, 0, 0},
     "x......x"},
};

static bool parse(const char *text, struct trace_set *traces)
{
    char path[] = "/tmp/faultline-past.XXXXXX";
    struct error error = {0};
    int file = mkstemp(path);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text) || close(file) != 0)
        return false;
    bool good = trace_set_parse(path, traces, &error) == OK;
    if (!good)
        printf("# %s\n", error.text);
    unlink(path);
    return good;
}

int main(void)
{
    for (size_t i = 0; i < sizeof pasts / sizeof pasts[0]; i++) {
        struct trace_set traces = {0};
        struct finding finding = {.witness_count = pasts[i].witness.rank >= 0,
                                  .witness = {pasts[i].witness}};
        bool before[STEPS] = {false};
        char got[STEPS + 1] = "";
        struct error error = {0};
        if (check(parse(pasts[i].trace, &traces), "trace %zu is read", i) &&
            check(past_steps(&traces, &finding, before, STEPS, &error) == OK, "and looked at")) {
            for (size_t k = 0; k < STEPS; k++)
                got[k] = before[k] ? 'x' : '.';
            check(strcmp(got, pasts[i].before) == 0, "%s: %s", pasts[i].what, got);
        }
        trace_set_release(&traces);
    }
    return done();
}
