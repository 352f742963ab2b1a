/* Which message a wildcard receive or probe takes: see steer.h and plan.h (CHOOSE).
 *
 * Of one source the message that came first is taken, whatever its tag: choosing a later one would
 * be overtaking. So a choice of a tag can be had only while the first message has it.
 *
 * A blocking receive or probe is simple: it looks for the chosen message until it is there, and
 * takes it by a matched probe, so that nobody else can take it in between (look, steer_choose).
 *
 * A non-blocking receive whose message is not there yet *waits for its choice*: it is not posted in
 * the library, and its request is a generalized one. Until it has its message, no later receive or
 * probe on that communicator may take or see what it could take: blocking ones wait, Iprobe says
 * no. When the job cannot go on so, it is posted as the program wrote it.
 *
 *     plan: choose rank 2     r = Irecv(any)     a message from rank 1 arrives     Recv(source 1)
 *
 * As the program wrote it, r takes the message from rank 1, and the Recv gets the next one from
 * there. If the Recv were let through while r waits for rank 2, it would get the first: an order
 * that no MPI allows. So it waits until r has its message (steer_settle).
 *
 * `unstick` is a count of the times at which the job was found not to go on; each wait notes it
 * when it begins and gives up when it has grown. */
#include "injectors/steer/steer_parts.h"
#include "injectors/steer/steer_wide.h"

#include <stdlib.h>

enum outlook { CHOICE_THERE, CHOICE_NOT_YET, CHOICE_IMPOSSIBLE };

/* What is chosen among, and what. Ranks as `comm` numbers them. */
struct choice {
    const struct plan_step *step;
    MPI_Comm comm;
    int tag;   /* as the program asks */
    int first; /* source; from here ... */
    int last;  /* ... to here. Nothing: it is not one that the call could take */
};

/* A receive that waits for its choice, and then for its data. */
struct waiting {
    struct waiting *next;
    struct choice choice;
    uint32_t step;
    const struct record *posted;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type; /* ours if own_type */
    bool own_type;
    int source; /* as the program asks */
    uint32_t unstick;
    MPI_Request request; /* the program's: generalized */
    MPI_Request inner;   /* the library's, once posted */
    bool posted_now;
    bool cancelled;
    _Atomic bool cancel; /* asked for */
    _Atomic bool gone;   /* the program's request is no more */
    MPI_Status status;
    int result;
};

static struct tap_lock lock;
static struct waiting *receives;
static _Atomic unsigned receive_count;

const struct plan_step *steer_taken(enum plan_action action, uint32_t *step)
{
    uint32_t taken = rules_take();
    if (!taken)
        return NULL;
    *step = taken - 1;
    if (rules_step(*step)->action == action)
        return rules_step(*step);
    rules_give_back(*step);
    return NULL;
}

/* --- the choice ------------------------------------------------------------------------------- */

int steer_rank_of(const struct communicator *c, int world_rank)
{
    for (int i = 0; i < c->peers->size; i++)
        if (communicator_peer(c, i) == world_rank)
            return i;
    return MPI_UNDEFINED;
}

static struct choice make_choice(uint32_t step, int source, int tag, MPI_Comm comm)
{
    const struct communicator *c = communicator_find(LEVEL_WIRE, comm);
    struct choice choice = {.step = rules_step(step), .comm = comm, .tag = tag};
    int chosen = source;
    choice.last = c->peers->size - 1;
    if (choice.step->choice != PLAN_ANY)
        chosen = steer_rank_of(c, choice.step->choice);
    if (chosen == MPI_ANY_SOURCE)
        return choice;
    choice.first = choice.last = chosen;
    if (chosen < 0 || (source != MPI_ANY_SOURCE && source != chosen))
        choice.last = choice.first - 1;
    return choice;
}

