/* Of the program `drawn`: one group of messages, sent, received, and looked at. Must not know: when
 * in a step that is done. */
#ifndef DRAWN_MESSAGES_H
#define DRAWN_MESSAGES_H

#include "collective_calls.h"
#include "completing.h"
#include "drawn_plan.h"
#include "drawn_types.h"
#include "faultline.h"
#include "program.h"

#define WINDOW_REQUESTS (WINDOW * GROUPS * MESSAGES)
#define TAG_ASK 1
#define BROADCASTS 2
#define OVERLAPPING (BROADCASTS + 1)

/* Collective calls that go on while messages are sent and received: broadcasts, and a reduction.
 * They are begun from the last one to the first. */
struct overlapping {
    uint64_t step, mine, all, broadcast[BROADCASTS];
    MPI_Request request[OVERLAPPING];
};

/* What a checkpoint must keep besides self.kept and the payloads. */
static struct {
    MPI_Comm comm[SLOTS];
    MPI_Request sending[WINDOW][GROUPS][MESSAGES];
    MPI_Request receiving[WINDOW][GROUPS][MESSAGES];
    MPI_Message matched[WINDOW][GROUPS][MESSAGES]; /* of groups that are matched ahead */
    MPI_Request none;
    uint64_t taken;
    struct overlapping overlapping;
    uint64_t reduced; /* what they give counts at the end of a step; the step may begin again */
    bool outstanding; /* these calls go on in the next step */
    bool cancelled[WINDOW][GROUPS]; /* known ahead, of groups that are cancelled ahead */
    MPI_Request nothing;            /* a receive of what nobody sends, cancelled */
    uint64_t nobody;                /* ... into this */
} kept;

/* Which messages of a group have come. */
static bool came[WINDOW][GROUPS][MESSAGES];

static uint64_t *out, *in; /* payloads */
static uint64_t gathered;  /* what the messages of this step add to the sum, in any order */

static MPI_Comm comm_of(enum slot slot)
{
    return slot <= SLOT_CHANGING ? self.kept.comm[slot] : kept.comm[slot];
}

static uint64_t *payload(uint64_t *all, const struct group *group, int message)
{
    size_t place = (group->step % WINDOW) * GROUPS + (size_t)group->number;
    return all + (place * MESSAGES + (size_t)message) * (size_t)(STRIDE_MOST * self.size + 1);
}

static MPI_Request *request_of(MPI_Request requests[WINDOW][GROUPS][MESSAGES],
                               const struct group *group, int message)
{
    return &requests[group->step % WINDOW][group->number][message];
}

static int source_of(const struct group *group, int message)
{
    bool named = !group->any_source || (group->one_named && message == 1);
    return named ? rank_in(group->slot, group->step, group->message[message].from) : MPI_ANY_SOURCE;
}

static int tag_of(const struct group *group, int message)
{
    return group->any_tag ? MPI_ANY_TAG : group->message[message].tag;
}

static void wrong(const struct group *group, const char *what)
{
    self.kept.wrong++;
    fprintf(stderr, "drawn: rank %d: %s, group %d of step %llu\n", self.rank, what, group->number,
            (unsigned long long)group->step);
}

static void wrong_in(uint64_t step, const char *what)
{
    const struct group none = {.step = step};
    wrong(&none, what);
}

/* --- what has come ---------------------------------------------------------------------------- */

/* Of those that are still to come the first that these can be the source and the tag of: MPI lets
 * none overtake another. -1: none. */
static int which_came(const struct group *group, const MPI_Status *status)
{
    for (int k = 0; k < group->messages; k++) {
        int i = group->reversed ? group->messages - 1 - k : k;
        const struct message *message = &group->message[i];
        if (!came[group->step % WINDOW][group->number][i] && message->tag == status->MPI_TAG &&
            rank_in(group->slot, group->step, message->from) == status->MPI_SOURCE)
            return i;
    }
    return -1;
}

