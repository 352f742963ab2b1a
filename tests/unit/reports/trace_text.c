/* `faultline trace`: the words for each kind of record, the merge by time, filters, bounds. */
#include "reports/text/trace_text.h"
#include "reports/text/trace_line.h"
#include "tap.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define PER_SECOND 1e9 /* ticks are nanoseconds here */
#define START 1000000000u

/* A trace in memory: header and records in one block, as the reader gives it. */
static struct trace trace_of(int rank, int incarnation, const struct record *records, size_t count)
{
    struct trace_header *header = calloc(1, TRACE_HEADER_BYTES + (count + 1) * sizeof *records);
    struct record *copy = (void *)((char *)header + TRACE_HEADER_BYTES);
    *header = (struct trace_header){.rank = rank,
                                    .incarnation = incarnation,
                                    .ranks = 2,
                                    .start_ticks = START,
                                    .ticks_per_second = PER_SECOND};
    memcpy(copy, records, count * sizeof *records);
    return (struct trace){rank, incarnation, header, copy, count, NULL, 0};
}

static char *printed(const struct trace_set *set, const struct trace_print_options *options)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct error error = {0};
    if (trace_print(set, options, out, &error) != OK)
        fprintf(out, "error: %s\n", error.text);
    fclose(out);
    return text;
}

static void show(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (c == text || c[-1] == '\n')
            printf("# ");
        putchar(*c);
    }
}

/* ---- the words
 * ------------------------------------------------------------------------------------- */

#define TIMES .enter = START + 1500000, .leave = START + 1512300

