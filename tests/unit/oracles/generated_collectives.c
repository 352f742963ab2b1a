/* Collectives drawn at random, with a recovery line anywhere among them, a crash, and a protocol
 * that recovers rightly: none may raise an alarm of family D. Then the same with one thing done
 * wrong, which must be found and called by its name. Seeded: the same runs every time. */
#include "generated.h"

#define RUNS 1000
#define RANKS_MAX 4
#define CALLS_MAX 16
#define CALL_NS 10000u /* from one call to the next */
#define LIFE_NS 1000000000ul

enum kind { BCAST, REDUCE, ALLREDUCE, SCAN, BARRIER, KINDS };
static const char *const function[] = {"MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Scan",
                                       "MPI_Barrier"};

enum wrong {
    WRONG_NOTHING,
    WRONG_EXECUTED, /* a straddling call goes on the wire again */
    WRONG_REPLAYED, /* one that does not straddle the line does not */
    WRONG_RESULT,   /* a straddling call gives something else */
    WRONG_DUMMY,    /* who is before takes no part in a broadcast that is done again */
    WRONG_DEAF,     /* who must stop logging in a call does so only after it */
    WRONG_EARLY,    /* a rank stops logging before all are past the line */
    WRONG_BARRIER,  /* a barrier straddles the line */
    WRONG_COUNT
};

struct run {
    int ranks, calls;
    enum kind kind[CALLS_MAX];
    int root[CALLS_MAX];
    int line[RANKS_MAX];    /* the rank's calls from this one on are past its checkpoint */
    int stop[RANKS_MAX];    /* ... its stop-log line */
    bool inside[RANKS_MAX]; /* it stops in that call, and not before it */
    enum wrong wrong;
    int wrong_call, wrong_rank;
    FILE *out;
};

/* --- the program and the line ---------------------------------------------------------------- */

static bool flows(const struct run *run, int call, int from, int to)
{
    switch (run->kind[call]) {
    case BCAST:
        return from == run->root[call] && to != from;
    case REDUCE:
        return to == run->root[call] && to != from;
    case SCAN:
        return from < to;
    default:
        return from != to;
    }
}

static int last_line(const struct run *run)
{
    int last = 0;
    for (int rank = 0; rank < run->ranks; rank++)
        last = run->line[rank] > last ? run->line[rank] : last;
    return last;
}

static bool straddles(const struct run *run, int call)
{
    bool before = false, past = false;
    for (int rank = 0; rank < run->ranks; rank++) {
        before |= run->line[rank] > call;
        past |= run->line[rank] <= call;
    }
    return before && past;
}

/* Whoever gets data from a rank that has stopped stops in that call. */
static void spread_stops(struct run *run)
{
    for (int call = 0; call < run->calls; call++)
        for (int turn = 0; turn < run->ranks; turn++)
            for (int from = 0; from < run->ranks; from++)
                for (int to = 0; to < run->ranks; to++)
                    if (run->stop[from] <= call && run->stop[to] > call &&
                        flows(run, call, from, to)) {
                        run->stop[to] = call;
                        run->inside[to] = true;
                    }
}

static void draw_run(struct run *run)
{
    run->ranks = 2 + draw(RANKS_MAX - 1);
    run->calls = 6 + draw(CALLS_MAX - 6);
    for (int call = 0; call < run->calls; call++) {
        run->kind[call] = (enum kind)draw(KINDS);
        run->root[call] = draw(run->ranks);
    }
    int about = draw(run->calls - 3);
    for (int rank = 0; rank < run->ranks; rank++)
        run->line[rank] = about + draw(4);
    int last = last_line(run);
    for (int rank = 0; rank < run->ranks; rank++)
        run->stop[rank] = rank == 0 ? last : last + draw(4);
    for (int call = 0; call < run->calls; call++)
        if (run->kind[call] == BARRIER && straddles(run, call))
            run->kind[call] = ALLREDUCE;
    spread_stops(run);
}

/* --- the first life -------------------------------------------------------------------------- */

static uint64_t when(int life, int call, int rank)
{
    return (uint64_t)life * LIFE_NS + (uint64_t)(call + 2) * CALL_NS + (uint64_t)rank;
}

