/* See coordinator.h. */
#include "cocheck/coordinator.h"

#include "faultline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    uint64_t line; /* the newest one begun */
    bool active;   /* it is not over */
    bool ended;    /* there will be no other */
    struct timespec begun;
    size_t movers;      /* ranks that migrate in it; 0: it is a checkpoint */
    size_t answers;     /* ranks that have done their part */
    unsigned due;       /* lines asked for and not begun */
    int finished;       /* ranks in MPI_Finalize */
    bool *has_finished; /* by rank */
    int *process;       /* by rank: where it lives */
    int next_skeleton;  /* the first process that is still in reserve */
    struct line_store store;
} central;

void coordinator_open(uint64_t newest)
{
    struct error error;
    central.line = newest;
    central.process = memory((size_t)self.ranks, sizeof *central.process);
    central.has_finished = memory((size_t)self.ranks, sizeof *central.has_finished);
    for (int rank = 0; rank < self.ranks; rank++)
        central.process[rank] = rank;
    central.next_skeleton = self.ranks;
    must(line_store_open(&central.store, "cocheck", COORDINATOR, self.ranks, &error), &error);
}

void coordinator_close(void)
{
    free(central.process);
    free(central.has_finished);
}

/* ---- a line begins ------------------------------------------------------------------------------
 */

static void notify_all(void)
{
    for (int rank = 0; rank < self.ranks; rank++)
        control_send(CONTROL_NOTIFICATION, central.process[rank], central.line, 0);
}

/* Only those that migrate: the others hear of it by their ready messages [CC, section 5.2]. */
static void notify_movers(void)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (options_moves(&self.options, rank, central.line))
            control_send(CONTROL_NOTIFICATION, central.process[rank], central.line,
                         (uint64_t)central.next_skeleton++);
}

static void begin(void)
{
    central.due--;
    central.line++;
    central.active = true;
    central.answers = 0;
    clock_gettime(CLOCK_MONOTONIC, &central.begun);
    central.movers = options_movers(&self.options, central.line);
    faultline_initiated(central.line);
    if (central.movers > 0)
        notify_movers();
    else
        notify_all();
}

/* What can be done when no line is being made. */
static void go_on(void)
{
    if (central.active || central.ended)
        return;
    central.ended = central.finished == self.ranks;
    if (central.ended)
        control_send_all(CONTROL_END, central.line, 0);
    else if (central.due > 0)
        begin();
}

/* ---- and ends -----------------------------------------------------------------------------------
 */

/* How long the line took, from the notification on: for measurements. */
static void record_time(void)
{
    const char *path = getenv("COCHECK_TIMES");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    FILE *times = path && *path ? fopen(path, "a") : NULL;
    if (!times)
        return;
    double seconds = (double)(now.tv_sec - central.begun.tv_sec) +
                     (double)(now.tv_nsec - central.begun.tv_nsec) * 1e-9;
    fprintf(times, "%s %" PRIu64 " %.6f\n", central.movers > 0 ? "migration" : "checkpoint",
            central.line, seconds);
    fclose(times);
}

static void over(void)
{
    central.active = false;
    record_time();
    control_send_all(CONTROL_RESUME, central.line, central.movers > 0);
    go_on();
}

static void saved(void)
{
    struct error error;
    if (++central.answers < (size_t)self.ranks)
        return;
    phase("before-commit");
    must(line_commit(&central.store, central.line, &error), &error);
    faultline_commit(central.line);
    over();
}

/* All new addresses first: then the table is given out [CC, section 4, the restart]. */
static void moved(int rank, int process)
{
    central.process[rank] = process;
    if (++central.answers < central.movers)
        return;
    for (int each = 0; each < self.ranks; each++)
        if (options_moves(&self.options, each, central.line))
            control_send_all(CONTROL_MAPPING, central.line,
                             control_pair(each, central.process[each]));
    faultline_given_up(central.line, "ranks have moved in it: there is nothing to come back to");
    over();
}

/* A rank that migrates out of MPI_Finalize says it twice. */
static void finished(int rank)
{
    central.finished += !central.has_finished[rank];
    central.has_finished[rank] = true;
    go_on();
}

void coordinator_take(const struct control_message *message)
{
    if (message->kind == CONTROL_REQUEST) {
        central.due++;
        go_on();
    } else if (message->kind == CONTROL_SAVED) {
        saved();
    } else if (message->kind == CONTROL_ADDRESS) {
        moved((int)message->value, message->source);
    } else if (message->kind == CONTROL_FINISHED) {
        finished((int)message->value);
    } else {
        die("process %d told the central instance '%s'", message->source,
            control_name(message->kind));
    }
}
