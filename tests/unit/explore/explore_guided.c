/* Guided campaigns: which runs are kept and what is made of them; that a run which branches off
 * decides as the other one did up to there; and that a mistake behind two rare orders, of known
 * odds, is found sooner than by drawing all of each run. */
#include "engine/core/core.h"
#include "strategy/guide.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 400
#define SEEDS 40
#define CHOICES 40 /* of a run of the model */
#define ORDER 5    /* so many choices that must all come out as 1 */
#define SECOND 20  /* where those of the second order begin */
#define MOST 4000

_Static_assert(GUIDED_BRANCHES == POLICY_MOST_BRANCHES, "the engine takes what a guide makes");

/* --- what is made ----------------------------------------------------------------------------- */

static void bring(struct guide *guide, uint64_t index, const struct guided_run *made,
                  uint32_t thing)
{
    struct guided_seen seen = {.thing = &thing, .things = 1, .lives = 2, .choices = {30, 10}};
    guide_take(guide, index, made, &seen);
}

static bool is_plain(const struct guided_run *run, uint64_t index)
{
    return run->root == index && run->other == index && run->branches == 0;
}

static void test_nothing_new(void)
{
    struct guide *guide = guide_new(7, 0, 1);
    struct guided_seen nothing = {.things = 0};
    bool plain = true;
    for (uint64_t i = 0; i < RUNS; i++) {
        struct guided_run run = guide_next(guide);
        plain &= is_plain(&run, i);
        guide_take(guide, i, &run, &nothing);
    }
    check(plain, "where no run brings anything each is the one of its plan alone");
    guide_release(guide);
}

/* All of a guide that is told of run 3 that it brought something that none else brings. */
static void test_kept(void)
{
    struct guide *guide = guide_new(7, 0, 1);
    unsigned from_3 = 0, plain = 0, varied = 0, others = 0, branches = 0, too_late = 0;
    for (uint64_t i = 0; i < RUNS; i++) {
        struct guided_run run = guide_next(guide);
        from_3 += run.root == 3;
        plain += is_plain(&run, i);
        varied += run.other != run.root;
        others += !is_plain(&run, i) && run.root != 3 && run.root != 0;
        branches += run.branches > 0;
        for (unsigned b = 0; b < run.branches; b++)
            too_late += run.branch[b].incarnation > 1 ||
                        run.branch[b].choice >= (run.branch[b].incarnation == 0 ? 30u : 10u);
        bring(guide, i, &run, i == 3 ? 1000 : 1);
    }
    printf("# %u plain, %u from run 3, %u varied, %u branch\n", plain, from_3, varied, branches);
    check(others == 0, "runs are made from those that brought something first");
    check(plain > RUNS / 4 && plain < RUNS * 3 / 4, "many come from no other");
    check(from_3 > (RUNS - plain) * 7 / 10, "what fewer runs brought is taken up more often");
    check(varied > RUNS / 10 && branches > RUNS / 3 && too_late == 0,
          "some get another fault, more another end, from a choice that the run had");
    guide_release(guide);
}

/* The same runs come out, whatever order they are done in. */
static void test_order(void)
{
    struct guide *one = guide_new(11, 2, 3), *other = guide_new(11, 2, 3);
    struct guided_run made[GUIDE_LAG];
    bool same = true, waits = true;
    for (unsigned block = 0; block < 20; block++) {
        for (unsigned i = 0; i < GUIDE_LAG; i++) {
            made[i] = guide_next(one);
            struct guided_run again = guide_next(other);
            same &= memcmp(&again, &made[i], sizeof again) == 0;
            uint64_t index = 2 + 3 * ((uint64_t)block * GUIDE_LAG + i);
            bring(one, index, &made[i], (uint32_t)(index * 7919 % 60));
        }
        waits &= !guide_is_ready(other);
        for (unsigned i = GUIDE_LAG; i-- > 0;) {
            uint64_t index = 2 + 3 * ((uint64_t)block * GUIDE_LAG + i);
            bring(other, index, &made[i], (uint32_t)(index * 7919 % 60));
        }
    }
    check(same, "which order runs are done in makes no difference");
    check(waits, "a run waits for those far enough before it");
    guide_release(one);
    guide_release(other);
}

