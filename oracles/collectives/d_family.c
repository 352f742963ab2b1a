/* Family D as a whole: which incarnations are judged, and D.2.1, which asks of runs with
 * collectives what C.1.1 asks of all. See d_family.h. */
#include "oracles/collectives/d_family.h"

#include "base/memory.h"
#include "oracles/c3/c_family.h"

#include <stdlib.h>
#include <string.h>

static bool has_collectives(const struct d_calls *calls)
{
    for (size_t i = 0; i < calls->call_count; i++)
        if (calls->call[i]->category != D_NO_CATEGORY && calls->call[i]->size > 1)
            return true;
    return false;
}

static bool restores(const struct d_pass *pass)
{
    for (int rank = 0; rank < pass->lines->ranks; rank++)
        if (pass->lines->of[rank].restored.there && pass->lines->of[rank].base > 0)
            return true;
    return false;
}

/* A line was restored that nobody took: what went before is not known. */
static bool report_unknown(struct judging *judging, const struct histories *histories)
{
    bool unknown = false;
    for (size_t claim = 0; claim < CLAIM_COUNT; claim++)
        if (strncmp(claims[claim].id, "D.", 2) == 0)
            unknown |= histories_report_unknown(judging, histories, (enum claim_id)claim);
    return unknown;
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    struct d_pass *pass = context;
    d_calls_joined(&pass->calls, event, gathering, number);
}

static void on_left(void *context, const struct stream_event *event,
                    const struct collective_request *request)
{
    struct d_pass *pass = context;
    d_calls_left(&pass->calls, event, request);
}

static void on_end(void *context)
{
    struct d_pass *pass = context;
    d_mark_wire(pass);
    if (has_collectives(&pass->calls))
        c_judge_stops(pass->judging, pass->lines, pass->causal, CLAIM_D_2_1);
    d_judge_flows(pass);
    if (restores(pass))
        d_judge_recovery(pass);
    d_calls_release(&pass->calls);
    free(pass);
}

static void listen(struct judging *judging, struct pass *pass)
{
    if (!judging_asked(judging, "D."))
        return;
    if (judging->collectives == NULL)
        judging->collectives = memory_new(1, sizeof *judging->collectives);
    struct d_run *run = judging->collectives;
    if (run->lives_on)
        return;
    run->lives_on = c_lives_on(judging, pass->incarnation);
    if (run->lives_on) {
        c_report_lives_on(judging, pass->incarnation, "D.");
        return;
    }
    if (report_unknown(judging, pass->histories))
        return;
    struct d_pass *own = memory_new(1, sizeof *own);
    *own = (struct d_pass){.judging = judging,
                           .incarnation = pass->incarnation,
                           .lines = reading_lines(&judging->reading, pass->incarnation),
                           .histories = pass->histories,
                           .causal = &judging->causal[pass->incarnation],
                           .meetings = &judging->meetings[pass->incarnation],
                           .native = run->native};
    d_calls_begin(&own->calls, pass);
    pass_listen(pass, &(struct listener){
                          .context = own, .joined = on_joined, .left = on_left, .end = on_end});
}

static void end_run(struct judging *judging)
{
    free(judging->collectives);
}

const struct oracle oracle_c3_collectives = {
    .application = listen, .judge = end_run, .needs_sound_traces = true};
