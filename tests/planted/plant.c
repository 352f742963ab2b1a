/* See plant.h. */
#include "planted/plant.h"

#include <stdlib.h>
#include <string.h>

#define SITES_MOST 4096

/* --- where --------------------------------------------------------------------------------- */

static const struct op *op_at(const struct rendering *rendering, int op)
{
    return &rendering->program->op[op];
}

static const struct message *message_of(const struct rendering *rendering, int op)
{
    return &rendering->program->message[op_at(rendering, op)->number];
}

static const struct call *call_of(const struct rendering *rendering, int op)
{
    return &rendering->program->call[op_at(rendering, op)->number];
}

static int restored(const struct rendering *rendering)
{
    return rendering->life[rendering->lives - 1].line;
}

/* Sent and delivered between two lines, in the last life. */
static bool is_plain(const struct rendering *rendering, const struct message *message)
{
    return message->line == 0 && is_done_last(rendering, message->sent) &&
           is_done_last(rendering, message->got);
}

static bool is_plain_send(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_SEND && is_plain(rendering, message_of(rendering, op));
}

static bool is_plain_recv(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_RECV && is_plain(rendering, message_of(rendering, op));
}

static bool is_named_recv(const struct rendering *rendering, int op)
{
    const struct message *message = message_of(rendering, op);
    return is_plain_recv(rendering, op) && !message->any_source && !message->any_tag;
}

static bool same_channel(const struct message *a, const struct message *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag && a->comm == b->comm;
}

/* The next message of the channel; -1: there is none, or not between the same lines. */
static int partner(const struct rendering *rendering, int op)
{
    const struct program *program = rendering->program;
    const struct message *message = message_of(rendering, op);
    for (int i = (int)(message - program->message) + 1; i < program->message_count; i++)
        if (same_channel(&program->message[i], message))
            return is_plain(rendering, &program->message[i]) &&
                           program_epoch(program, program->message[i].sent) ==
                               program_epoch(program, message->sent)
                       ? program->message[i].got
                       : -1;
    return -1;
}

static bool has_partner(const struct rendering *rendering, int op)
{
    return is_plain_recv(rendering, op) && partner(rendering, op) >= 0;
}

static int channel_group(const struct rendering *rendering, int op)
{
    const struct message *message = message_of(rendering, op);
    return ((message->comm * 16 + message->tag) * RANKS_MOST + message->from) * RANKS_MOST +
           message->to;
}

static int number_group(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->number;
}

/* Of the call that all come to in the last life. */
static bool is_plain_call_of_all(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_CALL && is_done_last(rendering, op) &&
           call_of(rendering, op)->kind == CALL_OF_ALL &&
           !straddles(rendering->program, call_of(rendering, op), restored(rendering));
}

static bool is_replayed_call(const struct rendering *rendering, int op, enum call_kind kind)
{
    return op_at(rendering, op)->kind == OP_CALL && is_done_last(rendering, op) &&
           call_of(rendering, op)->kind == kind &&
           straddles(rendering->program, call_of(rendering, op), restored(rendering));
}

static bool is_replayed_all(const struct rendering *rendering, int op)
{
    return is_replayed_call(rendering, op, CALL_OF_ALL);
}

static bool is_replayed_gather(const struct rendering *rendering, int op)
{
    return is_replayed_call(rendering, op, CALL_TO_ROOT);
}

static bool is_replayed_bcast(const struct rendering *rendering, int op)
{
    return is_replayed_call(rendering, op, CALL_FROM_ROOT);
}

static bool is_stored(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_STORE && is_done_last(rendering, op);
}

static bool tells_after(const struct rendering *rendering, int op, enum op_kind before)
{
    return op > 0 && op_at(rendering, op)->kind == OP_TELL && is_done_last(rendering, op) &&
           op_at(rendering, op - 1)->kind == before;
}

