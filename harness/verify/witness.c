/* See witness.h and shown.h: the events of a witness, and what the families ask of them. */
#include "verify/shown.h"

#include <string.h>

struct at shown_note(const struct shown *shown, enum note_kind kind, size_t nth)
{
    for (size_t i = 0; i < shown->count; i++)
        if (at_is_note(shown->event[i], kind, 0) && nth-- == 0)
            return shown->event[i];
    return (struct at){0};
}

bool any_two(const struct shown *shown,
             bool (*stand)(const struct shown *shown, struct at a, struct at b))
{
    for (size_t i = 0; i < shown->count; i++)
        for (size_t k = 0; k < shown->count; k++)
            if (i != k && stand(shown, shown->event[i], shown->event[k]))
                return true;
    return false;
}

bool shows_inside(const struct shown *shown, struct at call, enum record_kind kind)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].record->kind == kind && shown->event[i].record->level == LEVEL_WIRE &&
            at_inside(shown->event[i], call))
            return true;
    return false;
}

bool differs(const struct shown *shown, struct at at, int incarnation)
{
    if (at.record == NULL || ranks_move(shown->traces))
        return at.record != NULL;
    struct message message = message_of_ranks(shown->traces, at);
    struct walk sent = walk_of(shown->traces, &message, incarnation, false);
    struct walk got = walk_of(shown->traces, &message, incarnation, true);
    bool more = at.record->kind == RECORD_SEND ? walk_count(sent) > walk_count(got)
                                               : walk_count_sure(got) > walk_count(sent) ||
                                                     walk_count_all(got) > walk_count_all(sent);
    if (more)
        return true;
    while (walk_next(&sent) && walk_next(&got) && got.at.record->kind == RECORD_RECV)
        if (!same_bytes(sent.at.record, got.at.record))
            return true;
    return false;
}

static const struct verifier {
    const char *claim; /* its id */
    bool (*shows)(const struct shown *shown);
} verifiers[] = {
#define CLAIM(NAME, id, text, source, needs, verifier, ...) {id, shows_##verifier},
#include "oracles/claims.def"
};

static const struct verifier *verifier_of(const char *claim)
{
    for (size_t i = 0; i < sizeof verifiers / sizeof verifiers[0]; i++)
        if (strcmp(verifiers[i].claim, claim) == 0)
            return &verifiers[i];
    return NULL;
}

bool shows_nothing(const struct shown *shown)
{
    (void)shown;
    return false;
}

bool witness_holds(const struct witness *witness)
{
    const struct verifier *verifier = verifier_of(witness->claim);
    struct shown shown = {.witness = witness,
                          .traces = witness->traces,
                          .lives = witness->traces->incarnations,
                          .count = witness->count};
    for (size_t i = witness->count; i-- > 0;) {
        const struct witness_event *event = &witness->event[i];
        const struct trace *trace =
            trace_set_find(witness->traces, event->rank, event->incarnation);
        if (trace == NULL || event->index >= trace->count)
            return false;
        struct at at = shown.event[i] =
            (struct at){trace, event->index, &trace->record[event->index]};
        if (at_is_helpers(witness->traces, at))
            continue;
        if (at_is_sent(at)) {
            shown.sent = at;
            shown.sent_last = shown.sent_last.record != NULL ? shown.sent_last : at;
        } else if (at_is_got(at)) {
            shown.got = at;
            shown.got_last = shown.got_last.record != NULL ? shown.got_last : at;
        } else if (at.record->kind == RECORD_STORAGE) {
            shown.written = at;
        }
    }
    shown.pair = is_pair(shown.traces, shown.sent, shown.got);
    shown.restored = shown_note(&shown, NOTE_RESTORED, 0);
    shown.commit = shown_note(&shown, NOTE_COMMIT, 0);
    shown.checkpoint = shown_note(&shown, NOTE_CHECKPOINT, 0);
    if (shown.pair) {
        shown.sent_in = at_newest(shown.sent, NOTE_CHECKPOINT);
        shown.got_in = at_newest(shown.got, NOTE_CHECKPOINT);
    }
    return verifier != NULL && verifier->shows(&shown);
}
