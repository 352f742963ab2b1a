/* Runs drawn in many shapes, right ones: no alarm. Then the same with exactly k violations of one
 * kind planted: the oracles report exactly k of that claim and none of another, and each is derived
 * again from its witness. Seeded: the same runs every time; FAULTLINE_PLANTED=<runs>,<seed> draws
 * as many right ones instead (`make proof-traces`). With arguments it writes one run as text:
 *   planted.t c3|blocking [ranks=4] [messages=N] ... [plant=CLAIM] [count=K] [seed=N] >FILE */
#include "planted/plant.h"
#include "tap.h"
#include "traces/text_trace.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RUNS 5000
#define SEED 20040617u
#define TIMES 25           /* each kind is planted so often with each k */
#define TRIES (TIMES * 40) /* runs drawn for it: not each has the room */
#define PLANTED_MOST 3
#define MANY 7 /* k, once for each kind that has the room */
#define IDS_MOST 8
#define LONG_LEAST 4      /* of those tried have the room */
#define LONG_EVERY 3      /* kind of the table */
#define LONG_MESSAGES 700 /* between two lines */
#define LONG_LINES 40

static struct planted_run run;

/* --- judging ------------------------------------------------------------------------------- */

static bool judge_ids(const char *judged, struct judgement *judgement)
{
    char text[128], *next = text;
    const char *id[IDS_MOST];
    size_t count = 0;
    struct error error = {0};
    snprintf(text, sizeof text, "%s", judged);
    for (char *word = strsep(&next, " "); word != NULL && count < IDS_MOST;
         word = strsep(&next, " "))
        id[count++] = word;
    *judgement = (struct judgement){0};
    if (judge(&run.rendering.set, &run.facts, id, count, judgement, &error) == OK)
        return true;
    printf("# %s\n", error.text);
    return false;
}

/* The trace that was judged last, for whoever looks into it. */
static void keep_trace(uint64_t seed)
{
    char path[64];
    struct error error = {0};
    snprintf(path, sizeof path, "/tmp/faultline-planted.%d", (int)getpid());
    FILE *out = fopen(path, "w");
    bool kept = out != NULL && trace_set_write(&run.rendering.set, out, &error) == OK;
    if (out != NULL)
        fclose(out);
    if (kept)
        printf("# drawn from %" PRIu64 ", the trace is %s\n", seed, path);
}

static void show(const struct judgement *judgement, uint64_t seed)
{
    keep_trace(seed);
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        printf("# %s %s\n", verdict_text(finding->verdict), finding->claim->id);
        for (unsigned k = 0; k < finding->why_count; k++)
            printf("#   %s\n", finding->why[k]);
    }
}

/* --- right runs ---------------------------------------------------------------------------- */

static const char *judged_of(const struct shape *shape)
{
    if (shape->protocol == PROTOCOL_BLOCKING)
        return "H B C D";
    return shape->quiet ? "H B C D" : "H C D B.commit";
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void right_runs(int count, uint64_t seed)
{
    int alarms = 0, done = 0;
    uint64_t records = 0, crashes = 0;
    long peak = 0;
    clock_t begun = clock();
    for (; done < count && alarms == 0; done++) {
        struct judgement judgement;
        draw_from(seed + (uint64_t)done);
        struct shape shape = draw_shape();
        planted_run_draw(&run, &shape, NULL, 0);
        bool judged = judge_ids(judged_of(&shape), &judgement);
        if (!judged || judgement.finding_count > 0) {
            alarms++;
            show(&judgement, seed + (uint64_t)done);
        }
        records += run.rendering.record_count;
        crashes += (uint64_t)run.rendering.lives - 1;
        judgement_release(&judgement);
        if (done == count / 10)
            peak = peak_kib();
    }
    check(alarms == 0, "%d right runs: no alarm", done);
    printf("# %" PRIu64 " records, %" PRIu64 " crashes, %.1f s of processor time, %ld KiB, "
           "%ld KiB more than after a tenth\n",
           records, crashes, (double)(clock() - begun) / CLOCKS_PER_SEC, peak_kib(),
           peak_kib() - peak);
}

/* --- planted ones -------------------------------------------------------------------------- */

static bool is_of(const char *list, const char *id)
{
    size_t length = strlen(id);
    for (const char *at = strstr(list, id); at != NULL; at = strstr(at + 1, id))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* Family I counts what it finds; the rest is not judged then. */
static bool is_exact_for_us(const struct plant *plant, int count, const struct judgement *judgement)
{
    int found = 0;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        if (strcmp(finding->claim->id, plant->claim) == 0)
            found += finding->verdict == plant->verdict;
        else if (finding->verdict != VERDICT_UNKNOWN)
            return false;
    }
    return found == count && judgement->verdict == plant->verdict;
}

static bool is_exact(const struct plant *plant, int count, const struct judgement *judgement)
{
    if (plant->verdict != VERDICT_VIOLATION)
        return is_exact_for_us(plant, count, judgement);
    for (size_t i = 0; i < judgement->result_count; i++) {
        const struct claim_result *result = &judgement->results[i];
        bool planted = strcmp(result->claim->id, plant->claim) == 0;
        if (!is_of(plant->also, result->claim->id) &&
            result->violations != (planted ? (uint64_t)count : 0))
            return false;
    }
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        if (!is_of(plant->also, finding->claim->id) && finding->verdict != VERDICT_VIOLATION)
            return false;
    }
    return true;
}

