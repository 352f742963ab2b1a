/* See shrink_past.h. A record happened before the violation if it is in the causal past of a
 * witness: before it in the same trace, or in the past of the send of a message that was received
 * there.
 *
 *     rank 0:  e3 fault   e7 send --+
 *     rank 1:                       +--> e4 recv    e9 witness     e12 fault
 *
 * e0-e9 of rank 1 are in the past, so is the send, and with it e0-e7 of rank 0. The fault at e3
 * counts, the one at e12 does not.
 *
 * The past of a rank is always a beginning of its trace, so one number for each trace describes it:
 * `reached`. It only grows. `looked` follows it: each record between the two is looked at once for
 * a link to another trace, which may extend that one's `reached`; this goes on until both are equal
 * everywhere. The cost is one look at each record of the past. Where the links are in doubt more
 * is taken for the past rather than less: all members of a collective, and, of an incarnation that
 * was restarted from, everything. */
#include "shrink/shrink_past.h"

#include "base/memory.h"
#include "oracles/matching/links.h"

#include <stdlib.h>

struct past {
    const struct trace_set *traces;
    const struct links *links;
    uint64_t *reached; /* by place of a trace: so many of its records are before */
    uint64_t *looked;  /* of these, so many have been looked through */
};

static void reach(struct past *past, size_t place, uint64_t records)
{
    uint64_t count = past->traces->trace[place].count;
    if (records > count)
        records = count;
    if (records > past->reached[place])
        past->reached[place] = records;
}

static void reach_number(struct past *past, uint64_t number)
{
    uint64_t index;
    size_t place = links_place(past->links, number, &index);
    reach(past, place, index + 1);
}

static void reach_incarnation(struct past *past, int incarnation)
{
    for (size_t i = 0; i < past->traces->count; i++)
        if (past->traces->trace[i].incarnation == incarnation)
            reach(past, i, past->traces->trace[i].count);
}

/* Every member of the collective, up to its own call. In some collectives data does not flow from
 * all of them; too large a past does less harm than too small a one. */
static void reach_members(struct past *past, uint64_t number)
{
    size_t place;
    uint64_t member = number;
    do {
        reach_number(past, member);
        member = links_next_member(past->links, member, &place);
    } while (member != number);
}

static void look_at(struct past *past, size_t place, uint64_t index)
{
    struct link link = links_of(past->links, place, index);
    if (link.kind == LINK_RECEIVED)
        reach_number(past, link.at);
    else if (link.kind == LINK_JOINED)
        reach_members(past, past->links->base[place] + index);
    else if (link.kind == LINK_LEFT)
        reach_members(past, link.at);
}

/* false: nothing new was found. */
static bool look_through(struct past *past)
{
    bool found = false;
    for (size_t i = 0; i < past->traces->count; i++) {
        int incarnation = past->traces->trace[i].incarnation;
        if (past->looked[i] == 0 && past->reached[i] > 0 && incarnation > 0)
            reach_incarnation(past, incarnation - 1);
        for (; past->looked[i] < past->reached[i]; past->looked[i]++) {
            look_at(past, i, past->looked[i]);
            found = true;
        }
    }
    return found;
}

static void begin(struct past *past, const struct finding *finding)
{
    for (size_t i = 0; i < past->traces->count; i++)
        for (unsigned k = 0; k < finding->witness_count; k++)
            if (past->traces->trace[i].rank == finding->witness[k].rank &&
                past->traces->trace[i].incarnation == finding->witness[k].incarnation)
                reach(past, i, finding->witness[k].index + 1);
    for (size_t i = 0; finding->witness_count == 0 && i < past->traces->count; i++)
        reach(past, i, past->traces->trace[i].count);
}

static void collect(const struct past *past, bool *before, size_t steps)
{
    for (size_t i = 0; i < past->traces->count; i++)
        for (uint64_t k = 0; k < past->reached[i]; k++) {
            const struct record *record = &past->traces->trace[i].record[k];
            if (record->kind == RECORD_FAULT && record->tag >= 0 && (size_t)record->tag < steps)
                before[record->tag] = true;
        }
}

enum error_code past_steps(const struct trace_set *traces, const struct finding *finding,
                           bool *before, size_t steps, struct error *error)
{
    struct links links = {0};
    struct past past = {traces, &links, memory_new(traces->count, sizeof *past.reached),
                        memory_new(traces->count, sizeof *past.looked)};
    enum error_code code = links_read(traces, &links, error);
    if (code == OK) {
        begin(&past, finding);
        while (look_through(&past))
            continue;
        collect(&past, before, steps);
    }
    links_release(&links);
    free(past.reached);
    free(past.looked);
    return code;
}
