/* The plan: its text says all of it, and what is wrong with a text is named. */
#include "plan/plan.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANDOM_STEPS 5000
#define LINE_BYTES 2048

static bool same(const struct plan_step *a, const struct plan_step *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void test_text(void)
{
    struct plan_step step = plan_step_default(ACTION_KILL);
    char line[LINE_BYTES];
    step.victims = 1;
    step.victim[0] = 1;
    step.when.event = EVENT_SEND;
    step.when.rank = 1;
    step.when.nth = 5;
    size_t length = plan_step_print(&step, line, sizeof line);
    check(strcmp(line, "kill victims=1 event=send rank=1 nth=5") == 0 && length == strlen(line),
          "a step reads: %s", line);
    check(plan_step_print(&step, line, 8) == length && strcmp(line, "kill vi") == 0,
          "text that does not fit is cut, its length told");
    step = plan_step_default(ACTION_AWAIT);
    plan_step_print(&step, line, sizeof line);
    check(strcmp(line, "await") == 0, "defaults are left out");
    step.when.event = EVENT_PHASE;
    step.when.epoch = 2;
    strcpy(step.when.name, "say \"go\" \\ now\n");
    plan_step_print(&step, line, sizeof line);
    check(strcmp(line, "await event=phase epoch=2 name=\"say \\\"go\\\" \\\\ now\\x0a\"") == 0,
          "a name is quoted: %s", line);
    struct plan_step back;
    check(
        plan_step_parse("  kill\tvictims=0,2   event=wait position=inside call=MPI_Wait level=wire"
                        " comm=0xff rank=0 peer=-1 tag=-2 incarnation=1 \n",
                        &back, NULL) == OK &&
            back.victims == 2 && back.victim[1] == 2 && back.when.position == POSITION_INSIDE &&
            back.when.level == 1 && back.when.comm == 255 && back.when.peer == -1 &&
            back.when.tag == -2 && back.when.incarnation == 1 &&
            strcmp(back.when.call, "MPI_Wait") == 0,
        "blanks do not matter, all fields are read");
}

/* --- any step -------------------------------------------------------------------------------- */
static unsigned seed = 20;

static int32_t some(int32_t count)
{
    return (int32_t)((unsigned)rand_r(&seed) % (unsigned)count);
}

static void random_name(char *name)
{
    int32_t length = some(3) == 0 ? some(PLAN_NAME_BYTES) : 0;
    for (int32_t i = 0; i < length; i++)
        name[i] = (char)(some(255) + 1);
}

static int32_t random_int(void)
{
    return some(2) ? PLAN_ANY : some(2) ? some(1000) - 10 : INT32_MAX;
}

static struct plan_step random_step(void)
{
    struct plan_step step = plan_step_default((enum plan_action)some(ACTION_COUNT));
    struct plan_condition *when = &step.when;
    when->event = (enum plan_event)some(EVENT_COUNT);
    when->rank = random_int();
    when->incarnation = random_int();
    when->peer = random_int();
    when->tag = random_int();
    when->comm = some(2) ? 0 : (uint32_t)some(INT32_MAX) * 2u + 1u;
    when->epoch = some(2) ? -1 : some(2) ? some(100) : INT64_MAX;
    when->nth = some(2) ? 1 : 1 + (uint64_t)some(1000000) * (uint64_t)some(1000000);
    when->level = (uint8_t)some(2);
    when->position = (uint8_t)some(step.action == ACTION_KILL ? 3 : 2);
    random_name(when->call);
    random_name(when->name);
    if (step.action == ACTION_KILL)
        step.victims = 1 + (uint32_t)some(PLAN_MAX_VICTIMS);
    for (uint32_t i = 0; i < step.victims; i++)
        step.victim[i] = some(2000);
    return step;
}

static void test_round_trip(void)
{
    unsigned good = 0;
    for (unsigned i = 0; i < RANDOM_STEPS; i++) {
        struct plan_step step = random_step();
        struct plan_step back;
        char line[LINE_BYTES];
        struct error error = {OK, ""};
        size_t length = plan_step_print(&step, line, sizeof line);
        if (length < sizeof line && strchr(line, '\n') == NULL &&
            plan_step_parse(line, &back, &error) == OK && same(&step, &back))
            good++;
        else
            printf("# %s\n# %s\n", line, error.text);
    }
    check(good == RANDOM_STEPS, "%d random steps survive print and parse", RANDOM_STEPS);
}

/* --- what is wrong --------------------------------------------------------------------------- */
static void refuse(const char *line, const char *first, const char *second)
{
    struct error error = {OK, ""};
    struct plan_step step = plan_step_default(ACTION_AWAIT);
    struct plan_step before = step;
    bool refused = plan_step_parse(line, &step, &error) == ERROR_FORMAT && same(&step, &before);
    check(refused && strstr(error.text, first) != NULL && strstr(error.text, second) != NULL,
          "%s: %s", line, error.text);
}

static void test_errors(void)
{
    refuse("kil victims=1", "unknown action \"kil\"; did you mean \"kill\"?", "await, kill");
    refuse("", "unknown action", "await, kill");
    refuse("kill event=send", "victims", "1,2");
    refuse("await victims=1", "victims", "await");
    refuse("await evnt=send", "did you mean \"event\"?", "incarnation");
    refuse("await event=sent", "did you mean \"send\"?", "stop-log");
    refuse("await event", "event", "needs a value");
    refuse("await event=send event=recv", "event", "twice");
    refuse("await rank=1x", "rank", "whole numbers");
    refuse("await rank=", "rank", "whole numbers");
    refuse("await rank=4294967297", "rank", "2147483647");
    refuse("await nth=0", "nth", "from 1");
    refuse("await epoch=-2", "epoch", "from -1");
    refuse("await level=wired", "did you mean \"wire\"?", "app, wire");
    refuse("await position=inside", "position", "before, after");
    refuse("kill victims=1 position=midst", "position", "before, after, inside");
    refuse("kill victims=1,,2", "victims", "whole numbers");
    refuse("kill victims=-1", "victims", "from 0");
    refuse("await name=\"x", "name", "no closing quote");
    refuse("await name=\"x\"y", "name", "blank");
    refuse("await name=\"\\q\"", "name", "accepted are");
    refuse("await name=\"\\x00\"", "name", "accepted are");
    refuse("await name=0123456789012345678901234567890123456789012345678901234567890123", "name",
           "at most 63 bytes");
    char line[LINE_BYTES] = "kill victims=0";
    for (unsigned i = 0; i < PLAN_MAX_VICTIMS; i++)
        strcat(line, ",1");
    refuse(line, "victims", "at most 64");
}

/* --- files ----------------------------------------------------------------------------------- */
static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void test_files(const char *folder)
{
    char path[128];
    struct plan plan, back;
    struct error error;
    snprintf(path, sizeof path, "%s/plan", folder);
    plan_init(&plan);
    bool added = true;
    for (unsigned i = 0; i < PLAN_MAX_STEPS; i++) {
        struct plan_step step = random_step();
        added &= plan_add(&plan, &step, NULL) == OK;
    }
    struct plan_step step = plan_step_default(ACTION_AWAIT);
    check(added && plan_add(&plan, &step, &error) == ERROR_LIMIT && plan.count == PLAN_MAX_STEPS,
          "one step too many: %s", error.text);
    bool good = plan_write(path, &plan, &error) == OK && plan_read(path, &back, &error) == OK &&
                back.count == plan.count;
    for (size_t i = 0; good && i < plan.count; i++)
        good = same(&plan.steps[i], &back.steps[i]);
    check(good, "a full plan survives write and read");
    plan_release(&plan);
    plan_release(&back);
    write_text(path, "# a remark\n\n   \n  await event=send\n\t# another\nkill\n");
    check(plan_read(path, &back, &error) == ERROR_FORMAT && back.count == 0 &&
              strstr(error.text, "/plan:6: kill needs field \"victims\"") != NULL,
          "an error names path and line: %s", error.text);
    write_text(path, "await event=send"); /* no newline at the end */
    check(plan_read(path, &back, &error) == OK && back.count == 1,
          "the last line may lack its end");
    plan_release(&back);
    unlink(path);
    check(plan_read(path, &back, &error) == ERROR_IO && strstr(error.text, path) != NULL,
          "a plan that is not there: %s", error.text);
    snprintf(path, sizeof path, "%s/no/plan", folder);
    check(plan_write(path, &back, &error) == ERROR_IO && strstr(error.text, path) != NULL,
          "a folder that is not there: %s", error.text);
}

int main(void)
{
    char folder[] = "/tmp/faultline-plan-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 1;
    test_text();
    test_round_trip();
    test_errors();
    test_files(folder);
    check(rmdir(folder) == 0, "no temporary file is left");
    return done();
}
