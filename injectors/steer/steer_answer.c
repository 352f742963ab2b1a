/* What Test, Waitany, Waitsome, Testsome, Iprobe and their like answer: see steer.h and plan.h
 * (ANSWER); indices of requests count from 0. A "no" is given although the answer could be yes; the
 * library makes progress in the call. For a "yes", and for the requests that the plan names, the
 * call waits. What MPI does not allow (no, where no request is active), or what never comes (the
 * job cannot go on otherwise), is answered as the library would, and the evidence says so. */
#include "injectors/steer/steer_parts.h"

enum { ANSWER_NO = 0, ANSWER_YES = 1 };

static bool says(const struct plan_step *step, int answer)
{
    return step && step->orders == 0 && step->choice == answer;
}

/* Of what the program asks for in the upper call, if Faultline knows any of it. */
static bool is_asked(const struct request *waited)
{
    bool known = false;
    for (uint32_t i = 0; i < thread_state.asked_count; i++) {
        const struct request *asked = thread_state.asked[i];
        if (asked && waited && asked->kind == waited->kind &&
            rules_may_stand_for(waited->communicator->id, asked->communicator->id))
            return true;
        known |= asked != NULL;
    }
    return !known;
}

/* The step that wants something of this call, *index its number. What was matched at the program's
 * call is not for requests of the protocol's own, which it asks for inside that call. */
static const struct plan_step *take_answer(struct request *const *requests, int count,
                                           uint32_t *index)
{
    const struct plan_step *step = steer_taken(ACTION_ANSWER, index);
    bool ours = !step || step->when.level != LEVEL_APP;
    for (int i = 0; i < count && !ours; i++)
        ours = is_asked(requests[i]);
    if (ours)
        return step;
    rules_reoffer(*index);
    return NULL;
}

/* --- waiting ---------------------------------------------------------------------------------- */

typedef bool come_true(void *context);

/* false: it did not come, and the job cannot go on. */
static bool wait_until(come_true *holds, void *context)
{
    uint32_t unstick = rules_unstick();
    unsigned round = 0;
    bool true_now;
    rules_wait_begin();
    while (!(true_now = holds(context)) && rules_unstick() == unstick)
        steer_round(&round);
    rules_wait_end();
    return true_now;
}

struct some {
    MPI_Request *requests;
    const int32_t *index; /* which; NULL: all `count` */
    uint32_t count;
};

static bool are_complete(void *context)
{
    const struct some *some = context;
    for (uint32_t i = 0; i < some->count; i++)
        if (!steer_is_complete(some->requests[some->index ? some->index[i] : (int32_t)i]))
            return false;
    return true;
}

/* Those that are active, one of which is waited for. */
struct any {
    const struct batch *batch;
    MPI_Request *requests;
};

static void make_progress(void)
{
    int flag;
    MPI_Status status;
    library.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, handles.COMM_SELF, &flag, &status);
}

static bool any_active(const struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        if (batch->request[i])
            return true;
    return false;
}

/* --- one request ------------------------------------------------------------------------------ */

static int test(const struct record *recorded, const struct request *waited, MPI_Request *request,
                int *flag, MPI_Status *status)
{
    uint32_t index;
    struct request *const one[] = {(struct request *)(uintptr_t)waited};
    const struct plan_step *step = take_answer(one, 1, &index);
    if (says(step, ANSWER_NO) && waited) {
        make_progress();
        *flag = 0;
        rules_answered(index, recorded, ANSWER_NO, true);
        return MPI_SUCCESS;
    }
    bool come =
        says(step, ANSWER_YES) && wait_until(are_complete, &(struct some){request, NULL, 1});
    int result = library.Test(request, flag, status);
    if (step)
        rules_answered(index, recorded, *flag, come && *flag);
    return result;
}

/* --- all -------------------------------------------------------------------------------------- */

