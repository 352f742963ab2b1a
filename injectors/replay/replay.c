/* See replay.h. The decisions hold, for each rank and incarnation, a section: the list of its
 * events in the run that is followed, in order. This file compares what the rank does now with that
 * list, event by event, and ends the run at the first difference (replay_diverge.c); what is
 * imposed on the rank at an event is in steer_*.c and replay_act.c.
 *
 * `cursor` is the next event. A call is compared twice: when it is entered, what it asks for
 * (step_on); when it returns, what came of it (check_outcome). In between it is in `progress`.
 * Notes and other instants are compared once. A call that never returned in the run that is
 * followed is marked incomplete: the rank stays in it until it is killed (replay_park), and its
 * record must show no outcome (hide_outcome).
 *
 * What made it hard is polls. How often a poll says "no" depends on time, so that the negative
 * answers between two other events are one *window*:
 *
 *     events:  Test no x3   Iprobe no x2   Recv from 2
 *
 * Test must say no three times and Iprobe twice, whatever has arrived by now; in which order does
 * not matter. The Recv may come only after all five (replay_window_rest). The answer must be known
 * before the library is asked (begin_poll): no, if the poll is in the window and still has to say
 * no; yes, if the window is followed by a poll of this kind that found something; "end", if the
 * rank was ended here in the run that is followed.
 *
 * Not all fields of a record are compared: some may differ, such as times. decision_shape_of says
 * which count.
 *
 * Cost: a constant number of steps for an event, and for a poll as many as its window has events.
 */
#include "base/regular_file.h"
#include "injectors/replay/replay_parts.h"
#include "stacks/snapshot.h"
#include "trace/event.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 16

struct replay replay;

const struct decision_shape *replay_shape(uint32_t event)
{
    return &replay.decisions.shape[replay.event[event].shape];
}

/* --- where the rank stands -------------------------------------------------------------------- */
/* The first event from `from` on that is no negative poll. */
static uint32_t replay_window_end(uint32_t from)
{
    while (from < replay.events && decision_is_negative(replay_shape(from)))
        from++;
    return from;
}

/* The first poll in the window that still has to say no; replay.events: none. */
static uint32_t replay_window_rest(void)
{
    for (uint32_t i = replay.cursor; i < replay.events && decision_is_negative(replay_shape(i));
         i++)
        if (replay.event[i].value > 0)
            return i;
    return replay.events;
}

bool replay_is_at_end(void)
{
    return replay.progress_count == replay.incomplete &&
           replay_window_end(replay.cursor) == replay.events &&
           replay_window_rest() == replay.events;
}

bool replay_ends_here(void)
{
    return replay.section == NULL || replay.section->end == DECISION_ENDED;
}

/* --- events ----------------------------------------------------------------------------------- */
static void add_progress(const struct record *r, uint32_t event)
{
    if (replay.progress_count == replay.progress_room) {
        uint32_t room = replay.progress_room > 0 ? 2 * replay.progress_room : 64;
        struct in_progress *grown = realloc(replay.progress, room * sizeof *grown);
        if (grown == NULL)
            replay_diverge("out of memory");
        replay.progress = grown;
        replay.progress_room = room;
    }
    replay.progress[replay.progress_count++] = (struct in_progress){r, event};
}

/* Its place in the list; progress_count: it is not there. */
static uint32_t find_progress(const struct record *r)
{
    for (uint32_t i = replay.progress_count; i > 0; i--)
        if (replay.progress[i - 1].record == r)
            return i - 1;
    return replay.progress_count;
}

static bool is_same(uint32_t event, const struct record *r, bool complete)
{
    struct decision_shape shape;
    if (event >= replay.events)
        return false;
    decision_shape_of(r, complete, &shape);
    bool numbered_later = shape.kind == RECORD_PROBE && !complete; /* the message that it finds */
    return decision_same_question(&shape, replay_shape(event)) &&
           (numbered_later || decision_request_of(r) == replay_request_at(event)) &&
           (!complete || decision_same_outcome(&shape, replay_shape(event)));
}

