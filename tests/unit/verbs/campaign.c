/* What a campaign finds to aim at in a run without faults, and the plans that it draws. */
#include "inline_trace.h"
#include "strategy/draw.h"
#include "strategy/strategy.h"
#include "tap.h"

#define PLANS 2000
#define LINE_BYTES 2048

/* A line of two ranks: a message before it, one across it, a message of the protocol's own. */
static const char text[] =
    "ranks 2\n"
    "r0#0 app call MPI_Init\n"
    "r1#0 app call MPI_Init\n"
    "r0#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 0 members 0 1\n"
    "r1#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 1 members 0 1\n"
    "r0#0 note phase name \"p:before-write\"\n"
    "r0#0 storage write file 12 folder 3 bytes 8 path \"line-1[a]\"\n"
    "r0#0 storage sync file 12 folder 3 path \"line-1[a]\"\n"
    "r0#0 note phase name \"p:before-write\"\n"
    "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x11 lasts 1\n"
    "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x11\n"
    "r1#0 app recv MPI_Recv from any tag 7 got 0 tag 7 bytes 8 hash 0x11 lasts 1\n"
    "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x11\n"
    "r0#0 wire send MPI_Isend to 1 tag 4 bytes 16 hash 0x21 comm 0x77 request 1\n"
    "r1#0 wire recv MPI_Recv from 0 tag 4 got 0 tag 4 bytes 16 hash 0x21 comm 0x77\n"
    "r0#0 app probe MPI_Iprobe from any tag any negative bytes 9\n"
    "r0#0 app probe MPI_Iprobe from any tag any negative bytes 2\n"
    "r0#0 note initiated 1\n"
    "r0#0 note checkpoint 1\n"
    "r1#0 note checkpoint 1\n"
    "r1#0 note logged 1 peer 0 tag 7 hash 0x11\n"
    "r0#0 note stop-log 1\n"
    "r1#0 note stop-log 1\n"
    "r0#0 note commit 1\n"
    "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x12 lasts 1\n"
    "r0#0 wire send MPI_Send to 1 tag 7 bytes 8 hash 0x12\n"
    "r1#0 app recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x12 lasts 1\n"
    "r1#0 wire recv MPI_Recv from 0 tag 7 got 0 tag 7 bytes 8 hash 0x12\n"
    "r1#0 app send MPI_Ssend to 0 tag 9 bytes 8 hash 0x13 lasts 1\n"
    "r1#0 wire send MPI_Ssend to 0 tag 9 bytes 8 hash 0x13\n"
    "r0#0 app recv MPI_Recv from 1 tag 9 got 1 tag 9 bytes 8 hash 0x13 lasts 1\n"
    "r0#0 wire recv MPI_Recv from 1 tag 9 got 1 tag 9 bytes 8 hash 0x13\n";

static void with_wires(struct plan *plan)
{
    struct message_pattern stop = message_pattern_default(), never = message_pattern_default();
    struct message_pattern ready = message_pattern_default();
    strcpy(stop.name, "stopLogging");
    stop.comm = 1;
    stop.comm_nth = 1;
    stop.tag = 4;
    strcpy(never.name, "neverSent");
    never.comm = 1;
    never.comm_nth = 2;
    strcpy(ready.name, "readyToStop");
    ready.comm = 1;
    ready.comm_nth = 1;
    ready.tag = 5;
    plan_init(plan);
    plan_add_wire(plan, &stop, NULL);
    plan_add_wire(plan, &never, NULL);
    plan_add_wire(plan, &ready, NULL);
}

static void take_of(const char *what, struct survey *survey, struct plan *plan)
{
    struct trace_set traces;
    inline_trace(what, &traces);
    with_wires(plan);
    survey_of(&traces, plan, survey);
    trace_set_release(&traces);
}

static void take(struct survey *survey, struct plan *plan)
{
    take_of(text, survey, plan);
}

