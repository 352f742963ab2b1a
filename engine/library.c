/* The table of the engine: see library.h. */
#include "engine/library.h"

#include "engine/core/core.h"
#include "engine/messages/mailbox.h"

#include <string.h>

struct library local;

typedef void (*function)(void);

/* A refusal does not return, so it does not matter with which arguments it is called. */
static _Noreturn void refuse(const char *name)
{
    engine_refuse(name, "one-sided and partitioned communication, files, sessions and what needs "
                        "another machine are not its");
}

#define REFUSAL(member, name, lower, from_library)                                                 \
    static void refused_##member(void)                                                             \
    {                                                                                              \
        refuse(name);                                                                              \
    }
/* cppcheck-suppress unknownMacro ; a header that is generated has it */
LIBRARY_FUNCTIONS(REFUSAL)

/* In the order of struct library, of which every member is a function. Their prototypes differ:
 * they are copied as bytes, as they come from dlsym. */
static const function refusals[] = {
#define REFUSED(member, name, lower, from_library) refused_##member,
    LIBRARY_FUNCTIONS(REFUSED)};
_Static_assert(sizeof refusals == sizeof(struct library), "a member without a refusal");

static void keep_local(struct library *table)
{
#define X(member) table->member = local.member;
#define X_C(member)                                                                                \
    table->member = local.member;                                                                  \
    table->member##_c = local.member##_c;
#include "engine/local.def"
}

/* A function without a lower tap, such as MPI_Wtime, is called by the upper tap in the MPI library
 * itself. The engine's takes its place: the library's MPI_Wtime counts from the full hour of the
 * real clock. */
static void lead_upper_to(const struct library *table)
{
    for (size_t at = 0; at < sizeof *table; at += sizeof(function))
        if (memcmp((char *)&upper + at, (char *)&local + at, sizeof(function)) == 0)
            memcpy((char *)&upper + at, (const char *)table + at, sizeof(function));
}

void engine_prepare(void)
{
    mailbox_open();
}

void engine_fill(struct library *table)
{
    local = *table;
    memcpy(table, refusals, sizeof refusals);
    keep_local(table);
    life_fill(table);
    requests_fill(table);
    messages_fill(table);
    communicators_fill(table);
    collectives_fill(table);
    ulfm_fill(table);
    dynamic_fill(table);
    lead_upper_to(table);
}
