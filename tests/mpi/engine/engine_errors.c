/* What is wrong, and what MPI says of it: a line for each, the class of the error that the call
 * returns, and what the receiver's status counts where there is none; and what comes into the
 * buffer of a receive whose request is freed ahead of its message. The lines must be the same
 * whatever library runs it. Two ranks. */
#include <mpi.h>
#include <stdio.h>

static int buffer[64];

static void say(const char *what, int result, const MPI_Status *status)
{
    int class, bytes = -1;
    MPI_Error_class(result, &class);
    if (status && result == MPI_SUCCESS)
        MPI_Get_count(status, MPI_BYTE, &bytes);
    printf("%s: %d %d\n", what, class, bytes);
}

/* Rank 1 sends, rank 0 receives with another type or count. */
static void mismatch(const char *what, int sent, int count, MPI_Datatype type)
{
    int rank;
    MPI_Status status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        MPI_Send("0123456789abcdef", sent, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    } else {
        int result = MPI_Recv(buffer, count, type, 1, 1, MPI_COMM_WORLD, &status);
        say(what, result, &status);
    }
}

/* The message is sent when the request is gone, and another one after it. */
static void freed(void)
{
    int rank, got = 0, sent[] = {7, 8};
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(&sent[0], 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Send(&sent[1], 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&buffer[0], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("a freed receive: %d\n", got);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype gaps;
    MPI_Message message = MPI_MESSAGE_NULL;
    int lengths[2] = {1, 2}, places[2] = {4, 8};
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    mismatch("the same", 12, 12, MPI_CHAR);
    mismatch("whole elements", 8, 1, gaps);
    mismatch("ends within an element", 3, 1, gaps);
    mismatch("ends within the last element", 11, 1, gaps);
    mismatch("more than there is room for", 12, 5, MPI_CHAR);
    freed();
    say("nobody of that rank", MPI_Send(buffer, 1, MPI_INT, 1, 0, MPI_COMM_SELF), NULL);
    say("no tag", MPI_Send(buffer, 1, MPI_INT, 0, -5, MPI_COMM_SELF), NULL);
    say("no count", MPI_Send(buffer, -1, MPI_INT, 0, 0, MPI_COMM_SELF), NULL);
    say("no type", MPI_Send(buffer, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF), NULL);
    say("no communicator", MPI_Send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL), NULL);
    say("any tag", MPI_Send(buffer, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF), NULL);
    say("no message", MPI_Mrecv(buffer, 1, MPI_INT, &message, MPI_STATUS_IGNORE), NULL);
    say("no root", MPI_Bcast(buffer, 1, MPI_INT, 3, MPI_COMM_SELF), NULL);
    say("no operation", MPI_Allreduce(MPI_IN_PLACE, buffer, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF),
        NULL);
    say("no buffer", MPI_Bsend(buffer, 1, MPI_INT, 0, 0, MPI_COMM_SELF), NULL);
    static char room[200], *back;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
    say("no room beside the message", MPI_Bsend(buffer, sizeof room, MPI_CHAR, 0, 0, MPI_COMM_SELF),
        NULL);
    MPI_Buffer_detach(&back, &bytes);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return 0;
}
