/* Tokens go from rank to rank. The order in which they come and the answers of tests and probes
 * decide what a rank does next: where it sends a token and with which tag, how it receives, when it
 * takes a checkpoint, and which ranks share a communicator. After a restart a rank therefore does
 * something else, as soon as it has come beyond what the protocol gives it again.
 *
 * A rank counts what it has seen and keeps a hash of it. A token carries the latest count and hash
 * of each rank that its sender knows. A rank reports an error if a token tells it of a count of its
 * own that it has not reached, or of two different hashes for one count of the same rank. With
 * `--numbers` a token also carries numbers that follow from its hash: long messages may take
 * another path through a protocol.
 *
 * In each round every rank sends its own tokens and passes on those of others. It begins
 * MPI_Ibarrier when all its own have come home; when that is complete the round is over. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

#define RANKS_MAX 8
#define TOKENS_MAX 8                    /* of a rank */
#define KNOWN 64                        /* latest counts of a rank whose hashes are kept */
#define PLACES (RANKS_MAX * TOKENS_MAX) /* as many as there are tokens, at most */
#define POSTED 3
#define TAGS 3

struct moment {
    uint64_t count;
    uint64_t hash;
};

struct token {
    uint64_t origin;
    uint64_t hops; /* until it goes home */
    uint64_t hash;
    struct moment latest[RANKS_MAX];
};

#define TOKEN_NUMBERS ((int)(sizeof(struct token) / sizeof(uint64_t)))

/* A receive. */
struct posted {
    MPI_Request request; /* MPI_REQUEST_NULL: none */
    uint64_t active;     /* 0: a persistent one at rest */
    uint64_t persistent;
    uint64_t any;  /* takes whatever comes */
    uint64_t made; /* is of the communicator that was made */
};

enum phase { BEGINNING, SERVING, MEETING, ENDING };

static struct {
    uint64_t round, phase, home, wrong;
    uint64_t potentials; /* in this round */
    uint64_t draws;
    struct moment own;
    struct moment known[RANKS_MAX][KNOWN];
    uint64_t latest[RANKS_MAX];
    MPI_Request none, barrier;
    struct posted posted[POSTED];
    uint64_t has_message;
    MPI_Message message; /* found by a matched probe, and not yet received */
    MPI_Comm made;       /* for this round; MPI_COMM_NULL: none */
    MPI_Request sending[PLACES];
} kept;

/* Tokens with their numbers: of receives that are posted, one to receive into, and of sends. */
enum { FIRST_POSTED, RECEIVED = POSTED, FIRST_SENT };

static uint64_t *rows;

static int rank, ranks;
static long rounds = 5, tokens = 2, hops = 10, potentials = 4, seed = 1, compute_us;
static long inside = 1, synchronous = 1, persistent = 1, cancels = 1, matched = 1;
static long splits, outstanding, numbers;

/* A number from 0 to below - 1. It depends on all that this rank has seen, and on how often it has
 * drawn. */
static int draw(int below)
{
    uint64_t number = program_mix(kept.own.hash, ++kept.draws);
    return (int)(number % (uint64_t)below);
}

static bool one_in(int of)
{
    return draw(of) == 0;
}

/* --- what ranks know of each other ------------------------------------------------------------ */

static void wrong(const char *what, int of, struct moment moment)
{
    kept.wrong++;
    fprintf(stderr, "tokens: rank %d, round %llu: %s: rank %d at its count %llu\n", rank,
            (unsigned long long)kept.round, what, of, (unsigned long long)moment.count);
}

static void learn(int of, struct moment moment)
{
    struct moment *known = &kept.known[of][moment.count % KNOWN];
    if (of == rank && moment.count > kept.own.count)
        wrong("a token tells of what this rank has not done", of, moment);
    else if (known->count == moment.count && known->hash != moment.hash)
        wrong("two tokens tell two things", of, moment);
    else if (known->count < moment.count)
        *known = moment;
    if (kept.latest[of] < moment.count)
        kept.latest[of] = moment.count;
}

/* This rank has seen something that nobody determines. */
static void see(uint64_t what)
{
    kept.own.count++;
    kept.own.hash = program_mix(kept.own.hash, what);
    learn(rank, kept.own);
}

