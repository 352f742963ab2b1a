/* D.all, D.gather, D.bcast: after recovery a call that straddled the line is replayed, suppressed
 * or executed again, as the data flow of its category asks (C3, sections 5.1 to 5.3), and one that
 * did not is executed again by all. Executed means that a collective went on the wire inside the
 * call. See d_family.h.
 *
 * A call straddles the line if some member came to it before its checkpoint. That member does not
 * come to it again, so the others cannot execute it alone:
 *
 *     MPI_Allreduce:   rank 0:  call   checkpoint        rank 1:  checkpoint   call
 *     after recovery:  rank 0 goes on after the call     rank 1 gets the result from its log
 *
 * What the members that come to it again have to do (must_of):
 *   - nobody had come to it before its checkpoint: all execute it;
 *   - one root gives, and comes to it again (MPI_Bcast): it executes it, and the members before the
 *     line at that time take part with dummy buffers (judge_dummies);
 *   - scans: either, if what each gets is what it got;
 *   - else: nobody executes it.
 * What a member gives and gets must be the same as before (judge_same), for the others keep what
 * they had. Its own call of that time is found by counting the collectives of the communicator from
 * the checkpoint and from the `restored` note on (original_of). */
#include "oracles/collectives/d_family.h"

#include "trace/calls.h"

#include <inttypes.h>

/* What a member that comes to the call again is to do. */
enum must {
    MUST_EXECUTE,
    MUST_NOT_EXECUTE, /* the result comes from the log, the contribution is not made again */
    MUST_EITHER,
};

/* A call that some member comes to again. */
struct repeated {
    struct d_pass *pass;
    const struct d_call *call;
    enum claim_id claim;
    const struct d_part *before; /* one that came to it before its checkpoint; NULL: none did */
    enum must must;
};

static enum claim_id claim_of(enum d_category category)
{
    switch (category) {
    case D_SINGLE_SENDER:
        return CLAIM_D_BCAST;
    case D_SINGLE_RECEIVER:
        return CLAIM_D_GATHER;
    default:
        return CLAIM_D_ALL;
    }
}

static bool is_before(const struct d_part *part)
{
    return part->trace != NULL && !part->here;
}

static const struct d_part *first_before(const struct d_call *call)
{
    for (unsigned place = 0; place < call->size; place++)
        if (is_before(&call->part[place]))
            return &call->part[place];
    return NULL;
}

/* Where data flows from lower ranks to higher the paper says nothing: all or nobody may execute a
 * straddling call, as long as what each gets is what it got. */
static enum must must_of(const struct d_call *call, const struct d_part *before)
{
    if (before == NULL)
        return MUST_EXECUTE;
    if (call->category == D_SCAN)
        return MUST_EITHER;
    if (call->category == D_SINGLE_SENDER && !is_before(&call->part[call->root]))
        return MUST_EXECUTE;
    return MUST_NOT_EXECUTE;
}

static uint64_t base_of(const struct d_pass *pass, int rank)
{
    return pass->lines->of[rank].base;
}

/* --- what is said --------------------------------------------------------------------------- */

