/* How the step engine decides by itself: mistakes that need no, or one, preemption in one place are
 * found as often as PCT promises, and missed by the policies that cannot find them. */
#include "engine/core/core.h"
#include "engine/core/parts.h"

#include "tap.h"

#include <stdlib.h>

#define SEEDS 4000
#define STEPS 20 /* of each of two actors */

/* Begins a run of this seed. */
static void begin(uint64_t seed, const char *policy)
{
    engine->seed = seed;
    engine->choices = 0;
    if (!engine_policy_set(policy, 0))
        abort();
}

/* Lets two actors take their steps; returns how many actor 0 had taken when actor 1 took its first
 * one, and -1 where it did not take all of its steps in a row. */
static int first_taken_when(void)
{
    int taken[2] = {0}, when = -1;
    while (taken[0] + taken[1] < 2 * STEPS) {
        uint64_t actor[2];
        unsigned count = 0;
        for (uint64_t i = 0; i < 2; i++)
            if (taken[i] < STEPS)
                actor[count++] = i;
        uint64_t chosen = actor[engine_choose(actor, count)];
        if (chosen == 1 && taken[1] == 0)
            when = taken[0];
        if (chosen == 0 && taken[1] > 0 && taken[1] < STEPS)
            when = -1 - 2 * STEPS; /* stays below 0 */
        taken[chosen]++;
    }
    return when;
}

/* In how many runs actor 1 took all its steps after so many of actor 0. */
static int found(const char *policy, int after)
{
    int runs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        begin(seed, policy);
        runs += first_taken_when() == after;
    }
    printf("# %s: all after %d of %d steps: %d of %d runs\n", policy, after, STEPS, runs, SEEDS);
    return runs;
}

static void test_depth_1(void)
{
    check(found("random", STEPS) == 0, "a random walk misses one who is late by twenty steps");
    int runs = found("pct:1:40", STEPS);
    check(runs > SEEDS * 45 / 100 && runs < SEEDS * 55 / 100,
          "PCT finds it in one half of all runs: 1 / n");
}

static void test_depth_2(void)
{
    check(found("random", STEPS / 2) == 0 && found("pct:1:40", STEPS / 2) == 0,
          "a random walk misses one who comes in the middle, and so does PCT of depth 1");
    int runs = found("pct:2:40", STEPS / 2);
    check(runs > SEEDS / 80 * 6 / 10 && runs < SEEDS / 80 * 14 / 10,
          "PCT of depth 2 finds it in one of eighty runs: 1 / (n k)");
}

/* Runs in which ten such decisions had all their first answer. */
static int switched_off(const char *policy)
{
    int runs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        unsigned sum = 0;
        begin(seed, policy);
        for (int i = 0; i < 10; i++)
            sum += engine_decide(DECIDE_BUFFER, 2);
        runs += sum == 0;
    }
    return runs;
}

/* Runs in which none of ten messages arrives before ten turns of a process are over. */
static int late(const char *policy)
{
    int runs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        static const uint64_t actor[] = {0, UINT64_MAX};
        unsigned arrived = 0;
        begin(seed, policy);
        for (int i = 0; i < 10; i++)
            arrived += engine_choose(actor, 2);
        runs += arrived == 0;
    }
    return runs;
}

static void test_swarm(void)
{
    int off = switched_off("swarm");
    check(switched_off("random") < SEEDS / 100 && off > SEEDS * 4 / 10 && off < SEEDS * 6 / 10,
          "swarm switches a kind of decisions off in half of all runs");
    off = late("swarm");
    check(late("random") < SEEDS / 100 && off > SEEDS / 4 && off < SEEDS / 2,
          "and lets processes go before messages in a third of them");
}

/* Runs in which one of two processes has less than a quarter of 60 turns. */
static int far_behind(const char *policy)
{
    int runs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        static const uint64_t actor[] = {0, 1};
        unsigned turns = 0;
        begin(seed, policy);
        for (int i = 0; i < 60; i++)
            turns += engine_choose(actor, 2);
        runs += turns < 15 || turns > 45;
    }
    return runs;
}

static void test_skewed(void)
{
    int runs = far_behind("skewed");
    check(far_behind("random") < SEEDS / 100 && runs > SEEDS * 6 / 10 && runs < SEEDS * 9 / 10,
          "with other weights one of two is far behind: in three of four runs");
    check(late("skewed") > SEEDS / 10, "and messages are long on their way");
}

/* How often, of 60 turns of two processes, another one has it than the one before; of all runs. */
static int switches(const char *policy)
{
    int count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        static const uint64_t actor[] = {0, 1};
        begin(seed, policy);
        for (int i = 0; i < 60; i++) {
            int chosen = (int)engine_choose(actor, 2);
            count += chosen != engine->holder;
            engine->holder = chosen;
        }
    }
    return count;
}

static void test_bursts(void)
{
    int count = switches("bursts");
    check(switches("random") > SEEDS * 25 && count > SEEDS * 2 && count < SEEDS * 5,
          "under bursts one turn in nineteen goes to another process than the one before");
}

static bool is_policy(const char *text)
{
    return engine_policy_set(text, 0);
}

static void test_words(void)
{
    check(is_policy("random") && is_policy("bursts") && is_policy("") && is_policy("pct:16:1") &&
              !is_policy("pct:0:5") && !is_policy("pct:17:5") && !is_policy("pct:2") &&
              !is_policy("pct:2:0") && !is_policy("pct:2:5x") && !is_policy("pct:2:-1") &&
              !is_policy("pct:-1:5") && !is_policy("pct: 2:5") && !is_policy("pct:2:+5") &&
              !is_policy("pct:2:4294967296") && is_policy("pct:2:4294967295") &&
              !is_policy("walk") && is_policy("swarm+0.12:9a3f+3.0:ffffffffffffffff") &&
              !is_policy("swarm+0.12") && !is_policy("swarm+0.1:2 ") &&
              !is_policy("pct:2:5+0.1:2x"),
          "a policy is one of five, with its numbers, and branches behind it");
}

int main(void)
{
    if (!engine_map(2))
        abort();
    test_depth_1();
    test_depth_2();
    test_swarm();
    test_skewed();
    test_bursts();
    test_words();
    return done();
}
