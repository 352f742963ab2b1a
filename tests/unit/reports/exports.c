/* Traces in forms for other programs: the order of the walk and its clocks, what ShiViz is shown of
 * a large run, and that nothing of a trace gets out of its place in the form. */
#include "inline_trace.h"
#include "reports/export/export.h"
#include "tap.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS_MOST 8

static char *exported(const struct exporter *exporter, const struct trace_set *set,
                      const struct event_ref *witness, size_t witness_count, struct export *told)
{
    char *text = NULL;
    size_t bytes = 0;
    struct error error = {0};
    struct export export = {.set = set,
                            .out = open_memstream(&text, &bytes),
                            .witness = witness,
                            .witness_count = witness_count};
    if (export_run(exporter, &export, &error) != OK)
        printf("# %s\n", error.text);
    fclose(export.out);
    if (told != NULL)
        *told = export;
    return text;
}

/* --- the walk, as newline JSON shows it ------------------------------------------------------- */

/* The place of the line about an event, from 1; 0: there is none. *line is a new reference. */
static int line_of(const char *text, const char *event, json_t **line)
{
    int number = 0;
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
        json_t *one = json_loads(at, JSON_DISABLE_EOF_CHECK, NULL);
        const char *name = json_string_value(json_object_get(one, "event"));
        number++;
        if (name != NULL && strcmp(name, event) == 0) {
            *line = one;
            return number;
        }
        json_decref(one);
    }
    *line = NULL;
    return 0;
}

static int place(const char *text, const char *event)
{
    json_t *line;
    int number = line_of(text, event, &line);
    json_decref(line);
    return number;
}

/* What the clock of the event says of a process; 0: nothing. */
static long long clock_entry(const char *text, const char *event, const char *process)
{
    json_t *line;
    line_of(text, event, &line);
    long long value = json_integer_value(json_object_get(json_object_get(line, "clock"), process));
    json_decref(line);
    return value;
}

static void test_message(void)
{
    struct trace_set set;
    /* The receive was entered long before the send. */
    inline_trace("ranks 2\n"
                 "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11 "
                 "at 2000 until 9000\n"
                 "r1#0 wire call MPI_Finalize at 9500 until 9600\n"
                 "r0#0 wire call MPI_Init at 3000 until 3100\n"
                 "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x11 at 5000 until 5100\n"
                 "r0#0 wire call MPI_Finalize at 6000 until 6100\n",
                 &set);
    char *text = exported(&export_json, &set, NULL, 0, NULL);
    check(place(text, "r0#0:e1") > 0 && place(text, "r0#0:e1") < place(text, "r1#0:e0"),
          "a send is told before the delivery, though that was entered earlier");
    check(clock_entry(text, "r1#0:e0", "r0#0") == 2 && clock_entry(text, "r1#0:e0", "r1#0") == 1,
          "the delivery's clock has the send, and nothing after it");
    check(clock_entry(text, "r1#0:e1", "r0#0") == 2, "what follows keeps it");
    check(clock_entry(text, "r0#0:e2", "r1#0") == 0, "the sender knows nothing of the receiver");
    check(strstr(text, "\"sent_by\":\"r0#0:e1\"") && strstr(text, "\"received_by\":\"r1#0:e0\""),
          "both ends name each other");
    free(text);
    trace_set_release(&set);
}

