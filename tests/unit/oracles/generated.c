/* Runs drawn at random: a program, crashes, and a protocol that recovers rightly from lines that
 * lie anywhere, with late and early messages, pending requests and calls cut off by the crash. None
 * may raise an alarm. Then the same with one thing done wrong: it must be found, and called by its
 * name. Seeded: the same runs every time; FAULTLINE_GENERATED=<count>,<seed> draws others. */
#include "generated.h"

#define RUNS 10000
#define PLANTED_RUNS 6000
#define RANKS_MAX 4
#define OPS_MAX 90
#define LINES_MAX 16
#define INCARNATIONS_MAX 4
#define TAGS 3
#define TICK 1000u               /* ns between records, mostly */
#define PAUSE 3000000u           /* longer than clocks may differ */
#define INCARNATION 1000000000ul /* ns from one to the next */

enum op_kind { OP_SEND, OP_RECV, OP_POST, OP_WAIT, OP_COLLECTIVE };

/* What one rank does, or all of them do together; the order of ops is one in which all can run. */
struct op {
    enum op_kind kind;
    int rank; /* -1: all */
    int peer; /* to whom, or from whom */
    int tag;
    uint64_t hash;
    bool any_source, any_tag;
    int send;    /* of a receive: the op that sent what it gets */
    int request; /* of OP_POST and OP_WAIT */
};

/* What is done wrong, once. */
enum wrong {
    WRONG_NOTHING,
    WRONG_LOSS,
    WRONG_DUPLICATE,
    WRONG_PAYLOAD,
    WRONG_ORPHAN, /* delivered, though nobody ever sent it */
    WRONG_EARLY,  /* an early message is delivered again when it is sent again */
    WRONG_LATE,   /* a late message is not delivered again */
    WRONG_COLLECTIVE,
    WRONG_COUNT
};
static const char *const wrong_claim[] = {NULL,       "H.loss",   "H.duplicate", "H.payload",
                                          "H.orphan", "H.orphan", "H.loss",      "H.collective"};

struct run {
    int ranks;
    int count;
    struct op op[OPS_MAX];
    bool taken[OPS_MAX]; /* of a send: some receive gets it */
    bool alike;          /* many payloads are the same */
    int incarnations;
    int line_count;
    int line[LINES_MAX][RANKS_MAX]; /* each rank's ops from this one on lie after its checkpoint */
    int start[RANKS_MAX];           /* of the incarnation that is written */
    uint64_t clock;
    enum wrong wrong;
    int wrong_op, wrong_incarnation; /* where */
    bool wrong_done;
    FILE *out;
};

/* --- the program --------------------------------------------------------------------------- */

static struct op *add_op(struct run *run, enum op_kind kind, int rank)
{
    struct op *op = &run->op[run->count++];
    *op = (struct op){.kind = kind, .rank = rank};
    return op;
}

static void add_send(struct run *run)
{
    struct op *op = add_op(run, OP_SEND, draw(run->ranks));
    op->peer = (op->rank + 1 + draw(run->ranks - 1)) % run->ranks;
    op->tag = 1 + draw(TAGS);
    op->hash = run->alike && draw(3) > 0 ? 0x11 : 0x1000 + (uint64_t)run->count;
}

/* The first message that a receive may take as things stand: one that no other of its channel, or,
 * for any tag, of its sender, lies before. */
static int find_message(const struct run *run, bool any_tag)
{
    int found = -1, seen = 0;
    for (int i = 0; i < run->count; i++) {
        const struct op *send = &run->op[i];
        bool first = send->kind == OP_SEND && !run->taken[i];
        for (int k = 0; k < i && first; k++) {
            const struct op *other = &run->op[k];
            first = other->kind != OP_SEND || run->taken[k] || other->rank != send->rank ||
                    other->peer != send->peer || (!any_tag && other->tag != send->tag);
        }
        if (first && draw(++seen) == 0)
            found = i;
    }
    return found;
}

