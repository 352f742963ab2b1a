/* See program.h. */
#include "planted/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNDER_WAY_MOST 8 /* messages at once */
#define TAGS 3
#define LATE_TAG 8  /* its own: nothing of its channel may be received before it */
#define SPANS_TAG 9 /* the same */

static uint64_t state;

void draw_from(uint64_t seed)
{
    state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
}

int draw(int below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)((state >> 11) % (uint64_t)below);
}

static void bound(int count, int most, const char *what)
{
    if (count < most)
        return;
    fprintf(stderr, "planted: more than %d %s\n", most, what);
    exit(1);
}

static int add(struct program *program, enum op_kind kind, int rank, int number)
{
    bound(program->count, OPS_MOST, "ops");
    program->op[program->count] = (struct op){.kind = kind, .rank = rank, .number = number};
    return program->count++;
}

static void tell(struct program *program, int from, int to, int line)
{
    program->op[add(program, OP_TELL, from, line)].peer = to;
}

/* --- messages ------------------------------------------------------------------------------ */

static int send_to(struct program *program, int from, int to)
{
    int number = program->message_count++;
    bound(number, MESSAGES_MOST, "messages");
    struct message *message = &program->message[number];
    *message = (struct message){.from = from,
                                .to = to,
                                .tag = 1 + draw(TAGS),
                                .comm = draw(1 + program->shape.communicators),
                                .hash = 0x1000 + (uint64_t)number,
                                .any_source = draw(100) < program->shape.wildcards,
                                .any_tag = draw(100) < program->shape.wildcards};
    message->sent = add(program, OP_SEND, from, number);
    return number;
}

static void receive(struct program *program, int number)
{
    struct message *message = &program->message[number];
    message->got = add(program, OP_RECV, message->to, number);
}

/* While a line is made; nothing of the same channel is under way, but maybe a late message. */
static int send_in_line(struct program *program, int line, int from, int to)
{
    int number = send_to(program, from, to);
    program->message[number].any_tag = false;
    program->message[number].line = line;
    return number;
}

static void pass(struct program *program, int line, int from, int to)
{
    receive(program, send_in_line(program, line, from, to));
}

static int other_than(const struct program *program, int rank)
{
    return (rank + 1 + draw(program->shape.ranks - 1)) % program->shape.ranks;
}

/* --- collectives --------------------------------------------------------------------------- */

static struct call *all_call(struct program *program, enum call_kind kind, int root)
{
    int number = program->call_count++;
    bound(number, CALLS_MOST, "collectives");
    struct call *call = &program->call[number];
    *call =
        (struct call){.kind = kind, .root = root, .comm = draw(1 + program->shape.communicators)};
    call->first = program->count;
    for (int rank = 0; rank < program->shape.ranks; rank++)
        call->last = add(program, OP_CALL, rank, number);
    return call;
}

/* --- between lines ------------------------------------------------------------------------- */

/* Any of those under way that nothing of the same pair is before. */
static void receive_some(struct program *program, int *under_way, int *count)
{
    int chosen = draw(*count);
    const struct message *wanted = &program->message[under_way[chosen]];
    for (int i = 0; i < chosen; i++) {
        const struct message *before = &program->message[under_way[i]];
        if (before->from == wanted->from && before->to == wanted->to) {
            chosen = i;
            break;
        }
    }
    receive(program, under_way[chosen]);
    --*count;
    memmove(&under_way[chosen], &under_way[chosen + 1],
            (size_t)(*count - chosen) * sizeof *under_way);
}

static void draw_segment(struct program *program)
{
    int messages = program->shape.messages, calls = program->shape.collectives;
    int under_way[UNDER_WAY_MOST], count = 0;
    while (messages + calls + count > 0) {
        int what = draw(messages + calls + count);
        if (what < messages && count < UNDER_WAY_MOST) {
            int from = draw(program->shape.ranks);
            under_way[count++] = send_to(program, from, other_than(program, from));
            messages--;
        } else if (what < messages + calls && calls > 0) {
            all_call(program, (enum call_kind)draw(CALL_KINDS), draw(program->shape.ranks));
            calls--;
        } else if (count > 0) {
            receive_some(program, under_way, &count);
        }
    }
}

/* --- lines --------------------------------------------------------------------------------- */

