/* Every allocation of ours refused once, the first, the second, ... until one goes through without:
 * it is told as an error, nothing is leaked (LeakSanitizer looks when the process ends), nothing
 * crashes. Where it ends the process (base/memory.h), that says so and has the exit status for it.
 * Linked so that malloc and its like in our objects come here. */
#include "base/memory.h"
#include "decisions/extract.h"
#include "reports/export/export.h"
#include "scenario_file.h"
#include "traces/example.h"
#include "traces/text_trace.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXAMPLE "oracles/golden/c_1_1_ibarrier.txt"
#define ALLOCATIONS_MOST 1000000
#define IN_TURN 64 /* from here on only some, each an eighth further on */

/* Shared with the process that runs a scenario. */
static struct refusing {
    _Atomic long left; /* until the one that is refused; 0 or less: none */
    _Atomic bool done;
} * refusing;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

static bool is_refused(void)
{
    if (refusing == NULL || atomic_load(&refusing->left) <= 0 ||
        atomic_fetch_sub(&refusing->left, 1) != 1)
        return false;
    atomic_store(&refusing->done, true);
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(block, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : __real_strdup(text);
}

/* --- what is done --------------------------------------------------------------------------- */
static struct example example;
static const char *scenario_path;

static enum error_code read_text(struct error *error)
{
    struct trace_set set;
    enum error_code code = trace_set_parse(EXAMPLE, &set, error);
    trace_set_release(&set);
    return code;
}

static enum error_code read_files(struct error *error)
{
    struct trace_set set;
    enum error_code code = trace_set_open(folder, &set, error);
    trace_set_release(&set);
    return code;
}

static enum error_code read_plan(struct error *error)
{
    struct plan plan;
    plan_init(&plan);
    enum error_code code = plan_read("tests/fuzz/corpus/plan/every", &plan, error);
    plan_release(&plan);
    return code;
}

static enum error_code judge_example(struct error *error)
{
    static const char *const families[] = {"H", "B", "C", "D"};
    struct judgement judgement = {0};
    enum error_code code = judge(&example.traces, &example.facts, families, 4, &judgement, error);
    judgement_release(&judgement);
    return code;
}

static enum error_code analyse_hang(struct error *error)
{
    const bool alive[SCENARIO_MAX_RANKS] = {true, true, true, true};
    struct hang hang = {0};
    (void)error;
    hang_analyse(&example.traces, alive, example.traces.ranks, &hang);
    hang_release(&hang);
    return OK;
}

static enum error_code find_unreceived(struct error *error)
{
    bool known;
    struct unreceived *list = NULL;
    size_t count = 0;
    (void)error;
    unreceived_find(&example.traces, &known, &list, &count);
    free(list);
    return OK;
}

static enum error_code extract_decisions(struct error *error)
{
    static const struct decisions_identity identity;
    struct decisions decisions = {0};
    enum error_code code =
        decisions_extract(&example.traces, &example.facts, &identity, 1, NULL, &decisions, error);
    decisions_release(&decisions);
    return code;
}

static enum error_code export_as(const char *name, struct error *error)
{
    struct links links = {0};
    FILE *out = fopen("/dev/null", "we");
    struct export export = {.set = &example.traces, .links = &links, .out = out};
    enum error_code code = links_read(&example.traces, &links, error);
    if (code == OK)
        code = export_run(exporter_find(name), &export, error);
    links_release(&links);
    fclose(out);
    return code;
}

static enum error_code export_shiviz_log(struct error *error)
{
    return export_as("shiviz", error);
}

static enum error_code export_perfetto_trace(struct error *error)
{
    return export_as("perfetto", error);
}

static enum error_code load_scenario(struct error *error)
{
    struct scenario_list list;
    scenario_list_init(&list);
    enum error_code code = script_load(scenario_path, &script_options_default, &list, error);
    if (code == OK && (list.count != 1 || list.scenario[0].plan.count != 1))
        code = error_set(error, ERROR_FORMAT, "the scenario is not whole");
    scenario_list_release(&list);
    return code;
}

/* --- each of its allocations ------------------------------------------------------------------ */
/* true: an allocation was refused. */
static bool refuse_at(long number, enum error_code (*what)(struct error *), enum error_code *code,
                      struct error *error)
{
    *error = (struct error){0};
    atomic_store(&refusing->done, false);
    atomic_store(&refusing->left, number);
    *code = what(error);
    atomic_store(&refusing->left, 0);
    return atomic_load(&refusing->done);
}

/* A script may be refused memory by Lua's own limit, and is told so; what Lua is refused it asks
 * for again when it has collected its garbage. */
static bool is_told(enum error_code code, const struct error *error, bool asks_again)
{
    if (code == OK)
        return asks_again && error->code == OK;
    return (code == ERROR_MEMORY || code == ERROR_LIMIT) && error->code == code &&
           error->text[0] != '\0';
}

/* What the process says on standard error, in place of this one's. */
static int hear_errors(void)
{
    int heard = memfd_create("said", MFD_CLOEXEC);
    if (heard >= 0)
        dup2(heard, STDERR_FILENO);
    return heard;
}

static bool has_said(int heard, const char *what)
{
    char text[256];
    ssize_t got = pread(heard, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return strcmp(text, what) == 0;
}

/* The exit status of a process in which allocation `number` is refused; 0: none was, or it was told
 * as an error, or (`asks_again`) asked for once more. */
static int status_of(long number, enum error_code (*what)(struct error *), bool asks_again)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct error error;
        enum error_code code;
        bool refused = refuse_at(number, what, &code, &error);
        exit(refused ? !is_told(code, &error, asks_again) : code != OK);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* It is told as an error, or ends the process. */
static void each(const char *name, enum error_code (*what)(struct error *), bool asks_again)
{
    long tried = 0;
    int status = 0;
    int heard = hear_errors();
    atomic_store(&refusing->done, true);
    for (long n = 1; n < ALLOCATIONS_MOST && status == 0; n += n < IN_TURN ? 1 : n / 8, tried++) {
        if (ftruncate(heard, 0) != 0 || lseek(heard, 0, SEEK_SET) != 0)
            break;
        status = status_of(n, what, asks_again);
        if (status == 0 && !atomic_load(&refusing->done))
            break;
        if (status == MEMORY_EXIT_STATUS && has_said(heard, "faultline: out of memory\n"))
            status = 0;
    }
    close(heard);
    check(tried > 0 && status == 0, "%s: %ld allocations refused in turn, each told (status %d)",
          name, tried, status);
}

static void write_traces(void)
{
    for (size_t i = 0; i < example.traces.count; i++) {
        char name[32];
        const struct trace *trace = &example.traces.trace[i];
        snprintf(name, sizeof name, "r%d.%d.trace", trace->rank, trace->incarnation);
        file_named(name, (const char *)trace->header,
                   TRACE_HEADER_BYTES + (size_t)trace->count * TRACE_RECORD_BYTES);
    }
}

int main(void)
{
    static const char script[] = "scenario 'a' { " JOB "ranks = 4, claims = { 'H' },\n"
                                 "plan = function(p) p:kill { rank = 1, event = 'send' } end }";
    struct error error = {0};
    refusing =
        mmap(NULL, sizeof *refusing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!check(refusing != MAP_FAILED && make_folder() &&
                   example_read(EXAMPLE, &example, &error) == OK,
               "%s is read%s", EXAMPLE, error.text))
        return done();
    write_traces();
    each("reading traces", read_files, false);
    each("reading a text trace", read_text, false);
    each("reading a plan", read_plan, false);
    each("judging", judge_example, false);
    each("analysing a hang", analyse_hang, false);
    each("finding what was not received", find_unreceived, false);
    each("extracting decisions", extract_decisions, false);
    each("exporting for ShiViz", export_shiviz_log, false);
    each("exporting for Perfetto", export_perfetto_trace, false);
    scenario_path = file_of(script, strlen(script));
    each("loading a scenario", load_scenario, true);
    example_release(&example);
    remove_folder();
    return done();
}
