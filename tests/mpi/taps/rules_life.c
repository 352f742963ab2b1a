/* For tests/rules.bats. `sends`: rank 0 sends four messages to rank 1 and two to each other rank:
 * the second inside a function of its own, the third inside one that is always inlined, the fourth
 * far below one. `stopped`: rank 0 begins with phase "stop", goes on when it sees that rank 1 has
 * stopped, says "go", and waits until it runs again; rank 1 says "here" and waits for a message.
 * `waits`: rank 0 says "stop" and waits for a message of rank 1. `polls`: the same with MPI_Iprobe.
 */
#include "mpi/expect.h"

#include "faultline.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define TRIES 3000 /* looks at another process, one in 10 ms; only against hanging */

static int rank, size;

static void send_to_all(int tag)
{
    for (int to = 1; to < size; to++)
        MPI_Send(&tag, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void in_a_function(void)
{
    send_to_all(2);
    __asm__ volatile("");
}

__attribute__((always_inline)) static inline void in_an_inline_function(void)
{
    MPI_Send(&rank, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
}

#define DEEP 200

/* Not a loop: each call has a frame. */
__attribute__((noinline)) static void go_down(int depth)
{
    int tag = 4;
    if (depth > 0)
        go_down(depth - 1);
    else
        MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    __asm__ volatile("");
}

__attribute__((noinline)) static void far_above(void)
{
    go_down(DEEP);
    __asm__ volatile("");
}

/* A name of the symbol table alone, which says nothing of where the function ends. */
__asm__(".text\n.type of_no_size, @function\nof_no_size:\n");

static void sends(void)
{
    int number;
    if (rank == 0) {
        send_to_all(1);
        in_a_function();
        in_an_inline_function();
        far_above();
        return;
    }
    for (int tag = 1; tag <= (rank == 1 ? 4 : 2); tag++)
        MPI_Recv(&number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void write_pid(void)
{
    char path[PATH_BYTES], fresh[PATH_BYTES + 8];
    snprintf(path, sizeof path, "%s/pid.%d", getenv("FAULTLINE_STORE"), rank);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        exit(99);
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    rename(fresh, path);
}

static char state_of_other(void)
{
    char path[PATH_BYTES], state = '?';
    int pid = 0;
    snprintf(path, sizeof path, "%s/pid.1", getenv("FAULTLINE_STORE"));
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file != NULL)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file != NULL)
        fclose(file);
    return state;
}

/* Waits until the other process is stopped, or is not. */
static int other_becomes(int stopped)
{
    for (int i = 0; i < TRIES; i++) {
        char state = state_of_other();
        if (state != '?' && (state == 'T') == stopped)
            return 1;
        usleep(10000);
    }
    return 0;
}

static void stopped(void)
{
    int number = 0;
    if (rank == 1) {
        faultline_phase("here");
        MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    faultline_phase("stop");
    expect(other_becomes(1));
    faultline_phase("go");
    expect(other_becomes(0));
    MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
}

static void waits(int polls)
{
    int number = 0, there = 0;
    if (rank == 1) {
        for (int i = 0; i < 100; i++)
            faultline_phase("here");
        MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        return;
    }
    faultline_phase("stop");
    while (polls && !there)
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "sends";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "sends") == 0)
        sends();
    write_pid();
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "stopped") == 0)
        stopped();
    if (strcmp(what, "waits") == 0 || strcmp(what, "polls") == 0)
        waits(what[0] == 'p');
    MPI_Finalize();
    return expect_end("rules_life", rank);
}
