/* Decisions: taken from traces, kept, damaged, compared. With a file as its argument the program
 * changes one outcome in that file instead: the first wildcard receive at the wire takes the
 * message of another rank. */
#include "decisions/compare.h"
#include "decisions/extract.h"
#include "inline_trace.h"
#include "tap.h"

#include <signal.h>
#include <stddef.h>

#define PATH "/tmp/faultline-decisions.XXXXXX"

static const struct decisions_identity nobody;

/* Ends the test if they cannot be had. */
static struct decisions decisions_of(const char *text)
{
    struct trace_set traces;
    struct decisions decisions;
    struct error error = {0};
    inline_trace(text, &traces);
    if (decisions_extract(&traces, NULL, &nobody, 7, NULL, &decisions, &error) != OK) {
        printf("not ok - %s\n", error.text);
        exit(1);
    }
    trace_set_release(&traces);
    return decisions;
}

static struct difference compare(const char *recorded, const char *replayed)
{
    struct decisions a = decisions_of(recorded), b = decisions_of(replayed);
    struct difference difference;
    decisions_compare(&a, &b, &difference);
    decisions_release(&a);
    decisions_release(&b);
    return difference;
}

static const struct decision_shape *shape(const struct decisions *decisions, unsigned event)
{
    return &decisions->shape[decisions->event[event].shape];
}

/* --- taking ----------------------------------------------------------------------------------- */
static void test_receives(void)
{
    struct decisions d =
        decisions_of("ranks 2\n"
                     "r0#0:e0 wire recv MPI_Irecv from any tag any request 1\n"
                     "r0#0:e1 wire recv MPI_Irecv from any tag any request 2\n"
                     "r0#0:e2 wire complete MPI_Wait request 2 got 1 tag 5 bytes 8\n"
                     "r1#0:e0 wire send MPI_Send to 0 tag 5 bytes 8\n");
    check(d.header->sections == 2 && d.header->events == 4 && d.header->seed == 7,
          "a section per trace, an event per call");
    check((shape(&d, 1)->state & SHAPE_RESOLVED) != 0 && shape(&d, 1)->peer == 1 &&
              shape(&d, 1)->tag == 5,
          "what a receive took is known when it is posted");
    check((shape(&d, 0)->state & SHAPE_RESOLVED) == 0, "not if the program never saw it");
    check(decisions_find(&d, 1, 0)->events == 1 && decisions_find(&d, 1, 1) == NULL,
          "sections are found");
    decisions_release(&d);
}

static void test_actions(void)
{
    struct decisions d = decisions_of("ranks 2\n"
                                      "r0#0:e0 wire send MPI_Send to 1 tag 5 bytes 8\n"
                                      "r0#0:e1 fault held 1 step 0 value 1 request 1\n"
                                      "r0#0:e2 wire send MPI_Send to 1 tag 5 bytes 8\n"
                                      "r0#0:e3 fault held 1 step 0 value 3\n"
                                      "r0#0:e4 fault kill 0 step 1\n"
                                      "r0#0:e5 fault kill 1 step 1\n");
    check(d.header->actions == 2, "what is after a held message and further victims are left out");
    check(d.action[0].kind == FAULT_HELD && d.action[0].event == 0 && d.action[0].number == 1,
          "a hold belongs to its send");
    check(d.action[1].kind == FAULT_KILL && d.action[1].begun == 2 && d.action[1].completed == 2,
          "a kill has its place");
    decisions_release(&d);
}

/* --- calls on the store ----------------------------------------------------------------------- */
#define STORES(rank, event, what, begins, ends, turn)                                              \
    "r" rank "#0:e" event " storage " what " path \"commit\" at " begins " until " ends            \
    " hash " turn "\n"

static bool is_order(const struct decisions *d, int rank, uint32_t number, uint32_t event,
                     int32_t other, uint32_t stored)
{
    const struct decision_section *section = decisions_find(d, rank, 0);
    const struct decision_order *order = &d->order[section->first_order + number];
    return number < section->orders && order->event == event && order->rank == other &&
           order->stored == stored;
}

