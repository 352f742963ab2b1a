/* Of the program `drawn`: what comes from nobody and goes to nobody, and requests that are none.
 * Must not know: groups of messages. */
#ifndef DRAWN_NOBODY_H
#define DRAWN_NOBODY_H

#include "drawn_messages.h"
#include "drawn_plan.h"
#include "program.h"

#define TAG_NOBODY 3 /* nothing is sent with it */

static void must_be(uint64_t step, bool right, const char *otherwise)
{
    if (!right)
        wrong_in(step, otherwise);
}

static bool has_nothing(const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_UINT64_T, &count);
    return count == 0;
}

static bool is_empty(const MPI_Status *status, int source)
{
    return status->MPI_SOURCE == source && status->MPI_TAG == MPI_ANY_TAG && has_nothing(status);
}

/* --- receives of what nobody sends ------------------------------------------------------------ */

static void cancel_nothing(int source)
{
    MPI_Irecv(&kept.nobody, 1, MPI_UINT64_T, source, TAG_NOBODY, MPI_COMM_WORLD, &kept.nothing);
    MPI_Cancel(&kept.nothing);
}

static void end_nothing(uint64_t step)
{
    MPI_Status status;
    int flag;
    MPI_Wait(&kept.nothing, &status);
    MPI_Test_cancelled(&status, &flag);
    must_be(step, flag, "a receive that nothing matches is not cancelled");
}

static void receive_nothing(uint64_t step)
{
    int flag, source = feature[ANY_SOURCE] ? MPI_ANY_SOURCE : 0;
    if (feature[PROBES]) {
        MPI_Iprobe(source, TAG_NOBODY, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        must_be(step, !flag, "a probe finds what nobody has sent");
    }
    if (!feature[CANCELS])
        return;
    cancel_nothing(source);
    if (!feature[NOTHING_AHEAD] || step + 1 == (uint64_t)self.steps)
        end_nothing(step);
}

/* --- MPI_PROC_NULL ---------------------------------------------------------------------------- */

static void probe_nobody(uint64_t step)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    uint64_t number;
    int flag;
    if (feature[PROBES]) {
        MPI_Probe(MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, &status);
        must_be(step, is_empty(&status, MPI_PROC_NULL), "a probe of nobody finds somebody");
        MPI_Iprobe(MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, &flag, &status);
        must_be(step, flag && is_empty(&status, MPI_PROC_NULL), "a probe of nobody finds nothing");
    }
    if (!feature[MATCHED_PROBES])
        return;
    MPI_Mprobe(MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, &message, &status);
    must_be(step, message == MPI_MESSAGE_NO_PROC, "a matched probe of nobody finds a message");
    MPI_Mrecv(&number, 1, MPI_UINT64_T, &message, &status);
    must_be(step, message == MPI_MESSAGE_NULL && is_empty(&status, MPI_PROC_NULL),
            "nobody's message comes from somebody");
    MPI_Improbe(MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    must_be(step, flag && message == MPI_MESSAGE_NO_PROC,
            "a matched probe of nobody says that nothing is there");
    MPI_Imrecv(&number, 1, MPI_UINT64_T, &message, &request);
    MPI_Wait(&request, &status);
    must_be(step, is_empty(&status, MPI_PROC_NULL), "nobody's message comes from somebody, later");
}

/* MPICH 4.0.2 does not say that a message of MPI_PROC_NULL is from there where the receive does not
 * block, and loses count of its requests where that is persistent. */
static void exchange_with_nobody(uint64_t step)
{
    uint64_t number = step, got = step;
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Send(&number, 1, MPI_UINT64_T, MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_UINT64_T, MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, status);
    must_be(step, is_empty(status, MPI_PROC_NULL), "a message of nobody has come from somebody");
    status[0] = (MPI_Status){0}; /* not that of the call before */
    MPI_Sendrecv(&number, 1, MPI_UINT64_T, MPI_PROC_NULL, TAG_NOBODY, &got, 1, MPI_UINT64_T,
                 MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, status);
    must_be(step, is_empty(status, MPI_PROC_NULL), "an exchange with nobody brings a message");
    status[0] = (MPI_Status){0};
    MPI_Sendrecv_replace(&got, 1, MPI_UINT64_T, MPI_PROC_NULL, TAG_NOBODY, MPI_PROC_NULL,
                         TAG_NOBODY, MPI_COMM_WORLD, status);
    must_be(step, is_empty(status, MPI_PROC_NULL), "an exchange in place brings a message");
    MPI_Irecv(&got, 1, MPI_UINT64_T, MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, &request[0]);
    MPI_Issend(&number, 1, MPI_UINT64_T, MPI_PROC_NULL, TAG_NOBODY, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, status);
    must_be(step, has_nothing(status) && got == step, "a receive from nobody has taken something");
}

/* --- null and inactive requests --------------------------------------------------------------- */

/* `one` is MPI_REQUEST_NULL or a persistent request that is not active. */
static void complete_none(uint64_t step, MPI_Request one)
{
    MPI_Request request[2] = {one, MPI_REQUEST_NULL};
    MPI_Status status[2];
    int flag, index, count, indices[2], asked = 1 + draw(step, 91700, 2);
    MPI_Wait(&request[0], status);
    must_be(step, is_empty(status, MPI_ANY_SOURCE), "a request that is none has a message");
    MPI_Test(&request[0], &flag, status);
    must_be(step, flag && is_empty(status, MPI_ANY_SOURCE), "MPI_Test waits for no request");
    MPI_Waitany(asked, request, &index, status);
    must_be(step, index == MPI_UNDEFINED && is_empty(status, MPI_ANY_SOURCE),
            "MPI_Waitany completes no request");
    MPI_Testany(asked, request, &index, &flag, status);
    must_be(step, flag && index == MPI_UNDEFINED, "MPI_Testany waits for no request");
    MPI_Waitsome(asked, request, &count, indices, status);
    must_be(step, count == MPI_UNDEFINED, "MPI_Waitsome completes no request");
    MPI_Testsome(asked, request, &count, indices, status);
    must_be(step, count == MPI_UNDEFINED, "MPI_Testsome completes no request");
    MPI_Waitall(asked, request, status);
    must_be(step, is_empty(&status[asked - 1], MPI_ANY_SOURCE), "MPI_Waitall completes no request");
    MPI_Testall(asked, request, &flag, status);
    must_be(step, flag, "MPI_Testall waits for no request");
    MPI_Request_get_status(request[0], &flag, status);
    must_be(step, flag && is_empty(status, MPI_ANY_SOURCE), "no request is under way");
}

static void complete_inactive(uint64_t step)
{
    MPI_Request request;
    uint64_t number;
    MPI_Recv_init(&number, 1, MPI_UINT64_T, self.rank, TAG_NOBODY, MPI_COMM_WORLD, &request);
    complete_none(step, request);
    MPI_Request_free(&request);
}

static void nobody(uint64_t step)
{
    receive_nothing(step);
    if (!feature[NOBODY])
        return;
    probe_nobody(step);
    exchange_with_nobody(step);
    complete_none(step, MPI_REQUEST_NULL);
    if (feature[PERSISTENT_MESSAGES])
        complete_inactive(step);
}

/* MPI_Startall of no requests, the last call of a step. */
static void start_none(uint64_t step)
{
    if (feature[NOBODY] && draw(step, 91701, 3) == 0)
        MPI_Startall(0, NULL);
}

#endif
