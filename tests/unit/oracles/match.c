/* Who is matched with whom: pairs are compared one by one. */
#include "inline_trace.h"
#include "oracles/matching/pass.h"
#include "tap.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <sys/resource.h>

#define PAIRS_TEXT_BYTES 1024

struct found {
    char pairs[PAIRS_TEXT_BYTES]; /* "0>3 1>2 ": events of sender and receiver */
    unsigned pair_count;
    unsigned before_finish; /* pairs known before match_finish */
    unsigned anomaly;
};

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    struct found *found = context;
    size_t used = strlen(found->pairs);
    (void)channel;
    found->pair_count++;
    if (used + 64 < sizeof found->pairs)
        snprintf(found->pairs + used, sizeof found->pairs - used, "r%d:%" PRIu64 ">%" PRIu64 " ",
                 sent->event.rank, sent->event.index, received->delivered.index);
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct found *found = context;
    (void)channel, (void)sent, (void)received, (void)other;
    if (anomaly == ANOMALY_UNSEEN)
        return;
    found->anomaly++;
    printf("# anomaly: %d\n", anomaly);
}

static struct found match_text(const char *text)
{
    struct found found = {.pairs = ""};
    struct trace_set set;
    struct reading reading;
    struct pass pass;
    inline_trace(text, &set);
    reading_begin(&reading, &set, true);
    pass_begin(&pass, &reading, LEVEL_APP, 0);
    pass_listen(&pass,
                &(struct listener){.context = &found, .pair = on_pair, .anomaly = on_anomaly});
    pass_read(&pass, NULL);
    found.before_finish = found.pair_count;
    pass_finish(&pass);
    pass_release(&pass);
    reading_end(&reading);
    trace_set_release(&set);
    return found;
}

static void matches(const char *what, const char *text, const char *pairs)
{
    struct found found = match_text(text);
    check(strcmp(found.pairs, pairs) == 0 && found.anomaly == 0, "%s: %s(expected %s)", what,
          found.pairs, pairs);
}

#define SEND(tag, hash) "r0#0 app send MPI_Send to 1 tag " tag " bytes 8 hash " hash "\n"
#define GOT(tag, hash) " got 0 tag " tag " bytes 8 hash " hash "\n"

static void posting_order(void)
{
    matches("two requests completed the other way round",
            SEND("7", "1") SEND("7", "2") "r1#0 app recv MPI_Irecv from 0 tag 7 request 1\n"
                                          "r1#0 app recv MPI_Irecv from 0 tag 7 request 2\n"
                                          "r1#0 app complete MPI_Wait request 2 comm 1" GOT(
                                              "7", "2") "r1#0 app complete MPI_Wait request 1 "
                                                        "comm 1" GOT("7", "1"),
            "r0:0>3 r0:1>2 ");
    matches("a blocking receive after a request that is not complete yet",
            SEND("7", "1") SEND(
                "7", "2") "r1#0 app recv MPI_Irecv from 0 tag 7 request 1\n"
                          "r1#0 app recv MPI_Recv from 0 tag 7" GOT(
                              "7", "2") "r1#0 app complete MPI_Wait request 1 comm 1" GOT("7", "1"),
            "r0:0>2 r0:1>1 ");
    matches("a receive seen before its send",
            "r1#0 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 1 at 10 until 1000\n"
            "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 1 at 500 until 600\n",
            "r0:0>0 ");
}

static void wildcards(void)
{
    /* The wildcard was posted first: with the same bytes everywhere only the order can tell. */
    matches("a wildcard request that is decided late",
            SEND("7", "1") SEND("7", "1") SEND(
                "8",
                "1") "r1#0 app recv MPI_Irecv from any tag any request 1\n"
                     "r1#0 app recv MPI_Recv from 0 tag 7" GOT(
                         "7",
                         "1") "r1#0 app recv MPI_Recv from 0 tag 8" GOT("8",
                                                                        "1") "r1#0 app complete "
                                                                             "MPI_Wait request 1 "
                                                                             "comm 1" GOT("7", "1"),
            "r0:0>3 r0:1>1 r0:2>2 ");
    matches("a wildcard that is cancelled",
            SEND("7", "1") "r1#0 app recv MPI_Irecv from any tag any request 1\n"
                           "r1#0 app recv MPI_Recv from 0 tag 7" GOT(
                               "7", "1") "r1#0 app complete MPI_Wait request 1 cancelled\n",
            "r0:0>1 ");
    matches("a wildcard of another communicator is in nobody's way",
            "r0#0 app send MPI_Send to 1 tag 7 comm 9 bytes 8 hash 1\n"
            "r1#0 app recv MPI_Irecv from any tag any request 1\n"
            "r1#0 app recv MPI_Recv from 0 tag 7 comm 9" GOT(
                "7", "1") "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 2\n"
                          "r1#0 app complete MPI_Wait request 1 comm 1" GOT("7", "2"),
            "r0:0>1 r0:1>2 ");
}