/* A path takes a second record. */
static void test_orders(void)
{
    struct decisions d =
        decisions_of("ranks 3\n" STORES("0", "0", "mkdir", "100", "300", "200") /**/
                     STORES("1", "0", "mkdir", "110", "500", "400")             /**/
                     STORES("1", "2", "look", "510", "610", "600")              /**/
                     STORES("2", "0", "open", "120", "710", "700")              /**/
                     STORES("2", "2", "read", "150", "900", "0"));
    check(decisions_find(&d, 0, 0)->orders == 0, "the first call waits for none");
    check(decisions_find(&d, 1, 0)->orders == 1 && is_order(&d, 1, 0, 0, 0, 1),
          "the next, for one by another rank; its own calls come in their order anyway");
    check(is_order(&d, 2, 0, 0, 1, 2), "the third, for both by the rank before it");
    check(decisions_find(&d, 2, 0)->orders == 1,
          "and for the first rank only as that has; a call without a turn, for what was over");
    decisions_release(&d);

    d = decisions_of("ranks 2\n" STORES("0", "0", "write", "100", "300", "0") /**/
                     STORES("1", "0", "write", "200", "400", "0"));
    check(d.header->orders == 0, "calls that overlap, and have no turn, wait for none");
    decisions_release(&d);

    d = decisions_of("ranks 2\n"
                     "r0#0:e0 storage open path \"go\" negative bytes 7 error 2 at 100 until 900\n"
                     "r0#0:e2 storage open path \"go\" file 9 at 1000 until 1100 hash 1050\n"
                     "r1#0:e0 storage rename path \"go\" file 9 at 910 until 960 hash 920\n");
    check(is_order(&d, 0, 0, 1, 1, 1) && decisions_find(&d, 0, 0)->orders == 1,
          "looks in vain wait for none, what has found the file for who put it there");
    check(d.event[0].value == 7 && strcmp(decision_file_at(&d, 0), "go") == 0 &&
              decision_file_at(&d, 1) == decision_file_at(&d, 0),
          "they are one event, and a path is kept once");
    decisions_release(&d);
}

/* Rank 0 is killed in its call, which its turn had come for; rank 1 while it waits for its turn;
 * rank 2 takes the turn over from the dead. */
static void test_orders_at_end(void)
{
    struct decisions d =
        decisions_of("ranks 3\n"
                     "r0#0:e0 storage rename path \"latest\" file 7 at 100 in-progress hash 200\n"
                     "r1#0:e0 storage rename path \"latest\" file 8 at 110 in-progress hash "
                     "18446744073709551615\n"
                     "r2#0:e0 storage rename path \"latest\" file 9 at 120 in-progress hash 300\n");
    check(d.event[0].value == 1 && d.event[1].value == 0 && d.event[2].value == 1,
          "of a call in progress it is kept whether the file system was called");
    check(d.header->orders == 1 && is_order(&d, 2, 0, 0, 0, 1),
          "calls in progress have taken effect in the order in which they began");
    decisions_release(&d);
}

static void test_store_left_out(void)
{
    struct decisions d = decisions_of("ranks 1\n"
                                      "r0#0:e0 wire send MPI_Send to 0 tag 5 bytes 8 thread 0\n"
                                      "r0#0:e1 storage write bytes 8 file 9 path \"log\" thread 1\n"
                                      "r0#0:e3 wire send MPI_Send to 0 tag 5 bytes 8 thread 0\n");
    check(d.header->events == 2 && (d.section[0].flags & SECTION_WITHOUT_STORE) != 0,
          "a store that another thread writes than calls MPI is left out");
    decisions_release(&d);
}

#define STORED(what) "ranks 1\nr0#0:e0 storage " what "\n"

static void test_store_texts(void)
{
    struct difference d = compare(STORED("write bytes 8 file 9 path \"line-1\""),
                                  STORED("write bytes 16 file 9 path \"line-1\""));
    check(d.decisions && strstr(d.text, "expected write of \"line-1\", 8 bytes; got write of "
                                        "\"line-1\", 16 bytes"),
          "the file and the bytes are named: %s", d.text);
    d = compare(STORED("mkdir file 9 path \"step\""), STORED("mkdir error 17 path \"step\""));
    check(d.decisions && strstr(d.text, "expected mkdir of \"step\"; got mkdir of \"step\", which "
                                        "fails with EEXIST"),
          "and the error: %s", d.text);
    d = compare(STORED("open negative bytes 2 error 2 path \"go\""),
                STORED("open negative bytes 3 error 2 path \"go\""));
    check(d.decisions && strstr(d.text, "open of \"go\", which finds none"),
          "and a look in vain: %s", d.text);
}

/* --- comparing -------------------------------------------------------------------------------- */
#define HEAD "ranks 1\nr0#0:e0 wire send MPI_Isend to 0 tag 1 bytes 8 request 1\n"
#define TWO HEAD "r0#0:e1 wire send MPI_Isend to 0 tag 1 bytes 8 request 2\n"
#define NO(event, request, times)                                                                  \
    "r0#0:e" event " wire complete MPI_Test request " request " negative bytes " times "\n"

