/* How much the verifier refuses. Every witness of a golden trace is forged in all the ways that
 * are counted here, as an oracle that is wrong might show it: some are violations all the same,
 * most are not. What was refused once stays refused: the table only grows, with the traces. */
#include "shown_again.h"
#include "tap.h"

#include <glob.h>
#include <string.h>

enum way {
    DROPPED, /* an event is left out */
    MOVED,   /* ... or is the next one of its kind in the same trace, before or after it */
    CALLED,  /* the witness is shown for another claim */
    WAYS
};

/* Forgeries refused, at least, of each claim: for which they are shown, right or not. */
static const struct {
    const char *claim;
    unsigned refused[WAYS];
} floor_of[] = {
    {"H.orphan", {16, 2, 553}},     {"H.loss", {29, 14, 560}},
    {"H.duplicate", {60, 40, 599}}, {"H.payload", {14, 2, 602}},
    {"H.order", {9, 5, 566}},       {"H.synchronous", {4, 4, 694}},
    {"H.collective", {43, 1, 214}}, {"H.probe", {6, 2, 616}},
    {"H.result", {0, 0, 605}},      {"H.line", {16, 5, 611}},
    {"H.restore", {16, 1, 609}},    {"H.progress", {0, 0, 533}},
    {"B.empty", {11, 1, 576}},      {"B.commit", {22, 3, 608}},
    {"C.1.1", {9, 0, 581}},         {"C.1.2", {5, 4, 617}},
    {"C.1.3", {8, 8, 614}},         {"C.late.log", {12, 11, 569}},
    {"C.late.ready", {10, 6, 615}}, {"C.late.replay", {14, 21, 496}},
    {"C.early.list", {4, 4, 590}},  {"C.early.suppress", {10, 16, 608}},
    {"C.early.same", {4, 2, 605}},  {"C.nondet", {17, 1, 533}},
    {"C.class", {23, 18, 537}},     {"C.epoch", {2, 2, 617}},
    {"C.commit", {6, 1, 571}},      {"C.restore", {7, 0, 521}},
    {"C.initiate", {10, 0, 614}},   {"D.2.1", {1, 0, 581}},
    {"D.2.2", {16, 13, 587}},       {"D.2.3", {8, 6, 593}},
    {"D.all", {26, 18, 594}},       {"D.gather", {13, 10, 594}},
    {"D.bcast", {17, 15, 594}},     {"D.barrier", {6, 4, 588}},
    {"S.cut", {36, 11, 602}},       {"S.channel", {25, 15, 569}},
    {"S.done", {13, 5, 564}},       {"S.replay", {9, 4, 607}},
    {"R.clear", {12, 3, 551}},      {"R.atomic", {10, 1, 614}},
    {"R.buffer", {27, 8, 609}},     {"R.address", {9, 4, 613}},
    {"U.nostall", {19, 1, 582}},    {"U.class", {12, 0, 604}},
    {"U.local", {5, 0, 611}},       {"U.revoke", {10, 1, 614}},
    {"U.shrink", {9, 1, 611}},      {"U.agree", {7, 1, 612}},
    {"U.ack", {12, 5, 612}},        {"U.suspect", {5, 0, 613}},
    {"U.object", {8, 4, 615}},      {"M.orphan", {77, 16, 597}},
    {"M.replay", {30, 3, 601}},     {"M.order", {14, 20, 604}},
    {"M.local", {7, 2, 519}},       {"M.stale", {7, 4, 613}},
    {"M.once", {6, 1, 615}},        {"M.atomic", {5, 1, 614}},
    {"F.blank", {1, 0, 618}},       {"F.shrink", {3, 0, 616}},
    {"F.replace", {2, 0, 617}},     {"F.last", {4, 1, 617}},
    {"K.save", {13, 1, 518}},       {"T.agree", {10, 2, 614}},
    {"T.undo", {4, 0, 601}},        {"T.durable", {14, 4, 603}},
    {"P.same", {10, 4, 614}},       {"P.mask", {3, 1, 615}},
    {"P.last", {2, 0, 617}},        {"A.exact", {14, 4, 601}},
    {"W.once", {6, 4, 615}},
};

#define CLAIMS_MOST 256

