/* See line.h. A line goes in stages. A rank sends each stage to all others in a letter, behind
 * everything that it has sent before:
 *
 * - HALTED: the program sends no more. When all others have sent this stage, everything that their
 *   programs have sent is here.
 * - FLUSHED: the layer, which answers synchronous messages, sends no more either. When all others
 *   have sent this stage, nothing is on its way to this rank. Messages along trees are passed on,
 *   so with trees there are as many of this stage as a tree is deep.
 * - EMPTY: nothing is on its way to this rank. When all others have sent this stage, nothing is on
 *   its way to anybody, and this rank saves itself.
 * - SAVED: when all others have sent this stage, the line before is not needed any more.
 *
 * A rank that dies goes on from the newest line that all have saved: all others still have what it
 * takes. It may have saved the next one as well. But from there it would neither log again what it
 * has sent before that line, nor be sent again the determinants that it stored for others; and a
 * rank that has not saved that line may need both. */
#include "common/logging/line.h"

#include "common/logging/logging.h"
#include "common/logging/recovery.h"
#include "common/logging/trees.h"
#include "common/messages/tree.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

enum stage { HALTED, FLUSHED, EMPTY, SAVED, STAGES };

static struct {
    unsigned passed; /* potential checkpoints since the last line */
    unsigned rounds; /* of FLUSHED */
    uint64_t stage;  /* the newest that this rank has sent: see number_of */
    uint64_t *heard; /* by rank: likewise */
} lines;

static uint64_t stages(void)
{
    return STAGES - 1 + lines.rounds;
}

/* Of a round of FLUSHED, from 0; 0 of the others. */
static unsigned number_of(enum stage stage, unsigned round)
{
    return stage + (stage > FLUSHED ? lines.rounds - 1 : round);
}

void line_open(void)
{
    lines.rounds = this_logger.trees ? 1 + (unsigned)tree_depth(self.ranks) : 1;
    lines.heard = memory((size_t)self.ranks, sizeof *lines.heard);
}

void line_close(void)
{
    free(lines.heard);
}

void line_control(int from, unsigned kind, uint64_t line, const void *data, size_t bytes)
{
    uint32_t stage;
    (void)kind;
    (void)bytes;
    memcpy(&stage, data, sizeof stage);
    if (line * stages() + stage > lines.heard[from])
        lines.heard[from] = line * stages() + stage;
}

void line_newcomer(int rank)
{
    lines.heard[rank] = 0;
    if (lines.stage > 0)
        logging_send_stage(rank, lines.stage / stages(), (unsigned)(lines.stage % stages()));
}

static bool all_are_as_far(void *context)
{
    (void)context;
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank && lines.heard[rank] < lines.stage)
            return false;
    return true;
}

/* Nobody sends the stages of before to a process in its past again. Where that goes on, the process
 * before has waited long enough. */
static bool was_passed(void *context)
{
    return !layer_past_is_open() && (layer_past_goes_on() || all_are_as_far(context));
}

/* Waits until all others are as far. */
static void pass(uint64_t line, unsigned number)
{
    lines.stage = line * stages() + number;
    logging_send_stage_to_all(line, number);
    layer_wait(was_passed, NULL);
}

static void stage(uint64_t line, enum stage stage)
{
    unsigned rounds = stage == FLUSHED ? lines.rounds : 1;
    for (unsigned round = 0; round < rounds; round++)
        pass(line, number_of(stage, round));
}

static void save(uint64_t line)
{
    struct bytes extra = {0}, under_way = {0};
    struct error error;
    phase("before-checkpoint");
    layer_image();
    self.line = line;
    faultline_checkpoint(line);
    bytes_put_number(&extra, self.rsn);
    bytes_put_number(&extra, self.delivered);
    bytes_put_number(&extra, lines.passed);
    trees_write(&under_way);
    bytes_put_row(&extra, under_way.data, under_way.size);
    bytes_release(&under_way);
    layer_save_image(&extra);
    must(line_save_with(&self.store, line, layer_image_state(), extra.data, extra.size, &error),
         &error);
    bytes_release(&extra);
    faultline_saved(line);
    phase("after-checkpoint");
}

