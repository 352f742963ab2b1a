/* See names.h. */
#include "script/names.h"

#include "base/nearest.h"
#include "plan/action.h"
#include "plan/field.h"
#include "trace/calls.h"

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

/* What a file call of a checkpoint may fail with. */
static const struct {
    const char *name;
    int number;
} errors[] = {
#define X(name) {#name, name},
    X(EACCES) X(EBUSY) X(EDQUOT) X(EEXIST) X(EINTR) X(EIO) X(EMFILE) X(ENFILE) X(ENOENT) X(ENOMEM)
        X(ENOSPC) X(EROFS)
#undef X
};

static enum call_role role_of_argument(lua_State *L)
{
    return call_role(call_from_name(luaL_checkstring(L, 1)));
}

/* call_known(name) */
static int names_call_known(lua_State *L)
{
    lua_pushboolean(L, call_from_name(luaL_checkstring(L, 1)) != CALL_NONE);
    return 1;
}

/* call_nearest(name): the MPI function that is nearest, or nil. */
static int names_call_nearest(lua_State *L)
{
    const char *names[CALL_COUNT];
    for (unsigned call = 1; call < CALL_COUNT; call++)
        names[call - 1] = call_name(call);
    lua_pushstring(L, nearest_name(luaL_checkstring(L, 1), names, CALL_COUNT - 1));
    return 1;
}

/* The event that a call is, where it can be no other; else NULL. */
static const char *family(enum call_role role)
{
    switch (role) {
    case ROLE_SEND:
    case ROLE_ISEND:
        return "send";
    case ROLE_RECV:
    case ROLE_IRECV:
    case ROLE_MRECV:
    case ROLE_IMRECV:
        return "recv";
    case ROLE_PROBE:
    case ROLE_IPROBE:
    case ROLE_MPROBE:
    case ROLE_IMPROBE:
        return "probe";
    case ROLE_WAIT:
    case ROLE_WAITALL:
    case ROLE_WAITANY:
    case ROLE_WAITSOME:
    case ROLE_TEST:
    case ROLE_TESTALL:
    case ROLE_TESTANY:
    case ROLE_TESTSOME:
        return "wait";
    case ROLE_COLLECTIVE:
    case ROLE_ICOLLECTIVE:
        return "collective";
    default:
        return NULL;
    }
}

/* call_family(name): the event, or nil. */
static int names_call_family(lua_State *L)
{
    lua_pushstring(L, family(role_of_argument(L)));
    return 1;
}

/* What can be chosen of the answer of a call: see `answers` in plan.lua. */
static const char *answer(enum call_role role)
{
    switch (role) {
    case ROLE_TEST:
    case ROLE_TESTALL:
    case ROLE_IPROBE:
    case ROLE_IMPROBE:
        return "yes-no";
    case ROLE_TESTANY:
        return "index-no";
    case ROLE_WAITANY:
        return "index";
    case ROLE_TESTSOME:
        return "indices-no";
    case ROLE_WAITSOME:
        return "indices";
    default:
        return NULL;
    }
}

/* call_answer(name): a form of answer, or nil. */
static int names_call_answer(lua_State *L)
{
    lua_pushstring(L, answer(role_of_argument(L)));
    return 1;
}

/* Whether a rank can wait for others inside it. Those that the taps do not tell apart may. */
static bool blocks(enum call_role role)
{
    switch (role) {
    case ROLE_ISEND:
    case ROLE_SEND_INIT:
    case ROLE_IRECV:
    case ROLE_RECV_INIT:
    case ROLE_IMRECV:
    case ROLE_ISENDRECV:
    case ROLE_ISENDRECV_REPLACE:
    case ROLE_START:
    case ROLE_STARTALL:
    case ROLE_IPROBE:
    case ROLE_IMPROBE:
    case ROLE_TEST:
    case ROLE_TESTALL:
    case ROLE_TESTANY:
    case ROLE_TESTSOME:
    case ROLE_REQUEST_FREE:
    case ROLE_CANCEL:
    case ROLE_ICOLLECTIVE:
    case ROLE_COMM_IMAKE:
    case ROLE_TYPE_FREE:
        return false;
    default:
        return true;
    }
}

/* call_blocks(name) */
static int names_call_blocks(lua_State *L)
{
    lua_pushboolean(L, blocks(role_of_argument(L)));
    return 1;
}

