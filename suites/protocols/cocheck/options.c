/* See options.h. */
#include "cocheck/options.h"

#include "common/job/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST_DEFAULT "127.0.0.1"

static enum error_code refuse_moves(const char *text, const char *why, struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "COCHECK_MIGRATE=%s: %s; accepted: rank@line, several with commas between, "
                     "as 1@2,0@3",
                     text, why);
}

/* "rank@line" at *text, which then is after it. */
static bool read_move(const char **text, struct move *move)
{
    char *end;
    errno = 0;
    long rank = strtol(*text, &end, 10);
    if (errno || end == *text || *end != '@' || rank < 0)
        return false;
    const char *after = end + 1;
    long long line = strtoll(after, &end, 10);
    if (errno || end == after || line < 1 || (*end && *end != ','))
        return false;
    *move = (struct move){.rank = (int)rank, .line = (uint64_t)line};
    *text = *end ? end + 1 : end;
    return true;
}

static enum error_code read_moves(struct options *options, int ranks, struct error *error)
{
    const char *text = getenv("COCHECK_MIGRATE");
    options->move_count = 0;
    for (const char *next = text ? text : ""; *next;) {
        struct move move;
        if (options->move_count == MOVES_MAX)
            return error_set(error, ERROR_LIMIT, "COCHECK_MIGRATE=%s; accepted: at most %d ranks",
                             text, MOVES_MAX);
        if (!read_move(&next, &move))
            return refuse_moves(text, "not understood", error);
        if (move.rank >= ranks)
            return refuse_moves(text, "no such rank", error);
        if (options_moves(options, move.rank, move.line))
            return refuse_moves(text, "a rank twice in one line", error);
        options->move[options->move_count++] = move;
    }
    if (options->move_count > 0 && (size_t)options->skeletons < options->move_count)
        return error_set(error, ERROR_USAGE,
                         "COCHECK_MIGRATE=%s needs %zu skeleton processes, COCHECK_SKELETONS has "
                         "%d",
                         text, options->move_count, options->skeletons);
    return OK;
}

enum error_code options_read(struct options *options, int processes, struct error *error)
{
    const char *host = getenv("COCHECK_HOST");
    options->host = host && *host ? host : HOST_DEFAULT;
    options->every = (unsigned)number_setting("COCHECK_EVERY", 1, EVERY_MAX, EVERY_DEFAULT);
    options->skeletons = (int)number_setting("COCHECK_SKELETONS", 0, SKELETONS_MAX, 0);
    if (options->skeletons >= processes)
        return error_set(error, ERROR_USAGE,
                         "COCHECK_SKELETONS=%d of %d processes; accepted: so many that a rank is "
                         "left, 0 to %d",
                         options->skeletons, processes, processes - 1);
    return read_moves(options, processes - options->skeletons, error);
}

size_t options_movers(const struct options *options, uint64_t line)
{
    size_t count = 0;
    for (size_t i = 0; i < options->move_count; i++)
        count += options->move[i].line == line;
    return count;
}

bool options_moves(const struct options *options, int rank, uint64_t line)
{
    for (size_t i = 0; i < options->move_count; i++)
        if (options->move[i].rank == rank && options->move[i].line == line)
            return true;
    return false;
}
