/* How what is not given is decided. See core.h.
 *
 * pct: Probabilistic Concurrency Testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS
 * 2010). Every actor has a priority, drawn; of those that can go on the highest does. At depth - 1
 * steps, drawn of all that have a choice, who is highest falls below all others. A mistake that
 * needs `depth` orders between transitions shows with a chance of 1 / (n k^(depth - 1)) at least,
 * of n actors in k steps.
 *
 * swarm: of each run some kinds of decisions are switched off (Groce, Zhang, Eide, Chen, Regehr,
 * ISSTA 2012): they have their first answer then. Who goes on is drawn among all, or among the
 * processes before the messages, or among the messages before the processes.
 *
 * skewed: every actor has a weight, 1, 4, 16 or 64, and is chosen in proportion to it. The weights
 * are drawn anew every 64, 512 or 4096 choices; which of these is drawn for each run. So some ranks
 * get far ahead of others for a while, and some messages take long. A fair choice hardly ever
 * brings this about.
 *
 * bursts: whoever has just gone on goes on again, as long as it can. In one choice of 4, 16 or 64,
 * which is drawn for each run, all have the same chance instead. So a rank takes many steps while
 * the others take none. A mistake that needs few switches between ranks is found with few
 * (Musuvathi, Qadeer, PLDI 2007).
 *
 * A run can branch off from another one, as guided campaigns want it: up to some choice it decides
 * as that one did, and from there on at random, by another seed. */
#include "engine/core/core.h"

#include "base/mix.h"
#include "engine/core/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define POLICY_NAME_BYTES 32

/* What is drawn from the seed beside the decisions: numbers far from theirs. */
enum purpose { PRIORITY = 1, CHANGE, SWITCH };

static uint64_t draw(enum purpose purpose, uint64_t number)
{
    return mix_two(mix_two(engine->policy.seed ^ UINT64_C(0x70637473), purpose), number);
}

static unsigned below(uint64_t drawn, unsigned count)
{
    return (unsigned)((drawn >> 32) * count >> 32);
}

/* A number of decimal digits alone, from 1, and what ends it: *text is the byte after that. */
static bool take_number(const char **text, char ends, unsigned *number)
{
    uint64_t value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
        value = 10 * value + (uint64_t)(*at - '0');
    if (value < 1 || value > UINT32_MAX || *at != ends)
        return false;
    *number = (unsigned)value;
    *text = at + 1;
    return true;
}

static bool take_pct(const char *text, struct policy *policy)
{
    static const char name[] = "pct:";
    if (strncmp(text, name, sizeof name - 1) != 0)
        return false;
    text += sizeof name - 1;
    return take_number(&text, ':', &policy->depth) && policy->depth <= POLICY_MOST_DEPTH &&
           take_number(&text, '\0', &policy->steps);
}

static bool take_name(const char *text, struct policy *policy)
{
    if (*text == '\0' || strcmp(text, "random") == 0)
        return true;
    policy->kind = strcmp(text, "swarm") == 0    ? POLICY_SWARM
                   : strcmp(text, "skewed") == 0 ? POLICY_SKEWED
                   : strcmp(text, "bursts") == 0 ? POLICY_BURSTS
                                                 : POLICY_PCT;
    return policy->kind != POLICY_PCT || take_pct(text, policy);
}

/* One that begins in an earlier incarnation is what this one begins with. */
static bool take_branches(const char *text, int incarnation, struct policy *policy)
{
    while (*text != '\0') {
        unsigned of, choice;
        uint64_t seed;
        int length = 0;
        if (sscanf(text, "+%u.%u:%" SCNx64 "%n", &of, &choice, &seed, &length) != 3)
            return false;
        text += length;
        seed = mix_two(seed, (uint64_t)incarnation);
        if (of < (unsigned)incarnation) {
            policy->seed = seed;
            policy->kind = POLICY_RANDOM;
        } else if (of == (unsigned)incarnation && policy->branches == POLICY_MOST_BRANCHES)
            return false;
        else if (of == (unsigned)incarnation)
            policy->branch[policy->branches++] = (struct policy_branch){choice, seed};
    }
    return true;
}

