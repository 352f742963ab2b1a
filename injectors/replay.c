/* See replay.h. */
#include "injectors/replay.h"

#include "injectors/rules_parts.h"
#include "replay/decisions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 512
#define EVENT_TEXT_BYTES 160
#define IDLE_NS 20000
#define HELD_MOST 4096

bool replay_imposing;

/* A call in progress: its record here, its event there. */
struct in_progress {
    const struct record *record;
    uint32_t event;
};

struct held {
    uint32_t step, number, event;
};

/* Events and actions count from 0 in the section of this rank and incarnation. */
static struct replay {
    struct decisions decisions;
    const struct decision_section *section; /* NULL: the rank left nothing there */
    struct decision_event *event; /* `value` of a negative poll: how often it still says no */
    struct decision_action *action;
    uint32_t events, actions, incomplete;
    const struct plan *plan;
    struct board *board;
    int rank;
    int incarnation;
    const char *run_folder;

    uint32_t cursor;           /* of the window in which the rank is, or the event that comes */
    uint32_t begun, completed; /* negative polls left out */
    uint32_t next_action;
    struct in_progress *progress; /* owned */
    uint32_t progress_count, progress_room;
    struct held held[HELD_MOST];
    uint32_t held_count;
    bool arrived;
    bool dying;                         /* the kills of `kill` are carried out */
    uint64_t kill[PLAN_MAX_STEPS / 64]; /* steps to be carried out when all have arrived */
    bool kills;
    enum replay_answer answer; /* of the wire poll in progress */
    uint32_t answer_event;     /* which it is */
} self;

/* --- the end of a replay ---------------------------------------------------------------------- */
/* The first rank that diverges tells; what others see afterwards follows from that. */
_Noreturn __attribute__((format(printf, 1, 2))) static void diverge(const char *format, ...)
{
    char path[PATH_MAX], text[TEXT_BYTES];
    int length = snprintf(text, sizeof text, "r%d#%d: ", self.rank, self.incarnation);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text)
        length = (int)sizeof text - 1;
    int file = -1;
    if (snprintf(path, sizeof path, "%s/" DIVERGENCE_FILE, self.run_folder) < (int)sizeof path)
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
        ssize_t written = write(file, text, (size_t)length);
        (void)written; /* the exit code says it too */
        close(file);
    }
    fprintf(stderr, "faultline: the replay diverges: %s\n", text);
    _exit(REPLAY_EXIT_DIVERGED);
}

static const struct decision_shape *shape_of(uint32_t event)
{
    return &self.decisions.shape[self.event[event].shape];
}

static const char *text_of(uint32_t event, char text[EVENT_TEXT_BYTES])
{
    decision_text(shape_of(event), self.event[event].request, text, EVENT_TEXT_BYTES);
    return text;
}

static const char *text_of_record(const struct record *r, bool complete,
                                  char text[EVENT_TEXT_BYTES])
{
    struct decision_shape shape;
    decision_shape_of(r, complete, &shape);
    decision_text(&shape, decision_request_of(r), text, EVENT_TEXT_BYTES);
    return text;
}

_Noreturn static void diverge_at(uint32_t event, const struct record *r, bool complete)
{
    char expected[EVENT_TEXT_BYTES], got[EVENT_TEXT_BYTES];
    text_of_record(r, complete, got);
    if (event >= self.events)
        diverge("expected nothing more, for the rank was ended here; got %s", got);
    diverge("event %u: expected %s%s; got %s", self.event[event].index, text_of(event, expected),
            decision_is_negative(shape_of(event)) ? " once more" : "", got);
}

_Noreturn void replay_gave_up(const struct record *r)
{
    char got[EVENT_TEXT_BYTES];
    diverge("waited %d s in %s for what it came to then", REPLAY_WAIT_MS / 1000,
            text_of_record(r, false, got));
}

/* --- where the rank stands -------------------------------------------------------------------- */
/* The first event from `from` on that is no negative poll. */
static uint32_t window_end(uint32_t from)
{
    while (from < self.events && decision_is_negative(shape_of(from)))
        from++;
    return from;
}

/* A poll in the window that has still to say no; self.events: none. */
static uint32_t window_rest(void)
{
    for (uint32_t i = self.cursor; i < self.events && decision_is_negative(shape_of(i)); i++)
        if (self.event[i].value > 0)
            return i;
    return self.events;
}

