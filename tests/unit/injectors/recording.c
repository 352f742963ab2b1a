/* The life of a record from entry to return, polls that are counted instead of repeated, notes, and
 * payload hashes. Linked with the recording path of the preloaded library, without MPI. */
#include "faultline.h"
#include "injectors/record/hash.h"
#include "injectors/record/hash_avx2.h"
#include "injectors/record/runtime.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/faultline-recording-XXXXXX";
static char path[64];

static void open_trace(void)
{
    struct trace_header header;
    memset(&header, 0, sizeof header);
    unlink(path);
    trace_writer_open(&runtime_trace, path, &header, NULL);
    runtime_recording = 1;
}

static uint64_t count(void)
{
    return atomic_load(&runtime_trace.header->next);
}

static unsigned kind_of(const struct record *r)
{
    return atomic_load(&r->kind);
}

static void test_call(void)
{
    open_trace();
    struct record *r = record_begin(LEVEL_WIRE, RECORD_SEND, CALL_MPI_Send);
    check(r == runtime_trace.record && kind_of(r) == RECORD_NONE,
          "a record that is being filled is not visible");
    r->peer = 3;
    record_publish(r);
    check(kind_of(r) == RECORD_SEND && atomic_load(&r->leave) == 0 && r->enter != 0 &&
              r->error == 0 && r->call == CALL_MPI_Send && r->level == LEVEL_WIRE,
          "a published one is a call in progress");
    runtime_blocking(r);
    check(atomic_load(&runtime_slot->blocking_call) == 1 &&
              atomic_load(&runtime_slot->tid) == (int32_t)gettid(),
          "the board shows what it is blocked in");
    runtime_unblocked();
    record_end(r, 15);
    check(atomic_load(&r->leave) > r->enter && r->error == 15 &&
              atomic_load(&runtime_slot->blocking_call) == 0,
          "a finished one has its end and error class");
    r = record_begin(LEVEL_APP, RECORD_CALL, CALL_MPI_Abort);
    record_publish(r);
    record_end(r, 1000);
    check(r->error == 255, "a large error class is 255");
    runtime_several_threads = true;
    runtime_blocking(r);
    check(atomic_load(&runtime_slot->blocking_call) == 0,
          "with several threads in MPI a blocked one says nothing of the rank");
    runtime_several_threads = false;
}

static void test_direct(void)
{
    open_trace();
    runtime_direct_begin();
    struct record *app = record_begin(LEVEL_APP, RECORD_RECV, CALL_MPI_Recv);
    record_publish(app);
    struct record *wire = record_begin(LEVEL_WIRE, RECORD_RECV, CALL_MPI_Recv);
    record_publish(wire);
    check(app->enter == wire->enter, "a direct call enters both levels at once");
    record_end(wire, 0);
    record_end(app, 0);
    check(atomic_load(&app->leave) == atomic_load(&wire->leave) &&
              atomic_load(&wire->leave) > wire->enter,
          "and leaves both at once");
    app = record_begin(LEVEL_APP, RECORD_CALL, CALL_MPI_Wtime);
    record_publish(app);
    record_end(app, 0);
    check(atomic_load(&app->leave) > app->enter, "without a lower record it has a clock read");
    runtime_direct_end();
}

static void test_instant(void)
{
    open_trace();
    struct record *r = record_reserve(LEVEL_WIRE, RECORD_COMPLETE, CALL_MPI_Waitall);
    r->request = 4;
    record_instant(r, 0);
    check(kind_of(r) == RECORD_COMPLETE && r->enter != 0 && atomic_load(&r->leave) == r->enter,
          "an instant enters and leaves at once");
}

/* --- polls ------------------------------------------------------------------------------------ */
static struct record *poll(enum level level, unsigned call, uint32_t request, bool negative)
{
    struct record *r = record_poll_begin(level, RECORD_COMPLETE, call);
    r->request = request;
    record_publish(r);
    r->flags = negative ? FLAG_NEGATIVE : 0;
    r->bytes = negative ? 0 : 8;
    return record_poll_end(r, 0);
}

/* One turn of a program that asks for two requests, seen at both levels. */
static void poll_both(void)
{
    for (uint32_t request = 1; request <= 2; request++) {
        runtime_direct_begin();
        struct record *app = record_poll_begin(LEVEL_APP, RECORD_COMPLETE, CALL_MPI_Test);
        app->request = request;
        record_publish(app);
        poll(LEVEL_WIRE, CALL_MPI_Test, request, true);
        app->flags = FLAG_NEGATIVE;
        record_poll_end(app, 0);
        runtime_direct_end();
    }
}

