/* Meetings in shared memory: see meeting.h. */
#include "engine/communicators/meeting.h"

#include "base/mix.h"
#include "engine/communicators/members.h"
#include "engine/core/transition.h"

#include <string.h>

/* --- deposits --------------------------------------------------------------------------------- */

static char *bytes_of(struct deposit *deposit)
{
    return (char *)(deposit->start + deposit->parts + 1);
}

struct deposit *deposit_new(int parts, const size_t *bytes)
{
    size_t total = 0;
    for (int i = 0; i < parts; i++)
        total += bytes[i];
    size_t head = sizeof(struct deposit) + ((size_t)parts + 1) * sizeof(size_t);
    struct deposit *made = engine_allocate(head + total);
    made->parts = parts;
    for (int i = 0; i < parts; i++)
        made->start[i + 1] = made->start[i] + bytes[i];
    return made;
}

struct deposit *deposit_of(const void *bytes, size_t length)
{
    struct deposit *made = deposit_new(1, &length);
    if (length > 0)
        memcpy(bytes_of(made), bytes, length);
    return made;
}

struct deposit *deposit_none(void)
{
    return deposit_new(0, NULL);
}

void *deposit_part(struct deposit *deposit, int part)
{
    return bytes_of(deposit) + deposit->start[part];
}

size_t deposit_bytes(const struct deposit *deposit, int part)
{
    return deposit->start[part + 1] - deposit->start[part];
}

/* --- meetings --------------------------------------------------------------------------------- */

int meeting_size(const struct shared_communicator *of)
{
    return of->count[0] + of->count[1];
}

int meeting_place(const struct shared_communicator *of, int side, int rank)
{
    return side * of->count[0] + rank;
}

static bool same_key(const struct meeting_key *a, const struct meeting_key *b)
{
    return a->kind == b->kind && a->tag == b->tag && a->who == b->who;
}

static uint64_t key_number(const struct meeting_key *key)
{
    return mix_two(mix_two(key->who, (uint64_t)key->tag), (uint64_t)key->kind);
}

/* Meetings that are alike, so far. */
struct held {
    struct held *next;
    uint64_t key, count;
};

/* Those that are alike begin in one order at every member: so their numbers are the same in every
 * schedule. */
static uint64_t object_of_next(struct shared_communicator *of, const struct meeting_key *key)
{
    uint64_t number = key_number(key);
    struct held *held = of->held;
    while (held && held->key != number)
        held = held->next;
    if (!held) {
        held = engine_allocate(sizeof *held);
        held->key = number;
        held->next = of->held;
        of->held = held;
    }
    return object_name(OBJECT_MEETING, of->context, number, held->count++);
}

void meetings_forget(struct shared_communicator *of)
{
    while (of->held) {
        struct held *held = of->held;
        of->held = held->next;
        engine_release(held);
    }
}

/* The list begins with the newest meeting: the last match is the oldest meeting that this
 * participant has not joined. */
static struct meeting *find(const struct shared_communicator *of, const struct meeting_key *key,
                            int mine)
{
    struct meeting *found = NULL;
    for (struct meeting *m = of->meetings; m; m = m->next)
        if (same_key(&m->key, key) && !m->deposit[mine])
            found = m;
    return found;
}

static struct meeting *begin(struct shared_communicator *of, const struct meeting_key *key,
                             const char *name, int size, const int32_t *process)
{
    struct meeting *made = engine_allocate(sizeof *made);
    made->of = of;
    made->key = *key;
    made->name = name;
    made->size = size;
    made->process = process;
    made->object = engine->transitions ? object_of_next(of, key) : 0;
    made->deposit = engine_allocate((size_t)size * sizeof(struct deposit *));
    made->next = of->meetings;
    if (made->next)
        made->next->previous = made;
    of->meetings = made;
    shared_hold(of);
    return made;
}

static uint64_t joined(const struct meeting *meeting, int participant)
{
    return object_name(OBJECT_JOINED, meeting->object, (uint64_t)participant, 0);
}

void meeting_see_joined(const struct meeting *meeting, int participant)
{
    engine_touch_seen(joined(meeting, participant));
}

static struct meeting *come(struct meeting *meeting, int mine, struct deposit *deposit)
{
    meeting->deposit[mine] = deposit;
    meeting->arrived++;
    if (meeting->size > 1)
        engine_did();
    engine_touch(TOUCH_WRITE, joined(meeting, mine));
    for (int i = 0; i < meeting->size; i++)
        if (meeting->deposit[i] && i != mine)
            engine_wake(meeting->process[i]);
    return meeting;
}

struct meeting *meeting_join(struct shared_communicator *of, const struct meeting_key *key,
                             const char *name, const struct members *participants, int mine,
                             struct deposit *deposit)
{
    struct meeting *meeting = find(of, key, mine);
    if (!meeting) {
        size_t bytes = (size_t)participants->count * sizeof participants->process[0];
        int32_t *process = memcpy(engine_allocate(bytes), participants->process, bytes);
        meeting = begin(of, key, name, participants->count, process);
        meeting->own_list = true;
    }
    return come(meeting, mine, deposit);
}

