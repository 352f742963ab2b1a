/* Fingerprints of what is found in traces of oracles/golden: by role and phase, not by number. */
#include "verdict/fingerprint.h"
#include "tap.h"
#include "traces/example.h"

#include <string.h>

#define LATER_TICKS UINT64_C(1000000000)

/* What rank 0 did comes after all that the others did, by the clock: a replay may have it so. */
static void late_0(struct example *example)
{
    for (size_t i = 0; i < example->traces.count; i++) {
        const struct trace *trace = &example->traces.trace[i];
        struct record *record = (struct record *)trace->record; /* made in memory: example.h */
        for (uint64_t at = 0; trace->rank == 0 && at < trace->count; at++) {
            record[at].enter += LATER_TICKS;
            if (atomic_load(&record[at].leave) != 0)
                atomic_fetch_add(&record[at].leave, LATER_TICKS);
        }
    }
}

/* Of the worst finding. `facts_of` may change what the driver would know. */
static void expect(const char *name, void (*change)(struct example *), const char *text)
{
    static struct example example;
    struct judgement judgement = {0};
    struct fingerprint fingerprint;
    struct error error = {0};
    char path[256];
    snprintf(path, sizeof path, "oracles/golden/%s.txt", name);
    if (!check(example_read(path, &example, &error) == OK, "%s is read: %s", path, error.text))
        return;
    if (change != NULL)
        change(&example);
    bool judged = judge(&example.traces, &example.facts, example.id, example.id_count, &judgement,
                        &error) == OK;
    if (check(judged && judgement.finding_count > 0, "%s: something is found", name)) {
        fingerprint_make(&example.traces, &example.facts, &judgement.findings[0], &fingerprint);
        check(strcmp(fingerprint.text, text) == 0, "%s: \"%s\" (expected \"%s\")", name,
              fingerprint.text, text);
        late_0(&example);
        fingerprint_make(&example.traces, &example.facts, &judgement.findings[0], &fingerprint);
        check(strcmp(fingerprint.text, text) == 0, "%s: the same when clocks say otherwise", name);
    }
    judgement_release(&judgement);
    example_release(&example);
}

static struct plan_step kills;
static struct plan plan = {.count = 1, .steps = &kills};
static struct step_fact done_first;

static void kill_of(struct example *example, int victim, bool done)
{
    kills = plan_step_default(ACTION_KILL);
    kills.victims = 1;
    kills.victim[0] = victim;
    done_first = (struct step_fact){.done = done};
    example->facts.plan = &plan;
    example->facts.steps = &done_first;
}

static void kill_0(struct example *example)
{
    kill_of(example, 0, true);
}

static void kill_1(struct example *example)
{
    kill_of(example, 1, true);
}

static void kill_1_later(struct example *example)
{
    kill_of(example, 1, true);
    done_first.incarnation = 1;
}

static void kill_never(struct example *example)
{
    kill_of(example, 1, false);
}

int main(void)
{
    expect("b_empty_late", NULL, "B.empty initiator,other beyond");
    expect("c_1_2_logging", NULL, "C.1.2 initiator,other beyond");
    expect("c_late_ready_never", NULL, "C.late.ready initiator,other logging");
    expect("c_initiate", NULL, "C.initiate initiator before");
    expect("h_duplicate_again_later", NULL, "H.duplicate initiator,other start");
    expect("c_late_replay_again", NULL, "C.late.replay other recovery");
    expect("c_late_replay_again", kill_1, "C.late.replay killed recovery");
    expect("h_orphan", kill_0, "H.orphan killed-initiator,other recovery");
    expect("h_orphan", kill_1, "H.orphan initiator,killed recovery");
    expect("h_orphan", kill_never, "H.orphan initiator,other recovery");
    expect("c_late_ready_never", kill_1, "C.late.ready initiator,killed logging");
    expect("c_late_ready_never", kill_1_later, "C.late.ready initiator,other logging");
    expect("d_2_2_behind", NULL, "D.2.2 initiator,other before");
    expect("i_installed_never", NULL, "vacuous I.installed");
    return done();
}
