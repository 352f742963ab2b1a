/* The progress loop, and every blocking call in its terms: see steer.h.
 *
 * What the plan holds back is kept in the memory of its sender, and only that process can send it
 * on. A rank that blocks inside the library would never do so:
 *
 *     rank 0:  send x (held)   recv from 1          rank 1:  recv x   send to 0
 *
 * Rank 0 must hand over x while it waits in its receive. So each blocking call is made as its
 * non-blocking counterpart, and waited for in a loop of ours (steer_finish) that asks the library
 * and then does a round: looks at held messages, at receives that wait for their choice, and at
 * what a watcher wants (steer_look). A thread of our own in the background would need
 * MPI_THREAD_MULTIPLE, which the program need not have asked for.
 *
 * A round must be cheap when the answer comes at once, and must not take the processor from the
 * ranks it waits for: at first the loop spins, then it yields, then it sleeps (steer_round). */
#include "injectors/record/schedule.h"
#include "injectors/steer/steer_parts.h"
#include "injectors/steer/steer_wide.h"
#include "injectors/taps/tap_survivors.h"

#include <stdlib.h>
#include <time.h>

/* A message that is on its way comes within a few rounds; a rank that has to be scheduled first
 * needs the processor; what a condition holds back may take long. */
#define ROUNDS_BEFORE_YIELD 32
#define ROUNDS_BEFORE_SLEEP 512
#define SLEEP_NS 50000

/* When all ranks are in MPI_Finalize nobody posts a receive any more: what the library has not
 * taken over soon after was sent to nobody. */
#define LAST_WAIT_NS 200000000u

void steer_look(void)
{
    if (!tap_ready)
        return;
    if (runtime_watching)
        watcher->round();
    steer_hold_look(false);
    steer_choose_look();
}

uint64_t steer_looks_in(void)
{
    return runtime_only_delays ? steer_hold_looks_in() : 0;
}

uint64_t steer_look_at_held(void)
{
    steer_look();
    bool keeps = steer_holds(handles.COMM_NULL) ||
                 atomic_load_explicit(&runtime_slot->choosing, memory_order_relaxed) > 0;
    return keeps ? steer_looks_in() : UINT64_MAX;
}

void steer_round(unsigned *round)
{
    steer_look();
    /* Where the board does not show the call that waits (with several threads), the driver can know
     * only from the count of vain polls that this rank does not move. */
    if (atomic_load_explicit(&runtime_slot->blocking_call, memory_order_relaxed) == 0)
        runtime_polled_in_vain();
    if (schedule) {
        schedule->linger(steer_looks_in());
        return;
    }
    if (++*round < ROUNDS_BEFORE_YIELD)
        return;
    if (*round < ROUNDS_BEFORE_SLEEP)
        sched_yield();
    else
        nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
}

