/* Ways in which a rank can live and end, for the tests of the driver. The first argument says what
 * rank 1 does (all ranks, where it says so). Each rank first writes its process number to
 * pid.<rank> in FAULTLINE_STORE, and so does every process that it forks, to child.<rank>. */
#include "faultline.h"
#include <fcntl.h>
#include <ftw.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define NAME_BYTES 64
#define PID_BYTES 12

/* With line ends behind it, so that a replay writes as many bytes, however long its number is. */
static void write_pid(const char *what, int rank)
{
    char path[PATH_BYTES], fresh[PATH_BYTES + 8], text[PID_BYTES + 1];
    const char *store = getenv("FAULTLINE_STORE");
    snprintf(path, sizeof path, "%s/%s.%d", store != NULL ? store : ".", what, rank);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        exit(99);
    int length = snprintf(text, sizeof text, "%d", (int)getpid());
    memset(text + length, '\n', (size_t)(PID_BYTES - length));
    fwrite(text, PID_BYTES, 1, file);
    fclose(file);
    rename(fresh, path);
}

static void spin(void)
{
    for (;;)
        usleep(1000);
}

static void never_return(int number)
{
    (void)number;
    spin();
}

/* A child that no signal but one ends, in a session of its own. */
static void fork_survivor(int rank)
{
    if (fork() != 0)
        return;
    setsid();
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
    write_pid("child", rank);
    spin();
}

static void wait_for_file(const char *path)
{
    struct stat status;
    while (stat(path, &status) != 0)
        usleep(1000);
}

static void wait_for_child(int rank)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/child.%d", getenv("FAULTLINE_STORE"), rank);
    wait_for_file(path);
}

/* Two jobs that only go on together: each leaves a file and waits for the other's. */
static void meet(const char *mine, const char *other)
{
    FILE *file = fopen(mine, "w");
    if (file == NULL)
        exit(99);
    fclose(file);
    wait_for_file(other);
}

static void deadlock(int rank, int ranks)
{
    int byte = 0;
    MPI_Recv(&byte, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* For a message that nobody sends. */
static void poll_in_vain(bool draws)
{
    for (int there = 0; !there; usleep(10)) {
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (draws) /* what it asks outside MPI says no, too */
            faultline_drawn("answer", &there, sizeof there);
    }
}

static void *compute(void *nothing)
{
    for (volatile unsigned long step = 0;; step++)
        ;
    return nothing;
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute, NULL) != 0)
        exit(99);
}

/* As a program whose checkpoint does not fit on the disk. */
static void fill_disk(void)
{
    static char block[65536];
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/checkpoint", getenv("FAULTLINE_STORE"));
    FILE *file = fopen(path, "w");
    while (file != NULL && fwrite(block, 1, sizeof block, file) == sizeof block &&
           fflush(file) == 0)
        ;
    exit(7);
}

/* Fails unless its rank has been killed before. */
static void need_second_life(void)
{
    char path[PATH_BYTES];
    struct stat status;
    snprintf(path, sizeof path, "%s/trace/r1.1.trace", getenv("FAULTLINE_RUN"));
    if (stat(path, &status) != 0)
        exit(7);
}

/* By its number in the store, where it may yet have to be written. */
static void kill_rank(int rank, int number)
{
    char path[PATH_BYTES];
    int pid;
    snprintf(path, sizeof path, "%s/pid.%d", getenv("FAULTLINE_STORE"), rank);
    wait_for_file(path);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%d", &pid) != 1)
        exit(99);
    fclose(file);
    kill(pid, number);
}