/* All of it again from the witnesses: none is refused. */
static bool is_derived_again(struct judgement *judgement)
{
    verify_findings(&run.rendering.set, &run.facts, judgement);
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == VERDICT_HARNESS_ERROR &&
            judgement->findings[i].claim->id[0] != 'I')
            return false;
    return true;
}

/* Judges one run with `count` of them; 0: it had no room for so many, -1: it is not exact. */
static int plant_once(const struct plant *plant, int count, uint64_t seed)
{
    struct judgement judgement;
    draw_from(seed);
    struct shape shape = draw_shape();
    plant_fit(plant, count, &shape);
    if (planted_run_draw(&run, &shape, plant, count) != count)
        return 0;
    bool exact = judge_ids(plant->judged, &judgement) && is_exact(plant, count, &judgement);
    bool again = exact && is_derived_again(&judgement);
    if (!exact || !again) {
        printf("# %d of %s planted; %s\n", count, plant->claim,
               exact ? "a witness is refused" : "not what is found");
        show(&judgement, seed);
    }
    judgement_release(&judgement);
    return exact && again ? 1 : -1;
}

static bool is_once(const struct plant *plant)
{
    return plant->of == OF_END;
}

static void plant_all(const struct plant *plant)
{
    int done = 0, wrong = 0, most = 0;
    uint64_t seed = SEED;
    for (int count = 1; count <= PLANTED_MOST + 1 && wrong == 0; count++) {
        int k = count <= PLANTED_MOST ? count : MANY;
        int times = 0;
        for (int try = 0; try < TRIES && times < (k == MANY ? 1 : TIMES) && wrong == 0; try++) {
            int result = plant_once(plant, k, seed++);
            times += result != 0;
            wrong += result < 0;
        }
        done += times;
        most = times > 0 ? k : most;
        if (is_once(plant))
            break;
    }
    check(wrong == 0 && done >= TIMES,
          "%s: 1 to %d planted and found, neither more nor another, %d runs", plant->claim, most,
          done);
}

/* Long ones, with some of the kinds. */
static void plant_long(uint64_t seed)
{
    int done = 0, wrong = 0;
    uint64_t records = 0;
    for (size_t i = 0; i < plant_count; i += LONG_EVERY) {
        const struct plant *plant = &plants[i];
        struct shape shape = {PROTOCOL_C3, 3, LONG_MESSAGES, 6, 30, LONG_LINES, 2, 1, true, false};
        struct judgement judgement;
        if (plant->of != OF_OPS || plant->op == WRONG_NOTHING)
            continue;
        draw_from(seed + i);
        plant_fit(plant, MANY, &shape);
        if (planted_run_draw(&run, &shape, plant, MANY) != MANY)
            continue;
        bool exact = judge_ids(plant->judged, &judgement) && is_exact(plant, MANY, &judgement) &&
                     is_derived_again(&judgement);
        if (!exact)
            show(&judgement, seed + i);
        wrong += !exact;
        done++;
        records += run.rendering.record_count;
        judgement_release(&judgement);
    }
    check(wrong == 0 && done >= LONG_LEAST, "%d long runs, %" PRIu64 " records: %d planted in each",
          done, records, MANY);
}

