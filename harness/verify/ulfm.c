/* Family U: ULFM, at the wire level. See shown.h. What a call was about, who was a member and who
 * had died is looked for in the traces, from their beginning, each time. */
#include "verify/shown.h"

/* --- who died ------------------------------------------------------------------------------ */

static bool has_finalized(const struct trace *trace)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at.record->call == CALL_MPI_Finalize && at.record->level == LEVEL_WIRE &&
            at.record->leave != 0)
            return true;
    return false;
}

/* By the time given; it may have been any time after the last that it did. */
static bool died(const struct trace *trace, uint64_t by)
{
    if (trace == NULL || trace->end == NULL || has_finalized(trace))
        return false;
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (record_is_event(at.record) &&
            (at.record->leave != 0 ? at.record->leave : at.record->enter) > by)
            return false;
    return true;
}

static bool process_died(const struct shown *shown, struct at like, int process, uint64_t by)
{
    return process >= 0 &&
           died(trace_set_find(shown->traces, process, like.trace->incarnation), by);
}

/* --- members ------------------------------------------------------------------------------- */

static bool lists(struct at group, int process)
{
    struct at at = group;
    while (at_next_part(&at) && at.record->kind == RECORD_GROUP)
        for (unsigned i = 0; i < RECORD_GROUP_MEMBERS; i++)
            if (at.record->members[i] == process)
                return true;
    return false;
}

static bool is_group(struct at at, unsigned kind)
{
    return at.record->kind == kind && at.record->level == LEVEL_WIRE;
}

/* What MPIX_Comm_failure_get_acked returned, and not MPIX_Comm_get_failed. */
static bool is_acked_group(struct at at)
{
    return is_group(at, RECORD_FAILED) && at.record->call == CALL_MPIX_Comm_failure_get_acked;
}

static bool belongs(const struct shown *shown, uint32_t comm, int process)
{
    if (comm == COMM_WORLD_ID)
        return process < shown->traces->world;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (is_group(at, RECORD_COMM) && at.record->comm == comm)
            return lists(at, process);
    return false;
}

/* A member but for `besides` had died. */
static bool member_died(const struct shown *shown, struct at like, uint32_t comm, int besides,
                        uint64_t by)
{
    for (int process = 0; process < shown->traces->ranks; process++)
        if (process != besides && process_died(shown, like, process, by) &&
            (comm == 0 || belongs(shown, comm, process)))
            return true;
    return false;
}

/* --- what was called ----------------------------------------------------------------------- */

/* What began the request that the event completes, or still waits for; else the event. A call for
 * several requests names the first alone: once it has returned, it may be about any of them. */
static struct at began(struct at event)
{
    struct at found = event;
    bool waits = event.record->kind == RECORD_COMPLETE ||
                 (event.record->kind == RECORD_CALL && event.record->request != 0 &&
                  at_done(event) == NEVER);
    for (struct at at = {.trace = event.trace}; waits && at_next(&at) && at.index < event.index;)
        if (at.record->level == LEVEL_WIRE && at.record->request == event.record->request &&
            (at.record->kind == RECORD_SEND || at.record->kind == RECORD_RECV ||
             at.record->kind == RECORD_COLLECTIVE))
            found = at;
    return found;
}

static bool is_message(struct at at)
{
    return at.record->kind == RECORD_SEND || at.record->kind == RECORD_RECV ||
           at.record->kind == RECORD_PROBE;
}

static int named(struct at at)
{
    return at.record->kind == RECORD_SEND ? at.record->peer : at.record->want_peer;
}

static bool takes_any(struct at at)
{
    return is_message(at) && at.record->kind != RECORD_SEND && at.record->want_peer == PEER_ANY;
}

static bool has_raised(struct at at, enum raised class)
{
    return at.record->error == class && at.record->level == LEVEL_WIRE;
}

static bool is_call_of(struct at at, enum call_id call)
{
    return at.record->kind == RECORD_CALL && at.record->level == LEVEL_WIRE &&
           at.record->call == call;
}

