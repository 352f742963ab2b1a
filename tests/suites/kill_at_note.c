/* A stand-in for libfaultline.so, to be preloaded: it kills its own process with SIGKILL when the
 * rank KILL_RANK tells the note KILL_NOTE (the name of a phase, or "checkpoint", "saved", "commit",
 * "restored") for the KILL_NTH time. With it the suites are tested without Faultline. */
#define _GNU_SOURCE
#include "faultline.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static const char *name_of(int kind, const char *name)
{
    static const char *const kinds[] = {"", "checkpoint", "saved", "commit", "restored"};
    if (name)
        return name;
    return kind <= FAULTLINE_RESTORED ? kinds[kind] : "";
}

void faultline_note(int kind, uint64_t value, const char *name, const void *data, size_t bytes)
{
    static int seen;
    (void)value, (void)data, (void)bytes;
    if (strcmp(environment("KILL_RANK"), environment("PMI_RANK")) != 0 ||
        strcmp(environment("KILL_NOTE"), name_of(kind, name)) != 0)
        return;
    if (++seen == atoi(environment("KILL_NTH")))
        kill(getpid(), SIGKILL);
}

void faultline_handle(int what, uint64_t handle, uint64_t stands_for)
{
    (void)what, (void)handle, (void)stands_for;
}
