/* Messages that stay with their sender for a while: see steer.h and plan.h (HOLD, JITTER).
 *
 * To delay the send call itself would stop the sender, and so change far more than the order of
 * messages. Instead the payload is packed and kept, and the program goes on as after a
 * buffered send (after a synchronous one when the message is matched); what is sent later is
 * MPI_PACKED, which matches any datatype. The way of a message:
 *   1. steer_hold keeps it and appends it to its lane;
 *   2. steer_hold_look, called in each round of the progress loop, asks for each message of a lane
 *      whether it may go, and hands it over to the library as a non-blocking send;
 *   3. it stays in the list `handed` until that send is complete; then whoever waits for it (its
 *      `carrier`) is told, and it is freed.
 *
 * A lane holds the messages of one communicator to one destination, in the order in which the
 * program sent them. MPI forbids that one message overtakes another there, and the fault must not
 * break MPI: while a message is held, those sent after it wait in the lane too, although no step of
 * the plan is about them (with tags_apart, only those of the same tag).
 *
 *     rank 0:  send x (held)   send y        lane to rank 1:  x y
 *
 * y stays until x has gone, so that a receive for any tag still gets x first. A message whose
 * payload cannot be kept is not held; if others are held before it, its send waits until they are
 * gone.
 *
 * Messages of an ordered hold are handed over one at a time, in the order of the plan, and may go
 * to different lanes. The next may go when the one before cannot be overtaken any more: when it is
 * matched, which we know because we send it synchronously; or at once, if the next is in the same
 * lane.
 *
 * Cost: two loads in a round while nothing is held; else a look at each held message. One
 * lock protects all lists; a round that does not get it leaves the work to the thread that has it.
 */
#include "base/mix.h"
#include "injectors/steer/steer_parts.h"
#include "injectors/steer/steer_wide.h"

#include <stdlib.h>

/* A longer payload is never held. */
#define HELD_MAX_BYTES PAYLOAD_PACK_MAX_BYTES

/* All that one rank holds at a time. */
#define HELD_MAX_TOTAL_BYTES (1ull << 30)

#define NS_PER_MS 1000000u

/* A message that we send in the program's place. */
struct carried {
    struct carried *next;
    const struct record *sent;
    int destination;
    int tag;
    MPI_Comm comm;
    bool synchronous;
    bool tags_apart;   /* messages of other tags may pass it */
    bool ordered;      /* of an ordered hold: the next one has to be let go after it */
    bool done;         /* for steer_await */
    uint32_t step;     /* index + 1 of the hold that it matched; 0: it is here for another reason */
    uint32_t reason;   /* index of the step because of which it is here */
    uint32_t number;   /* in that hold */
    uint64_t until_ns; /* jitter; 0: none */
    void *payload;     /* owned */
    uint64_t bytes;
    MPI_Request inner; /* the library's, once it is handed over */
    int result;
    struct carrier carrier;
};

struct lane {
    struct lane *next;
    MPI_Comm comm;
    int destination;
    struct carried *first; /* held, as sent */
    enum board_release last_why;
};

static struct tap_lock lock;
static struct lane *lanes;
static struct carried *handed; /* with the library, not complete */
static _Atomic unsigned held_count, handed_count;
static _Atomic uint64_t held_bytes;

static bool try_lock(void)
{
    return !runtime_several_threads ||
           atomic_exchange_explicit(&lock.taken, 1, memory_order_acquire) == 0;
}

/* --- sends as they are ------------------------------------------------------------------------ */

enum send_mode steer_mode(unsigned call)
{
    switch (call) {
    case CALL_MPI_Bsend:
    case CALL_MPI_Bsend_c:
    case CALL_MPI_Ibsend:
    case CALL_MPI_Ibsend_c:
    case CALL_MPI_Bsend_init:
    case CALL_MPI_Bsend_init_c:
        return MODE_BUFFERED;
    case CALL_MPI_Rsend:
    case CALL_MPI_Rsend_c:
    case CALL_MPI_Irsend:
    case CALL_MPI_Irsend_c:
    case CALL_MPI_Rsend_init:
    case CALL_MPI_Rsend_init_c:
        return MODE_READY;
    case CALL_MPI_Ssend:
    case CALL_MPI_Ssend_c:
    case CALL_MPI_Issend:
    case CALL_MPI_Issend_c:
    case CALL_MPI_Ssend_init:
    case CALL_MPI_Ssend_init_c:
        return MODE_SYNCHRONOUS;
    default:
        return MODE_STANDARD;
    }
}

