/* Runs drawn at random under Chandy and Lamport's snapshot or CoCheck's flush, with a crash after
 * a line and a restart from it, or a rank that moves to another process there: none may raise an
 * alarm of families H, S and R. Then the same with one to three things done wrong: as many are
 * found, called by their name and derived again from their witnesses. Seeded: the same runs every
 * time. */
#include "generated.h"

#include <stdarg.h>

#define RIGHT_RUNS 300
#define RUNS 20   /* for each count, */
#define TRIES 500 /* of these: not each has the room */
#define PLANTED_MOST 3
#define RANKS_MAX 4
#define STEPS 100     /* of a life; then what is under way is delivered */
#define QUEUE_MAX 512 /* in one channel, or waiting at one rank */
#define LINES 2
#define NOBODY "0xffffffffffffffff"

enum protocol { SNAPSHOT, FLUSH, MOVE }; /* MOVE: a flush, and no crash */

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
    WRONG_INSIDE,    /* a notification is handled inside a send */
    WRONG_ADDRESS,   /* a message goes to where its receiver was */
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
    int wanted; /* that is done wrong so often, */
    int done;   /* and was */
    int ranks, life, next_hash;
    int place[RANKS_MAX]; /* process of each rank */
    int mover;            /* the rank that goes elsewhere at its checkpoint; -1: none */
    bool has_moved;
    struct side side[RANKS_MAX];
    struct queue channel[RANKS_MAX][RANKS_MAX]; /* from, to */
    FILE *out;
} run;

/* This is the place to do it wrong: not always at the first. */
static bool goes_wrong(enum wrong wrong)
{
    /* In a line that may never be whole. */
    bool later = run.life == 0 && (run.side[0].told > 1 || run.side[0].line > 1);
    if (run.wrong != wrong || run.done == run.wanted || later || draw(3) > 0)
        return false;
    run.done++;
    return true;
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

/* One line of a rank's process. */
static void tell(int rank, const char *format, ...)
{
    va_list values;
    fprintf(run.out, "r%d#%d ", run.place[rank], run.life);
    va_start(values, format);
    vfprintf(run.out, format, values);
    va_end(values);
    fputc('\n', run.out);
}

static void note_message(int rank, const char *kind, int line, const struct item *item, int hash)
{
    tell(rank, "note %s %d comm %d peer %d tag %d hash %d", kind, line, item->comm, item->source,
         item->tag, hash);
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

/* --- messages --------------------------------------------------------------------------------- */

/* In the call the rank is notified of `line`; 0: it is not. */
static void send_message(int rank, int to, int line)
{
    struct item item = {.source = rank, .tag = 7 + draw(2), .comm = 1 + draw(2)};
    bool wire = run.has_moved;
    bool astray = wire && to == run.mover && goes_wrong(WRONG_ADDRESS);
    item.hash = ++run.next_hash;
    tell(rank, "app send MPI_Send to %d tag %d comm %d bytes 8 hash %d lasts %d", to, item.tag,
         item.comm, item.hash, wire + (line > 0));
    if (wire) {
        tell(rank, "wire send MPI_Send to %d tag %d comm %d bytes 8 hash %d",
             astray ? to : run.place[to], item.tag, item.comm, item.hash);
    }
    if (line > 0)
        tell(rank, "note notified %d", line);
    put(&run.channel[rank][to], item);
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
            struct item last = take(channel, channel->count - 1);
            put(channel, marker);
            put(channel, last);
        } else {
            put(channel, marker);
        }
    }
}

static void record_inbox(int rank, int line)
{
    struct queue inbox = run.side[rank].inbox;
    int next = 0; /* after the last two that change places */
    for (int i = 0; i + 1 < inbox.count; i++)
        if (i >= next && inbox.item[i].source == inbox.item[i + 1].source &&
            inbox.item[i].comm == inbox.item[i + 1].comm && goes_wrong(WRONG_SWAPPED)) {
            struct item first = inbox.item[i];
            inbox.item[i] = inbox.item[i + 1];
            inbox.item[i + 1] = first;
            next = i + 2;
        }
    for (int i = 0; i < inbox.count; i++)
        record_item(rank, line, inbox.item[i]);
}

