/* Traces whose records were damaged: said by I.complete, and by nobody else. */
#include "inline_trace.h"
#include "oracles/oracle.h"
#include "tap.h"

static const char text[] = "ranks 2\n"
                           "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 1\n"
                           "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 1\n"
                           "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 2\n"
                           "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 2\n";

typedef void damage(struct record *record);

static void judged(const char *what, damage *damage_record, const char *why)
{
    struct trace_set set;
    struct judgement judgement = {0};
    const char *ids[] = {"H", "I"};
    inline_trace(text, &set);
    struct run_facts facts = {.ranks = 2, .incarnations = 1, .end_text = "finished"};
    /* The trace is ours: it was made in memory. */
    damage_record((struct record *)(uintptr_t)&set.trace[0].record[0]);
    if (!check(judge(&set, &facts, ids, 2, &judgement, NULL) == OK, "%s is judged", what))
        return;
    check((why == NULL) == (judgement.verdict != VERDICT_HARNESS_ERROR), "%s: %s", what,
          verdict_text(judgement.verdict));
    check(judgement.finding_count == (why != NULL), "%s: one finding, or none", what);
    for (size_t i = 0; i < judgement.finding_count; i++)
        check(strcmp(judgement.findings[i].claim->id, "I.complete") == 0 &&
                  strstr(judgement.findings[i].why[0], why) != NULL,
              "%s: %s", what, judgement.findings[i].why[0]);
    judgement_release(&judgement);
    trace_set_release(&set);
}

static void nothing(struct record *record)
{
    (void)record;
}

static void unknown_kind(struct record *record)
{
    record->kind = 77;
}

static void unknown_level(struct record *record)
{
    record->level = 9;
}

static void left_before_entry(struct record *record)
{
    record->enter += 1000000000;
}

static void first_is_newest(struct record *record)
{
    record->enter += 1000000000;
    record->leave += 1000000000;
}

int main(void)
{
    judged("as it was", nothing, NULL);
    judged("a kind that does not exist", unknown_kind, "r0#0:e0: kind 77, level 1");
    judged("a level that does not exist", unknown_level, "r0#0:e0: kind 2, level 9");
    judged("a call that returned before it was entered", left_before_entry, "r0#0:e0, which ends");
    judged("a record from the future", first_is_newest, "r0#0:e1, which ends");
    return done();
}