/* What waited for a wildcard goes on as soon as that is decided, and not only at the end. */
static void wildcards_hold_up_nothing(void)
{
    struct found found = match_text(SEND("7", "1") SEND(
        "9", "2") "r1#0 app recv MPI_Irecv from any tag 8 request 1\n"
                  "r1#0 app recv MPI_Irecv from any tag any request 2\n"
                  "r1#0 app recv MPI_Recv from 0 tag 9" GOT(
                      "9", "2") "r1#0 app complete MPI_Wait request 2 comm 1" GOT("7", "1"));
    check(found.before_finish == 2, "both are matched at once: %s", found.pairs);
    found =
        match_text(SEND("7", "1") "r1#0 app recv MPI_Irecv from any tag any request 1\n"
                                  "r1#0 app recv MPI_Recv from 0 tag 7" GOT(
                                      "7", "1") "r1#0 app complete MPI_Wait request 1 cancelled\n");
    check(found.before_finish == 1, "and when it is cancelled: %s", found.pairs);
}

static void probes(void)
{
    matches("a matched probe takes its message where it probes",
            SEND("7", "1") SEND(
                "7", "2") "r1#0 app probe MPI_Mprobe from 0 tag 7 got 0 tag 7 bytes 8 request 1\n"
                          "r1#0 app recv MPI_Recv from 0 tag 7" GOT(
                              "7", "2") "r1#0 app recv MPI_Mrecv matched request 1" GOT("7", "1"),
            "r0:0>2 r0:1>1 ");
    matches(
        "and non-blocking",
        SEND("7", "1") SEND(
            "7", "2") "r1#0 app probe MPI_Improbe from any tag any got 0 tag 7 bytes 8 request 1\n"
                      "r1#0 app recv MPI_Imrecv matched request 1\n"
                      "r1#0 app recv MPI_Recv from 0 tag 7" GOT(
                          "7", "2") "r1#0 app complete MPI_Wait request 1 comm 1" GOT("7", "1"),
        "r0:0>3 r0:1>2 ");
    matches("a probe that is not matched, and those that found nothing, take nothing",
            SEND("7", "1") "r1#0 app probe MPI_Iprobe from 0 tag 7 negative bytes 40\n"
                           "r1#0 app probe MPI_Probe from 0 tag 7 got 0 tag 7 bytes 8\n"
                           "r1#0 app recv MPI_Recv from 0 tag 7" GOT("7", "1"),
            "r0:0>2 ");
}