/* Everything is done that was done, and what was in progress at the end is. */
static bool is_at_end(void)
{
    return self.progress_count == self.incomplete && window_end(self.cursor) == self.events &&
           window_rest() == self.events;
}

static bool ends_here(void)
{
    return self.section == NULL || self.section->end == DECISION_ENDED;
}

/* --- arriving --------------------------------------------------------------------------------- */
static bool have_all_arrived(void)
{
    for (int rank = 0; rank < self.board->ranks; rank++) {
        const struct board_slot *slot = &self.board->slot[rank];
        if (rank != self.rank && atomic_load(&slot->arrived) == 0 &&
            atomic_load(&slot->ended) == 0 && atomic_load(&slot->state) != RANK_FINALIZED)
            return false;
    }
    return true;
}

static void arrive(void)
{
    self.arrived = true;
    atomic_store(&runtime_slot->arrived, 1);
}

/* Kills of this rank's steps are carried out when everybody is where it is to be. */
static void kill_when_all_arrived(void)
{
    if (!self.kills || !self.arrived || self.dying || !have_all_arrived())
        return;
    bool itself = false;
    self.dying = true;
    for (uint32_t step = 0; step < self.plan->count; step++)
        if ((self.kill[step / 64] >> step % 64 & 1) != 0)
            itself |= rules_impose_kill(step);
    if (itself)
        rules_die();
}

static void idle(void)
{
    if (steer_idle != NULL)
        steer_idle();
    nanosleep(&(struct timespec){0, IDLE_NS}, NULL);
}

static _Noreturn void park(void)
{
    arrive();
    for (;;) {
        kill_when_all_arrived();
        idle();
    }
}

void replay_die_in_turn(void)
{
    uint64_t end = clock_monotonic_ns() + REPLAY_WAIT_MS * UINT64_C(1000000);
    if (self.dying)
        return;
    arrive();
    while (!have_all_arrived()) {
        if (clock_monotonic_ns() > end)
            diverge("the other ranks do not come to where they were when this one ended");
        idle();
    }
}

/* Behind every step: has the rank come to its end? `stays`: it is not inside a call that has still
 * to be done. */
static void look_for_end(bool stays)
{
    if (self.arrived || !is_at_end())
        return;
    if (ends_here() && stays)
        park();
    if (ends_here())
        arrive();
    else if (self.section->end == DECISION_BY_ITSELF && stays)
        replay_die_in_turn();
}

/* --- what is done to the run ------------------------------------------------------------------ */
static bool is_due(const struct decision_action *action)
{
    return action->begun <= self.begun && action->completed <= self.completed;
}

/* The reason for which the victims of a stop went on then. */
static enum board_release why_continued(uint32_t step)
{
    for (uint32_t i = 0; i < self.decisions.header->actions; i++) {
        const struct decision_action *action = &self.decisions.action[i];
        if (action->kind == FAULT_CONTINUED && action->step == step)
            return (enum board_release)action->number;
    }
    return RELEASED_BY_CONDITION;
}

/* A step that looks at what a rank does kills at that place, and the call is not made; one that
 * looks at states killed while the call was being made. */
static bool kills_at_once(const struct decision_action *action)
{
    const struct plan_step *step = &self.plan->steps[action->step];
    return action->kind == FAULT_KILL && rules_is_victim(step, self.rank) &&
           step->when.event != EVENT_NONE;
}

static void carry_out(const struct decision_action *action)
{
    uint32_t step = action->step;
    if (step >= self.plan->count)
        diverge("step %u is done, and the plan has %zu", step + 1, self.plan->count);
    switch (action->kind) {
    case FAULT_KILL:
    case FAULT_KILL_INSIDE:
        rules_impose(step, action->kind == FAULT_KILL_INSIDE);
        self.kill[step / 64] |= UINT64_C(1) << step % 64;
        self.kills = true;
        if (kills_at_once(action))
            park();
        break;
    case FAULT_STOPPED:
        rules_impose(step, false);
        progress_let_go(self.board, step, why_continued(step));
        break;
    case FAULT_AWAITED:
        rules_impose(step, false);
        break;
    default: /* belongs to a call, which takes it */
        break;
    }
}