static int testall(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *flag, MPI_Status *statuses)
{
    uint32_t index;
    const struct plan_step *step = take_answer(batch->request, batch->count, &index);
    int count = batch->asked;
    if (says(step, ANSWER_NO) && any_active(batch)) {
        make_progress();
        *flag = 0;
        rules_answered(index, recorded, ANSWER_NO, true);
        return MPI_SUCCESS;
    }
    bool come = says(step, ANSWER_YES) &&
                wait_until(are_complete, &(struct some){requests, NULL, (uint32_t)count});
    int result = library.Testall(count, requests, flag, statuses);
    if (step)
        rules_answered(index, recorded, *flag, come && *flag);
    return result;
}

/* --- any -------------------------------------------------------------------------------------- */

/* Request `chosen` is one of those given, and can complete. */
static bool can_be(const struct batch *batch, int32_t chosen)
{
    return chosen >= 0 && chosen < batch->count && batch->request[chosen] != NULL;
}

/* Completes the one that the plan names and nothing else. false: nothing was done. */
static bool complete_one(const struct batch *batch, const struct plan_step *step,
                         MPI_Request *requests, int *index, MPI_Status *status, int *result)
{
    int flag = 0;
    int32_t chosen = step->order[0];
    if (step->orders != 1 || !can_be(batch, chosen) ||
        !wait_until(are_complete, &(struct some){&requests[chosen], NULL, 1}))
        return false;
    *result = library.Test(&requests[chosen], &flag, status);
    *index = chosen;
    return true;
}

static bool some_is_complete(void *context)
{
    const struct batch *batch = ((const struct any *)context)->batch;
    for (int i = 0; i < batch->count; i++)
        if (batch->request[i] && steer_is_complete(((const struct any *)context)->requests[i]))
            return true;
    return !any_active(batch);
}

static int wait_any(const struct batch *batch, MPI_Request *requests, int *index,
                    MPI_Status *status)
{
    unsigned round = 0;
    for (;;) {
        int flag = 0;
        int result = library.Testany(batch->asked, requests, index, &flag, status);
        if (result != MPI_SUCCESS || flag)
            return result;
        steer_round(&round);
    }
}

static int waitany(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *index, MPI_Status *status)
{
    uint32_t at;
    int result = MPI_SUCCESS;
    const struct plan_step *step = take_answer(batch->request, batch->count, &at);
    bool done = step && complete_one(batch, step, requests, index, status, &result);
    if (!done)
        result = wait_any(batch, requests, index, status);
    if (step)
        rules_answered(at, recorded, *index, done);
    return result;
}

static int testany(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *index, int *flag, MPI_Status *status)
{
    uint32_t at;
    int result = MPI_SUCCESS;
    const struct plan_step *step = take_answer(batch->request, batch->count, &at);
    bool no = says(step, ANSWER_NO) && any_active(batch);
    if (no) {
        make_progress();
        *flag = 0;
        *index = MPI_UNDEFINED;
        rules_answered(at, recorded, MPI_UNDEFINED, true);
        return MPI_SUCCESS;
    }
    bool yes =
        says(step, ANSWER_YES) && wait_until(some_is_complete, &(struct any){batch, requests});
    bool done = step && complete_one(batch, step, requests, index, status, &result);
    *flag = 1;
    if (!done)
        result = library.Testany(batch->asked, requests, index, flag, status);
    if (step)
        rules_answered(at, recorded, *index, done || (yes && *flag));
    return result;
}

/* --- some ------------------------------------------------------------------------------------- */

/* All that the plan names, and nothing else. false: nothing was done. */
static bool complete_some(const struct batch *batch, const struct plan_step *step,
                          MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses,
                          int *result)
{
    if (step->orders == 0 || step->orders > (uint32_t)batch->count)
        return false;
    for (uint32_t i = 0; i < step->orders; i++)
        if (!can_be(batch, step->order[i]))
            return false;
    if (!wait_until(are_complete, &(struct some){requests, step->order, step->orders}))
        return false;
    *completed = (int)step->orders;
    for (uint32_t i = 0; i < step->orders; i++) {
        int flag = 0;
        indices[i] = step->order[i];
        int code = library.Test(&requests[step->order[i]], &flag, &statuses[i]);
        statuses[i].MPI_ERROR = code;
        if (code != MPI_SUCCESS)
            *result = MPI_ERR_IN_STATUS;
    }
    return true;
}