static void test_collectives(void)
{
    struct trace_set set;
    inline_trace("ranks 3\n"
                 "r0#0 wire call MPI_Init at 100 until 110\n"
                 "r1#0 wire call MPI_Init at 120 until 130\n"
                 "r2#0 wire call MPI_Init at 140 until 150\n"
                 "r0#0 wire collective MPI_Barrier at 200 until 900\n"
                 "r1#0 wire collective MPI_Barrier at 300 until 900\n"
                 "r2#0 wire collective MPI_Barrier at 400 until 900\n"
                 "r0#0 wire call MPI_Comm_rank at 910 until 911\n"
                 "r0#0 wire collective MPI_Gather root 1 bytes 8 hash 0x1 at 1000 until 1010\n"
                 "r1#0 wire collective MPI_Gather root 1 bytes 8 hash 0x1 at 1100 until 1900\n"
                 "r2#0 wire collective MPI_Igather root 1 bytes 8 hash 0x1 request 5 "
                 "at 1200 until 1210\n"
                 "r2#0 wire complete MPI_Wait request 5 at 1300 until 1310\n",
                 &set);
    char *text = exported(&export_json, &set, NULL, 0, NULL);
    check(clock_entry(text, "r0#0:e1", "r2#0") == 1 && clock_entry(text, "r2#0:e1", "r0#0") == 1,
          "after a barrier each knows what the others did before it");
    check(clock_entry(text, "r1#0:e2", "r0#0") == 3,
          "the root of a gather knows what the others did before it");
    check(clock_entry(text, "r1#0:e2", "r2#0") == 2, "also of one that does not block");
    check(clock_entry(text, "r2#0:e3", "r0#0") == 1 && clock_entry(text, "r0#0:e3", "r1#0") == 1,
          "and they do not know more of it than before");
    free(text);
    trace_set_release(&set);
}

static void test_incarnations(void)
{
    struct trace_set set;
    inline_trace("ranks 2\n"
                 "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x11\n"
                 "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11\n"
                 "r0#1 wire call MPI_Init\n"
                 "r1#1 wire call MPI_Init\n",
                 &set);
    char *text = exported(&export_json, &set, NULL, 0, NULL);
    check(clock_entry(text, "r1#1:e0", "r1#0") == 1 && clock_entry(text, "r1#1:e0", "r0#0") == 1,
          "a new life knows what the one before knew");
    check(clock_entry(text, "r0#1:e0", "r1#0") == 0, "and not what other ranks did");
    free(text);
    trace_set_release(&set);
}

/* The first thread waits for what the second one causes: no order of records holds it all. */
static void test_threads_in_a_circle(void)
{
    struct trace_set set;
    struct export told;
    inline_trace("ranks 2\n"
                 "r0#0 wire recv MPI_Recv from 1 tag 2 got 1 tag 2 bytes 8 hash 0x22 "
                 "at 100 until 900\n"
                 "r0#0 wire send MPI_Send to 1 tag 1 bytes 8 hash 0x11 thread 1 at 200 until 210\n"
                 "r1#0 wire recv MPI_Recv from 0 tag 1 got 0 tag 1 bytes 8 hash 0x11 "
                 "at 150 until 300\n"
                 "r1#0 wire send MPI_Send to 0 tag 2 bytes 8 hash 0x22 at 400 until 410\n",
                 &set);
    char *text = exported(&export_json, &set, NULL, 0, &told);
    check(told.seen.told == 4 && told.seen.forced == 1,
          "threads that wait for each other do not stop the walk, and it is counted");
    free(text);
    trace_set_release(&set);
}

/* --- ShiViz ----------------------------------------------------------------------------------- */

struct host {
    char name[EVENT_TEXT_BYTES];
    long long count;
};

static struct host *host_of(struct host *hosts, const char *name)
{
    size_t i = 0;
    while (i < HOSTS_MOST - 1 && hosts[i].name[0] != '\0' && strcmp(hosts[i].name, name) != 0)
        i++;
    snprintf(hosts[i].name, sizeof hosts[i].name, "%s", name);
    return &hosts[i];
}

/* Own entries go up by one, and whatever else a clock names stands above it. Returns the number of
 * events, -1 if that is not so. */
static int shiviz_events(const char *text)
{
    struct host hosts[HOSTS_MOST] = {0};
    int events = 0;
    const char *line = strstr(text, "\n\n");
    if (strncmp(text, "(?<host>", 8) != 0 || line != strchr(text, '\n'))
        return -1;
    for (line += 2; *line != '\0'; line = strchr(line, '\n') + 1, events++) {
        char name[EVENT_TEXT_BYTES];
        const char *process;
        json_t *entry;
        if (sscanf(line, "%47s", name) != 1)
            return -1;
        json_t *clock = json_loads(strchr(line, '{'), JSON_DISABLE_EOF_CHECK, NULL);
        bool good =
            json_integer_value(json_object_get(clock, name)) == ++host_of(hosts, name)->count;
        json_object_foreach(clock, process, entry) good =
            good && json_integer_value(entry) <= host_of(hosts, process)->count;
        json_decref(clock);
        if (!good)
            return -1;
    }
    return events;
}

