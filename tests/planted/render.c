/* See render.h. */
#include "planted/render.h"

#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND 1000000000u
#define LIFE_TICKS 1000000000u /* from one life to the next */
#define BYTES 8
#define CONTROL_TAG 100
#define COMM_ID 0x100u
#define FOLDER 2
#define FILE_NUMBER 10u
#define OTHERWISE 0x8000000000000000u /* what wrong bytes differ in */
#define RECORDS_OF_OP 40              /* at most, and those of communicators */

/* --- lives --------------------------------------------------------------------------------- */

static int newest_committed(const struct rendering *rendering)
{
    const struct program *program = rendering->program;
    int newest = 0;
    for (int i = 0; i < rendering->lives; i++)
        for (int line = rendering->life[i].line; line <= program->shape.lines; line++)
            if (line > newest && program->commit[line] < rendering->life[i].cut)
                newest = line;
    return newest;
}

/* A line that was committed and is come to again is taken by all or by none: else nobody can tell
 * whose checkpoints are meant when it is restored. */
static int whole_lines(const struct program *program, int cut, int line, int newest)
{
    bool again = line < newest && cut <= program->commit[newest];
    return again ? program->commit[newest] + 1 : cut;
}

void rendering_draw_lives(struct rendering *rendering)
{
    const struct program *program = rendering->program;
    int restarts = program->shape.restarts;
    rendering->lives = rendering->restored_wrongly = 0;
    for (int i = 0; i <= restarts && i < LIVES_MOST; i++) {
        int newest = newest_committed(rendering), line = newest;
        if (line > 1 && rendering->restored_wrongly < rendering->restored_wrong) {
            line--;
            rendering->restored_wrongly++;
        }
        int from = line > 0 ? program->commit[line] + 1 : 0;
        bool last = i == restarts || i + 1 == LIVES_MOST;
        int cut = last ? program->count : from + draw(program->count - from + 1);
        cut = whole_lines(program, cut, line, newest);
        rendering->life[rendering->lives++] = (struct life){line, cut};
    }
}

static bool is_before(const struct program *program, int op, int line)
{
    return line > 0 && op <= program->checkpoint[line][program->op[op].rank];
}

/* What the protocol does for a line is not done again when it is restored. */
static bool is_of_line(enum op_kind kind)
{
    return kind != OP_SEND && kind != OP_RECV && kind != OP_CALL && kind != OP_DECIDE;
}

static bool is_done(const struct rendering *rendering, int life, int op)
{
    const struct program *program = rendering->program;
    int line = rendering->life[life].line;
    return op < rendering->life[life].cut && !is_before(program, op, line) &&
           !(is_of_line(program->op[op].kind) && program->op[op].number <= line);
}

static int last_of(const struct rendering *rendering)
{
    return rendering->lives - 1;
}

bool is_done_last(const struct rendering *rendering, int op)
{
    return is_done(rendering, last_of(rendering), op);
}

static bool is_replayed(const struct rendering *rendering, int life, int op)
{
    const struct program *program = rendering->program;
    return program->op[op].kind == OP_RECV && is_done(rendering, life, op) &&
           is_before(program, program->message[program->op[op].number].sent,
                     rendering->life[life].line);
}

static bool is_suppressed(const struct rendering *rendering, int life, int op)
{
    const struct program *program = rendering->program;
    const struct message *message = &program->message[program->op[op].number];
    return program->op[op].kind == OP_SEND && is_done(rendering, life, op) && message->got > 0 &&
           is_before(program, message->got, rendering->life[life].line);
}

bool is_replayed_last(const struct rendering *rendering, int op)
{
    return is_replayed(rendering, last_of(rendering), op);
}

bool is_suppressed_last(const struct rendering *rendering, int op)
{
    return is_suppressed(rendering, last_of(rendering), op);
}

bool straddles(const struct program *program, const struct call *call, int line)
{
    int before = 0;
    for (int op = call->first; op <= call->last; op++)
        before += is_before(program, op, line);
    return before > 0 && before <= call->last - call->first;
}

/* --- records ------------------------------------------------------------------------------- */

