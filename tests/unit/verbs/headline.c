/* Which of several violations stands first, and which are said to follow from it. */
#include "verdict/headline.h"
#include "inline_trace.h"
#include "tap.h"

#include <string.h>

#define TEXT_BYTES 512

/* "C.1.1 <H.duplicate H.result": what follows from the first has a mark. */
static void list(const struct judgement *judgement, char text[TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < judgement->finding_count && used < TEXT_BYTES; i++)
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s%s", i > 0 ? " " : "",
                                 judgement->findings[i].follows ? "<" : "",
                                 judgement->findings[i].claim->id);
}

/* All claims of C and H are judged; `results`: what rank 0 declares without faults is 0x99. */
static void expect(const char *what, const char *text, bool results, const char *expected,
                   const char *wanted)
{
    static const char *const ids[] = {"C", "H"};
    const struct reference_result reference = {.name = "sum", .bytes = 8, .hash = 0x99};
    struct trace_set traces;
    struct judgement judgement = {0};
    struct error error = {0};
    char found[TEXT_BYTES];
    inline_trace(text, &traces);
    struct run_facts facts = {.ranks = traces.world,
                              .incarnations = traces.incarnations,
                              .end = RUN_FINISHED,
                              .end_text = "every rank finished",
                              .reference_count = results,
                              .references = &reference};
    if (check(judge(&traces, &facts, ids, 2, &judgement, &error) == OK, "%s: it is judged", what)) {
        headline_choose(&traces, expected, &judgement);
        list(&judgement, found);
        check(strcmp(found, wanted) == 0, "%s: %s (expected %s)", what, found, wanted);
    }
    judgement_release(&judgement);
    trace_set_release(&traces);
}

/* Rank 1 has an early message when it takes line 1; rank 0 is restored to the line. */
#define EARLY                                                                                      \
    "r0#0 note checkpoint 1\n"                                                                     \
    "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x11 lasts 1\n"                                \
    "r0#0 wire send MPI_Send to 1 tag 7 bytes 9 hash 0x911\n"                                      \
    "r1#0 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11 lasts 2\n"                  \
    "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 9 hash 0x911\n"                        \
    "r1#0 note early 1 peer 0 tag 7 hash 0x11\n"                                                   \
    "r1#0 note checkpoint 1\n"                                                                     \
    "r1#0 note stop-log 1\n"                                                                       \
    "r1#0 note saved 1\n"                                                                          \
    "r1#0 wire send MPI_Send to 0 tag 105 bytes 8 hash 0x1\n"                                      \
    "r0#0 wire recv MPI_Recv from 1 tag 105 got 1 tag 105 bytes 8 hash 0x1\n"                      \
    "r0#0 note stop-log 1\n"                                                                       \
    "r0#0 note saved 1\n"                                                                          \
    "r0#0 note commit 1\n"                                                                         \
    "r1#0 fault kill 1 step 0\n"                                                                   \
    "r0#1 note restored 1\n"                                                                       \
    "r1#1 note restored 1\n"

static void causes(void)
{
    static const char sent_again[] =
        EARLY "r0#1 app send MPI_Send to 1 tag 7 bytes 8 hash 0x11 lasts 1\n"
              "r0#1 wire send MPI_Send to 1 tag 7 bytes 9 hash 0x911\n"
              "r1#1 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11 lasts 1\n"
              "r1#1 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 9 hash 0x911\n"
              "r0#1 note result 8 name \"sum\" hash 0x10\n";
    expect("an early message is sent again", sent_again, true, NULL,
           "C.early.suppress H.orphan <H.result");
    expect("the same, which the scenario expects", sent_again, true, "C.early.suppress",
           "H.orphan <H.result C.early.suppress");
    expect("the same, with nothing else", sent_again, true, "C",
           "H.orphan <H.result "
           "C.early.suppress");
    /* What the sender does again and how are in one call: neither comes first. */
    expect("it is sent again with other bytes",
           EARLY "r0#1 app send MPI_Send to 1 tag 7 bytes 8 hash 0x12 lasts 1\n"
                 "r0#1 wire send MPI_Send to 1 tag 7 bytes 9 hash 0x912\n"
                 "r0#1 note result 8 name \"sum\" hash 0x10\n",
           true, NULL, "C.early.suppress H.orphan <H.result C.early.same");
}

