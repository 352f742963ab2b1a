/* See move.h. */
#include "cocheck/move.h"

#include "cocheck/control.h"
#include "cocheck/rank_state.h"
#include "cocheck/transport.h"
#include "common/base/fresh.h"
#include "common/messages/layer.h"
#include "faultline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HELLO 0x315645484b434f43u /* what a connection begins with */
#define PAUSE_NS 200000           /* between two looks of a process that is no rank */
#define END_SECONDS 20            /* in which the library ends a job that has lost a process */
#define PART_BYTES (256 << 10)    /* of a piece, copied while a cache still has it */

/* The first thing on a connection. After it: the bytes of layer_prologue and of rank_state_put, the
 * table of the registered pieces, the pieces. */
struct hello {
    uint64_t hello; /* HELLO */
    uint64_t line;
    int64_t rank;
    uint64_t own_bytes;      /* of rank_state_put */
    uint64_t prologue_bytes; /* of layer_prologue */
    uint64_t piece_count;    /* rows of the table: struct stored_piece */
};

static struct {
    struct transport listener;  /* of a skeleton */
    transport_address *address; /* by process: where it listens; 0 */
    struct transport arriving;  /* what is still to be read at checkpoint_restore */
    struct hello hello;
    char *own; /* hello.own_bytes; owned */
} moving = {.listener = {-1}, .arriving = {-1}};

void move_open(void)
{
    struct error error;
    transport_address mine = 0;
    if (self.rank == NO_RANK)
        must(transport_listen(&moving.listener, self.options.host, &mine, &error), &error);
    moving.address = memory((size_t)self.processes, sizeof *moving.address);
    PMPI_Allgather(&mine, 1, MPI_UINT64_T, moving.address, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

void move_close(void)
{
    transport_close(&moving.listener);
    transport_close(&moving.arriving);
    free(moving.address);
    moving.address = NULL;
}

/* A connection that breaks: the process at its other end has died, and the library ends the job of
 * which it was a part. A process that ended the job itself would be the first to be blamed. */
static void carried(enum error_code code, const struct error *error)
{
    if (code == ERROR_IO)
        sleep(END_SECONDS);
    must(code, error);
}

/* ---- a process that is no rank ------------------------------------------------------------------
 */

static void pause_between_looks(void)
{
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
}

/* A connection is seen outside MPI. So the answer is noted (faultline_drawn), and a replay
 * gets the same one: a connection that comes earlier waits, one that comes later is waited for. */
static bool has_come(bool *there)
{
    struct error error;
    if (!*there)
        must(transport_accept(&moving.listener, &moving.arriving, there, &error), &error);
    bool seen = *there;
    faultline_drawn(NULL, &seen, sizeof seen);
    while (seen && !*there) {
        pause_between_looks();
        must(transport_accept(&moving.listener, &moving.arriving, there, &error), &error);
    }
    return seen;
}

/* As nobody until the end of the job, or until a state comes; then true. */
static bool wait_as_nobody(void)
{
    for (bool there = false; !self.ended;) {
        attend();
        if (moving.listener.fd >= 0 && has_come(&there))
            return true;
        pause_between_looks();
    }
    return false;
}

/* The program never sees this process again: it is where it went, or was never here. */
_Noreturn static void leave(void)
{
    finish();
    PMPI_Finalize();
    exit(EXIT_SUCCESS);
}

/* ---- to go --------------------------------------------------------------------------------------
 */

static void say_hello(struct transport *end, const struct state *state)
{
    struct error error;
    struct bytes own = {0}, prologue = {0};
    rank_state_put(&own);
    layer_prologue(&prologue);
    const struct hello hello = {.hello = HELLO,
                                .line = self.line,
                                .rank = self.rank,
                                .own_bytes = own.size,
                                .prologue_bytes = prologue.size,
                                .piece_count = state->count};
    carried(transport_send(end, &hello, sizeof hello, &error), &error);
    carried(transport_send(end, prologue.data, prologue.size, &error), &error);
    carried(transport_send(end, own.data, own.size, &error), &error);
    bytes_release(&prologue);
    bytes_release(&own);
}

static void send_pieces(struct transport *end, const struct state *state)
{
    struct error error;
    for (size_t i = 0; i < state->count; i++)
        carried(transport_send(end, &state->piece[i].as_stored, sizeof state->piece[i].as_stored,
                               &error),
                &error);
    phase("mid-transfer");
    for (size_t i = 0; i < state->count; i++)
        carried(transport_send(end, state->piece[i].data, state->piece[i].as_stored.bytes, &error),
                &error);
}

void move_to(int process)
{
    struct error error;
    struct transport end = TRANSPORT_CLOSED;
    phase("before-transfer");
    carried(transport_connect(&end, moving.address[process], &error), &error);
    /* From the first byte on the other may say that it is this rank. */
    faultline_becomes(FAULTLINE_NO_RANK);
    say_hello(&end, layer_image_state());
    send_pieces(&end, layer_image_state());
    transport_close(&end);
    self.rank = NO_RANK;
    layer_become(NO_RANK, NULL, 0);
    phase("after-transfer");
    wait_as_nobody();
    leave();
}

/* ---- to come ------------------------------------------------------------------------------------
 */

static char *receive_row(uint64_t bytes)
{
    struct error error;
    char *row = memory(1, bytes);
    carried(transport_receive(&moving.arriving, row, bytes, &error), &error);
    return row;
}

/* Those that migrate in the same line are nowhere before they have arrived, too. */
static void suspend_movers(void)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank && options_moves(&self.options, rank, self.line))
            layer_suspend(rank);
}

