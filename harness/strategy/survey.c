/* See survey.h. */
#include "strategy/survey.h"

#include "base/memory.h"
#include "oracles/reading/table.h"
#include "strategy/survey_lines.h"
#include "trace/calls.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FILE_BYTES 512 /* a path below the store, as in a trace */

struct taking {
    struct survey *survey;
    const struct plan *plan;
    const struct trace *trace; /* the one that is read */
    struct table table;        /* hash of a condition → its point, as index + 1 */
    size_t room;
    uint32_t wire_comm[PLAN_MAX_WIRES]; /* of each wire in this trace; 0: any */
    bool wire_known[PLAN_MAX_WIRES];    /* its communicator is there */
    struct triggers triggers;
    int64_t checkpoints; /* that the rank has taken by now */
    bool ends;           /* the rank is in MPI_Finalize */
};

void survey_init(struct survey *survey)
{
    memset(survey, 0, sizeof *survey);
}

void survey_release(struct survey *survey)
{
    free(survey->point);
    free(survey->sends);
    survey_init(survey);
}

/* --- points ----------------------------------------------------------------------------------- */
/* The point of a condition, made when it is not there yet. Conditions start from the default, whose
 * padding is zero, so equal ones have equal bytes. */
static struct survey_point *point_of(struct taking *taking, const struct plan_condition *condition)
{
    struct survey *survey = taking->survey;
    XXH128_hash_t key = XXH3_128bits(condition, sizeof *condition);
    uintptr_t there = (uintptr_t)table_get(&taking->table, key.low64, key.high64);
    if (there != 0)
        return &survey->point[there - 1];
    survey->point = memory_room(survey->point, survey->count, &taking->room, sizeof *survey->point);
    uintptr_t place = survey->count + 1;
    table_put(&taking->table, key.low64, key.high64, (void *)place);
    struct survey_point *point = &survey->point[survey->count++];
    memset(point, 0, sizeof *point);
    point->condition = *condition;
    point->line = taking->checkpoints;
    return point;
}

/* Which of these it was, from 1. */
static uint64_t count_one(struct taking *taking, enum survey_kind kind, bool polls,
                          const struct plan_condition *condition)
{
    struct survey_point *point = point_of(taking, condition);
    point->kind = kind;
    point->count = polls ? 1 : point->count + 1;
    point->before_end += !taking->ends;
    return ++point->seen;
}

static struct plan_condition condition_at(const struct taking *taking, enum plan_event event,
                                          unsigned level)
{
    struct plan_condition condition = plan_step_default(ACTION_AWAIT).when;
    condition.event = event;
    condition.rank = taking->trace->rank;
    condition.level = (uint8_t)level;
    if (event == EVENT_DELIVER)
        condition.position = POSITION_AFTER;
    return condition;
}

static void set_name(char name[PLAN_NAME_BYTES], const char *text)
{
    snprintf(name, PLAN_NAME_BYTES, "%s", text);
}

/* --- messages --------------------------------------------------------------------------------- */
/* Record `index` is a communicator that has all ranks in their order. */
static bool is_like_world(const struct trace *trace, uint64_t index)
{
    const struct record *made = &trace->record[index];
    int32_t members = 0;
    if (made->tag != trace->header->ranks || (made->flags & FLAG_INTER) != 0)
        return false;
    for (uint64_t at = index + 1; at < trace->count && members < made->tag; at++) {
        const struct record *group = &trace->record[at];
        if (atomic_load(&group->kind) != RECORD_GROUP)
            return false;
        for (int i = 0; i < RECORD_GROUP_MEMBERS && members < made->tag; i++)
            if (group->members[i] != members++)
                return false;
    }
    return members == made->tag;
}

/* The id of the nth communicator that was made from MPI_COMM_WORLD with all its ranks; 0: none. */
static uint32_t comm_from_world(const struct trace *trace, uint32_t nth)
{
    for (uint64_t at = 0; at < trace->count; at++) {
        const struct record *r = &trace->record[at];
        if (atomic_load(&r->kind) == RECORD_COMM && r->level == LEVEL_WIRE &&
            r->bytes == COMM_WORLD_ID && is_like_world(trace, at) && --nth == 0)
            return r->comm;
    }
    return 0;
}

static void find_wires(struct taking *taking)
{
    for (size_t i = 0; i < taking->plan->wires; i++) {
        const struct message_pattern *wire = &taking->plan->wire[i];
        taking->wire_comm[i] =
            wire->comm_nth > 0 ? comm_from_world(taking->trace, wire->comm_nth) : wire->comm;
        taking->wire_known[i] = wire->comm_nth == 0 || taking->wire_comm[i] != 0;
    }
}