static void carry_out_due(void)
{
    while (self.next_action < self.actions && is_due(&self.action[self.next_action]))
        carry_out(&self.action[self.next_action++]);
    rules_note_continued();
}

/* An action of this kind that belongs to the event and was not taken yet; NULL: none. */
static struct decision_action *find_action(enum fault_kind kind, uint32_t event)
{
    for (uint32_t i = 0; i < self.actions; i++)
        if (self.action[i].kind == kind && self.action[i].event == event)
            return &self.action[i];
    return NULL;
}

/* Each is taken once. */
static struct decision_action *take_action(enum fault_kind kind, uint32_t event)
{
    struct decision_action *action = find_action(kind, event);
    if (action != NULL)
        action->event = DECISION_NO_EVENT;
    return action;
}

/* --- events ----------------------------------------------------------------------------------- */
static void add_progress(const struct record *r, uint32_t event)
{
    if (self.progress_count == self.progress_room) {
        uint32_t room = self.progress_room > 0 ? 2 * self.progress_room : 64;
        struct in_progress *grown = realloc(self.progress, room * sizeof *grown);
        if (grown == NULL)
            diverge("out of memory");
        self.progress = grown;
        self.progress_room = room;
    }
    self.progress[self.progress_count++] = (struct in_progress){r, event};
}

/* Its place in the list; progress_count: it is not there. */
static uint32_t find_progress(const struct record *r)
{
    for (uint32_t i = self.progress_count; i > 0; i--)
        if (self.progress[i - 1].record == r)
            return i - 1;
    return self.progress_count;
}

static bool is_same(uint32_t event, const struct record *r, bool complete)
{
    struct decision_shape shape;
    if (event >= self.events)
        return false;
    decision_shape_of(r, complete, &shape);
    bool numbered_later = shape.kind == RECORD_PROBE && !complete; /* the message that it finds */
    return decision_same_question(&shape, shape_of(event)) &&
           (numbered_later || decision_request_of(r) == self.event[event].request) &&
           (!complete || decision_same_outcome(&shape, shape_of(event)));
}

/* The next event is that of `r`. Returns its number. */
static uint32_t step_on(const struct record *r, bool complete)
{
    uint32_t rest = window_rest(), event = window_end(self.cursor);
    if (event == self.events && rest == self.events && ends_here())
        park(); /* the record came too late to be left out: see I.complete of what is unknown */
    if (rest != self.events)
        diverge_at(rest, r, complete);
    if (!is_same(event, r, complete))
        diverge_at(event, r, complete);
    self.cursor = event + 1;
    self.begun++;
    return event;
}

static bool is_poll(const struct record *r)
{
    return r == &thread_state.poll[LEVEL_APP] || r == &thread_state.poll[LEVEL_WIRE];
}

static void offer_hold(uint32_t event)
{
    const struct decision_action *action = take_action(FAULT_HELD, event);
    if (action != NULL)
        thread_state.steered = action->step + 1u;
}

void replay_storage(void)
{
    if (self.progress_count == 0)
        return;
    const struct decision_action *action =
        take_action(FAULT_STORAGE, self.progress[self.progress_count - 1].event);
    if (action != NULL)
        thread_state.steered = action->step + 1u;
}

/* The rank is to end by itself inside this call. What it sends others may need before that. */
static bool ends_inside(const struct record *r)
{
    unsigned kind = atomic_load_explicit(&r->kind, memory_order_relaxed);
    return self.section != NULL && self.section->end == DECISION_BY_ITSELF && is_at_end() &&
           r->level == LEVEL_WIRE &&
           (call_role(r->call) == ROLE_ABORT || kind == RECORD_RECV || kind == RECORD_PROBE ||
            kind == RECORD_COMPLETE);
}

static void begin_poll(const struct record *r);

void replay_before(struct record *r)
{
    if (is_poll(r)) {
        carry_out_due();
        begin_poll(r);
        return;
    }
    if (!decision_is_event(r))
        return;
    uint32_t event = step_on(r, false);
    add_progress(r, event);
    if (shape_of(event)->kind == RECORD_SEND && r->level == LEVEL_WIRE)
        offer_hold(event);
    carry_out_due();
    if (ends_inside(r))
        replay_die_in_turn();
    look_for_end(false);
}

