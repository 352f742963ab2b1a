/* See follow.h. */
#include "launch/follow.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "system/path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_BYTES 65536
#define STREAMS 2

void follow_begin(struct follow *follow, const char *run, int incarnation, int ranks)
{
    *follow = (struct follow){.run = run, .incarnation = incarnation};
    follow->file = memory_new((size_t)ranks * STREAMS, sizeof *follow->file);
    follow->ranks = ranks;
    for (int i = 0; i < ranks * STREAMS; i++)
        follow->file[i] = -1;
}

static void open_one(struct follow *follow, int index)
{
    struct path path;
    const char *stream = index % STREAMS == 0 ? "out" : "err";
    if (path_format(&path, NULL, "%s/output/r%d.%d.%s", follow->run, index / STREAMS,
                    follow->incarnation, stream) == OK)
        (void)regular_open(path.text, LINKS_REFUSED, REGULAR_ANY, &follow->file[index], NULL);
}

void follow_look(struct follow *follow)
{
    static char text[COPY_BYTES];
    for (int i = 0; i < follow->ranks * STREAMS; i++) {
        if (follow->file[i] < 0)
            open_one(follow, i);
        ssize_t length;
        while (follow->file[i] >= 0 && (length = read(follow->file[i], text, sizeof text)) > 0)
            if (write(STDERR_FILENO, text, (size_t)length) < 0)
                return;
    }
}

void follow_end(struct follow *follow)
{
    for (int i = 0; i < follow->ranks * STREAMS; i++)
        if (follow->file[i] >= 0)
            close(follow->file[i]);
    free(follow->file);
    *follow = (struct follow){0};
}