/* A message has come to the place of message `place`, with which it need not be the same. */
static void take(const struct group *group, int place, MPI_Status *status)
{
    int which = which_came(group, status), count, elements;
    enum shape shape = group->message[place].received_as;
    if (which < 0 || (!group->any_tag && status->MPI_TAG != group->message[place].tag)) {
        wrong(group,
              which < 0 ? "a message that nobody was to send" : "another tag than asked for");
        return;
    }
    came[group->step % WINDOW][group->number][which] = true;
    const struct message *message = &group->message[which];
    const uint64_t *at = payload(in, group, place);
    MPI_Get_count(status, shape_type[shape], &count);
    MPI_Get_elements(status, shape_type[shape], &elements);
    if (count != message->count || elements != count * (shape == PARTS ? 2 : 1)) {
        wrong(group, "another length than was sent");
        return;
    }
    uint64_t sum = count > 0 ? get(at, shape, 0) : 0;
    for (int i = 1; i < count; i++)
        if (get(at, shape, i) != content(group, which, sum, i)) {
            wrong(group, "damaged");
            break;
        }
    gathered += program_mix(sum, group->step * GROUPS * MESSAGES +
                                     (uint64_t)(group->number * MESSAGES + which));
    kept.taken++;
}

/* --- receiving -------------------------------------------------------------------------------- */

static void receive_plainly(const struct group *group, int i)
{
    enum shape shape = group->message[i].received_as;
    MPI_Status status;
    MPI_Recv(payload(in, group, i) + shapes[shape].address, (int)self.size, shape_type[shape],
             source_of(group, i), tag_of(group, i), comm_of(group->slot), &status);
    take(group, i, &status);
}

/* The message that the probe has found is received, with the source and tag that were found or with
 * those that were asked for. */
static void receive_probed(const struct group *group, int i)
{
    enum shape shape = group->message[i].received_as;
    int source = source_of(group, i), tag = tag_of(group, i), there = 0;
    MPI_Comm comm = comm_of(group->slot);
    MPI_Status found, status;
    bool as_found = draw_of(group, MESSAGES, 3 + i, 2) == 0;
    if (group->receiving == PROBE)
        MPI_Probe(source, tag, comm, &found);
    while (group->receiving == IPROBE && !there)
        MPI_Iprobe(source, tag, comm, &there, &found);
    MPI_Recv(payload(in, group, i) + shapes[shape].address, (int)self.size, shape_type[shape],
             as_found ? found.MPI_SOURCE : source, as_found ? found.MPI_TAG : tag, comm, &status);
    if (status.MPI_SOURCE != found.MPI_SOURCE || status.MPI_TAG != found.MPI_TAG)
        wrong(group, "another message than the probe had found");
    take(group, i, &status);
}

static MPI_Message *matched_of(const struct group *group, int i)
{
    return &kept.matched[group->step % WINDOW][group->number][i];
}

static void match_ahead(const struct group *group, int i)
{
    MPI_Mprobe(source_of(group, i), tag_of(group, i), comm_of(group->slot), matched_of(group, i),
               MPI_STATUS_IGNORE);
}

static void receive_matched(const struct group *group, int i)
{
    enum shape shape = group->message[i].received_as;
    uint64_t *at = payload(in, group, i) + shapes[shape].address;
    int source = source_of(group, i), tag = tag_of(group, i), there = 0;
    MPI_Comm comm = comm_of(group->slot);
    MPI_Message found;
    MPI_Request request;
    MPI_Status status;
    if (group->matched_ahead) {
        MPI_Mrecv(at, (int)self.size, shape_type[shape], matched_of(group, i), &status);
    } else if (group->receiving == MPROBE) {
        MPI_Mprobe(source, tag, comm, &found, &status);
        MPI_Mrecv(at, (int)self.size, shape_type[shape], &found, &status);
    } else {
        while (!there)
            MPI_Improbe(source, tag, comm, &there, &found, &status);
        MPI_Imrecv(at, (int)self.size, shape_type[shape], &found, &request);
        MPI_Wait(&request, &status);
    }
    take(group, i, &status);
}

/* MPI_Startall starts in any order: for receives that cannot take each other's messages. */
static bool starts_together(const struct group *group)
{
    return group->messages > 1 && !group->any_tag && group->message[0].tag != group->message[1].tag;
}

static void post(const struct group *group, int i)
{
    enum shape shape = group->message[i].received_as;
    MPI_Request *request = request_of(kept.receiving, group, i);
    bool persistent = group->receiving == PERSISTENT_RECV;
    (persistent ? MPI_Recv_init : MPI_Irecv)(payload(in, group, i) + shapes[shape].address,
                                             (int)self.size, shape_type[shape], source_of(group, i),
                                             tag_of(group, i), comm_of(group->slot), request);
    if (persistent && !starts_together(group))
        MPI_Start(request);
}