static struct buffer *buffer_of(struct rendering *rendering, int life, int rank)
{
    struct buffer *buffer = &rendering->buffer[life][rank];
    if (buffer->room < buffer->count + RECORDS_OF_OP) {
        buffer->room = 2 * buffer->room + 8 * RECORDS_OF_OP;
        buffer->record = realloc(buffer->record, buffer->room * sizeof *buffer->record);
        if (buffer->record == NULL)
            exit(1);
    }
    return buffer;
}

static struct record *put(struct rendering *rendering, struct buffer *buffer, enum record_kind kind,
                          enum level level, unsigned call)
{
    struct record *record = &buffer->record[buffer->count++];
    *record = (struct record){.kind = (uint8_t)kind,
                              .level = (uint8_t)level,
                              .call = (uint16_t)call,
                              .enter = ++rendering->clock};
    return record;
}

static void end(struct rendering *rendering, struct record *record)
{
    atomic_store_explicit(&record->leave, ++rendering->clock, memory_order_relaxed);
}

static struct record *put_note(struct rendering *rendering, struct buffer *buffer,
                               enum note_kind kind, uint64_t value)
{
    struct record *note = put(rendering, buffer, RECORD_NOTE, LEVEL_SELF, 0);
    note->tag = (int32_t)kind;
    note->bytes = value;
    note->previous_note = atomic_load(&buffer->header.last_note);
    atomic_store(&buffer->header.last_note, buffer->count);
    atomic_store_explicit(&note->leave, note->enter, memory_order_relaxed);
    return note;
}

static void put_name(struct rendering *rendering, struct buffer *buffer, const char *name)
{
    struct record *text = put(rendering, buffer, RECORD_TEXT, LEVEL_SELF, 0);
    memset(text->text, 0, sizeof text->text);
    snprintf(text->text, sizeof text->text, "%s", name);
}

static uint32_t comm_id(int comm)
{
    return comm == 0 ? COMM_WORLD_ID : COMM_ID + (uint32_t)comm;
}

/* Of the message, with the peer that `rank` sees. */
static void put_message_note(struct rendering *rendering, struct buffer *buffer,
                             enum note_kind kind, int line, const struct message *message, int peer)
{
    struct record *note = put_note(rendering, buffer, kind, (uint64_t)line);
    note->comm = comm_id(message->comm);
    note->peer = peer;
    note->request = (uint32_t)message->tag;
    note->hash = message->hash;
}

/* --- messages ------------------------------------------------------------------------------ */

static struct record *put_send(struct rendering *rendering, struct buffer *buffer, enum level level,
                               const struct message *message, uint64_t hash)
{
    struct record *record = put(rendering, buffer, RECORD_SEND, level, CALL_MPI_Send);
    record->comm = comm_id(message->comm);
    record->peer = message->to;
    record->tag = message->tag;
    record->bytes = BYTES;
    record->hash = hash;
    return record;
}

static struct record *put_recv(struct rendering *rendering, struct buffer *buffer, enum level level,
                               const struct message *message)
{
    struct record *record = put(rendering, buffer, RECORD_RECV, level, CALL_MPI_Recv);
    record->comm = comm_id(message->comm);
    record->want_peer = message->any_source ? PEER_ANY : message->from;
    record->want_tag = message->any_tag ? TAG_ANY : message->tag;
    return record;
}

static void arrive(struct record *record, const struct message *message, uint64_t hash)
{
    record->peer = message->from;
    record->tag = message->tag;
    record->bytes = BYTES;
    record->hash = hash;
}

static void render_send(struct rendering *rendering, int life, int op, enum op_wrong wrong)
{
    const struct program *program = rendering->program;
    const struct message *message = &program->message[program->op[op].number];
    struct buffer *buffer = buffer_of(rendering, life, message->from);
    uint64_t hash = message->hash ^ (wrong == WRONG_SENT_OTHERWISE ? OTHERWISE : 0);
    struct record *app =
        wrong == WRONG_NOT_SENT ? NULL : put_send(rendering, buffer, LEVEL_APP, message, hash);
    if (!is_suppressed(rendering, life, op))
        end(rendering, put_send(rendering, buffer, LEVEL_WIRE, message, hash));
    else if (wrong != WRONG_NO_NOTE)
        put_message_note(rendering, buffer, NOTE_SUPPRESSED, rendering->life[life].line, message,
                         message->to);
    if (app != NULL && wrong == WRONG_TOO_SOON)
        app->call = CALL_MPI_Ssend;
    if (app != NULL)
        end(rendering, app);
}

