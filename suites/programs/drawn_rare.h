/* Of the program `drawn`: what programs do seldom. One thing of each kind in some steps; what is
 * begun in a step may be ended in the next one, beyond a potential checkpoint. Each has a switch,
 * which is off by itself. Must not know: groups of messages. */
#ifndef DRAWN_RARE_H
#define DRAWN_RARE_H

#include "checkpoint.h"
#include "drawn_messages.h"
#include "drawn_plan.h"
#include "program.h"

#include <float.h>

#define TAG_TOLD 4
#define TAG_COUNTED 5
#define TAG_ORDER 6
#define TAG_STARTED 7
#define TAG_FREED 8
#define TAG_PARTIAL 9
#define TAG_TOO_LONG 0
#define TAG_GREETING 30000
#define TAG_HINT 30001 /* beyond those of messages */
#define TAG_GO 30002
#define TAG_DATA 30003
#define MATRIX_ROWS 3
#define MATRIX_COLUMNS 5
#define MATRIX_NUMBERS (MATRIX_ROWS * MATRIX_COLUMNS)
#define BLOCK_ROWS 2
#define BLOCK_COLUMNS 3
#define BLOCK_NUMBERS (BLOCK_ROWS * BLOCK_COLUMNS)
#define QUESTIONS 4       /* at most, ahead of what is sent */
#define TESTIMONY_STEPS 6 /* until what was told is told once more */
#define PIECE_CHANGES 16  /* numbers of the piece that a step changes */

static struct {
    uint64_t told[TESTIMONY_STEPS], heard[TESTIMONY_STEPS]; /* by step */
    MPI_Request started;                                    /* persistent, and was cancelled */
    uint64_t started_in;
    MPI_Request freed; /* a receive on a communicator that is freed */
    uint64_t freed_in;
    MPI_Request typed; /* a receive whose datatype is freed */
    uint64_t typed_in[MATRIX_NUMBERS];
    MPI_Comm made; /* in the step before */
} rare;

static long piece_kib;
static uint64_t *piece;

static size_t piece_numbers(void)
{
    return (size_t)piece_kib * 1024 / sizeof *piece;
}

static bool has_rare(void)
{
    bool any = piece_kib > 0;
    for (int i = FIRST_RARE; i < FEATURES; i++)
        any |= feature[i] != 0;
    return any;
}

enum pairs {
    PAIRS_TELL,
    PAIRS_START,
    PAIRS_FREE,
    PAIRS_CUT,
    PAIRS_MAKE,
    PAIRS_TOO_LONG,
    PAIRS_HINT,
    PAIRS_TYPE
};

/* What a step does of a kind goes between two ranks, which are not the same. False: it does nothing
 * of it. */
static bool pair_of(uint64_t step, enum pairs kind, int *from, int *to)
{
    *from = draw(step, 91000 + (int)kind * 10, self.ranks);
    *to = (*from + 1 + draw(step, 91001 + (int)kind * 10, self.ranks - 1)) % self.ranks;
    return draw(step, 91002 + (int)kind * 10, 3) == 0;
}

/* --- testimonies: what nobody determines is told to another rank, and once more later ---- */

