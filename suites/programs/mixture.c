/* All of MPI's point-to-point communication, mixed by a seeded plan that every rank knows: who
 * sends what to whom in each iteration, on which communicator and in which way, in which way it is
 * received and how many iterations later. So messages and requests are outstanding at every
 * potential checkpoint, messages are received in another order than they were sent, and
 * communicators come and go. What is sent depends on all that the sender has received, but not on
 * the order of that within an iteration, so the result is the same in every legal execution. Each
 * message says which one it is and is checked whole. */
#include "checkpoint.h"
#include "completing.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

#define WINDOW 3 /* iterations in which a message may be received: its own and those before */
#define SLOTS 6  /* messages of an iteration, over all ranks */
#define SIZE_MAX_NUMBERS 65536
#define TAGS 4000 /* iterations whose messages have tags of their own */
#define CHANGE_EVERY 5
#define STREAM_MOST 3 /* messages of a stream in an iteration, one less at most */
#define BUFFER_BYTES (1 << 20)

enum { TAG_GATHER = 1, TAG_RING, TAG_PAIR, TAG_PERSISTENT, TAG_STREAM = 10, TAG_PLANNED = 100 };

enum which { WORLD, EARLY, HALF, STREAM, CHANGING, COMMS };
enum sending { ISEND, ISSEND, IBSEND, SENDING_WAYS };
/* POSTED: MPI_Irecv as soon as it may have been sent; ANY: from any source. */
enum receiving { POSTED, POSTED_ANY, BLOCKING, BLOCKING_ANY, PROBE, IPROBE, MPROBE, IMPROBE };
#define RECEIVING_WAYS 8
enum shape { PLAIN, SPREAD, RECORDS, SHAPES };

/* One message of the plan. */
struct message {
    uint64_t iteration;
    int slot;
    int from; /* world ranks */
    int to;
    int later; /* iterations until it is received */
    int tag;
    int count; /* elements; 0 has no content at all */
    enum which comm;
    enum sending sending;
    enum receiving receiving;
    enum shape sent_as;
    enum shape received_as;
};

/* What a checkpoint must keep; the payloads are registered by themselves. */
struct kept {
    uint64_t iteration;
    uint64_t sum;   /* of all received up to the iteration before */
    uint64_t taken; /* messages received */
    uint64_t wrong;
    uint64_t streamed_out;
    uint64_t streamed_in;
    MPI_Comm comm[COMMS];
    MPI_Request sending[WINDOW][SLOTS];
    MPI_Request receiving[WINDOW][SLOTS];
    MPI_Request persistent[2];
    MPI_Request none; /* MPI_REQUEST_NULL */
    uint64_t persistent_out[4];
    uint64_t persistent_in[4];
};

static struct {
    int rank;
    int ranks;
    uint64_t seed;
    uint64_t iterations;
    int size;            /* elements of a message at most */
    uint64_t collecting; /* what this iteration adds to the sum */
    MPI_Datatype type[SHAPES];
    uint64_t *out; /* WINDOW * SLOTS payloads */
    uint64_t *in;
    struct kept kept;
} self;

/* --- the plan --------------------------------------------------------------------------------- */

/* The same on every rank: a number below `below` for this iteration, thing and question. */
static int draw(uint64_t iteration, int thing, int question, int below)
{
    uint64_t at = program_mix(program_mix(self.seed, iteration), (uint64_t)(thing * 64 + question));
    return (int)(at % (uint64_t)below);
}