static const struct {
    struct record record[4];
    size_t count;
    const char *line; /* after the event's name */
} words[] = {
    {{{.kind = RECORD_SEND,
       .call = CALL_MPI_Send,
       TIMES,
       .comm = 1,
       .peer = 1,
       .tag = 7,
       .bytes = 4096,
       .hash = 0x1a2b3c4d00000000u}},
     1,
     "app       12.3 us  MPI_Send               to r1, tag 7, world, 4096 bytes, hash 1a2b3c4d"},
    {{{.kind = RECORD_SEND,
       .level = LEVEL_WIRE,
       .call = CALL_MPI_Isend,
       TIMES,
       .comm = 0xa3f,
       .peer = 0,
       .tag = 1,
       .bytes = 1,
       .flags = FLAG_NO_HASH | FLAG_PERSISTENT,
       .request = 5}},
     1,
     "wire      12.3 us  MPI_Isend              to r0, tag 1, comm a3f, 1 byte, request 5, "
     "persistent"},
    {{{.kind = RECORD_RECV,
       .call = CALL_MPI_Recv,
       .enter = START,
       .comm = 2,
       .want_peer = PEER_ANY,
       .want_tag = TAG_ANY}},
     1,
     "app   in progress  MPI_Recv               from any, tag any, self"},
    {{{.kind = RECORD_RECV,
       .call = CALL_MPI_Recv,
       .enter = START,
       .leave = START + 2000000000u,
       .comm = 1,
       .peer = 1,
       .tag = 3,
       .bytes = 8,
       .hash = 1ull << 32,
       .want_peer = PEER_ANY,
       .want_tag = 3,
       .error = 15,
       .thread = 2}},
     1,
     "app       2.00 s   MPI_Recv               from any, tag 3, world: got r1, tag 3, 8 bytes, "
     "hash 00000001, error class 15, thread 2"},
    {{{.kind = RECORD_RECV,
       .call = CALL_MPI_Irecv,
       TIMES,
       .comm = 1,
       .want_peer = 1,
       .want_tag = 3,
       .request = 9}},
     1,
     "app       12.3 us  MPI_Irecv              from r1, tag 3, world, request 9"},
    {{{.kind = RECORD_COMPLETE,
       .call = CALL_MPI_Waitall,
       .enter = START,
       .leave = START,
       .request = 3}},
     1,
     "app                MPI_Waitall            request 3: complete"},
    {{{.kind = RECORD_COMPLETE,
       .call = CALL_MPI_Wait,
       TIMES,
       .comm = 1,
       .peer = 1,
       .tag = 3,
       .bytes = 8,
       .flags = FLAG_NO_HASH,
       .request = 9}},
     1,
     "app       12.3 us  MPI_Wait               request 9: got r1, tag 3, world, 8 bytes"},
    {{{.kind = RECORD_COMPLETE,
       .call = CALL_MPI_Test,
       TIMES,
       .bytes = 12,
       .request = 9,
       .flags = FLAG_NEGATIVE}},
     1,
     "app       12.3 us  MPI_Test               request 9: not complete (12 times)"},
    {{{.kind = RECORD_COMPLETE,
       .call = CALL_MPI_Wait,
       TIMES,
       .request = 9,
       .flags = FLAG_CANCELLED}},
     1,
     "app       12.3 us  MPI_Wait               request 9: cancelled"},
    {{{.kind = RECORD_PROBE,
       .call = CALL_MPI_Iprobe,
       TIMES,
       .comm = 1,
       .want_peer = PEER_ANY,
       .want_tag = 4,
       .flags = FLAG_NEGATIVE,
       .bytes = 3}},
     1,
     "app       12.3 us  MPI_Iprobe             for any, tag 4, world: nothing (3 times)"},
    {{{.kind = RECORD_PROBE,
       .call = CALL_MPI_Mprobe,
       TIMES,
       .comm = 1,
       .want_peer = PEER_ANY,
       .want_tag = 4,
       .peer = 0,
       .tag = 4,
       .bytes = 3,
       .request = 2}},
     1,
     "app       12.3 us  MPI_Mprobe             for any, tag 4, world: r0, tag 4, 3 bytes, message "
     "2"},
    {{{.kind = RECORD_COLLECTIVE,
       .call = CALL_MPI_Bcast,
       TIMES,
       .comm = 1,
       .peer = 0,
       .bytes = 8,
       .hash = 2ull << 32,
       .result_hash = 3ull << 32}},
     1,
     "app       12.3 us  MPI_Bcast              world, root r0, 8 bytes, hash 00000002, result "
     "00000003"},
    {{{.kind = RECORD_COLLECTIVE,
       .call = CALL_MPI_Allreduce,
       .enter = START,
       .comm = 1,
       .peer = PEER_NONE,
       .bytes = 8,
       .flags = FLAG_NO_HASH | FLAG_IN_PLACE,
       .result_hash = 3ull << 32}},
     1,
     "app   in progress  MPI_Allreduce          world, 8 bytes, in place"},
    {{{.kind = RECORD_COMM,
       .call = CALL_MPI_Comm_split,
       TIMES,
       .comm = 0xbeef,
       .bytes = 1,
       .tag = 3,
       .peer = 1},
      {.kind = RECORD_GROUP, .members = {4, 5, 6, -1}}},
     2,
     "app       12.3 us  MPI_Comm_split         comm beef from world, rank 1 of 3: r4 r5 r6"},
    {{{.kind = RECORD_FAILED, .call = CALL_MPIX_Comm_failure_get_acked, TIMES, .comm = 1, .tag = 2},
      {.kind = RECORD_GROUP, .members = {2, 5, -1}}},
     2,
     "app       12.3 us  MPIX_Comm_failure_get_acked world, failed: r2 r5"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_CHECKPOINT,
       .bytes = 2}},
     1,
     "self               note                   checkpoint 2"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_LOGGED,
       .bytes = 2,
       .comm = 1,
       .peer = 3,
       .request = 7,
       .hash = 0x1a2b3c4d00000000u}},
     1,
     "self               note                   logged 2: from r3, tag 7, world, hash 1a2b3c4d"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_SUPPRESSED,
       .bytes = 1,
       .comm = 0xa3f,
       .flags = FLAG_NO_HASH}},
     1,
     "self               note                   suppressed 1: to r0, tag 0, comm a3f"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_RECORDED,
       .bytes = 2,
       .comm = 1,
       .peer = 3,
       .request = 7,
       .hash = 0x1a2b3c4d00000000u}},
     1,
     "self               note                   recorded 2: from r3, tag 7, world, hash 1a2b3c4d"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_CLEAR,
       .bytes = 2,
       .comm = 1,
       .peer = 3,
       .flags = FLAG_NO_HASH}},
     1,
     "self               note                   clear 2: from r3"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_ADDRESS,
       .bytes = 2,
       .comm = 0xa3f,
       .peer = 3,
       .flags = FLAG_NO_HASH}},
     1,
     "self               note                   address 2: process r3, comm a3f"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_NOTIFIED,
       .bytes = 2}},
     1,
     "self               note                   notified 2"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_BECOMES,
       .bytes = UINT64_MAX}},
     1,
     "self               note                   becomes no rank"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_BECOMES,
       .bytes = 2}},
     1,
     "self               note                   becomes 2"},
    {{{.kind = RECORD_NOTE,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = NOTE_DECISION,
       .bytes = 8,
       .hash = 0x1a2b3c4d00000000u},
      {.kind = RECORD_TEXT, .text = "draw"}},
     2,
     "self               note                   decision \"draw\", 8 bytes, hash 1a2b3c4d"},
    {{{.kind = RECORD_NOTE, .level = LEVEL_SELF, .enter = START, .leave = START, .tag = NOTE_PHASE},
      {.kind = RECORD_TEXT, .text = "half\x1b[31m \"way\" \xff\n"}},
     2,
     "self               note                   phase \"half\\x1b[31m \\\"way\\\" \\xff\\x0a\""},
    {{{.kind = RECORD_FAULT,
       .level = LEVEL_SELF,
       .enter = START,
       .leave = START,
       .tag = 0,
       .comm = FAULT_KILL,
       .peer = 1}},
     1,
     "self               fault                  kill r1, step 1 of the plan"},
    {{{.kind = RECORD_CALL,
       .call = CALL_MPI_Comm_rank,
       .enter = START,
       .leave = START + 90,
       .comm = 1}},
     1,
     "app       90.0 ns  MPI_Comm_rank          world"},
    {{{.kind = RECORD_CALL, .call = CALL_MPI_Barrier, TIMES, .thread = 1, .error = 2}},
     1,
     "app       12.3 us  MPI_Barrier            error class 2, thread 1"},
    {{{.kind = RECORD_CALL,
       .call = CALL_MPIX_Comm_agree,
       TIMES,
       .comm = 1,
       .tag = 5,
       .result_hash = 4,
       .error = RAISED_PROC_FAILED}},
     1,
     "app       12.3 us  MPIX_Comm_agree        world, flag 0x5: agreed on 0x4, raised "
     "proc-failed"},
    {{{.kind = RECORD_END, .level = LEVEL_SELF, .enter = START, .leave = START, .tag = 9}},
     1,
     "self               end                    signal 9 (Killed)"},
    {{{.kind = RECORD_END, .level = LEVEL_SELF, .enter = START, .leave = START, .bytes = 3}},
     1,
     "self               end                    exit 3"},
    {{{.kind = RECORD_NONE}}, 1, "?                  none                   torn: never finished"},
    {{{.kind = 77, .level = 9, .call = 60000, TIMES, .error = 1}},
     1,
     "?         12.3 us  ?                      error class 1"},
};

