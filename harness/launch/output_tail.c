/* See tail.h. */
#include "launch/output_tail.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "system/path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES 65536
#define STREAMS 2

void output_tail_begin(struct output_tail *tail, const char *run, int incarnation, int ranks)
{
    *tail = (struct output_tail){.run = run, .incarnation = incarnation};
    tail->file = memory_new((size_t)ranks * STREAMS, sizeof *tail->file);
    tail->ranks = ranks;
    for (int i = 0; i < ranks * STREAMS; i++)
        tail->file[i] = -1;
}

static void open_one(struct output_tail *tail, int index)
{
    struct path path;
    const char *stream = index % STREAMS == 0 ? "out" : "err";
    if (path_format(&path, NULL, "%s/output/r%d.%d.%s", tail->run, index / STREAMS,
                    tail->incarnation, stream) == OK)
        (void)regular_open(path.text, LINKS_REFUSED, REGULAR_ANY, &tail->file[index], NULL);
}

void output_tail_copy(struct output_tail *tail, int ranks)
{
    static char text[COPY_BYTES];
    for (int i = 0; i < ranks * STREAMS && i < tail->ranks * STREAMS; i++) {
        if (tail->file[i] < 0)
            open_one(tail, i);
        ssize_t length;
        while (tail->file[i] >= 0 && (length = read(tail->file[i], text, sizeof text)) > 0)
            if (write(i % STREAMS == 0 ? STDOUT_FILENO : STDERR_FILENO, text, (size_t)length) < 0)
                return;
    }
}

void output_tail_end(struct output_tail *tail)
{
    for (int i = 0; i < tail->ranks * STREAMS; i++)
        if (tail->file[i] >= 0)
            close(tail->file[i]);
    free(tail->file);
    *tail = (struct output_tail){0};
}