static bool is_revoke_of(struct at at, uint32_t comm)
{
    return is_call_of(at, CALL_MPIX_Comm_revoke) && at.record->comm == comm;
}

static bool is_revoked_by(const struct shown *shown, uint32_t comm, uint64_t by)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (is_revoke_of(at, comm) && at.record->enter <= by)
            return true;
    return false;
}

static bool never_returns(struct at at)
{
    return at_done(at) == NEVER && !died(at.trace, NEVER);
}

static bool decides(struct at at)
{
    return at.record->call == CALL_MPIX_Comm_shrink || at.record->call == CALL_MPIX_Comm_agree;
}

/* --- errors -------------------------------------------------------------------------------- */

static bool nobody_died(const struct shown *shown, struct at raised)
{
    struct at of = began(raised);
    uint64_t by = at_done(raised);
    if (is_message(of) && named(of) >= 0)
        return !process_died(shown, raised, named(of), by);
    return !member_died(shown, raised, of.record->comm, -1, by);
}

bool shows_raised_wrongly(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i], of = began(at);
        if (has_raised(at, RAISED_REVOKED) && !is_revoked_by(shown, of.record->comm, at_done(at)))
            return true;
        if (has_raised(at, RAISED_PROC_FAILED) && nobody_died(shown, at))
            return true;
        bool waits = at.record->kind == RECORD_COMPLETE || at.record->call == CALL_MPI_Iprobe;
        if (has_raised(at, RAISED_PROC_FAILED_PENDING) &&
            (!waits || !takes_any(of) || nobody_died(shown, at)))
            return true;
    }
    return false;
}

/* Of a channel of the wire more was sent than received. */
static bool is_left(const struct shown *shown, struct at sent)
{
    int64_t left = 0;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        const struct record *record = at.record;
        bool channel = record->level == LEVEL_WIRE && record->comm == sent.record->comm &&
                       record->tag == sent.record->tag &&
                       at.trace->incarnation == sent.trace->incarnation;
        if (channel && record->kind == RECORD_SEND && at.trace->rank == sent.trace->rank &&
            record->peer == sent.record->peer)
            left++;
        bool whole = record->kind == RECORD_COMPLETE ||
                     (record->kind == RECORD_RECV && record->request == 0);
        if (channel && whole && record->leave != 0 && record->error == 0 &&
            at.trace->rank == sent.record->peer && record->peer == sent.trace->rank)
            left--;
    }
    return left > 0;
}

static bool waits_for_sent(const struct shown *shown, struct at sent, struct at waits)
{
    struct at of = began(waits);
    return sent.record->kind == RECORD_SEND && sent.record->level == LEVEL_WIRE &&
           never_returns(waits) && of.record->kind == RECORD_RECV &&
           named(of) == sent.trace->rank && waits.trace->rank == sent.record->peer &&
           of.record->comm == sent.record->comm && is_left(shown, sent);
}

bool shows_not_local(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i], of = began(at);
        bool raised =
            has_raised(at, RAISED_PROC_FAILED) || has_raised(at, RAISED_PROC_FAILED_PENDING);
        if (raised && is_message(of) && named(of) >= 0 &&
            !process_died(shown, at, named(of), NEVER) &&
            member_died(shown, at, of.record->comm, named(of), at_done(at)) &&
            !is_revoked_by(shown, of.record->comm, at_done(at)))
            return true;
    }
    return any_two(shown, waits_for_sent);
}

/* --- revocations --------------------------------------------------------------------------- */

static bool is_buffered(struct at at)
{
    return at.record->call == CALL_MPI_Bsend || at.record->call == CALL_MPI_Bsend_c ||
           at.record->call == CALL_MPI_Ibsend || at.record->call == CALL_MPI_Ibsend_c;
}

/* With the first event the process knew; the second is later, on the same communicator, and went
 * well. */