struct meeting *meeting_of_all(struct comm_view *view, const struct meeting_key *key,
                               const char *name, struct deposit *deposit)
{
    struct shared_communicator *of = view->shared;
    int mine = meeting_place(of, view->side, view->rank);
    struct meeting *meeting = find(of, key, mine);
    if (!meeting)
        meeting = begin(of, key, name, meeting_size(of), of->process);
    return come(meeting, mine, deposit);
}

void meeting_leave(struct meeting *meeting)
{
    struct shared_communicator *of = meeting->of;
    if (++meeting->left < meeting->size)
        return;
    if (meeting->previous)
        meeting->previous->next = meeting->next;
    else
        of->meetings = meeting->next;
    if (meeting->next)
        meeting->next->previous = meeting->previous;
    for (int i = 0; i < meeting->size; i++) {
        engine_release(meeting->deposit[i]);
        if (meeting->made && meeting->made[i])
            shared_drop(meeting->made[i]);
    }
    engine_release(meeting->deposit);
    engine_release(meeting->made);
    if (meeting->own_list)
        engine_release((void *)meeting->process);
    engine_release(meeting);
    shared_drop(of);
}

/* --- waiting ---------------------------------------------------------------------------------- */

int meeting_enter(struct comm_view *view)
{
    engine_turn();
    return view_revoked(view, false) ? MPIX_ERR_REVOKED : MPI_SUCCESS;
}

bool meeting_is_full(void *data)
{
    const struct meeting *meeting = data;
    return meeting->arrived == meeting->size;
}

/* This rank knows of the death of a participant: of one that has not come, or of any. */
static bool knows_of_death(const struct meeting *meeting, bool any)
{
    bool may_be = engine->deaths > 0 || engine->transitions;
    for (int i = 0; may_be && i < meeting->size; i++)
        if ((any || !meeting->deposit[i]) && engine_knows_dead(meeting->process[i]))
            return true;
    return false;
}

/* It would not be ready without this participant, though all the others had come. */
static bool is_needed(struct meeting *meeting, int participant, meeting_ready *ready, void *data)
{
    struct deposit *supposed[ENGINE_MAX_PROCESSES], **real = meeting->deposit;
    int arrived = meeting->arrived;
    for (int i = 0; i < meeting->size; i++)
        supposed[i] = i == participant ? NULL : (struct deposit *)meeting;
    meeting->deposit = supposed;
    meeting->arrived = meeting->size - 1;
    bool needed = !ready(data);
    meeting->deposit = real;
    meeting->arrived = arrived;
    return needed;
}

/* What is touched by seeing whether it is ready: those who are needed, one after the other, and of
 * a poll only up to the first that has not come. */
static void touch_needed(struct meeting *meeting, meeting_ready *ready, void *data, bool is_ready)
{
    for (int i = 0; i < meeting->size; i++) {
        if (!is_needed(meeting, i, ready, data))
            continue;
        if (is_ready)
            engine_touch_seen(joined(meeting, i));
        else
            engine_touch_polled(joined(meeting, i));
        if (!meeting->deposit[i])
            return;
    }
}

static bool is_over(const struct comm_view *view, const struct meeting *meeting,
                    meeting_ready *ready, void *data)
{
    return view_ends_waiting(view) || ready(data) || knows_of_death(meeting, false);
}

/* In a run that is explored: by what else it would be over, or what would have come of it. */
static void touch_others(const struct comm_view *view, const struct meeting *meeting, bool is_ready)
{
    for (int i = 0; i < meeting->size; i++) {
        if (meeting->deposit[i])
            continue;
        if (is_ready)
            engine_could_be_informed(engine_death_of(meeting->process[i]));
        else
            engine_touch(TOUCH_LOOK, joined(meeting, i));
    }
    if (is_ready)
        view_could_be_revoked(view);
}

bool meeting_settled(const struct comm_view *view, struct meeting *meeting, meeting_ready *ready,
                     void *data)
{
    if (!engine->transitions)
        return is_over(view, meeting, ready, data);
    bool is_ready = ready(data);
    touch_needed(meeting, ready, data, is_ready);
    if (engine->goes_on)
        touch_others(view, meeting, is_ready);
    return is_ready || is_over(view, meeting, ready, data);
}

struct awaited {
    const struct comm_view *view;
    struct meeting *meeting;
    meeting_ready *ready;
    void *data;
};

static bool is_settled(void *data)
{
    const struct awaited *awaited = data;
    return meeting_settled(awaited->view, awaited->meeting, awaited->ready, awaited->data);
}

int meeting_outcome(struct comm_view *view, const struct meeting *meeting, meeting_ready *ready,
                    void *data, bool waited)
{
    if (meeting->size > 1)
        engine_took();
    bool by_revocation = !ready(data) && !knows_of_death(meeting, false);
    if (view_revoked(view, waited || by_revocation))
        return MPIX_ERR_REVOKED;
    if (!ready(data))
        return MPIX_ERR_PROC_FAILED;
    bool may_raise = knows_of_death(meeting, true);
    return may_raise && engine_decide(DECIDE_RAISE, 2) == 1 ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

int meeting_await(struct comm_view *view, struct meeting *meeting, meeting_ready *ready, void *data)
{
    bool waits = !ready(data) && !knows_of_death(meeting, false);
    engine_wait(is_settled, &(struct awaited){view, meeting, ready, data});
    return meeting_outcome(view, meeting, ready, data, waits);
}