static void test_compare(void)
{
    struct difference d = compare(HEAD NO("1", "1", "3") NO("2", "2", "2"),
                                  HEAD NO("1", "2", "2") NO("2", "1", "1") NO("3", "1", "2"));
    check(!d.decisions && !d.payload, "polls that say no may take turns in another way: %s",
          d.text);
    d = compare(HEAD NO("1", "1", "3"), HEAD NO("1", "1", "2"));
    check(d.decisions, "but not more often: %s", d.text);
    d = compare(HEAD NO("1", "1", "3"), HEAD NO("1", "1", "3") NO("2", "2", "1"));
    check(d.decisions, "nor other ones: %s", d.text);
    d = compare(HEAD, HEAD "r0#0:e1 wire recv MPI_Recv from any tag 7 got 0 tag 7 bytes 8\n");
    check(d.decisions && strstr(d.text, "expected nothing more; got MPI_Recv from any, tag 7"),
          "nor anything after the end: %s", d.text);
    d = compare(HEAD, HEAD "r0#0:e1 wire recv MPI_Recv from any tag 7 in-progress\n");
    check(!d.decisions, "a rank that was ended may have come to the entry of its next call: %s",
          d.text);
    d = compare("ranks 1\nr0#0:e0 wire recv MPI_Recv from any tag 7 got 0 tag 7 bytes 8\n",
                "ranks 1\nr0#0:e0 wire recv MPI_Recv from any tag 7 got 0 tag 7 bytes 16\n");
    check(d.decisions && strstr(d.text, "8 bytes (wire); got") && strstr(d.text, "16 bytes"),
          "an outcome: %s", d.text);
    d = compare(HEAD "r0#0:e1 note decision 8 hash 0x1\n",
                HEAD "r0#0:e1 note decision 8 hash 0x2\n");
    check(!d.decisions && d.payload, "data alone is no other decision: %s", d.text);
    d = compare(TWO "r0#0:e2 wire complete MPI_Wait request 1\n",
                TWO "r0#0:e2 wire complete MPI_Wait request 2\n");
    check(d.decisions, "the same call for another request is another decision: %s", d.text);
}

/* --- the file --------------------------------------------------------------------------------- */
/* What decisions_open says of the first `bytes` of the file with the byte at `at` changed. */
static enum error_code opened(const struct decisions *good, size_t bytes, size_t at,
                              struct error *error)
{
    char path[] = PATH;
    struct decisions read;
    int file = mkstemp(path);
    char *data = malloc(bytes + 1);
    memcpy(data, good->header, bytes);
    if (at < bytes)
        data[at] ^= 0x5a;
    bool written = file >= 0 && write(file, data, bytes) == (ssize_t)bytes && close(file) == 0;
    enum error_code code = written ? decisions_open(path, &read, error) : ERROR_IO;
    if (code == OK)
        decisions_release(&read);
    unlink(path);
    free(data);
    return code;
}

static void test_damage(void)
{
    struct decisions d = decisions_of(HEAD NO("1", "1", "3"));
    struct error error;
    size_t bytes = d.header->bytes, found = 0, tried = 0;
    check(opened(&d, bytes, bytes, &error) == OK, "what was written is read");
    for (size_t at = 0; at < bytes; at++, tried++)
        found += opened(&d, bytes, at, &error) != OK;
    check(found == tried, "a byte changed is seen, wherever it is: %zu of %zu", found, tried);
    for (found = tried = 0; tried < bytes; tried++)
        found += opened(&d, tried, bytes, &error) != OK;
    check(found == bytes, "so is a short file: %zu of %zu", found, bytes);
    check(opened(&d, bytes, offsetof(struct decisions_header, version), &error) == ERROR_VERSION,
          "another version: %s", error.text);
    d.event[0].shape = 1000;
    decisions_seal(d.header);
    check(opened(&d, bytes, bytes, &error) == ERROR_FORMAT, "numbers are looked at: %s",
          error.text);
    decisions_release(&d);
}

/* A rank that died while it made its trace, or the numbers of processes that could not be made. */
static void test_gap(void)
{
    struct decisions d =
        decisions_of("ranks 3\n"
                     "r0#0:e0 wire recv MPI_Recv from 2 tag 7 got 2 tag 7 bytes 8\n"
                     "r2#0:e0 wire send MPI_Send to 0 tag 7 bytes 8\n");
    struct error error = {0};
    check(d.header->sections == 2 && decisions_find(&d, 1, 0) == NULL &&
              decisions_find(&d, 2, 0)->events == 1,
          "a rank without a trace has no section");
    check(opened(&d, d.header->bytes, d.header->bytes, &error) == OK,
          "and those of the others are read: %s", error.text);
    decisions_release(&d);
}

/* --- changing --------------------------------------------------------------------------------- */
/* Each event has a shape of its own to change only if no other has it. */
static int change_outcome(const char *path)
{
    struct decisions d;
    struct error error = {0};
    if (decisions_open(path, &d, &error) != OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (uint32_t i = 0; i < d.header->events; i++) {
        struct decision_shape *its = &d.shape[d.event[i].shape];
        if (its->kind != RECORD_RECV || its->level != LEVEL_WIRE || its->want_peer != PEER_ANY ||
            its->peer < 1)
            continue;
        for (uint32_t other = 0; other < d.header->shapes; other++)
            if (d.shape[other].kind == RECORD_RECV && d.shape[other].level == LEVEL_WIRE &&
                d.shape[other].call == its->call && d.shape[other].peer > 0 &&
                d.shape[other].peer != its->peer && d.shape[other].state == its->state) {
                d.event[i].shape = other;
                decisions_seal(d.header);
                return decisions_write(path, &d, &error) == OK ? 0 : 1;
            }
    }
    fprintf(stderr, "%s: no wildcard took one of several\n", path);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return change_outcome(argv[1]);
    test_receives();
    test_actions();
    test_orders();
    test_orders_at_end();
    test_store_left_out();
    test_compare();
    test_store_texts();
    test_damage();
    test_gap();
    return done();
}
