/* Runs drawn at random under simple causal message logging (CAMEL, algorithm 1) with multicasts,
 * coordinated checkpoints, and ranks that die and are taken over by newcomers: none may raise an
 * alarm of family M. Then the same with one thing done wrong, which is found, called by its name
 * and derived again from its witness. Seeded: the same runs every time. */
#include "generated.h"

#include <stdarg.h>

#define RIGHT_RUNS 1000
#define RUNS 35    /* with each thing done wrong, */
#define TRIES 6000 /* of these: not each has the room */
#define RANKS_MAX 5
#define STEPS 40
#define MESSAGES_MAX 400
#define ACTIONS_MAX 400
#define CARRIED_MAX 48
#define NOBODY (-1)

enum wrong {
    WRONG_NOTHING,
    WRONG_LEFT_OUT, /* a determinant does not go along */
    WRONG_ACKED,    /* ... because it was taken to be stored elsewhere */
    WRONG_ORDER,    /* a newcomer delivers two messages in the other order */
    WRONG_UNKEPT,   /* a payload is not kept */
    WRONG_DROPPED,  /* ... is dropped although it may be needed */
    WRONG_EMPTIED,  /* determinants are let go before the line is committed */
    WRONG_TWICE,    /* a message is delivered twice */
    WRONG_STALE,    /* a survivor takes what an old incarnation sent */
    WRONG_REFUSED,  /* a message is dropped that is neither old nor a duplicate */
    WRONG_LOCAL,    /* a survivor goes back as well */
    WRONG_COPY,     /* a receiver stores a multicast */
    WRONG_ATOMIC,   /* a multicast does not come to one of its members */
};

struct message {
    int from, to; /* NOBODY: to all */
    int ssn, hash;
    int life; /* of the sender that sent it last */
    bool lacks;
    bool unkept;
    int delivered[RANKS_MAX]; /* as number; 0: not */
    int carried_count;
    int carried[CARRIED_MAX]; /* determinants: numbers of deliveries */
};

/* What a rank does since its newest checkpoint; `message` is sent or delivered. */
struct action {
    bool sends;
    int message;
    int delivery;
};

/* A determinant. */
struct delivery {
    int message, receiver, rsn;
    bool held[RANKS_MAX];
    bool acked; /* the receiver knows that another has it */
};

struct side {
    int place, life, rsn, line_rsn;
    int action_count;
    struct action action[ACTIONS_MAX];
    int ssn[RANKS_MAX + 1], line_ssn[RANKS_MAX + 1]; /* by receiver; the last: multicasts */
};

struct queue {
    int count;
    int message[MESSAGES_MAX];
};

static struct run {
    enum wrong wrong;
    bool done;
    int ranks, kills, next, line, newest; /* process */
    struct side side[RANKS_MAX];
    struct queue channel[RANKS_MAX][RANKS_MAX]; /* from, to */
    int message_count, delivery_count;
    struct message message[MESSAGES_MAX];
    struct delivery delivery[MESSAGES_MAX * 2];
    FILE *out;
} run;

static bool goes_wrong(enum wrong wrong)
{
    if (run.wrong != wrong || run.done || draw(3) > 0)
        return false;
    run.done = true;
    return true;
}

/* --- what is told ------------------------------------------------------------------------------
 */

static void tell(int rank, const char *format, ...)
{
    va_list values;
    fprintf(run.out, "r%d#0 ", run.side[rank].place);
    va_start(values, format);
    vfprintf(run.out, format, values);
    va_end(values);
    fputc('\n', run.out);
}

static void tell_number(int rank, const char *kind, const struct message *message, int receiver,
                        int rsn)
{
    tell(rank, "note %s %d comm %d sender %d receiver %d rsn %d", kind, message->ssn,
         message->to == NOBODY, message->from, receiver, rsn);
}

static void tell_held(int rank, int number)
{
    struct delivery *delivery = &run.delivery[number];
    tell_number(rank, "held", &run.message[delivery->message], delivery->receiver, delivery->rsn);
    delivery->held[rank] = true;
}

static bool held_elsewhere(int number)
{
    const struct delivery *delivery = &run.delivery[number];
    bool held = false;
    for (int rank = 0; rank < run.ranks; rank++)
        held |= rank != delivery->receiver && delivery->held[rank];
    return held;
}

/* --- sending -----------------------------------------------------------------------------------
 */

