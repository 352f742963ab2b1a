/* Rules of steering: what is offered to the taps, when it may go on, states of ranks, messages by
 * name. The taps are played by the test. */
#include "faultline.h"
#include "rules_run.h"

#include "board/progress.h"

#include <limits.h>

/* --- the taps --------------------------------------------------------------------------------- */
static unsigned char payload[16]; /* of the call in progress */
static uint64_t payload_bytes;

bool tap_payload_peek(const struct record *r, uint64_t offset, unsigned bytes, uint64_t *value)
{
    (void)r;
    *value = 0;
    if (offset + bytes > payload_bytes)
        return false;
    memcpy(value, payload + offset, bytes);
    return true;
}

uint32_t tap_communicator_from_world(unsigned nth)
{
    return 100 + nth;
}

static struct record *enter_send(enum level level, int peer)
{
    struct record *r = record_begin(level, RECORD_SEND, CALL_MPI_Send);
    r->peer = peer;
    r->tag = 5;
    r->comm = COMM_WORLD_ID;
    record_publish(r);
    return r;
}

static struct record *enter_recv(int want_peer)
{
    struct record *r = record_begin(LEVEL_WIRE, RECORD_RECV, CALL_MPI_Recv);
    r->want_peer = want_peer;
    r->want_tag = TAG_ANY;
    r->comm = COMM_WORLD_ID;
    record_publish(r);
    return r;
}

/* A message on the wire; the step + 1 that wants it, taken. */
static uint32_t send_wire(int peer)
{
    struct record *r = enter_send(LEVEL_WIRE, peer);
    uint32_t steered = rules_take();
    record_end(r, 0);
    return steered;
}

/* The same with what a hold does. Returns its number in the hold; 0: not held. */
static uint32_t send_held(int peer)
{
    struct record *r = enter_send(LEVEL_WIRE, peer);
    uint32_t steered = rules_take();
    uint32_t number = steered != 0 ? rules_held(steered - 1, r) : 0;
    record_end(r, 0);
    return number;
}

/* --- the forest ------------------------------------------------------------------------------- */
static void test_forest(void)
{
    RUN("await event=send rank=0", "await event=recv after=start", "await event=send after=2",
        "await event=send after=2 nth=2", "await after=2", "await after=5");
    become(0, 0);
    do_irecv(1);
    check(board_step_done(board, 1) && !board_step_done(board, 0),
          "steps from the start are armed side by side");
    check(board_step_done(board, 4) && board_step_done(board, 5),
          "those that wait for nothing are done at once, one after the other");
    check(!board_step_done(board, 2) && faults(FAULT_AWAITED) == 3, "the others are not");
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(board_step_done(board, 0) && board_step_done(board, 2) && !board_step_done(board, 3),
          "one event may be that of several steps");
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(board_step_done(board, 3) && atomic_load(&board->progress[3].rank) == 0,
          "each counts by itself, and says who did it");
    RUN("await event=send", "await event=send");
    become(0, 3);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(board_step_done(board, 0) && !board_step_done(board, 1) &&
              atomic_load(&board->progress[0].incarnation) == 3,
          "the event that arms a step is not its event");
}

static void test_notes(void)
{
    RUN("await event=initiated epoch=2", "await event=ready", "await event=logged peer=2 tag=7",
        "await event=replayed epoch=1", "await event=early comm=0x1", "await event=suppressed",
        "await event=decision name=dice");
    become(0, 0);
    runtime_slot->pid = 1;
    faultline_initiated(1);
    check(step() == 0, "another line");
    faultline_initiated(2);
    faultline_ready(2);
    check(step() == 2, "the initiator and readiness");
    struct record *r = record_reserve(LEVEL_SELF, RECORD_NOTE, CALL_NONE);
    r->tag = NOTE_LOGGED;
    r->peer = 1;
    r->request = 7;
    record_instant(r, 0);
    check(step() == 2, "a logged message of another rank");
    r = record_reserve(LEVEL_SELF, RECORD_NOTE, CALL_NONE);
    r->tag = NOTE_LOGGED;
    r->peer = 2;
    r->request = 8;
    record_instant(r, 0);
    check(step() == 2, "or with another tag");
    r = record_reserve(LEVEL_SELF, RECORD_NOTE, CALL_NONE);
    r->tag = NOTE_LOGGED;
    r->peer = 2;
    r->request = 7;
    record_instant(r, 0);
    check(step() == 3, "one with the peer and the tag asked for");
    faultline_replayed(1, 0, 0, 0, NULL, 0);
    r = record_reserve(LEVEL_SELF, RECORD_NOTE, CALL_NONE);
    r->tag = NOTE_EARLY;
    r->comm = COMM_WORLD_ID;
    record_instant(r, 0);
    faultline_suppressed(1, 0, 0, 0, NULL, 0);
    faultline_decision("dice", "6", 1);
    check(step() == 7, "and the other kinds");
}

