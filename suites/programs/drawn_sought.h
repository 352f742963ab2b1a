/* Of the program `drawn`: a rank probes for messages of several others, widely and narrowly by
 * turns, and receives them later, in this step or in one of the next two, asking otherwise than it
 * probed. What a probe has found must be there for whoever asks for it, in whichever way, until it
 * is received. The messages have a communicator of their own. Must not know: groups of messages. */
#ifndef DRAWN_SOUGHT_H
#define DRAWN_SOUGHT_H

#include "checkpoint.h"
#include "drawn_plan.h"
#include "drawn_rare.h"
#include "program.h"

#define TAG_SOUGHT 30090
#define SOUGHT_STEPS 3 /* from one such exchange to the next */
#define SOUGHT_RANKS 16
#define SOUGHT_TAGS 2 /* from 0 */
#define SOUGHT_EACH 2 /* messages at most of one rank with one tag */
#define SOUGHT_NUMBERS (SOUGHT_EACH + 2)

static struct {
    MPI_Comm comm;
    int left[SOUGHT_RANKS][SOUGHT_TAGS];   /* messages that are still to be received */
    bool found[SOUGHT_RANKS][SOUGHT_TAGS]; /* a probe has told of the first of these */
} sought;

/* Ahead of what is restored. */
static void sought_register(void)
{
    sought.comm = MPI_COMM_NULL;
    if (feature[SOUGHT])
        checkpoint_register("sought", &sought, sizeof sought);
}

/* Who receives in the exchange that begins with step `first`. */
static int sought_by(uint64_t first)
{
    return draw(first, 95000, self.ranks);
}

/* How many messages a rank sends with the tag in that exchange. */
static int sought_count(uint64_t first, int rank, int tag)
{
    if (rank == sought_by(first))
        return 0;
    return draw(first, 95010 + SOUGHT_TAGS * rank + tag, SOUGHT_EACH + 1);
}

/* The step in which all are received. */
static uint64_t sought_last(uint64_t first)
{
    uint64_t last = first + (uint64_t)draw(first, 95001, SOUGHT_STEPS);
    return last < (uint64_t)self.steps ? last : (uint64_t)self.steps - 1;
}

/* A source and a tag: of a message that is still to be received, each alone as drawn. false: there
 * is none. */
static bool draw_sought(uint64_t step, int question, int *source, int *tag)
{
    int of[SOUGHT_RANKS * SOUGHT_TAGS], count = 0;
    for (int i = 0; i < SOUGHT_RANKS * SOUGHT_TAGS; i++)
        if (sought.left[i / SOUGHT_TAGS][i % SOUGHT_TAGS] > 0)
            of[count++] = i;
    if (count == 0)
        return false;
    int one = of[draw(step, question, count)], wide = draw(step, question + 1, 4);
    *source = wide % 2 ? MPI_ANY_SOURCE : one / SOUGHT_TAGS;
    *tag = wide / 2 ? MPI_ANY_TAG : one % SOUGHT_TAGS;
    return true;
}

static bool is_sought(int source, int tag, int of_source, int of_tag)
{
    return (source == MPI_ANY_SOURCE || source == of_source) &&
           (tag == MPI_ANY_TAG || tag == of_tag);
}

static bool is_found(int source, int tag)
{
    for (int rank = 0; rank < self.ranks; rank++)
        for (int i = 0; i < SOUGHT_TAGS; i++)
            if (sought.found[rank][i] && is_sought(source, tag, rank, i))
                return true;
    return false;
}

/* The number, from 0, among those of its sender and tag that is told of; -1: none can be. */
static int number_told(uint64_t first, int source, int tag, const MPI_Status *status)
{
    int rank = status->MPI_SOURCE, count;
    MPI_Get_count(status, MPI_UINT64_T, &count);
    bool right = rank >= 0 && rank < self.ranks && status->MPI_TAG >= 0 &&
                 status->MPI_TAG < SOUGHT_TAGS && is_sought(source, tag, rank, status->MPI_TAG) &&
                 sought.left[rank][status->MPI_TAG] > 0;
    int number =
        right ? sought_count(first, rank, status->MPI_TAG) - sought.left[rank][status->MPI_TAG]
              : -1;
    return number >= 0 && count == number + 2 ? number : -1;
}

