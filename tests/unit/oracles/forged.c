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
    {"H.orphan", {8, 0, 226}},      {"H.loss", {9, 0, 230}},
    {"H.duplicate", {27, 15, 250}}, {"H.payload", {2, 0, 251}},
    {"H.order", {7, 4, 235}},       {"H.collective", {19, 1, 56}},
    {"H.probe", {4, 1, 240}},       {"H.line", {6, 2, 327}},
    {"H.result", {0, 0, 254}},      {"H.progress", {0, 0, 248}},
    {"B.empty", {9, 1, 219}},       {"B.commit", {22, 3, 248}},
    {"C.1.1", {9, 0, 222}},         {"C.1.2", {5, 4, 257}},
    {"C.1.3", {6, 6, 255}},         {"C.late.log", {12, 11, 225}},
    {"C.late.ready", {10, 6, 255}}, {"C.late.replay", {14, 21, 171}},
    {"C.early.list", {4, 4, 237}},  {"C.early.suppress", {10, 16, 248}},
    {"C.early.same", {4, 2, 250}},  {"C.nondet", {17, 1, 200}},
    {"C.class", {23, 18, 200}},     {"C.epoch", {2, 2, 257}},
    {"C.commit", {6, 1, 236}},      {"C.restore", {7, 0, 205}},
    {"C.initiate", {10, 0, 254}},   {"D.2.1", {1, 0, 222}},
    {"D.2.2", {16, 13, 228}},       {"D.2.3", {8, 6, 234}},
    {"D.all", {25, 18, 236}},       {"D.gather", {13, 10, 236}},
    {"D.bcast", {17, 15, 236}},     {"D.barrier", {6, 4, 229}},
    {"S.cut", {36, 11, 242}},       {"S.channel", {18, 12, 217}},
    {"S.done", {13, 5, 231}},       {"R.clear", {12, 3, 208}},
    {"R.atomic", {10, 1, 254}},     {"R.buffer", {27, 8, 249}},
    {"R.address", {9, 4, 254}},     {"U.nostall", {8, 0, 379}},
    {"U.class", {12, 0, 383}},      {"U.local", {5, 0, 390}},
    {"U.revoke", {10, 1, 393}},     {"U.shrink", {9, 1, 390}},
    {"U.agree", {7, 1, 391}},       {"U.ack", {12, 5, 391}},
    {"U.suspect", {4, 0, 393}},     {"U.object", {8, 4, 394}},
    {"M.orphan", {58, 14, 447}},    {"M.replay", {14, 2, 454}},
    {"M.order", {6, 13, 454}},      {"M.local", {4, 1, 377}},
    {"M.stale", {5, 4, 459}},       {"M.once", {6, 1, 459}},
    {"M.atomic", {4, 1, 459}},      {"W.once", {6, 4, 514}},
    {"F.blank", {1, 0, 526}},       {"F.shrink", {3, 0, 524}},
    {"F.replace", {2, 0, 525}},     {"F.last", {4, 1, 525}},
    {"K.save", {11, 1, 442}},       {"T.agree", {8, 2, 544}},
    {"T.undo", {4, 0, 530}},        {"T.durable", {12, 3, 536}},
    {"P.same", {8, 4, 556}},        {"P.mask", {3, 1, 556}},
    {"P.last", {2, 0, 558}},        {"A.exact", {13, 4, 562}},
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
