/* Is what a rank does the event that a condition waits for? See rules.h. This is asked at each
 * call, so what does not change is found out once (rules_know), and rules_match compares in the
 * order of cost: numbers of the record, the board, the message's payload, the call stack.
 *
 * One call is looked at several times, before and after it, and once for each of its records; a
 * condition must hold only once:
 *
 *     MPI_Sendrecv:  before: send record, receive record     after: send record, receive record
 *     "call":        before: the send                        after: the receive  (stands_for_call)
 *
 * A receive or probe asks for a peer and a tag before it has found a message, and then has the
 * message's: the first are compared until the second are there (still_asks). */
#include "injectors/rules/rules_parts.h"

#include <fnmatch.h>
#include <string.h>

bool rules_is_wait(unsigned call)
{
    switch (call_role(call)) {
    case ROLE_WAIT:
    case ROLE_WAITALL:
    case ROLE_WAITANY:
    case ROLE_WAITSOME:
    case ROLE_TEST:
    case ROLE_TESTALL:
    case ROLE_TESTANY:
    case ROLE_TESTSOME:
        return true;
    default:
        return false;
    }
}

/* Sendrecv has two records: its send is published first, its receive completed last. */
static bool stands_for_call(const struct observation *observed)
{
    switch (call_role(observed->record->call)) {
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
    case ROLE_ISENDRECV:
    case ROLE_ISENDRECV_REPLACE:
        return observed->kind == (observed->moment == MOMENT_BEFORE ? RECORD_SEND : RECORD_RECV);
    default:
        return observed->record->call != CALL_NONE && observed->moment != MOMENT_INSTANT;
    }
}

/* Data has been handed over: a blocking receive that returned, or a receive that completed. */
static bool delivers(const struct observation *observed)
{
    const struct record *r = observed->record;
    if (observed->moment == MOMENT_BEFORE || r->peer < 0 || r->error != 0 ||
        (r->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) != 0)
        return false;
    if (observed->kind == RECORD_COMPLETE)
        return r->comm != 0; /* completions of sends name no communicator */
    if (observed->kind != RECORD_RECV)
        return false;
    switch (call_role(r->call)) {
    case ROLE_RECV:
    case ROLE_MRECV:
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
        return true;
    default:
        return false;
    }
}

static bool is_event(enum plan_event event, const struct observation *observed)
{
    const struct record *r = observed->record;
    if (observed->stored != EVENT_NONE)
        return event == observed->stored;
    switch (event) {
    case EVENT_SEND:
        return observed->kind == RECORD_SEND;
    case EVENT_RECV:
        return observed->kind == RECORD_RECV;
    case EVENT_DELIVER:
        return delivers(observed);
    case EVENT_WAIT:
        return rules_is_wait(r->call) && observed->moment != MOMENT_INSTANT;
    case EVENT_PROBE:
        return observed->kind == RECORD_PROBE;
    case EVENT_COLLECTIVE:
        return observed->kind == RECORD_COLLECTIVE;
    case EVENT_CALL:
        return stands_for_call(observed);
    default:
        return observed->kind == RECORD_NOTE && plan_note_of_event(event) != NOTE_NONE &&
               r->tag == (int32_t)plan_note_of_event(event);
    }
}

/* A receive or probe asks for a peer and tag first, and finds one later. */
static bool still_asks(const struct observation *observed, enum plan_event event)
{
    const struct record *r = observed->record;
    if (observed->kind == RECORD_RECV)
        return event != EVENT_DELIVER;
    if (observed->kind == RECORD_PROBE)
        return atomic_load_explicit(&r->leave, memory_order_relaxed) == 0 ||
               (r->flags & FLAG_NEGATIVE) != 0;
    return false;
}

static bool is_position(const struct plan_condition *condition, enum moment moment)
{
    if (moment == MOMENT_INSTANT || condition->event == EVENT_DELIVER)
        return true;
    return (condition->position == POSITION_AFTER) == (moment == MOMENT_AFTER);
}

static bool is_value(int32_t asked, int32_t found)
{
    return asked == PLAN_ANY || asked == found;
}

static bool has_fields_of_note(const struct plan_condition *condition,
                               const struct observation *observed)
{
    const struct record *r = observed->record;
    return (condition->epoch < 0 || (uint64_t)condition->epoch == r->bytes) &&
           (condition->name[0] == '\0' ||
            (observed->name != NULL && strcmp(condition->name, observed->name) == 0)) &&
           is_value(condition->peer, r->peer) && is_value(condition->tag, (int32_t)r->request) &&
           (condition->comm == 0 || condition->comm == r->comm);
}