static bool is_wire(const struct taking *taking, size_t wire, const struct record *r)
{
    uint32_t comm = taking->wire_comm[wire];
    int32_t tag = taking->plan->wire[wire].tag;
    return taking->wire_known[wire] && (comm == 0 || comm == r->comm) &&
           (tag == PLAN_ANY || tag == r->tag);
}

static void note_wire(struct survey *survey, const struct message_pattern *wire)
{
    for (size_t i = 0; i < survey->wires; i++)
        if (strcmp(survey->wire[i].name, wire->name) == 0)
            return;
    survey->wire[survey->wires++] = *wire;
}

/* A send or delivery: of the protocol's own by its names, else by its channel. */
static void count_message(struct taking *taking, enum plan_event event, const struct record *r)
{
    struct plan_condition condition = condition_at(taking, event, r->level);
    bool named = false;
    if (r->peer < 0)
        return;
    condition.peer = r->peer;
    for (size_t i = 0; r->level == LEVEL_WIRE && i < taking->plan->wires; i++) {
        if (!is_wire(taking, i, r))
            continue;
        set_name(condition.message, taking->plan->wire[i].name);
        note_wire(taking->survey, &taking->plan->wire[i]);
        uint64_t nth = count_one(taking, SURVEY_MESSAGE, false, &condition);
        if (event == EVENT_DELIVER)
            triggers_message(&taking->triggers, condition.message, r->peer, nth);
        named = true;
    }
    if (named)
        return;
    condition.tag = r->tag;
    condition.comm = r->comm;
    count_one(taking, SURVEY_CHANNEL, false, &condition);
}

/* --- calls ------------------------------------------------------------------------------------ */
static bool polls(unsigned call)
{
    switch (call_role(call)) {
    case ROLE_IPROBE:
    case ROLE_IMPROBE:
    case ROLE_TEST:
    case ROLE_TESTALL:
    case ROLE_TESTANY:
    case ROLE_TESTSOME:
        return true;
    default:
        return call == CALL_MPI_Request_get_status;
    }
}

static bool exchanges(unsigned call)
{
    switch (call_role(call)) {
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
    case ROLE_ISENDRECV:
    case ROLE_ISENDRECV_REPLACE:
        return true;
    default:
        return false;
    }
}

/* A record that stands once for each call: not the halves of one, nor what it completes. */
static bool stands_for_call(const struct record *r, unsigned kind)
{
    switch (kind) {
    case RECORD_CALL:
    case RECORD_PROBE:
    case RECORD_COLLECTIVE:
    case RECORD_SEND:
        break;
    case RECORD_RECV:
        if (exchanges(r->call))
            return false;
        break;
    case RECORD_COMPLETE:
        if (call_role(r->call) != ROLE_WAIT && call_role(r->call) != ROLE_TEST)
            return false;
        break;
    default:
        return false;
    }
    return r->call != CALL_NONE && (r->flags & FLAG_PERSISTENT) == 0 &&
           call_role(r->call) != ROLE_INIT;
}

static void count_call(struct taking *taking, const struct record *r, unsigned kind)
{
    bool poll = polls(r->call);
    enum plan_event event = !poll ? EVENT_CALL : kind == RECORD_PROBE ? EVENT_PROBE : EVENT_WAIT;
    if (r->call == CALL_MPI_Request_get_status) /* an event "call" whose number hangs on timing */
        return;
    struct plan_condition condition = condition_at(taking, event, r->level);
    set_name(condition.call, call_name(r->call));
    count_one(taking, poll ? SURVEY_POLL : SURVEY_CALL, poll, &condition);
}

/* A receive or probe with a choice. */
static void count_wildcard(struct taking *taking, const struct record *r, unsigned kind)
{
    struct plan_condition condition =
        condition_at(taking, kind == RECORD_RECV ? EVENT_RECV : EVENT_PROBE, r->level);
    if (r->want_peer != PEER_ANY && (r->want_tag != TAG_ANY || r->want_peer < 0))
        return;
    condition.comm = r->comm;
    condition.peer = r->want_peer >= 0 ? r->want_peer : PLAN_ANY;
    condition.tag = r->want_tag >= 0 ? r->want_tag : PLAN_ANY;
    set_name(condition.call, call_name(r->call));
    count_one(taking, SURVEY_WILDCARD, polls(r->call), &condition);
}