static void test_notes_of_channels(void)
{
    RUN("await event=recorded peer=2 tag=7 epoch=1", "await event=clear peer=2 epoch=1",
        "await event=notified epoch=2", "await event=becomes");
    become(0, 0);
    for (int peer = 1; peer <= 2; peer++) {
        check(step() == 0, "another channel's message");
        struct record *r = record_reserve(LEVEL_SELF, RECORD_NOTE, CALL_NONE);
        r->tag = NOTE_RECORDED;
        r->bytes = 1;
        r->peer = peer;
        r->request = 7;
        record_instant(r, 0);
    }
    check(step() == 1, "a message that is recorded");
    for (int peer = 1; peer <= 2; peer++) {
        check(step() == 1, "another channel");
        struct record *r = record_reserve(LEVEL_SELF, RECORD_NOTE, CALL_NONE);
        r->tag = NOTE_CLEAR;
        r->bytes = 1;
        r->peer = peer;
        record_instant(r, 0);
    }
    check(step() == 2, "a channel that is clear");
    faultline_notified(1);
    check(step() == 2, "another line");
    faultline_notified(2);
    check(step() == 3, "a notification");
    faultline_becomes(FAULTLINE_NO_RANK);
    check(step() == 4, "a process that becomes no rank");
}

/* --- states ----------------------------------------------------------------------------------- */
static void test_states(void)
{
    RUN("await event=send state=own:logging:1", "await state=1:beyond:1", "await event=send");
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 0, "before the line the event does not count");
    faultline_checkpoint(1);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 1, "between checkpoint and stop-log it does");
    watcher->round();
    check(step() == 1 && runtime_watching, "another rank's state does not hold yet");
    atomic_store(&board->slot[1].line, 1);
    atomic_store(&board->slot[1].stopped_line, 1);
    watcher->round();
    check(step() == 2, "as soon as it does the step is done, without any event");
    faultline_stop_log(1);
    check(atomic_load(&board->slot[0].stopped_line) == 1, "the end of logging is on the board");
    faultline_restored(4);
    check(atomic_load(&board->slot[0].line) == 4 && atomic_load(&board->slot[0].stopped_line) == 4,
          "a rank that is restored is beyond its line");
    RUN("await state=1:beyond:1");
    become(0, 0);
    atomic_store(&board->slot[1].line, 1);
    atomic_store(&board->slot[1].stopped_line, 1);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 1, "states are also looked at in every call");
    RUN("await state=1:beyond:1 incarnation=1");
    become(0, 0);
    atomic_store(&board->slot[1].line, 1);
    atomic_store(&board->slot[1].stopped_line, 1);
    watcher->round();
    check(step() == 0, "but not in another life than they are asked for in");
    become(0, 1);
    watcher->round();
    check(step() == 1, "in that they are");
    RUN("kill victims=1 state=0:blocked:MPI_Recv");
    become(0, 0);
    struct record *r = enter_recv(1);
    runtime_blocking(r);
    check(atomic_load(&board->slot[0].wire_call) == CALL_MPI_Recv, "what a rank is in is shown");
    become(2, 0);
    watcher->round();
    check(step() == 1 && faults(FAULT_KILL) == 1, "and any rank may act upon it");
    check(runtime_steering && !runtime_carrying, "calls yield, and messages go as they are");
    RUN("await event=send rank=0");
    become(1, 0);
    check(!runtime_watching && !runtime_steering, "a plan without steering costs others nothing");
}

