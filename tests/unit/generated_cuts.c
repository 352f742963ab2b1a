/* Runs drawn at random under Chandy and Lamport's snapshot or CoCheck's flush, with a crash behind
 * a line and a restart from it: none may raise an alarm of families H, S and R. Then the same with
 * one thing done wrong, which must be found and called by its name. Seeded: the same runs every
 * time. */
#include "generated.h"

#define RUNS 100
#define RANKS_MAX 4
#define STEPS 100     /* of a life; then what is under way is delivered */
#define QUEUE_MAX 512 /* in one channel, or waiting at one rank */
#define LINES 2

enum protocol { SNAPSHOT, FLUSH };

enum wrong {
    WRONG_NOTHING,
    WRONG_FORGOTTEN, /* a message under way is not recorded */
    WRONG_TWICE,     /* ... is recorded twice */
    WRONG_SWAPPED,   /* two of a channel are recorded in the other order */
    WRONG_BYTES,     /* one is recorded with other bytes */
    WRONG_MARKER,    /* a marker overtakes the messages before it */
    WRONG_MESSAGE,   /* a message overtakes a marker, and is delivered before the cut */
    WRONG_CLEAR,     /* a channel is told to be clear twice */
    WRONG_SAVED,     /* a rank saves its part before its channels are clear */
    WRONG_READY,     /* a rank takes its checkpoint before all ready messages are there */
    WRONG_NETWORK,   /* after the restart a receive is served from the network first */
    WRONG_ORDER,     /* ... from the buffer, but not in the order of arrival */
    WRONG_UNTOLD,    /* ... and nobody says so */
    WRONG_COUNT
};

/* A message, or the marker of a line where `line` is not 0. */
struct item {
    int line;
    int source;
    int tag;
    int comm;
    int hash;
    bool kept; /* it was recorded with the line restored */
};

struct queue {
    int count;
    struct item item[QUEUE_MAX];
};

struct side {
    int line; /* newest taken */
    int told; /* of the line being made: it has sent its markers */
    int clear;
    bool is_clear[RANKS_MAX];
    bool saved;
    struct queue inbox;           /* arrived, and not handed over */
    struct queue recorded[LINES]; /* by line, from 1 */
};

static struct run {
    enum protocol protocol;
    enum wrong wrong;
    bool done; /* that was done wrong */
    int ranks, life, next_hash;
    struct side side[RANKS_MAX];
    struct queue channel[RANKS_MAX][RANKS_MAX]; /* from, to */
    FILE *out;
} run;

/* This is the place to do it wrong: at most once, and not always at the first. */
static bool goes_wrong(enum wrong wrong)
{
    bool later = run.side[0].told > 1 && run.life == 0; /* a line that may never be whole */
    if (run.wrong != wrong || run.done || later || draw(3) > 0)
        return false;
    return run.done = true;
}

/* --- queues ----------------------------------------------------------------------------------- */

static void put(struct queue *queue, struct item item)
{
    if (queue->count < QUEUE_MAX)
        queue->item[queue->count++] = item;
}

static struct item take(struct queue *queue, int at)
{
    struct item item = queue->item[at];
    memmove(&queue->item[at], &queue->item[at + 1],
            (size_t)(--queue->count - at) * sizeof queue->item[0]);
    return item;
}

static int find_marker(const struct queue *queue)
{
    int at = 0;
    while (at < queue->count && queue->item[at].line == 0)
        at++;
    return at;
}

/* --- what is told ----------------------------------------------------------------------------- */

static void begin_line(int rank)
{
    fprintf(run.out, "r%d#%d ", rank, run.life);
}

static void note(int rank, const char *kind, int line)
{
    begin_line(rank);
    fprintf(run.out, "note %s %d\n", kind, line);
}

static void note_message(int rank, const char *kind, int line, const struct item *item, int hash)
{
    begin_line(rank);
    fprintf(run.out, "note %s %d comm %d peer %d tag %d hash %d\n", kind, line, item->comm,
            item->source, item->tag, hash);
}