int steer_pass_on(const struct outgoing *o, MPI_Request *request)
{
    switch (o->mode) {
    case MODE_BUFFERED:
        return steer_wide(Ibsend, o->buffer, o->count, o->type, o->destination, o->tag, o->comm,
                          request);
    case MODE_READY:
        return steer_wide(Irsend, o->buffer, o->count, o->type, o->destination, o->tag, o->comm,
                          request);
    case MODE_SYNCHRONOUS:
        return steer_wide(Issend, o->buffer, o->count, o->type, o->destination, o->tag, o->comm,
                          request);
    default:
        return steer_wide(Isend, o->buffer, o->count, o->type, o->destination, o->tag, o->comm,
                          request);
    }
}

/* --- evidence --------------------------------------------------------------------------------- */

/* The evidence for a message that waits because of others or of jitter, not of a step that matched
 * it. error 255: the message was cancelled and never goes out. */
static void record_fault(enum fault_kind fault, const struct carried *message,
                         enum board_release why, int error)
{
    struct record *r = record_reserve(LEVEL_SELF, RECORD_FAULT, CALL_NONE);
    r->comm = (uint32_t)fault;
    r->tag = (int32_t)message->reason;
    r->peer = message->sent->peer;
    r->bytes = (uint64_t)(message->sent - runtime_trace.record) + 1;
    r->request = (uint32_t)why;
    record_instant(r, error);
}

static void record_held(struct carried *message)
{
    if (message->step) {
        message->number = rules_held(message->step - 1, message->sent);
        return;
    }
    record_fault(FAULT_HELD, message, RELEASED_NOT, 0);
    atomic_fetch_add(&runtime_slot->held, 1);
}

static void record_let_go(const struct carried *message, enum board_release why)
{
    if (message->step) {
        rules_let_go(message->step - 1, message->sent, why);
        return;
    }
    record_fault(FAULT_RELEASED, message, why, 0);
    atomic_fetch_sub(&runtime_slot->held, 1);
}

/* --- lanes ------------------------------------------------------------------------------------ */

static struct lane *find_lane(MPI_Comm comm, int destination)
{
    struct lane *lane = lanes;
    while (lane && (lane->comm != comm || lane->destination != destination))
        lane = lane->next;
    return lane;
}

static struct lane *make_lane(MPI_Comm comm, int destination)
{
    struct lane *lane = find_lane(comm, destination);
    if (lane)
        return lane;
    lane = calloc(1, sizeof *lane);
    if (lane) {
        lane->comm = comm;
        lane->destination = destination;
        lane->next = lanes;
        lanes = lane;
    }
    return lane;
}

/* The first message ahead of `end` in the lane that a message of this tag may not overtake. NULL:
 * there is none. */
static const struct carried *in_front(const struct carried *first, const struct carried *end,
                                      int tag)
{
    for (; first != end; first = first->next)
        if (!first->tags_apart || first->tag == tag)
            return first;
    return NULL;
}

static bool is_blocked(const struct outgoing *o, uint32_t *reason)
{
    if (atomic_load_explicit(&held_count, memory_order_relaxed) == 0)
        return false;
    tap_lock(&lock);
    const struct lane *lane = find_lane(o->comm, o->destination);
    const struct carried *front = lane ? in_front(lane->first, NULL, o->tag) : NULL;
    if (front)
        *reason = front->reason;
    tap_unlock(&lock);
    return front != NULL;
}

/* --- holding ---------------------------------------------------------------------------------- */

/* Computed from the number of the send, not drawn in turn: the n-th send of a rank is held equally
 * long, whatever happens to the others. */
static uint64_t jitter_ns(const struct plan_step *jitter)
{
    static _Atomic uint64_t sends;
    uint64_t number = atomic_fetch_add(&sends, 1);
    if (!jitter)
        return 0;
    uint64_t rank = (uint64_t)runtime_trace.header->rank;
    return mix_two(mix_two(jitter->seed, rank), number) %
           ((uint64_t)jitter->release_ms * NS_PER_MS + 1);
}