static void put(struct queue *queue, int message)
{
    queue->message[queue->count++] = message;
}

static int take(struct queue *queue, int at)
{
    int message = queue->message[at];
    memmove(&queue->message[at], &queue->message[at + 1],
            (size_t)(--queue->count - at) * sizeof queue->message[0]);
    return message;
}

/* The determinants of what the rank delivered since its checkpoint, as far as it does not know that
 * others have them. */
static void carry(int rank, struct message *message)
{
    const struct side *side = &run.side[rank];
    for (int i = 0; i < side->action_count && message->carried_count < CARRIED_MAX; i++) {
        int number = side->action[i].delivery;
        if (side->action[i].sends)
            continue;
        if (run.wrong == WRONG_ACKED && !run.done && !held_elsewhere(number))
            message->lacks = true;
        else if (!run.delivery[number].acked)
            message->carried[message->carried_count++] = number;
    }
}

/* The same when it is done again. */
static void tell_send(int rank, struct message *message)
{
    message->life = run.side[rank].life;
    if (message->to == NOBODY) {
        tell(rank, "note multicast %d comm 1 sender %d", message->ssn, rank);
        tell(rank, "note kept-part %d comm 1 sender %d receiver 4294967295", message->ssn, rank);
        return;
    }
    tell(rank, "app send MPI_Send to %d tag 7 bytes 8 hash %d lasts 1", message->to, message->hash);
    tell(rank, "note %s %d peer %d tag 7 hash %d", message->unkept ? "unkept" : "kept",
         message->ssn, message->to, message->hash);
}

static void send_message(int rank, int to)
{
    struct side *side = &run.side[rank];
    if (run.message_count == MESSAGES_MAX || side->action_count == ACTIONS_MAX)
        return;
    int number = run.message_count++;
    struct message *message = &run.message[number];
    *message = (struct message){.from = rank,
                                .to = to,
                                .ssn = ++side->ssn[to == NOBODY ? RANKS_MAX : to],
                                .hash = 1 + draw(1000000)};
    if (to == NOBODY) /* numbered on the communicator, by whoever is the root */
        message->ssn = message->ssn * RANKS_MAX + rank;
    carry(rank, message);
    message->unkept = to != NOBODY && goes_wrong(WRONG_UNKEPT);
    tell_send(rank, message);
    side->action[side->action_count++] = (struct action){.sends = true, .message = number};
    for (int other = 0; other < run.ranks; other++)
        if (other != rank && (to == NOBODY || to == other))
            put(&run.channel[rank][other], number);
}

/* --- delivering --------------------------------------------------------------------------------
 */

/* Not one of its determinants is told if `left_out` is among them and not held elsewhere. */
static void tell_carried(int rank, const struct message *message, int left_out)
{
    for (int i = 0; i < message->carried_count; i++)
        if (message->carried[i] != left_out)
            tell_held(rank, message->carried[i]);
}

static int leave_out(const struct message *message)
{
    for (int i = 0; i < message->carried_count; i++)
        if (!held_elsewhere(message->carried[i]) && goes_wrong(WRONG_LEFT_OUT))
            return message->carried[i];
    return NOBODY;
}

/* How many lines stand inside the call. */
static void tell_delivery(int rank, int number, int left_out)
{
    const struct delivery *delivery = &run.delivery[number];
    struct message *message = &run.message[delivery->message];
    int inside = 2 + message->carried_count - (left_out != NOBODY);
    if (message->to != NOBODY)
        tell(rank, "app recv MPI_Recv from any tag any got %d tag 7 bytes 8 hash %d lasts %d",
             run.side[message->from].place, message->hash, inside);
    tell_number(rank, "taken", message, 0, message->life);
    tell_carried(rank, message, left_out);
    tell_held(rank, number);
    message->delivered[rank] = delivery->rsn;
}

static int new_delivery(int rank, int message)
{
    struct side *side = &run.side[rank];
    int number = run.delivery_count++;
    run.delivery[number] =
        (struct delivery){.message = message, .receiver = rank, .rsn = ++side->rsn};
    side->action[side->action_count++] = (struct action){.message = message, .delivery = number};
    return number;
}