static struct {
    unsigned tried, refused;
} count[CLAIMS_MOST][WAYS];
static bool is_broken[CLAIMS_MOST]; /* by some golden trace */

static void try(const struct witness *forged, enum way way)
{
    const struct claim *claim = claim_find(forged->claim);
    count[claim - claims][way].tried++;
    count[claim - claims][way].refused += !witness_holds(forged);
}

/* --- forging ------------------------------------------------------------------------------- */

static void drop(const struct witness *witness, size_t event)
{
    struct witness forged = *witness;
    forged.count--;
    for (size_t i = event; i < forged.count; i++)
        forged.event[i] = forged.event[i + 1];
    try(&forged, DROPPED);
}

static bool is_alike(const struct record *a, const struct record *b)
{
    return a->kind == b->kind && (a->kind != RECORD_NOTE || a->tag == b->tag);
}

/* `step` is 1 or -1: round and round below 0, so an index before the first is none. */
static void move(const struct witness *witness, size_t event, uint64_t step)
{
    struct witness forged = *witness;
    const struct witness_event *shown = &witness->event[event];
    const struct trace *trace = trace_set_find(witness->traces, shown->rank, shown->incarnation);
    uint64_t to = shown->index + step;
    while (to < trace->count && !is_alike(&trace->record[to], &trace->record[shown->index]))
        to += step;
    if (to >= trace->count)
        return;
    forged.event[event].index = to;
    try(&forged, MOVED);
}

static void call_otherwise(const struct witness *witness)
{
    struct witness forged = *witness;
    for (size_t i = 0; i < sizeof floor_of / sizeof floor_of[0]; i++) {
        forged.claim = floor_of[i].claim;
        if (strcmp(forged.claim, witness->claim) != 0)
            try(&forged, CALLED);
    }
}

static void forge(const struct witness *witness)
{
    is_broken[claim_find(witness->claim) - claims] = true;
    for (size_t i = 0; i < witness->count; i++) {
        drop(witness, i);
        move(witness, i, 1);
        move(witness, i, UINT64_MAX);
    }
    call_otherwise(witness);
}

static void forge_all_of(const char *path)
{
    static struct example example;
    struct judgement judgement = {0};
    struct error error = {0};
    struct witness_reference references[EXAMPLE_MAX];
    if (check(example_read(path, &example, &error) == OK &&
                  judge(&example.traces, &example.facts, example.id, example.id_count, &judgement,
                        &error) == OK,
              "%s is judged", path))
        for (size_t i = 0; i < judgement.finding_count; i++) {
            struct witness witness = witness_of(&example, &judgement.findings[i], references);
            if (judgement.findings[i].verdict == VERDICT_VIOLATION)
                forge(&witness);
        }
    judgement_release(&judgement);
    example_release(&example);
}

/* --- what was refused ---------------------------------------------------------------------- */

static void check_floor(size_t claim)
{
    static const char *const what[WAYS] = {"dropped", "moved", "called"};
    const unsigned *least = NULL;
    for (size_t i = 0; i < sizeof floor_of / sizeof floor_of[0]; i++)
        if (strcmp(floor_of[i].claim, claims[claim].id) == 0)
            least = floor_of[i].refused;
    printf("#   {\"%s\", {%u, %u, %u}},\n", claims[claim].id, count[claim][DROPPED].refused,
           count[claim][MOVED].refused, count[claim][CALLED].refused);
    if (!check(least != NULL, "%s has its line in the table", claims[claim].id))
        return;
    for (size_t way = 0; way < WAYS; way++)
        check(count[claim][way].refused >= least[way], "%s: of %u forgeries %s %u are refused",
              claims[claim].id, count[claim][way].tried, what[way], count[claim][way].refused);
}

int main(void)
{
    glob_t found;
    if (!check(claim_count <= CLAIMS_MOST && glob("oracles/golden/*.txt", 0, NULL, &found) == 0,
               "there are golden traces"))
        return done();
    for (size_t i = 0; i < found.gl_pathc; i++)
        forge_all_of(found.gl_pathv[i]);
    globfree(&found);
    for (size_t i = 0; i < claim_count; i++)
        if (is_broken[i])
            check_floor(i);
    return done();
}