static bool known_and_used(const struct shown *shown, struct at knew, struct at then)
{
    (void)shown;
    bool informed = has_raised(knew, RAISED_REVOKED) ||
                    (is_call_of(knew, CALL_MPIX_Comm_revoke) && knew.record->error == 0);
    return informed && then.trace == knew.trace && then.record->error == 0 &&
           at_done(then) != NEVER && began(then).record->enter >= at_done(knew) &&
           began(then).record->comm == began(knew).record->comm && !decides(then) &&
           !is_buffered(began(then)) && then.record->call != CALL_MPIX_Comm_revoke &&
           then.record->kind != RECORD_COMM;
}

static bool outlasts(const struct shown *shown, struct at revoked, struct at waits)
{
    (void)shown;
    return is_call_of(revoked, CALL_MPIX_Comm_revoke) && never_returns(waits) &&
           began(waits).record->comm == revoked.record->comm && !decides(waits);
}

static bool makes(struct at at)
{
    return at.record->kind == RECORD_CALL;
}

static bool message_goes_on(const struct shown *shown, struct at knew, struct at then)
{
    return !makes(then) && known_and_used(shown, knew, then);
}

static bool made_of_revoked(const struct shown *shown, struct at knew, struct at then)
{
    return makes(then) && known_and_used(shown, knew, then);
}

static bool call_outlasts(const struct shown *shown, struct at revoked, struct at waits)
{
    return began(waits).record == waits.record && outlasts(shown, revoked, waits);
}

static bool request_outlasts(const struct shown *shown, struct at revoked, struct at waits)
{
    return began(waits).record != waits.record && outlasts(shown, revoked, waits);
}

bool shows_not_revoked(const struct shown *shown)
{
    return any_two(shown, message_goes_on) || any_two(shown, call_outlasts);
}

bool shows_object_goes_on(const struct shown *shown)
{
    return any_two(shown, made_of_revoked) || any_two(shown, request_outlasts);
}

/* --- agreements and shrinks ---------------------------------------------------------------- */

static bool counts_as(struct at at, enum call_id call, uint32_t comm)
{
    return is_call_of(at, call) && at.record->comm == comm &&
           (at.record->error == 0 || raised_text(at.record->error) != NULL);
}

/* How many such calls the process had begun, up to this one. */
static unsigned number_of(struct at call)
{
    unsigned number = 0;
    for (struct at at = {.trace = call.trace}; at_next(&at) && at.index <= call.index;)
        number += counts_as(at, (enum call_id)call.record->call, call.record->comm);
    return number;
}

/* The call of the same number of another process; no record: it never came. */
static struct at same_of(const struct shown *shown, struct at call, int process)
{
    struct at at = {.trace = trace_set_find(shown->traces, process, call.trace->incarnation)};
    unsigned number = number_of(call);
    while (at.trace != NULL && at_next(&at))
        if (counts_as(at, (enum call_id)call.record->call, call.record->comm) &&
            number_of(at) == number)
            return at;
    return (struct at){0};
}

static bool same_number(struct at a, struct at b)
{
    return decides(a) && a.record->call == b.record->call && a.record->comm == b.record->comm &&
           a.trace != b.trace && number_of(a) == number_of(b) && at_done(a) != NEVER &&
           at_done(b) != NEVER;
}

static bool agree_otherwise(const struct shown *shown, struct at a, struct at b)
{
    (void)shown;
    return is_call_of(a, CALL_MPIX_Comm_agree) && same_number(a, b) &&
           (a.record->result_hash != b.record->result_hash || a.record->error != b.record->error);
}

/* A member that was alive had not come when the call returned. */
static bool awaits_not_all(const struct shown *shown, struct at call)
{
    for (int process = 0; process < shown->traces->ranks; process++) {
        struct at other = same_of(shown, call, process);
        if (belongs(shown, call.record->comm, process) &&
            (other.record == NULL || other.record->enter > at_done(call)) &&
            !process_died(shown, call, process, at_done(call)))
            return true;
    }
    return false;
}

