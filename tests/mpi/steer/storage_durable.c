/* For tests/storage.bats: one rank replaces a file in the checkpoint store, "old" by "new", dies
 * somewhere in between by the plan, and in its next life looks at what it finds.
 *
 * storage_durable SEQUENCE EXPECTED: `durable` is the one of
 * suites/protocols/common/base/durable.c; `no-file-sync`, `no-folder-sync` and `in-place` leave out
 * what their names say. EXPECTED: old or new, whole; anything else ends the second life with
 * status 1. */
#include "../../harness/base/error.c"
#include "../../suites/protocols/common/base/durable.c"

#include "faultline.h"

#include <mpi.h>

#define CONTENT_BYTES 4000
#define KIND "TEST"

static char store[PATH_MAX / 2], run[PATH_MAX / 2];

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(2);
}

/* 'o' or 'n', often. */
static const char *content_of(const char *name)
{
    static char content[CONTENT_BYTES];
    memset(content, name[0], sizeof content);
    return content;
}

static void write_durably(const char *path, const char *name)
{
    struct durable_file file;
    struct error error = {0};
    enum error_code code = durable_create(&file, path, KIND, CONTENT_BYTES, &error);
    if (code == OK)
        code = durable_write(&file, content_of(name), CONTENT_BYTES, &error);
    if (code == OK)
        code = durable_finish(&file, &error);
    if (code == OK)
        code = durable_publish(&file, &error);
    must(code == OK, error.text);
}

/* The same bytes by a sequence that is wrong. They are made outside the store first. */
static void write_wrongly(const char *path, const char *name, const char *sequence)
{
    char scratch[PATH_MAX], other[PATH_MAX + 8], bytes[2 * CONTENT_BYTES];
    bool in_place = strcmp(sequence, "in-place") == 0;
    snprintf(scratch, sizeof scratch, "%s/scratch", run);
    snprintf(other, sizeof other, "%s.new", path);
    write_durably(scratch, name);
    int from = open(scratch, O_RDONLY);
    ssize_t length = read(from, bytes, sizeof bytes);
    close(from);
    int fd = open(in_place ? path : other, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, bytes, (size_t)length) == length, "write");
    if (strcmp(sequence, "no-file-sync") != 0)
        must(fsync(fd) == 0, "fsync");
    close(fd);
    if (!in_place)
        must(rename(other, path) == 0, "rename");
    int folder = open(store, O_RDONLY | O_DIRECTORY);
    if (strcmp(sequence, "no-folder-sync") != 0)
        must(fsync(folder) == 0, "fsync of the folder");
    close(folder);
}

static int look(const char *path, const char *expected)
{
    void *payload;
    uint64_t bytes;
    struct error error = {0};
    if (durable_read(path, KIND, &payload, &bytes, &error) != OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    bool good = bytes == CONTENT_BYTES && memcmp(payload, content_of(expected), bytes) == 0;
    fprintf(stderr, "found %c, expected %s\n", *(char *)payload, expected);
    free(payload);
    return good ? 0 : 1;
}

/* Both lives are counted in the run folder, which no power failure reaches. */
static bool is_second_life(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/begun", run);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    int status = 0;
    must(argc == 3 && getenv("FAULTLINE_STORE") && getenv("FAULTLINE_RUN"), "arguments");
    snprintf(store, sizeof store, "%s", getenv("FAULTLINE_STORE"));
    snprintf(run, sizeof run, "%s", getenv("FAULTLINE_RUN"));
    snprintf(path, sizeof path, "%s/file", store);
    MPI_Init(&argc, &argv);
    if (is_second_life()) {
        status = look(path, argv[2]);
    } else {
        write_durably(path, "old");
        faultline_phase("old");
        if (strcmp(argv[1], "durable") == 0)
            write_durably(path, "new");
        else
            write_wrongly(path, "new", argv[1]);
        faultline_phase("new");
    }
    MPI_Finalize();
    return status;
}
