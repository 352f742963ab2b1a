/* D.2.2, D.2.3, D.barrier, D.cell.*: where the members of a collective stand against the lines when
 * their calls return, and which way its data flows. See d_family.h.
 *
 * For each call and each line near it every member gets three positions (struct stand): when it
 * entered the call, when it gave its part, and when it had its result. A checkpoint or the end of
 * logging can lie between them. Two flows are forbidden (a flow is a pair of members between which
 * the data of this operation goes, see d_flows):
 *   - D.2.2: from a member beyond the line to one that is not. What the receiver logs, or did
 *     before its checkpoint, may then depend on what the sender did without logging it, and may do
 *     otherwise after recovery.
 *   - D.2.3: from a member before the line to one beyond it. The sender does not make the call
 *     again after a restart, and the receiver has not logged what it got.
 *
 *     line 1:   rank 0 (root of MPI_Bcast) beyond, rank 1 logging:  D.2.2
 *               rank 0 logging, rank 1 before the line:             allowed, an early flow
 *
 * In a barrier nothing flows that could be logged: all members must come out of it on the same side
 * of their checkpoints, else one waits after recovery for others that have left it (D.barrier).
 *
 * The table `cells` is coverage: which combinations of the root's position and the others' have
 * been seen. Cost: for a call, the lines between its members' epochs and the next one, times the
 * pairs of its members at worst. */
#include "oracles/c3/c_message.h"
#include "oracles/collectives/d_family.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>

/* Nothing is known: the member did not come, came in another incarnation, or never returned. */
#define NOWHERE (-1)

/* Where one member stands against one line; enum standing, or NOWHERE. */
struct stand {
    int entered;
    int sent;
    int received;
};

/* One call against one line. */
struct view {
    struct d_pass *pass;
    const struct d_call *call;
    uint64_t line;
    struct stand *stand; /* by place */
};

static int stand_at(const struct view *view, const struct d_part *part, uint64_t ticks)
{
    return ticks == 0 ? NOWHERE
                      : (int)lines_standing(&view->pass->lines->of[part->rank], view->line, ticks);
}

static void look(struct view *view)
{
    for (unsigned place = 0; place < view->call->size; place++) {
        const struct d_part *part = &view->call->part[place];
        bool own = part->trace != NULL && part->here;
        view->stand[place] = (struct stand){stand_at(view, part, own ? part->enter : 0),
                                            stand_at(view, part, own ? part->sent : 0),
                                            stand_at(view, part, own ? part->received : 0)};
    }
}

/* --- forbidden flows ----------------------------------------------------------------------- */

/* A member that data flows from, and one that it flows to. */
typedef bool stands(const struct stand *stand);

static bool sent_beyond(const struct stand *stand)
{
    return stand->sent == STANDS_BEYOND;
}

static bool sent_before(const struct stand *stand)
{
    return stand->sent == STANDS_BEFORE;
}

static bool received_beyond(const struct stand *stand)
{
    return stand->received == STANDS_BEYOND;
}

static bool received_not_before(const struct stand *stand)
{
    return stand->received == STANDS_LOGGING || stand->received == STANDS_BEYOND;
}

static bool received_not_beyond(const struct stand *stand)
{
    return stand->received == STANDS_LOGGING || stand->received == STANDS_BEFORE;
}

static bool entered_not_beyond(const struct stand *stand)
{
    return stand->entered == STANDS_LOGGING || stand->entered == STANDS_BEFORE;
}

static bool find_to(const struct view *view, unsigned from, stands *receives, unsigned *to)
{
    for (*to = 0; *to < view->call->size; (*to)++)
        if (d_flows(view->call, from, *to) && receives(&view->stand[*to]))
            return true;
    return false;
}

/* The first such pair between which data flows. */
static bool find_flow(const struct view *view, stands *sends, stands *receives, unsigned *from,
                      unsigned *to)
{
    for (*from = 0; *from < view->call->size; (*from)++)
        if (sends(&view->stand[*from]) && find_to(view, *from, receives, to))
            return true;
    return false;
}