/* Two ranks that talk, and two others that do; application and wire. */
static void make_large(struct trace_set *set, int rounds)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "ranks 4\n");
    for (int i = 0; i < rounds; i++)
        for (int from = 0; from < 4; from += 2)
            for (int level = 0; level < 2; level++) {
                const char *word = level == 0 ? "app" : "wire";
                fprintf(out, "r%d#0 %s send MPI_Send to %d tag 1 bytes 8 hash 0x%x\n", from, word,
                        from + 1, i + 1);
                fprintf(out,
                        "r%d#0 %s recv MPI_Recv from %d tag 1 got %d tag 1 bytes 8 hash 0x%x\n",
                        from + 1, word, from, from, i + 1);
            }
    fclose(out);
    inline_trace(text, set);
    free(text);
}

static void test_shiviz(void)
{
    struct trace_set set;
    struct export told;
    make_large(&set, 50);
    char *text = exported(&export_shiviz, &set, NULL, 0, &told);
    check(shiviz_events(text) == 200 && told.said[0] == '\0',
          "ShiViz: all of the wire of a small run, clocks without gaps (%d)", shiviz_events(text));
    free(text);
    trace_set_release(&set);

    make_large(&set, 3000);
    text = exported(&export_shiviz, &set, NULL, 0, &told);
    check(shiviz_events(text) == 2000, "2,000 events of a large one, without gaps");
    check(strstr(told.said, "the last 2000 of 12000") && strstr(text, told.said), "it says so: %s",
          told.said);
    check(strstr(text, "e5999 ") != NULL && strstr(text, " e1 ") == NULL, "they are the last");
    free(text);

    /* Application events 4000 of rank 1 and 3000 of rank 0: the round of 2000 and 1500. */
    struct event_ref witness[] = {{1, 0, 4000}, {0, 0, 3000}};
    text = exported(&export_shiviz, &set, witness, 2, &told);
    int events = shiviz_events(text);
    check(events > 1900 && events <= 2000, "with a witness at most 2,000, without gaps (%d)",
          events);
    check(strstr(text, "e4000 MPI_Recv") && strstr(text, "e3000 MPI_Send"),
          "the witness is shown, of the application as well");
    check(strstr(text, "r2#0") == NULL && strstr(text, "r3#0") == NULL,
          "what has nothing to do with it is not");
    check(strstr(text, "e3999 ") && strstr(text, "e4001 ") && !strstr(text, " e1 "),
          "but what happened just before and just after");
    check(strstr(told.said, "before or after the witness") != NULL, "it says so: %s", told.said);
    free(text);
    trace_set_release(&set);
}

/* --- spans ------------------------------------------------------------------------------------ */

/* True if times never fall and each end has its beginning; one thread. */
static bool nests(const json_t *events)
{
    size_t i, depth = 0;
    double now = 0;
    json_t *event;
    const char *open[HOSTS_MOST];
    json_array_foreach(events, i, event)
    {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        const char *name = json_string_value(json_object_get(event, "name"));
        double at = json_number_value(json_object_get(event, "ts"));
        if (strcmp(phase, "M") == 0)
            continue;
        if (at < now || (*phase == 'E' && (depth == 0 || strcmp(open[depth - 1], name) != 0)))
            return false;
        now = at;
        if (*phase == 'B' && depth < HOSTS_MOST)
            open[depth++] = name;
        depth -= *phase == 'E';
    }
    return depth == 0;
}

