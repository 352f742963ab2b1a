/* See difference.h. */
#include "system/difference.h"

#include "base/memory.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COPY_BYTES 4096

static enum error_code write_file(const char *folder, const char *name, const char *text,
                                  struct path *path, struct error *error)
{
    enum error_code code = path_format(path, error, "%s/.%s", folder, name);
    if (code != OK)
        return code;
    FILE *file = fopen(path->text, "we");
    bool good = file != NULL && fputs(text, file) >= 0;
    if (file != NULL && fclose(file) != 0)
        good = false;
    return good ? OK : error_set(error, ERROR_IO, "%s: %s", path->text, strerror(errno));
}

/* All that comes, as a text. */
static char *read_all(int in)
{
    char bytes[COPY_BYTES], *text;
    size_t length;
    ssize_t got;
    FILE *out = memory_stream(&text, &length);
    while ((got = read(in, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)got, out);
    memory_stream_end(out);
    return text;
}

/* false: it could not be started. */
static bool start(char *const *words, int out, pid_t *pid)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool good = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) == 0 &&
                posix_spawnp(pid, words[0], &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

static enum error_code run_diff(char *const *words, char **difference, struct error *error)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, ERROR_IO, "pipe: %s", strerror(errno));
    bool started = start(words, ends[1], &pid);
    close(ends[1]);
    *difference = started ? read_all(ends[0]) : NULL;
    close(ends[0]);
    int status;
    while (started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (*difference != NULL && **difference == '\0') {
        free(*difference);
        *difference = NULL;
    }
    return OK;
}

enum error_code difference_of(const char *folder, const char *old_name, const char *old,
                              const char *fresh_name, const char *fresh, char **difference,
                              struct error *error)
{
    struct path left, right;
    *difference = NULL;
    enum error_code code = write_file(folder, old_name, old, &left, error);
    if (code == OK)
        code = write_file(folder, fresh_name, fresh, &right, error);
    if (code != OK)
        return code;
    char *labels[] = {memory_text(old_name), memory_text(fresh_name)};
    char *words[] = {(char[]){"diff"}, (char[]){"-u"},      (char[]){"--label"},
                     labels[0],        (char[]){"--label"}, labels[1],
                     left.text,        right.text,          NULL};
    code = run_diff(words, difference, error);
    free(labels[0]);
    free(labels[1]);
    unlink(left.text);
    unlink(right.text);
    return code;
}
