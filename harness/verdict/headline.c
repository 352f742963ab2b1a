/* See headline.h. From the event of each violation that nothing precedes, what comes after it is
 * followed through all traces once. */
#include "verdict/headline.h"

#include "base/memory.h"
#include "oracles/matching/links.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MOST 8 /* violations that none precedes: of more, the earliest by the clock */
#define NEVER UINT64_MAX

/* The deciding event of a finding. Events inside one call of the application have no order. */
struct moment {
    size_t finding;
    size_t place;   /* of its trace in the set */
    uint64_t ticks; /* NEVER: the end of the run */
    uint64_t enter; /* of the application's call that it is, or lies in */
    uint64_t leave; /* of the same */
};

struct headline {
    const struct trace_set *traces;
    struct links links;
    bool linked;
    uint64_t *scanned; /* by place: records from here on have been followed */
    size_t first_count;
    struct moment first[FIRST_MOST];
    uint64_t *after[FIRST_MOST]; /* by place: from when on it is after the first one; owned */
};

static uint64_t leave_of(const struct record *record)
{
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_relaxed);
    return leave != 0 ? leave : record->enter;
}

/* What a call gets is there when it returns. */
static uint64_t ticks_of(const struct record *record)
{
    bool gets = record->kind == RECORD_RECV || record->kind == RECORD_COMPLETE ||
                record->kind == RECORD_COLLECTIVE;
    return gets ? leave_of(record) : record->enter;
}

/* --- when ------------------------------------------------------------------------------------- */

/* Calls of one thread do not overlap: the newest above the event is the one that it lies in. */
static void find_call(const struct trace *trace, uint64_t index, struct moment *moment)
{
    const struct record *event = &trace->record[index];
    moment->enter = moment->leave = moment->ticks;
    for (uint64_t at = index + 1; at-- > 0;) {
        const struct record *record = &trace->record[at];
        if (!record_is_of_app(record) || record->call == CALL_NONE ||
            record->thread != event->thread)
            continue;
        if (leave_of(record) >= event->enter) {
            moment->enter = record->enter;
            moment->leave = leave_of(record);
        }
        return;
    }
}

/* False: the event is not there. */
static bool moment_of(const struct trace_set *traces, struct event_ref event, struct moment *moment)
{
    const struct trace *trace = trace_set_find(traces, event.rank, event.incarnation);
    if (trace == NULL || event.index >= trace->count)
        return false;
    moment->place = (size_t)(trace - traces->trace);
    moment->ticks = ticks_of(&trace->record[event.index]);
    find_call(trace, event.index, moment);
    return true;
}

static struct moment decided(const struct trace_set *traces, const struct finding *finding,
                             size_t number)
{
    struct moment last = {.finding = number, .ticks = NEVER}, one = last;
    bool found = false;
    if (finding->decided == DECIDED_BY_EVENT && moment_of(traces, finding->decided_by, &one))
        return one;
    for (unsigned i = 0; finding->decided != DECIDED_AT_END && i < finding->witness_count; i++)
        if (moment_of(traces, finding->witness[i], &one) && (!found || one.ticks > last.ticks)) {
            last = one;
            found = true;
        }
    return last;
}

static int by_time(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return a->finding < b->finding ? -1 : a->finding > b->finding;
}

/* --- what comes after it ---------------------------------------------------------------------- */

static void reach(struct headline *headline, uint64_t *after, uint64_t number)
{
    uint64_t index;
    size_t place = links_place(&headline->links, number, &index);
    uint64_t ticks = ticks_of(&headline->traces->trace[place].record[index]);
    if (ticks < after[place])
        after[place] = ticks;
}

/* A message that was sent then, or a collective: all members take part in what comes of it. */
static void follow(struct headline *headline, uint64_t *after, size_t place, uint64_t index)
{
    struct link link = links_of(&headline->links, place, index);
    uint64_t own = headline->links.base[place] + index;
    if (link.kind == LINK_SENT)
        reach(headline, after, link.at);
    for (uint64_t member = links_next_member(&headline->links, own, &place); member != own;
         member = links_next_member(&headline->links, member, &place))
        reach(headline, after, member);
}

/* False: nothing new was found. Each record is followed once, when it is known to come after. */
static bool follow_all(struct headline *headline, uint64_t *after)
{
    bool found = false;
    for (size_t place = 0; place < headline->traces->count; place++) {
        const struct record *records = headline->traces->trace[place].record;
        uint64_t *scanned = &headline->scanned[place];
        while (after[place] != NEVER && *scanned > 0 &&
               (!record_is_event(&records[*scanned - 1]) ||
                records[*scanned - 1].enter >= after[place])) {
            follow(headline, after, place, --*scanned);
            found = true;
        }
    }
    return found;
}