/* Takes it if `message` is not NULL. */
static enum outlook look_at_source(const struct choice *choice, int source, MPI_Message *message,
                                   MPI_Status *status)
{
    int flag = 0;
    if (library.Iprobe(source, choice->tag, choice->comm, &flag, status) != MPI_SUCCESS)
        return CHOICE_IMPOSSIBLE;
    if (!flag)
        return CHOICE_NOT_YET;
    if (choice->step->choice_tag != PLAN_ANY && choice->step->choice_tag != status->MPI_TAG)
        return CHOICE_IMPOSSIBLE;
    if (message && (library.Improbe(source, choice->tag, choice->comm, &flag, message, status) !=
                        MPI_SUCCESS ||
                    !flag))
        return CHOICE_NOT_YET; /* another thread was faster */
    return CHOICE_THERE;
}

static enum outlook look(const struct choice *choice, MPI_Message *message, MPI_Status *status)
{
    enum outlook best = CHOICE_IMPOSSIBLE;
    for (int source = choice->first; source <= choice->last; source++) {
        enum outlook here = look_at_source(choice, source, message, status);
        if (here == CHOICE_THERE)
            return here;
        if (here == CHOICE_NOT_YET)
            best = here;
    }
    return best;
}

static int32_t chosen_peer(const struct choice *choice, enum outlook outlook,
                           const MPI_Status *status)
{
    const struct communicator *c = communicator_find(LEVEL_WIRE, choice->comm);
    if (outlook == CHOICE_THERE)
        return communicator_peer(c, status->MPI_SOURCE);
    return choice->step->choice == PLAN_ANY ? PEER_ANY : choice->step->choice;
}

static void record_choice(uint32_t step, const struct record *recorded, const struct choice *choice,
                          enum outlook outlook, const MPI_Status *status)
{
    rules_chosen(step, recorded, chosen_peer(choice, outlook, status), outlook == CHOICE_THERE);
}

bool steer_choose(uint32_t step, const struct record *recorded, int source, int tag, MPI_Comm comm,
                  MPI_Message *message, MPI_Status *status)
{
    struct choice choice = make_choice(step, source, tag, comm);
    uint32_t unstick = rules_unstick();
    unsigned round = 0;
    enum outlook outlook;
    rules_wait_begin();
    while ((outlook = look(&choice, message, status)) == CHOICE_NOT_YET &&
           rules_unstick() == unstick)
        steer_round(&round);
    rules_wait_end();
    record_choice(step, recorded, &choice, outlook, status);
    return outlook == CHOICE_THERE;
}

/* --- probes that do not wait ------------------------------------------------------------------ */

/* Per step, of probes that said no because their message is not there: from the first one to the
 * one that finds it, or until the job cannot go on so. */
enum asking { ASKED_NEVER, ASKED_IN_VAIN, ASKED_TOO_LONG };

static enum asking asking[PLAN_MAX_STEPS];
static uint32_t asking_since[PLAN_MAX_STEPS]; /* rules_unstick then */
static _Atomic unsigned asking_count;

static void ask_on(uint32_t step)
{
    if (asking[step] != ASKED_NEVER)
        return;
    asking[step] = ASKED_IN_VAIN;
    asking_since[step] = rules_unstick();
    atomic_fetch_add(&asking_count, 1);
    rules_wait_begin();
}

static void stop_asking(uint32_t step, enum asking now)
{
    if (asking[step] == ASKED_IN_VAIN) {
        atomic_fetch_sub(&asking_count, 1);
        rules_wait_end();
    }
    asking[step] = now;
}

static void look_at_asking(void)
{
    for (uint32_t step = 0; step < PLAN_MAX_STEPS; step++)
        if (asking[step] == ASKED_IN_VAIN && asking_since[step] != rules_unstick())
            stop_asking(step, ASKED_TOO_LONG);
}

int steer_choose_now(uint32_t step, const struct record *recorded, int source, int tag,
                     MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct choice choice = make_choice(step, source, tag, comm);
    enum outlook outlook = look(&choice, message, status);
    tap_lock(&lock);
    bool again = outlook == CHOICE_NOT_YET && asking[step] != ASKED_TOO_LONG;
    if (again)
        ask_on(step);
    else
        stop_asking(step, ASKED_NEVER);
    tap_unlock(&lock);
    if (again) {
        rules_give_back(step);
        *flag = 0;
        return MPI_SUCCESS;
    }
    record_choice(step, recorded, &choice, outlook, status);
    *flag = outlook == CHOICE_THERE;
    if (*flag)
        return MPI_SUCCESS;
    return steer_ask(source, tag, comm, flag, message, status);
}