/* Of ranks that have migrated before: this process has the table, but was no rank then. */
static void note_addresses(void)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank && layer_process(rank) != rank)
            faultline_address((uint64_t)rank, (uint64_t)layer_comm(), layer_process(rank));
}

/* What the program does here until checkpoint_restore it has done there: it is to see the same. */
static void become(void)
{
    char *prologue = receive_row(moving.hello.prologue_bytes);
    moving.own = receive_row(moving.hello.own_bytes);
    self.rank = (int)moving.hello.rank;
    self.line = moving.hello.line;
    self.store.rank = self.rank;
    faultline_becomes((uint64_t)self.rank);
    layer_become(self.rank, prologue, moving.hello.prologue_bytes);
    note_addresses();
    suspend_movers();
    free(prologue);
}

void move_wait(void)
{
    struct error error;
    struct hello *hello = &moving.hello;
    phase("skeleton-waits");
    if (!wait_as_nobody())
        leave();
    transport_close(&moving.listener);
    carried(transport_receive(&moving.arriving, hello, sizeof *hello, &error), &error);
    if (hello->hello != HELLO || hello->rank < 0 || hello->rank >= self.ranks)
        die("what came to skeleton process %d is no rank's state", self.process);
    become();
}

/* The program must have registered the same here. */
static void check_table(const struct state *state)
{
    struct error error;
    struct stored_piece theirs;
    if (moving.hello.piece_count != state->count)
        die("rank %d has registered %zu pieces of state here, %" PRIu64 " where it comes from",
            self.rank, state->count, moving.hello.piece_count);
    for (size_t i = 0; i < state->count; i++) {
        const struct stored_piece *mine = &state->piece[i].as_stored;
        carried(transport_receive(&moving.arriving, &theirs, sizeof theirs, &error), &error);
        if (memcmp(&theirs, mine, sizeof theirs) != 0)
            die("rank %d has registered '%s' of %" PRIu64 " bytes here, '%.*s' of %" PRIu64
                " where it comes from",
                self.rank, mine->name, mine->bytes, STATE_NAME_BYTES - 1, theirs.name,
                theirs.bytes);
    }
}

/* The program's memory and the image of it are the same then: each part goes into both at once,
 * while the next one is on its way. */
static void receive_piece(const struct piece *here, const struct piece *image)
{
    struct error error;
    uint64_t bytes = here->as_stored.bytes;
    fresh_expect(here->data, bytes);
    for (uint64_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < PART_BYTES ? bytes - done : PART_BYTES;
        carried(transport_receive(&moving.arriving, (char *)here->data + done, part, &error),
                &error);
        memcpy((char *)image->data + done, (char *)here->data + done, part);
    }
}

bool move_arrive(void)
{
    const struct state *state = layer_state();
    if (moving.arriving.fd < 0)
        return false;
    phase("before-arrival");
    check_table(state);
    const struct state *image = layer_image_room();
    for (size_t i = 0; i < state->count; i++)
        receive_piece(&state->piece[i], &image->piece[i]);
    transport_close(&moving.arriving);
    rank_state_take(moving.own, moving.hello.own_bytes, true);
    control_send(CONTROL_ADDRESS, COORDINATOR, moving.hello.line, (uint64_t)self.rank);
    free(moving.own);
    moving.own = NULL;
    phase("after-arrival");
    return true;
}