static void add_receive(struct run *run, bool request)
{
    bool any_tag = draw(5) == 0;
    int send = find_message(run, any_tag);
    if (send < 0)
        return;
    run->taken[send] = true;
    struct op *op = add_op(run, request ? OP_POST : OP_RECV, run->op[send].peer);
    op->send = send;
    op->peer = run->op[send].rank;
    op->tag = run->op[send].tag;
    op->hash = run->op[send].hash;
    op->any_tag = any_tag;
    op->any_source = draw(3) == 0;
    op->request = request ? run->count : 0;
}

static bool is_waited_for(const struct run *run, int request)
{
    for (int i = 0; i < run->count; i++)
        if (run->op[i].kind == OP_WAIT && run->op[i].request == request)
            return true;
    return false;
}

static bool add_wait(struct run *run)
{
    for (int i = 0; i < run->count; i++) {
        const struct op *post = &run->op[i];
        if (post->kind != OP_POST || is_waited_for(run, post->request) || draw(2) == 0)
            continue;
        struct op *op = add_op(run, OP_WAIT, post->rank);
        struct op copy = *post;
        copy.kind = OP_WAIT;
        *op = copy;
        return true;
    }
    return false;
}

static bool all_waited_for(const struct run *run)
{
    for (int i = 0; i < run->count; i++)
        if (run->op[i].kind == OP_POST && !is_waited_for(run, run->op[i].request))
            return false;
    return true;
}

static void draw_program(struct run *run)
{
    int length = 10 + draw(OPS_MAX / 2 - 10);
    while (run->count < length) {
        int what = draw(10);
        if (what < 4)
            add_send(run);
        else if (what < 7)
            add_receive(run, false);
        else if (what < 8)
            add_receive(run, true);
        else if (what < 9)
            add_wait(run);
        else
            add_op(run, OP_COLLECTIVE, -1)->hash = 0x500 + (uint64_t)run->count;
    }
    while (find_message(run, false) >= 0)
        add_receive(run, false);
    while (!all_waited_for(run))
        add_wait(run);
}

/* --- what is recorded of it ---------------------------------------------------------------- */

static void times(struct run *run, bool in_progress)
{
    run->clock += draw(8) == 0 ? PAUSE : TICK;
    if (in_progress)
        fprintf(run->out, " at %" PRIu64 " in-progress\n", run->clock);
    else
        fprintf(run->out, " at %" PRIu64 " until %" PRIu64 "\n", run->clock, run->clock + 10);
}

static void note(struct run *run, int rank, int incarnation, const char *what, int line)
{
    fprintf(run->out, "r%d#%d note %s %d", rank, incarnation, what, line);
    times(run, false);
}

static void record_receive(struct run *run, const struct op *op, int incarnation, uint64_t hash,
                           bool in_progress)
{
    char from[16] = "any", tag[16] = "any";
    FILE *out = run->out;
    if (!op->any_source)
        snprintf(from, sizeof from, "%d", op->peer);
    if (!op->any_tag)
        snprintf(tag, sizeof tag, "%d", op->tag);
    fprintf(out, "r%d#%d app ", op->rank, incarnation);
    if (op->kind == OP_WAIT)
        fprintf(out, "complete MPI_Wait request %d", op->request);
    else
        fprintf(out, "recv %s from %s tag %s", op->kind == OP_POST ? "MPI_Irecv" : "MPI_Recv", from,
                tag);
    if (op->kind == OP_POST)
        fprintf(out, " request %d", op->request);
    else if (!in_progress)
        fprintf(out, "%s got %d tag %d bytes 8 hash %#" PRIx64,
                op->kind == OP_WAIT ? " comm 1" : "", op->peer, op->tag, hash);
    times(run, in_progress);
}