static void say_before(struct finding *finding, const struct repeated *repeated)
{
    char name[D_CALL_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct d_part *before = repeated->before;
    if (before == NULL) {
        finding_say(finding,
                    "no rank came to %s before its checkpoint of that line, so all "
                    "execute it again",
                    d_call_text(repeated->call, name));
        return;
    }
    finding_say(finding,
                "rank %d had come to %s before its checkpoint of that line (%s), so the call "
                "straddles it",
                before->rank, d_call_text(repeated->call, name),
                event_text(d_event(before), event));
    finding_show(finding, d_event(before));
}

/* That the rank comes to the call again, and who had come to it before. */
static struct finding *begin_finding(const struct repeated *repeated, const struct d_part *part)
{
    char name[D_CALL_TEXT_BYTES], event[EVENT_TEXT_BYTES], restored[EVENT_TEXT_BYTES];
    const struct mark *mark = &repeated->pass->lines->of[part->rank].restored;
    struct finding *finding =
        judging_find(repeated->pass->judging, repeated->claim, VERDICT_VIOLATION);
    finding_say(finding, "rank %d was restored to line %" PRIu64 " (%s) and came to %s: %s",
                part->rank, base_of(repeated->pass, part->rank), event_text(mark->event, restored),
                d_call_text(repeated->call, name), event_text(d_event(part), event));
    finding_show(finding, mark->event);
    finding_show(finding, d_event(part));
    say_before(finding, repeated);
    return finding;
}

/* --- executed or not ------------------------------------------------------------------------ */

/* The rank's collective on the wire inside the call. */
static struct event_ref find_on_wire(const struct repeated *repeated, const struct d_part *part)
{
    const struct d_pass *pass = repeated->pass;
    struct d_join join;
    for (size_t i = 0; i < pass->meetings->count; i++)
        if (d_join_of(pass, pass->meetings->meeting[i], part->rank, &join) &&
            join.of == repeated->call)
            return event_of(part->trace, join.index);
    return d_event(part);
}

static void report_executed(const struct repeated *repeated, const struct d_part *part)
{
    char event[EVENT_TEXT_BYTES];
    struct event_ref wire = find_on_wire(repeated, part);
    struct finding *finding = begin_finding(repeated, part);
    finding_say(finding, "rank %d executed it on the wire again (%s), and rank %d will not",
                part->rank, event_text(wire, event), repeated->before->rank);
    finding_show(finding, wire);
}

static void report_not_executed(const struct repeated *repeated, const struct d_part *part)
{
    struct finding *finding = begin_finding(repeated, part);
    if (repeated->before == NULL)
        finding_say(finding, "rank %d returned from it without a collective on the wire",
                    part->rank);
    else
        finding_say(finding,
                    "its root, rank %d, was not, and executes it again; rank %d returned from it "
                    "without a collective on the wire",
                    repeated->call->part[repeated->call->root].rank, part->rank);
}

/* A call that is started only may go on the wire in the one that completes it. */
static bool is_blocking(const struct d_part *part)
{
    return part->trace->record[part->index].request == 0;
}

static void judge_executed(const struct repeated *repeated, const struct d_part *part)
{
    judging_saw(repeated->pass->judging, repeated->claim, repeated->before != NULL);
    if (repeated->must == MUST_NOT_EXECUTE && part->on_wire)
        report_executed(repeated, part);
    else if (repeated->must == MUST_EXECUTE && !part->on_wire && part->sent != 0 &&
             is_blocking(part))
        report_not_executed(repeated, part);
}

/* --- the same again ------------------------------------------------------------------------- */

/* The piece that ends with the checkpoint from which the rank was restored, or NULL. */
static const struct piece *piece_restored(const struct d_pass *pass, int rank)
{
    const struct history *history = &pass->histories->of[rank];
    if (!pass->lines->of[rank].restored.there || history->piece_count < 2)
        return NULL;
    return &history->piece[history->piece_count - 2];
}

static const struct record *nth_collective(const struct trace *trace, uint64_t from, uint64_t to,
                                           uint32_t comm, uint64_t n)
{
    for (uint64_t at = from; at < to; at++) {
        const struct record *record = &trace->record[at];
        if (record_is_of_app(record) && collective_comm(record) == comm && n-- == 0)
            return record;
    }
    return NULL;
}

/* How many collectives of the communicator the rank comes to after its `restored` note, before this
 * one. */
static uint64_t place_after(const struct d_pass *pass, const struct d_call *call,
                            const struct d_part *part)
{
    uint64_t place = 0;
    for (uint64_t number = call->number; number > 1; number--) {
        const struct d_call *before = table_get(&pass->calls.numbered, call->comm, number - 1);
        const struct d_part *own = before == NULL ? NULL : d_part_of(before, part->rank);
        if (own == NULL || !own->here)
            break;
        place++;
    }
    return place;
}

/* The call as the rank had made it before the failure, after its checkpoint; NULL if it had not
 * come to it. */
static const struct record *original_of(const struct repeated *repeated, const struct d_part *part,
                                        struct event_ref *event)
{
    const struct piece *piece = piece_restored(repeated->pass, part->rank);
    if (piece == NULL)
        return NULL;
    const struct record *record =
        nth_collective(piece->trace, piece->to, piece->trace->count, repeated->call->comm,
                       place_after(repeated->pass, repeated->call, part));
    if (record == NULL || record->kind != RECORD_COLLECTIVE || record->leave == 0 ||
        record->error != 0 || record->request != 0 || (record->flags & FLAG_NO_HASH))
        return NULL;
    *event = event_of(piece->trace, (uint64_t)(record - piece->trace->record));
    return record;
}

static void report_different(const struct repeated *repeated, const struct d_part *part,
                             struct event_ref original, const char *what, uint64_t first,
                             uint64_t second)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = begin_finding(repeated, part);
    finding_say(finding,
                "what it %s has the hash %#" PRIx64 " now, and had %#" PRIx64 " before: %s", what,
                second, first, event_text(original, event));
    finding_show(finding, original);
}