static void free_carried(struct carried *message)
{
    free(message->payload);
    free(message);
}

/* NULL: the payload cannot be kept. */
static struct carried *keep(const struct outgoing *o)
{
    if (payload_bytes(o->count, o->type) > HELD_MAX_BYTES || held_bytes > HELD_MAX_TOTAL_BYTES)
        return NULL;
    struct carried *message = calloc(1, sizeof *message);
    if (!message)
        return NULL;
    message->payload = payload_copy(o->buffer, o->count, o->type, &message->bytes);
    if (!message->payload) {
        free(message);
        return NULL;
    }
    message->sent = o->sent;
    message->destination = o->destination;
    message->tag = o->tag;
    message->comm = o->comm;
    message->synchronous = o->mode == MODE_SYNCHRONOUS;
    message->inner = handles.REQUEST_NULL;
    return message;
}

/* Sets what happens when the message is complete. A send that is not synchronous is complete as
 * soon as its payload is kept, so its request is completed at once. */
static bool attach_carrier(struct carried *message, struct carrier *carrier)
{
    if (!carrier || carrier->kind == CARRIER_NONE)
        return true;
    if (carrier->kind == CARRIER_SIGNALS && carrier->signal < 0 &&
        steer_signal_request(false, &carrier->signal, &carrier->request) != MPI_SUCCESS)
        return false;
    if (!message->synchronous && carrier->kind == CARRIER_SIGNALS)
        steer_signal(carrier->signal);
    else
        message->carrier = *carrier;
    return true;
}

static bool append(struct carried *message)
{
    tap_lock(&lock);
    struct lane *lane = make_lane(message->comm, message->destination);
    if (lane) {
        struct carried **link = &lane->first;
        while (*link)
            link = &(*link)->next;
        const struct carried *front = in_front(lane->first, NULL, message->tag);
        if (!message->step && front)
            message->tags_apart = front->tags_apart;
        record_held(message);
        *link = message;
        atomic_fetch_add(&held_bytes, message->bytes);
        atomic_fetch_add(&held_count, 1);
    }
    tap_unlock(&lock);
    return lane != NULL;
}

static struct carried *hold(const struct outgoing *o, struct carrier *carrier, uint32_t step,
                            uint32_t reason, uint64_t until_ns)
{
    struct carried *message = keep(o);
    if (!message)
        return NULL;
    message->step = step;
    message->reason = reason;
    message->until_ns = until_ns;
    if (step) {
        message->tags_apart = rules_step(step - 1)->tags_apart;
        message->ordered = rules_step(step - 1)->orders > 0;
    }
    if (attach_carrier(message, carrier) && append(message))
        return message;
    free_carried(message);
    return NULL;
}

/* A message to nobody, and one that the library will refuse, is left to the library. */
static bool can_be_held(const struct outgoing *o)
{
    const struct communicator *c = communicator_find(LEVEL_WIRE, o->comm);
    return o->destination >= 0 && o->destination < c->peers->size && o->tag >= 0 && o->count >= 0 &&
           o->type != handles.DATATYPE_NULL;
}

struct carried *steer_hold(const struct outgoing *o, struct carrier *carrier)
{
    uint32_t reason = 0;
    uint32_t step = o->step && rules_step(o->step - 1)->action == ACTION_HOLD ? o->step : 0;
    if (!can_be_held(o)) {
        if (o->step)
            rules_give_back(o->step - 1);
        return NULL;
    }
    const struct plan_step *jitter = rules_jitter();
    uint64_t delay = jitter_ns(jitter);
    bool blocked = is_blocked(o, &reason);
    if (!step && delay == 0 && !blocked)
        return NULL;
    if (delay > 0)
        reason = (uint32_t)(jitter - rules_step(0));
    if (step)
        reason = step - 1;
    struct carried *held =
        hold(o, carrier, step, reason, delay > 0 ? clock_monotonic_ns() + delay : 0);
    if (held)
        return held;
    if (o->step)
        rules_give_back(o->step - 1);
    for (unsigned round = 0; is_blocked(o, &reason);)
        steer_round(&round);
    return NULL;
}

