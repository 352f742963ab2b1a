/* For tests/runtime.bats: one process, alone. `payloads`: the same bytes are sent to oneself as
 * many datatypes. `again`: runs itself a second time in the same process. `plain`: Init, Finalize.
 * `many`: more calls than a small disk has room for. `closes`: the same, after the file `precious`
 * has taken all descriptors that the program did not open. */
#include "mpi/expect.h"

#include <mpi.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 300000 /* ints: more than what is sampled begins at */

static int source[2 * WORDS];
static int target[WORDS];

/* Sends `count` of `type` at `data`, WORDS ints in all, and receives them as ints. */
static void send_as(const void *data, int count, MPI_Datatype type)
{
    MPI_Request request;
    memset(target, 0, sizeof target);
    MPI_Irecv(target, WORDS, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(data, count, type, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int same = 1;
    for (int i = 0; i < WORDS; i++)
        same &= target[i] == 3 * i;
    expect(same);
}

static void send_made(const void *data, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    send_as(data, 1, type);
    MPI_Type_free(&type);
}

static void payloads(void)
{
    MPI_Datatype type, inner;
    MPI_Aint address;
    int length = WORDS;
    for (int i = 0; i < WORDS; i++)
        source[i] = 3 * i;
    send_as(source, WORDS, MPI_INT);
    send_as(source, (int)sizeof target, MPI_BYTE);
    MPI_Type_contiguous(WORDS, MPI_INT, &type);
    send_made(source, type);
    MPI_Type_contiguous(WORDS / 10, MPI_INT, &inner);
    MPI_Type_contiguous(10, inner, &type);
    MPI_Type_free(&inner);
    send_made(source, type);
    MPI_Get_address(source, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    send_made(MPI_BOTTOM, type);
    /* From here on only every other int is data. */
    for (int i = WORDS - 1; i > 0; i--) {
        source[2 * i] = source[i];
        source[2 * i - 1] = -i;
    }
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &type);
    send_made(source, type);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    send_as(source, WORDS, type);
    MPI_Type_free(&type);
}

/* Handles come back: what was known of the old type must not be believed of the new one. */
static void handles(void)
{
    MPI_Datatype type;
    for (int i = 1; i <= 3; i++) {
        MPI_Request request;
        MPI_Type_contiguous(i, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Irecv(target, i, type, 0, 2, MPI_COMM_SELF, &request);
        MPI_Send(source, 1, type, 0, 2, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
}

#define PAIRS 100

/* What lies in the holes of a type is not data: it differs at the two ends. */
static void holes(void)
{
    struct {
        double number;
        int place;
    } out[PAIRS], in[PAIRS];
    MPI_Request request;
    memset(out, 0x55, sizeof out);
    memset(in, 0x66, sizeof in);
    MPI_Irecv(in, PAIRS, MPI_DOUBLE_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Send(out, PAIRS, MPI_DOUBLE_INT, 0, 3, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One buffer goes out with tag 5 and is overwritten, in the same call, by what was sent with tag 4.
 */
static void replaced(void)
{
    int other[PAIRS] = {1, 2, 3};
    int both[PAIRS] = {4, 5, 6};
    MPI_Request request[2];
    MPI_Isend(other, PAIRS, MPI_INT, 0, 4, MPI_COMM_SELF, &request[0]);
    MPI_Irecv(target, PAIRS, MPI_INT, 0, 5, MPI_COMM_SELF, &request[1]);
    MPI_Sendrecv_replace(both, PAIRS, MPI_INT, 0, 5, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(both[2] == 3 && target[2] == 6);
}

#define DESCRIPTORS 1024

static void take_descriptors(void)
{
    static const char text[] = "precious\n";
    for (int i = STDERR_FILENO + 1; i < DESCRIPTORS; i++)
        close(i);
    int file = open("precious", O_RDWR | O_CREAT, 0666);
    expect(write(file, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    /* Half are left to the MPI library, those from the middle on are taken. */
    for (int i = DESCRIPTORS / 2; i < DESCRIPTORS; i++)
        dup2(file, i);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "plain";
    if (strcmp(what, "again") == 0) {
        execl(argv[0], argv[0], "plain", (char *)NULL);
        return 2;
    }
    int closes = strcmp(what, "closes") == 0;
    if (closes)
        take_descriptors();
    MPI_Init(&argc, &argv);
    if (strcmp(what, "payloads") == 0) {
        payloads();
        handles();
        holes();
        replaced();
    }
    for (int i = 0; (closes || strcmp(what, "many") == 0) && i < 50000; i++)
        MPI_Send(source, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return expect_end("runtime_life", 0);
}