/* --- the survey ------------------------------------------------------------------------------- */
/* As a step prints it, and how often it was there; 0: it is no point. */
static uint64_t count_of(const struct survey *survey, const char *what)
{
    for (size_t i = 0; i < survey->count; i++) {
        struct plan_step step = plan_step_default(ACTION_AWAIT);
        char line[LINE_BYTES];
        step.when = survey->point[i].condition;
        plan_step_print(&step, line, sizeof line);
        if (strcmp(line, what) == 0)
            return survey->point[i].count;
    }
    return 0;
}

static const struct {
    const char *what;
    uint64_t count;
} points[] = {
    {"await event=phase rank=0 name=p:before-write", 2},
    {"await event=checkpoint rank=1 epoch=1", 1},
    {"await event=commit rank=0 epoch=1", 1},
    {"await event=write rank=0 file=\"line-1?a?\"", 1},
    {"await event=sync rank=0 file=\"line-1?a?\"", 1},
    {"await event=send rank=0 peer=1 tag=7 comm=0x1", 2},
    {"await event=send rank=0 peer=1 tag=7 comm=0x1 level=wire", 2},
    {"await event=send rank=0 peer=1 level=wire message=stopLogging", 1},
    {"await event=send rank=0 peer=1 tag=4 comm=0x77 level=wire", 0},
    {"await event=deliver rank=1 peer=0 level=wire position=after message=stopLogging", 1},
    {"await event=deliver rank=1 peer=0 tag=7 comm=0x1 position=after", 2},
    {"await event=call rank=0 call=MPI_Send", 2},
    {"await event=call rank=1 call=MPI_Recv level=wire", 3},
    {"await event=call rank=0 call=MPI_Init", 0},
    {"await event=call rank=0 call=MPI_Iprobe", 0},
    {"await event=probe rank=0 call=MPI_Iprobe", 1},
    {"await event=recv rank=1 call=MPI_Recv tag=7 comm=0x1", 1},
    {"await event=logged rank=1 peer=0 tag=7 comm=0x1 epoch=1", 0},
};

static void test_survey(void)
{
    struct survey survey;
    struct plan plan;
    take(&survey, &plan);
    check(survey.ranks == 2 && survey.lines == 1, "two ranks, one line committed");
    check(survey.wires == 1 && strcmp(survey.wire[0].name, "stopLogging") == 0,
          "the messages that were seen are known by name");
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        uint64_t count = count_of(&survey, points[i].what);
        if (!check(count == points[i].count, "%s: %llu", points[i].what,
                   (unsigned long long)points[i].count))
            printf("# there are %llu\n", (unsigned long long)count);
    }
    survey_release(&survey);
    plan_release(&plan);
}

/* What ranks hear before they enter a region of a line, and where they stand when they send. */
static const char lines_text[] =
    "ranks 2\n"
    "r0#0 app call MPI_Init\n"
    "r1#0 app call MPI_Init\n"
    "r0#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 0 members 0 1\n"
    "r1#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 1 members 0 1\n"
    "r1#0 app send MPI_Send to 0 tag 7 bytes 8 hash 0x10 lasts 1\n"
    "r0#0 note checkpoint 1\n"
    "r0#0 storage write file 12 folder 3 bytes 900 path \"line-1\"\n"
    "r0#0 storage write file 12 folder 3 bytes 30 path \"line-1\"\n"
    "r1#0 app send MPI_Send to 0 tag 7 bytes 8 hash 0x11 lasts 1\n"
    "r1#0 app send MPI_Send to 0 tag 7 bytes 8 hash 0x12 lasts 1\n"
    "r0#0 app recv MPI_Recv from any tag 7 got 1 tag 7 bytes 8 hash 0x10 lasts 1\n"
    "r1#0 note checkpoint 1\n"
    "r0#0 wire send MPI_Isend to 1 tag 4 bytes 16 hash 0x21 comm 0x77 request 1\n"
    "r1#0 wire recv MPI_Recv from 0 tag 4 got 0 tag 4 bytes 16 hash 0x21 comm 0x77\n"
    "r1#0 note stop-log 1\n"
    "r1#0 app send MPI_Send to 0 tag 7 bytes 8 hash 0x13 lasts 1\n"
    "r1#0 app collective MPI_Barrier\n"
    "r0#0 note logged 1 peer 1 tag 7 hash 0x11\n"
    "r0#0 note logged 1 peer 1 tag 7 hash 0x12\n"
    "r0#0 note stop-log 1\n"
    "r0#0 note commit 1\n"
    "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x14 lasts 1\n"
    "r0#0 note checkpoint 2\n";

