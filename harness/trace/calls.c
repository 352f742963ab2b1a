/* See calls.h. */
#include "trace/calls.h"

#include <stddef.h>
#include <string.h>

struct call_facts {
    const char *name;
    enum call_role role;
    enum call_operation operation;
};

static const struct call_facts facts[CALL_COUNT] = {
    [CALL_NONE] = {"-", ROLE_CALL, OPERATION_NONE},
#define CALL(name, role, operation) [CALL_##name] = {#name, ROLE_##role, OPERATION_##operation},
#include "trace/calls.def"
#undef CALL
};

const char *call_name(unsigned call)
{
    return call < CALL_COUNT ? facts[call].name : "?";
}

enum call_role call_role(unsigned call)
{
    return call < CALL_COUNT ? facts[call].role : ROLE_CALL;
}

bool call_is_synchronous(unsigned call)
{
    switch (call) {
    case CALL_MPI_Ssend:
    case CALL_MPI_Ssend_c:
    case CALL_MPI_Ssend_init:
    case CALL_MPI_Ssend_init_c:
    case CALL_MPI_Issend:
    case CALL_MPI_Issend_c:
        return true;
    default:
        return false;
    }
}

enum call_operation call_operation(unsigned call)
{
    return call < CALL_COUNT ? facts[call].operation : OPERATION_NONE;
}

const char *call_operation_text(enum call_operation operation)
{
    static const char *const texts[OPERATION_COUNT] = {
#define X(name) #name,
        CALL_OPERATIONS(X)
#undef X
    };
    return (unsigned)operation < OPERATION_COUNT ? texts[operation] : "?";
}

enum call_id call_from_name(const char *name)
{
    for (unsigned call = 1; call < CALL_COUNT; call++)
        if (strcmp(facts[call].name, name) == 0)
            return (enum call_id)call;
    return CALL_NONE;
}