/* --- receives that wait for their choice ------------------------------------------------------ */

static bool overlaps(const struct waiting *w, int source, int tag, MPI_Comm comm)
{
    return w->choice.comm == comm && !w->posted_now &&
           (w->source == source || w->source == MPI_ANY_SOURCE || source == MPI_ANY_SOURCE) &&
           (w->choice.tag == tag || w->choice.tag == MPI_ANY_TAG || tag == MPI_ANY_TAG);
}

/* No such receive was posted before that could take what (source, tag, comm) asks for. */
static bool steer_is_first(int source, int tag, MPI_Comm comm)
{
    bool first = true;
    if (likely(atomic_load_explicit(&receive_count, memory_order_relaxed) == 0))
        return true;
    tap_lock(&lock);
    for (const struct waiting *w = receives; w && first; w = w->next)
        first = !overlaps(w, source, tag, comm);
    tap_unlock(&lock);
    return first;
}

void steer_settle(int source, int tag, MPI_Comm comm)
{
    unsigned round = 0;
    while (!steer_is_first(source, tag, comm))
        steer_round(&round);
}

/* The generalized request. */
static int query(void *extra, MPI_Status *status)
{
    const struct waiting *w = extra;
    library.Status_set_elements_x(status, handles.BYTE, (MPI_Count)status_bytes(&w->status));
    library.Status_set_cancelled(status, w->cancelled);
    status->MPI_SOURCE = w->status.MPI_SOURCE;
    status->MPI_TAG = w->status.MPI_TAG;
    return w->result;
}

static int freed(void *extra)
{
    struct waiting *w = extra;
    atomic_store(&w->gone, true);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    struct waiting *w = extra;
    if (!complete)
        atomic_store(&w->cancel, true);
    return MPI_SUCCESS;
}

static void post(struct waiting *w, enum outlook outlook, MPI_Message *message)
{
    record_choice(w->step, w->posted, &w->choice, outlook, &w->status);
    rules_wait_end();
    w->posted_now = true;
    w->result = outlook == CHOICE_THERE
                    ? steer_wide(Imrecv, w->buffer, w->count, w->type, message, &w->inner)
                    : steer_wide(Irecv, w->buffer, w->count, w->type, w->source, w->choice.tag,
                                 w->choice.comm, &w->inner);
}

/* Before it is posted it can be taken back; afterwards the library decides. */
static void cancel_now(struct waiting *w)
{
    atomic_store(&w->cancel, false);
    if (w->posted_now) {
        library.Cancel(&w->inner);
        return;
    }
    rules_give_back(w->step);
    rules_wait_end();
    w->posted_now = true;
    w->cancelled = true;
}

static void advance(struct waiting *w)
{
    MPI_Message message;
    if (atomic_load(&w->cancel))
        cancel_now(w);
    if (w->posted_now)
        return;
    enum outlook outlook = look(&w->choice, &message, &w->status);
    if (outlook != CHOICE_NOT_YET || rules_unstick() != w->unstick)
        post(w, outlook, &message);
}

static bool is_done(struct waiting *w)
{
    int flag = 1, cancelled = 0;
    if (!w->posted_now)
        return false;
    if (w->cancelled || w->result != MPI_SUCCESS)
        return true;
    w->result = library.Test(&w->inner, &flag, &w->status);
    if (!flag && w->result == MPI_SUCCESS)
        return false;
    library.Test_cancelled(&w->status, &cancelled);
    w->cancelled = cancelled != 0;
    return true;
}

/* Done, and in the list only until the program has asked for it. */
static bool is_reported(const struct waiting *w)
{
    return w->request == handles.REQUEST_NULL;
}