/* --- where it stands ---------------------------------------------------------------------------*/
/* Reads which events of this rank whoever asked for this run wants to see. */
static void read_wanted(const char *run_folder)
{
    char path[PATH_MAX], line[EVENT_TEXT_BYTES];
    struct event_ref event;
    FILE *file = NULL;
    if (snapshot_wanted_path(path, sizeof path, run_folder) && access(path, R_OK) == 0)
        file = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, NULL);
    while (file != NULL && replay.wanted_count < REPLAY_WANTED_MOST &&
           fgets(line, sizeof line, file) != NULL)
        if (event_parse(line, &event) > 0 && event.rank == replay.rank &&
            event.incarnation == replay.incarnation)
            replay.wanted[replay.wanted_count++] = (uint32_t)event.index;
    if (file != NULL)
        fclose(file);
}

static void take_if_wanted(uint32_t event)
{
    char path[PATH_MAX], what[NUMBER_BYTES];
    for (unsigned i = 0; i < replay.wanted_count; i++) {
        if (replay.wanted[i] != replay.event[event].index)
            continue;
        snprintf(what, sizeof what, "e%" PRIu32, replay.wanted[i]);
        if (snapshot_path(path, sizeof path, replay.run_folder, replay.rank, replay.incarnation,
                          what))
            snapshot_take(path);
    }
}

/* The next event is that of `r`. Returns its number. */
static uint32_t step_on(const struct record *r, bool complete)
{
    uint32_t rest = replay_window_rest(), event = replay_window_end(replay.cursor);
    if (event == replay.events && rest == replay.events && replay_ends_here())
        replay_park(); /* the record came too late to be left out: see I.complete of what is unknown
                        */
    if (rest != replay.events)
        replay_diverge_at(rest, r, complete);
    if (!is_same(event, r, complete))
        replay_diverge_at(event, r, complete);
    replay.cursor = event + 1;
    replay.begun++;
    if (replay.wanted_count > 0)
        take_if_wanted(event);
    return event;
}

/* Whether the record is looked for in the decisions at all. */
static bool counts(const struct record *r)
{
    bool without_store =
        replay.section != NULL && (replay.section->flags & SECTION_WITHOUT_STORE) != 0;
    return decision_is_event(r) &&
           !(without_store &&
             atomic_load_explicit(&r->kind, memory_order_relaxed) == RECORD_STORAGE);
}

static bool is_poll(const struct record *r)
{
    return r == &thread_state.poll[LEVEL_APP] || r == &thread_state.poll[LEVEL_WIRE];
}

static void offer_hold(uint32_t event)
{
    const struct decision_action *action = replay_take(FAULT_HELD, event);
    if (action != NULL)
        thread_state.steered = action->step + 1u;
}

/* Called after `before` of the same record. Like offer_hold, for the fault of a call on the store.
 */
static void storage(struct record *r, enum plan_event event, const char *file, bool is_after)
{
    (void)r;
    (void)event;
    (void)file;
    if (is_after || replay.progress_count == 0)
        return;
    const struct decision_action *action =
        replay_take(FAULT_STORAGE, replay.progress[replay.progress_count - 1].event);
    if (action != NULL)
        thread_state.steered = action->step + 1u;
}

/* --- calls on the store ----------------------------------------------------------------------- */
/* Waits until rank order->rank has made order->stored calls on the store. */
static void await_stored(const struct decision_order *order, const struct record *r)
{
    const struct board_slot *slot = &replay.board->slot[order->rank];
    uint64_t end = clock_monotonic_ns() + REPLAY_WAIT_MS * UINT64_C(1000000);
    char text[REPLAY_TEXT_BYTES];
    while (atomic_load(&slot->stored) < order->stored) {
        if (clock_monotonic_ns() > end)
            replay_diverge("event %u: waited %d s to make %s until rank %d had made %u calls on "
                           "the store, as it had then; it has made %u",
                           replay.event[order->event].index, REPLAY_WAIT_MS / 1000,
                           replay_text_of_record(r, false, text), order->rank, order->stored,
                           atomic_load(&slot->stored));
        replay_round();
        replay_idle();
    }
}

