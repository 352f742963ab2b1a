/* What a diagram shows of a run, and where: pairs that are one event, the slice around a witness,
 * what messages are against the lines, columns that respect what happened before what. */
#include "inline_trace.h"
#include "reports/diagram/labels.h"
#include "reports/text/brief.h"
#include "reports/walk/arrows.h"
#include "reports/walk/fold.h"
#include "reports/walk/layout.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAPS 3000 /* of the long run: many more than a slice has room for */
#define LAP_BYTES 400
#define MOST 100

/* A run with all that is made of it. */
struct drawn {
    struct trace_set set;
    struct links links;
    struct slice slice;
    struct arrows arrows;
    struct layout layout;
};

static void draw(const char *text, const struct event_ref *witness, size_t count, size_t most,
                 struct drawn *drawn)
{
    struct error error = {0};
    struct slice_wish wish = {.witness = witness, .witness_count = count, .most = most};
    struct layout_wish all = {.column_width = 10};
    memset(drawn, 0, sizeof *drawn);
    inline_trace(text, &drawn->set);
    if (links_read(&drawn->set, &drawn->links, &error) != OK) {
        printf("not ok - %s\n", error.text);
        exit(1);
    }
    slice_read(&drawn->set, &drawn->links, &wish, &drawn->slice);
    arrows_read(&drawn->slice, &drawn->links, &drawn->arrows);
    layout_make(&drawn->slice, &drawn->arrows, &all, &drawn->layout);
}

static void drop(struct drawn *drawn)
{
    layout_release(&drawn->layout);
    arrows_release(&drawn->arrows);
    slice_release(&drawn->slice);
    links_release(&drawn->links);
    trace_set_release(&drawn->set);
}

static size_t at(const struct drawn *drawn, int rank, int incarnation, uint64_t index)
{
    struct event_ref event = {rank, incarnation, index};
    return slice_find(&drawn->slice, &event);
}

static const struct slice_event *event(const struct drawn *drawn, int rank, int incarnation,
                                       uint64_t index)
{
    size_t found = at(drawn, rank, incarnation, index);
    return found != SLICE_NONE ? &drawn->slice.event[found] : NULL;
}

static size_t column(const struct drawn *drawn, int rank, int incarnation, uint64_t index)
{
    size_t found = at(drawn, rank, incarnation, index);
    return found != SLICE_NONE ? drawn->layout.spot[found].column : SLICE_NONE;
}

/* The arrow that begins or ends at the event; NULL: none. */
static const struct arrow *arrow(const struct drawn *drawn, bool from, int rank, int incarnation,
                                 uint64_t index)
{
    size_t found = at(drawn, rank, incarnation, index);
    for (size_t i = 0; found != SLICE_NONE && i < drawn->arrows.count; i++)
        if ((from ? drawn->arrows.arrow[i].from : drawn->arrows.arrow[i].to) == found)
            return &drawn->arrows.arrow[i];
    return NULL;
}