static void test_words(void)
{
    struct trace_print_options options = trace_print_options_default();
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct trace trace = trace_of(0, 1, words[i].record, words[i].count);
        struct trace_set set = {1, &trace, 2, 2, 2};
        char *text = printed(&set, &options);
        const char *after = strstr(text, "r0#1:e0         ");
        bool good = after != NULL && strlen(after) > 16 &&
                    strncmp(after + 16, words[i].line, strlen(words[i].line)) == 0 &&
                    strcmp(after + 16 + strlen(words[i].line), "\n") == 0;
        if (!check(good, "words %zu", i))
            show(text);
        free(text);
        free((void *)(uintptr_t)trace.header);
    }
}

/* ---- the merge
 * ---------------------------------------------------------------------------------------- */

static struct record sent(uint64_t enter)
{
    return (struct record){.kind = RECORD_SEND,
                           .call = CALL_MPI_Send,
                           .enter = START + enter,
                           .leave = START + enter + 1,
                           .comm = 1};
}

/* The names of the events in order, without the rest of the lines. */
static char *names(const struct trace_set *set, const struct trace_print_options *options)
{
    char *text = printed(set, options), *from = text, *to = text;
    for (; *from != '\0'; from = strchr(from, '\n') + 1) {
        const char *name = strncmp(from, "...", 3) == 0 ? from : strchr(from, 'r');
        size_t length = strcspn(name, " \n");
        memmove(to, name, length);
        to += length;
        *to++ = ' ';
    }
    if (to > text)
        to--;
    *to = '\0';
    return text;
}

static void check_names(const struct trace_set *set, const struct trace_print_options *options,
                        const char *want, const char *what)
{
    char *text = names(set, options);
    if (!check(strcmp(text, want) == 0, "%s", what))
        show(text);
    free(text);
}

