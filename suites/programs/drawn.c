/* A program that is drawn from a seed: messages in all modes, on several communicators, with the
 * same tags on them, up to the highest tag, in datatypes of all forms, received in all ways, with
 * wildcards, probes, cancelled and persistent requests, now or in one of the next steps; collective
 * calls in all forms; communicators that come and go. All ranks draw the same plan (drawn_plan.h),
 * so each knows what it is to receive, and checks it whole. What is sent depends on all that the
 * sender has received, but not on the order of that within a step, so the result is the same in
 * every legal execution. Each feature has a switch: a failure can be made smaller. */
#include "checkpoint.h"
#include "collective_calls.h"
#include "completing.h"
#include "drawn_large.h"
#include "drawn_lasting.h"
#include "drawn_messages.h"
#include "drawn_nobody.h"
#include "drawn_outlasting.h"
#include "drawn_outside.h"
#include "drawn_properties.h"
#include "drawn_rare.h"
#include "drawn_sought.h"
#include "drawn_wrong.h"
#include "faultline.h"
#include "program.h"

#define TAG_TURN 2
#define TAG_ITSELF 30095
#define TAG_FILLS 30060
#define TAG_SYNCHRONOUS 30061
#define TAG_TAKEN 30062
#define TAG_CROWD 30063
#define CROWD 70
#define CROWD_OF 4 /* one job of so many has a crowd */
#define BUFFER_BYTES (1 << 20)
#define DUE_MOST (2 * WINDOW_REQUESTS + OVERLAPPING)

/* Requests that are to be completed together at the end of a step, each with the place of its
 * message, which is sent or received, or -1. */
struct due {
    int count;
    MPI_Request *request[DUE_MOST];
    int place[DUE_MOST];
    bool is_sent[DUE_MOST];
};

static long seed = 1, more_varied, compute_us, print_every;

/* --- the groups of a step --------------------------------------------------------------------- */

static void do_group(const struct group *group)
{
    bool mine = group->to == self.rank;
    if (mine) {
        memset(came[group->step % WINDOW][group->number], 0, sizeof came[0][0]);
        if (is_posted_at_once(group))
            post_all(group);
        if (group->asked)
            ask(group);
    }
    send_all(group);
    if (mine && !is_posted(group) && group->later == 0)
        receive_all(group);
}

static void add_due(struct due *due, MPI_Request *request, int place, bool is_sent)
{
    due->request[due->count] = request;
    due->place[due->count] = place;
    due->is_sent[due->count++] = is_sent;
}

/* What of a group is to be completed at the end of the step in which it is due. */
static void find_due(const struct group *group, struct due *due)
{
    int first = ((int)(group->step % WINDOW) * GROUPS + group->number) * MESSAGES;
    for (int i = 0; i < group->messages; i++) {
        if (group->message[i].from == self.rank && !group->message[i].blocking)
            add_due(due, request_of(kept.sending, group, i), first + i, true);
        if (group->to == self.rank && is_posted(group) && !group->cancelled) {
            add_due(due, request_of(kept.receiving, group, i), first + i, false);
        }
    }
}

static struct group group_at(int place)
{
    struct group group;
    uint64_t now = self.kept.step,
             back = (now + WINDOW - (uint64_t)(place / MESSAGES / GROUPS)) % WINDOW;
    draw_group(now - back, place / MESSAGES % GROUPS, (uint64_t)self.steps, &group);
    return group;
}

static void take_done(const struct due *due, int index, MPI_Status *status, const MPI_Status *told)
{
    if (due->place[index] < 0)
        return;
    struct group group = group_at(due->place[index]);
    int message = due->place[index] % MESSAGES;
    if (due->is_sent[index]) {
        overwrite(&group, message);
        return;
    }
    if (told->MPI_SOURCE != status->MPI_SOURCE || told->MPI_TAG != status->MPI_TAG)
        wrong(&group, "MPI_Request_get_status tells of another message than is received");
    take(&group, message, status);
}

