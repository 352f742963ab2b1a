/* The zygote: see zygote.h. Must not know: what messages and communicators are. */
#include "engine/zygote/zygote.h"

#include "engine/core/core.h"
#include "engine/zygote/kept.h"
#include "engine/zygote/launcher.h"
#include "injectors/record/library.h"
#include "injectors/system/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_NOT_STARTED 127 /* as a shell says it */

bool zygote_is_asked_for(void)
{
    const char *kind = getenv(ENGINE_ENVIRONMENT);
    return kind != NULL && strcmp(kind, "step") == 0;
}

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "faultline: the step engine cannot start: %s\n", what);
    fflush(NULL);
    _exit(EXIT_NOT_STARTED);
}

/* Of ours or, the same by chance, of the user. */
static void forget_settings(void)
{
    for (size_t i = 0; i < ZYGOTE_SETTINGS; i++) {
        const char *value = getenv(zygote_settings[i][0]);
        if (value != NULL && strcmp(value, zygote_settings[i][1]) == 0)
            unsetenv(zygote_settings[i][0]);
    }
}

/* The library must not take itself for a rank of whatever job this command is part of. */
static void initialize_alone(void)
{
    static const char *const names[] = {"PMI_FD",         "PMI_RANK",    "PMI_SIZE",
                                        "PMI_PORT",       "PMI_ID",      "PMIX_RANK",
                                        "PMIX_NAMESPACE", "PMI_SPAWNED", "PMI_KVSNAME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    int provided;
    if (library.Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        give_up("MPI_Init of the MPI library failed");
}

static int number_of_ranks(void)
{
    const char *text = getenv("FAULTLINE_RANKS");
    char *end;
    long number = text != NULL ? strtol(text, &end, 10) : 0;
    if (number < 1 || number > ENGINE_MAX_PROCESSES)
        give_up("FAULTLINE_RANKS is not a number of ranks from 1 to 1024");
    return (int)number;
}

static const char *run_folder(void)
{
    const char *folder = getenv("FAULTLINE_RUN");
    if (folder == NULL || *folder == '\0')
        give_up("FAULTLINE_RUN names no folder");
    return folder;
}

bool zygote_is_program(void)
{
    static long number = -1; /* what the variable says is forgotten when ranks are forked */
    const char *text = number < 0 ? getenv(ENGINE_PROCESS_ENVIRONMENT) : NULL;
    if (number < 0)
        number = text != NULL ? strtol(text, NULL, 10) : 0;
    return number == getpid();
}

static void become_rank(bool calls_mpi)
{
    if (kept_is_asked_for()) {
        kept_check();
        if (calls_mpi)
            initialize_alone();
        forget_settings();
        kept_serve();
    } else {
        shared_memory_open(run_folder());
        (void)number_of_ranks();
        if (calls_mpi)
            initialize_alone();
        forget_settings();
    }
    launcher_run(run_folder(), number_of_ranks());
}

void zygote_become_rank(void)
{
    become_rank(true);
}

void zygote_end_as_rank(void)
{
    become_rank(false);
}
