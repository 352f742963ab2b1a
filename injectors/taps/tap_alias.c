/* What protocols say of handles of their own (faultline_handle): which of the library's each stands
 * for, and the identity of a communicator. See tap_communicator.h. Must not know: communicators. */
#include "injectors/taps/tap_communicator.h"

#include <faultline.h>

#include <stdlib.h>

#define ALIAS_BUCKETS 64u

struct alias {
    struct alias *next;
    int what;
    uint64_t handle;
    uint64_t stands_for;
};

static struct alias *aliases[ALIAS_BUCKETS];
static atomic_flag aliases_taken = ATOMIC_FLAG_INIT;
static _Atomic unsigned alias_count;

static void lock_aliases(void)
{
    while (atomic_flag_test_and_set_explicit(&aliases_taken, memory_order_acquire))
        sched_yield();
}

static void unlock_aliases(void)
{
    atomic_flag_clear_explicit(&aliases_taken, memory_order_release);
}

static struct alias **alias_link(int what, uint64_t handle)
{
    struct alias **link = &aliases[(handle * 31u + (unsigned)what) % ALIAS_BUCKETS];
    while (*link && ((*link)->what != what || (*link)->handle != handle))
        link = &(*link)->next;
    return link;
}

static void alias_remove(struct alias **link)
{
    struct alias *old = *link;
    if (!old)
        return;
    *link = old->next;
    free(old);
    atomic_fetch_sub(&alias_count, 1);
}

static void alias_add(struct alias **link, int what, uint64_t handle, uint64_t stands_for)
{
    struct alias *new = malloc(sizeof *new);
    if (!new)
        return;
    *new = (struct alias){NULL, what, handle, stands_for};
    *link = new;
    atomic_fetch_add(&alias_count, 1);
}

void tap_handle_alias(int what, uint64_t handle, uint64_t stands_for)
{
    lock_aliases();
    struct alias **link = alias_link(what, handle);
    if (stands_for == 0)
        alias_remove(link);
    else if (*link)
        (*link)->stands_for = stands_for;
    else
        alias_add(link, what, handle, stands_for);
    unlock_aliases();
    atomic_fetch_add(&communicator_changes[LEVEL_APP], 1);
    if (what == FAULTLINE_COMM_IDENTITY && stands_for != 0)
        communicator_back(handle);
}

bool tap_handle_find(int what, uint64_t handle, uint64_t *meant)
{
    if (likely(atomic_load_explicit(&alias_count, memory_order_relaxed) == 0))
        return false;
    lock_aliases();
    const struct alias *found = *alias_link(what, handle);
    if (found)
        *meant = found->stands_for;
    unlock_aliases();
    return found != NULL;
}

uint64_t tap_handle_resolve(int what, uint64_t handle)
{
    uint64_t meant;
    return tap_handle_find(what, handle, &meant) ? meant : handle;
}