/* What the protocol says of a message that it delivers in the life that brings it first. */
static void put_class(struct rendering *rendering, struct buffer *buffer,
                      const struct message *message, enum op_wrong wrong)
{
    const struct program *program = rendering->program;
    int sent = program_epoch(program, message->sent), got = program_epoch(program, message->got);
    if (program->shape.protocol != PROTOCOL_C3 || wrong == WRONG_NO_NOTE)
        return;
    if (sent < got || wrong == WRONG_LOGGED)
        put_message_note(rendering, buffer, NOTE_LOGGED, got, message, message->from);
    else if (sent > got)
        put_message_note(rendering, buffer, NOTE_EARLY, sent, message, message->from);
}

static uint64_t other_of_two(const struct program *program, const struct message *message)
{
    for (int i = 0; i < program->message_count; i++) {
        const struct message *other = &program->message[i];
        if (other != message && other->from == message->from && other->to == message->to &&
            other->tag == message->tag && other->comm == message->comm &&
            program->op[other->got].wrong)
            return other->hash;
    }
    return message->hash;
}

static uint64_t delivered_hash(const struct program *program, const struct message *message,
                               enum op_wrong wrong)
{
    if (wrong == WRONG_SWAPPED)
        return other_of_two(program, message);
    return wrong == WRONG_BYTES ? message->hash ^ OTHERWISE : message->hash;
}

/* The program looks which message comes next before it receives every fourth. */
static void put_probe(struct rendering *rendering, struct buffer *buffer,
                      const struct message *message, enum op_wrong wrong)
{
    struct record *probe = put(rendering, buffer, RECORD_PROBE, LEVEL_APP, CALL_MPI_Probe);
    probe->comm = comm_id(message->comm);
    probe->want_peer = probe->peer = message->from;
    probe->want_tag = probe->tag = message->tag;
    probe->bytes = BYTES + (wrong == WRONG_PROBED ? 8 : 0);
    end(rendering, probe);
}

static void render_recv(struct rendering *rendering, int life, int op, enum op_wrong wrong)
{
    const struct program *program = rendering->program;
    const struct message *message = &program->message[program->op[op].number];
    struct buffer *buffer = buffer_of(rendering, life, message->to);
    bool replayed = is_replayed(rendering, life, op);
    if (wrong == WRONG_PROBED || (op % 4 == 0 && wrong == WRONG_NOTHING))
        put_probe(rendering, buffer, message, wrong);
    struct record *app =
        wrong == WRONG_NOT_DELIVERED ? NULL : put_recv(rendering, buffer, LEVEL_APP, message);
    if (!replayed) {
        struct record *wire = put_recv(rendering, buffer, LEVEL_WIRE, message);
        arrive(wire, message, message->hash ^ (wrong == WRONG_ON_WIRE ? OTHERWISE : 0));
        end(rendering, wire);
        put_class(rendering, buffer, message, wrong);
    } else if (wrong != WRONG_NO_NOTE) {
        put_message_note(rendering, buffer, NOTE_REPLAYED, rendering->life[life].line, message,
                         message->from);
    }
    if (app == NULL)
        return;
    arrive(app, message, delivered_hash(program, message, wrong));
    end(rendering, app);
    if (wrong != WRONG_TWICE)
        return;
    struct record *again = put_recv(rendering, buffer, LEVEL_APP, message);
    arrive(again, message, message->hash);
    end(rendering, again);
}

