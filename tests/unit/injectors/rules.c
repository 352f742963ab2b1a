/* Rules: which record a step of the plan is done at, and what a kill leaves behind. A "rank" here
 * is a forked process that records by hand. */
#include "faultline.h"
#include "rules_run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- conditions ------------------------------------------------------------------------------- */
static void test_fields(void)
{
    RUN("await event=send rank=0 peer=2 tag=7 comm=0x10 call=MPI_Isend nth=2");
    become(0, 0);
    check(runtime_watching, "a step of this rank is watched for");
    do_send(LEVEL_APP, CALL_MPI_Isend, 1, 7, 16);
    do_send(LEVEL_APP, CALL_MPI_Isend, 2, 8, 16);
    do_send(LEVEL_APP, CALL_MPI_Isend, 2, 7, 1);
    do_send(LEVEL_APP, CALL_MPI_Send, 2, 7, 16);
    do_send(LEVEL_WIRE, CALL_MPI_Isend, 2, 7, 16);
    do_irecv(2);
    check(atomic_load(&board->progress[0].count) == 0,
          "another peer, tag, communicator, call, level or "
          "event does not count");
    do_send(LEVEL_APP, CALL_MPI_Isend, 2, 7, 16);
    check(step() == 0 && atomic_load(&board->progress[0].count) == 1, "the first of two counts");
    do_send(LEVEL_APP, CALL_MPI_Isend, 2, 7, 16);
    check(step() == 1 && faults(FAULT_AWAITED) == 1, "the second is it, with evidence");
    do_send(LEVEL_APP, CALL_MPI_Isend, 2, 7, 16);
    check(!runtime_watching && step() == 1, "nothing is watched for after the last step");
}

static void test_ranks(void)
{
    RUN("await event=send rank=1", "await event=send rank=0 incarnation=1", "await event=send");
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 0 && runtime_watching, "another rank's event is not ours");
    become(1, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 0, 0, 1);
    check(step() == 1, "it is that rank's");
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 1, "another incarnation's event is not ours");
    become(0, 1);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 2, "it is that incarnation's: the plan goes on across incarnations");
    become(2, 5);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 3, "any rank's event may be ours");
    RUN("await event=send incarnation=0");
    become(0, 1);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(step() == 0, "nor is a later incarnation's, where an earlier one is asked for");
    RUN("await event=send rank=1");
    become(0, 0);
    check(!runtime_watching, "a plan without a step for this rank costs nothing");
    RUN("await event=call call=MPI_Sned");
    become(0, 0);
    do_call(CALL_MPI_Barrier);
    check(step() == 0, "a call that does not exist is never seen");
}

static void test_receives(void)
{
    RUN("await event=recv peer=1", "await event=deliver peer=1", "await event=deliver",
        "await event=deliver nth=2", "await event=recv tag=5 position=after");
    become(0, 0);
    do_recv(PEER_ANY, TAG_ANY, 1, 5);
    check(step() == 0, "a posted receive has the peer it asks for");
    do_irecv(1);
    check(step() == 1, "posting is an event, whether or not data has come");
    do_irecv(1);
    check(step() == 1, "posting is no delivery");
    do_waitall(2);
    check(step() == 1, "a delivery has the peer it came from");
    do_recv(PEER_ANY, TAG_ANY, 1, 5);
    check(step() == 2, "a blocking receive delivers");
    do_test(true);
    check(step() == 2, "a Test that says no does not");
    do_test(false);
    check(step() == 3, "one that says yes does");
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    do_recv(PEER_NULL, TAG_ANY, PEER_NULL, TAG_ANY);
    check(step() == 3, "a receive from nobody does not");
    do_waitall(1);
    check(step() == 3 && atomic_load(&board->progress[3].count) == 1,
          "Waitall delivers the receive, not the send");
    do_waitall(1);
    do_recv(1, 5, 1, 5);
    check(step() == 5, "a receive that has returned");
}

static void test_ways_to_receive(void)
{
    static const unsigned calls[] = {CALL_MPI_Recv, CALL_MPI_Mrecv, CALL_MPI_Sendrecv,
                                     CALL_MPI_Sendrecv_replace};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        RUN("await event=deliver peer=1");
        become(0, 0);
        do_recv_by(calls[i], 1, 5, 1, 5);
        check(step() == 1, "%s delivers", call_name(calls[i]));
    }
}

static void test_two_records(void)
{
    static const unsigned calls[] = {CALL_MPI_Sendrecv, CALL_MPI_Sendrecv_replace,
                                     CALL_MPI_Isendrecv, CALL_MPI_Isendrecv_replace};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        RUN("await event=call nth=2", "await event=call nth=2 position=after");
        become(0, 0);
        do_sendrecv(calls[i]);
        check(step() == 0, "%s is one call, though it has two records", call_name(calls[i]));
        do_sendrecv(calls[i]);
        check(step() == 1, "the second %s", call_name(calls[i]));
        do_sendrecv(calls[i]);
        check(step() == 2, "the second %s that ends from there on", call_name(calls[i]));
    }
}

