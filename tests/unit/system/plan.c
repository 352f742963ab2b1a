/* The plan: its text says all of it, and what is wrong with a text is named. */
#include "plan/plan.h"
#include "plan/action.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANDOM_STEPS 5000
#define RANDOM_WIRES 1000
#define LINE_BYTES 8192

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
    check(strcmp(line, "await event=phase name=\"say \\\"go\\\" \\\\ now\\x0a\" epoch=2") == 0,
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

/* Of those that the row of the action allows. */
static enum plan_event random_event(enum plan_action action)
{
    enum plan_event event;
    do
        event = (enum plan_event)some(EVENT_COUNT);
    while (actions[action].events != 0 && (actions[action].events >> event & 1) == 0);
    return event;
}

static struct plan_state random_state(void)
{
    struct plan_state state;
    memset(&state, 0, sizeof state);
    state.rank = some(2) ? PLAN_ANY : some(1000);
    state.region = (uint8_t)some(4);
    state.line = state.region == REGION_ANY ? 0 : 1 + some(1000);
    random_name(state.blocked);
    if (state.region == REGION_ANY && state.blocked[0] == '\0')
        strcpy(state.blocked, "MPI_Recv");
    return state;
}

static void random_condition(struct plan_condition *when, enum plan_event event, int positions)
{
    when->event = event;
    when->rank = random_int();
    when->incarnation = random_int();
    when->peer = random_int();
    when->tag = random_int();
    when->comm = some(2) ? 0 : (uint32_t)some(INT32_MAX) * 2u + 1u;
    when->epoch = some(2) ? -1 : some(2) ? some(100) : INT64_MAX;
    when->nth = some(2) ? 1 : 1 + (uint64_t)some(1000000) * (uint64_t)some(1000000);
    when->level = (uint8_t)some(2);
    when->position = (uint8_t)some(positions);
    random_name(when->call);
    random_name(when->name);
    random_name(when->within);
    random_name(when->file);
    if (event == EVENT_SEND || event == EVENT_DELIVER)
        random_name(when->message);
    if (when->message[0] != '\0')
        when->level = 1;
    when->states = (uint32_t)some(PLAN_MAX_STATES + 1);
    for (uint32_t i = 0; i < when->states; i++) {
        when->state[i] = random_state();
        if (event == EVENT_NONE && when->rank == PLAN_ANY && when->state[i].rank == PLAN_ANY)
            when->state[i].rank = 0;
    }
}

/* The numbers 1 .. count in some order. */
static void random_order(struct plan_step *step)
{
    step->orders = (uint32_t)step->count;
    for (int32_t i = 0; i < (int32_t)step->orders; i++) {
        int32_t place = some(i + 1);
        step->order[i] = step->order[place];
        step->order[place] = i + 1;
    }
}

static void random_victims(struct plan_step *step)
{
    step->victims = 1 + (uint32_t)some(PLAN_MAX_VICTIMS);
    for (uint32_t i = 0; i < step->victims; i++)
        step->victim[i] = some(2000);
}

static void random_what(struct plan_step *step)
{
    switch (step->action) {
    case ACTION_KILL:
    case ACTION_STOP:
        random_victims(step);
        break;
    case ACTION_DETECT:
        random_victims(step);
        step->choice = some(2000);
        break;
    case ACTION_HOLD:
        step->count = 1 + (uint64_t)some(PLAN_MAX_VICTIMS);
        if (some(2))
            random_order(step);
        step->tags_apart = some(2) != 0;
        break;
    case ACTION_RELEASE:
        step->target = some(PLAN_MAX_STEPS);
        break;
    case ACTION_CHOOSE:
        step->choice_tag = random_int();
        step->choice = some(100) - 10;
        break;
    case ACTION_ANSWER:
        step->count = 1 + (uint64_t)some(1000);
        step->choice = some(4);
        step->orders = (uint32_t)some(5);
        for (uint32_t i = 0; i < step->orders; i++)
            step->order[i] = some(1000);
        break;
    case ACTION_JITTER:
        step->seed = (uint64_t)some(INT32_MAX) << 33 | 1;
        step->release_ms = 1 + (uint32_t)some(1000);
        break;
    case ACTION_FAIL:
        step->choice = 1 + some(100);
        break;
    default:
        if (actions[step->action].by == BY_STORE)
            step->count = (uint64_t)some(5000);
        break;
    }
}

static struct plan_step random_step(void)
{
    enum plan_action action = (enum plan_action)some(ACTION_COUNT);
    struct plan_step step = plan_step_default(action);
    random_what(&step);
    random_condition(&step.when, random_event(action),
                     action == ACTION_KILL         ? 3
                     : actions[action].events != 0 ? 1
                                                   : 2);
    step.after = some(2) ? PLAN_AFTER_PREVIOUS : some(PLAN_MAX_STEPS + 1) - 1;
    if (action == ACTION_HOLD || action == ACTION_STOP) {
        if (some(2))
            random_condition(&step.release, (enum plan_event)some(EVENT_COUNT), 2);
        step.release_ms = (uint32_t)some(3);
        step.attempt = some(2) != 0;
    }
    if (action == ACTION_KILL || action == ACTION_TEAR)
        step.lose = (uint8_t)some(4);
    return step;
}

static struct message_pattern random_wire(int number)
{
    struct message_pattern wire = message_pattern_default();
    snprintf(wire.name, sizeof wire.name, "message \"%d\"", number);
    wire.comm_nth = (uint32_t)some(3);
    wire.comm = wire.comm_nth > 0 ? 1 : (uint32_t)some(INT32_MAX) * 2u + 1u;
    wire.tag = random_int();
    wire.key_at = some(10) - 1;
    wire.key_bytes = (uint8_t)(1 << some(4));
    wire.key = (uint64_t)some(INT32_MAX) << 33 | 5;
    wire.epoch_at = some(10) - 1;
    wire.epoch_bytes = (uint8_t)(1 << some(4));
    wire.carries = some(2) == 1;
    return wire;
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
    good = 0;
    for (int i = 0; i < RANDOM_WIRES; i++) {
        struct message_pattern wire = random_wire(i), back;
        char line[PLAN_WIRE_BYTES];
        good += message_pattern_print(&wire, line, sizeof line) < sizeof line &&
                message_pattern_parse(line, &back, NULL) == OK &&
                memcmp(&wire, &back, sizeof wire) == 0;
    }
    check(good == RANDOM_WIRES, "%d random wires do as well", RANDOM_WIRES);
}

static void test_steering_text(void)
{
    struct plan_step step;
    struct error error = {OK, ""};
    char line[LINE_BYTES];
    const char *text = "hold after=2 count=3 order=3,1,2 tags_apart=yes attempt=yes ms=5 "
                       "event=send rank=0 epoch=2 level=wire message=stopLogging within=potential "
                       "state=1:beyond:2 state=own:logging:1:MPI_Recv state=2:blocked:MPI_Wait "
                       "release.event=checkpoint release.rank=1 release.state=0:before:3";
    bool good = plan_step_parse(text, &step, &error) == OK;
    plan_step_print(&step, line, sizeof line);
    check(good && strcmp(text, line) == 0, "a hold reads: %s%s", line, error.text);
    check(good && step.after == 1 && step.count == 3 && step.orders == 3 && step.order[0] == 3 &&
              step.tags_apart && step.attempt && step.release_ms == 5 && step.when.states == 3 &&
              step.when.state[1].rank == PLAN_ANY && step.when.state[1].region == REGION_LOGGING &&
              strcmp(step.when.state[2].blocked, "MPI_Wait") == 0 && step.release.rank == 1 &&
              step.release.state[0].line == 3,
          "and means what it says");
    check(plan_step_parse("await event=deliver message=x", &step, NULL) == OK &&
              step.when.level == 1,
          "a protocol's message is on the wire");
    check(plan_step_parse("kill victims=1 after=start lose=node", &step, NULL) == OK &&
              step.after == PLAN_AFTER_START && step.lose == LOSE_NODE,
          "a step may be armed from the start");
    struct message_pattern wire;
    const char *wires = "wire name=stopLogging comm=world#2 tag=3 key_at=8 key=7 epoch_at=0";
    good = message_pattern_parse(wires, &wire, &error) == OK;
    message_pattern_print(&wire, line, sizeof line);
    check(good && strcmp(line, wires) == 0 && wire.comm == 1 && wire.comm_nth == 2 &&
              wire.key_bytes == 4 && wire.epoch_bytes == 8,
          "a wire reads: %s%s", line, error.text);
}

/* --- what is wrong --------------------------------------------------------------------------- */
static void refuse_wire(const char *line, const char *first, const char *second)
{
    struct error error = {OK, ""};
    struct message_pattern wire;
    check(message_pattern_parse(line, &wire, &error) == ERROR_FORMAT &&
              strstr(error.text, first) != NULL && strstr(error.text, second) != NULL,
          "%s: %s", line, error.text);
}

static void refuse(const char *line, const char *first, const char *second)
{
    struct error error = {OK, ""};
    struct plan_step step = plan_step_default(ACTION_AWAIT);
    struct plan_step before = step;
    bool refused = plan_step_parse(line, &step, &error) == ERROR_FORMAT && same(&step, &before);
    check(refused && strstr(error.text, first) != NULL && strstr(error.text, second) != NULL,
          "%s: %s", line, error.text);
}

static void test_field_errors(void)
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
}