/* --- messages by name ------------------------------------------------------------------------- */
static void test_messages(void)
{
    RUN("await event=send message=stop epoch=3", "await event=deliver message=stop");
    struct message_pattern wire;
    message_pattern_parse("wire name=stop comm=world#2 tag=5 key_at=4 key_bytes=1 key=9 epoch_at=0 "
                          "epoch_bytes=4",
                          &wire, NULL);
    plan_add_wire(&plan, &wire, NULL);
    become(0, 0);
    memcpy(payload, "\3\0\0\0\11", 5);
    payload_bytes = 5;
    do_send(LEVEL_WIRE, CALL_MPI_Send, 1, 5, 101);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 5, 102);
    do_send(LEVEL_WIRE, CALL_MPI_Send, 1, 6, 102);
    payload[4] = 8;
    do_send(LEVEL_WIRE, CALL_MPI_Send, 1, 5, 102);
    payload[4] = 9;
    payload[0] = 2;
    do_send(LEVEL_WIRE, CALL_MPI_Send, 1, 5, 102);
    payload[0] = 3;
    payload_bytes = 4;
    do_send(LEVEL_WIRE, CALL_MPI_Send, 1, 5, 102);
    check(step() == 0, "another communicator, level, tag, key, line or length is another message");
    payload_bytes = 5;
    do_send(LEVEL_WIRE, CALL_MPI_Send, 1, 5, 102);
    check(step() == 1, "this is it");
    struct record *r = enter_recv(1);
    check(step() == 1, "a receive that is posted has not got it");
    r->peer = 1;
    r->tag = 5;
    r->comm = 102;
    record_end(r, 0);
    check(step() == 2, "one that returned has");
}

/* --- holds ------------------------------------------------------------------------------------ */
static void test_hold(void)
{
    RUN("hold event=send rank=0 peer=1 level=wire nth=2 count=2 release.event=recv release.nth=2",
        "await event=send level=wire");
    become(0, 0);
    check(runtime_steering && runtime_carrying && runtime_watching,
          "steering is known from the start");
    check(send_held(1) == 0 && send_held(2) == 0, "the first one passes, and one to another rank");
    check(send_held(1) == 1 && is_last_fault(FAULT_HELD, 0, 1, 3, 1),
          "the second is held, with its record in the evidence");
    check(atomic_load(&board->slot[0].held) == 1 && step() == 0, "one of two");
    check(watcher->may_go(0, 1) == RELEASED_NOT, "it may not go");
    check(send_held(1) == 2 && step() == 1, "with the last one the step is done");
    check(send_held(1) == 0, "no more are held");
    do_irecv(1);
    check(watcher->may_go(0, 1) == RELEASED_NOT, "the release counts its events");
    become(2, 0);
    do_irecv(1);
    become(0, 0);
    check(watcher->may_go(0, 1) == RELEASED_BY_CONDITION && watcher->may_go(0, 2) != RELEASED_NOT,
          "whoever sees them");
    struct record *r = enter_send(LEVEL_APP, 1);
    rules_let_go(0, r, RELEASED_BY_CONDITION);
    check(is_last_fault(FAULT_RELEASED, 0, 1, rules_take() + 1, RELEASED_BY_CONDITION) &&
              atomic_load(&board->slot[0].held) == 1,
          "that it goes is recorded, with the reason");
    record_end(r, 0);
    become(1, 0);
    check(runtime_steering && runtime_watching, "all ranks know, also those that hold nothing");
}

static void test_hold_ways(void)
{
    RUN("hold event=send rank=0 level=wire", "release target=1 event=recv",
        "hold event=send rank=0 level=wire ms=1", "hold event=send rank=0 level=wire",
        "hold event=send rank=0 level=wire");
    become(0, 0);
    check(send_held(1) == 1 && watcher->may_go(0, 1) == RELEASED_NOT, "nothing lets it go yet");
    do_irecv(1);
    check(watcher->may_go(0, 1) == RELEASED_BY_STEP && step() == 2, "a step does");
    check(send_held(1) == 1, "a hold for some time");
    while (watcher->may_go(2, 1) == RELEASED_NOT)
        usleep(500);
    check(watcher->may_go(2, 1) == RELEASED_BY_TIME, "is over by itself");
    send_held(1);
    progress_unstick(board);
    check(watcher->may_go(3, 1) == RELEASED_BY_UNSTICK, "so that the job can go on");
    send_held(1);
    check(watcher->may_go(4, 1) == RELEASED_NOT, "but not what is held later");
    struct record *r = enter_send(LEVEL_APP, 1);
    rules_let_go(4, r, RELEASED_BY_END);
    record_end(r, 0);
    check(atomic_load(&board->progress[4].released_by) == RELEASED_BY_END,
          "the end of the rank ends a hold");
}