static void free_waiting(struct waiting *w)
{
    if (w->own_type)
        library.Type_free(&w->type);
    free(w);
}

void steer_choose_look(void)
{
    if (likely(atomic_load_explicit(&receive_count, memory_order_relaxed) +
                   atomic_load_explicit(&asking_count, memory_order_relaxed) ==
               0))
        return;
    tap_lock(&lock);
    look_at_asking();
    for (struct waiting **link = &receives; *link;) {
        struct waiting *w = *link;
        if (!is_reported(w)) {
            advance(w);
            if (is_done(w)) {
                MPI_Request request = w->request;
                w->request = handles.REQUEST_NULL;
                library.Grequest_complete(request);
            }
        }
        if (is_reported(w) && atomic_load(&w->gone)) {
            *link = w->next;
            atomic_fetch_sub(&receive_count, 1);
            free_waiting(w);
        } else {
            link = &w->next;
        }
    }
    tap_unlock(&lock);
}

/* The program may free its datatype; named ones nobody frees. */
static bool keep_type(struct waiting *w, MPI_Datatype type)
{
    w->type = type;
    if (payload_type_of(type)->named)
        return true;
    w->own_type = library.Type_contiguous(1, type, &w->type) == MPI_SUCCESS &&
                  library.Type_commit(&w->type) == MPI_SUCCESS;
    return w->own_type;
}

/* NULL: it cannot be done; then it is posted as it is. */
static struct waiting *make_waiting(uint32_t step, const struct choice *choice, MPI_Datatype type)
{
    struct waiting *w = calloc(1, sizeof *w);
    if (!w || !keep_type(w, type)) {
        free(w);
        return NULL;
    }
    w->step = step;
    w->choice = *choice;
    w->inner = handles.REQUEST_NULL;
    w->unstick = rules_unstick();
    if (library.Grequest_start(query, freed, cancel, w, &w->request) != MPI_SUCCESS) {
        free_waiting(w);
        return NULL;
    }
    return w;
}

static void append(struct waiting *w)
{
    tap_lock(&lock);
    struct waiting **link = &receives;
    while (*link)
        link = &(*link)->next;
    *link = w;
    atomic_fetch_add(&receive_count, 1);
    tap_unlock(&lock);
    rules_wait_begin();
}

static int receive_chosen(uint32_t step, const struct record *posted, void *buffer, MPI_Count count,
                          MPI_Datatype type, int source, int tag, MPI_Comm comm,
                          MPI_Request *request)
{
    struct choice choice = make_choice(step, source, tag, comm);
    MPI_Message message;
    MPI_Status status;
    enum outlook outlook = look(&choice, &message, &status);
    struct waiting *w = outlook == CHOICE_NOT_YET ? make_waiting(step, &choice, type) : NULL;
    if (!w) {
        record_choice(step, posted, &choice, outlook, &status);
        return outlook == CHOICE_THERE
                   ? steer_wide(Imrecv, buffer, count, type, &message, request)
                   : steer_wide(Irecv, buffer, count, type, source, tag, comm, request);
    }
    w->posted = posted;
    w->buffer = buffer;
    w->count = count;
    w->source = source;
    *request = w->request;
    append(w);
    return MPI_SUCCESS;
}

int steer_ireceive(const struct record *posted, void *buffer, MPI_Count count, MPI_Datatype type,
                   int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    uint32_t step;
    steer_settle(source, tag, comm);
    if (!steer_answers->match(posted, &source, &tag, comm))
        return steer_answers->never(request);
    if (steer_taken(ACTION_CHOOSE, &step))
        return receive_chosen(step, posted, buffer, count, type, source, tag, comm, request);
    return steer_wide(Irecv, buffer, count, type, source, tag, comm, request);
}

int steer_ask(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
              MPI_Status *status)
{
    *flag = 0;
    if (!steer_is_first(source, tag, comm))
        return MPI_SUCCESS;
    return message ? library.Improbe(source, tag, comm, flag, message, status)
                   : library.Iprobe(source, tag, comm, flag, status);
}