static int in_order(const struct group *group, int k)
{
    return group->reversed ? group->messages - 1 - k : k;
}

static void post_all(const struct group *group)
{
    for (int k = 0; k < group->messages; k++)
        post(group, in_order(group, k));
    if (group->receiving == PERSISTENT_RECV && starts_together(group))
        MPI_Startall(group->messages, request_of(kept.receiving, group, 0));
}

/* Those that are not posted. */
static void receive_all(const struct group *group)
{
    for (int k = 0; k < group->messages; k++) {
        int i = in_order(group, k);
        if (group->receiving == PROBE || group->receiving == IPROBE)
            receive_probed(group, i);
        else if (group->receiving == MPROBE || group->receiving == IMPROBE)
            receive_matched(group, i);
        else
            receive_plainly(group, i);
    }
}

static bool *cancelled_of(const struct group *group)
{
    return &kept.cancelled[group->step % WINDOW][group->number];
}

static void cancel_ahead(const struct group *group)
{
    MPI_Request *request = request_of(kept.receiving, group, 0);
    MPI_Status status;
    int there = 0, cancelled;
    MPI_Cancel(request);
    while (!there)
        MPI_Request_get_status(*request, &there, &status);
    MPI_Test_cancelled(&status, &cancelled);
    *cancelled_of(group) = cancelled != 0;
}

/* The posted receive is cancelled, before or after its message has come. */
static void cancel(const struct group *group)
{
    MPI_Request *request = request_of(kept.receiving, group, 0);
    MPI_Status status;
    int cancelled;
    if (!group->cancelled_ahead)
        MPI_Cancel(request);
    complete_one(group->step % 2, request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (group->cancelled_ahead && *cancelled_of(group) != (cancelled != 0))
        wrong(group, "a receive that was cancelled is not, or the other way round");
    if (cancelled)
        receive_plainly(group, 0);
    else
        take(group, 0, &status);
}

/* --- sending ---------------------------------------------------------------------------------- */

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int begin_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* A send is complete: its buffer may be changed. */
static void overwrite(const struct group *group, int i)
{
    const struct message *message = &group->message[i];
    for (int k = 0; k < message->count; k++)
        put(payload(out, group, i), message->sent_as, k, ~(uint64_t)k);
}

static void send_one(const struct group *group, int i)
{
    static send_function *const at_once[MODES] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    static begin_function *const begun[MODES] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    static begin_function *const persistent[MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                                      MPI_Rsend_init};
    const struct message *message = &group->message[i];
    enum shape shape = message->sent_as;
    uint64_t *at = payload(out, group, i);
    MPI_Request *request = request_of(kept.sending, group, i);
    MPI_Comm comm = comm_of(group->slot);
    int to = rank_in(group->slot, group->step, group->to);
    MPI_Datatype type = message->empty_type ? empty_type : shape_type[shape];
    int count = message->empty_type ? 3 : message->count;
    for (int k = 0; k < message->count; k++)
        put(at, shape, k, content(group, i, self.kept.sum, k));
    at += shapes[shape].address;
    if (message->blocking) {
        at_once[message->mode](at, count, type, to, message->tag, comm);
        overwrite(group, i);
        return;
    }
    (message->persistent ? persistent : begun)[message->mode](at, count, type, to, message->tag,
                                                              comm, request);
    if (message->persistent)
        MPI_Start(request);
}

/* From the receiver to each sender: it may send. */
static void ask(const struct group *group)
{
    bool asked[MESSAGES] = {false};
    for (int i = 0; i < group->messages; i++) {
        int from = group->message[i].from;
        for (int k = 0; k < i; k++)
            asked[i] |= group->message[k].from == from;
        if (!asked[i] && from != self.rank)
            MPI_Send(&group->step, 1, MPI_UINT64_T, from, TAG_ASK, MPI_COMM_WORLD);
    }
}

static void wait_to_be_asked(const struct group *group)
{
    uint64_t step;
    MPI_Recv(&step, 1, MPI_UINT64_T, group->to, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (step != group->step)
        wrong(group, "asked for messages of another step");
}

static void send_all(const struct group *group)
{
    bool waits = group->asked && group->to != self.rank;
    for (int i = 0; i < group->messages; i++) {
        if (group->message[i].from != self.rank)
            continue;
        if (waits)
            wait_to_be_asked(group);
        waits = false;
        send_one(group, i);
    }
}

#endif