/* Completes all of them, of which none is MPI_REQUEST_NULL, in one of the nine ways: `how` of enum
 * completing, or after MPI_Request_get_status has said that one is complete. What that told goes to
 * `told`; where it was not asked that is what is in `of`. */
static void complete_all(int how, int count, MPI_Request *request, MPI_Status *of, MPI_Status *told)
{
    static MPI_Status status[DUE_MOST];
    static int index[DUE_MOST];
    int done = 0;
    for (int left = count; left > 0; left -= done) {
        int at = count - left, there = 0;
        while (how == COMPLETING_WAYS && !there)
            MPI_Request_get_status(request[at], &there, &told[at]);
        if (how <= TEST || how == COMPLETING_WAYS) {
            complete_one(how == TEST, &request[at], status);
            index[0] = at;
            done = 1;
        } else {
            complete_some((enum completing)how, count, request, &done, index, status);
        }
        for (int i = 0; i < done; i++) {
            of[index[i]] = status[i];
            if (how != COMPLETING_WAYS)
                told[index[i]] = status[i];
        }
    }
}

/* All that is due, in the way that is drawn for this step and rank. Looked at in the order of
 * posting, which is that of matching, in whatever order they were complete. */
static void complete_due(struct due *due)
{
    static MPI_Request request[DUE_MOST];
    static MPI_Status of[DUE_MOST], told[DUE_MOST];
    for (int i = 0; i < due->count; i++)
        request[i] = *due->request[i];
    complete_all(draw(self.kept.step, 90000 + self.rank, COMPLETING_WAYS + 1), due->count, request,
                 of, told);
    for (int i = 0; i < due->count; i++) {
        take_done(due, i, &of[i], &told[i]);
        *due->request[i] = request[i];
        if (request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(due->request[i]); /* a persistent one */
    }
}

/* Does `what` with each group that is due in this step, the oldest first. */
static void with_due(void (*what)(const struct group *, struct due *), struct due *due)
{
    uint64_t now = self.kept.step;
    for (uint64_t back = WINDOW; back-- > 0;)
        for (int i = 0; now >= back && i < groups_of(now - back); i++) {
            struct group group;
            draw_group(now - back, i, (uint64_t)self.steps, &group);
            if (group.later == (int)back)
                what(&group, due);
        }
}

static void begin_due(const struct group *group, struct due *due)
{
    (void)due;
    if (group->later == 0 || group->to != self.rank)
        return;
    if (!is_posted(group))
        receive_all(group);
    else if (group->posted_late)
        post_all(group);
}

/* A probe asks ahead of the receive whether one of its messages is there. The answer is not used:
 * messages of other communicators with the same source and tag are received in between. */
static void look_at_due(const struct group *group, struct due *due)
{
    int there;
    (void)due;
    if (feature[PROBES] && group->later > 0 && group->to == self.rank && !is_posted(group) &&
        draw_of(group, MESSAGES, 2, 2) == 0)
        MPI_Iprobe(source_of(group, 0), tag_of(group, 0), comm_of(group->slot), &there,
                   MPI_STATUS_IGNORE);
}

static void cancel_due(const struct group *group, struct due *due)
{
    (void)due;
    if (!group->cancelled || group->to != self.rank)
        return;
    cancel(group);
    if (*request_of(kept.receiving, group, 0) != MPI_REQUEST_NULL)
        MPI_Request_free(request_of(kept.receiving, group, 0));
}

/* Messages are matched, and receives cancelled, that are completed in the next step. */
static void look_ahead(void)
{
    uint64_t now = self.kept.step;
    for (uint64_t back = WINDOW - 1; back-- > 0;)
        for (int i = 0; now >= back && i < groups_of(now - back); i++) {
            struct group group;
            draw_group(now - back, i, (uint64_t)self.steps, &group);
            if (group.later != (int)back + 1 || group.to != self.rank)
                continue;
            for (int k = 0; group.matched_ahead && k < group.messages; k++)
                match_ahead(&group, in_order(&group, k));
            if (group.cancelled_ahead)
                cancel_ahead(&group);
        }
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Whether the communicator that changes is what it was made as, where topologies are among that. */
static void check_changing(uint64_t step)
{
    MPI_Comm comm = self.kept.comm[CHANGING];
    if (comm == MPI_COMM_NULL || self.constructors <= CARTESIAN)
        return;
    if (!is_constructed(constructor_of(change_before(step)), comm))
        wrong_in(step, "a communicator has another topology than it was made with");
}

/* The older one of two messages to itself comes first. */
static void exchange_with_itself(uint64_t step)
{
    uint64_t older = program_mix(step, 1), newer = program_mix(step, 2), value = newer, got;
    MPI_Request request;
    MPI_Isend(&older, 1, MPI_UINT64_T, self.rank, TAG_ITSELF, MPI_COMM_WORLD, &request);
    MPI_Sendrecv_replace(&value, 1, MPI_UINT64_T, self.rank, TAG_ITSELF, self.rank, TAG_ITSELF,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_UINT64_T, self.rank, TAG_ITSELF, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (value != older || got != newer)
        wrong_in(step, "a rank gets its own messages in another order than it sent them");
}

/* Round the ranks of a communicator. */
static void turn(void)
{
    struct group turn = {.step = self.kept.step};
    MPI_Comm comm =
        comm_of(draw(turn.step, 90101, 2) && feature[OTHER_COMMS] ? SLOT_HALF : SLOT_WORLD);
    uint64_t number[2] = {turn.step, self.kept.sum}, got[2];
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    if (draw(turn.step, 90102, 2)) {
        MPI_Sendrecv(number, 2, MPI_UINT64_T, to, TAG_TURN, got, 2, MPI_UINT64_T, from, TAG_TURN,
                     comm, MPI_STATUS_IGNORE);
    } else {
        memcpy(got, number, sizeof got);
        MPI_Sendrecv_replace(got, 2, MPI_UINT64_T, to, TAG_TURN, from, TAG_TURN, comm,
                             MPI_STATUS_IGNORE);
    }
    if (got[0] != turn.step)
        wrong(&turn, "a number of another step came round");
    gathered += program_mix(got[1], (uint64_t)from);
}

static int calls_of(uint64_t step)
{
    return feature[COLLECTIVES] ? draw(step, 90201, 3) : 0;
}

static int which_call(uint64_t step, int i)
{
    bool favourite = varied.call >= 0 && draw(step, 90208 + i, 2);
    return favourite ? varied.call : draw(step, 90202 + i, CALLS);
}

static enum way way_of_call(uint64_t step, int i)
{
    int way = draw(step, 90204 + i, WAYS);
    return way == NONBLOCKING && feature[NONBLOCKING_COLLECTIVES] ? NONBLOCKING
           : way == PERSISTENT && feature[PERSISTENT_COLLECTIVES] ? PERSISTENT
                                                                  : BLOCKING;
}

static bool is_blocking_barrier(uint64_t step, int i)
{
    return which_call(step, i) == CALL_BARRIER && way_of_call(step, i) == BLOCKING;
}

/* A barrier that blocks comes first: it may be a checkpoint, and then the step begins again. */
static void call_all(void)
{
    uint64_t step = self.kept.step;
    for (int i = 0; i < calls_of(step); i++) {
        struct call call;
        call_begin(&call);
        call.way = way_of_call(step, i);
        if (i == 0 || !is_blocking_barrier(step, i))
            perform(&call, which_call(step, i));
        free(call.world);
    }
}

static bool has_broadcasts(uint64_t step)
{
    return draw(step, 90302, 4) == 0;
}

/* Collective calls are begun ahead of the step's groups or after them; all wait for them at the end
 * of the step, together with messages or for the last one first, or at the beginning of the next
 * step. Their communicator is, if there is one, that of receives with any tag, which may be posted
 * by then: none of them may take what a collective call sends. */
static void begin_overlapping(void)
{
    struct overlapping *calls = &kept.overlapping;
    uint64_t step = self.kept.step;
    MPI_Comm comm =
        feature[ANY_TAG] ? comm_of((enum slot)(SLOT_ANY + (int)(step % WINDOW))) : MPI_COMM_WORLD;
    *calls = (struct overlapping){.step = step, .mine = self.kept.sum};
    for (int i = 0; i < OVERLAPPING; i++)
        calls->request[i] = MPI_REQUEST_NULL;
    if (!feature[NONBLOCKING_COLLECTIVES])
        return;
    if (draw(step, 90301, 4) == 0)
        MPI_Iallreduce(&calls->mine, &calls->all, 1, MPI_UINT64_T, MPI_BXOR, comm,
                       &calls->request[BROADCASTS]);
    for (int i = BROADCASTS - 1; i >= 0 && has_broadcasts(step); i--) {
        int root = draw(step, 90303 + i, self.ranks);
        calls->broadcast[i] = root == self.rank ? program_mix(step, (uint64_t)i) : 0;
        MPI_Ibcast(&calls->broadcast[i], 1, MPI_UINT64_T, root, comm, &calls->request[i]);
    }
}

static void find_overlapping(struct due *due)
{
    bool together = draw(self.kept.step, 90307, 2) == 0;
    for (int i = 0; together && i < OVERLAPPING; i++)
        if (kept.overlapping.request[i] != MPI_REQUEST_NULL)
            add_due(due, &kept.overlapping.request[i], -1, false);
}

/* And of `also`, another call that is under way, or MPI_REQUEST_NULL. */
static void end_overlapping(MPI_Request also)
{
    struct overlapping *calls = &kept.overlapping;
    MPI_Request request[OVERLAPPING + 1];
    MPI_Status status[OVERLAPPING + 1], told[OVERLAPPING + 1];
    int count = 0;
    for (int i = 0; i < OVERLAPPING; i++) {
        if (calls->request[i] != MPI_REQUEST_NULL)
            request[count++] = calls->request[i];
        calls->request[i] = MPI_REQUEST_NULL;
    }
    if (also != MPI_REQUEST_NULL)
        request[count++] = also;
    complete_all(draw(calls->step, 90310 + self.rank, COMPLETING_WAYS + 1), count, request, status,
                 told);
    for (int i = 0; i < BROADCASTS; i++)
        if (feature[NONBLOCKING_COLLECTIVES] && has_broadcasts(calls->step) &&
            calls->broadcast[i] != program_mix(calls->step, (uint64_t)i))
            wrong_in(calls->step, "a broadcast gives what its root has not sent");
    kept.reduced += calls->all;
    kept.outstanding = false;
}

/* At some ranks they go on over the potential checkpoint. */
static bool are_left_over(uint64_t step)
{
    return feature[OUTSTANDING_COLLECTIVES] && step + 1 < (uint64_t)self.steps &&
           draw(step, 90306, 4) == 0;
}

static bool are_outstanding(uint64_t step)
{
    return are_left_over(step) && draw(step, 90340 + self.rank, 3) > 0;
}

/* A call is begun while those that the step before has left are still under way at some ranks,
 * which complete all together, or this one first; not ahead of a barrier at which the step may
 * begin again. */
static void end_left_over(uint64_t step)
{
    MPI_Request request = MPI_REQUEST_NULL;
    uint64_t given = step, got = 0;
    if (calls_of(step) > 0 && is_blocking_barrier(step, 0)) {
        if (kept.outstanding)
            end_overlapping(MPI_REQUEST_NULL);
        return;
    }
    MPI_Iallreduce(&given, &got, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    if (!kept.outstanding || draw(step, 90360 + self.rank, 3) == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (kept.outstanding)
        end_overlapping(request);
    if (got != step * (uint64_t)self.ranks)
        wrong_in(step, "a reduction over a checkpoint gives something else");
}

/* What has its own part of the program, after the groups. */
static void do_other_parts(uint64_t step)
{
    rare_step(step);
    lasting_step(step);
    outside_step(step);
    outlasting_step(step);
    large_step(step);
    wrong_step(step);
}

static void one_step(void)
{
    uint64_t step = self.kept.step;
    struct due due = {.count = 0};
    bool groups_first = draw(step, 90305, 2) == 0;
    self.collected = gathered = 0;
    if (step > 0 && are_left_over(step - 1))
        end_left_over(step);
    lasting_calls(step);
    call_all();
    sought_step(step); /* soon after the line of the step before */
    rare_begin(step);
    lasting_begin(step);
    large_begin(step);
    if (!groups_first)
        begin_overlapping();
    with_due(look_at_due, &due);
    with_due(begin_due, &due);
    if (kept.nothing != MPI_REQUEST_NULL)
        end_nothing(step);
    if (draw(step, 90401, 4) == 0)
        nobody(step);
    check_changing(step);
    if (feature[PROPERTIES])
        check_properties(step);
    for (int i = 0; i < groups_of(step); i++) {
        struct group group;
        draw_group(step, i, (uint64_t)self.steps, &group);
        do_group(&group);
    }
    if (groups_first)
        begin_overlapping();
    if (feature[SENDRECV] && draw(step, 90402, 3) == 0)
        turn();
    if (feature[SENDRECV] && draw(step, 90403, 6) == 0)
        exchange_with_itself(step);
    program_compute(compute_us);
    with_due(cancel_due, &due);
    with_due(find_due, &due);
    if (!are_outstanding(step))
        find_overlapping(&due);
    complete_due(&due);
    look_ahead();
    do_other_parts(step);
    kept.outstanding = are_outstanding(step);
    if (!kept.outstanding)
        end_overlapping(MPI_REQUEST_NULL);
    if (feature[CHANGING_COMMS] && step % CHANGE_EVERY == CHANGE_EVERY - 1) {
        change(step);
        if (feature[PROPERTIES])
            properties_of_new(step);
    }
    if (feature[PROPERTIES])
        change_properties(step);
    collect(gathered + kept.reduced);
    kept.reduced = 0;
    self.kept.sum = program_mix(self.kept.sum, self.collected);
    self.kept.step++;
}

/* --- the program ------------------------------------------------------------------------------ */

/* Those of messages alone. */
static void make_comms_of_messages(void)
{
    for (int i = SLOT_ANY; i < SLOTS && feature[ANY_TAG]; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &kept.comm[i]);
    if (feature[INTERCOMM])
        MPI_Intercomm_create(self.kept.comm[HALF], 0, MPI_COMM_WORLD, 1 - self.rank % 2, TAG_TURN,
                             &kept.comm[SLOT_INTER]);
}

static void make_comms(void)
{
    bool early = feature[OTHER_COMMS] && !self.late;
    prepare_calls(early);
    for (int i = 0; i < SLOTS; i++)
        kept.comm[i] = MPI_COMM_NULL;
    kept.comm[SLOT_SELF] = MPI_COMM_SELF;
    if (!early)
        return;
    make_comms_of_messages();
    if (!feature[CHANGING_COMMS])
        make_changing();
}

static void free_comms(void)
{
    release_calls();
    for (int i = SLOT_INTER; i < SLOTS; i++)
        if (kept.comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&kept.comm[i]);
}

/* Communicators that are made in every incarnation before the state is restored are those of this
 * one, and so is what the library takes for no request. */
static void restore(size_t payloads)
{
    MPI_Request *sending = &kept.sending[0][0][0], *receiving = &kept.receiving[0][0][0];
    MPI_Comm comm[SLOTS], of_calls[COMMS];
    MPI_Request made[LASTING_REQUESTS];
    memcpy(comm, kept.comm, sizeof comm);
    memcpy(of_calls, self.kept.comm, sizeof of_calls);
    for (int i = 0; i < WINDOW_REQUESTS; i++)
        sending[i] = receiving[i] = MPI_REQUEST_NULL;
    kept.none = kept.nothing = MPI_REQUEST_NULL;
    checkpoint_register("drawn", &kept, sizeof kept);
    checkpoint_register("nothing", NULL, 0);
    checkpoint_register("calls", &self.kept, sizeof self.kept);
    checkpoint_register("came", came, sizeof came);
    checkpoint_register("in", in, payloads * sizeof *in);
    checkpoint_register("out", out, payloads * sizeof *out);
    if (has_rare())
        rare_register();
    outlasting_register();
    sought_register();
    if (feature[PROPERTIES])
        properties_prepare();
    lasting_prepare();
    memcpy(made, lasting.request[LASTING_ALL_THROUGH], sizeof made);
    outside_prepare();
    large_prepare();
    greet();
    checkpoint_restore();
    if (!self.late) {
        memcpy(kept.comm, comm, sizeof comm);
        memcpy(self.kept.comm, of_calls,
               (feature[CHANGING_COMMS] ? CHANGING : COMMS) * sizeof *comm);
    }
    program_renew_requests(kept.none, sending, WINDOW_REQUESTS);
    program_renew_requests(kept.none, receiving, WINDOW_REQUESTS);
    program_renew_requests(kept.none, &kept.nothing, 1);
    program_renew_requests(kept.none, kept.overlapping.request, OVERLAPPING);
    rare_restored(kept.none);
    outlasting_restored(kept.none);
    large_restored(kept.none);
    lasting_restored(made, kept.none);
    kept.none = MPI_REQUEST_NULL;
    if (feature[OTHER_COMMS]) {
        bool first = !self.kept.has_changing;
        make_changing();
        if (first && self.late)
            make_comms_of_messages();
    }
}

/* Sends a synchronous message, then a buffered one for which the buffer has just enough room. The
 * receiver takes the buffered one first. So the synchronous send cannot be complete when it is
 * tested; its request is freed while it is under way, and another one is made before it is
 * complete. */
static void fill_buffer(void *buffer)
{
    int to = (self.rank + 1) % self.ranks, from = (self.rank + self.ranks - 1) % self.ranks;
    int bytes, flag;
    uint64_t got, taken;
    MPI_Request request;
    MPI_Pack_size(1, MPI_UINT64_T, MPI_COMM_WORLD, &bytes);
    MPI_Buffer_attach(buffer, bytes + MPI_BSEND_OVERHEAD);
    MPI_Issend(&self.seed, 1, MPI_UINT64_T, to, TAG_SYNCHRONOUS, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (flag) {
        fprintf(stderr, "drawn: a synchronous send is complete, and nobody has received it\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Request_free(&request);
    MPI_Irecv(&taken, 1, MPI_UINT64_T, to, TAG_TAKEN, MPI_COMM_WORLD, &request);
    MPI_Bsend(&self.kept.step, 1, MPI_UINT64_T, to, TAG_FILLS, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_UINT64_T, from, TAG_FILLS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_UINT64_T, from, TAG_SYNCHRONOUS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&got, 1, MPI_UINT64_T, from, TAG_TAKEN, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &bytes);
}

/* Has more requests under way at once than any step has. */
static void crowd(void)
{
    int to = (self.rank + 1) % self.ranks, from = (self.rank + self.ranks - 1) % self.ranks;
    uint64_t got[CROWD];
    MPI_Request request[2 * CROWD];
    MPI_Status status[2 * CROWD];
    for (int i = 0; i < CROWD; i++) {
        MPI_Irecv(&got[i], 1, MPI_UINT64_T, from, TAG_CROWD, MPI_COMM_WORLD, &request[i]);
        MPI_Isend(&self.seed, 1, MPI_UINT64_T, to, TAG_CROWD, MPI_COMM_WORLD, &request[CROWD + i]);
    }
    MPI_Waitall(2 * CROWD, request, status);
}

static void run(void)
{
    size_t payloads = (size_t)WINDOW_REQUESTS * (size_t)(STRIDE_MOST * self.size + 1);
    size_t buffered = payloads * sizeof(uint64_t) + BUFFER_BYTES + large_bytes();
    int bytes;
    void *buffer = program_memory(buffered, 1);
    out = program_memory(payloads, sizeof *out);
    in = program_memory(payloads, sizeof *in);
    MPI_Buffer_attach(buffer, (int)buffered);
    make_shapes();
    make_comms();
    self.kept.sum = program_mix(self.seed, (uint64_t)self.rank);
    restore(payloads);
    while (self.kept.step < (uint64_t)self.steps) {
        one_step();
        start_none(self.kept.step);
        if (print_every && self.kept.step % (uint64_t)print_every == 0)
            printf("%d %llu %016llx\n", self.rank, (unsigned long long)self.kept.step,
                   (unsigned long long)self.kept.sum);
        potential_checkpoint();
    }
    faultline_result("sum", &self.kept.sum, sizeof self.kept.sum);
    faultline_result("taken", &kept.taken, sizeof kept.taken);
    faultline_result("wrong", &self.kept.wrong, sizeof self.kept.wrong);
    if (self.rank == 0)
        printf("drawn: %ld steps, %llu messages taken in by rank 0, sum %016llx\n", self.steps,
               (unsigned long long)kept.taken, (unsigned long long)self.kept.sum);
    lasting_end();
    outside_end();
    large_end();
    sought_end();
    if (feature[PROPERTIES])
        properties_end();
    free_comms();
    free_shapes();
    MPI_Buffer_detach(&buffer, &bytes);
    if (feature[BUFFERED])
        fill_buffer(buffer);
    if (draw(0, TAG_CROWD, CROWD_OF) == 0)
        crowd();
    free(buffer);
    free(piece);
    free(out);
    free(in);
}

#define SWITCH(name, which, meaning)                                                               \
    {                                                                                              \
        name, &feature[which], 0, 1, "1: " meaning                                                 \
    }

static const struct program_option options[] = {
    {"iterations", &self.steps, 1, 1000000000, "steps"},
    {"size", &self.size, 1, 65536, "elements in a message at most"},
    {"seed", &seed, 0, 1000000000, "of the plan"},
    {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
    {"tell", &print_every, 0, 1000000000, "every so many steps each rank prints its sum; 0: never"},
    {"varied", &more_varied, 0, 1,
     "1: some of what is on is left out or done often, as the seed has it (0)"},
    {"received", &received, -1, RECEIVING_WAYS - 1,
     "all in one way, MPI_Recv, Irecv, Recv_init, Probe, Iprobe, Mprobe, Improbe; -1: drawn"},
    SWITCH("crossing", CROSSING, "messages and requests outlive a step"),
    SWITCH("synchronous", SYNCHRONOUS, "MPI_Ssend and so on"),
    SWITCH("buffered", BUFFERED, "MPI_Bsend and so on"),
    SWITCH("ready", READY, "MPI_Rsend and so on"),
    SWITCH("persistent", PERSISTENT_MESSAGES, "persistent requests of messages"),
    SWITCH("any-source", ANY_SOURCE, "receives and probes from MPI_ANY_SOURCE"),
    {"any-tag", &feature[ANY_TAG], 0, 2,
     "1: receives and probes with MPI_ANY_TAG, 2: and as many as can be"},
    SWITCH("probes", PROBES, "MPI_Probe, MPI_Iprobe"),
    SWITCH("matched-probes", MATCHED_PROBES, "MPI_Mprobe, MPI_Improbe"),
    SWITCH("matched-ahead", MATCHED_AHEAD, "MPI_Mprobe in one step, MPI_Mrecv in the next"),
    SWITCH("cancels", CANCELS, "receives are cancelled"),
    SWITCH("cancelled-ahead", CANCELLED_AHEAD, "... and completed in the next step"),
    SWITCH("nothing-ahead", NOTHING_AHEAD, "... those of what nobody sends as well (0)"),
    SWITCH("self", TO_SELF, "messages to the sender itself"),
    SWITCH("empty", EMPTY, "messages of no bytes"),
    SWITCH("types", TYPES, "datatypes with holes and negative bounds"),
    SWITCH("high-tags", HIGH_TAGS, "tags up to MPI_TAG_UB"),
    SWITCH("communicators", OTHER_COMMS, "others than MPI_COMM_WORLD; any tag is for these, too"),
    {"late", &self.late, 0, 1, "1: these are made after checkpoint_restore (0)"},
    SWITCH("changing", CHANGING_COMMS, "a communicator that is made again every 7 steps"),
    SWITCH("inter", INTERCOMM, "messages on an intercommunicator"),
    SWITCH("sendrecv", SENDRECV, "MPI_Sendrecv, MPI_Sendrecv_replace"),
    SWITCH("collectives", COLLECTIVES, "collective calls"),
    SWITCH("nonblocking", NONBLOCKING_COLLECTIVES, "collective calls that do not block"),
    SWITCH("outstanding", OUTSTANDING_COLLECTIVES,
           "collective calls that do not block go on over a potential checkpoint"),
    SWITCH("persistent-collectives", PERSISTENT_COLLECTIVES, "MPI_Bcast_init and so on"),
    SWITCH("nobody", NOBODY, "MPI_PROC_NULL, and null and inactive requests"),
    SWITCH("lasting", LASTING, "persistent requests that are started over and over"),
    {"constructors", &self.constructors, 0, CONSTRUCTORS,
     "below which the communicator that changes is made: MPI_Comm_split, dup, create, 3 and on: "
     "create_group, dup_with_info, Cart, Graph, Dist_graph (0)"},
    {"testimony", &feature[TESTIMONY], 0, 2,
     "1: what nobody determines is told to another rank, and once more later; 2: the time, too, "
     "without checkpoint_decision (0)"},
    SWITCH("started-again", STARTED_AGAIN,
           "persistent receives are started again after they were cancelled (0)"),
    {"freed", &feature[FREED], 0, 2,
     "1: operations are freed while they are used, 2: and communicators and datatypes (0)"},
    SWITCH("partial", PARTIAL,
           "messages that end within an element, and broadcasts in another order (0)"),
    SWITCH("made", MADE, "communicators that are made in a step and used until the next (0)"),
    SWITCH("too-long", TOO_LONG, "messages that are longer than their receives (0)"),
    SWITCH("hinted", HINTED, "a rank sends earlier or later, as a test or a probe says (0)"),
    SWITCH("properties", PROPERTIES, "communicators have names, attributes and error handlers (0)"),
    SWITCH("replaced", REPLACED,
           "a persistent request is made ahead of checkpoint_restore and freed (0)"),
    SWITCH("outside", OUTSIDE, "persistent requests whose buffers are no state (0)"),
    SWITCH("outlasting", OUTLASTING, "requests that are pending for ten steps (0)"),
    {"large", &feature[LARGE_MESSAGES], 0, 2,
     "messages that end within an element, 1: of 72 KB, 2: of more than 1 MiB (0)"},
    SWITCH("sought", SOUGHT, "a rank probes for a message in several ways (0)"),
    SWITCH("wrong", WRONG, "calls with arguments that are wrong (0)"),
    SWITCH("greeted", GREETED, "each rank sends to each ahead of checkpoint_restore (0)"),
    {"piece", &piece_kib, 0, 65536, "KiB of further state"},
};

int main(int argc, char **argv)
{
    self.steps = 40;
    self.size = 40;
    for (int i = 0; i < FEATURES; i++)
        feature[i] = i != NOTHING_AHEAD && i < FIRST_RARE;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.ranks);
    int *most, found, status = PROGRAM_EXIT_USAGE;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    tag_most = found ? *most : 32767;
    if (program_options(argc, argv, "drawn", options, sizeof options / sizeof *options) &&
        program_ranks("drawn", 2)) {
        self.seed = (uint64_t)seed;
        vary(more_varied != 0);
        if (!feature[OTHER_COMMS])
            feature[ANY_TAG] = feature[CHANGING_COMMS] = feature[INTERCOMM] = 0;
        run();
        status = self.kept.wrong != 0;
    }
    MPI_Finalize();
    if (status == 0 && feature[PROPERTIES] && !ended) {
        fprintf(stderr, "drawn: in MPI_Finalize an attribute of MPI_COMM_SELF is not deleted, or "
                        "MPI cannot be used then\n");
        return 1;
    }
    return status;
}