static bool tells_saved(const struct rendering *rendering, int op)
{
    return tells_after(rendering, op, OP_SAVED);
}

static bool tells_to_stop(const struct rendering *rendering, int op)
{
    return tells_after(rendering, op, OP_STOP);
}

/* The epochs at the two ends: of the sender before that of the receiver, or after. */
static int epochs_apart(const struct rendering *rendering, int op)
{
    const struct message *message = message_of(rendering, op);
    return program_epoch(rendering->program, message->got) -
           program_epoch(rendering->program, message->sent);
}

static bool is_late(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_RECV && is_done_last(rendering, op) &&
           !is_replayed_last(rendering, op) && epochs_apart(rendering, op) > 0;
}

static bool is_early(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_RECV && is_done_last(rendering, op) &&
           epochs_apart(rendering, op) < 0;
}

static bool is_decided_again(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_DECIDE && is_done_last(rendering, op) &&
           op_at(rendering, op)->number == restored(rendering);
}

static bool is_committed(const struct rendering *rendering, int op)
{
    return op_at(rendering, op)->kind == OP_COMMIT && is_done_last(rendering, op) &&
           op_at(rendering, op)->number < rendering->program->shape.lines;
}

/* --- the table ----------------------------------------------------------------------------- */

#define ANY (-1)
#define ALL_OF_C3 "H C D B.commit"
#define VIOLATED VERDICT_VIOLATION

/* Of messages, and of collectives, between lines; under both protocols. */
#define OF_MESSAGES(id, others, what, where, protocol_is, families)                                \
    {                                                                                              \
        .claim = id, .judged = families, .also = others, .verdict = VIOLATED,                      \
        .protocol = protocol_is, .op = what, .fits = where, .restarts = 1, .ranks = ANY,           \
        .collectives = ANY, .quiet = ANY, .plain = (what) == WRONG_NOT_DELIVERED                   \
    }
/* Of what a protocol does after a restart, or for a line. */
#define OF_C3(id, others, what, where, grouped, times, calls, is_quiet)                            \
    {                                                                                              \
        .claim = id, .judged = ALL_OF_C3, .also = others, .verdict = VIOLATED,                     \
        .protocol = PROTOCOL_C3, .op = what, .fits = where, .group = grouped, .restarts = times,   \
        .ranks = ANY, .collectives = calls, .quiet = is_quiet, .plain = (what) == WRONG_SWAPPED    \
    }
#define OF_LINES(id, families, others, what, calls, is_quiet)                                      \
    {                                                                                              \
        .claim = id, .judged = families, .also = others, .verdict = VIOLATED,                      \
        .protocol = (what) == LINE_CROSSED ? PROTOCOL_BLOCKING : PROTOCOL_C3, .line = what,        \
        .restarts = 0, .ranks = ANY, .collectives = calls, .quiet = is_quiet,                      \
        .plain = (what) == LINE_SPANS                                                              \
    }
#define OF_RUN(id, others, weighs, what, times)                                                    \
    {                                                                                              \
        .claim = id, .judged = ALL_OF_C3, .also = others, .verdict = weighs,                       \
        .protocol = PROTOCOL_C3, .of = what, .restarts = times, .ranks = ANY, .collectives = ANY,  \
        .quiet = ANY                                                                               \
    }