static void test_action_errors(void)
{
    refuse("stop event=send", "stop needs field \"victims\"", "1,2");
    refuse("hold event=recv", "event", "accepted for hold are send");
    refuse("hold", "event", "none; accepted for hold are send");
    refuse("hold event=send position=after", "position", "before");
    refuse("hold event=send count=0", "count", "from 1");
    refuse("hold event=send count=3 order=1,2", "order", "1 to 3");
    refuse("hold event=send count=3 order=1,2,2", "order", "once");
    refuse("hold event=send lose=rank", "\"lose\" belongs to kill, tear", "not to hold");
    refuse("kill victims=1 lose=disk", "unknown lose \"disk\"", "nothing, rank, node");
    refuse("kill victims=1 release.event=send", "release.*", "hold, stop");
    refuse("hold event=send release.evnt=send", "did you mean \"release.event\"?", "release.rank");
    refuse("hold event=send release.position=inside", "release.position", "before, after");
    refuse("release", "target", "from 1");
    refuse("release target=0", "target", "from 1");
    refuse("await after=0", "after", "from 1");
    refuse("jitter", "ms", "from 1");
    refuse("fail event=write", "choice", "errno");
    refuse("fail event=send choice=5", "event", "open, write, sync, rename, unlink");
    refuse("tear event=sync", "event", "accepted for tear are write");
    refuse("choose event=wait", "event", "recv, probe");
    refuse("answer event=send", "event", "wait, probe");
    refuse("await event=send tags_apart=maybe", "tags_apart", "no, yes");
    refuse("await state=1:beyond:0", "line of state", "from 1");
    refuse("await state=1:beyont:1", "did you mean \"beyond\"?", "before, logging");
    refuse("await state=1:beyond", "state", "RANK:REGION:LINE");
    refuse("await state=1:blocked:", "state", "name of a call");
    refuse("await state=x:beyond:1", "rank of state", "whole numbers");
    refuse("await state=own:beyond:1", "state", "say whose");
    refuse("await state=1:beyond:1 state=own:logging:1", "state", "say whose");
    refuse("await event=send state=1:beyond:1 state=1:beyond:1 state=1:beyond:1 state=1:beyond:1 "
           "state=1:beyond:1",
           "state", "at most 4");
    refuse("await event=send level=app message=x", "level", "wire");
    refuse("await event=wait message=x", "event", "send, deliver");
    char line[LINE_BYTES] = "kill victims=0";
    for (unsigned i = 0; i < PLAN_MAX_VICTIMS; i++)
        strcat(line, ",1");
    refuse(line, "victims", "at most 64");
}