static const luaL_Reg functions[] = {
    {"call_known", names_call_known},   {"call_nearest", names_call_nearest},
    {"call_family", names_call_family}, {"call_answer", names_call_answer},
    {"call_blocks", names_call_blocks}, {NULL, NULL},
};

/* ---- rows of the plan's tables ------------------------------------------------------------------
 * Each of these sets a field of the table on top of the stack. */

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag)
{
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, int64_t number)
{
    lua_pushinteger(L, number);
    lua_setfield(L, -2, name);
}

/* Those from `first` on. */
static void set_words(lua_State *L, const struct plan_words *words, size_t first)
{
    if (words == NULL)
        return;
    lua_newtable(L);
    for (size_t i = first; i < words->count; i++) {
        lua_pushstring(L, words->text[i]);
        lua_rawseti(L, -2, (lua_Integer)(i - first) + 1);
    }
    lua_setfield(L, -2, "words");
}

static void push_field(lua_State *L, const struct action_field *of)
{
    const struct plan_field *field = plan_step_field(of->name);
    lua_newtable(L);
    set_text(L, "name", of->name);
    set_text(L, "as", of->as != NULL ? of->as : of->name);
    set_text(L, "needed", of->needed);
    set_number(L, "least", of->least);
    set_number(L, "most", of->most);
    set_flag(L, "errno", of->is_errno);
    set_flag(L, "rank", of->is_rank);
    set_flag(L, "flag", field->form == FORM_YES);
    set_flag(L, "list", field->form == FORM_LIST);
    set_flag(L, "text", field->form == FORM_NAME);
    set_words(L, field->words, 1); /* the first is what a step has that does not say */
}

static void push_action(lua_State *L, const struct action *action)
{
    static const char *const when[] = {"optional", "required", "none"};
    static const char *const keeps[] = {NULL, "messages", "ranks"};
    lua_newtable(L);
    set_text(L, "when", when[action->when]);
    set_text(L, "keeps", keeps[action->keeps]);
    set_text(L, "past", action->past);
    set_flag(L, "kills", action->kills == KILLS_VICTIMS);
    lua_newtable(L);
    for (unsigned event = 0, count = 0; event < EVENT_COUNT; event++) {
        if ((action->events & 1u << event) == 0)
            continue;
        lua_pushstring(L, plan_event_text((enum plan_event)event));
        lua_rawseti(L, -2, ++count);
    }
    lua_setfield(L, -2, "events");
    lua_newtable(L);
    bool victims = false;
    for (unsigned i = 0; action->field[i].name != NULL; i++) {
        push_field(L, &action->field[i]);
        lua_rawseti(L, -2, i + 1);
        victims |= strcmp(action->field[i].name, "victims") == 0;
    }
    lua_setfield(L, -2, "fields");
    set_flag(L, "victims", victims);
}

/* action_rows: name → what actions.def says; condition_fields: { { name =, words = }, ... }. */
static void add_rows(lua_State *L)
{
    lua_newtable(L);
    for (unsigned action = 0; action < ACTION_COUNT; action++) {
        push_action(L, &actions[action]);
        lua_setfield(L, -2, actions[action].text);
    }
    lua_setfield(L, -2, "action_rows");
    lua_newtable(L);
    for (size_t i = 0; i < plan_condition_fields.count; i++) {
        lua_newtable(L);
        set_text(L, "name", plan_condition_fields.field[i].name);
        set_words(L, plan_condition_fields.field[i].words, 0);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "condition_fields");
}

void names_add(lua_State *L)
{
    static const char *const abouts[] = {"nothing", "line", "name", "message", "channel"};
    luaL_setfuncs(L, functions, 0);
    lua_createtable(L, EVENT_COUNT, 0);
    for (int event = 0; event < EVENT_COUNT; event++) {
        lua_pushstring(L, plan_event_text((enum plan_event)event));
        lua_rawseti(L, -2, event + 1);
    }
    lua_setfield(L, -2, "events");
    lua_newtable(L);
    for (unsigned note = NOTE_NONE + 1; note < NOTE_KIND_COUNT; note++)
        if (plan_event_of_note(note) != EVENT_NONE)
            set_text(L, note_kind_text(note), abouts[note_about(note)]);
    lua_setfield(L, -2, "notes");
    add_rows(L);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        lua_pushinteger(L, errors[i].number);
        lua_setfield(L, -2, errors[i].name);
    }
    lua_setfield(L, -2, "errors");
}
