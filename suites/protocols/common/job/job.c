/* See job.h. */
#include "common/job/job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define REASON_BYTES 1024

struct job job;

void die(const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s %d: %s\n", this_protocol.name, this_protocol.member, job.process,
            reason);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE); /* MPI_Abort may return, and nothing may be promised after it */
}

void must(enum error_code code, const struct error *error)
{
    if (code != OK)
        die("%s: %s", error_code_text(code), error->text);
}

void refuse(const char *what, const char *instead)
{
    die("%s is not supported by %s; supported: %s", what, this_protocol.title, instead);
}

void *memory(size_t count, size_t bytes)
{
    void *made = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!made)
        die("out of memory for %zu times %zu bytes", count, bytes);
    return made;
}

void *larger(void *old, size_t bytes)
{
    void *made = realloc(old, bytes);
    if (!made)
        die("out of memory for %zu bytes", bytes);
    return made;
}

long number_setting(const char *name, long least, long most, long otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || *end || number < least || number > most)
        die("%s=%s; accepted: %ld to %ld", name, text, least, most);
    return number;
}

uint64_t newest_line(const struct line_store *store, MPI_Comm comm)
{
    struct error error;
    uint64_t newest = LINE_NONE;
    if (job.process == 0)
        must(line_newest(store, &newest, &error), &error);
    PMPI_Bcast(&newest, 1, MPI_UINT64_T, 0, comm);
    return newest;
}

void must_be_inside(bool inside, const char *function)
{
    if (!inside)
        die("%s called outside MPI_Init and MPI_Finalize", function);
}

static void start(char **arguments)
{
    job.arguments = arguments;
    PMPI_Comm_rank(MPI_COMM_WORLD, &job.process);
    PMPI_Comm_size(MPI_COMM_WORLD, &job.processes);
    protocol_start();
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS)
        start(argv ? *argv : NULL);
    return status;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int wanted = required < this_protocol.threads ? required : this_protocol.threads;
    int status = PMPI_Init_thread(argc, argv, wanted, provided);
    if (status == MPI_SUCCESS && *provided > this_protocol.threads)
        *provided = this_protocol.threads;
    if (status == MPI_SUCCESS)
        start(argv ? *argv : NULL);
    return status;
}