static void store_turn(const struct record *r)
{
    uint32_t event = replay_event(r);
    if (replay_never_returns(r) && replay.event[event].value == 0)
        replay_park(); /* the rank was ended before the file system was called */
    while (replay.next_order < replay.orders && replay.order[replay.next_order].event < event)
        replay.next_order++;
    while (event < replay.events && replay.next_order < replay.orders &&
           replay.order[replay.next_order].event == event)
        await_stored(&replay.order[replay.next_order++], r);
}

static void stored(const struct record *r)
{
    if (replay_event(r) < replay.events)
        atomic_fetch_add(&runtime_slot->stored, 1);
}

/* The rank ends by itself inside this call. It must not end when it sends or only posts something:
 * others may need that message. So only a call of the wire that waits or aborts counts. */
static bool ends_inside(const struct record *r)
{
    unsigned kind = atomic_load_explicit(&r->kind, memory_order_relaxed);
    return replay.section != NULL && replay.section->end == DECISION_BY_ITSELF &&
           replay_is_at_end() && r->level == LEVEL_WIRE &&
           (call_role(r->call) == ROLE_ABORT || kind == RECORD_RECV || kind == RECORD_PROBE ||
            kind == RECORD_COMPLETE);
}

static void begin_poll(const struct record *r);

static void before(struct record *r)
{
    if (is_poll(r)) {
        replay_carry_out();
        begin_poll(r);
        return;
    }
    if (!counts(r))
        return;
    uint32_t event = step_on(r, false);
    add_progress(r, event);
    if (replay_shape(event)->kind == RECORD_SEND && r->level == LEVEL_WIRE)
        offer_hold(event);
    replay_carry_out();
    if (ends_inside(r))
        replay_die_in_turn();
    if (atomic_load_explicit(&r->kind, memory_order_relaxed) != RECORD_STORAGE)
        replay_look_for_end(false); /* a call on the store is to take effect first */
}

/* Takes what the call came to out of its record: in the run that is followed the rank was ended
 * inside it, and the two traces must be the same. */
static void hide_outcome(struct record *r)
{
    switch (atomic_load_explicit(&r->kind, memory_order_relaxed)) {
    case RECORD_COMPLETE:
        r->comm = 0;
        /* fall through */
    case RECORD_RECV:
    case RECORD_PROBE:
        r->peer = 0;
        r->tag = 0;
        r->bytes = 0;
        r->hash = 0;
        r->flags &= (uint8_t) ~(FLAG_NO_HASH | FLAG_CANCELLED);
        break;
    case RECORD_COLLECTIVE:
        r->result_hash = 0;
        break;
    default:
        break;
    }
}

static void returned(struct record *r)
{
    uint32_t at = find_progress(r);
    if (at == replay.progress_count || !replay_ends_here() ||
        (replay_shape(replay.progress[at].event)->state & SHAPE_INCOMPLETE) == 0)
        return;
    hide_outcome(r);
    replay_park();
}

static void check_outcome(uint32_t event, const struct record *r)
{
    struct decision_shape shape;
    decision_shape_of(r, true, &shape);
    if ((replay_shape(event)->state & SHAPE_INCOMPLETE) == 0 &&
        !decision_same_outcome(&shape, replay_shape(event)))
        replay_diverge_at(event, r, true);
}

static void after(struct record *r)
{
    uint32_t at = find_progress(r);
    if (at == replay.progress_count)
        return;
    check_outcome(replay.progress[at].event, r);
    memmove(&replay.progress[at], &replay.progress[at + 1],
            (replay.progress_count - at - 1) * sizeof *replay.progress);
    replay.progress_count--;
    replay.completed++;
    replay_carry_out();
    replay_look_for_end(true);
}

static void instant(struct record *r, const char *name)
{
    (void)name;
    if (!counts(r))
        return;
    uint32_t event = step_on(r, true);
    replay.completed++;
    if (replay_shape(event)->kind == RECORD_SEND && r->level == LEVEL_WIRE)
        offer_hold(event);
    replay_carry_out();
    replay_look_for_end(true);
}