static struct message plan(uint64_t iteration, int slot)
{
    struct message it = {.iteration = iteration, .slot = slot};
    int left = (int)(self.iterations - 1 - iteration < WINDOW - 1 ? self.iterations - 1 - iteration
                                                                  : WINDOW - 1);
    it.from = draw(iteration, slot, 0, self.ranks);
    it.to = draw(iteration, slot, 1, self.ranks);
    it.later = draw(iteration, slot, 2, left + 1);
    it.count = draw(iteration, slot, 3, 5) == 0 ? 0 : draw(iteration, slot, 4, self.size + 1);
    it.comm = (enum which)draw(iteration, slot, 5, HALF + 1);
    it.sending = (enum sending)draw(iteration, slot, 6, SENDING_WAYS);
    it.receiving = (enum receiving)draw(iteration, slot, 7, RECEIVING_WAYS);
    /* MPICH 4.0.2 loses the length of large buffered messages that have holes. */
    it.sent_as = it.sending == IBSEND ? PLAIN : (enum shape)draw(iteration, slot, 8, SHAPES);
    it.received_as =
        it.sent_as == RECORDS ? RECORDS : (enum shape)draw(iteration, slot, 9, RECORDS);
    it.tag = TAG_PLANNED + (int)(iteration % TAGS) * SLOTS + slot;
    if (it.comm == HALF && (it.from - it.to) % 2 != 0)
        it.to = it.from;
    if (it.from == it.to && it.sending == IBSEND)
        it.sending = ISEND;
    return it;
}

/* Of a world rank, in the message's communicator. */
static int peer_of(const struct message *message, int rank)
{
    return message->comm == HALF ? rank / 2 : rank;
}

/* --- payloads --------------------------------------------------------------------------------- */

/* An element is two numbers wide in memory whatever its shape. PLAIN ones lie close together and
 * have one number each; SPREAD ones leave every second number out; RECORDS have a 32-bit part in
 * the first and a number in the second. */
static int stride_of(enum shape shape)
{
    return shape == PLAIN ? 1 : 2;
}

static uint64_t *payload(uint64_t *all, uint64_t iteration, int slot)
{
    size_t place = (iteration % WINDOW) * SLOTS + (size_t)slot;
    return all + place * 2 * (size_t)self.size;
}

static void put(uint64_t *at, enum shape shape, int index, uint64_t value)
{
    at[index * stride_of(shape) + (shape == RECORDS)] = value;
    if (shape == RECORDS) {
        uint32_t part = (uint32_t)value;
        memcpy(&at[index * 2], &part, sizeof part);
    }
}

static uint64_t get(const uint64_t *at, enum shape shape, int index)
{
    uint64_t value = at[index * stride_of(shape) + (shape == RECORDS)];
    uint32_t part = (uint32_t)value;
    if (shape == RECORDS)
        memcpy(&part, &at[index * 2], sizeof part);
    return part == (uint32_t)value ? value : ~value;
}

/* Element 0 is the sender's sum, the others follow from it and from which message it is. */
static uint64_t element(const struct message *message, uint64_t sum, int index)
{
    uint64_t which =
        program_mix(message->iteration, (uint64_t)(message->slot * 1000 + message->from));
    return index == 0 ? sum : program_mix(sum ^ which, (uint64_t)index);
}

static void count_wrong(const char *what, uint64_t iteration, int slot)
{
    self.kept.wrong++;
    fprintf(stderr, "mixture: rank %d: %s, message %d of iteration %llu\n", self.rank, what, slot,
            (unsigned long long)iteration);
}

/* A number that was received goes into the sum of the next iteration, in whatever order. */
static void collect(uint64_t value, uint64_t which)
{
    self.collecting += program_mix(value, which);
    self.kept.taken++;
}

static void check_status(const struct message *message, const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, self.type[message->received_as], &count);
    if (count != message->count)
        count_wrong("another length than was sent", message->iteration, message->slot);
    if (status->MPI_SOURCE != peer_of(message, message->from) || status->MPI_TAG != message->tag)
        count_wrong("another source or tag than was sent", message->iteration, message->slot);
}

static void take(const struct message *message, const MPI_Status *status)
{
    const uint64_t *at = payload(self.in, message->iteration, message->slot);
    uint64_t sum = message->count > 0 ? get(at, message->received_as, 0) : 0;
    check_status(message, status);
    for (int i = 1; i < message->count; i++)
        if (get(at, message->received_as, i) != element(message, sum, i)) {
            count_wrong("damaged", message->iteration, message->slot);
            break;
        }
    collect(sum, message->iteration * SLOTS + (uint64_t)message->slot);
}

/* --- planned messages: sending and posting ---------------------------------------------------- */

