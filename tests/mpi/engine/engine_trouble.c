/* A program that does what programs should not, or what a step engine could stumble over. Two ranks
 * or more; each sends a number round the ring before and after, and says "ok" at the end.
 * Usage: engine_trouble HOW */
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((size_t)10 << 30)
#define PAGE 4096
#define FAILURES 600000
#define LONG 5000 /* more than polls in vain that Faultline makes where it waits alone */
#define POLLS 500

static sigjmp_buf before;
static int rank, size;

static void circle(void)
{
    int mine = rank, its = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 1, &its, 1, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (its != (rank + size - 1) % size)
        MPI_Abort(MPI_COMM_WORLD, 4);
}

static void go_back(int number)
{
    (void)number;
    siglongjmp(before, 1);
}

static void catch_it(void)
{
    struct sigaction action = {.sa_handler = go_back};
    int *volatile nowhere = NULL;
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(before, 1) == 0)
        *nowhere = 1;
}

static void fork_one(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
        MPI_Abort(MPI_COMM_WORLD, 5);
}

/* A child that goes on as if it were the rank is ended. */
static void fork_and_call(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        circle();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
}

static void allocate(void)
{
    char *memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *more = malloc(LARGE / 8);
    if (memory == MAP_FAILED || more == NULL)
        MPI_Abort(MPI_COMM_WORLD, 6);
    for (size_t at = 0; at < LARGE; at += LARGE / 64)
        memory[at] = 1;
    for (size_t at = 0; at < LARGE / 8; at += LARGE / 64)
        more[at] = 1;
}

/* Descriptors of libraries are closed, and their numbers are files of the program's then. Nothing
 * may be written into these, and that all ranks wait for ever must still be seen. */