static int wait_some(const struct batch *batch, MPI_Request *requests, int *completed, int *indices,
                     MPI_Status *statuses)
{
    unsigned round = 0;
    for (;;) {
        int result = library.Testsome(batch->asked, requests, completed, indices, statuses);
        if (result != MPI_SUCCESS || *completed != 0)
            return result;
        steer_round(&round);
    }
}

static int waitsome(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                    int *completed, int *indices, MPI_Status *statuses)
{
    uint32_t at;
    int result = MPI_SUCCESS;
    const struct plan_step *step = take_answer(batch->request, batch->count, &at);
    bool done = step && complete_some(batch, step, requests, completed, indices, statuses, &result);
    if (!done)
        result = wait_some(batch, requests, completed, indices, statuses);
    if (step)
        rules_answered(at, recorded, *completed, done);
    return result;
}

static int testsome(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                    int *completed, int *indices, MPI_Status *statuses)
{
    uint32_t at;
    int result = MPI_SUCCESS;
    const struct plan_step *step = take_answer(batch->request, batch->count, &at);
    bool no = says(step, ANSWER_NO) && any_active(batch);
    bool yes =
        says(step, ANSWER_YES) && wait_until(some_is_complete, &(struct any){batch, requests});
    if (no) {
        make_progress();
        *completed = 0;
    }
    bool done =
        no || (step && complete_some(batch, step, requests, completed, indices, statuses, &result));
    if (!done)
        result = library.Testsome(batch->asked, requests, completed, indices, statuses);
    if (step)
        rules_answered(at, recorded, *completed, done || (yes && *completed > 0));
    return result;
}

/* --- probes ----------------------------------------------------------------------------------- */

struct question {
    int source;
    int tag;
    MPI_Comm comm;
    int *flag;
    MPI_Message *message; /* NULL: Iprobe */
    MPI_Status *status;
    int result;
};

static bool is_found(void *context)
{
    struct question *q = context;
    q->result = steer_ask(q->source, q->tag, q->comm, q->flag, q->message, q->status);
    return q->result != MPI_SUCCESS || *q->flag;
}

static int answer_probe(uint32_t index, const struct record *recorded, struct question *question)
{
    int wanted = rules_step(index)->choice;
    if (wanted == ANSWER_NO) {
        make_progress();
        *question->flag = 0;
        rules_answered(index, recorded, ANSWER_NO, true);
        return MPI_SUCCESS;
    }
    wait_until(is_found, question);
    rules_answered(index, recorded, *question->flag, wanted == *question->flag);
    return question->result;
}

static int probe_now(const struct record *recorded, struct question *q)
{
    uint32_t taken = rules_take();
    if (taken && rules_step(taken - 1)->action == ACTION_ANSWER && q->source != MPI_PROC_NULL)
        return answer_probe(taken - 1, recorded, q);
    if (taken && rules_step(taken - 1)->action == ACTION_CHOOSE)
        return steer_choose_now(taken - 1, recorded, q->source, q->tag, q->comm, q->flag,
                                q->message, q->status);
    if (taken)
        rules_give_back(taken - 1);
    return steer_ask(q->source, q->tag, q->comm, q->flag, q->message, q->status);
}

static int improbe(const struct record *recorded, int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    struct question question = {source, tag, comm, flag, message, status, MPI_SUCCESS};
    return probe_now(recorded, &question);
}

/* --- what nobody decides ---------------------------------------------------------------------- */

static bool match_any(const struct record *posted, int *source, int *tag, MPI_Comm comm)
{
    (void)posted;
    (void)source;
    (void)tag;
    (void)comm;
    return true;
}

static void return_at_once(const struct record *recorded)
{
    (void)recorded;
}

static const struct steer_answers by_plan = {.match = match_any,
                                             .stay = return_at_once,
                                             .test = test,
                                             .testall = testall,
                                             .testany = testany,
                                             .testsome = testsome,
                                             .waitany = waitany,
                                             .waitsome = waitsome,
                                             .improbe = improbe};
const struct steer_answers *steer_answers = &by_plan;