static void send_planned(const struct message *message)
{
    static int (*const ways[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                               MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Ibsend};
    uint64_t *at = payload(self.out, message->iteration, message->slot);
    for (int i = 0; i < message->count; i++)
        put(at, message->sent_as, i, element(message, self.kept.sum, i));
    ways[message->sending](at, message->count, self.type[message->sent_as],
                           peer_of(message, message->to), message->tag,
                           self.kept.comm[message->comm],
                           &self.kept.sending[message->iteration % WINDOW][message->slot]);
}

static void post(const struct message *message)
{
    int source =
        message->receiving == POSTED_ANY ? MPI_ANY_SOURCE : peer_of(message, message->from);
    MPI_Irecv(payload(self.in, message->iteration, message->slot), self.size,
              self.type[message->received_as], source, message->tag, self.kept.comm[message->comm],
              &self.kept.receiving[message->iteration % WINDOW][message->slot]);
}

/* Beginning with another one in each iteration. */
static void send_and_post(uint64_t iteration)
{
    int first = draw(iteration, SLOTS, 10, SLOTS);
    for (int slot = 0; slot < SLOTS; slot++) {
        struct message message = plan(iteration, slot);
        if (message.to == self.rank && message.receiving <= POSTED_ANY)
            post(&message);
    }
    for (int i = 0; i < SLOTS; i++) {
        struct message message = plan(iteration, (first + i) % SLOTS);
        if (message.from == self.rank)
            send_planned(&message);
    }
}

/* --- planned messages: receiving -------------------------------------------------------------- */

static void receive_found(const struct message *message, MPI_Message *found, bool blocking,
                          MPI_Status *status)
{
    uint64_t *at = payload(self.in, message->iteration, message->slot);
    MPI_Datatype type = self.type[message->received_as];
    MPI_Request request;
    if (blocking) {
        MPI_Mrecv(at, self.size, type, found, status);
        return;
    }
    MPI_Imrecv(at, self.size, type, found, &request);
    MPI_Wait(&request, status);
}

/* true: the message has been received, as what the probe has found. */
static bool probe(const struct message *message, MPI_Status *status)
{
    MPI_Comm comm = self.kept.comm[message->comm];
    MPI_Message found = MPI_MESSAGE_NULL;
    int source = peer_of(message, message->from), there = 0;
    if (message->receiving == PROBE)
        MPI_Probe(MPI_ANY_SOURCE, message->tag, comm, status);
    if (message->receiving == MPROBE)
        MPI_Mprobe(source, message->tag, comm, &found, status);
    while (message->receiving == IPROBE && !there)
        MPI_Iprobe(source, message->tag, comm, &there, status);
    while (message->receiving == IMPROBE && !there)
        MPI_Improbe(MPI_ANY_SOURCE, message->tag, comm, &there, &found, status);
    check_status(message, status);
    if (found == MPI_MESSAGE_NULL)
        return false;
    receive_found(message, &found, message->receiving == MPROBE, status);
    return true;
}

static void receive(const struct message *message)
{
    MPI_Status status;
    int source =
        message->receiving == BLOCKING_ANY ? MPI_ANY_SOURCE : peer_of(message, message->from);
    if (message->receiving < PROBE || !probe(message, &status))
        MPI_Recv(payload(self.in, message->iteration, message->slot), self.size,
                 self.type[message->received_as], source, message->tag,
                 self.kept.comm[message->comm], &status);
    take(message, &status);
}

/* Requests that this iteration is to complete, and what they are. */
struct due {
    int count;
    MPI_Request *request[WINDOW * SLOTS];
    struct message message[WINDOW * SLOTS];
};

/* All that are for this rank and of this iteration, the newest first. */
static void find_due(uint64_t iteration, struct due *posted)
{
    posted->count = 0;
    for (uint64_t later = 0; later < WINDOW && later <= iteration; later++)
        for (int slot = SLOTS - 1; slot >= 0; slot--) {
            struct message message = plan(iteration - later, slot);
            if (message.to != self.rank || (uint64_t)message.later != later)
                continue;
            if (message.receiving > POSTED_ANY) {
                receive(&message);
                continue;
            }
            posted->request[posted->count] = &self.kept.receiving[message.iteration % WINDOW][slot];
            posted->message[posted->count++] = message;
        }
}

/* All that is due, in the way that is drawn for this iteration. */
static void complete(const struct due *due, enum completing how)
{
    MPI_Request request[WINDOW * SLOTS];
    MPI_Status status[WINDOW * SLOTS];
    int index[WINDOW * SLOTS], done = 0;
    for (int i = 0; i < due->count; i++)
        request[i] = *due->request[i];
    for (int left = due->count; left > 0; left -= done) {
        if (how <= TEST) {
            index[0] = due->count - left;
            done = 1;
            complete_one(how == TEST, &request[index[0]], status);
        } else {
            complete_some(how, due->count, request, &done, index, status);
        }
        for (int i = 0; i < done; i++)
            take(&due->message[index[i]], &status[i]);
    }
    for (int i = 0; i < due->count; i++)
        *due->request[i] = request[i];
}

/* Those of the oldest iteration in the window: their places are needed again. */
static void complete_sends(uint64_t iteration)
{
    MPI_Status status[SLOTS];
    if (iteration + 1 < WINDOW)
        return;
    MPI_Waitall(SLOTS, self.kept.sending[(iteration + 1) % WINDOW], status);
}

/* --- other communication ---------------------------------------------------------------------- */

static void check_value(uint64_t value, uint64_t expected, const char *what)
{
    if (value != expected)
        count_wrong(what, self.kept.iteration, -1);
}

/* One message of each other rank to one that takes them in as they come. */
static void gather(uint64_t iteration)
{
    int root = (int)(iteration % (uint64_t)self.ranks), tag = TAG_GATHER, rank;
    uint64_t number[2] = {iteration, self.kept.sum};
    MPI_Comm_rank(self.kept.comm[CHANGING], &rank);
    if (rank != root) {
        MPI_Send(number, 2, MPI_UINT64_T, root, tag, self.kept.comm[CHANGING]);
        return;
    }
    for (int i = 1; i < self.ranks; i++) {
        MPI_Status status;
        MPI_Recv(number, 2, MPI_UINT64_T, MPI_ANY_SOURCE, tag, self.kept.comm[CHANGING], &status);
        check_value(number[0], iteration, "a number of another iteration is gathered");
        collect(number[1], (uint64_t)status.MPI_SOURCE);
    }
}

/* Round the ranks of a communicator that is made anew every few iterations. */
static void turn(uint64_t iteration)
{
    uint64_t number[2] = {iteration, self.kept.sum}, got[2];
    int rank, ranks;
    MPI_Comm comm = self.kept.comm[CHANGING];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    if (iteration % 2 == 0) {
        MPI_Sendrecv(number, 2, MPI_UINT64_T, to, TAG_RING, got, 2, MPI_UINT64_T, from, TAG_RING,
                     comm, MPI_STATUS_IGNORE);
    } else {
        memcpy(got, number, sizeof got);
        MPI_Sendrecv_replace(got, 2, MPI_UINT64_T, to, TAG_RING, from, TAG_RING, comm,
                             MPI_STATUS_IGNORE);
    }
    check_value(got[0], iteration, "a number of another iteration came round");
    collect(got[1], (uint64_t)from);
}

/* One blocking message between two ranks; and one to nobody. */
static void pair(uint64_t iteration)
{
    int from = draw(iteration, SLOTS, 11, self.ranks), to = draw(iteration, SLOTS, 12, self.ranks);
    uint64_t number[2] = {iteration, self.kept.sum};
    MPI_Send(number, 2, MPI_UINT64_T, MPI_PROC_NULL, TAG_PAIR, MPI_COMM_WORLD);
    if (from == to)
        return;
    if (self.rank == from && iteration % 2)
        MPI_Ssend(number, 2, MPI_UINT64_T, to, TAG_PAIR, self.kept.comm[EARLY]);
    else if (self.rank == from)
        MPI_Send(number, 2, MPI_UINT64_T, to, TAG_PAIR, self.kept.comm[EARLY]);
    if (self.rank != to)
        return;
    MPI_Recv(number, 2, MPI_UINT64_T, from, TAG_PAIR, self.kept.comm[EARLY], MPI_STATUS_IGNORE);
    check_value(number[0], iteration, "a message of a pair is another's");
    collect(number[1], (uint64_t)from);
}

/* To the right go a few messages of different tags, which are received in the order in which they
 * were sent, one iteration later. */
static void stream(uint64_t iteration)
{
    int right = (self.rank + 1) % self.ranks, left = (self.rank + self.ranks - 1) % self.ranks;
    if (iteration > 0)
        for (int i = draw(iteration - 1, left, 13, STREAM_MOST); i > 0; i--) {
            MPI_Status status;
            uint64_t number[2];
            MPI_Recv(number, 2, MPI_UINT64_T, left, MPI_ANY_TAG, self.kept.comm[STREAM], &status);
            check_value(number[0], self.kept.streamed_in++, "a stream is out of order");
            collect(number[1], (uint64_t)status.MPI_TAG);
        }
    if (iteration + 1 < self.iterations)
        for (int i = draw(iteration, self.rank, 13, STREAM_MOST); i > 0; i--) {
            uint64_t number[2] = {self.kept.streamed_out++, self.kept.sum};
            MPI_Bsend(number, 2, MPI_UINT64_T, right, TAG_STREAM + i, self.kept.comm[STREAM]);
        }
}

/* Started in one iteration and completed in the next. */
static void persist(uint64_t iteration)
{
    struct kept *kept = &self.kept;
    MPI_Status status[2];
    if (iteration % 2 == 0 && iteration + 1 < self.iterations) {
        for (int i = 0; i < 4; i++)
            kept->persistent_out[i] = program_mix(kept->sum, (uint64_t)i);
        MPI_Startall(2, kept->persistent);
    } else if (iteration % 2 == 1) {
        MPI_Waitall(2, kept->persistent, status);
        collect(kept->persistent_in[3], iteration);
    }
}

/* --- communicators and requests that outlive iterations --------------------------------------- */

static void make_lasting(void)
{
    struct kept *kept = &self.kept;
    MPI_Comm_split(MPI_COMM_WORLD, self.rank % 2, self.rank, &kept->comm[HALF]);
    MPI_Comm_dup(kept->comm[EARLY], &kept->comm[STREAM]);
    MPI_Comm_dup(MPI_COMM_WORLD, &kept->comm[CHANGING]);
    MPI_Recv_init(kept->persistent_in, 4, MPI_UINT64_T, (self.rank + self.ranks - 1) % self.ranks,
                  TAG_PERSISTENT, MPI_COMM_WORLD, &kept->persistent[0]);
    MPI_Send_init(kept->persistent_out, 4, MPI_UINT64_T, (self.rank + 1) % self.ranks,
                  TAG_PERSISTENT, MPI_COMM_WORLD, &kept->persistent[1]);
}

/* The ranks of the new one are in the reverse order every other time. */
static void change(uint64_t iteration)
{
    MPI_Comm old = self.kept.comm[CHANGING], between;
    int key = (iteration / CHANGE_EVERY) % 2 ? -self.rank : self.rank;
    MPI_Comm_split(old, iteration % 2 ? 0 : MPI_UNDEFINED, 0, &between);
    if (between != MPI_COMM_NULL)
        MPI_Comm_free(&between);
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &self.kept.comm[CHANGING]);
    MPI_Comm_free(&old);
}