/* What is done wrong once the message has been delivered. */
static void do_wrong_after(int rank, const struct message *message)
{
    if (message->to == NOBODY && goes_wrong(WRONG_COPY))
        tell(rank, "note kept-part %d comm 1 sender %d receiver 4294967295", message->ssn,
             message->from);
    if (message->to != NOBODY && goes_wrong(WRONG_DROPPED))
        tell(message->from, "note dropped %d receiver %d", message->ssn, rank);
    if (message->to != NOBODY && goes_wrong(WRONG_TWICE)) {
        tell(rank, "app recv MPI_Recv from any tag any got %d tag 7 bytes 8 hash %d lasts 1",
             run.side[message->from].place, message->hash);
        tell_number(rank, "held", message, rank, ++run.side[rank].rsn);
    }
}

static void deliver(int rank, int from)
{
    if (run.channel[from][rank].count == 0 || run.delivery_count == MESSAGES_MAX * 2 ||
        run.side[rank].action_count == ACTIONS_MAX)
        return;
    int number = take(&run.channel[from][rank], 0);
    const struct message *message = &run.message[number];
    if (message->to == NOBODY && goes_wrong(WRONG_ATOMIC))
        return;
    if (message->delivered[rank] == 0 && goes_wrong(WRONG_REFUSED))
        tell_number(rank, "discarded", message, 0, message->life);
    tell_delivery(rank, new_delivery(rank, number), leave_out(message));
    run.done |= run.wrong == WRONG_ACKED && message->lacks;
    do_wrong_after(rank, message);
}

/* --- checkpoints -------------------------------------------------------------------------------
 */

static void drain(void)
{
    for (int from = 0; from < run.ranks; from++)
        for (int to = 0; to < run.ranks; to++)
            while (run.channel[from][to].count > 0 && run.delivery_count < MESSAGES_MAX * 2 &&
                   run.side[to].action_count < ACTIONS_MAX)
                deliver(to, from);
}

static void let_go(int rank)
{
    tell(rank, "note let-go 0 sender null");
    tell(rank, "note dropped 18446744073709551615 receiver 4294967295");
}

/* Some determinant is stored at one other rank alone, and that one depends on it. */
static bool somebody_needs_it(int rank)
{
    for (int i = 0; i < run.delivery_count; i++) {
        int holders = 0;
        for (int other = 0; other < run.ranks; other++)
            holders += other != run.delivery[i].receiver && run.delivery[i].held[other];
        if (holders == 1 && run.delivery[i].held[rank] && run.delivery[i].receiver != rank)
            return true;
    }
    return false;
}

static void checkpoint(void)
{
    drain();
    run.line++;
    for (int rank = 0; rank < run.ranks; rank++) {
        tell(rank, "note checkpoint %d", run.line);
        if (somebody_needs_it(rank) && goes_wrong(WRONG_EMPTIED))
            tell(rank, "note let-go 0 sender null");
    }
    tell(0, "note commit %d", run.line);
    for (int rank = 0; rank < run.ranks; rank++) {
        struct side *side = &run.side[rank];
        let_go(rank);
        side->action_count = 0;
        side->line_rsn = side->rsn;
        memcpy(side->line_ssn, side->ssn, sizeof side->ssn);
    }
    for (int i = 0; i < run.delivery_count; i++)
        memset(run.delivery[i].held, 0, sizeof run.delivery[i].held);
}

/* --- deaths ------------------------------------------------------------------------------------
 */

static bool is_delivered(const struct message *message)
{
    bool delivered = false;
    for (int rank = 0; rank < run.ranks; rank++)
        delivered |= message->delivered[rank] != 0;
    return delivered;
}

/* How much of what the rank did must be done again: others depend on it, or have its determinant.
 */
static int needed(const struct side *side)
{
    int count = 0;
    for (int i = 0; i < side->action_count; i++) {
        const struct action *action = &side->action[i];
        if (action->sends ? is_delivered(&run.message[action->message]) ||
                                run.message[action->message].to == NOBODY
                          : held_elsewhere(action->delivery))
            count = i + 1;
    }
    return count;
}

/* What is not done again: its messages are gone, what it had delivered comes to it again. */
static void undo(int rank, int from)
{
    struct side *side = &run.side[rank];
    for (int i = side->action_count - 1; i >= from; i--) {
        struct message *message = &run.message[side->action[i].message];
        if (side->action[i].sends) {
            struct queue *queue = &run.channel[rank][message->to];
            for (int at = queue->count - 1; at >= 0; at--)
                if (queue->message[at] == side->action[i].message)
                    take(queue, at);
            tell_number(message->to, "discarded", message, 0, message->life);
            side->ssn[message->to]--;
        } else {
            struct queue *queue = &run.channel[message->from][rank];
            memmove(&queue->message[1], &queue->message[0],
                    (size_t)queue->count++ * sizeof queue->message[0]);
            queue->message[0] = side->action[i].message;
            message->delivered[rank] = 0;
            side->rsn--;
        }
    }
    side->action_count = from;
}