static void test_wire_errors(void)
{
    refuse_wire("wire tag=1", "wire needs field \"name\"", "name");
    refuse_wire("wire name=x tga=1", "did you mean \"tag\"?", "key_at");
    refuse_wire("wire name=x key_bytes=3", "key_bytes", "1, 2, 4, 8");
    refuse_wire("wire name=x comm=world#0", "comm", "from 1");
    refuse_wire("wire name=x key_at=-2", "key_at", "from 0");
    refuse_wire("wires name=x", "begins with", "wire");
}

/* --- files ----------------------------------------------------------------------------------- */
static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/* One that may stand as step `index` of a plan with the random wires; step 0 is a hold. */
static struct plan_step fitting_step(int index)
{
    struct plan_step step = random_step();
    while ((index == 0) != (step.action == ACTION_HOLD) ||
           (step.action == ACTION_QUIET && index + 1 < PLAN_MAX_STEPS))
        step = random_step();
    if (step.after >= index)
        step.after = index - 1;
    if (step.action == ACTION_RELEASE)
        step.target = 0;
    if (step.when.message[0] != '\0')
        strcpy(step.when.message, "message \"5\"");
    if (step.release.message[0] != '\0')
        strcpy(step.release.message, "message \"6\"");
    memset(step.when.message + strlen(step.when.message), 0,
           sizeof step.when.message - strlen(step.when.message));
    memset(step.release.message + strlen(step.release.message), 0,
           sizeof step.release.message - strlen(step.release.message));
    return step;
}