bool engine_policy_set(const char *text, int incarnation)
{
    char name[POLICY_NAME_BYTES];
    struct policy *policy = &engine->policy;
    *policy = (struct policy){.kind = POLICY_RANDOM, .seed = engine->seed};
    if (text == NULL)
        return true;
    size_t length = strcspn(text, "+");
    if (length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    if (!take_name(name, policy) || !take_branches(text + length, incarnation, policy))
        return false;
    for (unsigned i = 1; i < policy->depth; i++)
        policy->change[i - 1] = 1 + below(draw(CHANGE, i), policy->steps);
    return true;
}

/* Before each decision. */
static void branch_off(void)
{
    struct policy *policy = &engine->policy;
    while (policy->branched < policy->branches &&
           policy->branch[policy->branched].choice <= engine->choices) {
        policy->seed = policy->branch[policy->branched++].seed;
        policy->kind = POLICY_RANDOM;
    }
}

/* --- pct -------------------------------------------------------------------------------------- */

/* Who has fallen is below all that have not; who fell at a later change is higher. */
static uint64_t priority_of(uint64_t actor)
{
    const struct policy *policy = &engine->policy;
    for (unsigned i = policy->depth; i > 1; i--)
        if (policy->fell[i - 2] && policy->fallen[i - 2] == actor)
            return i;
    return draw(PRIORITY, actor) | UINT64_C(1) << 63;
}

static unsigned highest(const uint64_t *actor, unsigned count)
{
    unsigned found = 0;
    for (unsigned i = 1; i < count; i++)
        if (priority_of(actor[i]) > priority_of(actor[found]))
            found = i;
    return found;
}

static unsigned choose_pct(const uint64_t *actor, unsigned count)
{
    struct policy *policy = &engine->policy;
    unsigned chosen = highest(actor, count);
    policy->step++;
    for (unsigned i = 0; i + 1 < policy->depth; i++)
        if (policy->change[i] == policy->step) {
            policy->fell[i] = true;
            policy->fallen[i] = actor[chosen];
            chosen = highest(actor, count);
        }
    return chosen;
}

/* --- swarm ------------------------------------------------------------------------------------ */

static bool is_off(enum decision kind)
{
    return (draw(SWITCH, (uint64_t)kind) & 1) != 0;
}

/* Processes come first in the list. */
static unsigned choose_swarm(const uint64_t *actor, unsigned count, uint64_t drawn)
{
    unsigned processes = 0;
    while (processes < count && transition_is_process(actor[processes]))
        processes++;
    unsigned order = below(draw(SWITCH, DECISION_KINDS), 3);
    if (order == 1 && processes > 0)
        return below(drawn, processes);
    if (order == 2 && processes < count)
        return processes + below(drawn, count - processes);
    return below(drawn, count);
}

/* --- skewed ----------------------------------------------------------------------------------- */

static unsigned weight_of(uint64_t actor)
{
    unsigned lasts = 64U << 3 * below(draw(CHANGE, 0), 3);
    uint64_t now = mix_two(actor, engine->choices / lasts);
    return 1U << 2 * below(draw(PRIORITY, now), 4);
}

static unsigned choose_skewed(const uint64_t *actor, unsigned count, uint64_t drawn)
{
    unsigned sum = 0, chosen = 0;
    for (unsigned i = 0; i < count; i++)
        sum += weight_of(actor[i]);
    for (unsigned left = below(drawn, sum); left >= weight_of(actor[chosen]); chosen++)
        left -= weight_of(actor[chosen]);
    return chosen;
}

/* --- bursts ----------------------------------------------------------------------------------- */

static unsigned choose_bursts(const uint64_t *actor, unsigned count, uint64_t drawn)
{
    unsigned lasts = 4U << 2 * below(draw(CHANGE, 0), 3);
    for (unsigned i = 0; i < count; i++)
        if (actor[i] == (uint64_t)engine->holder && below(drawn, lasts) != 0)
            return i;
    return below(drawn << 32, count);
}

/* --- what decides ----------------------------------------------------------------------------- */

unsigned policy_decide(enum decision kind, unsigned count)
{
    branch_off();
    uint64_t drawn = mix_two(engine->policy.seed, engine->choices);
    return engine->policy.kind == POLICY_SWARM && is_off(kind) ? 0 : below(drawn, count);
}

unsigned engine_choose(const uint64_t *actor, unsigned count)
{
    unsigned chosen = 0;
    if (count <= 1)
        return 0;
    branch_off();
    uint64_t drawn = mix_two(engine->policy.seed, engine->choices);
    if (engine->policy.kind == POLICY_PCT)
        chosen = choose_pct(actor, count);
    else if (engine->policy.kind == POLICY_RANDOM)
        chosen = below(drawn, count);
    else if (engine->policy.kind == POLICY_SWARM)
        chosen = choose_swarm(actor, count, drawn);
    else if (engine->policy.kind == POLICY_SKEWED)
        chosen = choose_skewed(actor, count, drawn);
    else if (engine->policy.kind == POLICY_BURSTS)
        chosen = choose_bursts(actor, count, drawn);
    unsigned given;
    if (engine_given(DECIDE_NEXT, count, &given))
        chosen = given;
    engine_write_down(DECIDE_NEXT, chosen, count);
    return chosen;
}