/* When the last that came back did. */
static uint64_t last_return(const struct shown *shown, struct at call)
{
    uint64_t last = 0;
    for (int process = 0; process < shown->traces->ranks; process++) {
        struct at other = same_of(shown, call, process);
        if (other.record != NULL && at_done(other) != NEVER && at_done(other) > last)
            last = at_done(other);
    }
    return last;
}

/* Some choice of those that died, and all that live, brought the result. */
static bool is_conjunction(const struct shown *shown, struct at call)
{
    uint32_t result = (uint32_t)call.record->result_hash, all = UINT32_MAX, live = UINT32_MAX;
    uint64_t last = last_return(shown, call);
    bool dead = false;
    for (int process = 0; process < shown->traces->ranks; process++) {
        if (!belongs(shown, call.record->comm, process))
            continue;
        struct at other = same_of(shown, call, process);
        bool gone = process_died(shown, call, process, last);
        uint32_t flag = other.record != NULL ? (uint32_t)other.record->tag : UINT32_MAX;
        dead |= gone;
        live &= gone ? UINT32_MAX : flag;
        all &= !gone || (flag & result) == result ? flag : UINT32_MAX;
    }
    return result == live || result == all || (dead && result == 0);
}

bool shows_agreed_wrongly(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i];
        if (is_call_of(at, CALL_MPIX_Comm_agree) && at_done(at) != NEVER &&
            (has_raised(at, RAISED_REVOKED) || has_raised(at, RAISED_PROC_FAILED_PENDING) ||
             awaits_not_all(shown, at) || !is_conjunction(shown, at)))
            return true;
    }
    return any_two(shown, agree_otherwise);
}

/* The call inside which the communicator was made. */
static struct at made_by(struct at made)
{
    struct at call = made;
    for (struct at at = {.trace = made.trace}; at_next(&at) && at.index < made.index;)
        if (is_call_of(at, CALL_MPIX_Comm_shrink) &&
            at.record->comm == (uint32_t)made.record->bytes)
            call = at;
    return call;
}

static bool is_shrunk(struct at at)
{
    return is_group(at, RECORD_COMM) && at.record->call == CALL_MPIX_Comm_shrink;
}

static bool shrink_otherwise(const struct shown *shown, struct at a, struct at b)
{
    if (!is_shrunk(a) || !is_shrunk(b) || !same_number(made_by(a), made_by(b)))
        return false;
    for (int process = 0; process < shown->traces->ranks; process++)
        if (lists(a, process) != lists(b, process))
            return true;
    return a.record->comm != b.record->comm; /* it is mixed of the members in their order */
}

/* The other event informed a caller, before it called, that one in the group was dead; and the
 * caller lived until the shrink was over. */
static bool has_known(const struct shown *shown, struct at made, struct at informed)
{
    struct at of = began(informed), call = made_by(made);
    if (!is_shrunk(made) || is_shrunk(informed))
        return false;
    struct at caller = same_of(shown, call, informed.trace->rank);
    bool before = caller.record != NULL && at_done(informed) <= caller.record->enter &&
                  at_done(caller) != NEVER && !died(caller.trace, last_return(shown, call));
    if (has_raised(informed, RAISED_PROC_FAILED) && is_message(of) && named(of) >= 0)
        return before && lists(made, named(of));
    for (int process = 0; is_group(informed, RECORD_FAILED) && process < shown->traces->ranks;
         process++)
        if (before && lists(informed, process) && lists(made, process))
            return true;
    return false;
}

