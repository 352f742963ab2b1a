/* Trace files and text traces: what is wrong is named, what is right survives being written as text
 * and read again, byte for byte. */
#include "tap.h"
#include "trace/calls.h"
#include "trace/reader.h"
#include "traces/text_trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS 400

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[2][128];
    static int next;
    char *chosen = path[next++ % 2];
    snprintf(chosen, sizeof path[0], "%s/%s", folder, name);
    return chosen;
}

static void write_file(const char *name, const void *data, size_t bytes)
{
    FILE *out = fopen(path_of(name), "wb");
    if (out == NULL || fwrite(data, 1, bytes, out) != bytes || fclose(out) != 0)
        exit(1);
}

static struct trace_header good_header(int rank, int incarnation)
{
    return (struct trace_header){.magic = TRACE_MAGIC,
                                 .version = TRACE_VERSION,
                                 .record_bytes = TRACE_RECORD_BYTES,
                                 .rank = rank,
                                 .incarnation = incarnation,
                                 .ranks = 2,
                                 .ticks_per_second = 2.5e9};
}

static void write_trace(const char *name, const struct trace_header *header, uint64_t records)
{
    size_t bytes = TRACE_HEADER_BYTES + records * TRACE_RECORD_BYTES;
    char *data = calloc(1, bytes);
    memcpy(data, header, sizeof *header);
    write_file(name, data, bytes);
    free(data);
}

/* Opening `name` fails with `code`, and the error names the file and `what`. */
static void refuses(const char *name, enum error_code code, const char *what)
{
    struct trace trace;
    struct error error = {0};
    enum error_code got = trace_open(path_of(name), &trace, &error);
    check(got == code && error.code == code, "%s: %s", name, error_code_text(code));
    check(strstr(error.text, name) != NULL && strstr(error.text, what) != NULL,
          "%s: the error says so: %s", name, error.text);
    trace_close(&trace);
}

static void bad_files(void)
{
    struct trace_header header = good_header(0, 0);
    write_file("empty.trace", "", 0);
    refuses("empty.trace", ERROR_FORMAT, "empty");
    write_file("foreign.trace", "\177ELF\2\1\1 and so on, a program of some sort", 40);
    refuses("foreign.trace", ERROR_FORMAT, "not a Faultline trace");
    write_file("cut.trace", &header, sizeof header);
    refuses("cut.trace", ERROR_FORMAT, "cut within its header");
    header.version = TRACE_VERSION + 6;
    write_trace("newer.trace", &header, 0);
    refuses("newer.trace", ERROR_VERSION, "version 7");
    header = good_header(65536, 0);
    write_trace("rank.trace", &header, 0);
    refuses("rank.trace", ERROR_FORMAT, "rank 65536; must be 0 to 65535");
    header.ranks = 2000000000;
    write_trace("ranks.trace", &header, 0);
    refuses("ranks.trace", ERROR_FORMAT, "of 2000000000 ranks; must be of 1 to 65536");
    header = good_header(0, 0);
    header.ranks = 0;
    write_trace("none.trace", &header, 0);
    refuses("none.trace", ERROR_FORMAT, "of 0 ranks; must be of 1 to");
    header = good_header(0, 2147483647);
    write_trace("life.trace", &header, 0);
    refuses("life.trace", ERROR_FORMAT, "incarnation 2147483647; must be 0 to 1023");
    header = good_header(0, 0);
    header.ticks_per_second = 1e300;
    write_trace("clock.trace", &header, 0);
    refuses("clock.trace", ERROR_FORMAT, "1e+300 ticks per second");
    header = good_header(0, 0);
    header.record_bytes = 32;
    write_trace("size.trace", &header, 0);
    refuses("size.trace", ERROR_FORMAT, "32 bytes");
    refuses("absent.trace", ERROR_IO, "No such file");
    refuses("", ERROR_FORMAT, "regular file");
}

static void truncated_file(void)
{
    struct trace_header header = good_header(1, 3);
    struct trace trace;
    header.next = 100;
    write_trace("short.trace", &header, 10);
    check(trace_open(path_of("short.trace"), &trace, NULL) == OK,
          "a file cut in its records opens");
    check(trace.count == 10 && trace.rank == 1 && trace.incarnation == 3, "with what is there");
    trace_close(&trace);
    header.next = 4;
    write_trace("room.trace", &header, 10);
    check(trace_open(path_of("room.trace"), &trace, NULL) == OK && trace.count == 4,
          "of one that has room for more, all that was begun");
    trace_close(&trace);
}