/* --- letting go ------------------------------------------------------------------------------- */

static void put_with_library(struct carried *message)
{
    message->next = handed;
    handed = message;
    atomic_fetch_add(&handed_count, 1);
}

/* The message that follows in the plan's order waits in the same lane, where it cannot overtake
 * this one: it need not wait until this one is matched. */
static bool next_is_after(const struct lane *lane, const struct carried *message)
{
    const struct plan_step *step = rules_step(message->step - 1);
    uint32_t turn = 0;
    while (turn < step->orders && step->order[turn] != (int32_t)message->number)
        turn++;
    if (turn + 1 >= step->orders)
        return false;
    for (const struct carried *other = lane->first; other; other = other->next)
        if (other->step == message->step && step->order[turn + 1] == (int32_t)other->number)
            return true;
    return false;
}

/* `message` is out of its lane. */
static void hand_over(struct lane *lane, struct carried *message, enum board_release why)
{
    struct outgoing outgoing = {.sent = message->sent,
                                .mode = message->synchronous || message->ordered ? MODE_SYNCHRONOUS
                                                                                 : MODE_STANDARD,
                                .buffer = message->payload,
                                .count = (MPI_Count)message->bytes,
                                .type = handles.PACKED,
                                .destination = message->destination,
                                .tag = message->tag,
                                .comm = message->comm};
    atomic_fetch_sub(&held_count, 1);
    atomic_fetch_sub(&held_bytes, message->bytes);
    lane->last_why = why;
    record_let_go(message, why);
    message->result = steer_pass_on(&outgoing, &message->inner);
    if (message->ordered && next_is_after(lane, message)) {
        message->ordered = false;
        rules_passed(message->step - 1);
    }
    put_with_library(message);
}

static enum board_release may_go(const struct lane *lane, const struct carried *message, bool end)
{
    enum board_release why = RELEASED_BY_END;
    if (end)
        return why;
    why = lane->last_why != RELEASED_NOT ? lane->last_why : RELEASED_BY_CONDITION;
    if (message->until_ns != 0) {
        if (clock_monotonic_ns() < message->until_ns && !rules_quiet())
            return RELEASED_NOT;
        why = RELEASED_BY_TIME;
    }
    return message->step ? watcher->may_go(message->step - 1, message->number) : why;
}

static void look_at_lane(struct lane *lane, bool end)
{
    struct carried **link = &lane->first;
    while (*link) {
        struct carried *message = *link;
        enum board_release why = RELEASED_NOT;
        if (!in_front(lane->first, message, message->tag))
            why = may_go(lane, message, end);
        if (why != RELEASED_NOT) {
            *link = message->next;
            hand_over(lane, message, why);
            continue;
        }
        if (!message->tags_apart)
            return; /* nothing passes it */
        link = &message->next;
    }
}

/* --- what the library has --------------------------------------------------------------------- */

/* The library is done with the message, which is in no list any more: whoever waits for it is
 * informed. */
static void finish(struct carried *message, bool cancelled)
{
    if (message->ordered)
        rules_passed(message->step - 1);
    switch (message->carrier.kind) {
    case CARRIER_AWAITED:
        __atomic_store_n(&message->done, true, __ATOMIC_RELEASE);
        return;
    case CARRIER_SIGNALS:
        if (cancelled)
            library.Cancel(&message->carrier.request);
        else
            steer_signal(message->carrier.signal);
        break;
    case CARRIER_NONE:
        break;
    }
    free_carried(message);
}

static void look_at_handed(void)
{
    struct carried **link = &handed;
    while (*link) {
        struct carried *message = *link;
        MPI_Status status;
        int flag = 1, cancelled = 0;
        if (message->result == MPI_SUCCESS)
            message->result = library.Test(&message->inner, &flag, &status);
        if (message->result == MPI_SUCCESS && !flag) {
            link = &message->next;
            continue;
        }
        *link = message->next;
        atomic_fetch_sub(&handed_count, 1);
        if (message->result == MPI_SUCCESS)
            library.Test_cancelled(&status, &cancelled);
        finish(message, cancelled != 0);
    }
}