static void free_lasting(void)
{
    MPI_Request_free(&self.kept.persistent[0]);
    MPI_Request_free(&self.kept.persistent[1]);
    for (enum which which = EARLY; which < COMMS; which++)
        MPI_Comm_free(&self.kept.comm[which]);
}

/* --- the program ------------------------------------------------------------------------------ */

static void iterate(uint64_t iteration)
{
    struct due posted;
    if (iteration == 0)
        make_lasting();
    else if (iteration % CHANGE_EVERY == 0)
        change(iteration);
    persist(iteration);
    send_and_post(iteration);
    stream(iteration);
    find_due(iteration, &posted);
    complete(&posted, (enum completing)draw(iteration, self.rank, 14, COMPLETING_WAYS));
    if (draw(iteration, SLOTS, 15, 2))
        gather(iteration);
    if (draw(iteration, SLOTS, 16, 3) == 0)
        turn(iteration);
    pair(iteration);
    complete_sends(iteration);
}

static void register_state(void)
{
    size_t bytes = (size_t)(WINDOW * SLOTS * 2 * self.size) * sizeof *self.in;
    checkpoint_register("kept", &self.kept, sizeof self.kept);
    checkpoint_register("in", self.in, bytes);
    checkpoint_register("out", self.out, bytes);
}