static void look_for_sought(uint64_t first, uint64_t step, int question)
{
    int source, tag, flag = 1;
    MPI_Status status;
    if (!draw_sought(step, question, &source, &tag))
        return;
    bool there = is_found(source, tag);
    int way = draw(step, question + 2, 3);
    if (way == 0)
        MPI_Probe(source, tag, sought.comm, &status);
    else
        do
            MPI_Iprobe(source, tag, sought.comm, &flag, &status);
        while (way == 1 && !flag);
    if (!flag && there)
        wrong_in(step, "a message of which a probe has told is not there for another probe");
    if (!flag)
        return;
    if (number_told(first, source, tag, &status) < 0)
        wrong_in(step, "a probe tells of another message than the one to come");
    else
        sought.found[status.MPI_SOURCE][status.MPI_TAG] = true;
}

static void receive_sought(uint64_t first, uint64_t step, int question)
{
    uint64_t got[SOUGHT_NUMBERS] = {0};
    MPI_Request request;
    MPI_Status status;
    int source, tag;
    if (!draw_sought(step, question, &source, &tag))
        return;
    if (draw(step, question + 2, 2)) {
        MPI_Recv(got, SOUGHT_NUMBERS, MPI_UINT64_T, source, tag, sought.comm, &status);
    } else {
        MPI_Irecv(got, SOUGHT_NUMBERS, MPI_UINT64_T, source, tag, sought.comm, &request);
        MPI_Wait(&request, &status);
    }
    int number = number_told(first, source, tag, &status);
    if (number < 0 || got[0] != first || got[1] != (uint64_t)number)
        wrong_in(step, "a message that was probed for is another one, or comes out of order");
    if (number < 0) { /* what is still to come is not known */
        memset(sought.left, 0, sizeof sought.left);
        return;
    }
    sought.left[status.MPI_SOURCE][status.MPI_TAG]--;
    sought.found[status.MPI_SOURCE][status.MPI_TAG] = false;
}

static void send_sought(uint64_t first, int to)
{
    uint64_t numbers[SOUGHT_NUMBERS] = {first};
    for (int tag = 0; tag < SOUGHT_TAGS; tag++)
        for (int i = 0; i < sought_count(first, self.rank, tag); i++) {
            numbers[1] = (uint64_t)i;
            MPI_Bsend(numbers, i + 2, MPI_UINT64_T, to, tag, sought.comm);
        }
}

/* So that nobody sends for the next exchange before: wildcards would take that. */
static void tell_that_all_came(uint64_t first)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            MPI_Bsend(&first, 1, MPI_UINT64_T, rank, TAG_SOUGHT, MPI_COMM_WORLD);
}

static void hear_that_all_came(uint64_t first)
{
    uint64_t before = first - SOUGHT_STEPS, got = before;
    int from = sought_by(before);
    if (from != self.rank)
        MPI_Recv(&got, 1, MPI_UINT64_T, from, TAG_SOUGHT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != before)
        wrong_in(first, "it is told that another exchange is over");
}

static void sought_step(uint64_t step)
{
    uint64_t first = step - step % SOUGHT_STEPS;
    int to = sought_by(first), most = SOUGHT_RANKS * SOUGHT_TAGS * SOUGHT_EACH;
    if (!feature[SOUGHT] || self.ranks > SOUGHT_RANKS)
        return;
    if (sought.comm == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &sought.comm);
    if (step == first && first > 0)
        hear_that_all_came(first);
    if (step == first)
        send_sought(first, to);
    if (self.rank != to)
        return;
    for (int i = 0; step == first && i < SOUGHT_RANKS * SOUGHT_TAGS; i++) {
        int rank = i / SOUGHT_TAGS, tag = i % SOUGHT_TAGS;
        sought.left[rank][tag] = rank < self.ranks ? sought_count(first, rank, tag) : 0;
    }
    for (int i = 0; step <= sought_last(first) && i < draw(step, 95002, 4); i++)
        look_for_sought(first, step, 95100 + 4 * i);
    for (int i = 0; step == sought_last(first) && i < most; i++) {
        if (draw(step, 95200 + i, 3) == 0)
            look_for_sought(first, step, 95300 + 4 * i);
        receive_sought(first, step, 95600 + 4 * i);
    }
    if (step == sought_last(first) && first + SOUGHT_STEPS < (uint64_t)self.steps)
        tell_that_all_came(first);
}

static void sought_end(void)
{
    if (sought.comm != MPI_COMM_NULL)
        MPI_Comm_free(&sought.comm);
}

#endif