/* The receive that a rank was inside of when the job died. */
static void render_waiting(struct rendering *rendering, int life, int rank)
{
    const struct program *program = rendering->program;
    for (int op = rendering->life[life].cut; op < program->count; op++)
        if (program->op[op].rank == rank && program->op[op].kind != OP_TELL) {
            struct buffer *buffer = buffer_of(rendering, life, rank);
            const struct message *message = &program->message[program->op[op].number];
            if (program->op[op].kind != OP_RECV || draw(2) == 0)
                return;
            put_recv(rendering, buffer, LEVEL_APP, message);
            put_recv(rendering, buffer, LEVEL_WIRE, message);
            return;
        }
}

static void render_control(struct rendering *rendering, int life, const struct op *op)
{
    struct message message = {.from = op->rank, .to = op->peer, .tag = CONTROL_TAG};
    struct record *record =
        put_send(rendering, buffer_of(rendering, life, op->rank), LEVEL_WIRE, &message, 1);
    end(rendering, record);
    record = put_recv(rendering, buffer_of(rendering, life, op->peer), LEVEL_WIRE, &message);
    arrive(record, &message, 1);
    end(rendering, record);
}

/* --- collectives --------------------------------------------------------------------------- */

static const enum call_id functions[CALL_KINDS] = {CALL_MPI_Allreduce, CALL_MPI_Reduce,
                                                   CALL_MPI_Bcast, CALL_MPI_Barrier};

static void fill_call(struct record *record, const struct call *call, int number, int rank)
{
    uint64_t result = 0x500000 + (uint64_t)number;
    bool root = rank == call->root;
    record->comm = comm_id(call->comm);
    record->peer = PEER_NONE;
    if (call->kind == CALL_AS_BARRIER)
        return;
    record->bytes = BYTES;
    if (call->kind != CALL_OF_ALL)
        record->peer = call->root;
    if (call->kind != CALL_FROM_ROOT)
        record->hash = result ^ (uint64_t)(rank + 1) << 32;
    else if (root)
        record->hash = result;
    if (call->kind == CALL_OF_ALL || root == (call->kind == CALL_TO_ROOT))
        record->result_hash = result;
}

/* Each member's part, all inside when the last comes in. */
static void render_call(struct rendering *rendering, int life, int number)
{
    const struct program *program = rendering->program;
    const struct call *call = &program->call[number];
    bool again = straddles(program, call, rendering->life[life].line);
    struct record *open[2 * RANKS_MOST];
    int count = 0;
    for (int op = call->first; op <= call->last; op++) {
        if (!is_done(rendering, life, op))
            continue;
        int rank = program->op[op].rank;
        bool wrong = program->op[op].wrong && life == last_of(rendering);
        struct buffer *buffer = buffer_of(rendering, life, rank);
        open[count] = put(rendering, buffer, RECORD_COLLECTIVE, LEVEL_APP, functions[call->kind]);
        fill_call(open[count], call, number, rank);
        if (wrong && rendering->wrong == WRONG_CALL_RESULT)
            open[count]->result_hash ^= OTHERWISE;
        if (wrong && rendering->wrong == WRONG_CALL_GIVEN)
            open[count]->hash ^= OTHERWISE;
        count++;
        if (again)
            continue;
        open[count] = put(rendering, buffer, RECORD_COLLECTIVE, LEVEL_WIRE, functions[call->kind]);
        fill_call(open[count++], call, number, rank);
    }
    while (count > 0)
        end(rendering, open[--count]);
}

/* --- the store ----------------------------------------------------------------------------- */

static void store(struct rendering *rendering, struct buffer *buffer, enum storage_call what,
                  uint32_t number, const char *path)
{
    struct record *record = put(rendering, buffer, RECORD_STORAGE, LEVEL_SELF, 0);
    record->tag = (int32_t)what;
    record->request = number;
    record->comm = number == FOLDER ? 0 : FOLDER;
    record->bytes = what == STORAGE_WRITE ? BYTES : 0;
    record->result_hash = STORAGE_NO_OFFSET;
    end(rendering, record);
    put_name(rendering, buffer, path);
}