/* A job of four that goes on with two, and dies again. */
static void resized_set(void)
{
    static const int ranks[] = {4, 2, 2};
    struct trace_set set;
    struct error error = {0};
    char sub[128];
    snprintf(sub, sizeof sub, "%s/resized", folder);
    mkdir(sub, 0700);
    for (int incarnation = 0; incarnation < 3; incarnation++)
        for (int rank = 0; rank < ranks[incarnation]; rank++) {
            char name[64];
            struct trace_header header = good_header(rank, incarnation);
            header.ranks = ranks[incarnation];
            snprintf(name, sizeof name, "resized/r%d.%d.trace", rank, incarnation);
            write_trace(name, &header, 4);
        }
    check(trace_set_open(sub, &set, &error) == OK && set.world == 4 && set.ranks == 4,
          "the world is the largest that there was: %d of %d", set.world, set.ranks);
    check(trace_set_resized(&set) == 1, "the first incarnation of another size: %d",
          trace_set_resized(&set));
    trace_set_release(&set);
}

static void sets(void)
{
    struct trace_set set;
    struct error error = {0};
    char sub[128];
    snprintf(sub, sizeof sub, "%s/set", folder);
    mkdir(sub, 0700);
    check(trace_set_open(sub, &set, &error) == ERROR_FORMAT && strstr(error.text, "no trace"),
          "a folder without traces: %s", error.text);
    for (int i = 0; i < 3; i++) {
        char name[64];
        struct trace_header header = good_header(i % 2, i / 2);
        snprintf(name, sizeof name, "set/r%d.%d.trace", i % 2, i / 2);
        write_trace(name, &header, 4);
    }
    check(trace_set_open(sub, &set, &error) == OK && set.count == 3, "three traces");
    check(set.ranks == 2 && set.incarnations == 2, "their ranks and incarnations");
    check(trace_set_find(&set, 1, 0) == &set.trace[1] && trace_set_find(&set, 1, 1) == NULL,
          "found by rank and incarnation");
    trace_set_release(&set);
    /* Ranks that died while they made their traces. */
    struct trace_header nothing = {.magic = ""};
    write_file("set/dead.trace", "", 0);
    write_trace("set/dying.trace", &nothing, 100);
    check(trace_set_open(sub, &set, &error) == OK && set.count == 3, "two that never began");
    trace_set_release(&set);
    nothing.next = 3;
    write_trace("set/damaged.trace", &nothing, 100);
    check(trace_set_open(sub, &set, &error) == ERROR_FORMAT && strstr(error.text, "damaged.trace"),
          "one that lost its header is no such: %s", error.text);
    unlink(path_of("set/damaged.trace"));
    struct trace_header twice = good_header(1, 0);
    write_trace("set/again.trace", &twice, 4);
    check(trace_set_open(sub, &set, &error) == ERROR_FORMAT && strstr(error.text, "two traces"),
          "the same rank twice: %s", error.text);
}