bool steer_is_complete(MPI_Request request)
{
    int flag = 0;
    return library.Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

/* `result` is what the call returned that started the request. Waits for it, in rounds. */
static int steer_finish(int result, MPI_Request *request, MPI_Status *status)
{
    unsigned round = 0;
    if (result != MPI_SUCCESS)
        return result;
    while (!steer_is_complete(*request))
        steer_round(&round);
    return library.Wait(request, status);
}

/* --- one message ------------------------------------------------------------------------------ */

int steer_send(unsigned call, const struct record *sent, const void *buffer, MPI_Count count,
               MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
    struct outgoing outgoing = {
        sent, rules_take(), steer_mode(call), buffer, count, type, destination, tag, comm};
    bool synchronous = outgoing.mode == MODE_SYNCHRONOUS;
    struct carrier carrier = {.kind = synchronous ? CARRIER_AWAITED : CARRIER_NONE};
    struct carried *held = steer_hold(&outgoing, &carrier);
    if (held)
        return synchronous ? steer_await(held) : MPI_SUCCESS;
    if (outgoing.mode == MODE_BUFFERED)
        return steer_wide(Bsend, buffer, count, type, destination, tag, comm);
    MPI_Request request = handles.REQUEST_NULL;
    return steer_finish(steer_pass_on(&outgoing, &request), &request, MPI_STATUS_IGNORE);
}

/* Of a message that we keep, a send is complete at once; a synchronous one when it is matched. */
int steer_isend(unsigned call, const struct record *sent, const void *buffer, MPI_Count count,
                MPI_Datatype type, int destination, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct outgoing outgoing = {
        sent, rules_take(), steer_mode(call), buffer, count, type, destination, tag, comm};
    bool synchronous = outgoing.mode == MODE_SYNCHRONOUS;
    struct carrier carrier = {.kind = synchronous ? CARRIER_SIGNALS : CARRIER_NONE, .signal = -1};
    if (!steer_hold(&outgoing, &carrier))
        return steer_pass_on(&outgoing, request);
    if (!synchronous)
        return library.Isend(NULL, 0, handles.BYTE, MPI_PROC_NULL, 0, comm, request);
    *request = carrier.request;
    return MPI_SUCCESS;
}

/* What blocks cannot stay pending, as a request for any source may when a process dies: the request
 * is taken back, and the death raised, unless a message came in between. */
static int finish_receive(int result, MPI_Request *request, MPI_Status *status)
{
    result = steer_finish(result, request, status);
#ifdef MPIX_ERR_PROC_FAILED
    if (error_class(result) != RAISED_PROC_FAILED_PENDING)
        return result;
    MPI_Status taken_back;
    int cancelled = 0;
    library.Cancel(request);
    result = library.Wait(request, &taken_back);
    library.Test_cancelled(&taken_back, &cancelled);
    if (cancelled)
        return MPIX_ERR_PROC_FAILED;
    if (status != MPI_STATUS_IGNORE)
        *status = taken_back;
#endif
    return result;
}

int steer_receive(const struct record *posted, void *buffer, MPI_Count count, MPI_Datatype type,
                  int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    uint32_t step;
    MPI_Message message;
    MPI_Request request = handles.REQUEST_NULL;
    if (source == MPI_PROC_NULL) /* its status is not that of a request everywhere */
        return steer_wide(Recv, buffer, count, type, source, tag, comm, status);
    steer_settle(source, tag, comm);
    steer_answers->match(posted, &source, &tag, comm);
    if (steer_taken(ACTION_CHOOSE, &step) &&
        steer_choose(step, posted, source, tag, comm, &message, status))
        return steer_matched_receive(buffer, count, type, &message, status);
    return finish_receive(steer_wide(Irecv, buffer, count, type, source, tag, comm, &request),
                          &request, status);
}

int steer_matched_receive(void *buffer, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                          MPI_Status *status)
{
    MPI_Request request = handles.REQUEST_NULL;
    return steer_finish(steer_wide(Imrecv, buffer, count, type, message, &request), &request,
                        status);
}

/* --- exchanges -------------------------------------------------------------------------------- */

/* Starts the sending half. A buffer that the receive overwrites is sent from a copy (*copy, to be
 * freed when the request is complete). */
static int begin_exchange(const struct steer_exchange *exchange, MPI_Request *request, void **copy)
{
    const struct steer_side *out = &exchange->out;
    struct outgoing outgoing = {exchange->sent, exchange->step, MODE_STANDARD,
                                out->buffer,    out->count,     out->type,
                                out->peer,      out->tag,       exchange->comm};
    *request = handles.REQUEST_NULL;
    *copy = NULL;
    if (steer_hold(&outgoing, NULL))
        return MPI_SUCCESS;
    if (exchange->replace) {
        uint64_t bytes = 0;
        *copy = payload_copy(out->buffer, out->count, out->type, &bytes);
        outgoing.buffer = *copy;
        outgoing.count = (MPI_Count)bytes;
        outgoing.type = handles.PACKED;
        if (!*copy)
            return MPI_ERR_NO_MEM;
    }
    return steer_pass_on(&outgoing, request);
}

int steer_sendreceive(const struct steer_exchange *exchange, MPI_Status *status)
{
    const struct steer_side *in = &exchange->in;
    MPI_Request request;
    void *copy;
    int sent = begin_exchange(exchange, &request, &copy);
    if (sent != MPI_SUCCESS)
        return sent;
    int received = steer_receive(exchange->posted, in->buffer, in->count, in->type, in->peer,
                                 in->tag, exchange->comm, status);
    sent = steer_finish(MPI_SUCCESS, &request, MPI_STATUS_IGNORE);
    free(copy);
    return received != MPI_SUCCESS ? received : sent;
}

#ifdef MPI_LIBRARY_HAS_ISENDRECV
/* A held send is complete, so the receive alone is what is waited for. */
int steer_isendreceive(const struct steer_exchange *exchange, MPI_Request *request)
{
    const struct steer_side *out = &exchange->out, *in = &exchange->in;
    struct outgoing outgoing = {exchange->sent, exchange->step, MODE_STANDARD,
                                out->buffer,    out->count,     out->type,
                                out->peer,      out->tag,       exchange->comm};
    steer_settle(in->peer, in->tag, exchange->comm);
    if (steer_hold(&outgoing, NULL))
        return steer_ireceive(exchange->posted, in->buffer, in->count, in->type, in->peer, in->tag,
                              exchange->comm, request);
    uint32_t step;
    if (steer_taken(ACTION_CHOOSE, &step))
        rules_give_back(step);
    if (exchange->replace)
        return steer_wide(Isendrecv_replace, in->buffer, in->count, in->type, out->peer, out->tag,
                          in->peer, in->tag, exchange->comm, request);
    return steer_wide_pair(Isendrecv, out->buffer, out->count, out->type, out->peer, out->tag,
                           in->buffer, in->count, in->type, in->peer, in->tag, exchange->comm,
                           request);
}
#endif

/* --- blocking probes -------------------------------------------------------------------------- */

static int probe_until_found(int source, int tag, MPI_Comm comm, MPI_Message *message,
                             MPI_Status *status)
{
    unsigned round = 0;
    for (;;) {
        int flag = 0;
        int result = steer_ask(source, tag, comm, &flag, message, status);
        if (result != MPI_SUCCESS || flag)
            return result;
        steer_round(&round);
    }
}

int steer_mprobe(const struct record *recorded, int source, int tag, MPI_Comm comm,
                 MPI_Message *message, MPI_Status *status)
{
    uint32_t step;
    steer_settle(source, tag, comm);
    steer_answers->match(recorded, &source, &tag, comm);
    if (steer_taken(ACTION_CHOOSE, &step) &&
        steer_choose(step, recorded, source, tag, comm, message, status))
        return MPI_SUCCESS;
    return probe_until_found(source, tag, comm, message, status);
}

/* --- completion ------------------------------------------------------------------------------- */

int steer_wait(MPI_Request *request, MPI_Status *status)
{
    return steer_finish(MPI_SUCCESS, request, status);
}

int steer_waitall(const struct record *recorded, int count, MPI_Request *requests,
                  MPI_Status *statuses)
{
    unsigned round = 0;
    steer_answers->stay(recorded);
    for (int i = 0; i < count; i++)
        while (!steer_is_complete(requests[i]))
            steer_round(&round);
    return library.Waitall(count, requests, statuses);
}

/* --- collectives ------------------------------------------------------------------------------ */

int steer_collective(int result, MPI_Request *request)
{
    return steer_finish(result, request, MPI_STATUS_IGNORE);
}

void steer_gather(MPI_Comm comm)
{
    MPI_Request request;
    unsigned round = 0;
    if (!tap_ready)
        return;
    if (comm == handles.COMM_NULL) {
        while (steer_delays())
            steer_round(&round);
        return;
    }
    steer_finish(library.Ibarrier(comm, &request), &request, MPI_STATUS_IGNORE);
}

MPI_Comm steer_grid(MPI_Comm comm)
{
    int kind;
    if (comm == handles.COMM_NULL)
        return comm;
    bool well = library.Topo_test(comm, &kind) == MPI_SUCCESS;
    return well && kind == MPI_CART ? comm : handles.COMM_NULL;
}

bool steer_gathered(MPI_Comm comm)
{
    bool between = communicator_find(LEVEL_WIRE, comm)->remote != NULL;
    if (between)
        steer_gather(comm);
    return between;
}

void steer_drain(unsigned call, const MPI_Comm *comm)
{
    unsigned round = 0;
    if (!comm || *comm == handles.COMM_NULL)
        return;
    while (steer_holds(*comm))
        steer_round(&round);
    if (call == CALL_MPI_Comm_disconnect)
        steer_gather(*comm);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* A message stays held until its step lets it go, or until all ranks are in MPI_Finalize: if a rank
 * let go of its last messages when it gets there itself, the plan's order would be lost. A rank
 * that waits for such a message never gets there; then the job cannot go on, and that releases the
 * message, too. */
void steer_finalize(void)
{
    MPI_Request everybody = handles.REQUEST_NULL;
    unsigned round = 0;
    if (!tap_ready)
        return;
    if (survivors_opened()) /* a barrier would wait for the dead */
        while (!survivors_are_leaving())
            steer_round(&round);
    else
        steer_finish(library.Ibarrier(handles.COMM_WORLD, &everybody), &everybody,
                     MPI_STATUS_IGNORE);
    round = 0;
    for (uint64_t end = clock_monotonic_ns() + LAST_WAIT_NS;
         steer_holds(handles.COMM_NULL) && clock_monotonic_ns() < end;) {
        steer_hold_look(true);
        steer_round(&round);
    }
    steer_abandon();
    steer_signals_close();
}