/* Of messages that survivors have for the newcomer the determinants come to it at once. */
static void replay_determinants(int rank)
{
    const struct side *side = &run.side[rank];
    for (int from = 0; from < run.ranks; from++)
        for (int i = 0; i < run.channel[from][rank].count; i++)
            tell_carried(rank, &run.message[run.channel[from][rank].message[i]], NOBODY);
    for (int i = 0; i < side->action_count; i++)
        if (!side->action[i].sends)
            tell_carried(rank, &run.message[side->action[i].message], NOBODY);
}

/* Two deliveries one after the other of different senders, which survivors know of. */
static void swap(struct side *side)
{
    for (int i = 0; i + 1 < side->action_count; i++) {
        struct action *pair = &side->action[i];
        if (pair[0].sends || pair[1].sends || !held_elsewhere(pair[0].delivery) ||
            !held_elsewhere(pair[1].delivery) || !goes_wrong(WRONG_ORDER))
            continue;
        int first = run.delivery[pair[0].delivery].message;
        run.delivery[pair[0].delivery].message = run.delivery[pair[1].delivery].message;
        run.delivery[pair[1].delivery].message = first;
        return;
    }
}

static void discard_again(const struct message *message)
{
    for (int rank = 0; rank < run.ranks; rank++)
        if (rank != message->from && message->delivered[rank] != 0 &&
            (message->to == NOBODY || message->to == rank))
            tell_number(rank, "discarded", message, 0, message->life);
}

static void do_again(int rank)
{
    struct side *side = &run.side[rank];
    swap(side);
    for (int i = 0; i < side->action_count; i++) {
        struct message *message = &run.message[side->action[i].message];
        if (side->action[i].sends) {
            tell_send(rank, message);
            discard_again(message);
        } else {
            run.delivery[side->action[i].delivery].acked = held_elsewhere(side->action[i].delivery);
            tell_delivery(rank, side->action[i].delivery, NOBODY);
        }
    }
}

static void know_of_death(int rank)
{
    for (int other = 0; other < run.ranks; other++) {
        const struct queue *queue = &run.channel[rank][other];
        if (other == rank)
            continue;
        tell(other, "note incarnation %d sender %d", run.side[rank].life + 1, rank);
        if (queue->count > 0 && run.message[queue->message[0]].to != NOBODY &&
            goes_wrong(WRONG_STALE))
            tell_number(other, "taken", &run.message[queue->message[0]], 0, run.side[rank].life);
    }
}

static void kill_rank(int rank)
{
    struct side *side = &run.side[rank];
    tell(rank, "end signal 9");
    for (int i = 0; i < run.delivery_count; i++)
        run.delivery[i].held[rank] = false;
    know_of_death(rank);
    int keep = needed(side);
    undo(rank, keep + draw(side->action_count - keep + 1));
    side->place = run.newest++;
    side->life++;
    tell(rank, "app call MPI_Init");
    tell(rank, "note becomes %d", rank);
    tell(rank, "note restored %d", run.line);
    replay_determinants(rank);
    do_again(rank);
}

/* --- runs --------------------------------------------------------------------------------------
 */

static void step(void)
{
    int rank = draw(run.ranks), other = draw(run.ranks), what = draw(100);
    if (what < 40 && rank != other)
        send_message(rank, other);
    else if (what < 44)
        send_message(rank, NOBODY);
    else if (what < 85 && rank != other)
        deliver(rank, other);
    else if (what < 97 && run.delivery_count > 0) {
        int number = draw(run.delivery_count);
        run.delivery[number].acked |= held_elsewhere(number);
    } else if (what == 99) {
        checkpoint();
    }
}