static void test_spans(void)
{
    struct trace_set set;
    /* A call that outlasts the one around it, a clock that falls, one that never returns. */
    inline_trace("ranks 1\n"
                 "r0#0 app call MPI_Init at 1000 until 5000\n"
                 "r0#0 wire call MPI_Init at 2000 until 6000\n"
                 "r0#0 app call MPI_Comm_rank at 5500 until 5600\n"
                 "r0#0 app call MPI_Comm_size at 5300 until 5400\n"
                 "r0#0 app call MPI_Finalize at 7000 in-progress\n"
                 "r0#0 note phase name \"x\" at 8000\n",
                 &set);
    char *text = exported(&export_perfetto, &set, NULL, 0, NULL);
    json_t *whole = json_loads(text, 0, NULL);
    check(nests(json_object_get(whole, "traceEvents")), "calls nest, and no time runs backwards");
    const char *ended = strstr(text, "\"ph\":\"E\",\"name\":\"MPI_Init\"");
    check(ended != NULL && ended < strstr(text, "MPI_Comm_rank"),
          "a call ends when it returned, whatever is said to last longer inside");
    const char *last = strstr(text, "\"ph\":\"E\",\"name\":\"MPI_Finalize\"");
    check(last != NULL && strstr(last, "\"ts\":7.999") != NULL,
          "a call in progress ends with the last thing known");
    json_decref(whole);
    free(text);
    trace_set_release(&set);
}

/* --- what a trace may hold -------------------------------------------------------------------- */

/* A name with everything that ends something somewhere. */
static void name_note(struct trace_set *set)
{
    static const char name[] = "<b>\"'&\n\\}{]\x01\xff::%";
    inline_trace("ranks 1\nr0#0 note phase name \"0123456789abcdefghij\"\n", set);
    for (uint64_t i = 0; i < set->trace[0].count; i++) {
        struct record *record = (struct record *)(uintptr_t)&set->trace[0].record[i];
        if (record->kind == RECORD_TEXT)
            memcpy(record->text, name, sizeof name);
    }
}

static void test_escapes(void)
{
    struct trace_set set;
    name_note(&set);
    char *text = exported(&export_shiviz, &set, NULL, 0, NULL);
    check(shiviz_events(text) == 1 && strstr(text, "\\x0a") && !strchr(text, '\x01'),
          "ShiViz: a name stays within its line");
    free(text);
    text = exported(&export_json, &set, NULL, 0, NULL);
    json_t *line;
    check(line_of(text, "r0#0:e0", &line) == 2, "JSON: a line is a line");
    const char *name = json_string_value(json_object_get(line, "name"));
    check(name != NULL && strncmp(name, "<b>\"'&\n\\}{]\x01", 12) == 0, "JSON: the name is whole");
    json_decref(line);
    free(text);
    text = exported(&export_perfetto, &set, NULL, 0, NULL);
    json_t *whole = json_loads(text, 0, NULL);
    check(whole != NULL, "Perfetto: it is JSON all the same");
    json_decref(whole);
    free(text);
    trace_set_release(&set);
}

static bool unmatched(const char *trace)
{
    struct trace_set set;
    inline_trace(trace, &set);
    char *text = exported(&export_json, &set, NULL, 0, NULL);
    bool is = strstr(text, "\"some_messages_unmatched\":true") != NULL;
    check(is || strstr(text, "\"some_messages_unmatched\":false") != NULL, "it says which");
    free(text);
    trace_set_release(&set);
    return is;
}

static void test_unmatched(void)
{
    check(!unmatched("ranks 2\n"
                     "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x11\n"
                     "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11\n"),
          "each message has its send");
    check(unmatched("ranks 2\n"
                    "r0#0 wire call MPI_Init\n"
                    "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11\n"),
          "a message that nobody sent");
}

static void test_full(void)
{
    struct trace_set set;
    make_large(&set, 500);
    for (size_t i = 0; i < exporter_count; i++) {
        struct error error = {0};
        struct export export = {.set = &set, .folder = "/dev/full/x"};
        if (!exporters[i]->is_folder)
            export.out = fopen("/dev/full", "we");
        check(export_run(exporters[i], &export, &error) == ERROR_IO && error.text[0] != '\0',
              "%s: what cannot be written is an error: %s", exporters[i]->name, error.text);
        if (export.out != NULL)
            fclose(export.out);
    }
    trace_set_release(&set);
}

int main(void)
{
    test_message();
    test_collectives();
    test_incarnations();
    test_threads_in_a_circle();
    test_shiviz();
    test_spans();
    test_escapes();
    test_unmatched();
    test_full();
    return done();
}