/* A call that was in progress when its rank was ended shows nothing of what it came to. */
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

void replay_returned(struct record *r)
{
    uint32_t at = find_progress(r);
    if (at == self.progress_count || !ends_here() ||
        (shape_of(self.progress[at].event)->state & SHAPE_INCOMPLETE) == 0)
        return;
    hide_outcome(r);
    park();
}

static void check_outcome(uint32_t event, const struct record *r)
{
    struct decision_shape shape;
    decision_shape_of(r, true, &shape);
    if ((shape_of(event)->state & SHAPE_INCOMPLETE) == 0 &&
        !decision_same_outcome(&shape, shape_of(event)))
        diverge_at(event, r, true);
}

void replay_after(const struct record *r)
{
    uint32_t at = find_progress(r);
    if (at == self.progress_count)
        return;
    check_outcome(self.progress[at].event, r);
    memmove(&self.progress[at], &self.progress[at + 1],
            (self.progress_count - at - 1) * sizeof *self.progress);
    self.progress_count--;
    self.completed++;
    carry_out_due();
    look_for_end(true);
}

void replay_instant(const struct record *r)
{
    if (!decision_is_event(r))
        return;
    uint32_t event = step_on(r, true);
    self.completed++;
    if (shape_of(event)->kind == RECORD_SEND && r->level == LEVEL_WIRE)
        offer_hold(event);
    carry_out_due();
    look_for_end(true);
}

void replay_draw(void *data, size_t bytes)
{
    unsigned char drawn[NOTE_DRAWN_BYTES];
    uint32_t event = window_end(self.cursor);
    if (event >= self.events || shape_of(event)->kind != RECORD_NOTE ||
        shape_of(event)->tag != NOTE_DRAWN || shape_of(event)->bytes != bytes)
        return; /* its note diverges */
    memcpy(drawn, &shape_of(event)->comm, 4);
    memcpy(drawn + 4, &shape_of(event)->peer, 4);
    memcpy(drawn + 8, &self.event[event].request, 4);
    memcpy(data, drawn, bytes);
}

/* --- polls ------------------------------------------------------------------------------------ */
/* An event of the window that this poll is and that has still to say no; self.events: none. */
static uint32_t find_negative(const struct record *r)
{
    for (uint32_t i = self.cursor; i < self.events && decision_is_negative(shape_of(i)); i++)
        if (self.event[i].value > 0 && is_same(i, r, false))
            return i;
    return self.events;
}

/* The poll's own event, behind those of the requests that it completes. */
static uint32_t find_positive(const struct record *r)
{
    uint32_t i = window_end(self.cursor);
    while (i < self.events && shape_of(i)->kind == RECORD_COMPLETE &&
           shape_of(i)->level == r->level && shape_of(i)->call == r->call && !is_same(i, r, false))
        i++;
    return i;
}

static void begin_poll(const struct record *r)
{
    if (r->level != LEVEL_WIRE) {
        look_for_end(true);
        return;
    }
    self.answer = REPLAY_NO;
    self.answer_event = find_negative(r);
    if (self.answer_event != self.events)
        return;
    if (window_rest() == self.events && window_end(self.cursor) == self.events && ends_here()) {
        self.answer = REPLAY_END;
        look_for_end(true); /* does not return if calls around it are those that were in progress */
        diverge_at(self.events, r, false);
    }
    self.answer = REPLAY_YES;
    self.answer_event = find_positive(r);
    if (!is_same(self.answer_event, r, false))
        diverge_at(window_rest() != self.events ? window_rest() : window_end(self.cursor), r,
                   false);
}

void replay_polled(const struct record *stored)
{
    if (!(stored->flags & FLAG_NEGATIVE)) {
        step_on(stored, true);
        self.completed++;
    } else {
        uint32_t event = find_negative(stored);
        if (event == self.events)
            diverge_at(window_end(self.cursor), stored, true);
        self.event[event].value--;
    }
    carry_out_due();
    look_for_end(true);
}

/* --- for steering ----------------------------------------------------------------------------- */
static uint32_t event_in_progress(const struct record *r)
{
    if (r == NULL || is_poll(r))
        return self.answer_event;
    uint32_t at = find_progress(r);
    return at < self.progress_count ? self.progress[at].event : self.events;
}