static void restore(void)
{
    struct kept *kept = &self.kept;
    checkpoint_restore();
    program_renew_requests(kept->none, kept->sending[0], WINDOW * SLOTS);
    program_renew_requests(kept->none, kept->receiving[0], WINDOW * SLOTS);
    kept->none = MPI_REQUEST_NULL;
    kept->comm[WORLD] = MPI_COMM_WORLD;
}

static int run(long compute_us)
{
    struct kept *kept = &self.kept;
    register_state();
    restore();
    while (kept->iteration < self.iterations) {
        self.collecting = 0;
        program_compute(compute_us * (1 + draw(kept->iteration, self.rank, 17, 3)));
        iterate(kept->iteration);
        kept->sum = program_mix(kept->sum, self.collecting);
        kept->iteration++;
        potential_checkpoint();
    }
    for (uint64_t i = 0; i + 1 < WINDOW; i++)
        complete_sends(kept->iteration + i);
    free_lasting();

    faultline_result("sum", &kept->sum, sizeof kept->sum);
    faultline_result("taken", &kept->taken, sizeof kept->taken);
    faultline_result("wrong", &kept->wrong, sizeof kept->wrong);
    if (self.rank == 0)
        printf("mixture: %llu messages taken in by rank 0, sum %016llx\n",
               (unsigned long long)kept->taken, (unsigned long long)kept->sum);
    return kept->wrong == 0 ? 0 : 1;
}

