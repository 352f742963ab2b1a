/* For unit tests of the rules: a run whose "ranks" are this process, or forked ones, recording by
 * hand as the taps do. */
#ifndef TESTS_RULES_RUN_H
#define TESTS_RULES_RUN_H

#include "injectors/record/runtime.h"
#include "injectors/rules/rules.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS 3

static char folder[] = "/tmp/faultline-rules-XXXXXX";
static char board_path[64];
static struct board *board;
static struct plan plan;

/* false: there is no folder. */
static inline bool open_runs(void)
{
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(board_path, sizeof board_path, "%s/board", folder);
    plan_init(&plan);
    return true;
}

/* A new run: board and plan, a line per step, NULL at the end. */
static inline void new_run(const char *const *lines)
{
    struct error error;
    struct plan_step step;
    board_unmap(board);
    unlink(board_path);
    board_create(board_path, RANKS, 0, 1e9, &board, NULL);
    plan_release(&plan);
    for (; *lines != NULL; lines++) {
        if (plan_step_parse(*lines, &step, &error) != OK) {
            printf("Bail out! %s\n", error.text);
            exit(1);
        }
        plan_add(&plan, &step, NULL);
    }
}

#define RUN(...) new_run((const char *const[]){__VA_ARGS__, NULL})

static inline void trace_path(char *path, size_t bytes, int rank)
{
    snprintf(path, bytes, "%s/r%d.0.trace", folder, rank);
}

/* Whether nothing is left of them. */
static inline bool close_runs(void)
{
    char path[96];
    for (int rank = 0; rank < RANKS; rank++) {
        trace_path(path, sizeof path, rank);
        unlink(path);
    }
    unlink(board_path);
    plan_release(&plan);
    return rmdir(folder) == 0;
}

/* This process is `rank` from now on. */
static inline void become(int rank, int incarnation)
{
    char path[96];
    struct trace_header header;
    memset(&header, 0, sizeof header);
    trace_path(path, sizeof path, rank);
    unlink(path);
    trace_writer_open(&runtime_trace, path, &header, NULL);
    runtime_slot = &board->slot[rank];
    runtime_recording = 1;
    atomic_store(&runtime_slot->pid, (int32_t)getpid());
    rules_open(&plan, board, rank, incarnation, NULL);
}

/* How many steps of a chain are done. */
static inline unsigned step(void)
{
    unsigned done = 0;
    while (board_step_done(board, done))
        done++;
    return done;
}

/* The fault records in the trace of this process. */
static inline unsigned faults(enum fault_kind kind)
{
    unsigned found = 0;
    for (uint64_t i = 0; i < atomic_load(&runtime_trace.header->next); i++) {
        const struct record *r = &runtime_trace.record[i];
        found += atomic_load(&r->kind) == RECORD_FAULT && r->comm == (uint32_t)kind;
    }
    return found;
}

static inline bool is_last_fault(enum fault_kind kind, int at, int peer, uint64_t value,
                                 uint32_t reason)
{
    const struct record *r = &runtime_trace.record[atomic_load(&runtime_trace.header->next) - 1];
    return atomic_load(&r->kind) == RECORD_FAULT && r->comm == (uint32_t)kind && r->tag == at &&
           r->peer == peer && r->bytes == value && r->request == reason;
}

/* --- calls as the taps record them ------------------------------------------------------------ */
static inline void do_send(enum level level, unsigned call, int peer, int tag, uint32_t comm)
{
    struct record *r = record_begin(level, RECORD_SEND, call);
    r->peer = peer;
    r->tag = tag;
    r->comm = comm;
    record_publish(r);
    record_end(r, 0);
}

static inline void do_recv_by(unsigned call, int want_peer, int want_tag, int peer, int tag)
{
    struct record *r = record_begin(LEVEL_APP, RECORD_RECV, call);
    r->want_peer = want_peer;
    r->want_tag = want_tag;
    r->comm = COMM_WORLD_ID;
    record_publish(r);
    r->peer = peer;
    r->tag = tag;
    record_end(r, 0);
}

static inline void do_irecv(int want_peer)
{
    struct record *r = record_begin(LEVEL_APP, RECORD_RECV, CALL_MPI_Irecv);
    r->want_peer = want_peer;
    r->want_tag = TAG_ANY;
    r->comm = COMM_WORLD_ID;
    r->request = 1;
    record_publish(r);
    record_end(r, 0);
}

static inline void do_recv(int want_peer, int want_tag, int peer, int tag)
{
    do_recv_by(CALL_MPI_Recv, want_peer, want_tag, peer, tag);
}

/* Waitall over a send and a receive from `peer`. */
static inline void do_waitall(int peer)
{
    struct record *r = record_begin(LEVEL_APP, RECORD_CALL, CALL_MPI_Waitall);
    record_publish(r);
    struct record *send = record_reserve(LEVEL_APP, RECORD_COMPLETE, CALL_MPI_Waitall);
    send->request = 2;
    record_instant(send, 0);
    struct record *receive = record_reserve(LEVEL_APP, RECORD_COMPLETE, CALL_MPI_Waitall);
    receive->request = 1;
    receive->comm = COMM_WORLD_ID;
    receive->peer = peer;
    record_instant(receive, 0);
    record_end(r, 0);
}

static inline void do_test(bool negative)
{
    struct record *r = record_poll_begin(LEVEL_APP, RECORD_COMPLETE, CALL_MPI_Test);
    r->request = 1;
    record_publish(r);
    r->flags = negative ? FLAG_NEGATIVE : 0;
    r->comm = COMM_WORLD_ID;
    record_poll_end(r, 0);
}

static inline void do_call(unsigned call)
{
    struct record *r = record_begin(LEVEL_APP, RECORD_CALL, call);
    record_publish(r);
    record_end(r, 0);
}

static inline void do_sendrecv(unsigned call)
{
    struct record *send = record_begin(LEVEL_APP, RECORD_SEND, call);
    record_publish(send);
    struct record *receive = record_begin(LEVEL_APP, RECORD_RECV, call);
    receive->want_peer = PEER_ANY;
    record_publish(receive);
    record_end(send, 0);
    receive->peer = 1;
    record_end(receive, 0);
}

static inline void do_collective(unsigned call, int root)
{
    struct record *r = record_begin(LEVEL_APP, RECORD_COLLECTIVE, call);
    r->peer = root;
    r->comm = COMM_WORLD_ID;
    record_publish(r);
    record_end(r, 0);
}

#endif