static void test_order(void)
{
    RUN("hold event=send level=wire count=3 order=3,1,2");
    become(0, 0);
    send_held(1);
    become(1, 0);
    send_held(0);
    check(watcher->may_go(0, 1) == RELEASED_NOT, "an ordered hold waits for its last message");
    check(send_held(0) == 3, "which may be another rank's");
    check(watcher->may_go(0, 3) == RELEASED_BY_CONDITION && watcher->may_go(0, 1) == RELEASED_NOT &&
              watcher->may_go(0, 2) == RELEASED_NOT,
          "then the first in the order may go, it alone");
    rules_passed(0);
    check(watcher->may_go(0, 1) == RELEASED_BY_CONDITION && watcher->may_go(0, 2) == RELEASED_NOT,
          "when it has passed, the next");
    rules_passed(0);
    check(watcher->may_go(0, 2) == RELEASED_BY_CONDITION, "and the next");
    RUN("hold event=send level=wire count=2 order=2,1");
    become(0, 0);
    send_held(1);
    progress_unstick(board);
    check(watcher->may_go(0, 1) == RELEASED_BY_UNSTICK && send_held(1) == 0,
          "when nothing goes on there is no order, and nothing more is taken");
}

/* The match of an upper call goes to the first wire call inside it that does the same. */
static void test_upper_level(void)
{
    RUN("hold event=send rank=0 peer=1", "await event=send rank=0");
    become(0, 0);
    struct record *upper = enter_send(LEVEL_APP, 1);
    check(rules_take() == 0, "the upper call itself is not steered");
    check(send_wire(2) == 0, "nor is another message that is sent inside it");
    enter_recv(PEER_ANY);
    check(rules_take() == 0, "nor a receive");
    struct record *lower = enter_send(LEVEL_WIRE, 1);
    uint32_t steered = rules_take();
    check(steered == 1, "its own message is");
    rules_held(0, lower);
    check(send_wire(1) == 0, "once");
    record_end(lower, 0);
    record_end(upper, 0);
    RUN("hold event=send rank=0 peer=1", "await event=send rank=0");
    become(0, 0);
    upper = enter_send(LEVEL_APP, 1);
    record_end(upper, 0);
    check(send_wire(1) == 0 && atomic_load(&board->progress[0].reserved) == 0,
          "a call that sent nothing on the wire gives its match back");
    upper = enter_send(LEVEL_APP, 1);
    check(send_held(1) == 1, "and the next one has it");
    record_end(upper, 0);
    check(step() == 1, "so that the step is done");
    RUN("hold event=send level=wire");
    become(0, 0);
    record_end(enter_send(LEVEL_WIRE, 1), 0);
    check(atomic_load(&board->progress[0].reserved) == 0 && rules_take() == 0,
          "what nobody took is given back at the end of the call");
    check(send_wire(1) == 1, "and offered again");
    rules_give_back(0);
    check(send_wire(1) == 1, "also what was taken and not used");
}

/* A protocol that sends the program's messages inside its own. */
static void test_carried(void)
{
    struct message_pattern packet;
    RUN("hold event=send rank=0 peer=1");
    message_pattern_parse("wire name=packet tag=77 carries=yes", &packet, NULL);
    plan_add_wire(&plan, &packet, NULL);
    become(0, 0);
    struct record *upper = enter_send(LEVEL_APP, 1);
    check(send_wire(1) == 0, "what looks like the message is another one");
    const int peers[] = {2, 1};
    for (int i = 0; i < 2; i++) {
        struct record *r = record_begin(LEVEL_WIRE, RECORD_SEND, CALL_MPI_Isend);
        r->peer = peers[i];
        r->tag = 77;
        r->comm = 99;
        record_publish(r);
        check(rules_take() == (uint32_t)i, "what carries it to that rank is kept");
        record_end(r, 0);
    }
    record_end(upper, 0);
}