static void record_item(int rank, int line, struct item item)
{
    if (goes_wrong(WRONG_FORGOTTEN))
        return;
    note_message(rank, "recorded", line, &item,
                 item.hash + (goes_wrong(WRONG_BYTES) ? 1000000 : 0));
    if (goes_wrong(WRONG_TWICE))
        note_message(rank, "recorded", line, &item, item.hash);
    item.kept = true;
    put(&run.side[rank].recorded[line - 1], item);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void send_markers(int rank, int line)
{
    run.side[rank].told = line;
    for (int to = 0; to < run.ranks; to++) {
        struct queue *channel = &run.channel[rank][to];
        struct item marker = {.line = line, .source = rank};
        if (to == rank)
            continue;
        if (channel->count > 0 && find_marker(channel) == channel->count &&
            goes_wrong(WRONG_MARKER)) {
            struct queue rest = *channel;
            channel->count = 0;
            put(channel, marker);
            for (int i = 0; i < rest.count; i++)
                put(channel, rest.item[i]);
        } else {
            put(channel, marker);
        }
    }
}

static void record_inbox(int rank, int line)
{
    struct queue inbox = run.side[rank].inbox;
    for (int i = 0; i + 1 < inbox.count; i++)
        if (inbox.item[i].source == inbox.item[i + 1].source &&
            inbox.item[i].comm == inbox.item[i + 1].comm && goes_wrong(WRONG_SWAPPED)) {
            struct item first = inbox.item[i];
            inbox.item[i] = inbox.item[i + 1];
            inbox.item[i + 1] = first;
        }
    for (int i = 0; i < inbox.count; i++)
        record_item(rank, line, inbox.item[i]);
}

static void save_if_done(int rank)
{
    struct side *side = &run.side[rank];
    if (side->saved || side->line == 0 || (side->clear < run.ranks - 1 && !goes_wrong(WRONG_SAVED)))
        return;
    side->saved = true;
    note(rank, "saved", side->line);
}

static void forget_clear(struct side *side)
{
    side->clear = 0;
    memset(side->is_clear, 0, sizeof side->is_clear);
}

static void take_line(int rank, int line)
{
    struct side *side = &run.side[rank];
    if (run.protocol == FLUSH)
        record_inbox(rank, line);
    note(rank, "checkpoint", line);
    side->line = line;
    side->saved = false;
    if (run.protocol == SNAPSHOT) {
        record_inbox(rank, line);
        send_markers(rank, line);
    }
    save_if_done(rank);
}

/* The rank knows of the line: by itself, or by a first marker. */
static void hear(int rank, int line)
{
    if (run.side[rank].told == line)
        return;
    note(rank, "notified", line);
    forget_clear(&run.side[rank]);
    if (run.protocol == SNAPSHOT)
        take_line(rank, line);
    else
        send_markers(rank, line);
}

static bool is_flushing(int rank)
{
    return run.side[rank].told > run.side[rank].line;
}

static void get_marker(int rank, struct item marker)
{
    struct side *side = &run.side[rank];
    hear(rank, marker.line);
    begin_line(rank);
    fprintf(run.out, "note clear %d peer %d\n", marker.line, marker.source);
    if (goes_wrong(WRONG_CLEAR)) {
        begin_line(rank);
        fprintf(run.out, "note clear %d peer %d\n", marker.line, marker.source);
    }
    side->is_clear[marker.source] = true;
    side->clear++;
    bool all = side->clear == run.ranks - 1;
    if (run.protocol == FLUSH && is_flushing(rank) && (all || goes_wrong(WRONG_READY)))
        take_line(rank, marker.line);
    else
        save_if_done(rank);
}

static bool is_complete(int line)
{
    for (int rank = 0; rank < run.ranks; rank++)
        if (run.side[rank].line < line ||
            (line > 0 && run.side[rank].line == line && !run.side[rank].saved))
            return false;
    return true;
}

/* --- steps of the program and the network ----------------------------------------------------- */

static void step_send(int rank)
{
    int to = draw(run.ranks);
    struct item item = {.source = rank, .tag = 7 + draw(2), .comm = 1 + draw(2)};
    if (to == rank || is_flushing(rank))
        return;
    item.hash = ++run.next_hash;
    begin_line(rank);
    fprintf(run.out, "app send MPI_Send to %d tag %d comm %d bytes 8 hash %d\n", to, item.tag,
            item.comm, item.hash);
    put(&run.channel[rank][to], item);
}

static void hand_over(int rank, int at, bool wild)
{
    struct item item = take(&run.side[rank].inbox, at);
    int line = run.side[rank].line;
    bool told = item.kept && run.life > 0 && !goes_wrong(WRONG_UNTOLD);
    begin_line(rank);
    if (wild)
        fprintf(run.out, "app recv MPI_Recv from any tag any");
    else
        fprintf(run.out, "app recv MPI_Recv from %d tag %d", item.source, item.tag);
    fprintf(run.out, " comm %d got %d tag %d bytes 8 hash %d%s\n", item.comm, item.source, item.tag,
            item.hash, told ? " lasts 1" : "");
    if (told)
        note_message(rank, "replayed", line, &item, item.hash);
}

/* The first that a wildcard takes on that communicator, or a named receive of a message like that
 * at `at`. */
static int first_like(const struct queue *inbox, int at, bool wild)
{
    for (int i = 0; i < at; i++)
        if (inbox->item[i].comm == inbox->item[at].comm &&
            (wild || (inbox->item[i].source == inbox->item[at].source &&
                      inbox->item[i].tag == inbox->item[at].tag)))
            return i;
    return at;
}

static void step_receive(int rank)
{
    struct queue *inbox = &run.side[rank].inbox;
    if (inbox->count == 0 || is_flushing(rank))
        return;
    bool wild = draw(3) == 0;
    int at = draw(inbox->count);
    int first = first_like(inbox, at, wild);
    bool kept = run.life > 0 && inbox->item[first].kept;
    if (wild && kept && inbox->item[first].source != inbox->item[at].source &&
        goes_wrong(inbox->item[at].kept ? WRONG_ORDER : WRONG_NETWORK))
        hand_over(rank, at, wild);
    else
        hand_over(rank, first, wild);
}

/* A message that comes before its channel's marker, and behind the cut, is recorded. */
static void arrive(int from, int to, struct item item)
{
    struct side *side = &run.side[to];
    if (run.protocol == SNAPSHOT && side->line > 0 && !side->saved && !side->is_clear[from])
        record_item(to, side->line, item);
    put(&side->inbox, item);
}

static void step_arrive(int from, int to)
{
    struct queue *channel = &run.channel[from][to];
    struct side *side = &run.side[to];
    if (channel->count == 0 || (is_flushing(to) && side->is_clear[from]))
        return;
    struct item next = channel->item[0];
    if (next.line > 0 && run.protocol == SNAPSHOT && side->inbox.count == 0 &&
        side->told < next.line && channel->count > 1 && channel->item[1].line == 0 &&
        goes_wrong(WRONG_MESSAGE)) {
        put(&side->inbox, take(channel, 1));
        hand_over(to, 0, false);
        return;
    }
    take(channel, 0);
    if (next.line > 0)
        get_marker(to, next);
    else
        arrive(from, to, next);
}

static void step(int lines)
{
    int rank = draw(run.ranks), other = draw(run.ranks);
    int kind = draw(10), line = run.side[0].told + 1;
    if (kind < 4)
        step_send(rank);
    else if (kind < 7)
        step_arrive(rank, other);
    else if (kind < 9)
        step_receive(rank);
    else if (rank == 0 && line <= lines && is_complete(line - 1))
        hear(0, line);
}

/* All that is under way comes, and all is received. */
static void drain(void)
{
    for (bool more = true; more;) {
        more = false;
        for (int from = 0; from < run.ranks; from++)
            for (int to = 0; to < run.ranks; to++)
                if (run.channel[from][to].count > 0) {
                    step_arrive(from, to);
                    more = true;
                }
    }
    for (int rank = 0; rank < run.ranks; rank++)
        while (run.side[rank].inbox.count > 0)
            hand_over(rank, first_like(&run.side[rank].inbox, run.side[rank].inbox.count - 1, true),
                      false);
}

static void restart(int line)
{
    run.life++;
    memset(run.channel, 0, sizeof run.channel);
    for (int rank = 0; rank < run.ranks; rank++) {
        struct side *side = &run.side[rank];
        side->inbox = side->recorded[line - 1];
        side->line = side->told = line;
        side->saved = true;
        forget_clear(side);
        note(rank, "restored", line);
    }
}

static void write_run(void)
{
    fprintf(run.out, "ranks %d\n", run.ranks);
    for (int rank = 0; rank < run.ranks; rank++)
        begin_line(rank), fprintf(run.out, "note phase name \"begins\"\n");
    for (int i = 0; i < STEPS || !is_complete(1); i++)
        step(i < STEPS ? LINES : 1);
    int line = is_complete(2) ? 2 : 1;
    fprintf(run.out, "r0#0 fault kill 0 step 0\n");
    restart(line);
    for (int i = 0; i < STEPS; i++)
        step(0);
    drain();
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool judge_run(struct judgement *judgement)
{
    static const char *const ids[] = {"H", "S", "R.buffer", "R.clear", "R.atomic"};
    run.out = generated_file();
    write_run();
    fclose(run.out);
    return generated_judge(run.ranks, 2, ids, run.protocol == FLUSH ? 5 : 3, judgement);
}

static void test(enum protocol protocol, enum wrong wrong, const char *claim, const char *what)
{
    int drawn = 0, missed = 0;
    for (uint64_t seed = 0; seed < RUNS && missed == 0; seed++) {
        struct judgement judgement = {0};
        run = (struct run){.protocol = protocol, .wrong = wrong};
        begin_drawing(seed);
        run.ranks = 2 + draw(RANKS_MAX - 1);
        bool judged = judge_run(&judgement);
        if (!run.done && wrong != WRONG_NOTHING) {
            judgement_release(&judgement);
            continue;
        }
        drawn++;
        if (!judged ||
            (claim == NULL ? judgement.finding_count > 0 : !generated_found(&judgement, claim))) {
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
    static const struct {
        enum protocol protocol;
        enum wrong wrong;
        const char *claim;
        const char *what;
    } tests[] = {
        {SNAPSHOT, WRONG_NOTHING, NULL, "a snapshot, nothing wrong: no alarm"},
        {FLUSH, WRONG_NOTHING, NULL, "a flush, nothing wrong: no alarm"},
        {SNAPSHOT, WRONG_FORGOTTEN, "S.channel", "a message under way not recorded: found"},
        {FLUSH, WRONG_FORGOTTEN, "R.clear", "a message not in the buffer: found"},
        {SNAPSHOT, WRONG_TWICE, "S.channel", "a message recorded twice: found"},
        {FLUSH, WRONG_SWAPPED, "S.channel", "two recorded in the other order: found"},
        {SNAPSHOT, WRONG_BYTES, "S.channel", "a message recorded with other bytes: found"},
        {SNAPSHOT, WRONG_MARKER, "S.channel", "a marker that overtakes messages: found"},
        {FLUSH, WRONG_MARKER, "R.clear", "a ready message that overtakes messages: found"},
        {SNAPSHOT, WRONG_MESSAGE, "S.cut", "a message that overtakes a marker: found"},
        {SNAPSHOT, WRONG_CLEAR, "S.done", "a channel clear twice: found"},
        {SNAPSHOT, WRONG_SAVED, "S.done", "a part saved before its channels: found"},
        {FLUSH, WRONG_READY, "R.clear", "a checkpoint before all ready messages: found"},
        {SNAPSHOT, WRONG_NETWORK, "R.buffer", "the network before the buffer: found"},
        {SNAPSHOT, WRONG_ORDER, "R.buffer", "the buffer in another order: found"},
        {FLUSH, WRONG_UNTOLD, "R.buffer", "from the buffer, and nobody says so: found"},
    };
    if (!generated_open())
        return 1;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        test(tests[i].protocol, tests[i].wrong, tests[i].claim, tests[i].what);
    generated_close();
    return done();
}
