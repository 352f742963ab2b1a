/* The verification of violations: it accepts every witness of a golden trace (golden.c), refuses
 * most forgeries of them (forged.c), and here whatever of a near miss is put together as a witness
 * against the claim that holds. Left out is what it believes without looking: chains through
 * collectives, collectives only started, requests that were brought back, and H.orphan where ranks
 * moved (verify/shown.h). */
#include "shown_again.h"
#include "tap.h"
#include "verify/look.h"
#include "verify/verify.h"

#include <glob.h>
#include <string.h>

#define REFUSALS_LEAST 1 /* of each claim, over all traces */
#define CLAIMS_MOST 256

static unsigned refused[CLAIMS_MOST], of_two_lives, believed;

static void add(struct witness *witness, const struct trace *trace, uint64_t index)
{
    if (witness->count < WITNESS_EVENTS_MOST)
        witness->event[witness->count++] =
            (struct witness_event){trace->rank, trace->incarnation, index};
}

/* All notes of that kind in the incarnation, up to the limit of a witness. */
static void add_notes(struct witness *witness, int incarnation, enum note_kind kind)
{
    for (size_t t = 0; t < witness->traces->count; t++) {
        const struct trace *trace = &witness->traces->trace[t];
        for (uint64_t i = 0; trace->incarnation == incarnation && i < trace->count; i++)
            if (trace->record[i].kind == RECORD_NOTE && trace->record[i].tag == (int32_t)kind) {
                add(witness, trace, i);
                break;
            }
    }
}

static void refuse(const struct witness *witness, const char *claim, const char *name)
{
    struct witness tried = *witness;
    tried.claim = claim;
    if (!witness_holds(&tried)) {
        refused[claim_find(claim) - claims]++;
        return;
    }
    believed++;
    printf("# %s: a witness against %s is believed\n", name, claim);
}

static bool holds(const struct judgement *judgement, const char *claim)
{
    for (size_t i = 0; i < judgement->result_count; i++)
        if (strcmp(judgement->results[i].claim->id, claim) == 0)
            return judgement->results[i].verdict == VERDICT_PASS &&
                   (judgement->results[i].situations > 0 || strcmp(claim, "H.progress") == 0);
    return false;
}

/* The first message that is sent and delivered in one incarnation, and the lines around it. */
static void against_messages(const struct witness *empty, const struct judgement *judgement,
                             const char *name)
{
    static const char *const against[] = {"H.loss",       "H.orphan", "H.duplicate", "H.payload",
                                          "B.empty",      "C.1.2",    "C.1.3",       "C.late.log",
                                          "C.early.list", "C.class",  "C.epoch",     "S.cut",
                                          "S.channel",    "R.clear"};
    const struct trace_set *traces = empty->traces;
    for (size_t a = 0; a < traces->count; a++)
        for (uint64_t i = 0; i < traces->trace[a].count; i++) {
            const struct record *sent = &traces->trace[a].record[i];
            const struct trace *to =
                sent->kind == RECORD_SEND && sent->level == LEVEL_APP && sent->hash != 0
                    ? trace_set_find(traces, sent->peer, traces->trace[a].incarnation)
                    : NULL;
            for (uint64_t k = 0; to != NULL && k < to->count; k++) {
                const struct record *got = &to->record[k];
                if (got->kind != RECORD_RECV || got->level != LEVEL_APP || got->request != 0 ||
                    got->peer != traces->trace[a].rank || got->tag != sent->tag ||
                    got->comm != sent->comm || got->hash != sent->hash)
                    continue;
                struct witness witness = *empty;
                add(&witness, &traces->trace[a], i);
                add(&witness, to, k);
                add_notes(&witness, to->incarnation, NOTE_CHECKPOINT);
                add_notes(&witness, to->incarnation, NOTE_STOP_LOG);
                for (size_t c = 0; c < sizeof against / sizeof against[0]; c++)
                    if (holds(judgement, against[c]) &&
                        (strcmp(against[c], "H.orphan") != 0 || !ranks_move(traces)))
                        refuse(&witness, against[c], name);
            }
        }
}