static void test_whole(const char *folder)
{
    static const struct {
        const char *text, *first, *second;
    } wrong[] = {
        {"await\nawait after=2\n", "step 2: field \"after\": 2", "steps before"},
        {"await\nrelease target=1\n", "step 2: field \"target\": 1", "holds and stops"},
        {"release target=2\nhold event=send\n", "step 1: field \"target\": 2", "before it"},
        {"wire name=ready\nawait event=send message=raedy\n", "step 1: unknown message \"raedy\"",
         "accepted are ready"},
        {"hold event=send release.event=send release.message=x\n", "unknown message \"x\"",
         "no line \"wire\""},
        {"await event=send\nquiet\njitter ms=1\n", "step 3:", "after which nothing is done"},
        {"wire name=a\nwire name=a\n", ":2: wire a", "twice"},
    };
    char path[128];
    struct plan plan;
    snprintf(path, sizeof path, "%s/whole", folder);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error error = {OK, ""};
        write_text(path, wrong[i].text);
        check(plan_read(path, &plan, &error) == ERROR_FORMAT && plan.count == 0 &&
                  strstr(error.text, wrong[i].first) != NULL &&
                  strstr(error.text, wrong[i].second) != NULL,
              "a plan that does not hang together: %s", error.text);
    }
    write_text(path, "hold event=send message=ready\nrelease target=1 after=start\nawait\nwire "
                     "name=ready tag=1\n");
    check(plan_read(path, &plan, NULL) == OK && plan.wires == 1 && plan_after(&plan, 0) == -1 &&
              plan_after(&plan, 1) == -1 && plan_after(&plan, 2) == 1 &&
              !plan_condition_is_empty(&plan.steps[0].when) &&
              plan_condition_is_empty(&plan.steps[1].when),
          "one that does: each step knows what arms it");
    plan_release(&plan);
    unlink(path);
}

static void test_files(const char *folder)
{
    char path[128];
    struct plan plan, back;
    struct error error;
    snprintf(path, sizeof path, "%s/plan", folder);
    plan_init(&plan);
    bool added = true;
    for (int i = 0; i < PLAN_MAX_WIRES; i++) {
        struct message_pattern wire = random_wire(i);
        added &= plan_add_wire(&plan, &wire, NULL) == OK;
    }
    struct message_pattern wire = random_wire(PLAN_MAX_WIRES);
    check(added && plan_add_wire(&plan, &wire, &error) == ERROR_LIMIT, "one wire too many: %s",
          error.text);
    plan.wires--;
    check(plan_add_wire(&plan, &plan.wire[1], &error) == ERROR_FORMAT, "a wire twice: %s",
          error.text);
    plan.wires++;
    for (unsigned i = 0; i < PLAN_MAX_STEPS; i++) {
        struct plan_step step = fitting_step((int)i);
        added &= plan_add(&plan, &step, NULL) == OK;
    }
    struct plan_step step = plan_step_default(ACTION_AWAIT);
    check(added && plan_add(&plan, &step, &error) == ERROR_LIMIT && plan.count == PLAN_MAX_STEPS,
          "one step too many: %s", error.text);
    bool good = plan_write(path, &plan, &error) == OK && plan_read(path, &back, &error) == OK &&
                back.count == plan.count;
    for (size_t i = 0; good && i < plan.count; i++)
        good = same(&plan.steps[i], &back.steps[i]);
    good = good && back.wires == plan.wires && memcmp(back.wire, plan.wire, sizeof plan.wire) == 0;
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
    test_steering_text();
    test_field_errors();
    test_action_errors();
    test_wire_errors();
    test_whole(folder);
    test_files(folder);
    check(rmdir(folder) == 0, "no temporary file is left");
    return done();
}
