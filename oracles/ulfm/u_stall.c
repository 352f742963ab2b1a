/* U.nostall: at the end of a run that came to none, nobody is inside a call in which one that died
 * takes part. And of U.revoke and U.object what never ended: nobody is inside a call on a
 * communicator that was revoked. A revocation and a death end a call whatever else it waits for. A
 * shrink and an agreement wait for members that live, and for nobody else; so does a collective to
 * which the dead had come. At a time limit others still run: only who waits for long is judged. */
#include "oracles/ulfm/u_family.h"

static bool is_meet(const struct record *record)
{
    return record->call == CALL_MPIX_Comm_shrink || record->call == CALL_MPIX_Comm_agree;
}

/* --- deaths -------------------------------------------------------------------------------- */

static bool has_acked(const struct u_seat *seat, int process)
{
    /* What was acknowledged is known by the group that was asked for afterwards. */
    return seat->ack.record != NULL && (!seat->fresh || u_group_has(seat->acked, process));
}

/* The one that takes part in the operation of that process and had died by `ticks`; -1: there is
 * none, or it cannot be told. Each half of an exchange has a record, with its own peer. Which
 * members of an intercommunicator are on the other side is not kept. Who has come to the number-th
 * collective before it died need not be waited for (0: not asked). */
static int awaited_dead(const struct u_run *run, struct u_comm *comm, struct u_event call,
                        const struct record *of, uint64_t number, uint64_t ticks)
{
    const struct u_seat *seat = u_seat_of(comm, call);
    if (u_is_wildcard(of) && comm->inter)
        return -1;
    if (u_names_peer(of) || u_is_exchange(of))
        return u_may_be_dead(run, u_peer(of), ticks) ? u_peer(of) : -1;
    for (int place = 0; place < comm->count; place++) {
        int member = comm->member[place];
        bool came = number > 0 && comm->seat[place].calls >= number;
        bool dead = u_may_be_dead(run, member, ticks) && !came;
        if (dead && (!u_is_wildcard(of) || (seat != NULL && !has_acked(seat, member))))
            return member;
    }
    return -1;
}

/* All members that live are in the same call, or have been. */
static bool all_came(const struct u_run *run, const struct u_comm *comm,
                     const struct u_stuck *stuck)
{
    enum u_meet_kind kind = stuck->call.record->call == CALL_MPIX_Comm_shrink ? U_SHRINK : U_AGREE;
    int own = u_place(comm, stuck->call.trace->rank);
    for (int place = 0; own >= 0 && place < comm->count; place++) {
        const struct u_seat *seat = &comm->seat[place];
        bool came = is_meet(stuck->call.record) ? seat->met[kind] >= comm->seat[own].met[kind]
                                                : seat->calls >= stuck->number;
        if (!came && !u_may_be_dead(run, comm->member[place], U_NEVER - 1))
            return false;
    }
    return own >= 0;
}

/* What the call takes part in is more than its communicator says, or it is not said. */
static bool is_unclear(const struct record *record)
{
    return record->call == CALL_MPI_Comm_create_group || record->call == CALL_MPI_Comm_join ||
           record->call == CALL_MPI_Comm_get_parent;
}

/* --- since when ---------------------------------------------------------------------------- */

/* When the last member came to its newest collective, shrink or agreement. */
static uint64_t last_came(const struct u_comm *comm)
{
    uint64_t last = 0;
    for (int place = 0; place < comm->count; place++)
        if (comm->seat[place].came > last)
            last = comm->seat[place].came;
    return last;
}

/* The run was not over before: at a time limit, where nobody need have recorded anything since
 * long, it had been running for that time. */
static uint64_t not_over_before(const struct u_run *run)
{
    double limit_s = run->judging->facts->limit_s;
    double per_second = run->judging->traces->trace[0].header->ticks_per_second;
    uint64_t end = run->begin + (uint64_t)(limit_s * per_second);
    return end > run->last ? end : run->last;
}

/* A death or a revocation, at `cause`, is to end the call, for which nothing is missing since
 * `ready`. In a deadlock it never will. At a time limit it counts where at least half of the time
 * since the cause has passed so: a program that tries again and again has come into its call a
 * moment ago. */
static bool waits_long(const struct u_run *run, const struct u_stuck *stuck, uint64_t cause,
                       uint64_t ready)
{
    if (run->judging->facts->end == RUN_DEADLOCK)
        return true;
    uint64_t since = stuck->call.record->enter > ready ? stuck->call.record->enter : ready;
    uint64_t end = not_over_before(run);
    return since <= cause || 2 * (end - since) >= end - cause;
}