static void record_op(struct run *run, const struct op *op, int rank, int incarnation,
                      bool in_progress, bool wrong)
{
    if (op->kind == OP_SEND) {
        fprintf(run->out, "r%d#%d app send MPI_Send to %d tag %d bytes 8 hash %#" PRIx64, rank,
                incarnation, op->peer, op->tag, op->hash);
        times(run, in_progress);
    } else if (op->kind == OP_COLLECTIVE) {
        fprintf(run->out, "r%d#%d app collective MPI_Allreduce bytes 8 hash %#x", rank, incarnation,
                rank + 1);
        if (!in_progress)
            fprintf(run->out, " result %#" PRIx64, op->hash + wrong);
        times(run, in_progress);
    } else {
        record_receive(run, op, incarnation, op->hash, in_progress);
    }
}

/* --- what is done wrong -------------------------------------------------------------------- */

static bool delivers(const struct op *op)
{
    return op->kind == OP_RECV || op->kind == OP_WAIT;
}

/* Where in the incarnation that is written next something is to go wrong, if it can. `last`: the
 * run ends with it. */
static void choose_wrong(struct run *run, int incarnation, bool last)
{
    int seen = 0;
    bool lasting = run->wrong == WRONG_LOSS || run->wrong == WRONG_LATE;
    if (run->wrong == WRONG_NOTHING || run->wrong_incarnation >= 0 || (lasting && !last) ||
        (!last && draw(2) == 0))
        return;
    for (int i = 0; i < run->count; i++) {
        const struct op *op = &run->op[i];
        const struct op *send = delivers(op) ? &run->op[op->send] : NULL;
        bool fits = false;
        if (run->wrong == WRONG_COLLECTIVE)
            fits = op->kind == OP_COLLECTIVE && i >= run->start[0];
        else if (run->wrong == WRONG_EARLY)
            fits = delivers(op) && i < run->start[op->rank] && op->send >= run->start[send->rank];
        else if (run->wrong == WRONG_LATE)
            fits = op->kind == OP_RECV && i >= run->start[op->rank] &&
                   op->send < run->start[send->rank];
        else
            fits = op->kind == OP_RECV && i >= run->start[op->rank];
        if (fits && draw(++seen) == 0) {
            run->wrong_op = i;
            run->wrong_incarnation = incarnation;
        }
    }
}

/* Writes op `i` as `rank` does it in this incarnation; true if that is what goes wrong. */
static bool record_wrong(struct run *run, int i, int rank, int incarnation)
{
    const struct op *op = &run->op[i];
    if (incarnation != run->wrong_incarnation)
        return false;
    if (run->wrong == WRONG_EARLY) {
        /* With the send that is done again. */
        if (i != run->op[run->wrong_op].send)
            return false;
        struct op again = run->op[run->wrong_op];
        again.kind = OP_RECV;
        record_op(run, op, rank, incarnation, false, false);
        record_receive(run, &again, incarnation, again.hash, false);
        run->wrong_done = true;
        return true;
    }
    if (i != run->wrong_op || (run->wrong == WRONG_COLLECTIVE && rank != 0))
        return false;
    run->wrong_done = true;
    if (run->wrong == WRONG_COLLECTIVE)
        record_op(run, op, rank, incarnation, false, true);
    else if (run->wrong == WRONG_PAYLOAD)
        record_receive(run, op, incarnation, 0xbad, false);
    else if (run->wrong == WRONG_DUPLICATE || run->wrong == WRONG_ORPHAN) {
        record_receive(run, op, incarnation, op->hash, false);
        record_receive(run, op, incarnation, run->wrong == WRONG_ORPHAN ? 0xbad : op->hash, false);
    }
    return true;
}

/* --- incarnations -------------------------------------------------------------------------- */

/* Lines that the incarnation takes, each after what the rank did before. Its ranks come to them
 * where they may: *first to line_count - 1. */
static void draw_lines(struct run *run, const int *cut)
{
    int lines = draw(3), after[RANKS_MAX];
    memcpy(after, run->start, sizeof after);
    for (int i = 0; i < lines && run->line_count < LINES_MAX - 1; i++) {
        int *line = run->line[++run->line_count];
        for (int rank = 0; rank < run->ranks; rank++) {
            int room = cut[rank] - after[rank];
            line[rank] = after[rank] += 1 + draw(room > 0 ? room + 2 : 2);
        }
    }
}