const struct plant plants[] = {
    OF_MESSAGES("H.loss", "C.late.ready", WRONG_NOT_DELIVERED, is_plain_recv, PROTOCOL_C3,
                ALL_OF_C3),
    OF_MESSAGES("H.loss", "", WRONG_NOT_DELIVERED, is_plain_recv, PROTOCOL_BLOCKING, "H B C"),
    OF_MESSAGES("H.orphan", "", WRONG_NOT_SENT, is_plain_send, PROTOCOL_C3, ALL_OF_C3),
    OF_MESSAGES("H.orphan", "", WRONG_NOT_SENT, is_plain_send, PROTOCOL_BLOCKING, "H B C"),
    OF_MESSAGES("H.synchronous", "", WRONG_TOO_SOON, is_plain_send, PROTOCOL_C3, ALL_OF_C3),
    OF_MESSAGES("H.synchronous", "", WRONG_TOO_SOON, is_plain_send, PROTOCOL_BLOCKING, "H B C"),
    OF_MESSAGES("H.duplicate", "", WRONG_TWICE, is_plain_recv, PROTOCOL_C3, ALL_OF_C3),
    OF_MESSAGES("H.duplicate", "", WRONG_TWICE, is_plain_recv, PROTOCOL_BLOCKING, "H B C"),
    OF_MESSAGES("H.payload", "", WRONG_BYTES, is_plain_recv, PROTOCOL_C3, ALL_OF_C3),
    OF_MESSAGES("H.payload", "", WRONG_BYTES, is_plain_recv, PROTOCOL_BLOCKING, "H B C"),
    OF_C3("H.order", "", WRONG_SWAPPED, has_partner, channel_group, 1, ANY, ANY),
    OF_C3("H.collective", "", WRONG_CALL_RESULT, is_plain_call_of_all, number_group, 1, 6, ANY),
    OF_MESSAGES("H.probe", "", WRONG_PROBED, is_named_recv, PROTOCOL_C3, ALL_OF_C3),
    OF_MESSAGES("H.probe", "", WRONG_PROBED, is_named_recv, PROTOCOL_BLOCKING, "H B C"),
    OF_RUN("H.result", "", VIOLATED, OF_RESULTS, 1),
    OF_RUN("H.progress", "", VIOLATED, OF_END, 1),
    OF_LINES("H.line", ALL_OF_C3, "", LINE_OVERDUE, ANY, ANY),
    OF_RUN("H.restore", "C.restore", VIOLATED, OF_RESTORED, 3),
    OF_LINES("B.empty", "H B", "", LINE_CROSSED, ANY, ANY),
    OF_MESSAGES("B.commit", "", WRONG_NOT_SYNCED, is_stored, PROTOCOL_BLOCKING, "H B"),
    OF_C3("C.1.1", "", WRONG_NOT_TOLD, tells_to_stop, NULL, 1, 0, 1),
    OF_LINES("C.1.2", ALL_OF_C3, "", LINE_FLOWS_BACK, ANY, ANY),
    OF_LINES("C.1.3", ALL_OF_C3, "C.late.log C.late.ready", LINE_FLOWS_OVER, ANY, 0),
    OF_C3("C.late.log", "C.class", WRONG_NO_NOTE, is_late, NULL, 1, ANY, 0),
    OF_LINES("C.late.ready", ALL_OF_C3, "", LINE_READY_EARLY, ANY, 0),
    OF_C3("C.late.replay", "", WRONG_NO_NOTE, is_replayed_last, NULL, 1, ANY, 0),
    OF_C3("C.early.list", "C.class", WRONG_NO_NOTE, is_early, NULL, 1, ANY, 0),
    OF_C3("C.early.suppress", "", WRONG_NO_NOTE, is_suppressed_last, NULL, 1, ANY, 0),
    OF_C3("C.early.same", "H.orphan", WRONG_SENT_OTHERWISE, is_suppressed_last, NULL, 1, ANY, 0),
    OF_C3("C.nondet", "", WRONG_CHOICE, is_decided_again, NULL, 1, ANY, ANY),
    OF_C3("C.class", "", WRONG_LOGGED, is_plain_recv, NULL, 1, ANY, ANY),
    OF_LINES("C.epoch", "H C.epoch", "", LINE_SPANS, ANY, ANY),
    OF_C3("C.commit", "", WRONG_NOT_TOLD, tells_saved, number_group, 1, ANY, ANY),
    OF_RUN("C.restore", "H.restore", VIOLATED, OF_RESTORED, 3),
    OF_C3("C.initiate", "", WRONG_COMMIT_LATE, is_committed, NULL, 0, ANY, ANY),
    OF_C3("D.2.1", "C.1.1", WRONG_NOT_TOLD, tells_to_stop, NULL, 1, 3, 1),
    OF_LINES("D.2.2", ALL_OF_C3, "", LINE_CALL_BACK, 3, ANY),
    OF_LINES("D.2.3", ALL_OF_C3, "C.1.1 D.2.1", LINE_CALL_OVER, 3, 1),
    OF_C3("D.all", "", WRONG_CALL_GIVEN, is_replayed_all, number_group, 1, 3, 0),
    OF_C3("D.gather", "", WRONG_CALL_GIVEN, is_replayed_gather, number_group, 1, 3, 0),
    OF_C3("D.bcast", "H.collective", WRONG_CALL_RESULT, is_replayed_bcast, number_group, 1, 3, 0),
    OF_LINES("D.barrier", ALL_OF_C3, "", LINE_BARRIER, 3, ANY),
    {.claim = "I.legal",
     .judged = ALL_OF_C3,
     .also = "",
     .verdict = VERDICT_HARNESS_ERROR,
     .protocol = PROTOCOL_C3,
     .op = WRONG_ON_WIRE,
     .fits = is_plain_recv,
     .restarts = 1,
     .ranks = ANY,
     .collectives = ANY,
     .quiet = ANY},
    OF_RUN("I.complete", "", VERDICT_HARNESS_ERROR, OF_HOLES, 1),
    OF_RUN("I.installed", "", VERDICT_VACUOUS, OF_PLAN, 1),
};
const size_t plant_count = sizeof plants / sizeof plants[0];