static void forms(void)
{
    matches(
        "persistent requests, started twice",
        "r0#0 app send MPI_Send_init to 1 tag 7 bytes 8 hash 1 request 1 persistent\n"
        "r1#0 app recv MPI_Recv_init from 0 tag 7 request 1 persistent\n"
        "r1#0 app complete MPI_Wait request 1 comm 1 persistent" GOT(
            "7", "1") "r0#0 app complete MPI_Wait request 1 persistent\n"
                      "r1#0 app recv MPI_Recv_init from 0 tag 7 request 2 persistent\n"
                      "r0#0 app send MPI_Send_init to 1 tag 7 bytes 8 hash 2 request 2 persistent\n"
                      "r1#0 app complete MPI_Wait request 2 comm 1 persistent" GOT("7", "2"),
        "r0:0>1 r0:2>3 ");
    matches("a send that is cancelled was never sent",
            "r0#0 app send MPI_Isend to 1 tag 7 bytes 8 hash 1 request 1\n"
            "r0#0 app complete MPI_Wait request 1 cancelled\n" SEND(
                "7", "2") "r1#0 app recv MPI_Recv from 0 tag 7" GOT("7", "2"),
            "r0:2>0 ");
    matches("the halves of a sendrecv",
            "r0#0 app send MPI_Sendrecv to 0 tag 1 bytes 8 hash 5\n"
            "r0#0 app recv MPI_Sendrecv from 0 tag 1 got 0 tag 1 bytes 8 hash 5\n",
            "r0:0>1 ");
    matches("a freed receive takes a message unseen",
            SEND("7", "1") SEND("7", "2") "r1#0 app recv MPI_Irecv from 0 tag 7 request 1\n"
                                          "r1#0 app complete MPI_Request_free request 1 freed\n"
                                          "r1#0 app recv MPI_Recv from 0 tag 7" GOT("7", "2"),
            "r0:0>0 r0:1>2 ");
    matches("a request of a protocol that brought it back after a restart",
            SEND("7", "1") "r1#0 app complete MPI_Wait request 44 comm 1" GOT("7", "1"), "r0:0>0 ");
}

/* A freed wildcard: nothing that may have been its message is judged any more. */
static void lost_sight(void)
{
    struct found found = match_text(
        SEND("7", "1") SEND("7", "2") "r1#0 app recv MPI_Irecv from any tag any request 1\n"
                                      "r1#0 app complete MPI_Request_free request 1 freed\n"
                                      "r1#0 app recv MPI_Recv from 0 tag 7" GOT("7", "2"));
    check(found.anomaly == 1 && found.pair_count == 0, "a freed wildcard is said once");
}

/* --- memory -------------------------------------------------------------------------------- */

/* A send of rank 0 to rank 1, or the receive there, as its next record. Each a second after the
 * one before. */
static void feed(struct match *match, const struct trace *traces, bool send, int32_t tag,
                 uint64_t hash)
{
    static uint64_t index[2], seconds;
    uint64_t now = ++seconds * 1000000000;
    struct record record = {.call = CALL_NONE,
                            .kind = send ? RECORD_SEND : RECORD_RECV,
                            .enter = now,
                            .leave = now + 1,
                            .comm = 1,
                            .peer = send ? 1 : 0,
                            .tag = tag,
                            .want_tag = send ? 0 : tag,
                            .bytes = 8,
                            .hash = hash};
    struct stream_event event = {.rank = send ? 0 : 1,
                                 .trace = &traces[send ? 0 : 1],
                                 .index = index[send]++,
                                 .record = &record};
    match_record(match, &event);
}

/* Traces in memory: rank 0 sends `count` messages to rank 1, a tag of its own for each; ahead of
 * them some of one tag, of which all but the first come. */
static void many_tags(int32_t count)
{
    const uint64_t ahead = 100, lost = 4711;
    struct found found = {.pairs = ""};
    struct match_listener listener = {&found, on_pair, on_anomaly};
    struct match match;
    struct trace_header header = {.ticks_per_second = 1e9};
    struct trace traces[2] = {{.rank = 0, .header = &header}, {.rank = 1, .header = &header}};
    struct trace_set set = {.count = 2, .trace = traces, .ranks = 2, .world = 2, .incarnations = 1};
    match_init(&match, &set, false, NULL, &listener);
    feed(&match, traces, true, count, lost);
    for (uint64_t i = 0; i < ahead; i++) {
        feed(&match, traces, true, count, i);
        feed(&match, traces, false, count, i);
    }
    for (int32_t i = 0; i < count; i++) {
        feed(&match, traces, true, i, (uint64_t)i);
        feed(&match, traces, false, i, (uint64_t)i);
    }
    check(match.channels.used <= MATCH_IDLE_CHANNELS + 1, "%d channels come and go, %zu are kept",
          count, match.channels.used);
    check(found.anomaly == 0, "nothing is said of the message that may still come");
    match_finish(&match);
    check(found.pair_count == (unsigned)count + (unsigned)ahead && found.anomaly == 1,
          "all others are matched, and that one is told of in the end");
    match_release(&match);
}

int main(void)
{
    posting_order();
    wildcards();
    wildcards_hold_up_nothing();
    probes();
    forms();
    lost_sight();
    many_tags(100000);
    return done();
}