/* --- choices, answers, delays ----------------------------------------------------------------- */
static void test_choices(void)
{
    RUN("choose event=recv rank=0 level=wire choice=2", "answer event=wait level=wire count=2",
        "answer event=probe choice=1", "jitter ms=3 seed=9", "await event=send");
    become(0, 0);
    struct record *r = enter_recv(PEER_ANY);
    check(rules_take() == 1 && rules_step(0)->choice == 2, "a receive is to be narrowed");
    rules_wait_begin();
    check(atomic_load(&board->slot[0].choosing) == 1, "that it waits can be seen");
    rules_wait_end();
    rules_chosen(0, r, 2, true);
    check(is_last_fault(FAULT_CHOSEN, 0, 2, 1, 0) && step() == 1, "and was");
    record_end(r, 0);
    for (int i = 0; i < 2; i++) {
        r = record_begin(LEVEL_WIRE, RECORD_CALL, CALL_MPI_Waitall);
        record_publish(r);
        check(step() == 1 && rules_take() == 2, "each of two calls is answered");
        rules_answered(1, r, 0, i == 0);
        record_end(r, 0);
    }
    check(step() == 2 && faults(FAULT_ANSWERED) == 2, "then the step is done");
    check(runtime_trace.record[atomic_load(&runtime_trace.header->next) - 1].error == 255,
          "what could not be is told");
    check(rules_jitter() == NULL, "no delays yet");
    struct record *poll = record_poll_begin(LEVEL_APP, RECORD_PROBE, CALL_MPI_Iprobe);
    record_publish(poll);
    struct record *wire = record_poll_begin(LEVEL_WIRE, RECORD_PROBE, CALL_MPI_Iprobe);
    record_publish(wire);
    check(rules_take() == 3, "a probe of the program is answered on the wire");
    rules_answered(2, wire, 1, true);
    const struct record *told =
        &runtime_trace.record[atomic_load(&runtime_trace.header->next) - 2]; /* then the jitter */
    wire->flags = poll->flags = FLAG_NEGATIVE;
    struct record *stored = record_poll_end(wire, 0);
    check(told->comm == FAULT_ANSWERED &&
              told->bytes == (uint64_t)(stored - runtime_trace.record) + 1,
          "the evidence says where the poll is in the trace");
    record_poll_end(poll, 0);
    check(step() == 4 && rules_jitter() != NULL && rules_jitter()->seed == 9,
          "delays begin as soon as they are armed");
    check(atomic_load(&board->slot[0].polls) == 2 && atomic_load(&board->slot[0].polled_at) > 0,
          "polls in vain are counted");
}

/* The program's receive is told to take from rank 2; the error of the evidence when it was given
 * what `got` had sent. */
static unsigned error_when_given(int got)
{
    RUN("choose event=recv rank=0 choice=2");
    become(0, 0);
    struct record *upper = record_begin(LEVEL_APP, RECORD_RECV, CALL_MPI_Recv);
    upper->want_peer = PEER_ANY;
    upper->want_tag = TAG_ANY;
    upper->comm = COMM_WORLD_ID;
    record_publish(upper);
    struct record *lower = enter_recv(PEER_ANY);
    if (rules_take() != 1)
        return UINT_MAX;
    rules_chosen(0, lower, 2, true);
    const struct record *evidence =
        &runtime_trace.record[atomic_load(&runtime_trace.header->next) - 1];
    lower->peer = 2;
    record_end(lower, 0);
    upper->peer = got;
    record_end(upper, 0);
    return evidence->comm == FAULT_CHOSEN ? evidence->error : UINT_MAX;
}

static void test_told(void)
{
    check(error_when_given(2) == 0, "a choice that the program was given");
    check(error_when_given(1) == 255, "one that it was not: the evidence says so");
}

int main(void)
{
    if (!open_runs())
        return 1;
    test_forest();
    test_notes();
    test_notes_of_channels();
    test_states();
    test_messages();
    test_hold();
    test_hold_ways();
    test_order();
    test_upper_level();
    test_carried();
    test_choices();
    test_told();
    check(close_runs(), "nothing is left");
    return done();
}