static void test_calls(void)
{
    RUN("await event=wait nth=2", "await event=wait nth=3", "await event=call nth=2",
        "await event=call nth=2 position=after", "await event=collective peer=2",
        "await event=call call=MPI_Barrier", "await event=send");
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    do_waitall(1);
    do_waitall(1);
    check(step() == 1, "Waitall is one wait, whatever it completes");
    do_test(true);
    do_test(true);
    do_test(false);
    check(step() == 2, "each Test is one");
    do_sendrecv(CALL_MPI_Sendrecv);
    check(step() == 2, "Sendrecv is one call");
    do_waitall(1);
    check(step() == 3, "Waitall is one call");
    do_sendrecv(CALL_MPI_Sendrecv);
    do_sendrecv(CALL_MPI_Sendrecv);
    check(step() == 4, "also afterwards");
    do_collective(CALL_MPI_Bcast, 1);
    do_collective(CALL_MPI_Ibcast, 2);
    check(step() == 5, "a collective with its root");
    do_call(CALL_MPI_Wtime);
    do_collective(CALL_MPI_Barrier, PEER_NONE);
    check(step() == 6, "a call by name");
    record_instant(record_reserve(LEVEL_APP, RECORD_SEND, CALL_MPI_Startall), 0);
    check(step() == 7, "a send without a duration is a send");
}

static void test_notes(void)
{
    RUN("await event=checkpoint epoch=2", "await event=phase name=\"half way\"",
        "await event=saved", "await event=commit position=after", "await event=restored",
        "await event=stop-log", "await event=result name=x level=wire");
    become(0, 0);
    faultline_checkpoint(1);
    faultline_checkpoint(3);
    faultline_saved(2);
    check(step() == 0, "a checkpoint of another line, another note");
    faultline_checkpoint(2);
    check(step() == 1, "the line asked for");
    faultline_phase("half");
    faultline_phase("half way there");
    check(step() == 1, "another name");
    faultline_phase("half way");
    check(step() == 2, "the name asked for");
    faultline_saved(2);
    faultline_commit(2);
    faultline_restored(2);
    faultline_stop_log(2);
    faultline_result("x", "1", 1);
    check(step() == 7, "every kind of note, before and after are the same");
}

/* --- kills ------------------------------------------------------------------------------------ */
/* A process that lives as `rank` until it is killed. */
static pid_t start_victim(int rank)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    atomic_store(&board->slot[rank].pid, (int32_t)child);
    return child;
}