static void test_polls(void)
{
    open_trace();
    for (unsigned i = 0; i < 100; i++)
        poll_both();
    const struct record *r = runtime_trace.record;
    bool counted = count() == 4;
    for (unsigned i = 0; i < 4; i++)
        counted &= r[i].bytes == 100 && (r[i].flags & FLAG_NEGATIVE) != 0 &&
                   atomic_load(&r[i].leave) > r[i].enter && kind_of(&r[i]) == RECORD_COMPLETE;
    check(counted, "400 polls of 2 requests at 2 levels are 4 records of 100 each");
    struct record *found = poll(LEVEL_WIRE, CALL_MPI_Test, 1, false);
    check(count() == 5 && found == &r[4] && found->bytes == 8 && found->flags == 0 &&
              kind_of(found) == RECORD_COMPLETE,
          "a successful one is a record of its own");
    poll(LEVEL_WIRE, CALL_MPI_Test, 2, true);
    check(count() == 6 && r[5].bytes == 1 && r[3].bytes == 100, "and ends what was counted");
    poll(LEVEL_WIRE, CALL_MPI_Test, 2, true);
    poll(LEVEL_WIRE, CALL_MPI_Testany, 2, true);
    check(count() == 7 && r[5].bytes == 2 && r[6].call == CALL_MPI_Testany,
          "another call is counted on its own");
    record_instant(record_reserve(LEVEL_WIRE, RECORD_SEND, CALL_MPI_Isend), 0);
    poll(LEVEL_WIRE, CALL_MPI_Test, 2, true);
    check(count() == 9 && r[8].bytes == 1, "so is what follows any other record");
    for (uint32_t i = 0; i < 1000; i++)
        poll(LEVEL_WIRE, CALL_MPI_Test, 100 + i % 200, true);
    uint64_t polls = 0;
    for (uint64_t i = 9; i < count(); i++)
        polls += r[i].bytes;
    check(polls == 1000, "more requests than can be remembered: no poll is lost");
}

/* A probe that says no. */
static void look(int tag)
{
    struct record *r = record_poll_begin(LEVEL_WIRE, RECORD_PROBE, CALL_MPI_Iprobe);
    r->want_peer = 1;
    r->want_tag = tag;
    record_publish(r);
    r->flags = FLAG_NEGATIVE;
    record_poll_end(r, 0);
}

static void test_polls_for_a_tag(void)
{
    uint64_t before = atomic_load(&runtime_trace.header->next);
    look(7);
    look(7);
    check(atomic_load(&runtime_trace.header->next) - before == 1, "probes for a tag are counted");
    look(8);
    check(atomic_load(&runtime_trace.header->next) - before == 2, "those for another on their own");
}

/* Whatever two requests they are. */
static void test_polls_that_take_turns(void)
{
    uint64_t before = atomic_load(&runtime_trace.header->next);
    for (uint32_t other = 2; other <= 200; other++) {
        for (int i = 0; i < 10; i++) {
            poll(LEVEL_WIRE, CALL_MPI_Test, 1, true);
            poll(LEVEL_WIRE, CALL_MPI_Test, other, true);
        }
        poll(LEVEL_WIRE, CALL_MPI_Test, 1, false);
    }
    check(atomic_load(&runtime_trace.header->next) - before == 199 * 3,
          "polls of any two requests that take turns are two records");
}

static void *poll_in_thread(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 1000; i++)
        poll(LEVEL_APP, CALL_MPI_Test, 1, true);
    return NULL;
}

static void test_threads(void)
{
    pthread_t id[2];
    open_trace();
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&id[i], NULL, poll_in_thread, NULL);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(id[i], NULL);
    const struct record *r = runtime_trace.record;
    check(count() == 2 && r[0].bytes == 1000 && r[1].bytes == 1000 && r[0].thread != r[1].thread,
          "threads count on their own, and have numbers");
}

/* --- a trace without room --------------------------------------------------------------------- */
static void test_full(void)
{
    open_trace();
    atomic_store(&runtime_trace.full, 1);
    atomic_store(&runtime_trace.limit, 1);
    struct record *r = record_begin(LEVEL_APP, RECORD_CALL, CALL_MPI_Send);
    record_publish(r);
    check(atomic_load(&runtime_slot->lost) == 0, "a trace with room has lost nothing");
    r = record_begin(LEVEL_WIRE, RECORD_SEND, CALL_MPI_Send);
    r->peer = 1;
    record_publish(r);
    runtime_blocking(r);
    check(r == &thread_state.scratch && atomic_load(&runtime_slot->blocking_call) == 0,
          "a full one gives a stand-in");
    record_end(r, 0);
    check(atomic_load(&runtime_slot->lost) == 1 && atomic_load(&runtime_trace.header->lost) == 1,
          "and says so on the board and in the header");
    poll(LEVEL_WIRE, CALL_MPI_Test, 1, true);
    poll(LEVEL_WIRE, CALL_MPI_Test, 1, true);
    faultline_phase("nobody hears it");
    check(atomic_load(&runtime_trace.header->lost) >= 4 &&
              atomic_load(&runtime_trace.header->last_note) == 0,
          "polls and notes are lost and counted too");
    check(record_reserve_row(LEVEL_APP, RECORD_COMM, CALL_MPI_Comm_dup, 3) == NULL,
          "rows have no stand-in");
}

