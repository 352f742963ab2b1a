/* Of the program `drawn`: messages that a library does not send before their receive is posted.
 * Each rank sends one to the next in some steps, in each mode, and overwrites it as soon as it may.
 * It ends within an element of the receive, which may be completed in the next step, beyond a
 * potential checkpoint; of a buffered message it may be posted only there. Must not know: groups of
 * messages. */
#ifndef DRAWN_LARGE_H
#define DRAWN_LARGE_H

#include "checkpoint.h"
#include "drawn_messages.h"
#include "drawn_plan.h"
#include "program.h"

#define TAG_LARGE 30058
#define TAG_LARGE_READ 30059

/* Both are odd. */
enum large_numbers {
    LARGE_NUMBERS = 9001,     /* 72 KB: MPICH sends at most 64 KB at once */
    LARGEST_NUMBERS = 131073, /* more than 1 MiB */
};

enum large_mode {
    LARGE_STANDARD,
    LARGE_SYNCHRONOUS,
    LARGE_BUFFERED, /* and those after it */
    LARGE_BUFFERED_AT_ONCE,
    LARGE_BUFFERED_PERSISTENT,
    LARGE_MODES
};

/* The numbers are pieces of state of their own, which a message fills to the end. */
static struct {
    MPI_Request receiving;
    MPI_Request persistent; /* a buffered send; made in the first step that starts it */
} large;
static uint64_t *large_in, *large_out;

static MPI_Datatype large_type; /* two numbers */

static int large_numbers(void)
{
    return feature[LARGE_MESSAGES] == 2 ? LARGEST_NUMBERS : LARGE_NUMBERS;
}

static size_t large_bytes(void)
{
    return ((size_t)large_numbers() + 1) * sizeof(uint64_t);
}

static bool is_large(uint64_t step)
{
    return feature[LARGE_MESSAGES] && draw(step, 93000, 3) == 0;
}

static enum large_mode large_mode(uint64_t step)
{
    return (enum large_mode)draw(step, 93001, LARGE_MODES);
}

static bool is_completed_later(uint64_t step)
{
    return feature[CROSSING] && step + 1 < (uint64_t)self.steps && draw(step, 93002, 3) > 0;
}

static bool is_posted_later(uint64_t step)
{
    return large_mode(step) >= LARGE_BUFFERED && is_completed_later(step) &&
           draw(step, 93003, 2) == 0;
}

/* Ahead of what is restored. */
static void large_prepare(void)
{
    large.receiving = large.persistent = MPI_REQUEST_NULL;
    if (!feature[LARGE_MESSAGES])
        return;
    MPI_Type_contiguous(2, MPI_UINT64_T, &large_type);
    MPI_Type_commit(&large_type);
    large_in = program_memory(1, large_bytes());
    large_out = program_memory(1, large_bytes());
    checkpoint_register("large", &large, sizeof large);
    checkpoint_register("large in", large_in, large_bytes());
    checkpoint_register("large out", large_out, large_bytes());
}

/* none: what the library of that life took for no request. */
static void large_restored(MPI_Request none)
{
    program_renew_requests(none, &large.receiving, 1);
    program_renew_requests(none, &large.persistent, 1);
}

static int large_from(void)
{
    return (self.rank + self.ranks - 1) % self.ranks;
}

static void post_large(void)
{
    MPI_Irecv(large_in, (large_numbers() + 1) / 2, large_type, large_from(), TAG_LARGE,
              MPI_COMM_WORLD, &large.receiving);
}

/* Only then the next one is sent: what is buffered has its room again. */
static void complete_large(uint64_t step)
{
    MPI_Status status;
    uint64_t read;
    int elements, i = 0;
    MPI_Wait(&large.receiving, &status);
    MPI_Get_elements(&status, large_type, &elements);
    while (i < large_numbers() && large_in[i] == program_mix(step, (uint64_t)(large_from() + i)))
        i++;
    if (elements != large_numbers() || i < large_numbers())
        wrong_in(step, "a large message is not what was sent");
    MPI_Send(&step, 1, MPI_UINT64_T, large_from(), TAG_LARGE_READ, MPI_COMM_WORLD);
    MPI_Recv(&read, 1, MPI_UINT64_T, (self.rank + 1) % self.ranks, TAG_LARGE_READ, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (read != step)
        wrong_in(step, "a large message of another step has been read");
}

/* A persistent request stays where requests may outlive a step. */
static void send_persistently(int to)
{
    if (large.persistent == MPI_REQUEST_NULL)
        MPI_Bsend_init(large_out, large_numbers(), MPI_UINT64_T, to, TAG_LARGE, MPI_COMM_WORLD,
                       &large.persistent);
    MPI_Start(&large.persistent);
    MPI_Wait(&large.persistent, MPI_STATUS_IGNORE);
    if (!feature[CROSSING])
        MPI_Request_free(&large.persistent);
}

static void send_large(uint64_t step)
{
    static begin_function *const begin[] = {[LARGE_STANDARD] = MPI_Isend,
                                            [LARGE_SYNCHRONOUS] = MPI_Issend,
                                            [LARGE_BUFFERED] = MPI_Ibsend};
    int to = (self.rank + 1) % self.ranks;
    enum large_mode mode = large_mode(step);
    MPI_Request request;
    for (int i = 0; i < large_numbers(); i++)
        large_out[i] = program_mix(step, (uint64_t)(self.rank + i));
    if (mode == LARGE_BUFFERED_PERSISTENT) {
        send_persistently(to);
    } else if (mode == LARGE_BUFFERED_AT_ONCE) {
        MPI_Bsend(large_out, large_numbers(), MPI_UINT64_T, to, TAG_LARGE, MPI_COMM_WORLD);
    } else {
        begin[mode](large_out, large_numbers(), MPI_UINT64_T, to, TAG_LARGE, MPI_COMM_WORLD,
                    &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    memset(large_out, 0xff, large_bytes());
}

/* What the step before has left. */
static void large_begin(uint64_t step)
{
    if (step == 0 || !is_large(step - 1) || !is_completed_later(step - 1))
        return;
    if (is_posted_later(step - 1))
        post_large();
    complete_large(step - 1);
}

static void large_step(uint64_t step)
{
    if (!is_large(step))
        return;
    if (!is_posted_later(step))
        post_large();
    send_large(step);
    if (!is_completed_later(step))
        complete_large(step);
}

static void large_end(void)
{
    if (!feature[LARGE_MESSAGES])
        return;
    if (large.persistent != MPI_REQUEST_NULL)
        MPI_Request_free(&large.persistent);
    MPI_Type_free(&large_type);
    free(large_in);
    free(large_out);
}

#endif