/* All have saved the newest line. (Nobody commits it.) */
static void drop_before(void)
{
    phase("before-drop");
    logging_drop_before(self.line);
    if (self.line > 1)
        line_remove(&self.store, self.line - 1);
    phase("after-drop");
}

bool line_potential_checkpoint(void)
{
    uint64_t line = self.line + 1;
    if (++lines.passed < self.every)
        return false;
    lines.passed = 0;
    phase("before-halt");
    stage(line, HALTED);
    phase("halted");
    stage(line, FLUSHED);
    phase("flushed");
    stage(line, EMPTY);
    save(line);
    stage(line, SAVED);
    drop_before();
    return true;
}

/* --- restored --------------------------------------------------------------------------------- */

/* The newest line that all have saved. All others have saved `others`; this rank may have saved
 * only the one before it. LINE_NONE: there is none. */
static uint64_t find_line(uint64_t others)
{
    for (uint64_t line = others; line > LINE_NONE && line + 1 >= others; line--)
        if (line_is_saved(&self.store, line))
            return line;
    if (others > 1)
        die("no line of this rank is there; others have saved line %llu",
            (unsigned long long)others);
    return LINE_NONE;
}

/* What this rank's team can go on from together. If this rank has saved the one after it, it will
 * save that again. */
static void go_back_to(uint64_t line)
{
    line_remove(&self.store, line + 1);
    self.line = line;
}

static void read_line(const void *stored, uint64_t bytes)
{
    struct reader in = {.next = stored, .left = bytes};
    self.rsn = reader_number(&in);
    self.delivered = reader_number(&in);
    lines.passed = (unsigned)reader_number(&in);
    struct reader under_way = reader_row(&in);
    if (in.failed)
        die("the saved line is damaged");
    trees_read(under_way);
    layer_read_image(in.next, in.left);
    lines.stage = self.line * stages() + number_of(SAVED, 0);
}

static void begin_at_line(void)
{
    struct error error;
    void *stored;
    uint64_t bytes;
    if (self.line == LINE_NONE) {
        layer_image();
        return;
    }
    must(line_load_with(&self.store, self.line, layer_state(), &stored, &bytes, &error), &error);
    read_line(stored, bytes);
    free(stored);
}

bool line_restore(void)
{
    phase("before-load");
    self.line = find_line(recovery_line_of_others());
    go_back_to(recovery_gather());
    begin_at_line();
    faultline_restored(self.line);
    phase("restored");
    if (self.line != LINE_NONE) {
        faultline_saved(self.line); /* the process before may have died before it said so */
        logging_send_stage_to_all(self.line, number_of(SAVED, 0));
    }
    logging_restart();
    recovery_relive();
    return self.line != LINE_NONE;
}

void line_restart(void)
{
    struct error error;
    must(line_newest_saved(&self.store, &self.line, &error), &error);
    if (self.line != LINE_NONE)
        phase("before-load");
    go_back_to(recovery_agree_on(self.line));
    begin_at_line();
    if (self.line == LINE_NONE)
        return;
    faultline_restored(self.line);
    phase("restored");
    faultline_saved(self.line);
    line_remove(&self.store, self.line - 1); /* nobody has died before all had come here */
    logging_restart();
}

/* The rest of what the process before did in its line, if others are not known to have seen it go
 * on from there. */
static bool has_gone_on(void *context)
{
    return !layer_past_is_open() && (layer_in_past() || all_are_as_far(context));
}

void line_await_others(void)
{
    layer_wait(has_gone_on, NULL);
    drop_before();
}

/* --- the end ---------------------------------------------------------------------------------- */

void line_finish(void)
{
    do {
        stage(self.line + 1, HALTED);
        stage(self.line + 1, FLUSHED);
        stage(self.line + 1, EMPTY);
    } while (!recovery_all_are_well());
}
