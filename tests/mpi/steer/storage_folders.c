/* For tests/storage.bats: one rank publishes a checkpoint as a folder: it fills `tmp`, syncs the
 * file and the folder, and renames it to `l1`, twice. Then it dies by the plan, and in its next
 * life looks at what it finds.
 *
 * storage_folders HOW SYNCED EXPECTED
 * HOW: what becomes of the folder of the first time: `remove`: its file and it are removed;
 * `over`: its file is removed and `tmp` renamed over it; `exchange`: it and `tmp` change names.
 * SYNCED: how many of the two times the store itself is synced after the rename, from the first.
 * EXPECTED: what is in l1 in the second life: 1, 2, or 0 for no folder of this name. */
#include "faultline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(2);
}

/* The store is the current folder. */
static void sync_folder(const char *name)
{
    int fd = open(name, O_RDONLY | O_DIRECTORY);
    must(fd >= 0 && fsync(fd) == 0 && close(fd) == 0, name);
}

static void fill(char content)
{
    must(mkdir("tmp", 0777) == 0 || errno == EEXIST, "mkdir tmp");
    int fd = open("tmp/state", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, &content, 1) == 1 && fsync(fd) == 0 && close(fd) == 0, "tmp/state");
    sync_folder("tmp");
}

static void publish(const char *how)
{
    struct stat facts;
    bool there = stat("l1", &facts) == 0;
    if (there && strcmp(how, "exchange") == 0) {
        must(renameat2(AT_FDCWD, "tmp", AT_FDCWD, "l1", RENAME_EXCHANGE) == 0, "exchange");
        return;
    }
    if (there)
        must(unlink("l1/state") == 0, "unlink l1/state");
    if (there && strcmp(how, "remove") == 0)
        must(rmdir("l1") == 0, "rmdir l1");
    must(rename("tmp", "l1") == 0, "rename");
}

static int look(char expected)
{
    char found = '0';
    struct stat facts;
    int fd = open("l1/state", O_RDONLY);
    if (fd < 0 && stat("l1", &facts) == 0)
        found = '?'; /* a folder without its file */
    must(fd < 0 || read(fd, &found, 1) == 1, "read l1/state");
    fprintf(stderr, "found %c, expected %c\n", found, expected);
    return found == expected ? 0 : 1;
}

/* Both lives are counted in the run folder, which no power failure reaches. */
static bool is_second_life(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/begun", getenv("FAULTLINE_RUN"));
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    must(argc == 4 && getenv("FAULTLINE_RUN") && getenv("FAULTLINE_STORE"), "arguments");
    must(chdir(getenv("FAULTLINE_STORE")) == 0, "chdir");
    MPI_Init(&argc, &argv);
    if (is_second_life()) {
        status = look(argv[3][0]);
    } else {
        for (int time = 1; time <= 2; time++) {
            fill((char)('0' + time));
            publish(argv[1]);
            if (time <= atoi(argv[2]))
                sync_folder(".");
        }
        faultline_phase("published");
    }
    MPI_Finalize();
    return status;
}