/* One record of a call, from `at` for `lasts`. */
static void record(const struct run *run, int rank, int life, const char *level, int call,
                   uint64_t at, uint64_t lasts, uint64_t other)
{
    enum kind kind = run->kind[call];
    bool root = rank == run->root[call];
    fprintf(run->out, "r%d#%d %s collective %s", rank, life, level, function[kind]);
    if (kind == BCAST || kind == REDUCE)
        fprintf(run->out, " root %d", run->root[call]);
    if (kind != BARRIER)
        fprintf(run->out, " bytes 8");
    if (kind == BCAST && root)
        fprintf(run->out, " hash %#x", 0x100 + call);
    else if (kind != BCAST && kind != BARRIER)
        fprintf(run->out, " hash %#x", 0x1000 + 16 * call + rank);
    if (kind == ALLREDUCE || kind == SCAN || (kind == BCAST && !root) || (kind == REDUCE && root))
        fprintf(run->out, " result %#" PRIx64, (uint64_t)(0x100 + call) + other);
    fprintf(run->out, " at %" PRIu64 " until %" PRIu64 "\n", at, at + lasts);
}

static void note(const struct run *run, int rank, int life, const char *what, uint64_t at)
{
    fprintf(run->out, "r%d#%d note %s 1 at %" PRIu64 " until %" PRIu64 "\n", rank, life, what, at,
            at);
}

static void control(const struct run *run, int from, int to, uint64_t at, bool send)
{
    int rank = send ? from : to, other = send ? to : from;
    fprintf(run->out, "r%d#0 wire %s %d tag 99 ", rank,
            send ? "send MPI_Send to" : "recv MPI_Recv from", other);
    if (!send)
        fprintf(run->out, "got %d tag 99 ", other);
    fprintf(run->out, "bytes 8 hash 0x1 at %" PRIu64 " until %" PRIu64 "\n", at, at + 1);
}

/* Rank 0 hears of all checkpoints, stops, and tells the others. */
static void stop_first(const struct run *run, uint64_t at)
{
    for (int rank = 1; rank < run->ranks; rank++)
        control(run, rank, 0, at - 2000 + (uint64_t)rank * 10, false);
    note(run, 0, 0, "stop-log", at - 1500);
    for (int rank = 1; rank < run->ranks; rank++)
        control(run, 0, rank, at - 1400 + (uint64_t)rank * 10, true);
}

static bool goes_wrong(const struct run *run, enum wrong wrong, int rank, int call)
{
    return run->wrong == wrong && run->wrong_rank == rank && run->wrong_call == call;
}

static void first_call(const struct run *run, int rank, int call)
{
    uint64_t at = when(0, call, rank);
    bool early = goes_wrong(run, WRONG_EARLY, rank, call);
    if (run->line[rank] == call) {
        note(run, rank, 0, "checkpoint", at - 4000);
        if (rank != 0)
            control(run, rank, 0, at - 3900, true);
    }
    if (early)
        note(run, rank, 0, "stop-log", at - 3800);
    else if (rank == 0 && run->stop[0] == call && run->wrong != WRONG_EARLY)
        stop_first(run, at);
    else if (rank != 0 && run->stop[rank] == call && !run->inside[rank] &&
             run->wrong != WRONG_EARLY) {
        control(run, 0, rank, at - 1000, false);
        note(run, rank, 0, "stop-log", at - 900);
    }
    record(run, rank, 0, "app", call, at, 3000, 0);
    record(run, rank, 0, "wire", call, at + 500, 2000, 0);
    if (run->stop[rank] == call && run->inside[rank] && run->wrong != WRONG_EARLY) {
        bool deaf = goes_wrong(run, WRONG_DEAF, rank, call);
        note(run, rank, 0, "stop-log", deaf ? at + 3500 : at + 2800);
    }
}

/* --- the second life ------------------------------------------------------------------------- */

static bool must_execute(const struct run *run, int call)
{
    return !straddles(run, call) ||
           (run->kind[call] == BCAST && run->line[run->root[call]] <= call);
}

static void dummies(const struct run *run, int rank)
{
    for (int call = 0; call < run->line[rank] && call < run->calls; call++)
        if (straddles(run, call) && must_execute(run, call) &&
            !goes_wrong(run, WRONG_DUMMY, rank, call))
            record(run, rank, 1, "wire", call, when(1, call, rank), 2000, 0);
}

static void second_call(const struct run *run, int rank, int call)
{
    uint64_t at = when(1, call, rank);
    bool wire = must_execute(run, call);
    wire |= goes_wrong(run, WRONG_EXECUTED, rank, call);
    wire &= !goes_wrong(run, WRONG_REPLAYED, rank, call);
    uint64_t other = goes_wrong(run, WRONG_RESULT, rank, call) ? 0x5000 : 0;
    record(run, rank, 1, "app", call, at, 3000, other);
    if (wire)
        record(run, rank, 1, "wire", call, at + 500, 2000, 0);
}