struct life {
    bool alive[RANKS_MAX];
    bool done[OPS_MAX][RANKS_MAX];
    bool saved[LINES_MAX][RANKS_MAX];
};

static void take_checkpoints(struct run *run, struct life *life, int rank, int at, int incarnation,
                             int first_line)
{
    for (int line = first_line; line <= run->line_count; line++) {
        if (life->saved[line][rank] || run->line[line][rank] > at)
            continue;
        life->saved[line][rank] = true;
        note(run, rank, incarnation, "checkpoint", line);
    }
}

/* Whether rank can do op `i` now: what it waits for has been done in this life, or in one whose
 * effects its peer's, or its own, checkpoint holds. */
static bool can_do(const struct run *run, const struct life *life, int i, const int *cut)
{
    const struct op *op = &run->op[i];
    if (op->kind == OP_COLLECTIVE) {
        for (int rank = 0; rank < run->ranks; rank++)
            if (i >= run->start[rank] && (!life->alive[rank] || i >= cut[rank]))
                return false;
        return true;
    }
    return !delivers(op) || op->send < run->start[op->peer] || life->done[op->send][op->peer];
}

static void do_op(struct run *run, struct life *life, int i, int rank, int incarnation,
                  const int *cut)
{
    const struct op *op = &run->op[i];
    if (i < run->start[rank] || !life->alive[rank] || (op->rank >= 0 && op->rank != rank))
        return;
    if (i < cut[rank] && can_do(run, life, i, cut)) {
        if (!record_wrong(run, i, rank, incarnation))
            record_op(run, op, rank, incarnation, false, false);
        life->done[i][rank] = true;
        return;
    }
    life->alive[rank] = false;
    if (draw(2) == 0)
        record_op(run, op, rank, incarnation, true, false);
    if (rank != 0 && draw(4) == 0) /* rank 0 has the record of the fault after it */
        fprintf(run->out, "r%d#%d none\n", rank, incarnation);
}

/* One life of the job, from run->start to the cut of each rank; the lines that all have saved are
 * those that the next may restore. Returns the newest of them, or `restored`. */
static int live(struct run *run, int incarnation, int restored, const int *cut)
{
    static struct life life;
    int first_line = run->line_count + 1, newest = restored;
    memset(&life, 0, sizeof life);
    run->clock = (uint64_t)incarnation * INCARNATION + 1000;
    draw_lines(run, cut);
    for (int rank = 0; rank < run->ranks; rank++) {
        life.alive[rank] = true;
        fprintf(run->out, "r%d#%d app call MPI_Init", rank, incarnation);
        times(run, false);
        if (restored > 0)
            note(run, rank, incarnation, "restored", restored);
    }
    for (int i = 0; i <= run->count; i++)
        for (int rank = 0; rank < run->ranks; rank++) {
            if (life.alive[rank])
                take_checkpoints(run, &life, rank, i, incarnation, first_line);
            if (i < run->count)
                do_op(run, &life, i, rank, incarnation, cut);
        }
    for (int line = first_line; line <= run->line_count; line++) {
        bool all = true;
        for (int rank = 0; rank < run->ranks; rank++)
            all &= life.saved[line][rank];
        if (all)
            newest = line;
    }
    return newest;
}

/* A life that ends while the ranks restore: some have done so. */
static void die_restoring(struct run *run, int incarnation, int restored)
{
    run->clock = (uint64_t)incarnation * INCARNATION + 1000;
    for (int rank = 0; rank < run->ranks; rank++) {
        fprintf(run->out, "trace r%d#%d open\nr%d#%d app call MPI_Init", rank, incarnation, rank,
                incarnation);
        times(run, false);
        if (restored > 0 && draw(2) == 0)
            note(run, rank, incarnation, "restored", restored);
    }
}