static uint32_t sends_in(const struct survey *survey, enum plan_region sender,
                         enum plan_region receiver)
{
    struct survey_cell cell = {
        .sender = 1, .line = 1, .of_sender = sender, .of_receiver = receiver};
    return survey_sends(survey, cell);
}

static const struct survey_point *write_of(const struct survey *survey)
{
    return survey_point(survey, (struct survey_filter){.kind = SURVEY_STORE, .event = EVENT_WRITE},
                        0);
}

static void test_survey_of_lines(void)
{
    struct survey survey;
    struct plan plan;
    take_of(lines_text, &survey, &plan);
    check(sends_in(&survey, REGION_BEFORE, REGION_BEFORE) == 1, "sent before both checkpoints: 1");
    check(sends_in(&survey, REGION_BEFORE, REGION_LOGGING) == 2, "to one that logs: 2");
    check(sends_in(&survey, REGION_BEYOND, REGION_LOGGING) == 1, "from one that has done so: 1");
    check(sends_in(&survey, REGION_LOGGING, REGION_LOGGING) == 0, "between two that log: 0");
    struct survey_cell far = {
        .sender = 1, .line = 2, .of_sender = REGION_BEFORE, .of_receiver = REGION_BEFORE};
    check(survey_sends(&survey, far) == 0, "of a line that was not committed: 0");
    const struct survey_trigger *trigger = survey_trigger(&survey, 1, REGION_BEYOND, 1);
    check(trigger != NULL && trigger->sender == 0 && trigger->nth == 1 &&
              strcmp(trigger->message, "stopLogging") == 0,
          "what lets rank 1 stop logging: the first stopLogging of rank 0");
    check(survey_trigger(&survey, 1, REGION_LOGGING, 1) == NULL &&
              survey_trigger(&survey, 0, REGION_BEYOND, 1) == NULL,
          "what heard nothing before has no trigger");
    check(survey.late == 2 && survey.early == 0 && survey.collectives == 1,
          "two late messages, a collective call");
    const struct survey_point *write = write_of(&survey);
    check(write->bytes == 30 && write->count == 2 && write->line == 1,
          "two writes after the first checkpoint, the least of 30 bytes: %llu",
          (unsigned long long)write->bytes);
    survey_release(&survey);
    plan_release(&plan);
}

/* Rank 1 tells rank 0 that it is ready, which tells both others to stop logging. */
#define STOPS_LOGGING(line)                                                                        \
    "r0#0 note checkpoint " line "\n"                                                              \
    "r1#0 note checkpoint " line "\n"                                                              \
    "r2#0 note checkpoint " line "\n"                                                              \
    "r1#0 wire send MPI_Send to 0 tag 5 bytes 16 hash 0x3" line " comm 0x77\n"                     \
    "r0#0 wire recv MPI_Recv from 1 tag 5 got 1 tag 5 bytes 16 hash 0x3" line " comm 0x77\n"       \
    "r0#0 note stop-log " line "\n"                                                                \
    "r0#0 wire send MPI_Send to 1 tag 4 bytes 16 hash 0x4" line " comm 0x77\n"                     \
    "r0#0 wire send MPI_Send to 2 tag 4 bytes 16 hash 0x5" line " comm 0x77\n"                     \
    "r1#0 wire recv MPI_Recv from 0 tag 4 got 0 tag 4 bytes 16 hash 0x4" line " comm 0x77\n"       \
    "r2#0 wire recv MPI_Recv from 0 tag 4 got 0 tag 4 bytes 16 hash 0x5" line " comm 0x77\n"       \
    "r1#0 note stop-log " line "\n"                                                                \
    "r2#0 note stop-log " line "\n"                                                                \
    "r0#0 note commit " line "\n"