/* Data has been handed over: see the event "deliver". */
static bool delivers(const struct record *r, unsigned kind)
{
    if (atomic_load(&r->leave) == 0 || r->error != 0 ||
        (r->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) != 0)
        return false;
    if (kind == RECORD_COMPLETE)
        return r->comm != 0;
    switch (kind == RECORD_RECV ? call_role(r->call) : ROLE_CALL) {
    case ROLE_RECV:
    case ROLE_MRECV:
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
        return true;
    default:
        return false;
    }
}

/* --- notes, and the store --------------------------------------------------------------------- */
/* Which messages are late or early depends on timing, and so does which channels are noted. */
static enum plan_event event_of_note(unsigned note)
{
    bool steady = note_about(note) == ABOUT_LINE || note_about(note) == ABOUT_NAME;
    return steady ? plan_event_of_note(note) : EVENT_NONE;
}

static void count_note(struct taking *taking, uint64_t index)
{
    const struct record *r = &taking->trace->record[index];
    enum plan_event event = event_of_note((unsigned)r->tag);
    taking->survey->late += r->tag == NOTE_LOGGED;
    taking->survey->early += r->tag == NOTE_EARLY;
    if (event == EVENT_NONE)
        return;
    taking->checkpoints += event == EVENT_CHECKPOINT;
    if (event == EVENT_CHECKPOINT || event == EVENT_STOP_LOG)
        triggers_note(&taking->triggers, taking->survey, taking->trace->rank,
                      event == EVENT_CHECKPOINT ? REGION_LOGGING : REGION_BEYOND, r->bytes);
    struct plan_condition condition = condition_at(taking, event, LEVEL_APP);
    if (event == EVENT_PHASE || event == EVENT_RESULT || event == EVENT_DECISION)
        trace_text(taking->trace, index, condition.name, sizeof condition.name);
    else
        condition.epoch = r->bytes <= INT64_MAX ? (int64_t)r->bytes : -1;
    if (event == EVENT_COMMIT && condition.epoch > taking->survey->lines)
        taking->survey->lines = condition.epoch;
    count_one(taking, condition.name[0] != '\0' ? SURVEY_PHASE : SURVEY_NOTE, false, &condition);
}

/* A pattern that the path meets: itself, if it can be one. */
static void set_pattern(char pattern[PLAN_NAME_BYTES], const char *path)
{
    size_t used = 0;
    for (; *path != '\0' && used < PLAN_NAME_BYTES - 2; path++)
        pattern[used++] = strchr("*?[]\\\"", *path) != NULL ? '?' : *path;
    if (*path != '\0')
        pattern[used++] = '*';
    pattern[used] = '\0';
}

static void count_storage(struct taking *taking, uint64_t index)
{
    char path[FILE_BYTES];
    const struct record *r = &taking->trace->record[index];
    enum plan_event event = plan_event_of_storage((unsigned)r->tag);
    if (event == EVENT_NONE)
        return;
    struct plan_condition condition = condition_at(taking, event, LEVEL_APP);
    trace_text(taking->trace, index, path, sizeof path);
    set_pattern(condition.file, path);
    struct survey_point *point = point_of(taking, &condition);
    if (point->seen == 0 || r->bytes < point->bytes)
        point->bytes = r->bytes;
    count_one(taking, SURVEY_STORE, false, &condition);
}