static bool has_fields(const struct plan_condition *condition, const struct observation *observed)
{
    const struct record *r = observed->record;
    if (observed->stored != EVENT_NONE)
        return condition->file[0] == '\0' || fnmatch(condition->file, observed->file, 0) == 0;
    if (observed->kind == RECORD_NOTE)
        return has_fields_of_note(condition, observed);
    bool asked = still_asks(observed, condition->event);
    return is_value(condition->peer, asked ? r->want_peer : r->peer) &&
           is_value(condition->tag, asked ? r->want_tag : r->tag) &&
           (condition->comm == 0 || condition->comm == r->comm) && condition->level == r->level;
}

/* --- messages of the protocol ----------------------------------------------------------------- */
static bool is_on_comm(struct known *known, const struct record *r)
{
    const struct message_pattern *wire = known->wire;
    if (wire->comm_nth == 0)
        return wire->comm == 0 || wire->comm == r->comm;
    if (known->wire_comm == 0 && tap_communicator_from_world != NULL)
        known->wire_comm = tap_communicator_from_world(wire->comm_nth);
    return known->wire_comm != 0 && known->wire_comm == r->comm;
}

static bool has_number(const struct record *r, int32_t offset, unsigned bytes, uint64_t number)
{
    uint64_t found;
    return tap_payload_peek != NULL && tap_payload_peek(r, (uint64_t)offset, bytes, &found) &&
           found == number;
}

static bool is_message(const struct plan_condition *condition, struct known *known,
                       const struct record *r)
{
    const struct message_pattern *wire = known->wire;
    if (wire == NULL)
        return condition->epoch < 0 ||
               atomic_load_explicit(&r->kind, memory_order_relaxed) == RECORD_NOTE;
    return is_value(wire->tag, r->tag) && is_on_comm(known, r) &&
           (wire->key_at < 0 || has_number(r, wire->key_at, wire->key_bytes, wire->key)) &&
           (condition->epoch < 0 ||
            (wire->epoch_at >= 0 &&
             has_number(r, wire->epoch_at, wire->epoch_bytes, (uint64_t)condition->epoch)));
}

bool rules_knows_carriers(void)
{
    for (size_t i = 0; i < rules.plan->wires; i++)
        if (rules.plan->wire[i].carries)
            return true;
    return false;
}

bool rules_is_carrier(const struct record *r)
{
    const struct plan_condition any = {.epoch = -1};
    for (size_t i = 0; i < rules.plan->wires; i++) {
        struct known known = {.wire = &rules.plan->wire[i]};
        if (known.wire->carries && is_message(&any, &known, r))
            return true;
    }
    return false;
}

/* --- the whole -------------------------------------------------------------------------------- */
bool rules_match(const struct plan_condition *condition, struct known *known,
                 const struct observation *observed)
{
    return known->ours && !known->impossible && condition->event != EVENT_NONE &&
           (known->call == CALL_NONE || known->call == observed->record->call) &&
           is_position(condition, observed->moment) && is_event(condition->event, observed) &&
           has_fields(condition, observed) &&
           progress_states_hold(rules.board, condition, rules.rank) &&
           is_message(condition, known, observed->record) &&
           (known->within < 0 || rules_within(known->within));
}

static const struct message_pattern *find_wire(const char *name)
{
    for (size_t i = 0; i < rules.plan->wires; i++)
        if (strcmp(rules.plan->wire[i].name, name) == 0)
            return &rules.plan->wire[i];
    return NULL;
}

void rules_know(struct known *known, const struct plan_condition *condition)
{
    *known = (struct known){.within = -1};
    known->ours =
        (condition->rank == PLAN_ANY || condition->rank == rules.rank ||
         condition->event == EVENT_NONE) &&
        (condition->incarnation == PLAN_ANY || condition->incarnation == rules.incarnation);
    if (condition->call[0] != '\0') {
        known->call = call_from_name(condition->call);
        known->impossible = known->call == CALL_NONE;
    }
    if (condition->message[0] != '\0') {
        known->wire = find_wire(condition->message);
        known->impossible |= known->wire == NULL;
    }
    if (condition->within[0] != '\0' && known->ours) {
        known->within = rules_within_find(condition->within);
        known->impossible |= known->within < 0;
    }
}