static const char two_lines_text[] =
    "ranks 3\n"
    "r0#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 0 members 0 1 2\n"
    "r1#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 1 members 0 1 2\n"
    "r2#0 wire comm MPI_Comm_dup id 0x77 parent 1 rank 2 members 0 1 2\n" /**/
    STOPS_LOGGING("1") STOPS_LOGGING("2");

static void test_survey_of_triggers(void)
{
    struct survey survey;
    struct plan plan;
    take_of(two_lines_text, &survey, &plan);
    for (int rank = 1; rank <= 2; rank++)
        for (int line = 1; line <= 2; line++) {
            const struct survey_trigger *trigger =
                survey_trigger(&survey, rank, REGION_BEYOND, line);
            check(trigger != NULL && trigger->sender == 0 && trigger->nth == (uint64_t)line &&
                      strcmp(trigger->message, "stopLogging") == 0,
                  "what most ranks heard last: at line %d rank %d's stopLogging of that line", line,
                  rank);
        }
    check(survey_trigger(&survey, 0, REGION_BEYOND, 1) == NULL,
          "who heard something else has no trigger");
    survey_release(&survey);
    plan_release(&plan);
}

/* --- draws ------------------------------------------------------------------------------------ */
static void test_draws(void)
{
    static const unsigned weight[] = {0, 3, 1};
    struct draw one = draw_for(7, 5, 1), same = draw_for(7, 5, 1), other = draw_for(7, 5, 2);
    unsigned often[3] = {0};
    uint64_t first = draw_number(&one);
    check(first == draw_number(&same) && first != draw_number(&one), "a draw has its number");
    check(first != draw_number(&other), "and its purpose");
    bool within = true;
    for (int i = 0; i < 4000; i++) {
        uint64_t number = draw_between(&one, 3, 9);
        within &= number >= 3 && number <= 9;
        often[draw_weighted(&one, weight, 3)]++;
    }
    check(within, "between its bounds");
    check(often[0] == 0 && often[1] > 2 * often[2] && often[1] < 4 * often[2],
          "as often as its weight says: %u, %u", often[1], often[2]);
}

/* --- plans ------------------------------------------------------------------------------------ */
static size_t print_plan(const struct plan *plan, char *all, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < plan->count; i++) {
        used += plan_step_print(&plan->steps[i], all + used, room - used);
        all[used++] = '\n';
    }
    all[used] = '\0';
    return used;
}

/* Every step is one that the plan file may say, and a name one that a scenario may have. */
static bool is_good(const struct plan *plan, const char *name)
{
    struct error error = {OK, ""};
    char line[LINE_BYTES];
    bool good = plan->count > 0 && name[0] != '\0' && plan_check(plan, &error) == OK;
    for (size_t i = 0; good && i < plan->count; i++) {
        struct plan_step read;
        plan_step_print(&plan->steps[i], line, sizeof line);
        good = plan_step_parse(line, &read, &error) == OK;
    }
    for (const char *at = name; good && *at != '\0'; at++)
        good = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./:+=,-",
                      *at) != NULL;
    if (!good)
        printf("# \"%s\": %s\n# %s\n", name, error.text, line);
    return good;
}