static void find_after(struct headline *headline, const struct moment *moment)
{
    size_t count = headline->traces->count;
    uint64_t *after = memory_new(count, sizeof *after);
    int life = moment->ticks == NEVER ? 0 : headline->traces->trace[moment->place].incarnation;
    for (size_t place = 0; place < count; place++) {
        headline->scanned[place] = headline->traces->trace[place].count;
        bool later = moment->ticks != NEVER && headline->traces->trace[place].incarnation > life;
        after[place] = later ? 0 : NEVER;
    }
    if (moment->ticks != NEVER)
        after[moment->place] = moment->ticks;
    while (headline->linked && moment->ticks != NEVER && follow_all(headline, after))
        continue;
    headline->first[headline->first_count] = *moment;
    headline->after[headline->first_count++] = after;
}

/* It happens after the `number`-th of the first ones. */
static bool comes_after(const struct headline *headline, size_t number, const struct moment *moment)
{
    const struct moment *first = &headline->first[number];
    if (first->ticks == NEVER || moment->ticks == NEVER)
        return first->ticks != NEVER;
    bool same_call = first->place == moment->place && moment->ticks >= first->enter &&
                     moment->ticks <= first->leave;
    return !same_call && moment->ticks >= headline->after[number][moment->place];
}

/* --- which ------------------------------------------------------------------------------------ */

static bool is_of_program(const struct finding *finding)
{
    return strncmp(finding->claim->id, "H.", 2) == 0;
}

static bool comes_first(const struct judgement *judgement, size_t a, size_t b)
{
    const struct finding *one = &judgement->findings[a], *other = &judgement->findings[b];
    if (is_of_program(one) != is_of_program(other))
        return is_of_program(other);
    return one->claim != other->claim ? one->claim < other->claim : a < b;
}

/* In the order of the clock, so that whatever precedes one has been seen. Place among the first of
 * the one that is chosen. */
static size_t find_first(struct headline *headline, const struct judgement *judgement,
                         const struct moment *moment, size_t count)
{
    size_t chosen = 0;
    for (size_t i = 0; i < count && headline->first_count < FIRST_MOST; i++) {
        bool preceded = false;
        for (size_t k = 0; k < headline->first_count && !preceded; k++)
            preceded = comes_after(headline, k, &moment[i]);
        if (preceded)
            continue;
        find_after(headline, &moment[i]);
        if (comes_first(judgement, moment[i].finding, headline->first[chosen].finding))
            chosen = headline->first_count - 1;
    }
    return chosen;
}

void headline_put_first(struct judgement *judgement, size_t number)
{
    struct finding first = judgement->findings[number];
    for (size_t i = 0; number > 0 && i < judgement->finding_count; i++)
        judgement->findings[i].follows = false;
    memmove(&judgement->findings[1], &judgement->findings[0], number * sizeof first);
    judgement->findings[0] = first;
    judgement->findings[0].follows = false;
}

/* `moment` has room for `count`. */
static void choose(struct headline *headline, const char *expected, struct judgement *judgement,
                   struct moment *moment, size_t count)
{
    struct finding *findings = judgement->findings;
    size_t candidates = 0;
    for (size_t i = 0; i < count; i++)
        if (expected == NULL || !claim_is_named(findings[i].claim, expected))
            moment[candidates++] = decided(headline->traces, &findings[i], i);
    if (candidates == 0)
        for (; candidates < count; candidates++)
            moment[candidates] = decided(headline->traces, &findings[candidates], candidates);
    qsort(moment, candidates, sizeof *moment, by_time);
    size_t chosen = find_first(headline, judgement, moment, candidates);
    headline_put_first(judgement, headline->first[chosen].finding);
    for (size_t i = 1; i < count; i++) {
        struct moment other = decided(headline->traces, &findings[i], i);
        findings[i].follows = comes_after(headline, chosen, &other);
    }
}

void headline_choose(const struct trace_set *traces, const char *expected,
                     struct judgement *judgement)
{
    struct headline headline = {.traces = traces};
    size_t count = 0;
    while (count < judgement->finding_count &&
           judgement->findings[count].verdict == VERDICT_VIOLATION)
        count++;
    if (count < 2 || traces->count == 0)
        return;
    struct moment *moment = memory_new(count, sizeof *moment);
    headline.scanned = memory_new(traces->count, sizeof *headline.scanned);
    headline.linked = links_read(traces, &headline.links, NULL) == OK;
    choose(&headline, expected, judgement, moment, count);
    links_release(&headline.links);
    for (size_t i = 0; i < headline.first_count; i++)
        free(headline.after[i]);
    free(headline.scanned);
    free(moment);
}