static bool is_kind(const struct arrow *arrow, enum arrow_kind kind)
{
    return arrow != NULL && arrow->kind == kind;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static void test_folds(void)
{
    struct trace_set set;
    uint64_t other = 0;
    inline_trace("ranks 2\n"
                 "r0#0 app send MPI_Send to 1 tag 7 bytes 8 at 100 until 200\n"
                 "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 at 110 until 120\n"
                 "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 at 130 until 140\n"
                 "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 at 150 until 160\n"
                 "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 at 300 until 310\n"
                 "r0#0 app call MPI_Waitall at 400 until 500\n"
                 "r0#0 wire call MPI_Waitall at 410 until 490\n"
                 "r0#0 wire complete MPI_Waitall request 1 at 410 until 490\n"
                 "r0#0 wire complete MPI_Waitall request 2 at 410 until 490\n"
                 "r0#0 app complete MPI_Waitall request 1 at 400 until 500\n"
                 "r0#0 app complete MPI_Waitall request 2 at 400 until 500\n"
                 "r0#0 app send MPI_Send to 1 tag 7 bytes 8 at 600 until 700\n"
                 "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 at 610 until 620\n",
                 &set);
    const struct trace *trace = &set.trace[0];
    check(fold_above(trace, 1, &other) && other == 0, "a send inside the send is that send");
    check(!fold_above(trace, 2, &other), "a second one is something else");
    check(!fold_above(trace, 3, &other), "so is one with another tag");
    check(!fold_above(trace, 4, &other), "and one after the call");
    check(!fold_above(trace, 12, &other), "and one with another tag, were it the only one");
    check(!fold_above(trace, 0, &other), "what is not of the wire is folded into nothing");
    check(fold_below(trace, 0, &other) && other == 1, "and the other way round");
    check(fold_above(trace, 6, &other) && other == 5, "a call as a whole");
    bool first = fold_above(trace, 7, &other) && other == 9;
    check(first && fold_above(trace, 8, &other) && other == 10,
          "of several parts of a call the k-th is the k-th");
    trace_set_release(&set);
}

/* --- the slice -------------------------------------------------------------------------------- */

/* Rank 0 tells rank 1, lap by lap; rank 2 is for itself. Rank 0 takes checkpoint 1 before all. */
static char *long_run(void)
{
    char *text = calloc(LAPS + 2, LAP_BYTES);
    size_t used = (size_t)sprintf(text, "ranks 3\nr0#0 note checkpoint 1 at 50\n");
    for (unsigned lap = 1; lap <= LAPS; lap++)
        used += (size_t)sprintf(
            text + used,
            "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash %#x at %u until %u\n"
            "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash %#x at %u until %u\n"
            "r2#0 wire call MPI_Comm_rank at %u until %u\n",
            lap, lap * 100, lap * 100 + 10, lap, lap * 100 + 20, lap * 100 + 30, lap * 100 + 40,
            lap * 100 + 50);
    return text;
}

static void test_slice(void)
{
    struct drawn drawn;
    struct event_ref witness[] = {{1, 0, LAPS / 2}, {2, 0, 5}};
    char *text = long_run();
    draw(text, witness, 2, MOST, &drawn);
    check(drawn.slice.count == MOST && drawn.slice.total == 3 * LAPS + 1, "%zu of %d events",
          drawn.slice.count, (int)drawn.slice.total);
    const struct slice_event *one = event(&drawn, 1, 0, LAPS / 2);
    check(one != NULL && one->witness && one->related, "the witness is in it");
    check(event(&drawn, 2, 0, 5) != NULL && event(&drawn, 2, 0, 5)->witness, "all of it");
    one = event(&drawn, 0, 0, LAPS / 2 + 1);
    check(one != NULL && one->related && !one->witness, "the send of its message is, and related");
    check(event(&drawn, 0, 0, 0) != NULL, "a checkpoint is, however far away");
    check(event(&drawn, 2, 0, 4) != NULL && event(&drawn, 2, 0, 4)->related,
          "what a witness did before");
    check(event(&drawn, 0, 0, LAPS) == NULL, "the end of the run is not");
    one = event(&drawn, 0, 0, LAPS / 2 + 2);
    check(one == NULL || !one->related, "what comes after the witness is not related");
    size_t gaps = 0, wrong = 0;
    for (size_t i = 1; i < drawn.slice.count; i++) {
        const struct slice_event *own = &drawn.slice.event[i];
        bool left_out = own->place == own[-1].place && own->own != own[-1].own + 1;
        gaps += left_out;
        wrong += own->place == own[-1].place && own->gap != left_out;
    }
    check(gaps > 0 && wrong == 0, "there is a gap where events are left out: %zu", gaps);
    drop(&drawn);
    draw(text, NULL, 0, MOST, &drawn);
    check(event(&drawn, 0, 0, LAPS) != NULL && event(&drawn, 0, 0, LAPS / 2) == NULL,
          "without a witness the end of the run is shown");
    drop(&drawn);
    free(text);
}

/* --- messages --------------------------------------------------------------------------------- */

static void test_messages(void)
{
    struct drawn drawn;
    struct event_ref delivery = {1, 0, 0};
    draw("ranks 2\n"
         "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x1 at 100 until 130\n"
         "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x1 at 110 until 120\n"
         "r1#0 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1 at 90 until 150\n"
         "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1 at 95 until 140\n"
         "r0#0 app send MPI_Send to 1 tag 8 bytes 8 hash 0x2 at 200 until 230\n"
         "r0#0 wire send MPI_Send to 1 tag 8 bytes 8 hash 0x2 at 210 until 220\n"
         "r0#0 note checkpoint 1 at 300\n"
         "r0#0 app send MPI_Send to 1 tag 9 bytes 8 hash 0x3 at 400 until 430\n"
         "r0#0 wire send MPI_Send to 1 tag 9 bytes 8 hash 0x3 at 410 until 420\n"
         "r0#0 wire send MPI_Send to 1 tag 99 bytes 4 hash 0x9 at 440 until 450\n"
         "r1#0 app recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x3 at 500 until 550\n"
         "r1#0 wire recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x3 at 510 until 540\n"
         "r1#0 wire recv MPI_Recv from 0 tag 99 got 0 tag 99 bytes 4 hash 0x9 at 560 until 570\n"
         "r1#0 note checkpoint 1 at 600\n"
         "r1#0 app recv MPI_Recv from 0 tag 8 got 0 tag 8 bytes 8 hash 0x2 at 700 until 750\n"
         "r1#0 wire recv MPI_Recv from 0 tag 8 got 0 tag 8 bytes 8 hash 0x2 at 710 until 740\n",
         &delivery, 1, MOST, &drawn);
    check(drawn.slice.count == 10 && drawn.slice.shown == 16, "pairs are one event: %zu of %d",
          drawn.slice.count, (int)drawn.slice.shown);
    check(at(&drawn, 0, 0, 1) == at(&drawn, 0, 0, 0), "both names find it");
    check(is_kind(arrow(&drawn, true, 0, 0, 0), ARROW_INTRA), "within an epoch");
    check(is_kind(arrow(&drawn, true, 0, 0, 2), ARROW_LATE), "sent before, delivered after: late");
    check(is_kind(arrow(&drawn, true, 0, 0, 5), ARROW_EARLY), "the other way round: early");
    check(is_kind(arrow(&drawn, true, 0, 0, 7), ARROW_CONTROL), "what is of the wire alone");
    check(drawn.arrows.count == 4, "and each message once: %zu", drawn.arrows.count);
    check(event(&drawn, 0, 0, 0)->related && !event(&drawn, 0, 0, 2)->related,
          "what a delivery took in happened before it, though it was entered before");
    check(column(&drawn, 0, 0, 0) < column(&drawn, 1, 0, 0),
          "a delivery stands right of its send, though it was entered before");
    drop(&drawn);
}

static bool rises(const struct drawn *drawn)
{
    for (size_t i = 1; i < drawn->slice.count; i++)
        if (drawn->slice.event[i].place == drawn->slice.event[i - 1].place &&
            drawn->layout.spot[i].x <= drawn->layout.spot[i - 1].x)
            return false;
    for (size_t i = 0; i < drawn->arrows.count; i++) {
        const struct arrow *one = &drawn->arrows.arrow[i];
        if (arrow_is_forward(one) &&
            drawn->layout.spot[one->from].column >= drawn->layout.spot[one->to].column)
            return false;
    }
    return true;
}

static void test_recovery(void)
{
    struct drawn drawn;
    draw("ranks 2\n"
         "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x1 at 100 until 130\n"
         "r0#0 note checkpoint 1 at 200\n"
         "r0#0 app send MPI_Send to 1 tag 8 bytes 8 hash 0x2 at 210 until 230\n"
         "r1#0 app recv MPI_Recv from 0 tag 8 got 0 tag 8 bytes 8 hash 0x2 at 240 until 250\n"
         "r1#0 note checkpoint 1 at 300\n"
         "r1#0 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1 at 400 until 450\n"
         "r0#0 fault kill step 1 peer 1 at 500\n"
         "r0#1 note restored 1 at 1000\n"
         "r0#1 app send MPI_Send to 1 tag 8 bytes 8 hash 0x2 at 1010 until 1030\n"
         "r0#1 note suppressed 1 peer 1 tag 8 hash 0x2 at 1020\n"
         "r1#1 note restored 1 at 1000\n"
         "r1#1 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x1 at 1100 until 1150\n"
         "r1#1 note replayed 1 peer 0 tag 7 hash 0x1 at 1120\n"
         "r0#1 app send MPI_Send to 1 tag 9 bytes 8 hash 0x3 at 1200 until 1230\n"
         "r1#1 app recv MPI_Recv from 0 tag 9 got 0 tag 9 bytes 8 hash 0x3 at 1300 until 1350\n"
         "r1#1 note replayed 1 peer 0 tag 9 hash 0x3 at 1320\n",
         NULL, 0, MOST, &drawn);
    check(is_kind(arrow(&drawn, true, 0, 1, 1), ARROW_SUPPRESSED), "a send that is suppressed");
    const struct arrow *replayed = arrow(&drawn, false, 1, 1, 1);
    check(is_kind(replayed, ARROW_REPLAYED), "a delivery from the log");
    check(replayed != NULL && replayed->sent_known && replayed->sent.incarnation == 0,
          "whose send was in the life before");
    check(is_kind(arrow(&drawn, false, 1, 1, 3), ARROW_REPLAYED),
          "what the protocol says it replayed, though it was sent in this life");
    check(is_kind(arrow(&drawn, false, 1, 0, 2), ARROW_LATE), "which was late the first time");
    bool after = true;
    for (size_t i = 0; i < drawn.slice.count; i++)
        for (size_t k = 0; k < drawn.slice.count; k++)
            if (drawn.slice.event[i].trace->incarnation < drawn.slice.event[k].trace->incarnation)
                after = after && drawn.layout.spot[i].column < drawn.layout.spot[k].column;
    check(after, "a life stands right of all of the one before");
    check(rises(&drawn), "and no message runs back, but for what is suppressed");
    check(drawn.layout.life_count == 4 && drawn.layout.row_count == 2, "two rows, two lives each");
    drop(&drawn);
}

/* --- places ----------------------------------------------------------------------------------- */

static void test_columns(void)
{
    struct drawn drawn;
    char *text = long_run();
    draw(text, NULL, 0, 3 * LAPS, &drawn);
    check(rises(&drawn), "no event lies on another, no message runs back");
    check(drawn.layout.column_count <= LAPS + 2, "what is concurrent shares columns: %zu",
          drawn.layout.column_count);
    drop(&drawn);
    free(text);
    draw("ranks 3\n"
         "r0#0 wire call MPI_Init at 10 until 20\n"
         "r0#0 wire call MPI_Comm_rank at 30 until 40\n"
         "r0#0 wire collective MPI_Barrier at 100 until 200\n"
         "r1#0 wire collective MPI_Barrier at 110 until 200\n"
         "r2#0 wire collective MPI_Barrier at 120 until 200\n",
         NULL, 0, MOST, &drawn);
    check(drawn.arrows.meeting_count == 1 && drawn.arrows.meeting[0].count == 3,
          "a collective is one thing");
    check(column(&drawn, 0, 0, 2) == 2 && column(&drawn, 1, 0, 0) == 2 &&
              column(&drawn, 2, 0, 0) == 2,
          "and stands in one column");
    drop(&drawn);
    draw("ranks 2\n"
         "r0#0 wire recv MPI_Recv from 1 tag 1 got 1 tag 1 bytes 8 hash 0x1 thread 1 "
         "at 100 until 500\n"
         "r0#0 wire send MPI_Send to 1 tag 2 bytes 8 hash 0x2 at 200 until 900\n"
         "r1#0 wire recv MPI_Recv from 0 tag 2 got 0 tag 2 bytes 8 hash 0x2 at 300 until 400\n"
         "r1#0 wire send MPI_Send to 0 tag 1 bytes 8 hash 0x1 at 410 until 420\n",
         NULL, 0, MOST, &drawn);
    check(drawn.layout.column_count >= 3 && drawn.layout.spot[0].shown &&
              drawn.layout.spot[1].shown,
          "threads that wait for each other come to an end");
    drop(&drawn);
}

static void test_brief(void)
{
    struct drawn drawn;
    struct event_ref witness[] = {{1, 0, LAPS / 2}};
    char *text = long_run();
    draw(text, witness, 1, LAPS, &drawn);
    bool *shown = calloc(drawn.slice.count, sizeof *shown);
    bool brief = brief_choose(&drawn.slice, &drawn.arrows,
                              &(struct brief_wish){.shown = shown, .column_width = 20});
    size_t count = 0;
    for (size_t i = 0; i < drawn.slice.count; i++)
        count += shown[i];
    check(brief && count > 2 && count <= BRIEF_EVENTS, "%zu of %zu", count, drawn.slice.count);
    check(shown[at(&drawn, 1, 0, LAPS / 2)] && shown[at(&drawn, 0, 0, LAPS / 2 + 1)],
          "the witness and the send of its message are on the first screen");
    drop(&drawn);
    free(shown);
    free(text);
    draw("ranks 2\nr0#0 wire call MPI_Init at 10 until 20\n", NULL, 0, MOST, &drawn);
    bool one = false;
    check(!brief_choose(&drawn.slice, &drawn.arrows,
                        &(struct brief_wish){.shown = &one, .column_width = 20}),
          "what fits as it is needs nothing brief");
    drop(&drawn);
}

/* --- texts ------------------------------------------------------------------------------------ */

static void test_texts(void)
{
    struct drawn drawn;
    struct layout layout;
    unsigned letters[] = {30, 30, 0}, marks[] = {1, 0, 1};
    struct layout_wish wish = {.letters = letters, .marks = marks, .column_width = 10};
    draw("ranks 13\n"
         "r12#0 wire call MPI_Comm_rank at 10 until 20\n"
         "r12#0 wire call MPI_Comm_rank at 30 until 40\n"
         "r12#0 wire call MPI_Comm_rank at 50 until 60\n",
         NULL, 0, MOST, &drawn);
    layout_make(&drawn.slice, &drawn.arrows, &wish, &layout);
    const struct layout_spot *spot = layout.spot;
    check(spot[0].x + spot[0].mark >= spot[0].x - LAYOUT_BEYOND + 5 * LAYOUT_NAME_WIDTH,
          "the letter of a witness stands right of the name of its life, r12#0");
    check(spot[1].x - spot[0].x >= 30 * LAYOUT_LETTER_WIDTH,
          "two labels of a rank are as far apart as they are wide");
    check(spot[2].x - spot[1].x < 30, "what has no label needs no more than its column");
    check(layout.width >= spot[1].x + 15 * LAYOUT_LETTER_WIDTH,
          "the picture is as wide as they are");
    layout_release(&layout);
    drop(&drawn);
}

static void test_labels(void)
{
    struct labels labels = {0};
    struct label_box box = labels_box(100, 50, 6, 10);
    check(box.left < 82 && box.right > 118 && box.top < 43 && box.bottom > 50,
          "a text of six letters takes a box about its middle, above its line and a little below");
    check(labels_have_room(&labels, &box), "in an empty picture there is room");
    labels_take(&labels, &box);
    check(!labels_have_room(&labels, &box), "where a text stands there is none");
    struct label_box above = labels_box(100, 38, 6, 10), beside = labels_box(130, 50, 6, 10);
    check(labels_have_room(&labels, &above), "above it there is");
    check(!labels_have_room(&labels, &beside), "too near beside it there is not");
    labels_release(&labels);
}

/* --- faults ----------------------------------------------------------------------------------- */

/* Long before the witness, and nothing to do with it. */
static void test_faults(void)
{
    struct drawn drawn;
    struct event_ref witness[] = {{1, 0, LAPS - 1}};
    char *run = long_run();
    char *text = calloc(strlen(run) + 3 * LAP_BYTES, 1);
    sprintf(text,
            "ranks 3\nr2#0 fault storage 2 step 0 error 28 at 10\n"
            "r2#0 fault awaited 0 step 1 at 20\n%s",
            strchr(run, '\n') + 1);
    draw(text, witness, 1, MOST, &drawn);
    size_t faults = 0, awaited = 0;
    for (size_t i = 0; i < drawn.slice.count; i++) {
        faults += drawn.slice.event[i].fault;
        awaited += slice_is_fault(&drawn.slice.event[i], FAULT_AWAITED);
    }
    check(faults == 1 && awaited == 0,
          "a fault is in the slice wherever it is, but what was only awaited is not");
    bool *shown = calloc(drawn.slice.count, sizeof *shown);
    bool in_brief = false;
    (void)brief_choose(&drawn.slice, &drawn.arrows,
                       &(struct brief_wish){.shown = shown, .column_width = 60});
    for (size_t i = 0; i < drawn.slice.count; i++)
        in_brief |= drawn.slice.event[i].fault && shown[i];
    check(in_brief, "and on the first screen");
    free(shown);
    drop(&drawn);
    free(text);
    free(run);
}

int main(void)
{
    test_folds();
    test_slice();
    test_messages();
    test_recovery();
    test_columns();
    test_brief();
    test_texts();
    test_labels();
    test_faults();
    return done();
}