/* --- text ---------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static int32_t draw_peer(void)
{
    return (int32_t)draw(6) - 4;
}

static struct record draw_record(uint64_t previous_note)
{
    struct record record;
    memset(&record, 0, sizeof record);
    unsigned kind = (unsigned)draw(RECORD_KIND_COUNT);
    record.kind = (uint8_t)kind;
    if (kind == RECORD_NONE)
        return record;
    record.level = (uint8_t)draw(3);
    record.thread = (uint16_t)draw(3);
    if (kind == RECORD_TEXT) {
        for (unsigned i = 0; i < draw(RECORD_TEXT_BYTES + 1); i++)
            record.text[i] = (char)(1 + draw(255));
        return record;
    }
    if (kind == RECORD_GROUP) {
        for (unsigned i = 0; i < RECORD_GROUP_MEMBERS; i++)
            record.members[i] = (int32_t)draw(5) - 1;
        return record;
    }
    record.call = (uint16_t)draw(CALL_COUNT + 50);
    record.flags = (uint8_t)draw(256);
    record.error = (uint8_t)(draw(4) == 0 ? 246 + draw(6) : draw(2));
    record.enter = 1 + draw(1u << 30);
    record.leave = draw(3) == 0 ? 0 : record.enter + draw(1000);
    record.comm = kind == RECORD_FAULT ? (uint32_t)draw(FAULT_KIND_COUNT) : (uint32_t)draw(3);
    record.peer = draw_peer();
    record.tag = kind == RECORD_NOTE      ? (int32_t)draw(NOTE_KIND_COUNT)
                 : kind == RECORD_STORAGE ? (int32_t)draw(STORAGE_CALL_COUNT)
                                          : (int32_t)draw(9) - 3;
    record.request = (uint32_t)draw(3);
    record.bytes = draw(4) == 0 ? UINT64_MAX : draw(5);
    record.hash = draw(2) == 0 ? 0 : state;
    if (kind == RECORD_RECV || kind == RECORD_PROBE) {
        record.want_peer = draw_peer();
        record.want_tag = (int32_t)draw(5) - 2;
    } else if (kind == RECORD_NOTE) {
        record.previous_note = draw(5) == 0 ? draw(9) : previous_note;
    } else {
        record.result_hash = draw(2) == 0 ? 0 : state;
    }
    return record;
}

static void draw_trace(const char *name, int rank)
{
    struct trace_header header = good_header(rank, 0);
    static char data[TRACE_HEADER_BYTES + RECORDS * TRACE_RECORD_BYTES];
    uint64_t last_note = 0;
    memset(data, 0, sizeof data);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct record record = draw_record(last_note);
        if (record.kind == RECORD_NOTE)
            last_note = i + 1;
        memcpy(data + TRACE_HEADER_BYTES + i * sizeof record, &record, sizeof record);
    }
    header.next = RECORDS + (uint64_t)rank;
    header.last_note = rank == 0 ? last_note : 7;
    header.lost = (uint32_t)rank;
    header.closed = 1;
    header.pid = 4711;
    header.start_ticks = 99;
    header.start_unix_ns = 1234567890123456789u;
    header.ticks_per_second = 2.4e9 + 1.0 / 3;
    snprintf(header.program, sizeof header.program, "a \"name\" with\n\\ odd things");
    memcpy(data, &header, sizeof header);
    write_file(name, data, sizeof data);
}

static bool same_trace(const struct trace *a, const struct trace *b)
{
    bool same = a->count == b->count && memcmp(a->header, b->header, sizeof *a->header) == 0;
    for (uint64_t i = 0; same && i < a->count; i++) {
        same = memcmp(&a->record[i], &b->record[i], sizeof a->record[i]) == 0;
        if (!same)
            printf("# record %d of kind %s differs\n", (int)i, record_kind_text(a->record[i].kind));
    }
    return same;
}

static void round_trip(void)
{
    struct trace_set set, again = {0};
    struct error error = {0};
    char sub[128];
    snprintf(sub, sizeof sub, "%s/drawn", folder);
    mkdir(sub, 0700);
    draw_trace("drawn/r0.0.trace", 0);
    draw_trace("drawn/r1.0.trace", 1);
    check(trace_set_open(sub, &set, &error) == OK, "two drawn traces");
    FILE *out = fopen(path_of("drawn.txt"), "w");
    check(trace_set_write(&set, out, &error) == OK, "written as text");
    fclose(out);
    check(trace_set_parse(path_of("drawn.txt"), &again, &error) == OK, "read again: %s",
          error.text);
    check(again.count == 2 && same_trace(&set.trace[0], &again.trace[0]) &&
              same_trace(&set.trace[1], &again.trace[1]),
          "they are the same, byte for byte");
    trace_set_release(&again);
    trace_set_release(&set);
}

/* One line is refused, the error names the line, and `what`. */
static void refuses_text(const char *line, const char *what)
{
    struct trace_set set;
    struct error error = {0};
    char text[2048];
    snprintf(text, sizeof text, "ranks 2\nr0#0 app call MPI_Init\n%s\n", line);
    write_file("bad.txt", text, strlen(text));
    bool refused = trace_set_parse(path_of("bad.txt"), &set, &error) == ERROR_FORMAT;
    check(refused && strstr(error.text, "bad.txt:3") && strstr(error.text, what), "%s -> %s", line,
          error.text);
    trace_set_release(&set);
}

