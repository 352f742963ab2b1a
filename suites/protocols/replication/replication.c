/* Replication as a layer over PMPI: the beginning and the end of a job, and what becomes of it when
 * processes die. See replication.h. */
#include "replication/replication.h"

#include "checkpoint.h"
#include "common/job/job.h"
#include "common/messages/layer.h"
#include "faultline.h"
#include "replication/leading.h"
#include "replication/mirror.h"

#include <stdlib.h>

struct replica self;

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "replication",
    .title = "replication",
    .member = "process",
    .threads = MPI_THREAD_SERIALIZED,
};

static bool *here; /* by process: it has sent something */

static struct {
    bool *process; /* has come to MPI_Finalize, and so has all that it sent */
    bool *rank;    /* ... as one of the rank's processes */
} done;

void phase(const char *name)
{
    line_phase(&(struct line_store){.protocol = this_protocol.name}, name);
}

/* --- who dies, who goes on -------------------------------------------------------------------- */

static void become_rank(void)
{
    self.leads = true;
    faultline_becomes((uint64_t)self.rank);
    phase("takes-over");
}

static void died(int process)
{
    int rank = rank_of(process);
    int twin = process < self.ranks ? process + self.ranks : process - self.ranks;
    if (mirror_is_dead(twin) && !done.rank[rank])
        die("both processes of rank %d have died, and its state with them", rank);
    if (process != self.other || self.leads)
        return;
    following_ends();
    if (!layer_in_past())
        become_rank();
}

/* The other one has died, or it has done its work and this one has not. */
static void lives_on(void)
{
    if (mirror_is_dead(self.other))
        become_rank();
}

/* --- for the message layer -------------------------------------------------------------------- */

static void carry(struct packet *packet, int to)
{
    leading_secure();
    phase("before-send");
    mirror_send_to(packet, to);
    phase("mid-send");
    mirror_send_to(packet, to + self.ranks);
    packet_drop(packet);
}

static struct packet *take(void)
{
    mirror_look();
    struct packet *packet = mirror_take();
    if (!packet)
        leading_idle();
    return packet;
}

static void delivers(const struct packet *packet)
{
    (void)packet;
}

static void letter(int process, const struct packet *packet)
{
    if (packet->head.kind == LETTER_HAPPENED)
        following_receive(packet);
    else if (packet->head.kind == LETTER_KNOWN)
        leading_known(packet);
    else if (packet->head.kind == LETTER_HERE)
        here[process] = true;
    else
        done.process[process] = done.rank[rank_of(process)] = true;
}

/* The ranks are the first half of the processes. */
static void everybody(MPI_Group *group)
{
    MPI_Group all;
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_range_incl(all, 1, (int[][3]){{0, self.ranks - 1, 1}}, group);
    PMPI_Group_free(&all);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void send_to_all(enum letter kind)
{
    struct packet *packet = packet_new(0);
    packet->head.kind = kind;
    for (int process = 0; process < job.processes; process++)
        if (process != job.process)
            mirror_send_to(packet, process);
    packet_drop(packet);
}

static bool all_are_here(void)
{
    bool all = true;
    for (int process = 0; process < job.processes; process++)
        all = all && (here[process] || mirror_is_dead(process));
    return all;
}

/* UCX maps the memory of another process when the first message of that one comes. If that one is
 * dead by then it fails, and no message comes any more of those who live either. */
static void meet(void)
{
    here = memory((size_t)job.processes, sizeof *here);
    here[job.process] = true;
    send_to_all(LETTER_HERE);
    while (!all_are_here()) {
        mirror_look();
        layer_rest();
    }
}

/* Until the other one dies. */
static void begin_to_follow(void)
{
    faultline_becomes(FAULTLINE_NO_RANK);
    faultline_replica((uint64_t)self.rank);
}

void protocol_start(void)
{
    static const struct layer_carrier carrier = {.send = carry,
                                                 .take = take,
                                                 .happens = leading_happens,
                                                 .delivers = delivers,
                                                 .follow = following_give};
    static const struct layer_protocol for_layer = {
        .carrier = &carrier, .lives_on = lives_on, .everybody = everybody};
    if (job.processes % 2 != 0)
        refuse("a job of an odd number of processes", "two for each rank of the program");
    self.ranks = job.processes / 2;
    self.rank = rank_of(job.process);
    self.leads = job.process < self.ranks;
    self.other = self.leads ? job.process + self.ranks : self.rank;
    if (!self.leads)
        begin_to_follow();
    done.process = memory((size_t)job.processes, sizeof *done.process);
    done.rank = memory((size_t)self.ranks, sizeof *done.rank);
    mirror_open(letter, died);
    layer_open(&for_layer, self.rank, self.ranks, NULL);
    if (!self.leads)
        layer_follow(); /* the leader may die while this process meets the others */
    meet();
}

EXPORTED int protocol_restore(void)
{
    return 0;
}

EXPORTED void protocol_decision(const char *name, void *data, size_t bytes)
{
    layer_decision(name, data, bytes);
}

/* Everybody who lives has sent all that he sends, and every rank has come to its end. */
static bool all_are_done(void)
{
    bool all = mirror_is_sent();
    for (int process = 0; process < job.processes; process++)
        all = all && (done.process[process] || mirror_is_dead(process));
    for (int rank = 0; rank < self.ranks; rank++)
        all = all && done.rank[rank];
    return all;
}

static void send_done(void)
{
    send_to_all(LETTER_DONE);
    done.process[job.process] = done.rank[self.rank] = true;
}

EXPORTED int MPI_Finalize(void)
{
    phase("before-finish");
    while (layer_in_past())
        layer_step();
    leading_end();
    layer_close(NULL);
    phase("before-done");
    send_done();
    while (!all_are_done()) {
        mirror_look();
        layer_rest();
    }
    phase("after-finish");
    free(here);
    free(done.process);
    free(done.rank);
    return PMPI_Finalize();
}