/* ------------------------------------------------------------------------------------------- */

static void report_dead(struct u_run *run, const struct u_comm *comm, const struct u_stuck *stuck,
                        int dead)
{
    struct finding *finding = judging_find(run->judging, CLAIM_U_NOSTALL, VERDICT_VIOLATION);
    u_say_call(finding, stuck->call, comm->id, "waits for ever");
    if (stuck->of.record != stuck->call.record)
        u_say_call(finding, stuck->of, comm->id, "began what it waits for");
    if (dead >= 0)
        u_say_death(run, finding, dead);
    else
        finding_say(finding, "all members that live have come to it");
    finding_decide_at_end(finding);
}

/* --- revocations --------------------------------------------------------------------------- */

static void report_revoked(struct u_run *run, const struct u_comm *comm,
                           const struct u_stuck *stuck)
{
    bool request = stuck->of.record != stuck->call.record;
    struct finding *finding =
        judging_find(run->judging, request ? CLAIM_U_OBJECT : CLAIM_U_REVOKE, VERDICT_VIOLATION);
    u_say_call(finding, comm->revoke, comm->id, "revoked");
    if (request)
        u_say_call(finding, stuck->of, comm->id, "began a request");
    u_say_call(finding, stuck->call, comm->id, "waits for ever");
    finding_decide_at_end(finding);
}

/* ------------------------------------------------------------------------------------------- */

/* It waits for what will not come: for a dead one, or for nothing at all, since all that live have
 * come to the same call. *dead: who is to be told of; -1: nobody. */
static bool is_stalled(const struct u_run *run, struct u_comm *comm, const struct u_stuck *stuck,
                       int *dead)
{
    bool meets = is_meet(stuck->call.record);
    *dead =
        meets ? -1
              : awaited_dead(run, comm, stuck->call, stuck->of.record, stuck->number, U_NEVER - 1);
    if (*dead >= 0)
        return waits_long(run, stuck, run->death[*dead].gone, 0);
    int died = u_dead_member(run, comm, -1, U_NEVER - 1);
    bool gathers = stuck->number > 0 && died >= 0 && !u_reaches_beyond(stuck->of.record->call);
    if ((!meets && !gathers) || !all_came(run, comm, stuck))
        return false;
    *dead = meets ? -1 : died;
    return waits_long(run, stuck, died >= 0 ? run->death[died].gone : run->begin, last_came(comm));
}

static void judge_stuck(struct u_run *run, const struct u_stuck *stuck)
{
    struct u_comm *comm = u_comm_find(run, stuck->of.record->comm);
    int dead;
    if (comm == NULL)
        return;
    if (comm->revoke.record != NULL && !is_meet(stuck->call.record)) {
        if (waits_long(run, stuck, comm->revoke.record->enter, 0))
            report_revoked(run, comm, stuck);
    } else if (!is_unclear(stuck->call.record) && is_stalled(run, comm, stuck, &dead)) {
        report_dead(run, comm, stuck, dead);
    }
}

static bool is_operation(const struct record *record)
{
    return record->kind == RECORD_SEND || record->kind == RECORD_RECV ||
           record->kind == RECORD_PROBE || record->kind == RECORD_COLLECTIVE ||
           (record->kind == RECORD_CALL &&
            (is_meet(record) || call_role(record->call) == ROLE_COMM_MAKE));
}

/* Situations: it has come out of an operation in which a dead process takes part. */
void u_stall_record(struct u_run *run, struct u_event event)
{
    if (run->first_gone == U_NEVER || (event.record->flags & FLAG_NEGATIVE))
        return;
    const struct record *of = u_operation(run, event).record;
    struct u_comm *comm = u_comm_find(run, of->comm);
    bool ends = event.record->kind == RECORD_COMPLETE || event.record->request == 0;
    if (comm != NULL && ends && is_operation(of) && !is_unclear(of) &&
        awaited_dead(run, comm, event, of, 0, u_left(event)) >= 0)
        judging_saw(run->judging, CLAIM_U_NOSTALL, 1);
}

void u_stall_end(struct u_run *run)
{
    enum run_end end = run->judging->facts->end;
    if (!run->pass->newest || (end != RUN_DEADLOCK && end != RUN_TIME_LIMIT))
        return;
    for (size_t i = 0; i < run->stuck_count; i++)
        judge_stuck(run, &run->stuck[i]);
}