static bool died_of_kill(pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* The trace of another rank, as the driver finds it afterwards. */
static const struct trace_header *map_trace(int rank, const struct record **record)
{
    char path[96];
    trace_path(path, sizeof path, rank);
    int file = open(path, O_RDONLY);
    const struct trace_header *header =
        mmap(NULL, TRACE_CHUNK_MAX_BYTES, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    *record = (const struct record *)((const char *)header + TRACE_HEADER_BYTES);
    return header;
}

static bool is_fault(const struct record *r, enum fault_kind kind, int at_step, int peer, pid_t pid)
{
    return atomic_load(&r->kind) == RECORD_FAULT && r->comm == (uint32_t)kind &&
           r->tag == at_step && r->peer == peer && r->bytes == (uint64_t)pid &&
           r->level == LEVEL_SELF;
}

/* The child is rank 0 and sends until it dies. */
static pid_t start_sender(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    become(0, 0);
    for (int i = 0; i < 100; i++)
        do_send(LEVEL_APP, CALL_MPI_Send, 1, i, 1);
    _exit(0);
}

static void test_kill_before(void)
{
    const struct record *r;
    RUN("kill victims=0 event=send rank=0 nth=3");
    pid_t pid = start_sender();
    check(died_of_kill(pid), "a rank kills itself");
    uint64_t next = atomic_load(&map_trace(0, &r)->next);
    check(next == 4 && r[2].tag == 2 && atomic_load(&r[2].kind) == RECORD_SEND &&
              atomic_load(&r[2].leave) == 0,
          "before the third send returns: it is a call in progress");
    check(is_fault(&r[3], FAULT_KILL, 0, 0, pid), "the evidence is in its trace");
    check(step() == 1, "and the plan has gone on");
}

static void test_kill_after(void)
{
    const struct record *r;
    RUN("kill victims=0 event=send rank=0 nth=3 position=after");
    check(died_of_kill(start_sender()), "a rank kills itself after a call");
    map_trace(0, &r);
    check(r[2].tag == 2 && atomic_load(&r[2].leave) != 0, "then the third send is complete");
}

static void test_kill_several(void)
{
    const struct record *r;
    RUN("kill victims=1,0,2 event=send rank=0 tag=5", "kill victims=1", "await event=send");
    pid_t first = start_victim(1);
    pid_t sender = start_sender();
    check(died_of_kill(sender) && died_of_kill(first), "two ranks die of one step");
    map_trace(0, &r);
    check(is_fault(&r[6], FAULT_KILL, 0, 1, first) && is_fault(&r[7], FAULT_KILL, 0, 0, sender) &&
              is_fault(&r[8], FAULT_KILL, 0, 2, 0),
          "all are in the evidence, a rank without a process as pid 0");
    check(is_fault(&r[9], FAULT_KILL, 1, 1, first) && step() == 2,
          "a step that waits for nothing is done at once, the next one is armed");
}

static void test_ended(void)
{
    RUN("kill victims=1 event=send rank=0");
    pid_t other = start_victim(1);
    atomic_store(&board->slot[1].ended, 1);
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    int status;
    kill(other, SIGTERM); /* what it dies of, unless a SIGKILL came first */
    waitpid(other, &status, 0);
    check(step() == 1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
          "the pid of a rank that has ended is not killed: it may be anybody's");
    check(atomic_load(&board->slot[1].kill_request) == 0, "and nobody is asked to kill it");
}

static void test_not_started(void)
{
    const struct record *r;
    RUN("await event=send", "kill victims=1,2 event=send rank=0");
    pid_t first = start_victim(1);
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    map_trace(0, &r);
    check(died_of_kill(first) && atomic_load(&board->slot[1].kill_request) == 0,
          "a process is killed at once");
    check(atomic_load(&board->slot[2].kill_request) == 2,
          "one that does not exist yet will be killed by its parent");
    check(faults(FAULT_KILL) == 2 && step() == 2, "the evidence of both is there");
}

/* It is stopped at once, and its parent, played by the test, is asked to kill it. */
static void test_with_parent(void)
{
    RUN("kill victims=1 event=send rank=0");
    pid_t first = start_victim(1);
    atomic_store(&board->slot[1].parent_pid, getpid());
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    int status = 0;
    waitpid(first, &status, WUNTRACED);
    check(WIFSTOPPED(status) && atomic_load(&board->slot[1].kill_request) == 1,
          "a process with a parent of ours is stopped, and the parent is to kill it");
    kill(first, SIGKILL);
    waitpid(first, &status, 0);
}

/* The child is rank 0 inside a receive; the parent of a rank is played by the test. */
static pid_t start_receiver(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    become(0, 0);
    struct record *r = record_begin(LEVEL_APP, RECORD_RECV, CALL_MPI_Recv);
    record_publish(r);
    atomic_store(&runtime_slot->line, 1); /* the library has returned */
    record_end(r, 0);
    _exit(0);
}

static void test_kill_inside(void)
{
    const struct record *r;
    RUN("kill victims=0 event=recv rank=0 position=inside");
    pid_t pid = start_receiver();
    for (uint32_t seen; atomic_load(&board->slot[0].kill_request) == 0;) {
        seen = atomic_load(&board->slot[0].attention);
        if (atomic_load(&board->slot[0].kill_request) == 0)
            board_await_request(board, 0, seen, 20000);
    }
    check(atomic_load(&board->slot[0].kill_request) == 1, "the rank's parent is asked to kill it");
    while (atomic_load(&board->slot[0].line) == 0)
        usleep(1000);
    usleep(20000); /* enough for a rank that does not wait to be gone */
    check(waitpid(pid, NULL, WNOHANG) == 0, "the rank waits for it, though the call has returned");
    kill(pid, SIGKILL);
    check(died_of_kill(pid), "until it comes");
    map_trace(0, &r);
    check(atomic_load(&r[0].kind) == RECORD_RECV && atomic_load(&r[0].leave) == 0 &&
              is_fault(&r[1], FAULT_KILL_INSIDE, 0, 0, pid),
          "the call has not returned, the evidence is there");
    check(step() == 1, "the plan has gone on");
}

static void test_start(void)
{
    RUN("kill victims=1", "await event=send");
    pid_t victim = start_victim(1);
    become(0, 0);
    watcher->started();
    check(died_of_kill(victim) && step() == 1,
          "a plan may begin with a step that waits for nothing");
    watcher->started();
    check(faults(FAULT_KILL) == 1, "it is done once");
    become(2, 0);
    watcher->started();
    check(faults(FAULT_KILL) == 0, "whoever comes next");
}

/* Two ranks race for the n-th event: exactly one of them does the step. */
static void test_race(void)
{
    unsigned awaited = 0;
    RUN("await event=send nth=1500");
    pid_t child = fork();
    if (child == 0) {
        become(1, 0);
        for (int i = 0; i < 1000; i++)
            do_send(LEVEL_APP, CALL_MPI_Send, 0, i, 1);
        _exit((int)faults(FAULT_AWAITED));
    }
    int status;
    become(0, 0);
    for (int i = 0; i < 1000; i++)
        do_send(LEVEL_APP, CALL_MPI_Send, 1, i, 1);
    waitpid(child, &status, 0);
    awaited = faults(FAULT_AWAITED) + (unsigned)WEXITSTATUS(status);
    check(step() == 1 && awaited == 1, "of two ranks that count together one does the step");
}

int main(void)
{
    if (!open_runs())
        return 1;
    test_fields();
    test_ranks();
    test_receives();
    test_ways_to_receive();
    test_two_records();
    test_calls();
    test_notes();
    test_kill_before();
    test_kill_after();
    test_kill_several();
    test_ended();
    test_not_started();
    test_with_parent();
    test_kill_inside();
    test_start();
    test_race();
    check(close_runs(), "nothing is left");
    return done();
}
