/* Every collective call of MPI, in an order drawn from a seed that every rank knows: in each step
 * one call, with its size, root, datatypes, operation and communicator, and then a message between
 * two ranks that is received now or in one of the next steps. Communicators come and go. What is
 * sent can be computed by whoever receives it, and is checked whole, but for one number: the sum of
 * all that the sender has received so far. So one wrong number anywhere shows in the result. */
#include "checkpoint.h"
#include "collective_calls.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

/* The message that is sent in a step. */
struct message {
    int from;
    int to;
    int later; /* steps until it is received */
    int numbers;
};

static struct message plan_message(uint64_t step)
{
    uint64_t left = (uint64_t)self.steps - 1 - step;
    return (struct message){.from = draw(step, ASK_FROM, self.ranks),
                            .to = draw(step, ASK_TO, self.ranks),
                            .later = draw(step, ASK_LATER, left < WINDOW ? (int)left + 1 : WINDOW),
                            .numbers = draw(step, ASK_NUMBERS, MESSAGE_NUMBERS + 1)};
}

static void receive(uint64_t step)
{
    struct message message = plan_message(step);
    if (message.to != self.rank || step + (uint64_t)message.later != self.kept.step)
        return;
    uint64_t got[MESSAGE_NUMBERS] = {0};
    MPI_Recv(got, MESSAGE_NUMBERS, MPI_UINT64_T, message.from, TAG_MESSAGE + (int)(step % WINDOW),
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < message.numbers; i++)
        collect(got[i]);
}

static void exchange_messages(void)
{
    uint64_t step = self.kept.step;
    int slot = (int)(step % WINDOW);
    struct message message = plan_message(step);
    MPI_Wait(&self.kept.sending[slot], MPI_STATUS_IGNORE);
    if (message.from == self.rank) {
        for (int i = 0; i < message.numbers; i++)
            self.kept.out[slot][i] = program_mix(self.kept.sum, (uint64_t)i);
        MPI_Isend(self.kept.out[slot], message.numbers, MPI_UINT64_T, message.to,
                  TAG_MESSAGE + slot, MPI_COMM_WORLD, &self.kept.sending[slot]);
    }
    for (uint64_t back = WINDOW; back-- > 0;)
        if (step >= back)
            receive(step - back);
}
/* The collective call comes first: a barrier may be a checkpoint, and then the step begins again.
 */
static void one_step(long compute_us)
{
    struct call call;
    uint64_t step = self.kept.step;
    self.collected = 0;
    call_begin(&call);
    perform(&call, self.only ? (int)self.only - 1 : draw(step, ASK_CALL, CALLS));
    if (self.messages)
        exchange_messages();
    if (step % CHANGE_EVERY == CHANGE_EVERY - 1)
        change(step);
    program_compute(compute_us);
    self.kept.sum = program_mix(self.kept.sum, self.collected);
    self.kept.step++;
    free(call.world);
}

static void prepare(void)
{
    prepare_calls(!self.late);
    for (int slot = 0; slot < WINDOW; slot++)
        self.kept.sending[slot] = MPI_REQUEST_NULL;
    self.kept.none = MPI_REQUEST_NULL;
}

static void restore(void)
{
    checkpoint_register("collectives", &self.kept, sizeof self.kept);
    checkpoint_restore();
    make_changing();
    program_renew_requests(self.kept.none, self.kept.sending, WINDOW);
    self.kept.none = MPI_REQUEST_NULL;
    self.kept.comm[WORLD] = MPI_COMM_WORLD;
}

static void run(long compute_us)
{
    prepare();
    self.kept.sum = program_mix(self.seed, (uint64_t)self.rank);
    restore();
    while (self.kept.step < (uint64_t)self.steps) {
        one_step(compute_us);
        potential_checkpoint();
    }
    for (int slot = 0; slot < WINDOW; slot++)
        MPI_Wait(&self.kept.sending[slot], MPI_STATUS_IGNORE);
    uint64_t mine[2] = {self.kept.sum, self.kept.wrong}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    faultline_result("sum", &self.kept.sum, sizeof self.kept.sum);
    faultline_result("wrong", &all[1], sizeof all[1]);
    if (self.rank == 0)
        printf("collectives: %ld steps, sum %016llx, %llu wrong\n", self.steps,
               (unsigned long long)all[0], (unsigned long long)all[1]);
    release_calls();
}

int main(int argc, char **argv)
{
    long compute_us = 0, seed = 1;
    self.steps = 60;
    self.size = 40;
    self.messages = 1;
    const struct program_option options[] = {
        {"iterations", &self.steps, 1, 1000000000, "steps"},
        {"size", &self.size, 0, 65536, "numbers of a usual call at most"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
        {"seed", &seed, 0, 1000000000, "of the plan"},
        {"call", &self.only, 0, CALLS, "0: every call, else only this one: see README.md"},
        {"nonblocking", &self.way, EACH_WAY, PERSISTENT,
         "1: MPI_Ibcast and so on; 2: a persistent request for each call; -1: drawn for each call"},
        {"late", &self.late, 0, 1, "1: all communicators are made after checkpoint_restore"},
        {"messages", &self.messages, 0, 1, "1: messages between two ranks, too"},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.ranks);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "collectives", options, sizeof options / sizeof *options)) {
        self.seed = (uint64_t)seed;
        run(compute_us);
        status = self.kept.wrong != 0;
    }
    MPI_Finalize();
    return status;
}