/* What a straddling call gave to ranks before the line is in their checkpoints, and what it got
 * from them does not come again: both must be what they were. */
static void judge_same(const struct repeated *repeated, const struct d_part *part)
{
    struct event_ref event;
    const struct record *now = &part->trace->record[part->index];
    if (repeated->before == NULL || part->sent == 0 || !is_blocking(part) ||
        (now->flags & FLAG_NO_HASH))
        return;
    const struct record *original = original_of(repeated, part, &event);
    if (original == NULL || original->call != now->call)
        return;
    if (original->result_hash != 0 && original->result_hash != now->result_hash)
        report_different(repeated, part, event, "got", original->result_hash, now->result_hash);
    else if (original->hash != 0 && original->hash != now->hash)
        report_different(repeated, part, event, "gave", original->hash, now->hash);
}

/* --- dummies -------------------------------------------------------------------------------- */

/* The calls are done again before the program goes on from the line; or the run is over. */
static bool had_its_time(const struct d_pass *pass, const struct trace *trace)
{
    const struct mark *restored = &pass->lines->of[trace->rank].restored;
    enum run_end end = pass->judging->facts->end;
    if (pass->incarnation + 1 == pass->judging->traces->incarnations &&
        (end == RUN_FINISHED || end == RUN_DEADLOCK))
        return true;
    for (uint64_t at = restored->event.index + 1; restored->there && at < trace->count; at++)
        if (record_is_of_app(&trace->record[at]))
            return true;
    return false;
}

static void report_no_dummy(const struct repeated *repeated, const struct d_part *part,
                            const struct meeting *meeting)
{
    char event[EVENT_TEXT_BYTES];
    const struct d_part *root = &repeated->call->part[repeated->call->root];
    struct event_ref wire = event_of(root->trace, meeting->of[root->rank].index - 1);
    struct finding *finding = begin_finding(repeated, root);
    finding_say(finding,
                "rank %d executed it again on the wire (%s), and rank %d did not take part, with "
                "dummy buffers",
                root->rank, event_text(wire, event), part->rank);
    finding_show(finding, wire);
    finding_show(finding, d_event(part));
}

static bool takes_part(const struct d_pass *pass, const struct meeting *meeting, int rank)
{
    struct d_join join;
    return d_join_of(pass, meeting, rank, &join) && join.inside != D_INSIDE_CALL;
}

/* The root executes the call on the wire. Each member that had come to it before its checkpoint has
 * to take part there, outside of any call of its own. */
static void judge_dummies(const struct repeated *repeated, const struct meeting *meeting)
{
    const struct d_call *call = repeated->call;
    for (unsigned place = 0; place < call->size; place++) {
        const struct d_part *part = &call->part[place];
        const struct trace *trace = trace_set_find(repeated->pass->judging->traces, part->rank,
                                                   repeated->pass->incarnation);
        if (is_before(part) && trace != NULL && had_its_time(repeated->pass, trace) &&
            !takes_part(repeated->pass, meeting, part->rank)) {
            report_no_dummy(repeated, part, meeting);
            return;
        }
    }
}

/* --- what meets on the wire ------------------------------------------------------------------ */

static struct repeated repeated_of(struct d_pass *pass, const struct d_call *call)
{
    struct repeated repeated = {pass, call, claim_of(call->category), first_before(call),
                                MUST_EITHER};
    repeated.must = must_of(call, repeated.before);
    return repeated;
}