/* In a world, and what is made of it, members stand as in the older communicator. */
static bool is_out_of_order(const struct shown *shown, struct at made)
{
    int32_t last = -1;
    struct at old = {0};
    if (made.record->flags & FLAG_INTER)
        return false;
    while (at_next_of_all(shown->traces, &old))
        if (is_group(old, RECORD_COMM) && old.record->comm == (uint32_t)made.record->bytes)
            break;
    struct at at = made;
    for (int seen = 0; at_next_part(&at) && at.record->kind == RECORD_GROUP;)
        for (unsigned i = 0; i < RECORD_GROUP_MEMBERS && seen < made.record->tag; i++, seen++) {
            int32_t place = at.record->members[i], from = 0;
            for (struct at row = old;
                 old.record != NULL && at_next_part(&row) && row.record->kind == RECORD_GROUP;
                 from += RECORD_GROUP_MEMBERS)
                for (int k = 0; k < RECORD_GROUP_MEMBERS; k++)
                    if (row.record->members[k] == at.record->members[i])
                        place = from + k;
            if (place <= last)
                return true;
            last = place;
        }
    return false;
}

bool shows_shrunk_wrongly(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i];
        if (is_call_of(at, CALL_MPIX_Comm_shrink) && at_done(at) != NEVER &&
            (raised_text(at.record->error) != NULL || awaits_not_all(shown, at)))
            return true;
        if (is_shrunk(at) && (!lists(at, at.trace->rank) || is_out_of_order(shown, at)))
            return true;
    }
    return any_two(shown, shrink_otherwise) || any_two(shown, has_known);
}

/* --- failures that are told of ------------------------------------------------------------- */

bool shows_suspected(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        for (int process = 0; process < shown->traces->ranks; process++) {
            struct at at = shown->event[i];
            if (is_group(at, RECORD_FAILED) && lists(at, process) &&
                !process_died(shown, at, process, at_done(at)))
                return true;
            if (is_shrunk(at) && !lists(at, process) &&
                belongs(shown, (uint32_t)at.record->bytes, process) &&
                !process_died(shown, at, process, at_done(made_by(at))))
                return true;
        }
    return false;
}

static bool acknowledges(struct at at)
{
    return is_call_of(at, CALL_MPIX_Comm_failure_ack) || is_call_of(at, CALL_MPIX_Comm_ack_failed);
}

static bool has_acked(struct at group)
{
    for (struct at at = {.trace = group.trace}; at_next(&at) && at.index < group.index;)
        if (acknowledges(at) && at.record->comm == group.record->comm)
            return true;
    return false;
}

static bool acks_between(struct at first, struct at then)
{
    for (struct at at = first; at_next(&at) && at.index < then.index;)
        if (acknowledges(at) && at.record->comm == then.record->comm)
            return true;
    return false;
}

/* All that was known: MPIX_Comm_ack_failed may leave some out. */
static bool acks_all_between(struct at first, struct at then)
{
    for (struct at at = first; at_next(&at) && at.index < then.index;)
        if (is_call_of(at, CALL_MPIX_Comm_failure_ack) && at.record->comm == then.record->comm)
            return true;
    return false;
}

/* The one group is lost in the other, or there is more in it and nothing was acknowledged. */
static bool group_changes(const struct shown *shown, struct at first, struct at then)
{
    if (!is_acked_group(first) || !is_acked_group(then) || !at_before(first, then) ||
        first.record->comm != then.record->comm)
        return false;
    for (int process = 0; process < shown->traces->ranks; process++)
        if (lists(first, process) != lists(then, process) &&
            (lists(first, process) || !acks_between(first, then)))
            return true;
    return false;
}

/* A death of which the process was informed, and which it then acknowledged, is not in the group.
 */
static bool group_lacks(const struct shown *shown, struct at informed, struct at group)
{
    (void)shown;
    struct at of = began(informed);
    return has_raised(informed, RAISED_PROC_FAILED) && is_acked_group(group) &&
           at_before(informed, group) && is_message(of) && named(of) >= 0 &&
           of.record->comm == group.record->comm && acks_all_between(informed, group) &&
           !lists(group, named(of));
}

static bool raises_for_acked(const struct shown *shown, struct at group, struct at raised)
{
    struct at of = began(raised);
    if (!is_acked_group(group) || !at_before(group, raised) || !takes_any(of) ||
        of.record->comm != group.record->comm ||
        (!has_raised(raised, RAISED_PROC_FAILED) &&
         !has_raised(raised, RAISED_PROC_FAILED_PENDING)))
        return false;
    for (int process = 0; process < shown->traces->ranks; process++)
        if (belongs(shown, group.record->comm, process) && !lists(group, process) &&
            process_died(shown, raised, process, at_done(raised)))
            return false;
    return true;
}