/* --- shapes -------------------------------------------------------------------------------- */

struct shape draw_shape(void)
{
    return (struct shape){.protocol = draw(3) == 0 ? PROTOCOL_BLOCKING : PROTOCOL_C3,
                          .ranks = 2 + draw(5),
                          .messages = draw(12),
                          .collectives = draw(3),
                          .wildcards = draw(3) * 30,
                          .lines = draw(4),
                          .restarts = draw(4),
                          .communicators = draw(3),
                          .storage = draw(2) == 0,
                          .quiet = draw(4) == 0};
}

static int at_least(int drawn, int wanted)
{
    return drawn > wanted ? drawn : wanted;
}

void plant_fit(const struct plant *plant, int count, struct shape *shape)
{
    shape->protocol = plant->protocol;
    shape->storage = true;
    shape->restarts = plant->restarts == 0 ? 0 : at_least(shape->restarts, plant->restarts);
    shape->lines = at_least(shape->lines, 1 + 2 * count);
    if (shape->lines > LINES_MOST)
        shape->lines = LINES_MOST;
    shape->messages = at_least(shape->messages, 4 + count);
    if (plant->collectives != ANY)
        shape->collectives = plant->collectives;
    if (plant->quiet != ANY)
        shape->quiet = plant->quiet;
    if (plant->plain)
        shape->wildcards = 0;
    if (plant->of == OF_RESULTS || plant->of == OF_HOLES)
        shape->ranks = at_least(shape->ranks, count < RANKS_MOST ? count : RANKS_MOST);
    if (plant->of == OF_RESTORED)
        shape->restarts = count + 1 < LIVES_MOST ? count + 1 : LIVES_MOST - 1;
}

/* --- planting ------------------------------------------------------------------------------ */

/* Every other line at most: some wrongs reach into the next. */
static int plant_lines(struct program *program, enum line_wrong wrong, int count)
{
    int planted = 0;
    memset(program->wrong, 0, sizeof program->wrong);
    for (int line = 1 + draw(2); line < program->shape.lines && planted < count; line += 2) {
        program->wrong[line] = wrong;
        planted++;
    }
    return planted;
}

