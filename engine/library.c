/* The table of the engine: see library.h. */
#include "engine/library.h"

#include "engine/core/core.h"
#include "engine/messages/mailbox.h"

#include <string.h>

struct library local;

/* Functions whose prototypes differ: stored as bytes, as they come from dlsym. A refusal does not
 * return, so it does not matter with which arguments it is called. */
static void store(void *member, void (*function)(void))
{
    memcpy(member, &function, sizeof function);
}

#define REFUSAL(member, name, lower, from_library)                                                 \
    static void refused_##member(void)                                                             \
    {                                                                                              \
        engine_refuse(name, "one-sided and partitioned communication, files, sessions and what "   \
                            "needs another machine are not its");                                  \
    }
/* cppcheck-suppress unknownMacro ; a header that is generated has it */
LIBRARY_FUNCTIONS(REFUSAL)

static void refuse_all(struct library *table)
{
#define REFUSE(member, name, lower, from_library) store(&table->member, refused_##member);
    LIBRARY_FUNCTIONS(REFUSE)
}

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
#define LEAD(member, name, lower, from_library)                                                    \
    if (upper.member == local.member)                                                              \
        upper.member = table->member;
    LIBRARY_FUNCTIONS(LEAD)
}

void engine_prepare(void)
{
    mailbox_open();
}

void engine_fill(struct library *table)
{
    local = *table;
    refuse_all(table);
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
