/* Writes the traces of a long correct run, to measure how fast they are judged: a ring of blocking
 * and non-blocking messages with an allreduce now and then, application and wire level, as the taps
 * would record it. Usage: make_trace FOLDER RANKS RECORDS (in all). */
#include "trace/calls.h"
#include "trace/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 1024
#define REDUCE_EVERY 16
#define BYTES 8
#define TICKS_PER_SECOND 1000000000u
#define PATH_BYTES 4096

struct writer {
    FILE *out;
    struct trace_header header;
    uint64_t clock; /* ticks; the same at all ranks at the same step */
    uint32_t request;
};

static void fail(const char *what)
{
    fprintf(stderr, "make_trace: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* A call that takes 20 ticks; the next begins 10 later. */
static struct record call(struct writer *writer, enum level level, enum record_kind kind,
                          enum call_id id)
{
    writer->clock += 30;
    struct record record = {.kind = (uint8_t)kind,
                            .level = (uint8_t)level,
                            .call = (uint16_t)id,
                            .enter = writer->clock,
                            .leave = writer->clock + 20,
                            .comm = COMM_WORLD_ID};
    return record;
}

static void put(struct writer *writer, const struct record *record)
{
    if (fwrite(record, sizeof *record, 1, writer->out) != 1)
        fail("write");
    writer->header.next++;
}

static void put_send(struct writer *writer, enum level level, enum call_id id, int to, int tag,
                     uint64_t hash, uint32_t request)
{
    struct record record = call(writer, level, RECORD_SEND, id);
    record.peer = to;
    record.tag = tag;
    record.bytes = BYTES;
    record.hash = hash;
    record.request = request;
    put(writer, &record);
}

static void put_receive(struct writer *writer, enum level level, enum call_id id, int from, int tag,
                        uint64_t hash, uint32_t request)
{
    struct record record = call(writer, level, RECORD_RECV, id);
    record.want_peer = from;
    record.want_tag = tag;
    record.request = request;
    if (request == 0) {
        record.peer = from;
        record.tag = tag;
        record.bytes = BYTES;
        record.hash = hash;
    }
    put(writer, &record);
}

static void put_complete(struct writer *writer, enum level level, uint32_t request, int from,
                         int tag, uint64_t hash)
{
    struct record record = call(writer, level, RECORD_COMPLETE, CALL_MPI_Waitall);
    record.request = request;
    record.comm = from >= 0 ? COMM_WORLD_ID : 0;
    if (from >= 0) {
        record.peer = from;
        record.tag = tag;
        record.bytes = BYTES;
        record.hash = hash;
    }
    put(writer, &record);
}

static uint64_t hash_of(int from, uint64_t step, int tag)
{
    return (step * 2 + (uint64_t)tag + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)from;
}

static void blocking_ring(struct writer *writer, int rank, int ranks, uint64_t step)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    for (int level = LEVEL_APP; level <= LEVEL_WIRE; level++)
        put_send(writer, (enum level)level, CALL_MPI_Send, to, 0, hash_of(rank, step, 0), 0);
    for (int level = LEVEL_APP; level <= LEVEL_WIRE; level++)
        put_receive(writer, (enum level)level, CALL_MPI_Recv, from, 0, hash_of(from, step, 0), 0);
}

static void exchange(struct writer *writer, int rank, int ranks, uint64_t step)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    uint32_t request = writer->request + 1;
    writer->request += 2;
    for (int level = LEVEL_APP; level <= LEVEL_WIRE; level++) {
        put_receive(writer, (enum level)level, CALL_MPI_Irecv, from, 1, 0, request);
        put_send(writer, (enum level)level, CALL_MPI_Isend, to, 1, hash_of(rank, step, 1),
                 request + 1);
        struct record wait = call(writer, (enum level)level, RECORD_CALL, CALL_MPI_Waitall);
        wait.comm = 0;
        wait.request = request;
        put(writer, &wait);
        put_complete(writer, (enum level)level, request, from, 1, hash_of(from, step, 1));
        put_complete(writer, (enum level)level, request + 1, -1, 0, 0);
    }
}

static void reduce(struct writer *writer, int rank, uint64_t step)
{
    for (int level = LEVEL_APP; level <= LEVEL_WIRE; level++) {
        struct record record =
            call(writer, (enum level)level, RECORD_COLLECTIVE, CALL_MPI_Allreduce);
        record.peer = PEER_NONE;
        record.bytes = BYTES;
        record.hash = hash_of(rank, step, 2);
        record.result_hash = hash_of(0, step, 3);
        put(writer, &record);
    }
}

static void write_rank(const char *folder, int rank, int ranks, uint64_t records)
{
    char path[PATH_BYTES];
    static char page[TRACE_HEADER_BYTES];
    struct writer writer = {.clock = 1000};
    snprintf(path, sizeof path, "%s/r%d.0.trace", folder, rank);
    writer.out = fopen(path, "wb");
    if (writer.out == NULL || fwrite(page, sizeof page, 1, writer.out) != 1)
        fail(path);
    for (uint64_t step = 0; writer.header.next < records; step++) {
        blocking_ring(&writer, rank, ranks, step);
        exchange(&writer, rank, ranks, step);
        if (step % REDUCE_EVERY == 0)
            reduce(&writer, rank, step);
    }
    uint64_t next = writer.header.next;
    writer.header = (struct trace_header){.magic = TRACE_MAGIC,
                                          .version = TRACE_VERSION,
                                          .record_bytes = TRACE_RECORD_BYTES,
                                          .rank = rank,
                                          .ranks = ranks,
                                          .world_size = ranks,
                                          .start_ticks = 1000,
                                          .ticks_per_second = TICKS_PER_SECOND,
                                          .next = next,
                                          .closed = 1,
                                          .hash_mode = 2,
                                          .program = "make_trace"};
    if (fseek(writer.out, 0, SEEK_SET) != 0 ||
        fwrite(&writer.header, sizeof writer.header, 1, writer.out) != 1 || fclose(writer.out) != 0)
        fail(path);
}

int main(int argc, char **argv)
{
    int ranks = argc == 4 ? atoi(argv[2]) : 0;
    uint64_t records = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (ranks < 2 || ranks > RANKS_MAX || records == 0) {
        fprintf(stderr,
                "usage: make_trace FOLDER RANKS RECORDS   (2 to %d ranks, 1 or more "
                "records in all)\n",
                RANKS_MAX);
        return 64;
    }
    for (int rank = 0; rank < ranks; rank++)
        write_rank(argv[1], rank, ranks, (records + (uint64_t)ranks - 1) / (uint64_t)ranks);
    return 0;
}
