/* H.collective: every member takes part in the same collectives, in the same order, and gets what
 * MPI promises. */
#include "oracles/history_claims/message_pass.h"

#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_BYTES 48
#define RANKS_BYTES 96

static const char *communicator_text(uint32_t comm, char buffer[NAME_BYTES])
{
    if (comm == COMM_WORLD_ID)
        snprintf(buffer, NAME_BYTES, "MPI_COMM_WORLD");
    else
        snprintf(buffer, NAME_BYTES, "communicator %#" PRIx32, comm);
    return buffer;
}

void collective_complete(void *context, const struct instance *instance)
{
    struct passage *passage = context;
    judging_saw(passage->judging, CLAIM_H_COLLECTIVE,
                passage_counts(passage, instance->first.event));
}

static void say_part(const struct passage *passage, struct finding *finding,
                     const struct contribution *part, const char *what)
{
    char event[EVENT_TEXT_BYTES];
    finding_say(finding, "rank %d %s: %s", histories_rank(passage->histories, part->event), what,
                event_text(part->event, event));
    finding_show(finding, part->event);
}

static void say_difference(const struct passage *passage, struct finding *finding,
                           enum discord discord, const struct contribution *part)
{
    char what[128];
    if (discord == DISCORD_OPERATION)
        snprintf(what, sizeof what, "calls %s", call_name(part->call));
    else if (discord == DISCORD_ROOT)
        snprintf(what, sizeof what, "calls %s with root %" PRId32, call_name(part->call),
                 part->root);
    else if (discord == DISCORD_SIZE)
        snprintf(what, sizeof what, "calls %s with %" PRIu64 " bytes", call_name(part->call),
                 part->bytes);
    else
        snprintf(what, sizeof what, "gets a result of %s", call_name(part->call));
    say_part(passage, finding, part, what);
}

static void report_difference(struct passage *passage, enum discord discord,
                              const struct instance *instance, const struct contribution *with,
                              const struct contribution *against)
{
    static const char *const differs[] = {[DISCORD_OPERATION] = "operations",
                                          [DISCORD_ROOT] = "roots",
                                          [DISCORD_SIZE] = "sizes",
                                          [DISCORD_RESULT] = "results"};
    char name[NAME_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_COLLECTIVE, VERDICT_VIOLATION);
    say_difference(passage, finding, discord, against);
    say_difference(passage, finding, discord, with);
    finding_say(finding,
                "both are collective number %" PRIu64 " of their rank on %s, so their %s "
                "must be the same",
                instance->number, communicator_text(instance->gathering->comm, name),
                differs[discord]);
}

/* Members that have not come to instance `number`, though they live on, or others in their place;
 * first *who of them. */
static unsigned list_missing(const struct lives *lives, const struct instance *instance,
                             char text[RANKS_BYTES], int *who)
{
    const struct gathering *gathering = instance->gathering;
    unsigned count = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int rank = 0; rank < lives->ranks; rank++) {
        if (!gathering->member[rank] || gathering->joined[rank] >= instance->number ||
            lives_left_undone(lives, rank, gathering->comm))
            continue;
        if (count++ == 0)
            *who = rank;
        if (used + 16 < RANKS_BYTES)
            used +=
                (size_t)snprintf(text + used, RANKS_BYTES - used, "%s%d", used ? ", " : "", rank);
    }
    return count;
}

static void report_missing(struct passage *passage, const struct instance *instance)
{
    char name[NAME_BYTES], ranks[RANKS_BYTES], event[EVENT_TEXT_BYTES];
    const struct gathering *gathering = instance->gathering;
    if (!passage->pass->newest || passage->judging->facts->end != RUN_FINISHED)
        return; /* they may still have come */
    int who = 0;
    unsigned missing = list_missing(passage->histories->lives, instance, ranks, &who);
    if (missing == 0)
        return;
    struct finding *finding = judging_find(passage->judging, CLAIM_H_COLLECTIVE, VERDICT_VIOLATION);
    finding_say(finding, "collective number %" PRIu64 " on %s is %s: %s", instance->number,
                communicator_text(gathering->comm, name), call_name(instance->first.call),
                event_text(instance->first.event, event));
    for (unsigned i = 0; i < instance->joined && i < COLLECTIVE_NAMED; i++)
        finding_show(finding, instance->named[i]);
    finding_decide_at_end(finding);
    finding_say(finding, "%s %s of its %u members never called it, though the run finished",
                missing == 1 ? "rank" : "ranks", ranks, gathering->size);
    if (gathering->joined[who] > 0) {
        finding_say(finding, "the last collective of rank %d there is number %" PRIu64 ": %s", who,
                    gathering->joined[who], event_text(gathering->newest[who], event));
        finding_show(finding, gathering->newest[who]);
    }
}

void collective_discord(void *context, enum discord discord, const struct instance *instance,
                        const struct contribution *with, const struct contribution *against)
{
    struct passage *passage = context;
    if (discord == DISCORD_MISSING)
        report_missing(passage, instance);
    else if (passage_tells(passage, TOLD_COLLECTIVE, with->event))
        report_difference(passage, discord, instance, with, against);
}