static bool make(const struct strategy *strategy, const struct survey *survey, uint64_t seed,
                 uint64_t index, char *all, size_t room)
{
    struct plan plan;
    struct error error = {OK, ""};
    char name[STRATEGY_TEXT_BYTES];
    with_wires(&plan);
    bool good = strategy->make(survey, seed, index, &plan, name, &error) == OK;
    if (good)
        print_plan(&plan, all, room);
    good = good && is_good(&plan, name);
    plan_release(&plan);
    return good;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many of the plans are there more than once. */
static size_t repeated(char **plans, size_t count)
{
    size_t twice = 0;
    qsort(plans, count, sizeof *plans, compare_texts);
    for (size_t i = 1; i < count; i++)
        if (strcmp(plans[i - 1], plans[i]) == 0) {
            if (twice++ == 0)
                printf("# %s", plans[i]);
        }
    return twice;
}

static void test_strategy(const char *name, uint64_t most)
{
    struct survey survey;
    struct plan plan;
    static char all[16384], again[16384];
    static char *plans[PLANS];
    take(&survey, &plan);
    const struct strategy *strategy = strategy_find(name);
    uint64_t count = strategy->count(&survey);
    count = count < most ? count : most;
    bool good = true, same = true;
    for (uint64_t i = 0; i < count; i++) {
        good &= make(strategy, &survey, 3, i, all, sizeof all);
        plans[i] = strdup(all);
    }
    for (uint64_t i = count; i-- > 0;) {
        make(strategy, &survey, 3, i, again, sizeof again);
        same &= strcmp(plans[i], again) == 0;
    }
    check(good, "%s: %llu plans that can be run", name, (unsigned long long)count);
    check(same, "%s: the same again, in any order", name);
    size_t twice = repeated(plans, count);
    check(name[0] == 's' ? twice == 0 : twice < count / 10, "%s: %zu are there twice", name, twice);
    for (uint64_t i = 0; i < count; i++)
        free(plans[i]);
    survey_release(&survey);
    plan_release(&plan);
}

static void test_seed(void)
{
    struct survey survey;
    struct plan plan;
    static char one[16384], other[16384];
    const struct strategy *strategy = strategy_find("random");
    int different = 0;
    take(&survey, &plan);
    for (uint64_t i = 0; i < 100; i++) {
        make(strategy, &survey, 1, i, one, sizeof one);
        make(strategy, &survey, 2, i, other, sizeof other);
        different += strcmp(one, other) != 0;
    }
    check(different > 95, "another seed draws other plans");
    survey_release(&survey);
    plan_release(&plan);
}

/* What is sure not to come about is not asked for. */
static void test_random_places(void)
{
    struct survey survey;
    struct plan plan;
    char name[STRATEGY_TEXT_BYTES];
    uint64_t short_bytes = 0, writes = 0, recovered = 0, lives = 0;
    const struct strategy *strategy = strategy_find("random");
    take_of(lines_text, &survey, &plan);
    for (uint64_t i = 0; i < PLANS; i++) {
        bool kills = false, second = false;
        plan_release(&plan);
        with_wires(&plan);
        if (strategy->make(&survey, 5, i, &plan, name, NULL) != OK)
            exit(1);
        for (size_t j = 0; j < plan.count; j++) {
            const struct plan_step *step = &plan.steps[j];
            bool writing = step->action == ACTION_SHORT || step->action == ACTION_TEAR;
            writes += writing;
            short_bytes += writing && step->count < write_of(&survey)->bytes;
            kills |= step->action == ACTION_TEAR ||
                     (step->action == ACTION_KILL && step->when.incarnation < 1);
            second |= step->when.incarnation > 0;
        }
        lives += second;
        recovered += second && kills;
    }
    check(writes > 0 && short_bytes == writes, "all %llu short and torn writes are of fewer bytes",
          (unsigned long long)writes);
    check(lives > 0 && recovered == lives, "all %llu plans for a second life end the first",
          (unsigned long long)lives);
    survey_release(&survey);
    plan_release(&plan);
}

/* Of all random plans over a run: steps that name this, steps of the two actions that make choices,
 * plans with two jitters; for how many ranks at their end the faults wait at the most. */
struct tally {
    size_t named, choices, jittered_twice;
    uint64_t ended;
};

static struct tally tally_of(const char *what, const char *named)
{
    struct survey survey;
    struct plan plan;
    struct tally tally = {0};
    char name[STRATEGY_TEXT_BYTES];
    take_of(what, &survey, &plan);
    for (uint64_t i = 0; i < PLANS; i++) {
        size_t jitters = 0;
        plan_release(&plan);
        with_wires(&plan);
        if (strategy_find("random")->make(&survey, 6, i, &plan, name, NULL) != OK)
            exit(1);
        for (size_t j = 0; j < plan.count; j++) {
            const struct plan_step *step = &plan.steps[j];
            tally.named += strcmp(step->when.name, named) == 0;
            tally.named += strcmp(step->when.message, named) == 0;
            tally.choices += step->action == ACTION_CHOOSE || step->action == ACTION_ANSWER;
            jitters += step->action == ACTION_JITTER;
        }
        tally.jittered_twice += jitters > 1;
        uint64_t ended = plan.steps[plan.count - 1].when.nth;
        tally.ended = ended > tally.ended ? ended : tally.ended;
    }
    survey_release(&survey);
    plan_release(&plan);
    return tally;
}

/* The faults stop when ranks come to MPI_Finalize; what is seen there alone is never asked for. */
static void test_random_before_end(void)
{
    static const char end[] = "r0#0 app call MPI_Finalize\n", phase[] = "p:before-finish";
    static const char inside[] = "r0#0 note phase name \"p:before-finish\"\n";
    char ahead[sizeof text + sizeof inside + sizeof end], after[sizeof ahead];
    snprintf(ahead, sizeof ahead, "%s%s%s", text, inside, end);
    snprintf(after, sizeof after, "%s%s%s", text, end, inside);
    check(tally_of(ahead, phase).named > 0, "a phase ahead of the end is asked for");
    check(tally_of(after, phase).named == 0, "one after it is not");
    check(tally_of(text, "stopLogging").named > 0, "so is a message of the protocol's own");
    check(tally_of(text, "").ended == 2 && tally_of(after, "").ended == 1,
          "faults do not wait for a rank that never comes to the end");
    struct survey survey, early;
    struct plan plan;
    take_of(after, &survey, &plan);
    survey_before_end(&survey, &early);
    check(early.count == survey.count - 2,
          "without the end there are that phase and MPI_Finalize itself less");
    free(early.point);
    survey_release(&survey);
    plan_release(&plan);
}

/* Where the program's messages go another way, no step can say what it takes. */
static void test_random_choices(void)
{
    static const char apart[] =
        "ranks 2\n"
        "r0#0 app send MPI_Send to 1 tag 7 bytes 8 hash 0x11 lasts 1\n"
        "r0#0 wire send MPI_Send to 1 tag 1 bytes 24 hash 0x21\n"
        "r1#0 app probe MPI_Iprobe from any tag any negative bytes 9\n"
        "r1#0 app recv MPI_Recv from any tag 7 got 0 tag 7 bytes 8 hash 0x11 lasts 1\n"
        "r1#0 wire recv MPI_Recv from any tag 1 got 0 tag 1 bytes 24 hash 0x21\n";
    check(tally_of(text, "").choices > 0, "what is passed on can be chosen");
    check(tally_of(apart, "").choices == 0, "what is not cannot");
    check(tally_of(text, "").jittered_twice == 0, "no plan has two jitters");
}

static void test_systematic(void)
{
    struct survey survey;
    struct plan plan;
    char bounds[STRATEGY_TEXT_BYTES], all[4096];
    take(&survey, &plan);
    const struct strategy *strategy = strategy_find("systematic");
    strategy->bounds(&survey, bounds);
    printf("# %s\n", bounds);
    check(strstr(bounds, "1 kills at phases") != NULL, "its bounds say what there is");
    check(strstr(bounds, "72 cells") != NULL, "three regions, two pairs of ranks");
    make(strategy, &survey, 0, 0, all, sizeof all);
    check(strncmp(all, "kill after=start victims=0 event=phase rank=0 name=p:before-write\n", 60) ==
              0,
          "the first kill is at a phase: %.70s", all);
    struct error error = {OK, ""};
    char name[STRATEGY_TEXT_BYTES];
    check(strategy->make(&survey, 0, strategy->count(&survey), &plan, name, &error) == ERROR_LIMIT,
          "there is an end: %s", error.text);
    survey_release(&survey);
    plan_release(&plan);
}

int main(void)
{
    test_survey();
    test_survey_of_lines();
    test_survey_of_triggers();
    test_draws();
    test_strategy("systematic", PLANS);
    test_strategy("random", PLANS);
    test_seed();
    test_random_places();
    test_random_before_end();
    test_random_choices();
    test_systematic();
    check(strategy_find("randm") == NULL, "no strategy is called so");
    return done();
}