static bool is_taken(const struct plant *plant, const struct rendering *rendering, const int *site,
                     int count, int op)
{
    for (int i = 0; i < count; i++)
        if (site[i] == op || (plant->group != NULL &&
                              plant->group(rendering, site[i]) == plant->group(rendering, op)))
            return true;
    return false;
}

static int plant_ops(const struct plant *plant, struct program *program,
                     const struct rendering *rendering, int count)
{
    static int site[SITES_MOST];
    int sites = 0, planted = 0;
    for (int op = 0; op < program->count && sites < SITES_MOST; op++)
        if (plant->fits(rendering, op))
            site[sites++] = op;
    for (; planted < count && planted < sites; planted++) {
        int other = planted + draw(sites - planted), moved = site[planted];
        site[planted] = site[other];
        site[other] = moved;
        if (is_taken(plant, rendering, site, planted, site[planted])) {
            site[planted--] = site[--sites];
            continue;
        }
    }
    for (int i = 0; i < planted; i++) {
        program->op[site[i]].wrong = true;
        if (plant->op == WRONG_SWAPPED)
            program->op[partner(rendering, site[i])].wrong = true;
    }
    return planted;
}

static int plant_in_run(const struct plant *plant, struct planted_run *run, int count)
{
    struct rendering *rendering = &run->rendering;
    int ranks = run->program.shape.ranks;
    struct plan_step step = plan_step_default(ACTION_KILL);
    struct error error = {0};
    switch (plant->of) {
    case OF_RESULTS:
        return rendering->results_wrong = count < ranks ? count : ranks;
    case OF_HOLES:
        return rendering->holes = count < ranks ? count : ranks;
    case OF_RESTORED:
        return rendering->restored_wrongly;
    case OF_END:
        run->facts.end = RUN_DEADLOCK;
        return 1;
    case OF_PLAN:
        step.victims = 1;
        for (int i = 0; i < count; i++)
            if (plan_add(&run->plan, &step, &error) != OK)
                exit(1);
        run->facts.plan = &run->plan;
        return count;
    default:
        return plant->op != WRONG_NOTHING ? plant_ops(plant, &run->program, rendering, count) : 0;
    }
}

static void fill_facts(struct planted_run *run)
{
    int ranks = run->program.shape.ranks;
    run->facts = (struct run_facts){.ranks = ranks,
                                    .incarnations = run->rendering.lives,
                                    .end = RUN_FINISHED,
                                    .end_text = "as drawn",
                                    .reference_count = (size_t)ranks,
                                    .references = run->reference,
                                    .unreceived_known = true};
    for (int rank = 0; rank < ranks; rank++)
        run->reference[rank] = (struct reference_result){
            .rank = rank, .name = RESULT_NAME, .bytes = 8, .hash = result_hash_of(rank)};
}

int planted_run_draw(struct planted_run *run, const struct shape *shape, const struct plant *plant,
                     int count)
{
    struct rendering *rendering = &run->rendering;
    int planted = 0;
    run->program.shape = *shape;
    memset(run->program.wrong, 0, sizeof run->program.wrong);
    if (plant != NULL && plant->line != LINE_RIGHT)
        planted = plant_lines(&run->program, plant->line, count);
    program_draw(&run->program);
    rendering->program = &run->program;
    rendering->wrong = plant != NULL ? plant->op : WRONG_NOTHING;
    rendering->results_wrong = rendering->holes = 0;
    rendering->restored_wrong = plant != NULL && plant->of == OF_RESTORED ? count : 0;
    rendering_draw_lives(rendering);
    plan_release(&run->plan);
    plan_init(&run->plan);
    fill_facts(run);
    if (plant != NULL)
        planted += plant_in_run(plant, run, count);
    rendering_write(rendering);
    return planted;
}

void planted_run_release(struct planted_run *run)
{
    rendering_release(&run->rendering);
    plan_release(&run->plan);
}