/* Gives the program the value that it drew here in the run that is followed. Where that run drew
 * nothing, the value stays as it is. */
static void drawn(void *data, size_t bytes)
{
    unsigned char then[NOTE_DRAWN_BYTES];
    uint32_t event = replay_window_end(replay.cursor);
    if (event >= replay.events || replay_shape(event)->kind != RECORD_NOTE ||
        replay_shape(event)->tag != NOTE_DRAWN || replay_shape(event)->bytes != bytes)
        return; /* its note diverges */
    memcpy(then, &replay_shape(event)->comm, 4);
    memcpy(then + 4, &replay_shape(event)->peer, 4);
    memcpy(then + 8, &replay.event[event].request, 4);
    memcpy(data, then, bytes);
}

/* --- polls ------------------------------------------------------------------------------------ */
/* An event of the window that this poll is and that has still to say no; replay.events: none. */
static uint32_t find_negative(const struct record *r)
{
    for (uint32_t i = replay.cursor; i < replay.events && decision_is_negative(replay_shape(i));
         i++)
        if (replay.event[i].value > 0 && is_same(i, r, false))
            return i;
    return replay.events;
}

/* The poll's own event. It comes after the events of the requests that the poll completes. */
static uint32_t find_positive(const struct record *r)
{
    uint32_t i = replay_window_end(replay.cursor);
    while (i < replay.events && replay_shape(i)->kind == RECORD_COMPLETE &&
           replay_shape(i)->level == r->level && replay_shape(i)->call == r->call &&
           !is_same(i, r, false))
        i++;
    return i;
}

static void begin_poll(const struct record *r)
{
    if (r->level != LEVEL_WIRE) {
        replay_look_for_end(true);
        return;
    }
    replay.answer = REPLAY_NO;
    replay.answer_event = find_negative(r);
    if (replay.answer_event != replay.events)
        return;
    if (replay_window_rest() == replay.events &&
        replay_window_end(replay.cursor) == replay.events && replay_ends_here()) {
        replay.answer = REPLAY_END;
        replay_look_for_end(
            true); /* does not return if calls around it are those that were in progress */
        if (replay.arrived)
            replay_park(); /* when the call around it was made */
        replay_diverge_at(replay.events, r, false);
    }
    replay.answer = REPLAY_YES;
    replay.answer_event = find_positive(r);
    if (!is_same(replay.answer_event, r, false))
        replay_diverge_at(replay_window_rest() != replay.events ? replay_window_rest()
                                                                : replay_window_end(replay.cursor),
                          r, false);
}

static int finds_none(const struct record *look)
{
    uint32_t event = counts(look) ? find_negative(look) : replay.events;
    return event < replay.events ? replay_shape(event)->error : 0;
}

static void polled(struct record *stored)
{
    rules_polled(stored);
    if (!(stored->flags & FLAG_NEGATIVE)) {
        step_on(stored, true);
        replay.completed++;
    } else {
        uint32_t event = find_negative(stored);
        if (event == replay.events)
            replay_diverge_at(replay_window_end(replay.cursor), stored, true);
        replay.event[event].value--;
    }
    replay_carry_out();
    replay_look_for_end(true);
}

/* --- for steering ----------------------------------------------------------------------------- */
uint32_t replay_event(const struct record *r)
{
    if (r == NULL || is_poll(r))
        return replay.answer_event;
    uint32_t at = find_progress(r);
    return at < replay.progress_count ? replay.progress[at].event : replay.events;
}

bool replay_source(const struct record *r, int32_t *peer, int32_t *tag)
{
    uint32_t event = replay_event(r);
    if (event >= replay.events)
        return false;
    const struct decision_shape *shape = replay_shape(event);
    bool later = r->request != 0 && shape->kind == RECORD_RECV && !(shape->flags & FLAG_MATCHED);
    if ((shape->state & SHAPE_INCOMPLETE) != 0 || shape->error != 0 || shape->peer < 0 ||
        decision_is_negative(shape) || (later && !(shape->state & SHAPE_RESOLVED)))
        return false;
    *peer = shape->peer;
    *tag = shape->tag;
    return true;
}