bool shows_acked_wrongly(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i];
        bool acks = acknowledges(at) || is_call_of(at, CALL_MPIX_Comm_failure_get_acked);
        if (acks && raised_text(at.record->error) != NULL)
            return true;
        if (is_acked_group(at) && at.record->tag > 0 && !has_acked(at))
            return true;
    }
    return any_two(shown, group_changes) || any_two(shown, group_lacks) ||
           any_two(shown, raises_for_acked);
}

/* --- stalls -------------------------------------------------------------------------------- */

static bool all_decide(const struct shown *shown, struct at call)
{
    for (int process = 0; process < shown->traces->ranks; process++)
        if (belongs(shown, call.record->comm, process) &&
            !process_died(shown, call, process, NEVER) &&
            same_of(shown, call, process).record == NULL)
            return false;
    return true;
}

static bool gathers(struct at at)
{
    return at.record->level == LEVEL_WIRE &&
           (at.record->kind == RECORD_COLLECTIVE ||
            (at.record->kind == RECORD_CALL && call_role(at.record->call) == ROLE_COMM_MAKE));
}

/* Collectives on the communicator that the process came to, up to that record. */
static unsigned gathered(const struct trace *trace, uint32_t comm, uint64_t until)
{
    unsigned count = 0;
    for (struct at at = {.trace = trace}; at_next(&at) && at.index <= until;)
        count += gathers(at) && at.record->comm == comm &&
                 at.record->call != CALL_MPIX_Comm_shrink &&
                 at.record->call != CALL_MPI_Comm_create_group;
    return count;
}

static bool is_between_sides(struct at waits, uint32_t comm)
{
    for (struct at at = {.trace = waits.trace}; at_next(&at);)
        if (is_group(at, RECORD_COMM) && at.record->comm == comm)
            return (at.record->flags & FLAG_INTER) != 0;
    return false;
}

/* A member died that had not come to this collective; of any source: any that died. */
static bool lacks_dead(const struct shown *shown, struct at waits, struct at of)
{
    uint32_t comm = of.record->comm;
    unsigned number = gathers(of) ? gathered(waits.trace, comm, of.index) : 0;
    for (int process = 0; process < shown->traces->ranks; process++)
        if (belongs(shown, comm, process) && process_died(shown, waits, process, NEVER) &&
            (number == 0 ||
             gathered(trace_set_find(shown->traces, process, waits.trace->incarnation), comm,
                      NEVER) < number))
            return true;
    return false;
}

/* All members that live have come to this collective, and one has died. */
static bool all_gather(const struct shown *shown, struct at waits, struct at of)
{
    uint32_t comm = of.record->comm;
    uint64_t number = gathers(of) ? gathered(waits.trace, comm, of.index) : 0;
    for (int process = 0; process < shown->traces->ranks; process++) {
        const struct trace *trace =
            trace_set_find(shown->traces, process, waits.trace->incarnation);
        if (belongs(shown, comm, process) && !process_died(shown, waits, process, NEVER) &&
            (trace == NULL || gathered(trace, comm, NEVER) < number))
            return false;
    }
    return number > 0 && member_died(shown, waits, comm, -1, NEVER);
}

bool shows_stalls(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct at at = shown->event[i], of = began(at);
        if (at.record->level != LEVEL_WIRE || !never_returns(at))
            continue;
        if (decides(at))
            return all_decide(shown, at);
        if (takes_any(of) && is_between_sides(at, of.record->comm))
            return false;
        return is_message(of) && named(of) >= 0
                   ? process_died(shown, at, named(of), NEVER)
                   : lacks_dead(shown, at, of) || all_gather(shown, at, of);
    }
    return false;
}