static void make_types(void)
{
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, sizeof(uint64_t)};
    MPI_Datatype parts[] = {MPI_UINT32_T, MPI_UINT64_T};
    self.type[PLAIN] = MPI_UINT64_T;
    MPI_Type_create_resized(MPI_UINT64_T, 0, 2 * sizeof(uint64_t), &self.type[SPREAD]);
    MPI_Type_create_struct(2, lengths, places, parts, &self.type[RECORDS]);
    MPI_Type_commit(&self.type[SPREAD]);
    MPI_Type_commit(&self.type[RECORDS]);
}

/* What is there in every incarnation before the state is restored. */
static void *open_mixture(void)
{
    size_t payloads = (size_t)(WINDOW * SLOTS * 2 * self.size);
    size_t buffered = payloads * sizeof(uint64_t) + BUFFER_BYTES;
    void *buffer = program_memory(buffered, 1);
    make_types();
    MPI_Buffer_attach(buffer, (int)buffered);
    self.out = program_memory(payloads, sizeof *self.out);
    self.in = program_memory(payloads, sizeof *self.in);
    for (int i = 0; i < WINDOW * SLOTS; i++)
        self.kept.sending[i / SLOTS][i % SLOTS] = self.kept.receiving[i / SLOTS][i % SLOTS] =
            MPI_REQUEST_NULL;
    self.kept.none = MPI_REQUEST_NULL;
    self.kept.comm[WORLD] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &self.kept.comm[EARLY]);
    return buffer;
}

static void close_mixture(void *buffer)
{
    int bytes;
    MPI_Buffer_detach(&buffer, &bytes);
    MPI_Type_free(&self.type[SPREAD]);
    MPI_Type_free(&self.type[RECORDS]);
    free(self.out);
    free(self.in);
    free(buffer);
}

int main(int argc, char **argv)
{
    long iterations = 60, size = 200, seed = 1, compute_us = 300;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "rounds of messages"},
        {"size", &size, 1, SIZE_MAX_NUMBERS, "elements in a message at most"},
        {"seed", &seed, 0, 1000000000, "of the plan"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per iteration"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "mixture", options, sizeof options / sizeof *options) &&
        program_ranks("mixture", 2)) {
        self.iterations = (uint64_t)iterations;
        self.size = (int)size;
        self.seed = (uint64_t)seed;
        MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &self.ranks);
        void *buffer = open_mixture();
        status = run(compute_us);
        close_mixture(buffer);
    }
    MPI_Finalize();
    return status;
}