/* The notes of a protocol that are in order. */
static void against_lines(const struct witness *empty, const struct judgement *judgement,
                          const char *name)
{
    static const struct {
        const char *claim;
        enum note_kind kind;
        int incarnation;
    } against[] = {{"C.1.1", NOTE_STOP_LOG, 0},     {"C.commit", NOTE_COMMIT, 0},
                   {"S.done", NOTE_COMMIT, 0},      {"S.done", NOTE_SAVED, 0},
                   {"R.clear", NOTE_CHECKPOINT, 0}, {"R.address", NOTE_ADDRESS, 0},
                   {"C.restore", NOTE_RESTORED, 1}};
    for (size_t i = 0; i < sizeof against / sizeof against[0]; i++) {
        struct witness witness = *empty;
        add_notes(&witness, against[i].incarnation, against[i].kind);
        if (witness.count > 0 && holds(judgement, against[i].claim))
            refuse(&witness, against[i].claim, name);
    }
}

static uint64_t find_note(const struct trace *trace, enum note_kind kind)
{
    uint64_t at = 0;
    while (at < trace->count &&
           (trace->record[at].kind != RECORD_NOTE || trace->record[at].tag != (int32_t)kind))
        at++;
    return at;
}

/* The checkpoint that a rank took in its first life, and took again in the second. */
static void against_lives(const struct witness *empty, const struct judgement *judgement,
                          const char *name)
{
    for (size_t t = 0; holds(judgement, "S.done") && t < empty->traces->count; t++) {
        const struct trace *first = &empty->traces->trace[t];
        const struct trace *second = trace_set_find(empty->traces, first->rank, 1);
        uint64_t at = find_note(first, NOTE_CHECKPOINT);
        uint64_t again = second != NULL ? find_note(second, NOTE_CHECKPOINT) : 0;
        if (first->incarnation != 0 || second == NULL || at == first->count ||
            again == second->count || first->record[at].bytes != second->record[again].bytes)
            continue;
        struct witness witness = *empty;
        add(&witness, first, at);
        add(&witness, second, again);
        refuse(&witness, "S.done", name);
        of_two_lives++;
    }
}

/* Two members of the first collective. */
static void against_calls(const struct witness *empty, const struct judgement *judgement,
                          const char *name)
{
    static const char *const against[] = {"D.2.2", "D.2.3", "D.barrier"};
    struct witness witness = *empty;
    for (size_t t = 0; t < empty->traces->count; t++) {
        const struct trace *trace = &empty->traces->trace[t];
        for (uint64_t i = 0; trace->incarnation == 0 && i < trace->count; i++)
            if (trace->record[i].kind == RECORD_COLLECTIVE && trace->record[i].level == LEVEL_APP) {
                add(&witness, trace, i);
                break;
            }
    }
    add_notes(&witness, 0, NOTE_CHECKPOINT);
    for (size_t i = 0; witness.count > 1 && i < sizeof against / sizeof against[0]; i++)
        if (holds(judgement, against[i]) && !strstr(name, "started"))
            refuse(&witness, against[i], name);
    if (witness.count > 0 && holds(judgement, "H.collective")) {
        witness.count = 1; /* as where a member is said never to have called it */
        refuse(&witness, "H.collective", name);
    }
}

