/* U.local: a failure changes nothing between those who live. What goes point to point between two
 * live members of a communicator that nobody has revoked completes, though another member is dead
 * and collectives have raised. */
#include "oracles/ulfm/u_family.h"

#include <stdio.h>

/* The operation is between this process and one that does not die; a third member may be dead by
 * `ticks`, and nobody has revoked. Returns the dead one, or -1. */
static int dead_beside(const struct u_run *run, struct u_event operation, uint64_t ticks)
{
    const struct u_comm *comm = u_comm_find(run, operation.record->comm);
    if (!u_names_peer(operation.record) || comm == NULL || u_revoked(comm, ticks))
        return -1;
    int peer = u_peer(operation.record);
    bool lives = peer < run->processes && run->death[peer].from == U_NEVER;
    return lives ? u_dead_member(run, comm, peer, ticks) : -1;
}

static void report_raised(struct u_run *run, struct u_event event, struct u_event operation,
                          int dead)
{
    char raised[64];
    struct finding *finding = judging_find(run->judging, CLAIM_U_LOCAL, VERDICT_VIOLATION);
    snprintf(raised, sizeof raised, "raised %s", raised_text(event.record->error));
    u_say_call(finding, event, operation.record->comm, raised);
    if (operation.record != event.record)
        u_say_call(finding, operation, operation.record->comm, "began the operation");
    finding_say(finding,
                "it is with process %d, which lives; process %d of that communicator has "
                "died, and nobody has revoked it",
                u_peer(operation.record), dead);
}

void u_local_record(struct u_run *run, struct u_event event)
{
    const struct record *record = event.record;
    bool ends = record->kind == RECORD_COMPLETE || record->request == 0;
    if (run->first_gone == U_NEVER || !ends || (record->flags & FLAG_NEGATIVE))
        return;
    struct u_event operation = u_operation(run, event);
    int dead = dead_beside(run, operation, u_left(event));
    if (dead < 0)
        return;
    judging_saw(run->judging, CLAIM_U_LOCAL, 1);
    if (record->error == RAISED_PROC_FAILED || record->error == RAISED_PROC_FAILED_PENDING)
        report_raised(run, event, operation, dead);
}

static bool waits_for(const struct u_stuck *stuck, const struct channel *channel)
{
    const struct record *of = stuck->of.record;
    return of->kind == RECORD_RECV && of->comm == channel->comm &&
           stuck->call.trace->rank == channel->destination && of->want_peer == channel->source &&
           (of->want_tag == TAG_ANY || of->want_tag == channel->tag);
}

void u_local_unreceived(struct u_run *run, const struct channel *channel, const struct sent *sent)
{
    char text[MESSAGE_TEXT_BYTES];
    /* At a time limit the receiver may have been about to take it. */
    if (run->first_gone == U_NEVER || sent->optional || !run->pass->newest ||
        run->judging->facts->end != RUN_DEADLOCK)
        return;
    for (size_t i = 0; i < run->stuck_count; i++) {
        const struct u_stuck *stuck = &run->stuck[i];
        if (!waits_for(stuck, channel) || dead_beside(run, stuck->of, U_NEVER - 1) < 0)
            continue;
        struct finding *finding = judging_find(run->judging, CLAIM_U_LOCAL, VERDICT_VIOLATION);
        message_text(channel->source, channel->destination, channel->comm, channel->tag,
                     sent->number, text);
        finding_say(finding, "%s was sent, and both live", text);
        finding_show(finding, sent->event);
        u_say_call(finding, stuck->call, channel->comm, "waits for it for ever");
        finding_decide_at_end(finding);
        return;
    }
}
