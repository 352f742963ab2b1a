/* See names.h. */
#include "script/names.h"

#include "base/nearest.h"
#include "plan/plan.h"
#include "trace/calls.h"

#include <errno.h>
#include <lauxlib.h>

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

void names_add(lua_State *L)
{
    luaL_setfuncs(L, functions, 0);
    lua_createtable(L, EVENT_COUNT, 0);
    for (int event = 0; event < EVENT_COUNT; event++) {
        lua_pushstring(L, plan_event_text((enum plan_event)event));
        lua_rawseti(L, -2, event + 1);
    }
    lua_setfield(L, -2, "events");
    lua_newtable(L);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        lua_pushinteger(L, errors[i].number);
        lua_setfield(L, -2, errors[i].name);
    }
    lua_setfield(L, -2, "errors");
}