/* Rank 0 stops logging too early; between ranks 1 and 2 a message is delivered twice. */
#define STOPS "r0#0 note checkpoint 1\nr0#0 note stop-log 1\n"
#define TWICE                                                                                      \
    "r1#0 app send MPI_Send to 2 tag 7 bytes 8 hash 0x11\n"                                        \
    "r2#0 app recv MPI_Recv from 1 tag 7 got 1 tag 7 bytes 8 hash 0x11\n"                          \
    "r2#0 app recv MPI_Recv from 1 tag 7 got 1 tag 7 bytes 8 hash 0x11\n"
#define REST                                                                                       \
    "r1#0 note checkpoint 1\n"                                                                     \
    "r2#0 note checkpoint 1\n"

static void clocks(void)
{
    expect("no chain of messages leads to the second", STOPS TWICE REST, false, NULL,
           "C.1.1 H.duplicate");
    expect("nor to the first", TWICE STOPS REST, false, NULL, "C.1.1 H.duplicate");
    expect("a message leads to it",
           STOPS "r0#0 wire send MPI_Send to 2 tag 9 bytes 8 hash 0x1\n"
                 "r2#0 wire recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x1\n" TWICE REST,
           false, NULL, "C.1.1 <H.duplicate");
    expect("a message leads from it to the other",
           TWICE "r2#0 wire send MPI_Send to 0 tag 9 bytes 8 hash 0x1\n"
                 "r0#0 wire recv MPI_Recv from 2 tag 9 got 2 tag 9 bytes 8 hash 0x1\n" STOPS REST,
           false, NULL, "H.duplicate <C.1.1");
    expect("over another rank, and a collective",
           STOPS "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 hash 0x1\n"
                 "r1#0 wire recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x1\n"
                 "r0#0 note phase name "
                 "\"longer-than-what-one-record-of-text-holds-as-those-of-programs-are\"\n"
                 "r0#0 wire collective MPI_Barrier lasts 2\n"
                 "r1#0 wire collective MPI_Barrier lasts 1\n"
                 "r2#0 wire collective MPI_Barrier\n" TWICE REST,
           false, NULL, "C.1.1 <H.duplicate");
    expect("a message that was sent before does not",
           "r0#0 wire send MPI_Send to 2 tag 9 bytes 8 hash 0x1\n" STOPS
           "r2#0 wire recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x1\n" TWICE REST,
           false, NULL, "C.1.1 H.duplicate");
}

static void others(void)
{
    expect("a name in the trace stops nothing",
           STOPS "r0#0 wire send MPI_Send to 2 tag 9 bytes 8 hash 0x1\n"
                 "r0#0 note phase name \"x\"\n"
                 "r2#0 wire recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x1\n" TWICE REST,
           false, NULL, "C.1.1 <H.duplicate");
    expect("claims in another order than their events",
           "r1#0 app send MPI_Send to 2 tag 3 bytes 8 hash 0x11\n"
           "r2#0 app recv MPI_Recv from 1 tag 3 got 1 tag 3 bytes 8 hash 0x12\n" TWICE
           "r0#0 app call MPI_Init\n",
           false, NULL, "H.payload <H.duplicate");
    expect("the next life of the job",
           STOPS REST "r1#0 fault kill 1 step 0\nr0#1 app call MPI_Init\n"
                      "r1#1 app send MPI_Send to 2 tag 7 bytes 8 hash 0x11\n"
                      "r2#1 app recv MPI_Recv from 1 tag 7 got 1 tag 7 bytes 8 hash 0x11\n"
                      "r2#1 app recv MPI_Recv from 1 tag 7 got 1 tag 7 bytes 8 hash 0x11\n",
           false, NULL, "C.1.1 <H.duplicate");
}

static void ends(void)
{
    expect("what is decided at the end follows from all else",
           "r1#0 app send MPI_Send to 0 tag 9 bytes 8 hash 0x1\n" STOPS TWICE REST
           "r0#0 app collective MPI_Barrier\n",
           false, NULL, "C.1.1 H.duplicate <H.collective H.loss");
    expect("until the end a message may be sent again", EARLY "r0#1 note initiated 1\n", false,
           NULL, "C.initiate <H.orphan");
    expect("of two at the end neither does",
           "r0#0 app collective MPI_Barrier\nr1#0 app call MPI_Init\n"
           "r0#0 note result 8 name \"sum\" hash 0x10\n",
           true, NULL, "H.collective H.result");
    expect("one alone", STOPS REST "r2#0 app call MPI_Init\n", false, NULL, "C.1.1");
}

int main(void)
{
    causes();
    clocks();
    others();
    ends();
    return done();
}