static void render_store(struct rendering *rendering, int life, const struct op *op,
                         enum op_wrong wrong)
{
    struct buffer *buffer = buffer_of(rendering, life, op->rank);
    uint32_t number =
        FILE_NUMBER + (uint32_t)((life * (LINES_MOST + 1) + op->number) * RANKS_MOST + op->rank);
    char path[64], fresh[80];
    snprintf(path, sizeof path, "line-%d.rank-%d", op->number, op->rank);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    store(rendering, buffer, STORAGE_CREATE, number, fresh);
    store(rendering, buffer, STORAGE_WRITE, number, fresh);
    if (wrong != WRONG_NOT_SYNCED)
        store(rendering, buffer, STORAGE_SYNC, number, fresh);
    store(rendering, buffer, STORAGE_RENAME, number, path);
    store(rendering, buffer, STORAGE_SYNC, FOLDER, ".");
}

/* --- a life -------------------------------------------------------------------------------- */

static void render_note(struct rendering *rendering, int life, const struct op *op)
{
    static const enum note_kind kinds[] = {
        [OP_INITIATE] = NOTE_INITIATED, [OP_CHECKPOINT] = NOTE_CHECKPOINT,
        [OP_READY] = NOTE_READY,        [OP_STOP] = NOTE_STOP_LOG,
        [OP_SAVED] = NOTE_SAVED,        [OP_COMMIT] = NOTE_COMMIT,
        [OP_SETTLES] = NOTE_SETTLES,    [OP_PASS] = NOTE_POTENTIAL};
    put_note(rendering, buffer_of(rendering, life, op->rank), kinds[op->kind],
             (uint64_t)op->number);
}

static void render_decision(struct rendering *rendering, int life, const struct op *op,
                            enum op_wrong wrong)
{
    struct buffer *buffer = buffer_of(rendering, life, op->rank);
    struct record *note = put_note(rendering, buffer, NOTE_DECISION, BYTES);
    note->hash = 0x700000 + (uint64_t)op->number * RANKS_MOST + (uint64_t)op->rank;
    note->hash ^= wrong == WRONG_CHOICE ? OTHERWISE : 0;
    put_name(rendering, buffer, "draw");
}

/* A commit that is wrong is noted after the next line's beginning. */
static void render_commit_of_before(struct rendering *rendering, int life, int line)
{
    const struct program *program = rendering->program;
    const struct op *before = line > 1 ? &program->op[program->commit[line - 1]] : NULL;
    if (before != NULL && before->wrong && is_done(rendering, life, program->commit[line - 1]))
        render_note(rendering, life, before);
}

static void render_op(struct rendering *rendering, int life, int at)
{
    const struct program *program = rendering->program;
    const struct op *op = &program->op[at];
    enum op_wrong wrong =
        op->wrong && life == last_of(rendering) ? rendering->wrong : WRONG_NOTHING;
    if (op->kind == OP_SEND)
        render_send(rendering, life, at, wrong);
    else if (op->kind == OP_RECV)
        render_recv(rendering, life, at, wrong);
    else if (op->kind == OP_STORE)
        render_store(rendering, life, op, wrong);
    else if (op->kind == OP_DECIDE)
        render_decision(rendering, life, op, wrong);
    else if (op->kind == OP_TELL && wrong != WRONG_NOT_TOLD)
        render_control(rendering, life, op);
    else if (op->kind != OP_TELL && wrong != WRONG_COMMIT_LATE)
        render_note(rendering, life, op);
    if (op->kind == OP_INITIATE)
        render_commit_of_before(rendering, life, op->number);
}

static void render_comms(struct rendering *rendering, struct buffer *buffer, int rank)
{
    int ranks = rendering->program->shape.ranks;
    for (int comm = 1; comm <= rendering->program->shape.communicators; comm++)
        for (int level = LEVEL_APP; level <= LEVEL_WIRE; level++) {
            struct record *made =
                put(rendering, buffer, RECORD_COMM, (enum level)level, CALL_MPI_Comm_dup);
            made->comm = comm_id(comm);
            made->bytes = COMM_WORLD_ID;
            made->tag = ranks;
            made->peer = rank;
            end(rendering, made);
            struct record *group =
                put(rendering, buffer, RECORD_GROUP, (enum level)level, CALL_MPI_Comm_dup);
            for (int i = 0; i < RECORD_GROUP_MEMBERS; i++)
                group->members[i] = i < ranks ? i : -1;
        }
}