static void write_run(struct run *run)
{
    int restored = 0, cut[RANKS_MAX];
    fprintf(run->out, "ranks %d\n", run->ranks);
    for (int i = 0; i < run->incarnations; i++) {
        bool last = i + 1 == run->incarnations;
        for (int rank = 0; rank < run->ranks; rank++)
            run->start[rank] = restored > 0 ? run->line[restored][rank] : 0;
        if (!last && draw(8) == 0) {
            die_restoring(run, i, restored);
        } else {
            int end = draw(run->count + 1);
            for (int rank = 0; rank < run->ranks; rank++)
                cut[rank] = last ? run->count : end - draw(4);
            choose_wrong(run, i, last);
            restored = live(run, i, restored, cut);
        }
        if (!last)
            fprintf(run->out, "r%d#%d fault kill 0 step %d at %" PRIu64 " until %" PRIu64 "\n", 0,
                    i, i, run->clock + TICK, run->clock + TICK);
    }
}

/* --- judging ------------------------------------------------------------------------------- */

static void draw_run(struct run *run, enum wrong wrong)
{
    memset(run, 0, sizeof *run);
    run->ranks = 2 + draw(RANKS_MAX - 1);
    run->alike = wrong == WRONG_NOTHING && draw(2) == 0;
    /* Without a fault what is not received is the doing of the program. */
    run->incarnations =
        wrong == WRONG_NOTHING ? 1 + draw(INCARNATIONS_MAX) : 2 + draw(INCARNATIONS_MAX - 1);
    run->wrong = wrong;
    run->wrong_incarnation = -1;
    draw_program(run);
    run->out = generated_file();
    write_run(run);
    fclose(run->out);
}

static bool judge_run(const struct run *run, struct judgement *judgement)
{
    return generated_judge(run->ranks, run->incarnations, (const char *const[]){"H"}, 1, judgement);
}

static bool right_runs(int count, uint64_t seed)
{
    static struct run run;
    int alarms = 0, i;
    for (i = 0; i < count && alarms == 0; i++) {
        struct judgement judgement = {0};
        begin_drawing(seed + (uint64_t)i);
        draw_run(&run, WRONG_NOTHING);
        if (!judge_run(&run, &judgement) || judgement.finding_count > 0) {
            alarms++;
            generated_show(&judgement, seed + (uint64_t)i);
        }
        judgement_release(&judgement);
    }
    return check(alarms == 0, "%d runs without a fault of the protocol: no alarm", i);
}

static bool wrong_runs(enum wrong wrong, int count, uint64_t seed)
{
    static struct run run;
    int planted = 0, missed = 0, misnamed = 0;
    for (int i = 0; i < count && missed == 0; i++) {
        struct judgement judgement = {0};
        begin_drawing(seed + (uint64_t)i);
        draw_run(&run, wrong);
        if (!run.wrong_done)
            continue;
        planted++;
        bool judged = judge_run(&run, &judgement);
        missed += !judged || judgement.verdict != VERDICT_VIOLATION;
        misnamed += !generated_found(&judgement, wrong_claim[wrong]);
        if (missed > 0 || (getenv("FAULTLINE_GENERATED_SHOW") && misnamed == 1 &&
                           !generated_found(&judgement, wrong_claim[wrong])))
            generated_show(&judgement, seed + (uint64_t)i);
        judgement_release(&judgement);
    }
    bool good = check(planted > count / 50 && missed == 0, "%d planted, all found: %s", planted,
                      wrong_claim[wrong]);
    printf("# %d of them are called otherwise\n", misnamed);
    return good;
}

int main(void)
{
    int count = RUNS;
    uint64_t seed = 88172645463325252u;
    const char *asked = getenv("FAULTLINE_GENERATED");
    bool good = true;
    if (asked != NULL && sscanf(asked, "%d,%" SCNu64, &count, &seed) < 1)
        return 1;
    if (!generated_open())
        return 1;
    good &= right_runs(count, seed);
    for (int wrong = 1; wrong < WRONG_COUNT && good; wrong++)
        good &= wrong_runs((enum wrong)wrong, PLANTED_RUNS / (WRONG_COUNT - 1), seed);
    generated_close();
    return done();
}