static void save_if_done(int rank)
{
    struct side *side = &run.side[rank];
    int open = run.ranks - 1 - side->clear;
    if (side->saved || side->line == 0 || open > 1 || (open == 1 && !goes_wrong(WRONG_SAVED)))
        return;
    side->saved = true;
    tell(rank, "note saved %d", side->line);
}

static void forget_clear(struct side *side)
{
    side->clear = 0;
    memset(side->is_clear, 0, sizeof side->is_clear);
}

/* A rank goes on in the process that was in reserve, from the line; all others are told where. */
static void move(int rank, int line)
{
    struct side *side = &run.side[rank];
    tell(rank, "note becomes %s", NOBODY);
    run.has_moved = true;
    run.place[rank] = run.ranks;
    side->inbox = side->recorded[line - 1];
    tell(rank, "note becomes %d", rank);
    tell(rank, "note restored %d", line);
    for (int other = 0; other < run.ranks; other++)
        for (int comm = 1; other != rank && comm <= 2; comm++)
            tell(other, "note address %d comm %d peer %d", rank, comm, run.place[rank]);
}

static void take_line(int rank, int line)
{
    struct side *side = &run.side[rank];
    if (run.protocol != SNAPSHOT)
        record_inbox(rank, line);
    tell(rank, "note checkpoint %d", line);
    side->line = line;
    side->saved = false;
    if (run.protocol == SNAPSHOT) {
        record_inbox(rank, line);
        send_markers(rank, line);
    }
    save_if_done(rank);
    if (rank == run.mover)
        move(rank, line);
}