static void bad_text(void)
{
    refuses_text("r0 app send MPI_Send to 1", "r<rank>#<incarnation>");
    refuses_text("r0#0:x app send MPI_Send to 1", "r0#0:e5");
    refuses_text("r0#0:e7 app call MPI_Init", "the next event of this trace is e1");
    refuses_text("nonsense", "begins no line");
    refuses_text("r0#0 send MPI_Send to 1", "level (app, wire or self)");
    refuses_text("r0#0 app sned MPI_Send to 1", "send, recv, complete");
    refuses_text("r0#0 app send MPI_Sned to 1", "MPI_Sned");
    refuses_text("r0#0 app send MPI_Send tag 7", "`to`");
    refuses_text("r0#0 app recv MPI_Recv tag 7", "`from`");
    refuses_text("r0#0 app send MPI_Send to nobody", "any, null, none or unknown");
    refuses_text("r0#0 app send MPI_Send to 1 tagg 7", "did you mean 'tag'?");
    refuses_text("r0#0 app send MPI_Send to 1 bytes -3", "not a number from 0");
    refuses_text("r0#0 app send MPI_Send to 1 thread 70000", "0 to 65535");
    refuses_text("r0#0 app send MPI_Send to 1 at 9 until 3", "before `at`");
    refuses_text("r0#0 app send MPI_Send to 1 in-progress until 3", "in progress has no end");
    refuses_text("r0#0 note chekpoint 1", "checkpoint, saved, commit");
    refuses_text("r0#0 note result 8 name sum", "double quotes");
    refuses_text("r0#0 note result 8 name \"sum", "quote at the end is missing");
    refuses_text("r0#0 fault kil 1", "awaited, kill, kill-inside");
    refuses_text("trace r0#0 opne", "open, closed, start");
    refuses_text("ranks 0", "1 to");
}

static void whole_text(void)
{
    struct trace_set set;
    struct error error = {0};
    static const char rank[] = "ranks 1\nr3#0 app call MPI_Init\n";
    write_file("rank.txt", rank, strlen(rank));
    check(trace_set_parse(path_of("rank.txt"), &set, &error) == ERROR_FORMAT &&
              strstr(error.text, "rank 3"),
          "a rank that `ranks` excludes: %s", error.text);
    write_file("none.txt", "about nothing\n", 14);
    check(trace_set_parse(path_of("none.txt"), &set, &error) == ERROR_FORMAT, "no trace: %s",
          error.text);
    check(trace_set_parse(path_of("absent.txt"), &set, &error) == ERROR_IO, "no file: %s",
          error.text);
}

static void names(void)
{
    struct trace_set set;
    char name[128], cut[8];
    static const char text[] =
        "r0#0 note phase name \"a name that is longer than the bytes that fit one text record, "
        "by far\"\nr0#0 note checkpoint 3 # the newest\n";
    write_file("names.txt", text, strlen(text));
    if (!check(trace_set_parse(path_of("names.txt"), &set, NULL) == OK, "a note with a long name"))
        return;
    const struct trace *trace = &set.trace[0];
    trace_text(trace, 0, name, sizeof name);
    check(strcmp(name, "a name that is longer than the bytes that fit one text record, by far") ==
              0,
          "is read whole");
    trace_text(trace, 0, cut, sizeof cut);
    check(strcmp(cut, "a name ") == 0, "or cut to the room there is");
    check(trace->header->last_note == trace->count &&
              trace->record[trace->count - 1].previous_note == 1,
          "the notes are chained");
    check(trace_ns(&set, trace->record[0].enter) < trace_ns(&set, trace->record[3].enter),
          "time goes on from line to line");
    trace_set_release(&set);
}

/* How a process ended is kept apart from what it did, whoever made the trace; one in the midst of
 * a trace is a record like others. */
static void ends(void)
{
    struct trace_set set, again;
    static const char text[] = "r0#0 app call MPI_Init\nr0#0 end signal 9\n"
                               "r1#0 app call MPI_Init\nr1#0 end exit 3\n"
                               "r2#0 end exit 0\nr2#0 app call MPI_Init\n";
    write_file("ends.txt", text, strlen(text));
    if (!check(trace_set_parse(path_of("ends.txt"), &set, NULL) == OK, "traces with their ends"))
        return;
    const struct trace *killed = &set.trace[0], *left = &set.trace[1], *inner = &set.trace[2];
    check(killed->count == 1 && killed->end == &killed->record[1] && killed->end->tag == 9 &&
              !killed->header->closed,
          "a process that was killed");
    check(left->count == 1 && left->end->tag == 0 && left->end->bytes == 3 && left->header->closed,
          "one that left");
    check(inner->count == 2 && inner->end == NULL, "an end that is not the last is none");
    FILE *out = fopen(path_of("ends_again.txt"), "w");
    check(trace_set_write(&set, out, NULL) == OK, "written as text");
    fclose(out);
    check(trace_set_parse(path_of("ends_again.txt"), &again, NULL) == OK &&
              same_trace(killed, &again.trace[0]) && again.trace[0].end != NULL &&
              again.trace[0].end->tag == 9,
          "and read again");
    trace_set_release(&again);
    trace_set_release(&set);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/faultline-traces.XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    bad_files();
    truncated_file();
    sets();
    resized_set();
    round_trip();
    bad_text();
    whole_text();
    ends();
    names();
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    check(system(command) == 0, "cleaned up");
    return done();
}
