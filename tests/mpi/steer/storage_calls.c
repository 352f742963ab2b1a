/* For tests/storage.bats: one rank uses every call on files that the taps look after, below
 * FAULTLINE_STORE and elsewhere, and expects of each what libc promises. `calls`: all of it.
 * `elsewhere`: the same outside the store, where nothing may be seen. `streams`, `mapped`,
 * `threads`, `forks`, `signals`: what their names say. */
#include "mpi/expect.h"

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[PATH_MAX];

/* A path in the folder that is used; four at a time. */
static const char *in(const char *name)
{
    static char text[4][PATH_MAX + 64];
    static int next;
    next = (next + 1) % 4;
    snprintf(text[next], sizeof text[next], "%s/%s", folder, name);
    return text[next];
}

/* Whether a file holds exactly this. */
static int holds(const char *name, const char *text)
{
    char got[256];
    int fd = open(in(name), O_RDONLY);
    ssize_t bytes = read(fd, got, sizeof got);
    close(fd);
    return bytes == (ssize_t)strlen(text) && memcmp(got, text, (size_t)bytes) == 0;
}

static void write_forms(void)
{
    struct iovec parts[] = {{"ab", 2}, {"cde", 3}, {"f", 1}};
    int fd = open(in("forms"), O_RDWR | O_CREAT | O_TRUNC, 0644);
    expect(fd >= 0);
    expect(write(fd, "0123456789", 10) == 10);
    expect(pwrite(fd, "A", 1, 1) == 1);
    expect(pwrite64(fd, "B", 1, 2) == 1);
    expect(writev(fd, parts, 3) == 6);
    expect(pwritev(fd, parts, 2, 3) == 5);
    expect(pwritev64(fd, parts, 1, 0) == 2);
    expect(pwritev2(fd, parts, 1, -1, 0) == 2);
    expect(pwritev2(fd, parts, 1, 14, RWF_DSYNC) == 2);
    expect(fsync(fd) == 0 && fdatasync(fd) == 0);
    expect(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0);
    expect(close(fd) == 0);
    expect(holds("forms", "abBabcde89abcdabab"));
    expect(write(fd, "x", 1) == -1 && errno == EBADF);
    expect(fsync(-1) == -1 && errno == EBADF);
}

/* O_DSYNC is one of the bits of O_SYNC. */
static void write_through(void)
{
    for (int whole = 0; whole < 2; whole++) {
        int fd = open(in("through"), O_WRONLY | O_CREAT | (whole ? O_SYNC : O_DSYNC), 0644);
        expect(fd >= 0 && write(fd, "through", 7) == 7 && close(fd) == 0);
    }
}