/* --- notes ------------------------------------------------------------------------------------ */
static void test_notes(void)
{
    open_trace();
    const struct record *r = runtime_trace.record;
    char name[80];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    faultline_checkpoint(5);
    check(r[0].tag == NOTE_CHECKPOINT && r[0].bytes == 5 && r[0].previous_note == 0 &&
              r[0].level == LEVEL_SELF && kind_of(&r[0]) == RECORD_NOTE && count() == 1,
          "a note is one record");
    check(atomic_load(&runtime_slot->line) == 5, "the board shows the line");
    faultline_result(name, "data", 4);
    check(kind_of(&r[1]) == RECORD_NOTE && kind_of(&r[2]) == RECORD_TEXT &&
              kind_of(&r[3]) == RECORD_TEXT && count() == 4,
          "a long name takes records after it");
    check(memcmp(r[2].text, name, 56) == 0 && memcmp(r[3].text, name, 23) == 0 &&
              r[3].text[23] == '\0',
          "and is in them");
    check(r[1].bytes == 4 && r[1].hash == hash_bytes("data", 4) && r[1].previous_note == 1 &&
              atomic_load(&runtime_trace.header->last_note) == 2,
          "a result has size and hash, and notes are chained");
    faultline_saved(6);
    check(atomic_load(&runtime_slot->line) == 5, "a saved line is not a new one");
    faultline_restored(4);
    check(atomic_load(&runtime_slot->line) == 4 &&
              atomic_load(&runtime_trace.header->last_note) == 6 && r[5].previous_note == 5,
          "a restored one is");
    faultline_stands_for(FAULTLINE_REQUEST, 17, 99);
    check(r[6].tag == NOTE_HANDLE && r[6].bytes == 17 && r[6].hash == 99 &&
              r[6].request == FAULTLINE_REQUEST,
          "handles are noted");
    runtime_recording = 0;
    faultline_phase("off");
    check(count() == 7, "nothing is noted while recording is off");
}

static void *note_in_thread(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 5000; i++)
        faultline_phase("here");
    return NULL;
}

static void test_note_chain(void)
{
    pthread_t id[3];
    open_trace();
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&id[i], NULL, note_in_thread, NULL);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(id[i], NULL);
    unsigned found = 0;
    uint64_t at = atomic_load(&runtime_trace.header->last_note);
    for (; at != 0 && found <= 15000; found++)
        at = runtime_trace.record[at - 1].previous_note;
    check(found == 15000, "the notes of several threads are one chain");
}

/* --- hashes ----------------------------------------------------------------------------------- */
#define LARGE (5u << 20)

/* XXH3's own test vector, and both widths against each other. */
static void test_hash(void)
{
    static const size_t sizes[] = {0, 1, 8, 16, 17, 128, 240, 241, 1000, 65536, LARGE};
    char *data = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        data[i] = (char)(i * 31 + i / 251);
    check(hash_bytes(NULL, 0) == UINT64_C(0x2d06800538d394c2), "the hash of nothing is XXH3's");
    bool same = true;
    for (size_t i = 0; hash_has_avx2() && i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t whole = hash_bytes_avx2(data, sizes[i]);
        same &= whole == hash_bytes(data, sizes[i]) &&
                (sizes[i] > HASH_SAMPLE_ABOVE_BYTES || whole == hash_sample(data, sizes[i]));
    }
    check(same, "vectors make no difference; up to 1 MiB the sample is everything");
    uint64_t before = hash_sample(data, LARGE);
    static const size_t seen[] = {0, HASH_SAMPLE_BLOCK_BYTES - 1, LARGE - HASH_SAMPLE_BLOCK_BYTES,
                                  LARGE - 1};
    bool noticed = true;
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        data[seen[i]]++;
        noticed &= hash_sample(data, LARGE) != before;
        data[seen[i]]--;
    }
    check(noticed && hash_sample(data, LARGE) == before, "a sample sees the first and last block");
    size_t third = (LARGE - HASH_SAMPLE_BLOCK_BYTES) / (HASH_SAMPLE_BLOCKS - 1) * 2;
    data[third]++;
    check(hash_sample(data, LARGE) != before, "and those between");
    data[third]--;
    data[HASH_SAMPLE_BLOCK_BYTES]++;
    check(hash_sample(data, LARGE) == before && hash_bytes(data, LARGE) != before,
          "what lies between the blocks is seen by the full hash only");
    memset(data, 0, LARGE);
    check(hash_sample(data, LARGE) != hash_sample(data, LARGE - 1), "the length is seen");
    free(data);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/r0.0.trace", folder);
    test_call();
    test_direct();
    test_instant();
    test_polls();
    test_polls_for_a_tag();
    test_polls_that_take_turns();
    test_threads();
    test_full();
    test_notes();
    test_note_chain();
    test_hash();
    unlink(path);
    rmdir(folder);
    return done();
}