/* How often the rank asks for a message that is on its way. */
static uint64_t count_questions(uint64_t step, int from)
{
    uint64_t number, count = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    int there = 0, way = draw(step, 91103, 3);
    if (way != 0 || !feature[PROBES])
        MPI_Irecv(&number, 1, MPI_UINT64_T, from, TAG_COUNTED, MPI_COMM_WORLD, &request);
    for (; !there; count++) {
        if (request == MPI_REQUEST_NULL)
            MPI_Iprobe(from, TAG_COUNTED, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        else if (way == 1)
            MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
        else
            MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    }
    if (way == 0 && feature[PROBES])
        MPI_Recv(&number, 1, MPI_UINT64_T, from, TAG_COUNTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return count;
}

/* In which order the others' messages come. */
static uint64_t find_order(void)
{
    uint64_t order = 0, number;
    MPI_Status status;
    for (int i = 1; i < self.ranks; i++) {
        int source = feature[ANY_SOURCE] ? MPI_ANY_SOURCE : (self.rank + i) % self.ranks;
        MPI_Recv(&number, 1, MPI_UINT64_T, source, TAG_ORDER, MPI_COMM_WORLD, &status);
        order = program_mix(order, (uint64_t)status.MPI_SOURCE);
    }
    return order;
}

static uint64_t choose(void)
{
    double times[2] = {MPI_Wtime(), MPI_Wtime()};
    uint64_t values[2];
    if (feature[TESTIMONY] < 2) {
        checkpoint_decision("nothing", times, 0); /* is one, too, and takes its place in a log */
        checkpoint_decision("times", times, sizeof times);
    }
    memcpy(values, times, sizeof values);
    return program_mix(values[0], values[1]);
}

static void testify(uint64_t step)
{
    int from, to, kind = draw(step, 91100, 3);
    uint64_t *told = &rare.told[step % TESTIMONY_STEPS];
    if (!pair_of(step, PAIRS_TELL, &from, &to))
        return;
    if (self.rank == to && kind == 1)
        MPI_Send(&step, 1, MPI_UINT64_T, from, TAG_COUNTED, MPI_COMM_WORLD);
    if (self.rank != from && kind == 2)
        MPI_Send(&step, 1, MPI_UINT64_T, from, TAG_ORDER, MPI_COMM_WORLD);
    if (self.rank == from) {
        *told = kind == 0 ? choose() : kind == 1 ? count_questions(step, to) : find_order();
        MPI_Send(told, 1, MPI_UINT64_T, to, TAG_TOLD, MPI_COMM_WORLD);
    }
    if (self.rank == to)
        MPI_Recv(&rare.heard[step % TESTIMONY_STEPS], 1, MPI_UINT64_T, from, TAG_TOLD,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void testify_again(uint64_t now)
{
    int from, to;
    uint64_t step = now - (TESTIMONY_STEPS - 1), heard;
    if (now + 1 < TESTIMONY_STEPS || !pair_of(step, PAIRS_TELL, &from, &to))
        return;
    if (self.rank == from)
        MPI_Send(&rare.told[step % TESTIMONY_STEPS], 1, MPI_UINT64_T, to, TAG_TOLD, MPI_COMM_WORLD);
    if (self.rank != to)
        return;
    MPI_Recv(&heard, 1, MPI_UINT64_T, from, TAG_TOLD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (heard != rare.heard[step % TESTIMONY_STEPS])
        wrong_in(step, "a rank says something else than it said before");
}

/* --- messages ahead of checkpoint_restore ------------------------------------------------- */

/* One to each other rank. */
static void greet(void)
{
    uint64_t mine = program_mix(self.seed, (uint64_t)self.rank), theirs = 0;
    MPI_Status status;
    for (int apart = 1; feature[GREETED] && apart < self.ranks; apart++) {
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (self.rank + apart) % self.ranks, TAG_GREETING,
                     &theirs, 1, MPI_UINT64_T, MPI_ANY_SOURCE, TAG_GREETING, MPI_COMM_WORLD,
                     &status);
        if (theirs != program_mix(self.seed, (uint64_t)status.MPI_SOURCE))
            wrong_in(0, "a greeting is another rank's");
    }
}

/* --- persistent receives that are started again after they were cancelled ---------------- */

/* The sender is told that the receive was cancelled, or it might come first. */
static void start_again(uint64_t step)
{
    int from, to;
    if (!pair_of(step, PAIRS_START, &from, &to))
        return;
    if (self.rank == from)
        MPI_Recv(&step, 1, MPI_UINT64_T, to, TAG_STARTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (self.rank != to)
        return;
    MPI_Recv_init(&rare.started_in, 1, MPI_UINT64_T, from, TAG_STARTED, MPI_COMM_WORLD,
                  &rare.started);
    MPI_Start(&rare.started);
    MPI_Cancel(&rare.started);
    MPI_Wait(&rare.started, MPI_STATUS_IGNORE);
    MPI_Start(&rare.started);
    MPI_Send(&step, 1, MPI_UINT64_T, from, TAG_STARTED, MPI_COMM_WORLD);
}

static void end_started(uint64_t step)
{
    int from, to, cancelled;
    MPI_Status status;
    if (!pair_of(step, PAIRS_START, &from, &to))
        return;
    if (self.rank == from)
        MPI_Send(&step, 1, MPI_UINT64_T, to, TAG_STARTED, MPI_COMM_WORLD);
    if (self.rank != to)
        return;
    MPI_Wait(&rare.started, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (cancelled || rare.started_in != step || status.MPI_SOURCE != from)
        wrong_in(step, "a receive that was started again does not get its message");
    MPI_Request_free(&rare.started);
}

/* --- what is freed while it is used ------------------------------------------------------ */

static void add(void *these, void *all, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((uint64_t *)all)[i] += ((uint64_t *)these)[i];
}

static void subtract(void *these, void *all, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((uint64_t *)all)[i] -= ((uint64_t *)these)[i];
}

/* The operation is freed, and another one made, while the reduction goes on. */
static void free_operation(uint64_t step)
{
    uint64_t mine = step + (uint64_t)self.rank, all = 0, ranks = (uint64_t)self.ranks;
    MPI_Op op, other;
    MPI_Request request;
    if (!feature[NONBLOCKING_COLLECTIVES] || draw(step, 91200, 3) != 0)
        return;
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(&mine, &all, 1, MPI_UINT64_T, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Op_create(subtract, 1, &other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&other);
    if (all != ranks * step + ranks * (ranks - 1) / 2)
        wrong_in(step, "a reduction whose operation was freed is wrong");
}

/* A message goes through a communicator that is freed, and is received in the next step. */
static void free_communicator(uint64_t step)
{
    int from, to;
    MPI_Comm comm;
    if (!pair_of(step, PAIRS_FREE, &from, &to))
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (self.rank == to)
        MPI_Irecv(&rare.freed_in, 1, MPI_UINT64_T, from, TAG_FREED, comm, &rare.freed);
    if (self.rank == from)
        MPI_Send(&step, 1, MPI_UINT64_T, to, TAG_FREED, comm);
    MPI_Comm_free(&comm);
}

static void end_freed(uint64_t step)
{
    int from, to;
    if (!pair_of(step, PAIRS_FREE, &from, &to) || self.rank != to)
        return;
    MPI_Wait(&rare.freed, MPI_STATUS_IGNORE);
    if (rare.freed_in != step)
        wrong_in(step, "a message on a communicator that was freed is another one");
}

static bool is_by_columns(uint64_t step)
{
    return draw(step, 91201, 2) == 0;
}

/* Where number `i` of the block lies in the matrix. The block is its last rows and columns. */
static int place_in_matrix(uint64_t step, int i)
{
    bool by_columns = is_by_columns(step);
    int row = by_columns ? i % BLOCK_ROWS : i / BLOCK_COLUMNS;
    int column = by_columns ? i / BLOCK_ROWS : i % BLOCK_COLUMNS;
    row += MATRIX_ROWS - BLOCK_ROWS;
    column += MATRIX_COLUMNS - BLOCK_COLUMNS;
    return by_columns ? row + MATRIX_ROWS * column : row * MATRIX_COLUMNS + column;
}

/* A datatype of the size of a number: MPI_UINT64_T, in some steps a complex one of Fortran 90. */
static MPI_Datatype type_of_numbers(uint64_t step)
{
    MPI_Datatype type = MPI_UINT64_T;
    if (draw(step, 91203, 3) == 0)
        MPI_Type_create_f90_complex(FLT_DIG, FLT_MAX_10_EXP - 1, &type);
    return type;
}

static void send_block(uint64_t step, int to)
{
    uint64_t number[BLOCK_NUMBERS];
    for (int i = 0; i < BLOCK_NUMBERS; i++)
        number[i] = program_mix(step, (uint64_t)i);
    MPI_Send(number, BLOCK_NUMBERS, type_of_numbers(step), to, TAG_FREED, MPI_COMM_WORLD);
}

static bool is_sent_late(uint64_t step)
{
    return draw(step, 91202, 2) == 0;
}

/* A block of a matrix is received in the next step, with a datatype that is freed now; it is sent
 * now or then. */
static void free_type(uint64_t step)
{
    int from, to;
    const int matrix[] = {MATRIX_ROWS, MATRIX_COLUMNS}, block[] = {BLOCK_ROWS, BLOCK_COLUMNS};
    const int corner[] = {MATRIX_ROWS - BLOCK_ROWS, MATRIX_COLUMNS - BLOCK_COLUMNS};
    MPI_Datatype type;
    if (!pair_of(step, PAIRS_TYPE, &from, &to))
        return;
    if (self.rank == to) {
        memset(rare.typed_in, 0, sizeof rare.typed_in);
        MPI_Type_create_subarray(2, matrix, block, corner,
                                 is_by_columns(step) ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                 type_of_numbers(step), &type);
        MPI_Type_commit(&type);
        MPI_Irecv(rare.typed_in, 1, type, from, TAG_FREED, MPI_COMM_WORLD, &rare.typed);
        MPI_Type_free(&type);
    }
    if (self.rank == from && !is_sent_late(step))
        send_block(step, to);
}

static void end_typed(uint64_t step)
{
    int from, to;
    uint64_t expected[MATRIX_NUMBERS] = {0};
    if (!pair_of(step, PAIRS_TYPE, &from, &to))
        return;
    if (self.rank == from && is_sent_late(step))
        send_block(step, to);
    if (self.rank != to)
        return;
    MPI_Wait(&rare.typed, MPI_STATUS_IGNORE);
    for (int i = 0; i < BLOCK_NUMBERS; i++)
        expected[place_in_matrix(step, i)] = program_mix(step, (uint64_t)i);
    if (memcmp(rare.typed_in, expected, sizeof expected) != 0)
        wrong_in(step, "a block received with a datatype that was freed is not what was sent");
}

/* --- messages that end within an element ------------------------------------------------- */

/* An element is two or three numbers, each with a hole behind it; a number is missing in the second
 * one. The receive names its buffer, or MPI_BOTTOM and a datatype of addresses. */
static void receive_part(uint64_t step)
{
    int from, to, elements, numbers = 2 + draw(step, 91650, 2), lengths[] = {1, 1, 1};
    bool has_addresses = draw(step, 91651, 2) == 0;
    uint64_t sent[5], got[12] = {0}, expected[12] = {0};
    MPI_Aint first = 0, places[3];
    MPI_Datatype placed, type;
    MPI_Status status;
    if (!pair_of(step, PAIRS_CUT, &from, &to))
        return;
    for (int i = 0; i < 2 * numbers - 1; i++)
        sent[i] = expected[2 * i] = step + (uint64_t)i;
    if (self.rank == from)
        MPI_Send(sent, 2 * numbers - 1, MPI_UINT64_T, to, TAG_PARTIAL, MPI_COMM_WORLD);
    if (self.rank != to)
        return;
    if (has_addresses)
        MPI_Get_address(got, &first);
    for (int i = 0; i < numbers; i++)
        places[i] = first + 2 * i * (MPI_Aint)sizeof(uint64_t);
    MPI_Type_create_hindexed(numbers, lengths, places, MPI_UINT64_T, &placed);
    MPI_Type_create_resized(placed, 0, 2 * numbers * (MPI_Aint)sizeof(uint64_t), &type);
    MPI_Type_commit(&type);
    MPI_Recv(has_addresses ? MPI_BOTTOM : got, 2, type, from, TAG_PARTIAL, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, type, &elements);
    if (elements != 2 * numbers - 1 || memcmp(got, expected, sizeof got) != 0)
        wrong_in(step, "of a message that ends within an element the numbers are in other places");
    MPI_Type_free(&placed);
    MPI_Type_free(&type);
}

/* --- collectives in which the ranks have their numbers in different orders ---------------- */

/* The root, or all others, have the second number in front of the first. */
static void spread_reversed(uint64_t step)
{
    int root = draw(step, 91660, self.ranks), lengths[] = {1, 1}, places[] = {1, 0};
    bool is_reversed = draw(step, 91662, 2) == (self.rank == root);
    uint64_t number[2] = {step, step + 1};
    MPI_Datatype reversed;
    if (!feature[COLLECTIVES] || draw(step, 91661, 3) != 0)
        return;
    MPI_Type_indexed(2, lengths, places, MPI_UINT64_T, &reversed);
    MPI_Type_commit(&reversed);
    if (is_reversed)
        MPI_Bcast(number, 1, reversed, root, MPI_COMM_WORLD);
    else
        MPI_Bcast(number, 2, MPI_UINT64_T, root, MPI_COMM_WORLD);
    if (self.rank != root && (number[0] != step + 1 || number[1] != step))
        wrong_in(step, "a broadcast is not in the order of the datatypes");
    MPI_Type_free(&reversed);
}

/* --- messages that are longer than their receives ---------------------------------------- */

enum too_long { RECEIVED_ALONE, WAITED_FOR, TESTED };

static int class_of(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

static bool is_there_or_pending(int error)
{
    return error == MPI_SUCCESS || class_of(error) == MPI_ERR_PENDING;
}

/* Two messages, of which one is longer than its receive, by MPI_Waitall or MPI_Testall. MPI may
 * tell of that before the other one is there. */
static bool is_cut_of_two(uint64_t step, int from, int cut, bool waits)
{
    uint64_t got[2][3] = {{0}, {0}};
    MPI_Request request[2];
    MPI_Status status[2];
    int error, all = 0;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(got[i], 2, MPI_UINT64_T, from, TAG_TOO_LONG, MPI_COMM_WORLD, &request[i]);
    if (waits)
        error = MPI_Waitall(2, request, status);
    else
        do
            error = MPI_Testall(2, request, &all, status);
        while (error == MPI_SUCCESS && !all);
    MPI_Wait(&request[!cut], MPI_STATUS_IGNORE);
    bool other = got[!cut][0] == step && got[!cut][1] == step + 1 && got[!cut][2] == 0;
    return other && class_of(error) == MPI_ERR_IN_STATUS && got[cut][2] == 0 &&
           class_of(status[cut].MPI_ERROR) == MPI_ERR_TRUNCATE &&
           is_there_or_pending(status[!cut].MPI_ERROR);
}

static bool is_cut_alone(int from)
{
    uint64_t got[3] = {0};
    int error =
        MPI_Recv(got, 2, MPI_UINT64_T, from, TAG_TOO_LONG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return class_of(error) == MPI_ERR_TRUNCATE && got[2] == 0;
}

static void receive_too_long(uint64_t step)
{
    int from, to, cut = draw(step, 91670, 2), way = draw(step, 91671, 3);
    MPI_Errhandler before;
    const uint64_t sent[3] = {step, step + 1, step + 2};
    if (!pair_of(step, PAIRS_TOO_LONG, &from, &to))
        return;
    for (int i = 0; self.rank == from && i < (way == RECEIVED_ALONE ? 1 : 2); i++)
        MPI_Send(sent, way == RECEIVED_ALONE || i == cut ? 3 : 2, MPI_UINT64_T, to, TAG_TOO_LONG,
                 MPI_COMM_WORLD);
    if (self.rank != to)
        return;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bool is_right = way == RECEIVED_ALONE ? is_cut_alone(from)
                                          : is_cut_of_two(step, from, cut, way == WAITED_FOR);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
    if (!is_right)
        wrong_in(step,
                 "what comes with a message that is longer than its receive is not as MPI says");
}

/* --- a rank that sends earlier or later, as it is told ------------------------------------ */

static bool has_hint(int from, MPI_Request *request)
{
    int there = 0;
    if (*request == MPI_REQUEST_NULL)
        MPI_Iprobe(from, TAG_HINT, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    else
        MPI_Test(request, &there, MPI_STATUS_IGNORE);
    return there;
}

/* If the hint is there the data go at once, else when they are asked for. */
static void send_hinted(uint64_t step, int to)
{
    uint64_t hint, go;
    MPI_Request request = MPI_REQUEST_NULL;
    bool posts = draw(step, 91401, 2) == 0;
    if (posts)
        MPI_Irecv(&hint, 1, MPI_UINT64_T, to, TAG_HINT, MPI_COMM_WORLD, &request);
    bool at_once = has_hint(to, &request);
    if (at_once)
        MPI_Send(&step, 1, MPI_UINT64_T, to, TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv(&go, 1, MPI_UINT64_T, to, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!at_once)
        MPI_Send(&step, 1, MPI_UINT64_T, to, TAG_DATA, MPI_COMM_WORLD);
    if (!posts)
        MPI_Recv(&hint, 1, MPI_UINT64_T, to, TAG_HINT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (hint != step || go != step)
        wrong_in(step, "a hint is another step's");
}

/* Asks some times whether the data are there, and asks for them then, whatever it was told. */
static void receive_hinted(uint64_t step, int from)
{
    uint64_t data = step + 1;
    int there = 0, index[2];
    MPI_Status status[2];
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(&data, 1, MPI_UINT64_T, from, TAG_DATA, MPI_COMM_WORLD, &request[0]);
    MPI_Send(&step, 1, MPI_UINT64_T, from, TAG_HINT, MPI_COMM_WORLD);
    for (int i = draw(step, 91402, QUESTIONS); i >= 0 && !there; i--)
        switch (draw(step, 91403, 5)) {
        case 0:
            MPI_Test(&request[0], &there, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Testall(2, request, &there, status);
            break;
        case 2:
            MPI_Testany(2, request, index, &there, status);
            break;
        case 3:
            MPI_Testsome(2, request, &there, index, status);
            break;
        default:
            MPI_Request_get_status(request[0], &there, MPI_STATUS_IGNORE);
            break;
        }
    MPI_Send(&step, 1, MPI_UINT64_T, from, TAG_GO, MPI_COMM_WORLD);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    if (data != step)
        wrong_in(step, "what was sent earlier or later, as a hint came, is another step's");
}

static void follow_hint(uint64_t step)
{
    int from, to;
    if (!pair_of(step, PAIRS_HINT, &from, &to))
        return;
    if (self.rank == from)
        send_hinted(step, to);
    if (self.rank == to)
        receive_hinted(step, from);
}

/* --- communicators that are made in a step and used until the next ----------------------- */

/* The rank that is no member of the communicator that was made in the step; -1: all are. */
static int left_out(uint64_t step)
{
    bool some = self.constructors && self.ranks > 2 && draw(step, 91303, 3) == 0;
    return some ? draw(step, 91304, self.ranks) : -1;
}

static void use_made(uint64_t step, uint64_t made)
{
    MPI_Comm comm = rare.made;
    int from, to, root = draw(step, 91300, self.ranks), without = left_out(made);
    uint64_t number = self.rank == root ? step : 0, got = step;
    (void)pair_of(step, PAIRS_MAKE, &from, &to);
    if (self.rank == without)
        return;
    if (root != without)
        MPI_Bcast(&number, 1, MPI_UINT64_T, root - (without >= 0 && root > without), comm);
    if (self.rank == from && to != without)
        MPI_Send(&step, 1, MPI_UINT64_T, to - (without >= 0 && to > without), TAG_FREED, comm);
    if (self.rank == to && from != without)
        MPI_Recv(&got, 1, MPI_UINT64_T, from - (without >= 0 && from > without), TAG_FREED, comm,
                 MPI_STATUS_IGNORE);
    if ((root != without && number != step) || got != step)
        wrong_in(step, "what comes on a communicator that was just made is another step's");
}

/* For MPI_Comm_create_group the one who is left out calls nothing. */
static void make_of_group(int without, bool by_members)
{
    MPI_Group all, others;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &without, &others);
    if (!by_members)
        MPI_Comm_create(MPI_COMM_WORLD, others, &rare.made);
    else if (self.rank != without)
        MPI_Comm_create_group(MPI_COMM_WORLD, others, TAG_CREATE_GROUP, &rare.made);
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

static void make_without(uint64_t step, int without)
{
    int way = self.constructors > CARTESIAN ? draw(step, 91305, 3) : 0;
    const int size = self.ranks - 1, periodic = 0;
    if (way == 0)
        make_of_group(without, self.constructors > CREATE_GROUP && draw(step, 91307, 2));
    else if (way == 1 && without == size)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &rare.made);
    else
        MPI_Comm_split_type(MPI_COMM_WORLD,
                            self.rank == without ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &rare.made);
    if ((rare.made == MPI_COMM_NULL) != (self.rank == without))
        wrong_in(self.kept.step,
                 "a rank that is no member has a communicator, or the other way round");
}

/* It has the error handler of the one it is made of, which need not be that of MPI_COMM_WORLD. (In
 * MPI_Comm_create and MPI_Comm_create_group MPICH 4.0.2 does not hand it down.) */
static void make_with_handler(uint64_t step, enum constructor how)
{
    MPI_Errhandler given = draw(step, 91306, 2) ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL, handler;
    MPI_Comm_set_errhandler(rare.made, given);
    construct(how, &rare.made);
    MPI_Comm_get_errhandler(rare.made, &handler);
    if (handler != given && how != CREATE && how != CREATE_GROUP)
        wrong_in(step, "a communicator has another error handler than the one it was made of");
    MPI_Errhandler_free(&handler);
}

static void make_one(uint64_t step)
{
    if (draw(step, 91301, 3) != 0)
        return;
    if (left_out(step) >= 0) {
        make_without(step, left_out(step));
    } else {
        if (draw(step, 91308, 2))
            MPI_Comm_dup(MPI_COMM_WORLD, &rare.made);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, self.rank, &rare.made);
        if (self.constructors)
            make_with_handler(step, (enum constructor)draw(step, 91302, (int)self.constructors));
    }
    use_made(step, step);
}

static void end_made(uint64_t before, uint64_t now)
{
    if (draw(before, 91301, 3) != 0)
        return;
    use_made(now, before);
    if (self.rank != left_out(before))
        MPI_Comm_free(&rare.made);
}

/* --- a large piece of state -------------------------------------------------------------- */

/* Each step changes some numbers, one place after the other, and then the first again. */
static uint64_t piece_places(void)
{
    return (piece_numbers() + PIECE_CHANGES - 1) / PIECE_CHANGES;
}

/* Of number `i` ahead of the step. */
static uint64_t expected_piece(uint64_t step, size_t i)
{
    uint64_t first = i / PIECE_CHANGES;
    if (step <= first)
        return 0;
    return program_mix(first + (step - 1 - first) / piece_places() * piece_places(), i);
}

static void check_piece(uint64_t step)
{
    size_t i = 0;
    while (i < piece_numbers() && piece[i] == expected_piece(step, i))
        i++;
    if (i < piece_numbers())
        wrong_in(step, "a number of the large piece is not what it was");
}

static void change_piece(uint64_t step)
{
    size_t first = step % piece_places() * PIECE_CHANGES;
    for (size_t i = first; i < first + PIECE_CHANGES && i < piece_numbers(); i++)
        piece[i] = program_mix(step, i);
}

/* --- the whole --------------------------------------------------------------------------- */

/* Ahead of what is restored. */
static void rare_register(void)
{
    rare.started = rare.freed = rare.typed = MPI_REQUEST_NULL;
    rare.made = MPI_COMM_NULL;
    checkpoint_register("rare", &rare, sizeof rare);
    if (piece_kib == 0)
        return;
    piece = program_memory(piece_numbers(), sizeof *piece);
    checkpoint_register("piece", piece, piece_numbers() * sizeof *piece);
}

/* none: what the library of that life took for no request. */
static void rare_restored(MPI_Request none)
{
    program_renew_requests(none, &rare.started, 1);
    program_renew_requests(none, &rare.freed, 1);
    program_renew_requests(none, &rare.typed, 1);
}

/* What the step before has left. */
static void rare_begin(uint64_t step)
{
    if (piece_kib > 0)
        check_piece(step);
    if (step == 0)
        return;
    if (feature[STARTED_AGAIN])
        end_started(step - 1);
    if (feature[FREED] > 1) {
        end_freed(step - 1);
        end_typed(step - 1);
    }
    if (feature[MADE])
        end_made(step - 1, step);
}

static void rare_step(uint64_t step)
{
    if (piece_kib > 0)
        change_piece(step);
    if (feature[TESTIMONY]) {
        testify_again(step);
        testify(step);
    }
    if (feature[PARTIAL]) {
        receive_part(step);
        spread_reversed(step);
    }
    if (feature[TOO_LONG])
        receive_too_long(step);
    if (feature[HINTED])
        follow_hint(step);
    if (feature[FREED])
        free_operation(step);
    if (step + 1 == (uint64_t)self.steps)
        return;
    if (feature[STARTED_AGAIN])
        start_again(step);
    if (feature[FREED] > 1) {
        free_communicator(step);
        free_type(step);
    }
    if (feature[MADE])
        make_one(step);
}

#endif