static void write_run(void)
{
    fprintf(run.out, "ranks %d processes %d\n", run.ranks, run.ranks + run.kills);
    for (int rank = 0; rank < run.ranks; rank++) {
        run.side[rank].place = rank;
        tell(rank, "app call MPI_Init");
    }
    run.newest = run.ranks;
    for (int i = 0; i <= run.kills; i++) {
        for (int k = draw(STEPS); k >= 0; k--)
            step();
        if (i < run.kills)
            kill_rank(draw(run.ranks));
    }
    for (int k = 0; k < STEPS; k++)
        step();
    drain();
    /* At the end, for the run cannot go on after it. */
    int back = draw(run.ranks);
    if (run.side[back].life == 0 && goes_wrong(WRONG_LOCAL))
        tell(back, "note restored %d", run.line);
}

/* --- judging -----------------------------------------------------------------------------------
 */

struct plant {
    enum wrong wrong;
    int kills;
    const char *claim; /* NULL: nothing is wrong */
    const char *also;  /* what may be broken with it */
    const char *what;
};

static bool is_exact(const struct plant *plant, const struct judgement *judgement)
{
    bool found = plant->claim == NULL || generated_found(judgement, plant->claim);
    for (size_t i = 0; i < judgement->result_count; i++) {
        const struct claim_result *result = &judgement->results[i];
        bool expected = plant->claim != NULL && (strcmp(result->claim->id, plant->claim) == 0 ||
                                                 strstr(plant->also, result->claim->id) != NULL);
        found &= expected || result->verdict < VERDICT_UNKNOWN;
        found &= result->verdict != VERDICT_HARNESS_ERROR;
    }
    return found;
}

/* 0: there was no place to do it wrong, -1: it is not what is found. */
static int draw_run(const struct plant *plant, uint64_t seed)
{
    static const char *const ids[] = {"M"};
    struct judgement judgement = {0};
    run = (struct run){.wrong = plant->wrong};
    begin_drawing(seed);
    run.ranks = 2 + draw(RANKS_MAX - 1);
    run.kills = plant->kills + (plant->claim == NULL ? draw(3) : 0);
    run.out = generated_file();
    write_run();
    fclose(run.out);
    bool room = run.done || plant->claim == NULL;
    bool exact =
        room && generated_judge(run.ranks, 1, ids, 1, &judgement) && is_exact(plant, &judgement);
    if (room && !exact) {
        printf("# expected: %s\n", plant->claim != NULL ? plant->claim : "nothing");
        generated_show(&judgement, seed);
    }
    judgement_release(&judgement);
    return !room ? 0 : exact ? 1 : -1;
}

static void plant_all(const struct plant *plant)
{
    int drawn = 0, wrong = 0;
    for (int seed = 0; seed < TRIES && drawn < RUNS && wrong == 0; seed++) {
        int result = draw_run(plant, (uint64_t)seed);
        drawn += result != 0;
        wrong += result < 0;
    }
    check(wrong == 0 && drawn == RUNS, "%s: found, and no other, %d runs", plant->what, drawn);
}

int main(void)
{
    static const struct plant nothing = {0};
    static const struct plant plants[] = {
        {WRONG_LEFT_OUT, 0, "M.orphan", "", "a determinant is left out"},
        {WRONG_ACKED, 0, "M.orphan", "", "a determinant is taken to be stored"},
        {WRONG_EMPTIED, 0, "M.orphan", "", "determinants are let go before the commit"},
        {WRONG_ORDER, 1, "M.order", "", "a newcomer delivers in another order"},
        {WRONG_UNKEPT, 0, "M.replay", "", "a payload is not kept"},
        {WRONG_DROPPED, 0, "M.replay", "", "a payload is dropped too early"},
        {WRONG_TWICE, 0, "M.stale", "M.orphan", "a message is delivered twice"},
        {WRONG_STALE, 1, "M.stale", "", "a message of an old incarnation is taken"},
        {WRONG_REFUSED, 0, "M.stale", "", "a message is dropped without need"},
        {WRONG_LOCAL, 1, "M.local", "M.atomic", "a survivor goes back"},
        {WRONG_COPY, 0, "M.once", "", "a receiver stores a multicast"},
        {WRONG_ATOMIC, 0, "M.atomic", "", "a multicast does not come to all"},
    };
    const char *asked = getenv("FAULTLINE_PLANTED");
    int right = asked != NULL ? atoi(asked) : RIGHT_RUNS, alarms = 0, seed = 0;
    if (!generated_open())
        return 1;
    for (; seed < right && alarms == 0; seed++)
        alarms += draw_run(&nothing, (uint64_t)seed) < 0;
    check(alarms == 0, "%d right runs: no alarm", seed);
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++)
        plant_all(&plants[i]);
    generated_close();
    return done();
}