/* --- the whole -------------------------------------------------------------------------------- */
static void count_record(struct taking *taking, uint64_t index)
{
    const struct record *r = &taking->trace->record[index];
    unsigned kind = atomic_load(&r->kind);
    taking->ends |= kind == RECORD_CALL && r->call == CALL_MPI_Finalize;
    if (kind == RECORD_NOTE)
        count_note(taking, index);
    else if (kind == RECORD_STORAGE)
        count_storage(taking, index);
    if (kind == RECORD_NONE || kind == RECORD_GROUP || kind == RECORD_TEXT ||
        r->level == LEVEL_SELF)
        return;
    if (kind == RECORD_SEND)
        count_message(taking, EVENT_SEND, r);
    if (kind == RECORD_RECV || kind == RECORD_PROBE)
        count_wildcard(taking, r, kind);
    taking->survey->collectives += kind == RECORD_COLLECTIVE && r->level == LEVEL_APP;
    if (delivers(r, kind))
        count_message(taking, EVENT_DELIVER, r);
    if (stands_for_call(r, kind))
        count_call(taking, r, kind);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_points(const void *left, const void *right)
{
    const struct plan_condition *a = &((const struct survey_point *)left)->condition;
    const struct plan_condition *b = &((const struct survey_point *)right)->condition;
    const int order[] = {
        compare_numbers(a->rank, b->rank),
        compare_numbers(a->event, b->event),
        compare_numbers(a->level, b->level),
        compare_numbers(a->epoch, b->epoch),
        strcmp(a->name, b->name),
        strcmp(a->message, b->message),
        strcmp(a->call, b->call),
        strcmp(a->file, b->file),
        compare_numbers(a->comm, b->comm),
        compare_numbers(a->tag, b->tag),
        compare_numbers(a->peer, b->peer),
    };
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (order[i] != 0)
            return order[i];
    return 0;
}

static int compare_wires(const void *left, const void *right)
{
    return strcmp(((const struct message_pattern *)left)->name,
                  ((const struct message_pattern *)right)->name);
}

static void count_all(struct taking *taking, const struct trace_set *traces)
{
    struct survey *survey = taking->survey;
    survey->ranks = traces->ranks;
    for (size_t i = 0; i < traces->count; i++) {
        taking->trace = &traces->trace[i];
        find_wires(taking);
        triggers_begin(&taking->triggers);
        taking->checkpoints = 0;
        taking->ends = false;
        for (uint64_t at = 0; at < taking->trace->count; at++)
            count_record(taking, at);
    }
    if (survey->count > 0)
        qsort(survey->point, survey->count, sizeof *survey->point, compare_points);
    qsort(survey->wire, survey->wires, sizeof survey->wire[0], compare_wires);
    triggers_choose(&taking->triggers, survey);
}

void survey_of(const struct trace_set *traces, const struct plan *plan, struct survey *survey)
{
    struct taking taking = {.survey = survey, .plan = plan};
    survey_init(survey);
    count_all(&taking, traces);
    table_release(&taking.table);
    cells_count(traces, survey);
}

enum error_code survey_take(const char *folder, const struct plan *plan, struct survey *survey,
                            struct error *error)
{
    struct trace_set traces;
    survey_init(survey);
    enum error_code code = trace_set_open_run(folder, &traces, error);
    if (code == OK)
        survey_of(&traces, plan, survey);
    trace_set_release(&traces);
    return code;
}

/* --- without the end -------------------------------------------------------------------------- */
static bool is_sent(const struct survey *survey, const char *message)
{
    for (size_t i = 0; i < survey->count; i++)
        if (survey->point[i].condition.event == EVENT_SEND &&
            strcmp(survey->point[i].condition.message, message) == 0)
            return true;
    return false;
}

void survey_before_end(const struct survey *survey, struct survey *early)
{
    *early = *survey;
    early->count = early->wires = 0;
    early->point = memory_new(survey->count, sizeof *early->point);
    for (size_t i = 0; i < survey->count; i++) {
        struct survey_point point = survey->point[i];
        point.seen = point.before_end;
        point.count = point.count < point.seen ? point.count : point.seen;
        if (point.count > 0)
            early->point[early->count++] = point;
    }
    for (size_t i = 0; i < survey->wires; i++)
        if (is_sent(early, survey->wire[i].name))
            early->wire[early->wires++] = survey->wire[i];
}

/* --- choosing --------------------------------------------------------------------------------- */
static bool is_point(const struct survey_point *point, struct survey_filter filter)
{
    return point->kind == filter.kind && point->condition.level == filter.level &&
           (filter.event == EVENT_NONE || point->condition.event == filter.event);
}

size_t survey_points(const struct survey *survey, struct survey_filter filter)
{
    size_t found = 0;
    for (size_t i = 0; i < survey->count; i++)
        found += is_point(&survey->point[i], filter);
    return found;
}

const struct survey_point *survey_point(const struct survey *survey, struct survey_filter filter,
                                        size_t n)
{
    for (size_t i = 0; i < survey->count; i++)
        if (is_point(&survey->point[i], filter) && n-- == 0)
            return &survey->point[i];
    return NULL;
}

static bool is_same_channel(const struct plan_condition *a, const struct plan_condition *b)
{
    return a->rank == b->rank && a->peer == b->peer && a->tag == b->tag && a->comm == b->comm;
}

bool survey_is_passed_on(const struct survey *survey)
{
    static const struct survey_filter app = {SURVEY_CHANNEL, LEVEL_APP, EVENT_SEND};
    static const struct survey_filter wire = {SURVEY_CHANNEL, LEVEL_WIRE, EVENT_SEND};
    const struct survey_point *above, *below;
    for (size_t i = 0; (above = survey_point(survey, app, i)) != NULL; i++)
        for (size_t k = 0; (below = survey_point(survey, wire, k)) != NULL; k++)
            if (is_same_channel(&above->condition, &below->condition))
                return true;
    return false;
}

bool survey_has_note(const struct survey *survey, enum plan_event event)
{
    for (size_t i = 0; i < survey->count; i++)
        if (survey->point[i].condition.event == event)
            return true;
    return false;
}