static void open_forms(void)
{
    int parent = open(folder, O_RDONLY | O_DIRECTORY);
    expect(parent >= 0);
    int fd = openat(parent, "at", O_WRONLY | O_CREAT | O_EXCL, 0600);
    struct stat facts;
    expect(fd >= 0 && fstat(fd, &facts) == 0 && (facts.st_mode & 0777) == 0600);
    expect(openat(parent, "at", O_WRONLY | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
    expect(write(fd, "at", 2) == 2);
    int other = dup(fd);
    expect(close(fd) == 0);
    expect(write(other, "!", 1) == 1 && fsync(other) == 0 && close(other) == 0);
    expect(holds("at", "at!"));
    fd = creat(in("made"), 0644);
    expect(fd >= 0 && write(fd, "m", 1) == 1 && close(fd) == 0);
    fd = open64(in("made"), O_WRONLY | O_APPEND);
    expect(fd >= 0 && write(fd, "n", 1) == 1 && close(fd) == 0);
    expect(holds("made", "mn"));
    expect(open(in("none"), O_RDONLY) == -1 && errno == ENOENT);
    expect(open(in("none/none"), O_WRONLY | O_CREAT, 0644) == -1 && errno == ENOENT);
    const char *volatile nothing = NULL;
    expect(open(nothing, O_RDONLY) == -1 && errno == EFAULT);
    fd = open(folder, O_TMPFILE | O_RDWR, 0644);
    if (fd >= 0) {
        char name[64];
        expect(write(fd, "tmp", 3) == 3);
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        expect(linkat(AT_FDCWD, name, AT_FDCWD, in("from-tmp"), AT_SYMLINK_FOLLOW) == 0);
        expect(fsync(fd) == 0 && close(fd) == 0 && holds("from-tmp", "tmp"));
    }
    char pattern[PATH_MAX + 64];
    strcpy(pattern, in("temp-XXXXXX"));
    fd = mkstemp(pattern);
    expect(fd >= 0 && write(fd, "t", 1) == 1 && close(fd) == 0 && unlink(pattern) == 0);
    expect(fsync(parent) == 0 && close(parent) == 0);
}

static void name_forms(void)
{
    int parent = open(folder, O_RDONLY | O_DIRECTORY);
    expect(mkdir(in("sub"), 0755) == 0 && mkdirat(parent, "sub2", 0755) == 0);
    expect(mkdir(in("sub"), 0755) == -1 && errno == EEXIST);
    expect(rename(in("made"), in("sub/made")) == 0);
    expect(renameat(parent, "sub/made", parent, "made2") == 0);
    expect(renameat2(parent, "made2", parent, "made", RENAME_NOREPLACE) == 0);
    expect(rename(in("none"), in("made")) == -1 && errno == ENOENT);
    expect(link(in("made"), in("twin")) == 0 && linkat(parent, "made", parent, "twin2", 0) == 0);
    expect(symlink("made", in("sign")) == 0 && symlinkat("made", parent, "sign2") == 0);
    int fd = open(in("sign"), O_WRONLY | O_APPEND);
    expect(fd >= 0 && write(fd, "o", 1) == 1 && close(fd) == 0 && holds("twin", "mno"));
    expect(truncate(in("twin"), 2) == 0 && holds("made", "mn"));
    expect(unlink(in("twin")) == 0 && unlinkat(parent, "twin2", 0) == 0);
    expect(remove(in("sign")) == 0 && remove(in("sign2")) == 0);
    expect(rmdir(in("sub")) == 0 && remove(in("sub2")) == 0);
    expect(unlink(in("sub")) == -1 && errno == ENOENT);
    expect(fsync(parent) == 0 && close(parent) == 0);
}

static void other_forms(void)
{
    int fd = open(in("copy"), O_RDWR | O_CREAT, 0644), from = open(in("forms"), O_RDONLY);
    off_t at = 0;
    expect(sendfile(fd, from, &at, 4) == 4 && at == 4);
    off64_t from_at = 4;
    expect(copy_file_range(from, &from_at, fd, NULL, 2, 0) == 2);
    expect(ftruncate(fd, 5) == 0);
    expect(fallocate(fd, 0, 0, 6) == 0 && posix_fallocate(fd, 0, 7) == 0);
    expect(posix_fallocate(fd, -1, 7) == EINVAL);
    expect(syncfs(fd) == 0);
    expect(close(fd) == 0 && close(from) == 0);
    struct stat facts;
    expect(stat(in("copy"), &facts) == 0 && facts.st_size == 7);
}

static void streams(void)
{
    char line[32] = "";
    FILE *out = fopen(in("stream"), "w");
    expect(out != NULL && fileno(out) >= 0);
    expect(fprintf(out, "%s %d\n", "one", 1) == 6 && fflush(out) == 0);
    expect(fsync(fileno(out)) == 0);
    expect(fseek(out, 0, SEEK_SET) == 0 && fputs("ONE", out) >= 0);
    expect(ftell(out) == 3 && fclose(out) == 0);
    expect(holds("stream", "ONE 1\n"));
    out = fopen(in("stream"), "a+e");
    expect(out != NULL && fputs("two\n", out) >= 0);
    rewind(out);
    expect(fgets(line, sizeof line, out) != NULL && strcmp(line, "ONE 1\n") == 0);
    expect(fclose(out) == 0 && holds("stream", "ONE 1\ntwo\n"));
    FILE *in_stream = fopen(in("stream"), "r");
    expect(in_stream != NULL && fgetc(in_stream) == 'O' && fclose(in_stream) == 0);
    int fd = open(in("stream"), O_WRONLY | O_APPEND);
    out = fdopen(fd, "a");
    expect(out != NULL && fileno(out) == fd && fputc('!', out) == '!' && fclose(out) == 0);
    expect(holds("stream", "ONE 1\ntwo\n!"));
    expect(fopen(in("none"), "r") == NULL && errno == ENOENT);
    expect(fopen(in("stream"), "q") == NULL && errno == EINVAL);
    expect(fopen(in("stream"), "wx") == NULL && errno == EEXIST);
    /* Left open: exit flushes it. */
    out = fopen(in("at-exit"), "w");
    expect(out != NULL && fputs("late", out) >= 0);
}

static void mapped(void)
{
    int fd = open(in("mapped"), O_RDWR | O_CREAT, 0644);
    expect(fd >= 0 && ftruncate(fd, 8192) == 0);
    char *data = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    expect(data != MAP_FAILED && close(fd) == 0);
    memcpy(data + 4096, "mapped", 6);
    expect(msync(data + 4096, 4096, MS_SYNC) == 0 && munmap(data, 8192) == 0);
}

#define THREADS 4
#define ROUNDS 200

static void *write_much(void *argument)
{
    char name[32];
    int bad = 0;
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(name, sizeof name, "thread-%d.%d", (int)(intptr_t)argument, i % 3);
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        bad += fd < 0 || write(fd, name, strlen(name)) != (ssize_t)strlen(name) || close(fd) != 0;
        if (i % 10 == 0)
            bad += unlink(path) != 0;
    }
    return (void *)(intptr_t)bad;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, write_much, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(thread[i], &bad);
        expect(bad == NULL);
    }
}