/* --- every claim --------------------------------------------------------------------------- */

/* What only a protocol that is not drawn here can break: see generated_cuts.c for families S and R,
 * generated_logging.c for M. Programs that call ULFM are drawn nowhere: of families U, W, F,
 * K, T, P and A there are golden traces and suites. */
static bool is_of_other_protocols(const char *id)
{
    return strchr("SRMUWFKTPA", id[0]) != NULL;
}

/* Every claim that is no table of cells is planted. */
static void check_claims(void)
{
    size_t missing = 0;
    for (size_t i = 0; i < claim_count; i++) {
        const char *id = claims[i].id;
        bool there = strstr(id, ".cell.") != NULL || is_of_other_protocols(id);
        for (size_t p = 0; p < plant_count && !there; p++)
            there = strcmp(plants[p].claim, id) == 0;
        if (!there)
            printf("# no violation of %s is planted\n", id);
        missing += !there;
    }
    check(missing == 0, "a violation of every claim on blocking checkpoints and C3 is planted");
}

/* --- one run, as text ---------------------------------------------------------------------- */

static const struct plant *find_plant(const char *claim, enum protocol protocol)
{
    for (size_t i = 0; i < plant_count; i++)
        if (strcmp(plants[i].claim, claim) == 0 && plants[i].protocol == protocol)
            return &plants[i];
    fprintf(stderr, "planted: no violation of \"%s\" can be planted there\n", claim);
    exit(64);
}

static bool read_number(const char *argument, const char *name, int *value)
{
    size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 && argument[length] == '=' &&
           sscanf(argument + length + 1, "%d", value) == 1 && *value >= 0;
}

static int write_run(int argc, char **argv)
{
    struct shape shape = {.protocol = strcmp(argv[1], "c3") == 0 ? PROTOCOL_C3 : PROTOCOL_BLOCKING,
                          .ranks = 4,
                          .messages = 10,
                          .lines = 2};
    const struct plant *plant = NULL;
    struct error error = {0};
    int seed = 1, count = 1, storage = 0, quiet = 0;
    for (int i = 2; i < argc; i++) {
        const char *at = argv[i];
        if (strncmp(at, "plant=", 6) == 0)
            plant = find_plant(at + 6, shape.protocol);
        else if (!read_number(at, "ranks", &shape.ranks) &&
                 !read_number(at, "messages", &shape.messages) &&
                 !read_number(at, "collectives", &shape.collectives) &&
                 !read_number(at, "wildcards", &shape.wildcards) &&
                 !read_number(at, "lines", &shape.lines) &&
                 !read_number(at, "restarts", &shape.restarts) &&
                 !read_number(at, "communicators", &shape.communicators) &&
                 !read_number(at, "storage", &storage) && !read_number(at, "quiet", &quiet) &&
                 !read_number(at, "count", &count) && !read_number(at, "seed", &seed))
            return fprintf(stderr,
                           "planted: \"%s\": ranks, messages, collectives, wildcards (of a "
                           "hundred), lines, restarts, communicators, storage, quiet, "
                           "count or seed, = and a number, or plant=CLAIM\n",
                           at),
                   64;
    }
    if (shape.ranks < 2 || shape.ranks > RANKS_MOST)
        return fprintf(stderr, "planted: 2 to %d ranks, not %d\n", RANKS_MOST, shape.ranks), 64;
    shape.storage = storage > 0;
    shape.quiet = quiet > 0;
    draw_from((uint64_t)seed);
    if (plant != NULL)
        plant_fit(plant, count, &shape);
    int planted = planted_run_draw(&run, &shape, plant, count);
    printf("# %d planted\n", planted);
    return trace_set_write(&run.rendering.set, stdout, &error) == OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return write_run(argc, argv);
    const char *asked = getenv("FAULTLINE_PLANTED");
    int count = RUNS;
    uint64_t seed = SEED;
    if (asked != NULL && sscanf(asked, "%d,%" SCNu64, &count, &seed) < 1)
        return 1;
    right_runs(count, seed);
    for (size_t i = 0; asked == NULL && i < plant_count; i++)
        plant_all(&plants[i]);
    if (asked == NULL) {
        plant_long(SEED);
        check_claims();
    }
    planted_run_release(&run);
    return done();
}