static void close_and_wait(void)
{
    int number;
    close_range(3, 1000000, 0);
    for (int i = 0; i < 64; i++)
        if (open("mine", O_CREAT | O_RDWR, 0600) < 0)
            MPI_Abort(MPI_COMM_WORLD, 8);
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Something outside the job makes the file `name`, or another rank. A minute is time enough. */
static void wait_outside(const char *name, useconds_t nap)
{
    double begin = MPI_Wtime();
    while (access(name, F_OK) != 0) {
        if (MPI_Wtime() - begin > 60)
            MPI_Abort(MPI_COMM_WORLD, 9);
        usleep(nap);
    }
}

static void poll_for(int from)
{
    int came = 0;
    while (!came)
        MPI_Iprobe(from, 2, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    MPI_Recv(&came, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 waits for what comes from outside; rank 0 polls meanwhile for a message of rank 1. */
static void wait_while_polled(const char *name)
{
    if (rank == 0)
        poll_for(1);
    wait_outside(name, 1000);
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
}

/* Rank 1 sleeps until each of the others has made a file, which they do after many polls. */
static void make_after_polls(const char *folder, useconds_t nap)
{
    char name[4096];
    int came;
    for (int i = 0; rank != 1 && i < POLLS; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) {
        snprintf(name, sizeof name, "%s/made-by-%d", folder, i);
        if (rank == 1 && i != 1)
            wait_outside(name, nap);
        else if (rank == i && i != 1)
            close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    for (int i = 0; rank == 1 && i < size; i++)
        if (i != 1)
            MPI_Send(&rank, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
    if (rank != 1)
        poll_for(1);
}

/* Rank 1 sleeps so often for so many seconds, and then polls. Rank 0 polls until that is over, and
 * gives up after 1,000 s more. */
static void nap(int times, unsigned seconds)
{
    double end = MPI_Wtime() + times * (double)seconds + 1000;
    for (int came = 0; rank == 0 && MPI_Wtime() < end;)
        MPI_Iprobe(1, 2, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < times; i++)
        sleep(seconds);
    if (rank == 1)
        poll_for(0);
}

static void *nap_for_ever(void *nothing)
{
    for (;;)
        usleep(50);
    return nothing;
}

static void *circle_once(void *nothing)
{
    circle();
    return nothing;
}

static void *read_clock(void *nothing)
{
    double end = MPI_Wtime() + 0.01;
    while (MPI_Wtime() < end)
        ;
    return nothing;
}

static void run_thread(void *(*what)(void *), bool ends)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, NULL) != 0 || (ends && pthread_join(thread, NULL) != 0))
        MPI_Abort(MPI_COMM_WORLD, 10);
}

/* One makes a call in the place of the main thread, for which clocks go on after that as before;
 * one reads a clock; one sleeps, also while the rank waits in MPI calls. */
static void run_threads(void)
{
    double before = MPI_Wtime();
    run_thread(circle_once, true);
    if (MPI_Wtime() < before || MPI_Wtime() > before + 10)
        MPI_Abort(MPI_COMM_WORLD, 16);
    run_thread(read_clock, true);
    run_thread(nap_for_ever, false);
    for (int i = 0; i < POLLS; i++)
        circle();
}

/* For less than nothing, for ever, and as C11 has it. */
static void sleep_oddly(void)
{
    const struct timespec less = {-1, 0}, more = {0, 1000000000}, ever = {INT64_MAX, 0};
    struct timespec before, after, c11;
    clock_gettime(CLOCK_REALTIME, &before);
    if (nanosleep(&less, NULL) != -1 || errno != EINVAL || nanosleep(&more, NULL) != -1 ||
        clock_nanosleep(CLOCK_MONOTONIC, 0, &less, NULL) != EINVAL || thrd_sleep(&less, NULL) >= -1)
        MPI_Abort(MPI_COMM_WORLD, 11);
    thrd_sleep(&(struct timespec){100, 0}, NULL);
    timespec_get(&c11, TIME_UTC);
    clock_gettime(CLOCK_REALTIME, &after);
    if (c11.tv_sec < before.tv_sec + 100 || c11.tv_sec > after.tv_sec)
        MPI_Abort(MPI_COMM_WORLD, 12);
    MPI_Barrier(MPI_COMM_WORLD);
    if (nanosleep(&ever, NULL) != 0 || nanosleep(&ever, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 13);
    clock_gettime(CLOCK_REALTIME, &after);
    if (after.tv_sec - before.tv_sec < 100 * 365 * 86400L)
        MPI_Abort(MPI_COMM_WORLD, 15);
}

/* The plan stops rank 1, which sleeps, for 5 s, when rank 0 sends. */
static void sleep_stopped(void)
{
    double begin = MPI_Wtime();
    usleep(rank == 0 ? 100000 : 1000000);
    if (rank == 1)
        MPI_Recv(&size, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&size, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&size, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (MPI_Wtime() - begin < 5)
        MPI_Abort(MPI_COMM_WORLD, 14);
}

/* After MPI_Finalize rank 1 has slept often, and will long, when rank 0 ends. */
static void sleep_at_the_end(void)
{
    for (int i = 0; rank == 1 && i < 1100; i++)
        usleep(1000);
    if (rank == 1)
        sleep(100000);
    usleep(1105000);
}

/* Rank 0 asks for what does not come yet, and goes on; rank 1 asks for what comes then. */
static void ask_long(void)
{
    MPI_Request request;
    int number = 0, came = 0;
    MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; rank == 0 && i < LONG; i++)
        MPI_Test(&request, &came, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    while (!came)
        MPI_Test(&request, &came, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

/* Polls for what never comes, and does other things between that concern nobody else. */
static void idle(bool sleeps)
{
    int number, own, flag = 0;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 3, &own, 1, MPI_INT, rank, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (sleeps)
            usleep(20000); /* in real time it would come to the limit of the run */
    }
}

/* Goes on with a call that fails at once. */
static void try_for_ever(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Send(&rank, 1, MPI_INT, size, 2, MPI_COMM_WORLD) != MPI_SUCCESS)
        ;
}

/* Calls often, not for ever, what fails. */
static void fail_often(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2 * FAILURES; i++) {
        MPI_Send(&rank, 1, MPI_INT, size, 2, MPI_COMM_WORLD);
        if (i == FAILURES)
            MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD);
    }
}

static void call_for_ever(void)
{
    for (;;) {
        for (volatile int i = 0; i < 200000; i++)
            ;
        circle();
    }
}

static void spin(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "exits-early") == 0)
        return argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(how, "dies-early") == 0)
        raise(SIGSEGV);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    circle();
    if (strcmp(how, "init-twice") == 0)
        MPI_Init(&argc, &argv);
    else if (strcmp(how, "forks") == 0)
        fork_one();
    else if (strcmp(how, "forks-and-calls") == 0)
        fork_and_call();
    else if (strcmp(how, "closes") == 0)
        close_range(3, 1000000, 0);
    else if (strcmp(how, "closes-and-waits") == 0)
        close_and_wait();
    else if (strcmp(how, "catches") == 0)
        catch_it();
    else if (strcmp(how, "spins") == 0 && rank == 1)
        spin();
    else if (strcmp(how, "calls-for-ever") == 0)
        call_for_ever();
    else if (strcmp(how, "tries-for-ever") == 0 && rank == 1)
        try_for_ever();
    else if (strcmp(how, "fails-often") == 0 && rank == 1)
        fail_often();
    else if (strcmp(how, "idles") == 0)
        idle(argc == 2 || rank == 0);
    else if (strcmp(how, "asks-long") == 0)
        ask_long();
    else if (strcmp(how, "sleeps") == 0 && rank == 1)
        sleep(1000);
    else if (strcmp(how, "allocates") == 0)
        allocate();
    else if (strcmp(how, "naps") == 0)
        nap(atoi(argv[2]), (unsigned)atoi(argv[3]));
    else if (strcmp(how, "has-threads") == 0)
        run_threads();
    else if (strcmp(how, "sleeps-oddly") == 0)
        sleep_oddly();
    else if (strcmp(how, "sleeps-stopped") == 0)
        sleep_stopped();
    else if (strcmp(how, "waits-outside") == 0 && rank == 1)
        wait_outside(argv[2], 1000);
    else if (strcmp(how, "waits-while-polled") == 0)
        wait_while_polled(argv[2]);
    else if (strcmp(how, "makes-after-polls") == 0)
        make_after_polls(argv[2], (useconds_t)atoi(argv[3]));
    circle();
    printf("ok\n");
    MPI_Finalize();
    if (strcmp(how, "sleeps-at-the-end") == 0)
        sleep_at_the_end();
    return 0;
}