/* An MPI error that is fatal in rank 1, or in both: more comes than there is room for. */
static void overrun(int rank, bool both)
{
    int numbers[64] = {0};
    if (both || rank == 0)
        MPI_Send(numbers, 64, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    if (both || rank == 1)
        MPI_Recv(numbers, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int put_fifo(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts;
    (void)where;
    if (type == FTW_F && strstr(path, "/store/") == NULL) {
        unlink(path);
        mkfifo(path, 0666);
    }
    return 0;
}

/* In the run folder, in place of all that is there and of what will be. */
static void leave_fifos(void)
{
    static const char *const names[] = {"run.json",
                                        "verdict.json",
                                        "tap",
                                        "decisions",
                                        "stacks.txt",
                                        "divergence",
                                        "report.html",
                                        "store/checkpoint",
                                        "durable",
                                        "lost",
                                        "control",
                                        "trace/r0.1.trace",
                                        "trace/r1.1.trace",
                                        "output/r0.1.out",
                                        "output/r0.1.err",
                                        "functions",
                                        "durable/lost",
                                        "snapshots/r1.0.killed"};
    char path[PATH_BYTES];
    const char *run = getenv("FAULTLINE_RUN");
    if (nftw(run, put_fifo, 16, FTW_PHYS) != 0)
        exit(99);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", run, names[i]);
        mkfifo(path, 0666);
    }
}

/* Two files as an MPI library makes them for its shared memory, and one of the program's own; the
 * names go to shared.1 in the store, a line each. */
static void take_shared_memory(void)
{
    char path[PATH_BYTES], pattern[] = "/dev/shm/mpich_shar_tmpXXXXXX";
    char ucx[NAME_BYTES], own[NAME_BYTES];
    snprintf(ucx, sizeof ucx, "/ucx_shm_posix_t%d", (int)getpid());
    snprintf(own, sizeof own, "/faultline-test-%d", (int)getpid());
    if (mkstemp(pattern) < 0 || shm_open(ucx, O_CREAT | O_EXCL | O_RDWR, 0600) < 0 ||
        shm_open(own, O_CREAT | O_EXCL | O_RDWR, 0600) < 0)
        exit(99);
    snprintf(path, sizeof path, "%s/shared.1", getenv("FAULTLINE_STORE"));
    FILE *file = fopen(path, "w");
    if (file == NULL)
        exit(99);
    fprintf(file, "%s\n/dev/shm%s\n/dev/shm%s\n", pattern, ucx, own);
    fclose(file);
    spin();
}

/* Of /proc; 0 if it is gone. */
static int parent_of(int pid)
{
    char path[NAME_BYTES];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d %*s %*c %d", &parent) != 1)
        parent = 0;
    if (file != NULL)
        fclose(file);
    return parent;
}

/* The connection to the launcher breaks off, and the launcher is so slow (it is stopped) that
 * nothing ends the job for a while: what comes of it must not be told as this rank's failure. */
static void lose_launcher(void)
{
    char byte;
    int connection = atoi(getenv("PMI_FD"));
    kill(parent_of(getppid()), SIGSTOP);
    shutdown(connection, SHUT_RDWR);
    if (read(connection, &byte, 1) <= 0)
        _exit(9);
}

/* For the life of rank 0: a launcher that has been stopped goes on within two seconds. */
static void wake_launcher(void)
{
    pid_t rank = getpid(), launcher = parent_of(getppid());
    if (fork() != 0)
        return;
    while (getppid() == rank) {
        sleep(2);
        kill(launcher, SIGCONT);
    }
    _exit(0);
}

/* Exits without MPI_Finalize while the launcher is stopped. It stops the launcher only when rank 0
 * has left MPI_Init, which may need the launcher, and has begun to wake it. */
static void leave_unnoticed(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    kill(parent_of(getppid()), SIGSTOP);
    _exit(0);
}

/* What rank 1 alone does. */
static void live_apart(const char *how, int rank)
{
    if (strcmp(how, "exit") == 0)
        exit(7);
    if (strcmp(how, "no-finalize") == 0)
        exit(0);
    if (strcmp(how, "no-finalize-unnoticed") == 0)
        leave_unnoticed();
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "shared-memory") == 0)
        take_shared_memory();
    if (strcmp(how, "lost-launcher") == 0)
        lose_launcher();
    if (strcmp(how, "abort-0") == 0)
        MPI_Abort(MPI_COMM_WORLD, 0);
    if (strcmp(how, "kill-self") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "term-other") == 0)
        kill_rank(0, SIGTERM);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "divide") == 0)
        raise(SIGFPE);
    if (strcmp(how, "fill") == 0)
        fill_disk();
    if (strcmp(how, "second-life") == 0)
        need_second_life();
    if (strcmp(how, "poll-beside-thread") == 0)
        start_thread();
    if (strcmp(how, "fork") == 0) {
        fork_survivor(rank);
        wait_for_child(rank);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "ok";
    if (strcmp(how, "no-init") == 0)
        return 0;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    write_pid("pid", rank);
    printf("rank %d lives: %s\n", rank, how);
    fflush(stdout);
    if (rank == 0 && strcmp(how, "no-finalize-unnoticed") == 0) {
        wake_launcher();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1)
        live_apart(how, rank);
    if (strcmp(how, "fork-spin") == 0)
        fork_survivor(rank);
    if (strcmp(how, "handler") == 0) {
        signal(SIGTERM, never_return);
        signal(SIGINT, never_return);
        raise(SIGTERM);
    }
    if (strcmp(how, "spin") == 0 || strcmp(how, "fork-spin") == 0)
        spin();
    if (strncmp(how, "poll", strlen("poll")) == 0)
        poll_in_vain(strcmp(how, "poll-and-draw") == 0);
    if (strcmp(how, "deadlock") == 0)
        deadlock(rank, ranks);
    if (strncmp(how, "overrun", strlen("overrun")) == 0)
        overrun(rank, strcmp(how, "overrun-both") == 0);
    if (strcmp(how, "meet") == 0 && rank == 0)
        meet(argv[2], argv[3]);
    if (strcmp(how, "forged-phase") == 0)
        faultline_phase("x\nok 7 - forged\033[2J");
    if (strncmp(how, "fifos", strlen("fifos")) == 0 && rank == 0)
        leave_fifos();
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "fifos-exit") == 0)
        return 7;
    MPI_Finalize();
    return 0;
}