static void test_text(void)
{
    struct guided_run run = guided_plain(5), back = guided_plain(5);
    char text[GUIDED_TEXT_BYTES], again[GUIDED_TEXT_BYTES];
    guided_text(&run, text);
    check(strcmp(text, "") == 0 && guided_parse("", &back) && back.branches == 0,
          "no branches are no text");
    for (unsigned i = 0; i < GUIDED_BRANCHES; i++)
        run.branch[run.branches++] = (struct guided_branch){9999, UINT32_MAX - 9 + i, UINT64_MAX};
    guided_text(&run, text);
    bool read = guided_parse(text, &back);
    guided_text(&back, again);
    check(read && strcmp(text, again) == 0,
          "the longest list of branches is read as it is written");
    check(!guided_parse("+1.2", &back) && !guided_parse("+1.2:3+", &back) &&
              !guided_parse("x", &back),
          "and nothing else");
}

/* --- the engine ------------------------------------------------------------------------------- */

static void begin(uint64_t seed, const char *policy, int incarnation)
{
    engine->seed = seed;
    engine->choices = 0;
    if (!engine_policy_set(policy, incarnation))
        abort();
}

static void decide(uint64_t seed, const char *policy, int incarnation, unsigned chosen[CHOICES])
{
    begin(seed, policy, incarnation);
    for (unsigned i = 0; i < CHOICES; i++)
        chosen[i] = engine_decide(DECIDE_BUFFER, 1000);
}

static bool are_same(const unsigned *a, const unsigned *b, unsigned from, unsigned to)
{
    return memcmp(a + from, b + from, (to - from) * sizeof *a) == 0;
}

static void test_engine(void)
{
    unsigned whole[CHOICES], one[CHOICES], two[CHOICES], later[CHOICES], last[CHOICES];
    decide(9, "random", 0, whole);
    decide(9, "random+0.12:ab", 0, one);
    decide(9, "random+0.12:ab+0.30:cd", 0, two);
    check(
        are_same(whole, one, 0, 12) && !are_same(whole, one, 12, 13),
        "a run that branches off decides as the other one before that choice, and not from it on");
    check(are_same(one, two, 0, 30) && !are_same(one, two, 30, CHOICES), "and so at each branch");
    decide(9, "random+0.12:ab+1.5:cd", 1, later);
    decide(9, "random+0.12:ab", 1, last);
    check(are_same(later, last, 0, 5) && !are_same(later, last, 5, CHOICES),
          "a branch of an earlier incarnation is what a later one begins with");
    decide(9, "random", 1, whole);
    check(!are_same(whole, last, 0, CHOICES), "and does not leave that one as it was");
}

/* --- two orders ------------------------------------------------------------------------------- */

static bool all_ones(const unsigned *chosen, unsigned from)
{
    unsigned sum = 0;
    for (unsigned i = from; i < from + ORDER; i++)
        sum += chosen[i] % 2;
    return sum == ORDER;
}

/* Runs until both orders were rare in one; MOST: they were not. */
static unsigned runs_until_found(uint64_t seed, bool guided)
{
    struct guide *guide = guide_new(seed, 0, 1);
    unsigned run = 0, chosen[CHOICES];
    for (bool found = false; !found && run < MOST; run++) {
        char branches[GUIDED_TEXT_BYTES], policy[GUIDED_TEXT_BYTES + 8];
        struct guided_run made = guide_next(guide);
        if (!guided)
            made = guided_plain(run);
        guided_text(&made, branches);
        snprintf(policy, sizeof policy, "random%s", branches);
        decide(seed << 32 | made.root, policy, 0, chosen);
        bool first = all_ones(chosen, 0);
        found = first && all_ones(chosen, SECOND);
        uint32_t thing[] = {1, 2};
        struct guided_seen seen = {
            .thing = thing, .things = 1u + first, .lives = 1, .choices = {CHOICES}};
        guide_take(guide, run, &made, &seen);
    }
    guide_release(guide);
    return run;
}

static int ascending(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

/* The middle of what the seeds need. */
static unsigned median(bool guided)
{
    unsigned runs[SEEDS];
    for (unsigned seed = 0; seed < SEEDS; seed++)
        runs[seed] = runs_until_found(seed + 1, guided);
    qsort(runs, SEEDS, sizeof *runs, ascending);
    printf("# %s: %u to %u runs, median %u\n", guided ? "guided" : "drawn", runs[0],
           runs[SEEDS - 1], runs[SEEDS / 2]);
    return runs[SEEDS / 2];
}

static void test_two_orders(void)
{
    unsigned drawn = median(false), guided = median(true);
    check(drawn > 355 && drawn < 1420,
          "drawn runs find what has a chance of 1 in 1,024 by half after about 710");
    check(guided < drawn / 2, "guided ones find it in less than half as many");
}

int main(void)
{
    if (!engine_map(2))
        abort();
    test_nothing_new();
    test_kept();
    test_order();
    test_text();
    test_engine();
    test_two_orders();
    return done();
}
