/* What a program does before its first MPI call, for the tests of zygotes that are kept. The first
 * argument is a file to which each start of the program adds a line, "command" where the parent is
 * the command itself (a zygote that is kept) and "job" otherwise; the second says what else:
 *   say      prints before MPI_Init; after it the value of the variable that the third names
 *   open     leaves a file open, asks for the store, shares memory, forks a child or starts a
 *   ask      thread before MPI_Init: after each of these the program must be started anew
 *   share
 *   fork
 *   thread
 *   wait     the first time that a kept zygote has forked the ranks, rank 0 writes into the file
 *            FILE.here the process numbers of zygote, launcher process and its own, and waits
 *            for the file FILE.go; rank 1 has a child by then, in a session of its own
 *   hang     the same, but rank 0 then waits for a message that nobody sends */
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define NAME_BYTES 64
#define STEP_MS 5
#define SAID_LINES 1000 /* more than is copied at once */

static const char *file;

/* Of a process: its parent and its name. */
static pid_t look_up(pid_t pid, char name[NAME_BYTES])
{
    char path[NAME_BYTES];
    int parent = 0;
    name[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "r");
    if (stat == NULL || fscanf(stat, "%*d (%63[^)]) %*c %d", name, &parent) != 2)
        parent = 0;
    if (stat != NULL)
        fclose(stat);
    return parent;
}

/* The command's parent is none of its processes, a job's is the command; under mpiexec the parent
 * is neither. */
static const char *who_started(void)
{
    char name[NAME_BYTES];
    pid_t grandparent = look_up(getppid(), name);
    if (strcmp(name, "faultline") != 0)
        return "mpiexec\n";
    look_up(grandparent, name);
    return strcmp(name, "faultline") == 0 ? "job\n" : "command\n";
}

static void add_line(const char *text)
{
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        exit(99);
    close(fd);
}

static void *sleep_on(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void begin(const char *mode)
{
    pthread_t thread;
    if (strcmp(mode, "say") == 0)
        for (int i = 0; i < SAID_LINES; i++)
            fprintf(stderr, "said before\n");
    if (strcmp(mode, "open") == 0 && open("/dev/null", O_RDONLY) < 0)
        exit(99);
    if (strcmp(mode, "ask") == 0 && getenv("FAULTLINE_STORE") == NULL)
        fprintf(stderr, "no store\n");
    if (strcmp(mode, "share") == 0 &&
        mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        exit(99);
    if (strcmp(mode, "fork") == 0 && fork() == 0)
        for (;;)
            pause();
    if (strcmp(mode, "thread") == 0 && pthread_create(&thread, NULL, sleep_on, NULL) != 0)
        exit(99);
}

static void path_of(char path[PATH_BYTES], const char *what)
{
    snprintf(path, PATH_BYTES, "%s.%s", file, what);
}

/* By the real clock, whatever the engine does with time. */
static void wait_for(const char *what)
{
    char path[PATH_BYTES];
    path_of(path, what);
    while (access(path, F_OK) != 0)
        poll(NULL, 0, STEP_MS);
}

static void write_numbers(const char *what, const char *numbers)
{
    char path[PATH_BYTES], fresh[PATH_BYTES + 8];
    path_of(path, what);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *out = fopen(fresh, "w");
    if (out == NULL)
        exit(99);
    fputs(numbers, out);
    fclose(out);
    rename(fresh, path);
}

static void leave_child(void)
{
    char number[NAME_BYTES];
    if (fork() != 0) {
        wait_for("child");
        return;
    }
    setsid();
    snprintf(number, sizeof number, "%d\n", (int)getpid());
    write_numbers("child", number);
    for (;;)
        pause();
}

static void stay(int rank)
{
    char name[NAME_BYTES], own[NAME_BYTES], path[PATH_BYTES], numbers[4 * NAME_BYTES];
    pid_t launcher = getppid(), zygote = look_up(launcher, name);
    look_up(getpid(), own);
    look_up(zygote, name);
    path_of(path, "go");
    if (strcmp(name, own) != 0 || access(path, F_OK) == 0)
        return;
    if (rank == 1)
        leave_child();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    snprintf(numbers, sizeof numbers, "%d %d %d\n", (int)zygote, (int)launcher, (int)getpid());
    write_numbers("here", numbers);
    wait_for("go");
}

int main(int argc, char **argv)
{
    int rank, word = 0;
    file = argc > 1 ? argv[1] : "begun";
    const char *mode = argc > 2 ? argv[2] : "";
    add_line(who_started());
    begin(mode);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 3 && getenv(argv[3]) != NULL)
        puts(getenv(argv[3]));
    if (strcmp(mode, "wait") == 0 || strcmp(mode, "hang") == 0)
        stay(rank);
    if (strcmp(mode, "hang") == 0 && rank == 0)
        MPI_Recv(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