static void tell(struct token *token)
{
    for (int of = 0; of < ranks; of++)
        token->latest[of] = kept.known[of][kept.latest[of] % KNOWN];
}

static int row_numbers(void)
{
    return TOKEN_NUMBERS + (int)numbers;
}

static uint64_t *row(int number)
{
    return rows + number * row_numbers();
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* A place whose send is complete. There is one: there are as many places as tokens, and the caller
 * has one token in its hands. */
static int free_place(void)
{
    int all = ranks * (int)tokens, place;
    for (place = 0; place < all; place++)
        if (kept.sending[place] == MPI_REQUEST_NULL)
            return place;
    MPI_Waitany(all, kept.sending, &place, MPI_STATUS_IGNORE);
    return place;
}

static void send_token(const struct token *token)
{
    int place = free_place(), size = ranks, to;
    struct token out = *token;
    MPI_Request *request = &kept.sending[place];
    MPI_Comm comm = MPI_COMM_WORLD;
    if (out.hops > 0 && kept.made != MPI_COMM_NULL && one_in(2)) {
        comm = kept.made;
        MPI_Comm_size(comm, &size);
    }
    to = out.hops > 0 ? draw(size) : (int)out.origin;
    int tag = draw(TAGS);
    tell(&out);
    memcpy(row(FIRST_SENT + place), &out, sizeof out);
    for (int i = TOKEN_NUMBERS; i < row_numbers(); i++)
        row(FIRST_SENT + place)[i] = program_mix(out.hash, (uint64_t)i);
    if (synchronous && one_in(3))
        MPI_Issend(row(FIRST_SENT + place), row_numbers(), MPI_UINT64_T, to, tag, comm, request);
    else
        MPI_Isend(row(FIRST_SENT + place), row_numbers(), MPI_UINT64_T, to, tag, comm, request);
}

/* What lies in row `number`, if it is whole. */
static struct token token_in(int number, const MPI_Status *status)
{
    struct token token;
    int count;
    MPI_Get_count(status, MPI_UINT64_T, &count);
    memcpy(&token, row(number), sizeof token);
    bool whole = count == row_numbers() && token.origin < (uint64_t)ranks;
    for (int i = TOKEN_NUMBERS; i < row_numbers(); i++)
        whole &= row(number)[i] == program_mix(token.hash, (uint64_t)i);
    if (!whole)
        wrong("what came is no token", status->MPI_SOURCE, kept.own);
    return token;
}

static void take(int number, const MPI_Status *status)
{
    struct token token = token_in(number, status);
    for (int of = 0; of < ranks; of++)
        learn(of, token.latest[of]);
    see(program_mix(token.hash, kept.draws) ^
        (uint64_t)(status->MPI_SOURCE * TAGS + status->MPI_TAG));
    token.hash = program_mix(token.hash, kept.own.hash);
    if (token.hops > 0) {
        token.hops--;
        send_token(&token);
        return;
    }
    if (token.origin != (uint64_t)rank)
        wrong("a token has come home to another rank", (int)token.origin, kept.own);
    kept.home++;
}

/* --- receives that are posted ----------------------------------------------------------------- */

static int row_of(const struct posted *posted)
{
    return FIRST_POSTED + (int)(posted - kept.posted);
}

static void start(struct posted *posted)
{
    MPI_Start(&posted->request);
    posted->active = true;
}

static void post(struct posted *posted)
{
    MPI_Comm comm = kept.made != MPI_COMM_NULL && one_in(2) ? kept.made : MPI_COMM_WORLD;
    int size, source = MPI_ANY_SOURCE, tag = one_in(4) ? draw(TAGS) : MPI_ANY_TAG;
    if (one_in(4)) {
        MPI_Comm_size(comm, &size);
        source = draw(size);
    }
    posted->any = source == MPI_ANY_SOURCE && tag == MPI_ANY_TAG;
    posted->made = comm != MPI_COMM_WORLD;
    posted->persistent = persistent && one_in(3);
    posted->active = !posted->persistent;
    (posted->persistent ? MPI_Recv_init : MPI_Irecv)(
        row(row_of(posted)), row_numbers(), MPI_UINT64_T, source, tag, comm, &posted->request);
    if (posted->persistent)
        start(posted);
}

/* Its request is complete: one that is persistent is started again or freed, now or later. */
static void take_posted(struct posted *posted, const MPI_Status *status)
{
    int cancelled;
    MPI_Test_cancelled(status, &cancelled);
    posted->active = false;
    if (!cancelled)
        take(row_of(posted), status);
    if (posted->persistent && one_in(2))
        start(posted);
}

static void withdraw(struct posted *posted)
{
    MPI_Status status;
    if (posted->active) {
        MPI_Cancel(&posted->request);
        MPI_Wait(&posted->request, &status);
        take_posted(posted, &status);
    }
    if (!posted->active && posted->request != MPI_REQUEST_NULL)
        MPI_Request_free(&posted->request);
}

static void withdraw_all(bool of_made_alone)
{
    for (int i = 0; i < POSTED; i++)
        while (kept.posted[i].request != MPI_REQUEST_NULL &&
               (kept.posted[i].made || !of_made_alone))
            withdraw(&kept.posted[i]);
}

/* How many are active, and whether one of them takes whatever comes. */
static int count_active(bool *takes_any)
{
    int count = 0;
    *takes_any = false;
    for (int i = 0; i < POSTED; i++) {
        count += kept.posted[i].active != 0;
        *takes_any |= kept.posted[i].active && kept.posted[i].any;
    }
    return count;
}

/* All that are posted, with the barrier, as one of MPI's calls for several requests takes them. */
static void ask_several(bool waits)
{
    MPI_Request request[POSTED + 1];
    MPI_Status status[POSTED + 1];
    int index[POSTED + 1], done = 0, flag = 0, count = POSTED + 1, way = draw(3);
    for (int i = 0; i < POSTED; i++)
        request[i] = kept.posted[i].request;
    request[POSTED] = kept.barrier;
    if (way == 0 && waits)
        MPI_Waitsome(count, request, &done, index, status);
    else if (way == 0)
        MPI_Testsome(count, request, &done, index, status);
    else if (way == 1 && !waits) {
        MPI_Testall(count, request, &flag, status);
        for (int i = 0; flag && i < count; i++)
            index[done++] = i;
    } else {
        (void)(waits ? MPI_Waitany(count, request, index, status)
                     : MPI_Testany(count, request, index, &flag, status));
        done = (waits || flag) && index[0] != MPI_UNDEFINED;
    }
    kept.barrier = request[POSTED];
    for (int i = 0; i < POSTED; i++)
        kept.posted[i].request = request[i];
    for (int i = 0; i < done && done != MPI_UNDEFINED; i++)
        if (index[i] < POSTED && kept.posted[index[i]].active)
            take_posted(&kept.posted[index[i]], &status[i]);
}

static void ask_one(struct posted *posted, bool waits)
{
    MPI_Status status;
    int flag = 0;
    if (!posted->active)
        return;
    if (waits) {
        MPI_Wait(&posted->request, &status);
        flag = 1;
    } else if (one_in(3)) {
        MPI_Request_get_status(posted->request, &flag, &status);
        if (!flag || one_in(2))
            return;
        MPI_Wait(&posted->request, &status);
    } else {
        MPI_Test(&posted->request, &flag, &status);
    }
    if (flag)
        take_posted(posted, &status);
}

/* --- receives that are not ------------------------------------------------------------------ */

static void receive(int source, int tag, MPI_Comm comm)
{
    MPI_Status status;
    MPI_Recv(row(RECEIVED), row_numbers(), MPI_UINT64_T, source, tag, comm, &status);
    take(RECEIVED, &status);
}

static void receive_matched(void)
{
    MPI_Status status;
    MPI_Request request;
    kept.has_message = false;
    if (one_in(2)) {
        MPI_Mrecv(row(RECEIVED), row_numbers(), MPI_UINT64_T, &kept.message, &status);
    } else {
        MPI_Imrecv(row(RECEIVED), row_numbers(), MPI_UINT64_T, &kept.message, &request);
        MPI_Wait(&request, &status);
    }
    take(RECEIVED, &status);
}

/* waits: MPI_Probe or MPI_Mprobe for any message, else one of those that do not block. */
static void probe(bool waits)
{
    MPI_Comm comm = kept.made != MPI_COMM_NULL && one_in(2) ? kept.made : MPI_COMM_WORLD;
    int size, flag = waits, source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
    MPI_Status status;
    if (!waits && one_in(3)) {
        MPI_Comm_size(comm, &size);
        source = draw(size);
    }
    if (!waits && one_in(3))
        tag = draw(TAGS);
    if (matched && !kept.has_message && one_in(2)) {
        if (waits)
            MPI_Mprobe(source, tag, comm, &kept.message, &status);
        else
            MPI_Improbe(source, tag, comm, &flag, &kept.message, &status);
        kept.has_message = flag != 0;
        return;
    }
    if (waits)
        MPI_Probe(source, tag, comm, &status);
    else
        MPI_Iprobe(source, tag, comm, &flag, &status);
    if (flag && !one_in(3))
        receive(one_in(2) ? source : status.MPI_SOURCE, one_in(2) ? tag : status.MPI_TAG, comm);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void begin_round(void)
{
    kept.phase = SERVING;
    for (int i = 0; i < tokens; i++) {
        struct token token = {.origin = (uint64_t)rank, .hops = (uint64_t)hops};
        token.hash = program_mix(kept.own.hash, (uint64_t)i);
        send_token(&token);
    }
}

static void choose(void)
{
    double times[2] = {MPI_Wtime(), MPI_Wtime()};
    uint64_t values[2];
    checkpoint_decision("times", times, sizeof times);
    memcpy(values, times, sizeof values);
    see(program_mix(values[0], values[1]));
}

/* The rank does one thing, drawn from all that it may do. It calls what blocks only where it is
 * sure to get something: one of its own tokens, or at the end of a round the barrier. It does not
 * while it holds a matched message, because another rank may be waiting for that token. */
static void serve(void)
{
    bool takes_any, in_barrier = kept.phase == MEETING;
    int active = count_active(&takes_any);
    bool waits = !kept.has_message && kept.made == MPI_COMM_NULL && one_in(2);
    struct posted *posted = &kept.posted[draw(POSTED)];
    int what = draw(16);
    if (what == 0)
        choose();
    else if (kept.has_message && what < 8)
        receive_matched();
    else if (what < 4 && posted->request == MPI_REQUEST_NULL)
        post(posted);
    else if (what < 4 && !posted->active)
        start(posted);
    else if (what == 4 && cancels)
        withdraw(posted);
    else if (what < 8 && (active > 0 || in_barrier))
        ask_several(waits && takes_any);
    else if (what < 11)
        ask_one(posted, waits && active == 1 && posted->any && !in_barrier);
    else
        probe(waits && active == 0 && !in_barrier);
}

/* Each is told what each other has come to. */
static void compare(void)
{
    struct moment all[RANKS_MAX], own = kept.own;
    MPI_Request request;
    if (kept.round % 2 == 0) {
        MPI_Allgather(&own, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
    } else {
        MPI_Iallgather(&own, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int of = 0; of < ranks; of++)
        learn(of, all[of]);
}

static void make_another(void)
{
    int size, color = draw(4), key = draw(100);
    withdraw_all(true);
    if (kept.made != MPI_COMM_NULL)
        MPI_Comm_free(&kept.made);
    MPI_Comm_split(MPI_COMM_WORLD, color == 3 ? MPI_UNDEFINED : color > 0, key, &kept.made);
    if (kept.made == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(kept.made, &key);
    MPI_Comm_size(kept.made, &size);
    see((uint64_t)(key * RANKS_MAX + size));
}

static void end_sends(void)
{
    MPI_Status status[PLACES];
    MPI_Waitall(PLACES, kept.sending, status);
}

static void end_round(void)
{
    if (one_in(2))
        end_sends();
    compare();
    if (splits)
        make_another();
    kept.phase = ENDING;
}

/* After each step the state is enough to go on from. */
static void step(void)
{
    if (kept.phase == BEGINNING) {
        begin_round();
    } else if (kept.phase == SERVING && kept.home == (kept.round + 1) * (uint64_t)tokens) {
        MPI_Ibarrier(MPI_COMM_WORLD, &kept.barrier);
        kept.phase = MEETING;
    } else if (kept.phase == MEETING && kept.barrier == MPI_REQUEST_NULL) {
        end_round();
    } else if (kept.phase != ENDING) {
        serve();
    }
    program_compute(compute_us);
}

/* Seldom where nothing has come. */
static bool comes_to_a_checkpoint(bool something_came)
{
    if (kept.potentials == (uint64_t)potentials)
        return false;
    if (kept.phase == ENDING)
        return true;
    return inside && one_in(something_came ? 4 : 40) && (outstanding || kept.phase != MEETING);
}

static void run(void)
{
    kept.none = kept.barrier = MPI_REQUEST_NULL;
    kept.made = MPI_COMM_NULL;
    for (int i = 0; i < POSTED; i++)
        kept.posted[i].request = MPI_REQUEST_NULL;
    for (int i = 0; i < PLACES; i++)
        kept.sending[i] = MPI_REQUEST_NULL;
    kept.own.hash = program_mix((uint64_t)seed, (uint64_t)rank);
    size_t all = (size_t)((FIRST_SENT + ranks * (int)tokens) * row_numbers());
    rows = program_memory(all, sizeof *rows);
    checkpoint_register("tokens", &kept, sizeof kept);
    checkpoint_register("rows", rows, all * sizeof *rows);
    checkpoint_restore();
    program_renew_requests(kept.none, kept.sending, PLACES);
    program_renew_requests(kept.none, &kept.barrier, 1);
    for (int i = 0; i < POSTED; i++)
        program_renew_requests(kept.none, &kept.posted[i].request, 1);
    kept.none = MPI_REQUEST_NULL;
    while (kept.round < (uint64_t)rounds) {
        uint64_t count = kept.own.count;
        step();
        if (comes_to_a_checkpoint(kept.own.count != count)) {
            kept.potentials++;
            potential_checkpoint();
        } else if (kept.phase == ENDING) {
            kept.phase = BEGINNING;
            kept.potentials = 0;
            kept.round++;
        }
    }
    withdraw_all(false);
    end_sends();
    if (kept.made != MPI_COMM_NULL)
        MPI_Comm_free(&kept.made);
    faultline_result("home", &kept.home, sizeof kept.home);
    faultline_result("wrong", &kept.wrong, sizeof kept.wrong);
    free(rows);
}

#define SWITCH(name, variable, meaning)                                                            \
    {                                                                                              \
        name, &variable, 0, 1, "1: " meaning                                                       \
    }

int main(int argc, char **argv)
{
    const struct program_option options[] = {
        {"iterations", &rounds, 1, 1000000, "rounds"},
        {"tokens", &tokens, 1, TOKENS_MAX, "tokens of each rank"},
        {"hops", &hops, 0, 1000000, "from rank to rank, until a token goes home"},
        {"potentials", &potentials, 1, 1000, "potential checkpoints of a rank in a round"},
        {"numbers", &numbers, 0, 65536, "more in each token, which are checked"},
        {"seed", &seed, 0, 1000000000, "of what is drawn first"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
        SWITCH("inside", inside, "some of them while tokens are on their way"),
        SWITCH("synchronous", synchronous, "MPI_Issend"),
        SWITCH("persistent", persistent, "MPI_Recv_init"),
        SWITCH("cancels", cancels, "MPI_Cancel within a round"),
        SWITCH("matched-probes", matched, "MPI_Mprobe, MPI_Improbe"),
        SWITCH("splits", splits, "a communicator for each round"),
        SWITCH("outstanding", outstanding, "MPI_Ibarrier goes on over a potential checkpoint"),
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int status = PROGRAM_EXIT_USAGE;
    if (ranks > RANKS_MAX && rank == 0)
        fprintf(stderr, "tokens: at most %d ranks, has %d\n", RANKS_MAX, ranks);
    if (program_options(argc, argv, "tokens", options, sizeof options / sizeof *options) &&
        program_ranks("tokens", 2) && ranks <= RANKS_MAX) {
        run();
        status = kept.wrong != 0;
        if (rank == 0)
            printf("tokens: %ld rounds, %llu tokens have come home to rank 0\n", rounds,
                   (unsigned long long)kept.home);
    }
    MPI_Finalize();
    return status;
}