static void shuffle_ranks(struct program *program)
{
    int *order = program->order;
    for (int i = 0; i < program->shape.ranks; i++)
        order[i] = i;
    for (int i = program->shape.ranks - 1; i > 0; i--) {
        int other = draw(i + 1), moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
}

static void take(struct program *program, int line, int rank)
{
    program->checkpoint[line][rank] = add(program, OP_CHECKPOINT, rank, line);
}

static void save_and_commit(struct program *program, int line)
{
    for (int rank = 0; rank < program->shape.ranks; rank++) {
        if (program->shape.storage)
            add(program, OP_STORE, rank, line);
        add(program, OP_SAVED, rank, line);
        if (rank > 0)
            tell(program, rank, 0, line);
    }
    if (program->wrong[line] == LINE_OVERDUE) {
        add(program, OP_SETTLES, 0, 1);
        for (int rank = 0; rank < program->shape.ranks; rank++)
            add(program, OP_PASS, rank, line);
    }
    program->commit[line] = add(program, OP_COMMIT, 0, line);
}

static void draw_blocking_line(struct program *program, int line)
{
    int ranks = program->shape.ranks;
    const int *order = program->order;
    add(program, OP_INITIATE, 0, line);
    for (int i = 0; i < ranks; i++) {
        take(program, line, order[i]);
        bool late = i == 0 && program->wrong[line] == LINE_CROSSED && draw(2) == 0;
        if (late)
            pass(program, line, order[ranks - 1], order[0]);
        else if (i == 0 && program->wrong[line] == LINE_CROSSED)
            pass(program, line, order[0], order[ranks - 1]);
    }
    save_and_commit(program, line);
}

/* While the first `taken` have taken the line: an early message, and a call. */
static void straddle(struct program *program, int line, int taken)
{
    int ranks = program->shape.ranks;
    const int *order = program->order;
    if (program->wrong[line] == LINE_BARRIER && taken == 1)
        all_call(program, CALL_AS_BARRIER, 0);
    if (program->shape.quiet)
        return;
    pass(program, line, order[draw(taken)], order[taken + draw(ranks - taken)]);
    /* From one that is before the line: who is past it replays it then. */
    if (program->shape.collectives > 0)
        all_call(program, (enum call_kind)draw(CALL_AS_BARRIER), order[ranks - 1]);
}

static void take_line(struct program *program, int line)
{
    int ranks = program->shape.ranks;
    for (int i = 0; i < ranks; i++) {
        take(program, line, program->order[i]);
        if (i == 0 && program->wrong[line] == LINE_CALL_OVER) {
            add(program, OP_STOP, program->order[0], line);
            all_call(program, CALL_FROM_ROOT, program->order[ranks - 1]);
        }
        if (i + 1 < ranks)
            straddle(program, line, i + 1);
    }
}

static void stop_logging(struct program *program, int line)
{
    int ranks = program->shape.ranks;
    enum line_wrong wrong = program->wrong[line];
    for (int rank = 0; rank < ranks; rank++) {
        if (rank > 0)
            tell(program, 0, rank, line);
        if (wrong != LINE_CALL_OVER || rank != program->order[0])
            add(program, OP_STOP, rank, line);
        if (rank == 0 && wrong == LINE_FLOWS_BACK)
            pass(program, line, 0, ranks - 1);
        if (rank == ranks - 2 && wrong == LINE_CALL_BACK)
            all_call(program, CALL_FROM_ROOT, 0);
    }
}

/* Says so when the last late message is there. */
static void say_ready(struct program *program, int line, int but)
{
    for (int rank = 0; rank < program->shape.ranks; rank++) {
        if (rank != but)
            add(program, OP_READY, rank, line);
        if (rank > 0)
            tell(program, rank, 0, line);
    }
}

/* The message that spans the line before ends after this one. */
static void end_span(struct program *program, int line)
{
    for (int i = 0;
         line > 1 && program->wrong[line - 1] == LINE_SPANS && i < program->message_count; i++)
        if (program->message[i].tag == SPANS_TAG && program->message[i].got == 0)
            receive(program, i);
}

static void begin_span(struct program *program, int line)
{
    if (program->wrong[line] != LINE_SPANS)
        return;
    struct message *message = &program->message[send_in_line(program, line, 0, 1)];
    message->tag = SPANS_TAG;
    message->any_source = false;
}

static void draw_c3_line(struct program *program, int line)
{
    int ranks = program->shape.ranks, late[RANKS_MOST], lates = 0, received = 0, but = -1;
    enum line_wrong wrong = program->wrong[line];
    add(program, OP_INITIATE, 0, line);
    begin_span(program, line);
    for (int i = 0; i < ranks && !program->shape.quiet; i++) {
        late[lates] = send_in_line(program, line, i, other_than(program, i));
        program->message[late[lates++]].tag = LATE_TAG;
    }
    take_line(program, line);
    end_span(program, line);
    if (wrong == LINE_READY_EARLY) {
        but = program->message[late[lates - 1]].to;
        while (received < lates - 1)
            receive(program, late[received++]);
        add(program, OP_READY, but, line);
    }
    while (received < lates - (wrong == LINE_FLOWS_OVER))
        receive(program, late[received++]);
    for (int rank = 0; rank < ranks; rank++)
        add(program, OP_DECIDE, rank, line);
    if (!program->shape.quiet)
        pass(program, line, 0, 1);
    say_ready(program, line, but);
    stop_logging(program, line);
    while (received < lates)
        receive(program, late[received++]);
    save_and_commit(program, line);
}

void program_draw(struct program *program)
{
    const struct shape *shape = &program->shape;
    program->count = program->message_count = program->call_count = 0;
    bound(shape->lines - 1, LINES_MOST, "lines");
    for (int line = 1; line <= shape->lines; line++) {
        draw_segment(program);
        shuffle_ranks(program);
        if (shape->protocol == PROTOCOL_C3)
            draw_c3_line(program, line);
        else
            draw_blocking_line(program, line);
    }
    draw_segment(program);
}

int program_epoch(const struct program *program, int op)
{
    int line = 0, rank = program->op[op].rank;
    while (line < program->shape.lines && program->checkpoint[line + 1][rank] < op)
        line++;
    return line;
}