bool replay_never_returns(const struct record *r)
{
    uint32_t event = replay_event(r);
    return event < replay.events && replay_ends_here() &&
           (replay_shape(event)->state & SHAPE_INCOMPLETE) != 0;
}

bool replay_is_open_ended(const struct record *r)
{
    uint32_t event = replay_event(r);
    return event < replay.events && replay_shape(event)->kind == RECORD_RECV && r->request != 0 &&
           !(replay_shape(event)->state & SHAPE_RESOLVED);
}

enum replay_answer replay_answer(void)
{
    return replay.answer;
}

/* The requests that the call completes. Their events stand before the event of a poll, and after
 * that of a call that waits. */
unsigned replay_completed(const struct record *r, uint32_t *requests, unsigned room)
{
    uint32_t event = replay_event(r);
    unsigned count = 0;
    if (event >= replay.events)
        return 0;
    bool polls = r == NULL || is_poll(r);
    uint32_t i = polls ? replay_window_end(replay.cursor) : event + 1;
    const struct decision_shape *call = replay_shape(event);
    for (; i < replay.events && i != event; i++) {
        const struct decision_shape *shape = replay_shape(i);
        if (shape->kind != RECORD_COMPLETE || shape->level != call->level ||
            shape->call != call->call || decision_is_negative(shape))
            break;
        if (count < room)
            requests[count] = replay.event[i].request;
        count++;
    }
    return count;
}

void replay_note(const struct record *call)
{
    uint32_t event = replay_event(call);
    if (event >= replay.events)
        return;
    const struct decision_action *action = replay_take(FAULT_CHOSEN, event);
    if (action != NULL)
        rules_chosen(action->step, call, action->peer, action->error == 0);
    action = replay_take(FAULT_ANSWERED, event);
    if (action != NULL)
        rules_answered(action->step, call, action->peer, action->error == 0);
}

/* --- beginning -------------------------------------------------------------------------------- */
static void started(void)
{
    if (runtime_several_threads)
        replay_diverge(
            "the program asks for MPI_THREAD_MULTIPLE: what its threads do at once is not "
            "replayed; up to MPI_THREAD_SERIALIZED it is");
}

/* What comes after the step is done at its own place. */
static void finished(uint32_t step)
{
    rules_impose(step, false);
}

static const struct watcher as_then = {.before = before,
                                       .returned = returned,
                                       .after = after,
                                       .instant = instant,
                                       .polled = polled,
                                       .storage = storage,
                                       .store_turn = store_turn,
                                       .stored = stored,
                                       .finds_none = finds_none,
                                       .drawn = drawn,
                                       .started = started,
                                       .round = replay_round,
                                       .dies = replay_die_in_turn,
                                       .held = replay_held,
                                       .may_go = replay_may_go,
                                       .finished = finished};

void replay_open(const char *path, const struct plan *plan, struct board *board, int rank,
                 int incarnation, const char *run_folder)
{
    struct error error;
    replay.plan = plan;
    replay.board = board;
    replay.rank = rank;
    replay.incarnation = incarnation;
    replay.run_folder = run_folder;
    if (decisions_open(path, &replay.decisions, &error) != OK)
        replay_diverge("%s", error.text);
    replay.section = decisions_find(&replay.decisions, rank, incarnation);
    if (replay.section != NULL) {
        replay.event = replay.decisions.event + replay.section->first_event;
        replay.action = replay.decisions.action + replay.section->first_action;
        replay.events = replay.section->events;
        replay.actions = replay.section->actions;
        replay.order = replay.decisions.order + replay.section->first_order;
        replay.orders = replay.section->orders;
        replay.incomplete = replay.section->incomplete;
    }
    read_wanted(run_folder);
    watcher = &as_then;
    runtime_steering = runtime_carrying = true;
    runtime_watching = true;
    if (replay_steer != NULL)
        replay_steer();
    if (replay_is_at_end() && replay_ends_here())
        replay_arrive();
}