bool replay_source(const struct record *r, int32_t *peer, int32_t *tag)
{
    uint32_t event = event_in_progress(r);
    if (event >= self.events)
        return false;
    const struct decision_shape *shape = shape_of(event);
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
    uint32_t event = event_in_progress(r);
    return event < self.events && ends_here() && (shape_of(event)->state & SHAPE_INCOMPLETE) != 0;
}

bool replay_is_open_ended(const struct record *r)
{
    uint32_t event = event_in_progress(r);
    return event < self.events && shape_of(event)->kind == RECORD_RECV && r->request != 0 &&
           !(shape_of(event)->state & SHAPE_RESOLVED);
}

enum replay_answer replay_answer(void)
{
    return self.answer;
}

/* Of a poll they stand before its event, of a call that waits behind it. */
unsigned replay_completed(const struct record *r, uint32_t *requests, unsigned room)
{
    uint32_t event = event_in_progress(r);
    unsigned count = 0;
    if (event >= self.events)
        return 0;
    bool polls = r == NULL || is_poll(r);
    uint32_t i = polls ? window_end(self.cursor) : event + 1;
    const struct decision_shape *call = shape_of(event);
    for (; i < self.events && i != event; i++) {
        const struct decision_shape *shape = shape_of(i);
        if (shape->kind != RECORD_COMPLETE || shape->level != call->level ||
            shape->call != call->call || decision_is_negative(shape))
            break;
        if (count < room)
            requests[count] = self.event[i].request;
        count++;
    }
    return count;
}

void replay_tell(const struct record *call)
{
    uint32_t event = event_in_progress(call);
    if (event >= self.events)
        return;
    const struct decision_action *action = take_action(FAULT_CHOSEN, event);
    if (action != NULL)
        rules_chosen(action->step, call, action->peer, action->error == 0);
    action = take_action(FAULT_ANSWERED, event);
    if (action != NULL)
        rules_answered(action->step, call, action->peer, action->error == 0);
}

void replay_round(void)
{
    carry_out_due();
    kill_when_all_arrived();
}

/* --- holds ------------------------------------------------------------------------------------ */
void replay_held(uint32_t step, uint32_t number, const struct record *send)
{
    uint32_t event = event_in_progress(send);
    if (event >= self.events && self.cursor > 0)
        event = self.cursor - 1; /* of MPI_Startall: recorded before it is passed on */
    if (self.held_count == HELD_MOST)
        diverge("more than %d messages are held", HELD_MOST);
    self.held[self.held_count++] = (struct held){step, number, event};
}

enum board_release replay_may_go(uint32_t step, uint32_t number)
{
    uint32_t event = DECISION_NO_EVENT;
    for (uint32_t i = 0; i < self.held_count; i++)
        if (self.held[i].step == step && self.held[i].number == number)
            event = self.held[i].event;
    const struct decision_action *action =
        event != DECISION_NO_EVENT ? find_action(FAULT_RELEASED, event) : NULL;
    return action != NULL && is_due(action) ? (enum board_release)action->number : RELEASED_NOT;
}

/* --- beginning -------------------------------------------------------------------------------- */
void replay_initialized(bool several_threads)
{
    if (several_threads)
        diverge("the program asks for MPI_THREAD_MULTIPLE: what its threads do at once is not "
                "replayed; up to MPI_THREAD_SERIALIZED it is");
}

void replay_close(void)
{
    replay_imposing = false;
}

void replay_open(const char *path, const struct plan *plan, struct board *board, int rank,
                 int incarnation, const char *run_folder)
{
    struct error error;
    self.plan = plan;
    self.board = board;
    self.rank = rank;
    self.incarnation = incarnation;
    self.run_folder = run_folder;
    if (decisions_open(path, &self.decisions, &error) != OK)
        diverge("%s", error.text);
    self.section = decisions_find(&self.decisions, rank, incarnation);
    if (self.section != NULL) {
        self.event = self.decisions.event + self.section->first_event;
        self.action = self.decisions.action + self.section->first_action;
        self.events = self.section->events;
        self.actions = self.section->actions;
        self.incomplete = self.section->incomplete;
    }
    replay_imposing = rules_watching = rules_steering = true;
    if (is_at_end() && ends_here())
        arrive();
}