/* The rank knows of the line: by itself, or by a first marker. */
static void hear(int rank, int line)
{
    if (run.side[rank].told == line)
        return;
    if (run.protocol == FLUSH && goes_wrong(WRONG_INSIDE))
        send_message(rank, (rank + 1) % run.ranks, line);
    else
        tell(rank, "note notified %d", line);
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

/* All ready messages are there; or one lacks, after which nothing is under way. */
static bool is_ready(int rank)
{
    const struct side *side = &run.side[rank];
    int lacks = -1;
    for (int from = 0; from < run.ranks; from++)
        if (from != rank && !side->is_clear[from])
            lacks = lacks < 0 ? from : run.ranks;
    if (lacks < 0)
        return true;
    return lacks < run.ranks && run.channel[lacks][rank].count > 0 &&
           run.channel[lacks][rank].item[0].line > 0 && goes_wrong(WRONG_READY);
}

static void get_marker(int rank, struct item marker)
{
    struct side *side = &run.side[rank];
    hear(rank, marker.line);
    tell(rank, "note clear %d peer %d", marker.line, marker.source);
    if (goes_wrong(WRONG_CLEAR)) {
        tell(rank, "note clear %d peer %d", marker.line, marker.source);
    }
    side->is_clear[marker.source] = true;
    side->clear++;
    if (run.protocol != SNAPSHOT && is_flushing(rank) && is_ready(rank))
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

static void hand_over(int rank, int at, bool wild)
{
    struct item item = take(&run.side[rank].inbox, at);
    int line = run.side[rank].line;
    bool told = item.kept && !goes_wrong(WRONG_UNTOLD);
    char asked[32] = "from any tag any";
    if (!wild)
        snprintf(asked, sizeof asked, "from %d tag %d", item.source, item.tag);
    tell(rank, "app recv MPI_Recv %s comm %d got %d tag %d bytes 8 hash %d lasts %d", asked,
         item.comm, item.source, item.tag, item.hash, told);
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

static bool is_first_of_source(const struct queue *inbox, int at)
{
    for (int i = 0; i < at; i++)
        if (inbox->item[i].comm == inbox->item[at].comm &&
            inbox->item[i].source == inbox->item[at].source)
            return false;
    return true;
}

static void step_receive(int rank)
{
    struct queue *inbox = &run.side[rank].inbox;
    if (inbox->count == 0 || is_flushing(rank))
        return;
    bool wild = draw(3) == 0;
    int at = draw(inbox->count);
    int first = first_like(inbox, at, wild);
    if (wild && inbox->item[first].kept && is_first_of_source(inbox, at) && at != first &&
        goes_wrong(inbox->item[at].kept ? WRONG_ORDER : WRONG_NETWORK))
        hand_over(rank, at, wild);
    else
        hand_over(rank, first, wild);
}

/* A message that comes before its channel's marker, and after the cut, is recorded. */
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
    if (kind < 4 && other != rank && !is_flushing(rank))
        send_message(rank, other, 0);
    else if (kind < 4)
        return;
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
        tell(rank, "note restored %d", line);
    }
}

static void begin_processes(void)
{
    bool reserve = run.protocol == MOVE;
    fprintf(run.out, "ranks %d\n", run.ranks + reserve);
    for (int rank = 0; rank < run.ranks; rank++) {
        run.place[rank] = rank;
        tell(rank, "app call MPI_Init");
    }
    if (reserve)
        fprintf(run.out, "r%d#0 app call MPI_Init lasts 1\nr%d#0 note becomes " NOBODY "\n",
                run.ranks, run.ranks);
}

static void write_run(void)
{
    /* Once it has saved too early a rank may hear of the next line before all of this one. */
    int lines = run.protocol == MOVE || run.wrong == WRONG_SAVED ? 1 : LINES;
    run.mover = run.protocol == MOVE ? draw(run.ranks) : -1;
    begin_processes();
    for (int i = 0; i < STEPS || !is_complete(1); i++)
        step(i < STEPS ? lines : 1);
    if (run.protocol != MOVE) {
        fprintf(run.out, "r0#0 fault kill 0 step 0\n");
        restart(is_complete(2) ? 2 : 1);
    }
    for (int i = 0; i < STEPS; i++)
        step(0);
    drain();
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool judge_run(struct judgement *judgement)
{
    static const char *const ids[] = {"H", "S", "R.buffer", "R.clear", "R.atomic", "R.address"};
    static const size_t id_counts[] = {[SNAPSHOT] = 3, [FLUSH] = 5, [MOVE] = 6};
    run.out = generated_file();
    write_run();
    fclose(run.out);
    bool moves = run.protocol == MOVE;
    return generated_judge(run.ranks + moves, moves ? 1 : 2, ids, id_counts[run.protocol],
                           judgement);
}

struct plant {
    enum protocol protocol;
    enum wrong wrong;
    const char *claim;
    const char *also; /* what cannot hold where it does not; may be violated too */
    const char *what;
};

/* As many violations of the claim, and of no other. */
static bool is_exact(const struct plant *plant, const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->result_count; i++) {
        const struct claim_result *result = &judgement->results[i];
        bool planted = run.wanted > 0 && strcmp(result->claim->id, plant->claim) == 0;
        if (strstr(plant->also, result->claim->id) == NULL &&
            result->violations != (planted ? (uint64_t)run.wanted : 0))
            return false;
    }
    return true;
}

/* One run; 0: it had no room for so many, -1: they are not what is found. */
static int plant_once(const struct plant *plant, int count, uint64_t seed)
{
    struct judgement judgement = {0};
    run = (struct run){.protocol = plant->protocol, .wrong = plant->wrong, .wanted = count};
    begin_drawing(seed);
    run.ranks = 2 + draw(RANKS_MAX - 1);
    bool exact = judge_run(&judgement) && is_exact(plant, &judgement);
    if (run.done == count && !exact) {
        printf("# expected: %d of %s\n", count, count > 0 ? plant->claim : "nothing");
        generated_show(&judgement, seed);
    }
    judgement_release(&judgement);
    return run.done < count ? 0 : exact ? 1 : -1;
}

static void plant_all(const struct plant *plant)
{
    int drawn = 0, wrong = 0;
    for (int count = 1; count <= PLANTED_MOST; count++)
        for (int seed = 0, room = 0; seed < TRIES && room < RUNS && wrong == 0; seed++) {
            int result = plant_once(plant, count, (uint64_t)seed);
            room += result != 0;
            drawn += result != 0;
            wrong += result < 0;
        }
    check(wrong == 0 && drawn >= RUNS, "%s: 1 to %d planted and found, and no other, %d runs",
          plant->what, PLANTED_MOST, drawn);
}

static void right_runs(enum protocol protocol, const char *what, int count)
{
    const struct plant nothing = {protocol, WRONG_NOTHING, NULL, "", what};
    int alarms = 0, seed = 0;
    for (; seed < count && alarms == 0; seed++)
        alarms += plant_once(&nothing, 0, (uint64_t)seed) < 0;
    check(alarms == 0, "%d right runs, %s: no alarm", seed, what);
}

/* --- every claim ------------------------------------------------------------------------------ */

static void check_claims(const struct plant *plants, size_t count)
{
    size_t missing = 0;
    for (size_t i = 0; i < claim_count; i++) {
        const char *id = claims[i].id;
        bool there = id[0] != 'S' && id[0] != 'R';
        for (size_t p = 0; p < count; p++)
            there |= strcmp(plants[p].claim, id) == 0;
        if (!there)
            printf("# no violation of %s is planted\n", id);
        missing += !there;
    }
    check(missing == 0, "a violation of every claim of families S and R is planted");
}

int main(void)
{
    static const struct plant plants[] = {
        {SNAPSHOT, WRONG_FORGOTTEN, "S.channel", "H.loss H.order", "a message not recorded"},
        {FLUSH, WRONG_FORGOTTEN, "R.clear", "H.loss H.order S.channel",
         "a message not in the buffer"},
        {SNAPSHOT, WRONG_TWICE, "S.channel", "S.replay R.buffer", "a message recorded twice"},
        {FLUSH, WRONG_SWAPPED, "S.channel", "H.order", "two recorded in the other order"},
        {SNAPSHOT, WRONG_BYTES, "S.channel", "H.loss H.order S.replay R.buffer",
         "a message recorded with other bytes"},
        {SNAPSHOT, WRONG_MARKER, "S.channel", "H.loss H.order", "a marker overtakes a message"},
        {FLUSH, WRONG_MARKER, "R.clear", "H.loss H.order S.channel",
         "a ready message overtakes a message"},
        {SNAPSHOT, WRONG_MESSAGE, "S.cut", "H.orphan H.duplicate", "a message overtakes a marker"},
        {SNAPSHOT, WRONG_CLEAR, "S.done", "", "a channel is clear twice"},
        {SNAPSHOT, WRONG_SAVED, "S.done", "H.loss H.order S.channel",
         "a part is saved before its channels"},
        {FLUSH, WRONG_READY, "R.clear", "", "a checkpoint before the last ready message"},
        {SNAPSHOT, WRONG_NETWORK, "R.buffer", "", "the network before the buffer"},
        {SNAPSHOT, WRONG_ORDER, "R.buffer", "", "the buffer in another order"},
        {FLUSH, WRONG_UNTOLD, "R.buffer", "S.replay", "from the buffer, and nobody says so"},
        {SNAPSHOT, WRONG_UNTOLD, "S.replay", "R.buffer",
         "what was recorded is delivered, and nobody says so"},
        {FLUSH, WRONG_INSIDE, "R.atomic", "", "a notification inside a send"},
        {MOVE, WRONG_ADDRESS, "R.address", "", "a message to where its receiver was"},
    };
    const size_t count = sizeof plants / sizeof plants[0];
    const char *asked = getenv("FAULTLINE_PLANTED");
    int right = asked != NULL ? atoi(asked) : RIGHT_RUNS;
    if (!generated_open())
        return 1;
    right_runs(SNAPSHOT, "snapshots", right);
    right_runs(FLUSH, "flushes", right);
    right_runs(MOVE, "ranks that move", right);
    for (size_t i = 0; i < count; i++)
        plant_all(&plants[i]);
    check_claims(plants, count);
    generated_close();
    return done();
}
