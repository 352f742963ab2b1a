/* See mirror.h. */
#include "replication/mirror.h"

#include "common/job/job.h"
#include "faultline_lives.h"
#include "replication/replication.h"

#include <limits.h>
#include <stdlib.h>

/* A packet that the library is still sending. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    struct packet *packet;
    int process;
};

static struct {
    bool *dead;     /* by process */
    uint64_t *next; /* by rank: number of the packet that has not come yet */
    struct packet_list came;
    struct outgoing *first;
    void (*letter)(int process, const struct packet *packet);
    void (*died)(int process);
} mirror;

void mirror_open(void (*letter)(int process, const struct packet *packet),
                 void (*died)(int process))
{
    mirror.letter = letter;
    mirror.died = died;
    mirror.dead = memory((size_t)job.processes, sizeof *mirror.dead);
    mirror.next = memory((size_t)self.ranks, sizeof *mirror.next);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

bool mirror_is_dead(int process)
{
    return mirror.dead[process];
}

/* --- who has died ----------------------------------------------------------------------------- */

static void is_dead(int process)
{
    if (mirror.dead[process])
        return;
    mirror.dead[process] = true;
    mirror.died(process);
}

/* Where the library knows nothing of deaths, as MPICH under mpiexec. */
static void ask_faultline(void)
{
    int *dead = memory((size_t)job.processes, sizeof *dead);
    int count = faultline_deaths(dead, job.processes);
    for (int i = 0; i < count && i < job.processes; i++)
        is_dead(dead[i]);
    free(dead);
}

/* Where it does: a receive from anybody says so until the death is acknowledged. */
static void ask_library(void)
{
    MPI_Group dead, all;
    int count;
    PMPIX_Comm_failure_ack(MPI_COMM_WORLD);
    PMPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &dead);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_size(dead, &count);
    for (int i = 0; i < count; i++) {
        int process;
        PMPI_Group_translate_ranks(dead, 1, &i, all, &process);
        is_dead(process);
    }
    PMPI_Group_free(&dead);
    PMPI_Group_free(&all);
}

/* --- out -------------------------------------------------------------------------------------- */

void mirror_send_to(struct packet *packet, int process)
{
    size_t bytes = sizeof packet->head + packet->head.bytes;
    if (bytes > INT_MAX)
        die("a message of %zu bytes; accepted: less than 2 GiB", bytes);
    if (mirror.dead[process])
        return;
    struct outgoing *one = memory(1, sizeof *one);
    if (PMPI_Isend(&packet->head, (int)bytes, MPI_BYTE, process, (int)packet->head.kind,
                   MPI_COMM_WORLD, &one->request) != MPI_SUCCESS) {
        free(one); /* it has died, which is noticed when somebody looks for it */
        return;
    }
    one->packet = packet_hold(packet);
    one->process = process;
    one->next = mirror.first;
    mirror.first = one;
}

/* A send to a process that has died may never be over; what it sends from stays. */
bool mirror_is_sent(void)
{
    bool all = true;
    for (struct outgoing **link = &mirror.first; *link;) {
        struct outgoing *one = *link;
        int done = 0;
        if (PMPI_Test(&one->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            all = all && mirror.dead[one->process];
            link = &one->next;
            continue;
        }
        *link = one->next;
        packet_drop(one->packet);
        free(one);
    }
    return all;
}

/* --- in --------------------------------------------------------------------------------------- */

/* Each process of a rank sends all its packets in order, so the second copy is one that is known.
 */
static void comes(int process, struct packet *packet)
{
    const struct packet_head *head = &packet->head;
    if (head->kind >= PACKET_CONTROL) {
        mirror.letter(process, packet);
        packet_drop(packet);
    } else if (head->number < mirror.next[head->from]) {
        packet_drop(packet);
    } else {
        mirror.next[head->from]++;
        packet_append(&mirror.came, packet);
    }
}

static bool take_in(void)
{
    int there = 0, bytes, class;
    MPI_Message message;
    MPI_Status status;
    int result =
        PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
    if (result != MPI_SUCCESS) {
        PMPI_Error_class(result, &class);
        if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_PROC_FAILED_PENDING)
            die("MPI_Improbe failed with error class %d", class);
        ask_library();
        return true;
    }
    if (!there)
        return false;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    struct packet *packet = packet_new((size_t)bytes - sizeof packet->head);
    PMPI_Mrecv(&packet->head, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    comes(status.MPI_SOURCE, packet);
    return true;
}

void mirror_look(void)
{
    while (take_in())
        ;
    ask_faultline();
    mirror_is_sent();
}

struct packet *mirror_take(void)
{
    return packet_take_first(&mirror.came);
}

struct packet *mirror_take_one(int from, uint64_t number)
{
    struct packet *before = NULL;
    for (struct packet *packet = mirror.came.first; packet;
         before = packet, packet = packet->next) {
        if (packet->head.from != from || packet->head.number != number)
            continue;
        *(before ? &before->next : &mirror.came.first) = packet->next;
        if (mirror.came.last == packet)
            mirror.came.last = before;
        packet->next = NULL;
        return packet;
    }
    return NULL;
}