static void begin_life(struct rendering *rendering, int life)
{
    int ranks = rendering->program->shape.ranks, line = rendering->life[life].line;
    rendering->clock = 1000 + (uint64_t)life * LIFE_TICKS;
    for (int rank = 0; rank < ranks; rank++) {
        struct buffer *buffer = &rendering->buffer[life][rank];
        buffer->header = (struct trace_header){.magic = TRACE_MAGIC,
                                               .version = TRACE_VERSION,
                                               .record_bytes = TRACE_RECORD_BYTES,
                                               .rank = rank,
                                               .incarnation = life,
                                               .ranks = ranks,
                                               .world_size = ranks,
                                               .start_ticks = 1000,
                                               .ticks_per_second = TICKS_PER_SECOND,
                                               .one_clock = 1,
                                               .hash_mode = 2,
                                               .program = "drawn"};
        buffer->count = 0;
        buffer = buffer_of(rendering, life, rank);
        render_comms(rendering, buffer, rank);
    }
    for (int rank = 0; line > 0 && rank < ranks; rank++)
        put_note(rendering, buffer_of(rendering, life, rank), NOTE_RESTORED, (uint64_t)line);
}

uint64_t result_hash_of(int rank)
{
    return 0x900000 + (uint64_t)rank;
}

static void end_last(struct rendering *rendering, int life, int rank)
{
    struct buffer *buffer = buffer_of(rendering, life, rank);
    struct record *note = put_note(rendering, buffer, NOTE_RESULT, BYTES);
    note->hash = result_hash_of(rank) ^ (rank < rendering->results_wrong ? OTHERWISE : 0);
    put_name(rendering, buffer, RESULT_NAME);
    if (rank < rendering->holes) {
        put(rendering, buffer, RECORD_NONE, LEVEL_APP, 0);
        put_note(rendering, buffer, NOTE_PHASE, 0);
    }
    atomic_store(&buffer->header.closed, 1);
}

static void end_life(struct rendering *rendering, int life)
{
    int ranks = rendering->program->shape.ranks, victim = draw(ranks);
    if (life < last_of(rendering)) {
        struct record *fault =
            put(rendering, buffer_of(rendering, life, 0), RECORD_FAULT, LEVEL_SELF, 0);
        fault->comm = FAULT_KILL;
        fault->tag = life;
        fault->peer = victim;
        end(rendering, fault);
    }
    for (int rank = 0; rank < ranks; rank++) {
        struct buffer *buffer = &rendering->buffer[life][rank];
        if (life == last_of(rendering))
            end_last(rendering, life, rank);
        else
            render_waiting(rendering, life, rank);
        atomic_store(&buffer->header.next, buffer->count);
        rendering->record_count += buffer->count;
        rendering->trace[rendering->set.count++] =
            (struct trace){rank, life, &buffer->header, buffer->record, buffer->count, NULL, 0};
    }
}

void rendering_write(struct rendering *rendering)
{
    const struct program *program = rendering->program;
    rendering->set = (struct trace_set){.trace = rendering->trace,
                                        .ranks = program->shape.ranks,
                                        .world = program->shape.ranks,
                                        .incarnations = rendering->lives};
    rendering->record_count = 0;
    for (int life = 0; life < rendering->lives; life++) {
        begin_life(rendering, life);
        for (int op = 0; op < rendering->life[life].cut; op++) {
            if (program->op[op].kind == OP_CALL) {
                int number = program->op[op].number;
                /* Nobody gets out of one that not all have come to. */
                if (program->call[number].last < rendering->life[life].cut)
                    render_call(rendering, life, number);
                op = program->call[number].last;
            } else if (is_done(rendering, life, op)) {
                render_op(rendering, life, op);
            }
        }
        end_life(rendering, life);
    }
}

void rendering_release(struct rendering *rendering)
{
    for (int life = 0; life < LIVES_MOST; life++)
        for (int rank = 0; rank < RANKS_MOST; rank++)
            free(rendering->buffer[life][rank].record);
    memset(rendering, 0, sizeof *rendering);
}