static void forks(void)
{
    int status, fd = open(in("forked"), O_WRONLY | O_CREAT, 0644);
    pid_t child = fork();
    if (child == 0) {
        int own = open(in("child"), O_WRONLY | O_CREAT, 0644);
        _exit(write(fd, "child", 5) == 5 && fsync(fd) == 0 && own >= 0 ? 0 : 1);
    }
    expect(waitpid(child, &status, 0) == child && status == 0);
    expect(close(fd) == 0 && holds("forked", "child"));
}

static volatile sig_atomic_t handled;
static int signal_fd;

static void handler(int number)
{
    (void)number;
    int saved = errno;
    handled += write(signal_fd, "s", 1) == 1;
    errno = saved;
}

static void signals(void)
{
    struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    signal_fd = open(in("signal"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    int bad = 0;
    while (handled < 200) {
        int fd = open(in("signalled"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        bad += fd < 0 || write(fd, "data", 4) != 4 || fsync(fd) != 0 || close(fd) != 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    expect(bad == 0);
    struct stat facts;
    expect(fstat(signal_fd, &facts) == 0 && facts.st_size >= 200);
}

static void all_calls(void)
{
    write_forms();
    write_through();
    open_forms();
    name_forms();
    other_forms();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "calls";
    const char *store = strcmp(what, "elsewhere") == 0 ? "elsewhere" : getenv("FAULTLINE_STORE");
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"calls", all_calls}, {"elsewhere", all_calls}, {"streams", streams},
                 {"mapped", mapped},   {"threads", threads},     {"forks", forks},
                 {"signals", signals}};
    MPI_Init(&argc, &argv);
    snprintf(folder, sizeof folder, "%s", store != NULL && *store != '\0' ? store : ".");
    if (mkdir(folder, 0755) != 0)
        expect(errno == EEXIST);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(what, parts[i].name) == 0)
            parts[i].run();
    MPI_Finalize();
    return expect_end("storage_calls", 0);
}