static void write_run(const struct run *run)
{
    fprintf(run->out, "ranks %d\n", run->ranks);
    for (int rank = 0; rank < run->ranks; rank++) {
        for (int call = 0; call < run->calls; call++)
            first_call(run, rank, call);
        if (run->line[rank] >= run->calls) /* after all calls */
            note(run, rank, 0, "checkpoint", when(0, run->calls, rank));
    }
    fprintf(run->out, "r0#0 fault kill 0 step 0 at %lu until %lu\n", LIFE_NS / 2, LIFE_NS / 2);
    for (int rank = 0; rank < run->ranks; rank++) {
        note(run, rank, 1, "restored", LIFE_NS + 1000);
        dummies(run, rank);
        for (int call = run->line[rank]; call < run->calls; call++)
            second_call(run, rank, call);
    }
}

/* --- what is done wrong ---------------------------------------------------------------------- */

static const char *claim_of(enum kind kind)
{
    return kind == BCAST ? "D.bcast" : kind == REDUCE ? "D.gather" : "D.all";
}

/* The claim that must find it, or NULL: it cannot be done wrong here. */
static const char *claim_for(const struct run *run, enum wrong wrong, int rank, int call)
{
    enum kind kind = run->kind[call];
    bool past = run->line[rank] <= call, crossed = straddles(run, call);
    bool gets = kind == ALLREDUCE || (kind == REDUCE && rank == run->root[call]) ||
                (kind == BCAST && rank != run->root[call]);
    switch (wrong) {
    case WRONG_EXECUTED:
        return past && kind != SCAN && !must_execute(run, call) ? claim_of(kind) : NULL;
    case WRONG_REPLAYED:
        return past && kind != BARRIER && !crossed ? claim_of(kind) : NULL;
    case WRONG_RESULT:
        return past && crossed && gets ? claim_of(kind) : NULL;
    case WRONG_DUMMY:
        return !past && crossed && must_execute(run, call) ? "D.bcast" : NULL;
    case WRONG_DEAF:
        return run->stop[rank] == call && run->inside[rank] ? "D.2.2" : NULL;
    case WRONG_EARLY:
        return past && call < last_line(run) ? "D.2.1" : NULL;
    case WRONG_BARRIER:
        return crossed ? "D.barrier" : NULL;
    default:
        return NULL;
    }
}

static const char *choose_wrong(struct run *run, enum wrong wrong)
{
    const char *chosen = NULL;
    int seen = 0;
    for (int call = 0; call < run->calls; call++)
        for (int rank = 0; rank < run->ranks; rank++) {
            const char *claim = claim_for(run, wrong, rank, call);
            if (claim == NULL || draw(++seen) != 0)
                continue;
            chosen = claim;
            run->wrong_call = call;
            run->wrong_rank = rank;
        }
    if (chosen != NULL)
        run->wrong = wrong;
    if (chosen != NULL && wrong == WRONG_BARRIER)
        run->kind[run->wrong_call] = BARRIER;
    return chosen;
}

/* --- judging --------------------------------------------------------------------------------- */

static bool judge_run(struct run *run, struct judgement *judgement)
{
    run->out = generated_file();
    write_run(run);
    fclose(run->out);
    return generated_judge(run->ranks, 2, (const char *const[]){"D"}, 1, judgement);
}

static void test(enum wrong wrong, const char *what)
{
    int drawn = 0, missed = 0;
    for (uint64_t seed = 0; seed < RUNS && missed == 0; seed++) {
        struct run run = {.wrong_call = -1, .wrong_rank = -1};
        struct judgement judgement = {0};
        begin_drawing(seed);
        draw_run(&run);
        const char *claim = wrong == WRONG_NOTHING ? NULL : choose_wrong(&run, wrong);
        if (wrong != WRONG_NOTHING && claim == NULL)
            continue;
        drawn++;
        bool judged = judge_run(&run, &judgement);
        bool good =
            claim == NULL ? judgement.finding_count == 0 : generated_found(&judgement, claim);
        if (!judged || !good) {
            missed++;
            printf("# expected: %s\n", claim == NULL ? "nothing" : claim);
            generated_show(&judgement, seed);
        }
        judgement_release(&judgement);
    }
    check(missed == 0 && drawn > RUNS / 20, "%d runs, %s", drawn, what);
}

int main(void)
{
    static const char *const what[WRONG_COUNT] = {
        "nothing wrong: no alarm",
        "a straddling call executed again: found",
        "a call that does not straddle the line replayed: found",
        "a straddling call with another result: found",
        "no part taken in a broadcast that is done again: found",
        "logging goes on after data of one who has stopped: found",
        "logging stops before all have taken their checkpoints: found",
        "a barrier across the line: found"};
    if (!generated_open())
        return 1;
    for (int wrong = 0; wrong < WRONG_COUNT; wrong++)
        test((enum wrong)wrong, what[wrong]);
    generated_close();
    return done();
}