static void say_end(struct finding *finding, const struct view *view, unsigned place,
                    uint64_t ticks, const char *did)
{
    char name[D_CALL_TEXT_BYTES], stand[STAND_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct d_part *part = &view->call->part[place];
    const struct rank_lines *lines = &view->pass->lines->of[part->rank];
    finding_say(finding, "rank %d %s %s %s: %s", part->rank, did, d_call_text(view->call, name),
                c_stand_text(lines, view->line, ticks, stand), event_text(d_event(part), event));
    finding_show(finding, d_event(part));
    c_show_line(finding, lines, view->line);
}

static void report_flow(const struct view *view, enum claim_id claim, unsigned from, unsigned to)
{
    const struct d_part *source = &view->call->part[from], *target = &view->call->part[to];
    struct finding *finding = judging_find(view->pass->judging, claim, VERDICT_VIOLATION);
    if (finding == NULL)
        return;
    say_end(finding, view, from, source->sent, "gave its part to");
    say_end(finding, view, to, target->received, "returned from");
    finding_decide(finding, d_event(target));
    if (claim == CLAIM_D_2_2)
        finding_say(finding,
                    "data flows from rank %d to rank %d, so what rank %d logged for line %" PRIu64
                    " may depend on what rank %d did unlogged",
                    source->rank, target->rank, target->rank, view->line, source->rank);
    else
        finding_say(finding,
                    "data flows from rank %d to rank %d, which cannot have logged it for line "
                    "%" PRIu64 ", and rank %d will not do the call again after recovery",
                    source->rank, target->rank, view->line, source->rank);
}

static void judge_forbidden(const struct view *view)
{
    unsigned from, to;
    struct judging *judging = view->pass->judging;
    judging_saw(judging, CLAIM_D_2_2, find_flow(view, sent_beyond, entered_not_beyond, &from, &to));
    judging_saw(judging, CLAIM_D_2_3,
                find_flow(view, sent_before, received_not_before, &from, &to));
    if (find_flow(view, sent_beyond, received_not_beyond, &from, &to))
        report_flow(view, CLAIM_D_2_2, from, to);
    if (find_flow(view, sent_before, received_beyond, &from, &to))
        report_flow(view, CLAIM_D_2_3, from, to);
}

/* --- barriers ------------------------------------------------------------------------------ */

static bool straddles_on_entry(const struct view *view)
{
    bool before = false, past = false;
    for (unsigned place = 0; place < view->call->size; place++) {
        before |= view->stand[place].entered == STANDS_BEFORE;
        past |= view->stand[place].entered > STANDS_BEFORE;
    }
    return before && past;
}

static void judge_straddling(const struct view *view)
{
    int before = -1, past = -1;
    for (unsigned place = view->call->size; place-- > 0;) {
        if (view->stand[place].received == STANDS_BEFORE)
            before = (int)place;
        else if (view->stand[place].received != NOWHERE)
            past = (int)place;
    }
    judging_saw(view->pass->judging, CLAIM_D_BARRIER, straddles_on_entry(view));
    if (before < 0 || past < 0)
        return;
    const struct d_part *first = &view->call->part[before], *second = &view->call->part[past];
    struct finding *finding = judging_find(view->pass->judging, CLAIM_D_BARRIER, VERDICT_VIOLATION);
    if (finding == NULL)
        return;
    say_end(finding, view, (unsigned)before, first->received, "returned from");
    say_end(finding, view, (unsigned)past, second->received, "returned from");
    finding_decide(finding, d_event(first->received > second->received ? first : second));
    finding_say(finding,
                "so after recovery from line %" PRIu64
                " rank %d waits in it, and rank %d has left it",
                view->line, second->rank, first->rank);
}

/* The barrier itself on the wire, inside the application's: the last collective there, if none of
 * them is one. */
static const struct record *barrier_on_wire(const struct d_part *part)
{
    const struct record *found = NULL;
    const struct record *call = &part->trace->record[part->index];
    for (uint64_t at = part->index + 1; at < part->trace->count; at++) {
        const struct record *record = &part->trace->record[at];
        if (!record_is_event(record))
            continue;
        if (record->level == LEVEL_APP && record->thread == call->thread)
            break;
        if (record->kind == RECORD_COLLECTIVE && record->level == LEVEL_WIRE &&
            record->thread == call->thread && record->enter <= part->received &&
            (found == NULL || call_operation(found->call) != OPERATION_BARRIER ||
             call_operation(record->call) == OPERATION_BARRIER))
            found = record;
    }
    return found;
}

static void judge_checkpoint_inside(const struct d_pass *pass, const struct d_call *call,
                                    const struct d_part *part)
{
    char name[D_CALL_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct rank_lines *lines = &pass->lines->of[part->rank];
    if (part->trace == NULL || !part->here || part->received == 0 ||
        !lines_moved(lines, part->enter, part->received))
        return;
    const struct record *wire = barrier_on_wire(part);
    for (size_t i = 0; i < lines->count && wire != NULL; i++) {
        const struct mark *checkpoint = &lines->line[i].checkpoint;
        if (!checkpoint->there || checkpoint->ticks < wire->enter ||
            checkpoint->ticks > part->received)
            continue;
        struct finding *finding = judging_find(pass->judging, CLAIM_D_BARRIER, VERDICT_VIOLATION);
        struct event_ref entry = event_of(part->trace, (uint64_t)(wire - part->trace->record));
        finding_say(finding, "rank %d entered %s on the wire: %s", part->rank,
                    d_call_text(call, name), event_text(entry, event));
        finding_say(finding,
                    "it took its checkpoint of line %" PRIu64 " before that barrier returned: %s",
                    lines->line[i].number, event_text(checkpoint->event, event));
        finding_show(finding, d_event(part));
        finding_show(finding, entry);
        finding_show(finding, checkpoint->event);
    }
}

/* --- coverage ------------------------------------------------------------------------------ */

/* The regions of the others, as a set. */
enum {
    OTHERS_BEFORE = 1 << STANDS_BEFORE,
    OTHERS_LOGGING = 1 << STANDS_LOGGING,
    OTHERS_BEYOND = 1 << STANDS_BEYOND,
    OTHERS_SETS = 1 << 3,
};
#define BEFORE_LOGGING (OTHERS_BEFORE | OTHERS_LOGGING)
#define LOGGING_BEYOND (OTHERS_LOGGING | OTHERS_BEYOND)

/* By category, region of the root, regions of the others; 0: it is forbidden. */
static const enum claim_id cells[D_CATEGORIES][3][OTHERS_SETS] = {
    [D_SINGLE_SENDER] = {[STANDS_BEFORE] = {[OTHERS_BEFORE] = CLAIM_D_CELL_BCAST_BEFORE_B,
                                            [BEFORE_LOGGING] = CLAIM_D_CELL_BCAST_BEFORE_BL,
                                            [OTHERS_LOGGING] = CLAIM_D_CELL_BCAST_BEFORE_L},
                         [STANDS_LOGGING] = {[OTHERS_BEFORE] = CLAIM_D_CELL_BCAST_LOGGING_B,
                                             [BEFORE_LOGGING] = CLAIM_D_CELL_BCAST_LOGGING_BL,
                                             [OTHERS_LOGGING] = CLAIM_D_CELL_BCAST_LOGGING_L,
                                             [LOGGING_BEYOND] = CLAIM_D_CELL_BCAST_LOGGING_LS,
                                             [OTHERS_BEYOND] = CLAIM_D_CELL_BCAST_LOGGING_S},
                         [STANDS_BEYOND] = {[OTHERS_BEYOND] = CLAIM_D_CELL_BCAST_BEYOND_S}},
    [D_SINGLE_RECEIVER] = {[STANDS_BEFORE] = {[OTHERS_BEFORE] = CLAIM_D_CELL_GATHER_BEFORE_B,
                                              [BEFORE_LOGGING] = CLAIM_D_CELL_GATHER_BEFORE_BL,
                                              [OTHERS_LOGGING] = CLAIM_D_CELL_GATHER_BEFORE_L},
                           [STANDS_LOGGING] = {[OTHERS_BEFORE] = CLAIM_D_CELL_GATHER_LOGGING_B,
                                               [BEFORE_LOGGING] = CLAIM_D_CELL_GATHER_LOGGING_BL,
                                               [OTHERS_LOGGING] = CLAIM_D_CELL_GATHER_LOGGING_L},
                           [STANDS_BEYOND] = {[OTHERS_LOGGING] = CLAIM_D_CELL_GATHER_BEYOND_L,
                                              [LOGGING_BEYOND] = CLAIM_D_CELL_GATHER_BEYOND_LS,
                                              [OTHERS_BEYOND] = CLAIM_D_CELL_GATHER_BEYOND_S}},
    [D_ALL_TO_ALL] = {[STANDS_BEFORE] = {[OTHERS_BEFORE] = CLAIM_D_CELL_ALL_BEFORE_B,
                                         [BEFORE_LOGGING] = CLAIM_D_CELL_ALL_BEFORE_BL,
                                         [OTHERS_LOGGING] = CLAIM_D_CELL_ALL_BEFORE_L},
                      [STANDS_LOGGING] = {[OTHERS_BEFORE] = CLAIM_D_CELL_ALL_LOGGING_B,
                                          [BEFORE_LOGGING] = CLAIM_D_CELL_ALL_LOGGING_BL,
                                          [OTHERS_LOGGING] = CLAIM_D_CELL_ALL_LOGGING_L},
                      [STANDS_BEYOND] = {[OTHERS_BEYOND] = CLAIM_D_CELL_ALL_BEYOND_S}},
    [D_BARRIER] = {[STANDS_BEFORE] = {[OTHERS_BEFORE] = CLAIM_D_CELL_BARRIER_BEFORE_B},
                   [STANDS_LOGGING] = {[OTHERS_LOGGING] = CLAIM_D_CELL_BARRIER_LOGGING_L},
                   [STANDS_BEYOND] = {[OTHERS_BEYOND] = CLAIM_D_CELL_BARRIER_BEYOND_S}},
    /* The root is a member that gives, the others those that get from it. */
    [D_SCAN] = {[STANDS_BEFORE] = {[OTHERS_BEFORE] = CLAIM_D_CELL_SCAN_BEFORE_B,
                                   [BEFORE_LOGGING] = CLAIM_D_CELL_SCAN_BEFORE_BL,
                                   [OTHERS_LOGGING] = CLAIM_D_CELL_SCAN_BEFORE_L},
                [STANDS_LOGGING] = {[OTHERS_BEFORE] = CLAIM_D_CELL_SCAN_LOGGING_B,
                                    [BEFORE_LOGGING] = CLAIM_D_CELL_SCAN_LOGGING_BL,
                                    [OTHERS_LOGGING] = CLAIM_D_CELL_SCAN_LOGGING_L,
                                    [LOGGING_BEYOND] = CLAIM_D_CELL_SCAN_LOGGING_LS,
                                    [OTHERS_BEYOND] = CLAIM_D_CELL_SCAN_LOGGING_S},
                [STANDS_BEYOND] = {[OTHERS_BEYOND] = CLAIM_D_CELL_SCAN_BEYOND_S}},
};

/* Where the member stands for coverage: when it gave its part, if it is one that gives; else when
 * it had its result. */
static int stand_as(const struct d_call *call, const struct stand *stand, bool root)
{
    bool gives = call->category == D_SINGLE_SENDER || call->category == D_SCAN ? root
                 : call->category == D_SINGLE_RECEIVER                         ? !root
                                                                               : false;
    return gives ? stand->sent : stand->received;
}

/* Those that count as others of a root: in a scan, whom it gives to. */
static bool is_other(const struct d_call *call, unsigned root, unsigned place)
{
    return call->category == D_SCAN ? place > root : place != root;
}

static void count_root(const struct view *view, unsigned root)
{
    const struct d_call *call = view->call;
    int own = stand_as(call, &view->stand[root], true);
    unsigned others = 0;
    for (unsigned place = 0; place < call->size; place++) {
        if (!is_other(call, root, place))
            continue;
        int stand = stand_as(call, &view->stand[place], false);
        if (stand == NOWHERE)
            return;
        others |= 1u << stand;
    }
    if (own == NOWHERE || others == 0)
        return;
    enum claim_id cell = cells[call->category][own][others];
    if (cell != 0)
        judging_saw(view->pass->judging, cell, 1);
}

/* Where the operation has no root, each member is taken for the root in turn. */
static void count_cells(const struct view *view)
{
    if (view->call->root >= 0) {
        count_root(view, (unsigned)view->call->root);
        return;
    }
    for (unsigned place = 0; place < view->call->size; place++)
        count_root(view, place);
}

/* --- one call ------------------------------------------------------------------------------ */

/* The epochs that members were in, when they gave or got. False if none of them is known. */
static bool epochs_of(const struct d_pass *pass, const struct d_call *call, uint64_t *low,
                      uint64_t *high)
{
    bool any = false;
    *low = UINT64_MAX;
    *high = 0;
    for (unsigned place = 0; place < call->size; place++) {
        const struct d_part *part = &call->part[place];
        if (part->trace == NULL || !part->here || part->sent == 0)
            continue;
        const struct rank_lines *lines = &pass->lines->of[part->rank];
        uint64_t first = lines_epoch(lines, part->enter);
        uint64_t last =
            lines_epoch(lines, part->received > part->sent ? part->received : part->sent);
        *low = first < *low ? first : *low;
        *high = last > *high ? last : *high;
        any = true;
    }
    return any;
}

static uint64_t newest_base(const struct d_pass *pass, const struct d_call *call)
{
    uint64_t base = 0;
    for (unsigned place = 0; place < call->size; place++) {
        uint64_t own = pass->lines->of[call->part[place].rank].base;
        base = own > base ? own : base;
    }
    return base;
}

/* Against a line that all members have long passed, or have not come near, all stand alike. Only
 * the lines from the lowest of the members' epochs to the first one above the highest are judged.
 */
static void judge_call(struct d_pass *pass, const struct d_call *call, struct stand *stand)
{
    uint64_t low, high, base = newest_base(pass, call);
    if (!epochs_of(pass, call, &low, &high))
        return;
    for (size_t i = 0; i < pass->lines->taken_count; i++) {
        struct view view = {pass, call, pass->lines->taken[i], stand};
        if (view.line < low || view.line <= base)
            continue;
        look(&view);
        judge_forbidden(&view);
        if (call->category == D_BARRIER)
            judge_straddling(&view);
        count_cells(&view);
        if (view.line > high)
            break;
    }
    for (unsigned place = 0; place < call->size && call->category == D_BARRIER; place++)
        judge_checkpoint_inside(pass, call, &call->part[place]);
}

void d_judge_flows(struct d_pass *pass)
{
    struct stand *stand = memory_new((size_t)pass->lines->ranks, sizeof *stand);
    for (size_t i = 0; i < pass->calls.call_count; i++)
        if (pass->calls.call[i]->category != D_NO_CATEGORY && pass->calls.call[i]->size > 1)
            judge_call(pass, pass->calls.call[i], stand);
    free(stand);
}