void steer_hold_look(bool end)
{
    if (atomic_load_explicit(&held_count, memory_order_relaxed) +
                atomic_load_explicit(&handed_count, memory_order_relaxed) ==
            0 ||
        !try_lock())
        return;
    for (struct lane *lane = lanes; lane; lane = lane->next)
        look_at_lane(lane, end);
    look_at_handed();
    tap_unlock(&lock);
}

int steer_carry(const struct outgoing *o, const struct carrier *carrier)
{
    struct carried *message = calloc(1, sizeof *message);
    if (!message)
        return MPI_ERR_NO_MEM;
    message->sent = o->sent;
    message->comm = o->comm;
    message->carrier = *carrier;
    int result = steer_pass_on(o, &message->inner);
    if (result != MPI_SUCCESS) {
        free(message);
        return result;
    }
    tap_lock(&lock);
    put_with_library(message);
    tap_unlock(&lock);
    return MPI_SUCCESS;
}

int steer_await(struct carried *message)
{
    unsigned round = 0;
    while (!__atomic_load_n(&message->done, __ATOMIC_ACQUIRE))
        steer_round(&round);
    int result = message->result;
    free_carried(message);
    return result;
}

bool steer_holds(MPI_Comm comm)
{
    if (comm == handles.COMM_NULL)
        return atomic_load(&held_count) + atomic_load(&handed_count) > 0;
    bool found = false;
    tap_lock(&lock);
    for (const struct lane *lane = lanes; lane && !found; lane = lane->next)
        found = lane->comm == comm && lane->first;
    tap_unlock(&lock);
    return found;
}

uint64_t steer_hold_looks_in(void)
{
    uint64_t first = UINT64_MAX, now = clock_monotonic_ns();
    if (atomic_load_explicit(&handed_count, memory_order_relaxed) > 0)
        return 0;
    tap_lock(&lock);
    for (const struct lane *lane = lanes; lane; lane = lane->next)
        if (lane->first && lane->first->until_ns < first)
            first = lane->first->until_ns;
    tap_unlock(&lock);
    if (first == UINT64_MAX)
        return first;
    return first > now ? first - now : 1;
}

bool steer_delays(void)
{
    bool found = false;
    tap_lock(&lock);
    for (const struct lane *lane = lanes; lane && !found; lane = lane->next)
        found = lane->first && lane->first->until_ns != 0 && lane->first->step == 0;
    tap_unlock(&lock);
    return found;
}

/* --- MPI_Cancel ------------------------------------------------------------------------------- */

static struct carried **find_held(MPI_Request request)
{
    for (struct lane *lane = lanes; lane; lane = lane->next)
        for (struct carried **link = &lane->first; *link; link = &(*link)->next)
            if ((*link)->carrier.kind == CARRIER_SIGNALS && (*link)->carrier.request == request)
                return link;
    return NULL;
}

/* Held messages are taken back: they never go out. true: the program's request is to be cancelled.
 */
static bool take_back(MPI_Request request)
{
    bool ours = false;
    tap_lock(&lock);
    struct carried **link = find_held(request);
    if (link) {
        struct carried *message = *link;
        *link = message->next;
        atomic_fetch_sub(&held_count, 1);
        atomic_fetch_sub(&held_bytes, message->bytes);
        atomic_fetch_sub(&runtime_slot->held, 1);
        record_fault(FAULT_RELEASED, message, RELEASED_NOT, 255);
        free_carried(message);
        tap_unlock(&lock);
        return true;
    }
    for (struct carried *message = handed; message; message = message->next)
        if (message->carrier.kind == CARRIER_SIGNALS && message->carrier.request == request) {
            library.Cancel(&message->inner);
            ours = true;
        }
    tap_unlock(&lock);
    return !ours;
}

int steer_cancel(MPI_Request *request)
{
    if (!request || take_back(*request))
        return library.Cancel(request);
    return MPI_SUCCESS;
}

void steer_abandon(void)
{
    tap_lock(&lock);
    while (handed) {
        struct carried *message = handed;
        handed = message->next;
        if (message->inner != handles.REQUEST_NULL)
            library.Request_free(&message->inner); /* its payload stays where it is */
    }
    atomic_store(&handed_count, 0);
    tap_unlock(&lock);
}