static void report_mixed(const struct repeated *repeated, const struct d_join *one,
                         const struct d_join *other)
{
    char name[D_CALL_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct d_part *part = d_part_of(repeated->call, one->rank);
    const struct trace *trace =
        trace_set_find(repeated->pass->judging->traces, other->rank, repeated->pass->incarnation);
    struct event_ref met = event_of(trace, other->index);
    struct finding *finding = begin_finding(repeated, part);
    if (other->inside == D_INSIDE_CALL)
        finding_say(finding, "on the wire it meets rank %d in %s: %s", other->rank,
                    d_call_text(other->of, name), event_text(met, event));
    else
        finding_say(finding, "on the wire it meets rank %d, whose program made no such call: %s",
                    other->rank, event_text(met, event));
    finding_show(finding, event_of(part->trace, one->index));
    finding_show(finding, met);
}

/* Another call, or a call of nobody's that is no dummy of this one. */
static bool is_stranger(const struct repeated *repeated, const struct d_join *join)
{
    const struct d_part *part = d_part_of(repeated->call, join->rank);
    if (join->inside == D_INSIDE_CALL)
        return join->of != repeated->call;
    if (join->inside == D_INSIDE_OTHER || part == NULL)
        return false;
    return !is_before(part) || repeated->must == MUST_NOT_EXECUTE;
}

static bool is_judged(const struct d_join *join)
{
    return join->inside == D_INSIDE_CALL && join->of->category < D_CATEGORIES;
}

/* Of the calls that meet, the earliest: whoever is in a later one has left it out. */
static bool find_earliest(const struct d_pass *pass, const struct meeting *meeting,
                          struct d_join *earliest)
{
    struct d_join join;
    *earliest = (struct d_join){0};
    for (int rank = 0; rank < pass->causal->ranks; rank++)
        if (d_join_of(pass, meeting, rank, &join) && is_judged(&join) &&
            (earliest->of == NULL || join.of->number < earliest->of->number))
            *earliest = join;
    return earliest->of != NULL;
}

/* True if what follows on this communicator of the wire is out of step. */
static bool judge_meeting(struct d_pass *pass, const struct meeting *meeting)
{
    struct d_join one, join;
    if (!find_earliest(pass, meeting, &one))
        return false;
    struct repeated repeated = repeated_of(pass, one.of);
    for (int rank = 0; rank < pass->causal->ranks; rank++)
        if (d_join_of(pass, meeting, rank, &join) && is_stranger(&repeated, &join)) {
            report_mixed(&repeated, &one, &join);
            return true;
        }
    if (repeated.before != NULL && repeated.must == MUST_EXECUTE &&
        meeting->of[one.of->part[one.of->root].rank].index != 0)
        judge_dummies(&repeated, meeting);
    return false;
}

/* Only the first that do not belong together are told of: the rest follows from it. */
static void judge_meetings(struct d_pass *pass)
{
    struct table out_of_step = {0};
    for (size_t i = 0; i < pass->meetings->count; i++) {
        struct meeting *meeting = pass->meetings->meeting[i];
        if (table_get(&out_of_step, meeting->comm, 0) == NULL && judge_meeting(pass, meeting))
            table_put(&out_of_step, meeting->comm, 0, meeting);
    }
    table_release(&out_of_step);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void judge_call(struct d_pass *pass, const struct d_call *call)
{
    struct repeated repeated = repeated_of(pass, call);
    for (unsigned place = 0; place < call->size; place++) {
        const struct d_part *part = &call->part[place];
        if (part->trace == NULL || !part->here || !pass->lines->of[part->rank].restored.there)
            continue;
        judge_executed(&repeated, part);
        judge_same(&repeated, part);
    }
}

void d_judge_recovery(struct d_pass *pass)
{
    for (size_t i = 0; i < pass->calls.call_count; i++) {
        const struct d_call *call = pass->calls.call[i];
        if (call->category < D_CATEGORIES && call->category != D_BARRIER && call->size > 1 &&
            pass->native[call->category])
            judge_call(pass, call);
    }
    judge_meetings(pass);
}