static void run(const char *path)
{
    static struct example example;
    struct judgement judgement = {0};
    struct error error = {0};
    struct witness_reference references[EXAMPLE_MAX];
    const char *name = strrchr(path, '/') + 1;
    if (strstr(name, "near") != NULL && example_read(path, &example, &error) == OK &&
        judge(&example.traces, &example.facts, example.id, example.id_count, &judgement, &error) ==
            OK &&
        judgement.verdict == VERDICT_PASS) {
        struct witness witness = empty_witness(&example, references);
        against_messages(&witness, &judgement, name);
        against_lines(&witness, &judgement, name);
        against_calls(&witness, &judgement, name);
        against_lives(&witness, &judgement, name);
        if (holds(&judgement, "H.result"))
            refuse(&witness, "H.result", name);
        if (holds(&judgement, "H.progress"))
            refuse(&witness, "H.progress", name);
        if (holds(&judgement, "A.exact"))
            refuse(&witness, "A.exact", name);
    }
    judgement_release(&judgement);
    example_release(&example);
}

/* --- what a refusal comes to --------------------------------------------------------------- */

/* The claims that need no event to be seen: a run that did not end, a result that is missing. */
static bool needs_events(const char *claim)
{
    return strcmp(claim, "H.progress") != 0 && strcmp(claim, "H.result") != 0 &&
           strcmp(claim, "A.exact") != 0;
}

/* The violations of a golden trace as an oracle that shows the wrong events would report them. */
static void forge(struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        judgement->findings[i].witness_count = 0;
}

static void look(const char *path, unsigned *untouched, unsigned *errors)
{
    static struct example example;
    struct judgement judgement = {0};
    struct error error = {0};
    bool good = example_read(path, &example, &error) == OK &&
                judge(&example.traces, &example.facts, example.id, example.id_count, &judgement,
                      &error) == OK &&
                judgement.verdict == VERDICT_VIOLATION;
    for (size_t i = 0; good && i < judgement.finding_count; i++)
        good = judgement.findings[i].verdict != VERDICT_VIOLATION ||
               needs_events(judgement.findings[i].claim->id);
    if (good) {
        verify_findings(&example.traces, &example.facts, &judgement);
        *untouched += judgement.verdict == VERDICT_VIOLATION;
        forge(&judgement);
        verify_findings(&example.traces, &example.facts, &judgement);
        bool all = judgement.verdict == VERDICT_HARNESS_ERROR &&
                   strstr(judgement.findings[0].why[0], "cannot be derived again") != NULL;
        for (size_t i = 0; i < judgement.result_count; i++)
            all &= judgement.results[i].verdict != VERDICT_VIOLATION;
        for (size_t i = 0; i < judgement.finding_count; i++)
            all &= judgement.findings[i].verdict != VERDICT_VIOLATION;
        *errors += all;
        if (!all)
            printf("# %s: a violation without its events is no harness-error\n", path);
    }
    judgement_release(&judgement);
    example_release(&example);
}

static void look_at_all(char *const *path, size_t count)
{
    unsigned untouched = 0, errors = 0;
    for (size_t i = 0; i < count; i++)
        look(path[i], &untouched, &errors);
    check(untouched > 0 && errors == untouched,
          "of %u violations whose events are taken away %u are errors of the harness", untouched,
          errors);
}

int main(void)
{
    static const char *const tried[] = {
        "H.loss",  "H.orphan", "H.duplicate", "H.payload", "H.result",   "H.progress",
        "B.empty", "C.1.1",    "C.1.2",       "C.1.3",     "C.late.log", "C.early.list",
        "C.class", "C.epoch",  "C.commit",    "C.restore", "D.2.2",      "H.collective"};
    glob_t found;
    if (!check(glob("oracles/golden/*.txt", 0, NULL, &found) == 0, "there are golden traces"))
        return done();
    for (size_t i = 0; i < found.gl_pathc; i++)
        run(found.gl_pathv[i]);
    look_at_all(found.gl_pathv, found.gl_pathc);
    globfree(&found);
    check(believed == 0, "no witness against a claim that holds is believed, %u are", believed);
    check(of_two_lives > 0, "of checkpoints that two lives take %u are shown", of_two_lives);
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++)
        check(refused[claim_find(tried[i]) - claims] >= REFUSALS_LEAST,
              "%s: %u witnesses are refused", tried[i], refused[claim_find(tried[i]) - claims]);
    return done();
}