static void test_merge(void)
{
    const struct record zero[] = {sent(10), sent(30), sent(20), sent(60)}; /* two threads */
    struct record one[] = {sent(25), {.kind = RECORD_NONE}, sent(40)};
    const struct record again[] = {sent(100)};
    one[2].level = LEVEL_WIRE;
    struct trace traces[] = {trace_of(0, 0, zero, 4), trace_of(1, 0, one, 3),
                             trace_of(1, 1, again, 1)};
    struct trace_set set = {3, traces, 2, 2, 2};
    struct trace_print_options all = trace_print_options_default(), some = all;
    check_names(&set, &all, "r0#0:e0 r1#0:e0 r1#0:e1 r0#0:e1 r0#0:e2 r1#0:e2 r0#0:e3 r1#1:e0",
                "by time, and no record before the one in front of it");
    some.rank = 1;
    check_names(&set, &some, "r1#0:e0 r1#0:e1 r1#0:e2 r1#1:e0", "one rank");
    some.incarnation = 1;
    check_names(&set, &some, "r1#1:e0", "one incarnation of it");
    some = all, some.level = LEVEL_WIRE;
    check_names(&set, &some, "r1#0:e2", "one level");
    some = all, some.kind = RECORD_NONE;
    check_names(&set, &some, "r1#0:e1", "one kind");
    some = all, some.from = 1, some.to = 2;
    check_names(&set, &some, "r1#0:e1 r0#0:e1 r0#0:e2 r1#0:e2", "a range of events");
    some.from = 3, some.to = 2;
    check_names(&set, &some, "", "an empty range");
    some = all, some.limit = 2;
    check_names(&set, &some, "r0#0:e0 r1#0:e0 ...", "a limit, and it is said");
    some.limit = 8;
    check_names(&set, &some, "r0#0:e0 r1#0:e0 r1#0:e1 r0#0:e1 r0#0:e2 r1#0:e2 r0#0:e3 r1#1:e0",
                "a limit that is not reached is not mentioned");
    for (int i = 0; i < 3; i++)
        free((void *)(uintptr_t)traces[i].header);
}

/* ---- bounds, colours, options
 * ------------------------------------------------------------------------------ */

static void test_bounds(void)
{
    struct record records[2] = {
        {.kind = RECORD_COMM, .call = CALL_MPI_Comm_dup, TIMES, .comm = 3, .tag = INT32_MAX},
        {.kind = RECORD_GROUP}};
    struct trace trace = trace_of(0, 0, records, 2);
    struct trace_set set = {1, &trace, 1, 1, 1};
    struct trace_print_options options = trace_print_options_default();
    char *text = printed(&set, &options);
    check(strlen(text) <= TRACE_LINE_BYTES + 1, "members beyond the trace are not read");
    free(text);
    free((void *)(uintptr_t)trace.header);

    struct record named[8] = {
        {.kind = RECORD_NOTE, .level = LEVEL_SELF, TIMES, .tag = NOTE_PHASE, .thread = 3}};
    for (int i = 1; i < 8; i++) {
        named[i].kind = RECORD_TEXT;
        memset(named[i].text, 'x', RECORD_TEXT_BYTES);
    }
    trace = trace_of(0, 0, named, 8);
    text = printed(&set, &options);
    check(strlen(text) == TRACE_LINE_BYTES + 1 && strstr(text, "xxx...\n") != NULL,
          "a long line is cut and says so");
    free(text);
    options.colour = true;
    text = printed(&set, &options);
    check(strncmp(text, "\x1b[36m", 5) == 0 && strstr(text, "...\x1b[0m\n") != NULL,
          "colour ends where the line ends");
    free(text);
    FILE *full = fopen("/dev/full", "w");
    struct error error = {0};
    check(trace_print(&set, &options, full, &error) == ERROR_IO, "a full disk: %s", error.text);
    fclose(full);
    free((void *)(uintptr_t)trace.header);
}

static void test_options(void)
{
    check(trace_kind_from_text("send") == RECORD_SEND &&
              trace_kind_from_text("text") == RECORD_TEXT && trace_kind_from_text("sends") == -1,
          "kinds by name");
    check(trace_level_from_text("wire") == LEVEL_WIRE && trace_level_from_text("App") == -1,
          "levels by name");
}

int main(void)
{
    test_words();
    test_merge();
    test_bounds();
    test_options();
    return done();
}
