/* See headline.h. A walk over the run (walk.h) gives each moment a clock: what of each trace had
 * happened before it. In the clocks only the events count that begin moments: the first of its
 * trace that is entered once the violation has been decided. */
#include "verdict/headline.h"

#include "base/memory.h"
#include "oracles/matching/walk.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

/* The deciding event of a finding. Events inside one call of the application have no order. */
struct moment {
    size_t finding;
    bool may_stand_first;
    size_t place;    /* of its trace in the set */
    uint64_t ticks;  /* NEVER: the end of the run */
    uint64_t enter;  /* of the application's call that it is, or lies in */
    uint64_t leave;  /* of the same */
    uint64_t number; /* in clocks: whoever has this of its trace is after it; 0: nobody has it */
    uint64_t *clock; /* by place: what happened before it; owned */
};

struct headline {
    const struct trace_set *traces;
    size_t count;
    struct moment *moment; /* of each violation, by time; owned */
    /* While the walk lasts. */
    struct moment **at; /* those with a time, by place, then by time; owned */
    size_t *next;       /* by place, of its part of `at`: below, the clocks are known; owned */
    uint64_t *clock;    /* places times places: of the newest event of each; owned */
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

static int by_place(const void *left, const void *right)
{
    const struct moment *a = *(struct moment *const *)left, *b = *(struct moment *const *)right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* A moment knows what the events did that were entered until then, and whoever knows of the first
 * event from then on is after it. */
static bool look_at(void *context, const struct walk_event *event)
{
    struct headline *headline = context;
    size_t places = headline->traces->count, *next = &headline->next[event->place];
    uint64_t *newest = &headline->clock[event->place * places], enter = event->record->enter;
    for (size_t i = *next; headline->at[i] != NULL && headline->at[i]->place == event->place &&
                           headline->at[i]->ticks <= enter;
         i++) {
        struct moment *moment = headline->at[i];
        if (moment->number == 0)
            moment->number = event->clock[event->place];
        if (moment->ticks == enter)
            continue;
        memcpy(moment->clock, newest, places * sizeof *newest);
        ++*next;
    }
    memcpy(newest, event->clock, places * sizeof *newest);
    return true;
}

/* Nothing more happens there: what was open until now knows all of it. */
static void on_end(void *context, size_t place, const uint64_t *clock)
{
    struct headline *headline = context;
    for (size_t i = headline->next[place];
         headline->at[i] != NULL && headline->at[i]->place == place; i++)
        memcpy(headline->at[i]->clock, clock, headline->traces->count * sizeof *clock);
}

/* Without room for the links no moment has a number: only the order on each rank is known then. */
static void find_clocks(struct headline *headline)
{
    size_t places = headline->traces->count, count = 0;
    struct links links;
    headline->at = memory_new(headline->count + 1, sizeof(struct moment *));
    headline->next = memory_new(places, sizeof *headline->next);
    headline->clock = memory_new(places * places, sizeof *headline->clock);
    for (size_t i = 0; i < headline->count; i++) {
        headline->moment[i].clock = memory_new(places, sizeof *headline->moment[i].clock);
        if (headline->moment[i].ticks != NEVER)
            headline->at[count++] = &headline->moment[i];
    }
    qsort(headline->at, count, sizeof(struct moment *), by_place);
    for (size_t i = count; i-- > 0;)
        headline->next[headline->at[i]->place] = i;
    for (size_t place = 0; place < places; place++)
        if (count > 0 && headline->at[headline->next[place]]->place != place)
            headline->next[place] = count;
    if (links_read(headline->traces, &links, NULL) == OK)
        walk_run(&links, &(struct walk){.context = headline, .event = look_at, .end = on_end});
    links_release(&links);
    free(headline->at);
    free(headline->next);
    free(headline->clock);
}

static bool comes_after(const struct headline *headline, const struct moment *first,
                        const struct moment *moment)
{
    if (first->ticks == NEVER || moment->ticks == NEVER)
        return first->ticks != NEVER;
    if (first->place == moment->place)
        return moment->ticks >= first->ticks &&
               (moment->ticks < first->enter || moment->ticks > first->leave);
    const struct trace *trace = headline->traces->trace;
    return trace[moment->place].incarnation > trace[first->place].incarnation ||
           (first->number > 0 && moment->clock[first->place] >= first->number);
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

/* The one that is chosen of those that none precedes. */
static const struct moment *find_first(const struct headline *headline,
                                       const struct judgement *judgement)
{
    const struct moment *chosen = NULL;
    for (size_t i = 0; i < headline->count; i++) {
        const struct moment *moment = &headline->moment[i];
        bool preceded = !moment->may_stand_first;
        for (size_t k = 0; k < i && !preceded; k++)
            preceded = headline->moment[k].may_stand_first &&
                       comes_after(headline, &headline->moment[k], moment);
        if (!preceded &&
            (chosen == NULL || comes_first(judgement, moment->finding, chosen->finding)))
            chosen = moment;
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

static void choose(const struct headline *headline, struct judgement *judgement)
{
    const struct moment *first = find_first(headline, judgement);
    headline_put_first(judgement, first->finding);
    for (size_t i = 0; i < headline->count; i++) {
        const struct moment *moment = &headline->moment[i];
        size_t now = moment->finding + (moment->finding < first->finding);
        if (moment != first)
            judgement->findings[now].follows = comes_after(headline, first, moment);
    }
}

void headline_choose(const struct trace_set *traces, const char *expected,
                     struct judgement *judgement)
{
    struct headline headline = {.traces = traces};
    const struct finding *findings = judgement->findings;
    bool all = true; /* are expected */
    while (headline.count < judgement->finding_count &&
           findings[headline.count].verdict == VERDICT_VIOLATION)
        headline.count++;
    if (headline.count < 2 || traces->count == 0)
        return;
    headline.moment = memory_new(headline.count, sizeof *headline.moment);
    for (size_t i = 0; i < headline.count; i++) {
        headline.moment[i] = decided(traces, &findings[i], i);
        bool is_expected = expected != NULL && claim_is_named(findings[i].claim, expected);
        headline.moment[i].may_stand_first = !is_expected;
        all &= is_expected;
    }
    for (size_t i = 0; i < headline.count && all; i++)
        headline.moment[i].may_stand_first = true;
    qsort(headline.moment, headline.count, sizeof *headline.moment, by_time);
    find_clocks(&headline);
    choose(&headline, judgement);
    for (size_t i = 0; i < headline.count; i++)
        free(headline.moment[i].clock);
    free(headline.moment);
}
