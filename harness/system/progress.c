/* See progress.h. */
#include "system/progress.h"

#include "trace/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RED "\033[31m"
#define PLAIN "\033[0m"
#define CLEAR_LINE "\r\033[K"
#define NAME_SHOWN 40

void progress_begin(struct progress *progress, size_t total)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    *progress = (struct progress){.total = total, .start_ns = clock_monotonic_ns()};
    progress->on = isatty(STDERR_FILENO) != 0 && terminal != NULL && strcmp(terminal, "dumb") != 0;
    progress->colour = no_colour == NULL || *no_colour == '\0';
}

static void show_time_left(const struct progress *progress, double seconds)
{
    if (progress->total == 0 || progress->done == 0)
        return;
    double left = seconds / (double)progress->done * (double)(progress->total - progress->done);
    fprintf(stderr, ", about %.0f s left", left);
}

void progress_show(const struct progress *progress, const char *running)
{
    if (!progress->on)
        return;
    double seconds = (double)(clock_monotonic_ns() - progress->start_ns) / 1e9;
    bool red = progress->failed > 0 && progress->colour;
    fprintf(stderr, CLEAR_LINE "%zu", progress->done);
    if (progress->total > 0)
        fprintf(stderr, "/%zu", progress->total);
    fprintf(stderr, " runs, %.1f/s, %s%zu not passed%s", (double)progress->done / seconds,
            red ? RED : "", progress->failed, red ? PLAIN : "");
    show_time_left(progress, seconds);
    fprintf(stderr, " - %.*s", NAME_SHOWN, running);
    fflush(stderr);
}

void progress_hide(const struct progress *progress)
{
    if (progress->on)
        fputs(CLEAR_LINE, stderr);
}
