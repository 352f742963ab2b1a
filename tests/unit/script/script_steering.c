/* What the methods of p make of a plan: each action with its fields, what is refused and in which
 * words, and the messages that a wire file names. */
#include "scenario_file.h"

/* Loads a scenario of 4 ranks whose plan is `steps`. */
static enum error_code load_plan(const char *steps, const struct script_options *options,
                                 struct scenario_list *list, struct error *error)
{
    char text[4096];
    snprintf(text, sizeof text, PLAN("%s"), steps);
    scenario_list_init(list);
    *error = (struct error){0};
    return script_load(file_of(text, strlen(text)), options, list, error);
}

/* ---- what steps become
 * -------------------------------------------------------------------------*/

/* `lua`, and the last step of its plan as text. */
static const struct {
    const char *lua;
    const char *step;
} made[] = {
    /* conditions */
    {"p:await { state = { rank = 2, region = 'before', line = 3 } }", "await state=2:before:3"},
    {"p:await { rank = 2, region = 'logging', line = 1 }", "await state=2:logging:1"},
    {"p:await { rank = 1, event = 'send', region = 'beyond', line = 2 }",
     "await event=send rank=1 state=own:beyond:2"},
    {"p:await { event = 'deliver', state = { { rank = 2, region = 'beyond', line = 1 },"
     " { rank = 0, blocked = 'MPI_Recv' }, { blocked = 'MPI_Comm_dup' } } }",
     "await event=deliver position=after state=2:beyond:1 state=0:blocked:MPI_Recv "
     "state=own:blocked:MPI_Comm_dup"},
    {"p:await { rank = 1, state = { blocked = 'MPI_Wait' } }", "await state=1:blocked:MPI_Wait"},
    {"p:await { event = 'phase', name = 'x', within = 'commit_line' }",
     "await event=phase name=x within=commit_line"},
    {"p:await { event = 'logged', rank = 1, peer = 2, tag = 3, comm = 'world', epoch = 4 }",
     "await event=logged rank=1 peer=2 tag=3 comm=0x1 epoch=4"},
    {"p:await { event = 'recorded', rank = 1, peer = 2, tag = 3, comm = 'world', epoch = 4 }",
     "await event=recorded rank=1 peer=2 tag=3 comm=0x1 epoch=4"},
    {"p:await { event = 'clear', rank = 1, peer = 2, epoch = 4, nth = 3 }",
     "await event=clear rank=1 peer=2 epoch=4 nth=3"},
    {"p:await { event = 'notified', rank = 1, epoch = 4 }", "await event=notified rank=1 epoch=4"},
    {"p:await { event = 'becomes', rank = 1 }", "await event=becomes rank=1"},
    {"p:await { event = 'replayed' }", "await event=replayed"},
    {"p:await { event = 'early' }", "await event=early"},
    {"p:await { event = 'suppressed' }", "await event=suppressed"},
    {"p:await { event = 'initiated', epoch = 2 }", "await event=initiated epoch=2"},
    {"p:await { event = 'ready', epoch = 2 }", "await event=ready epoch=2"},
    {"p:await { event = 'decision', name = 'dice' }", "await event=decision name=dice"},
    {"p:await { event = 'sync', file = 'line.*', position = 'after' }",
     "await event=sync file=\"line.*\" position=after"},
    /* order of steps */
    {"local a = p:await { event = 'send' } p:await { event = 'recv' }"
     " p:await { event = 'wait', after = a }",
     "await after=1 event=wait"},
    {"p:await { event = 'send' } p:kill { rank = 0, after = 'start' }",
     "kill after=start victims=0"},
    /* kill and stop */
    {"p:kill { rank = 1, event = 'unlink', file = 'a', lose = 'rank' }",
     "kill victims=1 lose=rank event=unlink rank=1 file=a"},
    {"p:kill { ranks = { 1, 2 }, at = { state = { rank = 0, blocked = 'MPI_Recv' } },"
     " lose = 'node' }",
     "kill victims=1,2 lose=node state=0:blocked:MPI_Recv"},
    {"p:kill { rank = 1, region = 'logging', line = 1 }", "kill victims=1 state=1:logging:1"},
    {"p:kill { rank = 1, event = 'send', region = 'logging', line = 1 }",
     "kill victims=1 event=send rank=1 state=own:logging:1"},
    {"p:stop { rank = 1 }", "stop victims=1"},
    {"p:stop { rank = 1, event = 'recv', nth = 2, ms = 7 }",
     "stop victims=1 ms=7 event=recv rank=1 nth=2"},
    {"p:stop { ranks = { 0, 2 }, at = { event = 'commit', epoch = 1 }, attempt = true,"
     " release = { rank = 1, event = 'checkpoint', epoch = 2 } }",
     "stop victims=0,2 attempt=yes event=commit epoch=1 release.event=checkpoint"
     " release.rank=1 release.epoch=2"},
    /* messages */
    {"p:hold { from = 0, to = 1, tag = 5, nth = 2 }", "hold event=send rank=0 peer=1 tag=5 nth=2"},
    {"p:quiet { rank = 1, event = 'commit', epoch = 2 }", "quiet event=commit rank=1 epoch=2"},
    {"p:quiet {}", "quiet"},
    {"p:hold { rank = 0, peer = 1, level = 'wire', call = 'MPI_Isend', count = 3 }",
     "hold count=3 event=send rank=0 call=MPI_Isend peer=1 level=wire"},
    {"p:hold { tags_apart = true, attempt = true, ms = 5,"
     " release = { state = { rank = 2, region = 'beyond', line = 1 } } }",
     "hold tags_apart=yes attempt=yes ms=5 event=send release.state=2:beyond:1"},
    {"p:hold { to = 1, order = { 2, 3, 1 } }", "hold count=3 order=2,3,1 event=send peer=1"},
    {"local h = p:hold { from = 0 } p:await { event = 'recv' } p:release(h)", "release target=1"},
    {"local h = p:stop { rank = 0 } p:release(h, { rank = 1, event = 'send', after = 'start' })",
     "release after=start target=1 event=send rank=1"},
    {"p:delay { from = 0, ms = 5 }", "hold ms=5 event=send rank=0"},
    {"p:delay { from = 0, events = 4, tag = 1, count = 2 }",
     "hold count=2 event=send rank=0 tag=1 release.event=call release.rank=0 release.nth=4"},
    {"p:reorder { to = 1, count = 3 }", "hold count=3 order=3,2,1 event=send peer=1"},
    {"p:reorder { to = 1, order = { 3, 1, 2 } }", "hold count=3 order=3,1,2 event=send peer=1"},
    {"p:reorder { from = 0, to = 1, comm = 'world', tags_apart = true, count = 2 }",
     "hold count=2 order=2,1 tags_apart=yes event=send rank=0 peer=1 comm=0x1"},
    /* choices */
    {"p:choose { rank = 0, nth = 3, source = 2 }", "choose choice=2 event=recv rank=0 nth=3"},
    {"p:choose { rank = 0, call = 'MPI_Iprobe', source = 2, tag = 7 }",
     "choose choice=2 choice_tag=7 event=probe rank=0 call=MPI_Iprobe"},
    {"p:choose { source = 1, tag = 8, at = { rank = 0, event = 'recv', tag = 7, nth = 2 } }",
     "choose choice=1 choice_tag=8 event=recv rank=0 tag=7 nth=2"},
    {"p:answer { rank = 0, call = 'MPI_Test', answer = false, times = 3, nth = 2 }",
     "answer count=3 event=wait rank=0 call=MPI_Test nth=2"},
    {"p:answer { call = 'MPI_Testall', answer = true }",
     "answer choice=1 event=wait call=MPI_Testall"},
    {"p:answer { call = 'MPI_Iprobe', peer = 1, answer = true }",
     "answer choice=1 event=probe call=MPI_Iprobe peer=1"},
    {"p:answer { call = 'MPI_Improbe', answer = false }", "answer event=probe call=MPI_Improbe"},
    {"p:answer { call = 'MPI_Waitany', answer = 2 }",
     "answer choice=2 order=2 event=wait call=MPI_Waitany"},
    {"p:answer { call = 'MPI_Testany', answer = 0 }", "answer order=0 event=wait call=MPI_Testany"},
    {"p:answer { call = 'MPI_Testany', answer = false }", "answer event=wait call=MPI_Testany"},
    {"p:answer { call = 'MPI_Waitsome', answer = { 2, 0 } }",
     "answer order=2,0 event=wait call=MPI_Waitsome"},
    {"p:answer { call = 'MPI_Testsome', answer = { 1 } }",
     "answer order=1 event=wait call=MPI_Testsome"},
    {"p:answer { call = 'MPI_Testsome', answer = false }", "answer event=wait call=MPI_Testsome"},
    /* the checkpoint store */
    {"p:fail { rank = 1, event = 'write', file = 'commit*', nth = 2, error = 'ENOSPC' }",
     "fail choice=28 event=write rank=1 file=\"commit*\" nth=2"},
    {"p:fail { event = 'sync', error = 'EIO' }", "fail choice=5 event=sync"},
    {"p:fail { event = 'open', error = 'EACCES' }", "fail choice=13 event=open"},
    {"p:fail { event = 'rename', error = 'EROFS' }", "fail choice=30 event=rename"},
    {"p:fail { event = 'unlink', error = 'EBUSY' }", "fail choice=16 event=unlink"},
    {"p:short { rank = 1, bytes = 10 }", "short count=10 event=write rank=1"},
    {"p:short { rank = 1, bytes = 0 }", "short count=0 event=write rank=1"},
    {"p:tear { rank = 1, bytes = 10, lose = 'node' }",
     "tear count=10 lose=node event=write rank=1"},
};

static void check_step(const struct plan *plan, const char *want)
{
    char text[1024], again[1024];
    struct plan_step step;
    struct error error = {0};
    size_t length = plan_step_print(&plan->steps[plan->count - 1], text, sizeof text);
    check(length < sizeof text && strcmp(text, want) == 0, "%s", want);
    if (strcmp(text, want) != 0)
        printf("# got: %s\n", text);
    enum error_code code = plan_step_parse(text, &step, &error);
    if (check(code == OK, "  and a plan may say so %s", error.text)) {
        plan_step_print(&step, again, sizeof again);
        check(strcmp(text, again) == 0, "  and says the same");
    }
}

static void test_steps(void)
{
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        struct scenario_list list;
        struct error error;
        if (load_plan(made[i].lua, &script_options_default, &list, &error) != OK)
            check(false, "%s: %s", made[i].lua, error.text);
        else {
            check_step(&list.scenario[0].plan, made[i].step);
            check(plan_check(&list.scenario[0].plan, &error) == OK, "  in its place");
        }
        scenario_list_release(&list);
    }
}

/* ---- what is refused
 * ---------------------------------------------------------------------------*/

static const struct refusal refusals[] = {
    /* conditions */
    {PLAN("p:await { event = 'sned' }"), 2, {"\"sned\" is not known", "did you mean \"send\""}},
    {PLAN("p:await { rank = 1, regoin = 'logging' }"), 2, {"did you mean \"region\""}},
    {PLAN("p:await { rank = 1, region = 'loging', line = 1 }"),
     2,
     {"did you mean \"logging\"", "before, logging, beyond"}},
    {PLAN("p:await { rank = 1, region = 'logging' }"), 2, {"\"region\" needs \"line\""}},
    {PLAN("p:await { rank = 1, event = 'send', line = 1 }"),
     2,
     {"\"line\" needs \"region\"", "before, logging, beyond"}},
    {PLAN("p:await { rank = 1, region = 'logging', line = 0 }"), 2, {"\"line\"", "1 or more"}},
    {PLAN("p:await { region = 'logging', line = 1 }"), 2, {"whose state is meant", "\"rank\""}},
    {PLAN("p:await { state = 3 }"), 2, {"\"state\"", "not 3"}},
    {PLAN("p:await { state = {} }"), 2, {"asks for nothing", "region with line, blocked"}},
    {PLAN("p:await { state = { rank = 1 } }"), 2, {"asks for nothing"}},
    {PLAN("p:await { state = { { rank = 4, blocked = 'MPI_Recv' } } }"),
     2,
     {"field \"state\", entry 1: field \"rank\"", "0 to 3"}},
    {PLAN("p:await { state = { { rank = 1, blockd = 'MPI_Recv' } } }"),
     2,
     {"did you mean \"blocked\""}},
    {PLAN("p:await { state = { rank = 1, blocked = 'MPI_Rcev' } }"),
     2,
     {"did you mean \"MPI_Recv\""}},
    {PLAN("p:await { state = { rank = 1, blocked = 'MPI_Irecv' } }"), 2, {"does not wait"}},
    {PLAN("local s = { rank = 1, blocked = 'MPI_Recv' } p:await { state = { s, s, s, s, s } }"),
     2,
     {"1 to 4 entries", "not 5"}},
    {PLAN("local s = { rank = 1, blocked = 'MPI_Recv' }"
          " p:await { rank = 1, region = 'before', line = 1, state = { s, s, s, s } }"),
     2,
     {"at most 4 states", "\"region\" included"}},
    {PLAN("p:await { rank = 1, nth = 2, state = { blocked = 'MPI_Recv' } }"),
     2,
     {"\"nth\" needs an event"}},
    {PLAN("p:await { within = 'f', state = { rank = 1, blocked = 'MPI_Recv' } }"),
     2,
     {"\"within\" needs an event"}},
    {PLAN("p:await { event = 'send', file = 'x' }"), 2, {"\"file\" says nothing", "rename"}},
    {PLAN("p:await { event = 'write', tag = 1 }"), 2, {"\"tag\" says nothing"}},
    {PLAN("p:await { event = 'write', level = 'wire' }"), 2, {"\"level\" says nothing"}},
    {PLAN("p:quiet {} p:jitter { ms = 1 }"), 2, {"jitter: it comes after quiet"}},
    {PLAN("p:quiet { ms = 1 }"), 2, {"unknown field \"ms\""}},
    {PLAN("p:await { event = 'ready', peer = 1 }"), 2, {"\"peer\" says nothing", "logged"}},
    {PLAN("p:await { event = 'clear', tag = 1 }"), 2, {"\"tag\" says nothing", "recorded"}},
    {PLAN("p:await { event = 'notified', peer = 1 }"), 2, {"\"peer\" says nothing", "clear"}},
    {PLAN("p:await { event = 'becomes', epoch = 1 }"), 2, {"\"epoch\" says nothing"}},
    {PLAN("p:await { event = 'logged', position = 'after' }"), 2, {"\"position\" says nothing"}},
    {PLAN("p:await { event = 'send', within = ('x'):rep(64) }"), 2, {"\"within\"", "at most 63"}},
    /* order of steps */
    {PLAN("p:await { event = 'send', after = 1 }"), 2, {"\"after\"", "\"start\"", "not 1"}},
    {PLAN("p:await { event = 'send', after = 'begin' }"), 2, {"\"after\"", "not \"begin\""}},
    {PLAN("p:await { event = 'send', after = {} }"), 2, {"\"after\"", "a method of p"}},
    {"local h\nfor i = 1, 2 do scenario('a' .. i) { " JOB "ranks = 4, plan = function(p)\n"
     "h = p:await { event = 'send', after = h } end } end",
     3,
     {"scenario \"a2\"", "\"after\""}},
    {PLAN("local h = p:hold {} p:await { event = 'send', at = {} }"), 2, {"unknown field \"at\""}},
    /* kill and stop */
    {PLAN("p:kill { rank = 1, lose = 'disk' }"), 2, {"\"lose\"", "rank, node"}},
    {PLAN("p:stop { rank = 1, lose = 'rank' }"), 2, {"unknown field \"lose\""}},
    {PLAN("p:stop {}"), 2, {"who is stopped", "0 to 3"}},
    {PLAN("p:stop { rank = 1, event = 'send', position = 'inside' }"),
     2,
     {"\"inside\" is for kill"}},
    {PLAN("p:stop { rank = 1, ms = 0 }"), 2, {"\"ms\"", "1 to 3600000"}},
    {PLAN("p:stop { rank = 1, release = {} }"), 2, {"stop: release: ", "\"event\" is missing"}},
    {PLAN("p:stop { rank = 1, release = { rank = 9, event = 'send' } }"),
     2,
     {"stop: release: field \"rank\"", "not 9"}},
    {PLAN("p:stop { rank = 1, region = 'before', line = 1, at = { event = 'send' } }"),
     2,
     {"\"at\"", "(\"state\")", "exclude each other"}},
    /* messages */
    {PLAN("p:hodl {}"), 2, {"\"hodl\"", "did you mean \"hold\""}},
    {PLAN("p:hold { event = 'recv' }"), 2, {"not done to \"recv\"", "accepted: send"}},
    {PLAN("p:hold { call = 'MPI_Recv' }"), 2, {"MPI_Recv is never event \"send\""}},
    {PLAN("p:hold { rank = 0, from = 0 }"), 2, {"\"rank\" and \"from\" mean the same"}},
    {PLAN("p:hold { peer = 0, to = 0 }"), 2, {"\"peer\" and \"to\" mean the same"}},
    {PLAN("p:hold { from = 0, too = 1 }"), 2, {"\"too\"", "did you mean \"to\""}},
    {PLAN("p:hold { position = 'after' }"), 2, {"unknown field \"position\""}},
    {PLAN("p:hold { tags_apart = 1 }"), 2, {"\"tags_apart\"", "true or false", "not 1"}},
    {PLAN("p:hold { count = 0 }"), 2, {"\"count\"", "not 0"}},
    {PLAN("p:hold { order = 3 }"), 2, {"\"order\"", "{ 3, 1, 2 }", "not 3"}},
    {PLAN("p:hold { order = 'revrese', count = 2 }"), 2, {"did you mean \"reverse\""}},
    {PLAN("p:hold { order = { 1, 2, 2 } }"), 2, {"each of 1 to 3 must stand once"}},
    {PLAN("p:hold { order = { 1, 2, 4 } }"), 2, {"each of 1 to 3 must stand once"}},
    {PLAN("p:hold { order = { 2, 1 }, count = 3 }"), 2, {"2 entries for count = 3"}},
    {PLAN("p:reorder { to = 1 }"), 2, {"\"count\"", "2 to 64", "not nothing"}},
    {PLAN("p:reorder { to = 1, count = 65 }"), 2, {"\"count\"", "2 to 64", "not 65"}},
    {PLAN("p:reorder { from = 0, to = 1, comm = 'world', count = 2 }"),
     2,
     {"cannot overtake", "tags_apart = true"}},
    {PLAN("p:delay { from = 0 }"), 2, {"one of \"ms\"", "\"events\""}},
    {PLAN("p:delay { from = 0, ms = 1, events = 1 }"), 2, {"one of \"ms\""}},
    {PLAN("p:delay { to = 0, events = 1 }"), 2, {"whose MPI calls", "\"rank\""}},
    {PLAN("p:release()"), 2, {"release: a step that hold, delay", "not nothing"}},
    {PLAN("p:release { rank = 1 }"), 2, {"release: a step that hold, delay"}},
    {PLAN("p:release(p:await { event = 'send' })"), 2, {"step 1 is await", "keeps nothing"}},
    {PLAN("p:release(p:hold {}, { nth = 1 })"), 2, {"release: field \"nth\" needs an event"}},
    {PLAN("p:release(p:hold {}, {}, {})"), 2, {"one table is expected after the step"}},
    {PLAN("p:hold({}, {})"), 2, {"hold: one table is expected"}},
    {PLAN("p.release(p:hold {})"), 2, {"with a colon"}},
    /* choices */
    {PLAN("p:choose { rank = 0 }"), 2, {"\"source\" is missing", "0 to 3"}},
    {PLAN("p:choose { rank = 0, source = 4 }"), 2, {"\"source\"", "0 to 3", "not 4"}},
    {PLAN("p:choose { rank = 0, event = 'send', source = 1 }"),
     2,
     {"not done to \"send\"", "recv, probe"}},
    {PLAN("p:choose { source = 1, at = { rank = 0, event = 'wait' } }"),
     2,
     {"choose: at: ", "not done to \"wait\""}},
    {PLAN("p:choose { source = 1, at = { state = { rank = 0, blocked = 'MPI_Recv' } } }"),
     2,
     {"choose: at: ", "\"event\" is missing", "recv, probe"}},
    {PLAN("p:answer { answer = true }"), 2, {"\"call\" is missing", "MPI_Test"}},
    {PLAN("p:answer { call = 'MPI_Test' }"), 2, {"\"answer\" is missing"}},
    {PLAN("p:answer { call = 'MPI_Wait', answer = true }"),
     2,
     {"MPI_Wait has no answer", "MPI_Testsome, MPI_Waitany"}},
    {PLAN("p:answer { call = 'MPI_Test', answer = 1 }"),
     2,
     {"of MPI_Test", "true or false", "not 1"}},
    {PLAN("p:answer { call = 'MPI_Waitany', answer = false }"),
     2,
     {"of MPI_Waitany", "the index of a request", "not false"}},
    {PLAN("p:answer { call = 'MPI_Testany', answer = true }"), 2, {"false or the index"}},
    {PLAN("p:answer { call = 'MPI_Waitsome', answer = 1 }"), 2, {"a list of indices"}},
    {PLAN("p:answer { call = 'MPI_Waitsome', answer = {} }"), 2, {"1 to 64 entries"}},
    {PLAN("p:answer { call = 'MPI_Waitany', answer = -1 }"), 2, {"\"answer\"", "not -1"}},
    {PLAN("p:answer { call = 'MPI_Test', answer = true, times = 2 }"),
     2,
     {"\"times\"", "a false answer"}},
    {PLAN("p:answer { call = 'MPI_Test', peer = 1, answer = true }"), 2, {"\"peer\" says nothing"}},
    {PLAN("p:answer { call = 'MPI_Waitsome', answer = { 2, 0, 2 } }"), 2, {"index 2 stands twice"}},
    {PLAN("p:jitter {}"), 2, {"\"ms\" is missing"}},
    {PLAN("p:jitter { ms = 3, rank = 1 }"), 2, {"unknown field \"rank\"", "accepted: after, ms"}},
    /* the checkpoint store */
    {PLAN("p:fail { error = 'EIO' }"), 2, {"\"event\" is missing", "open, write, sync"}},
    {PLAN("p:fail { event = 'send', error = 'EIO' }"), 2, {"not done to \"send\"", "open, write"}},
    {PLAN("p:fail { event = 'write' }"), 2, {"\"error\" is missing", "ENOSPC"}},
    {PLAN("p:fail { event = 'write', error = 'ENOPSC' }"), 2, {"did you mean \"ENOSPC\""}},
    {PLAN("p:fail { event = 'write', error = 'EIO', bytes = 1 }"), 2, {"unknown field \"bytes\""}},
    {PLAN("p:short { rank = 1 }"), 2, {"\"bytes\" is missing"}},
    {PLAN("p:short { event = 'sync', bytes = 1 }"), 2, {"accepted: write"}},
    {PLAN("p:short { bytes = 1, lose = 'rank' }"), 2, {"unknown field \"lose\""}},
    {PLAN("p:tear { bytes = -1 }"), 2, {"\"bytes\"", "not -1"}},
    {PLAN("p:tear { bytes = 1, position = 'after' }"), 2, {"unknown field \"position\""}},
};

static void test_refusals(void)
{
    check_refusals(refusals, sizeof refusals / sizeof refusals[0], &script_options_default);
}

/* ---- the ranks in force
 * ------------------------------------------------------------------------*/

static void test_ranks(void)
{
    struct script_options options = script_options_default;
    struct scenario_list list;
    struct error error;
    options.ranks = 7;
    if (check(load_plan("p:kill { rank = p.ranks - 1 }", &options, &list, &error) == OK,
              "other ranks than the scenario says: %s", error.text))
        check(list.scenario[0].ranks == 7 && list.scenario[0].plan.steps[0].victim[0] == 6,
              "they are those of p.ranks and of the scenario");
    scenario_list_release(&list);
    options.ranks = 2;
    check(load_plan("p:kill { rank = 3 }", &options, &list, &error) == ERROR_USAGE &&
              strstr(error.text, "0 to 1 (ranks = 2)") != NULL,
          "a rank that there is not then is refused");
    scenario_list_release(&list);
}

/* ---- drawn orders
 * ------------------------------------------------------------------------------*/

/* The text of the whole plan; static. */
static const char *plan_text(const char *steps, uint64_t seed)
{
    static char texts[4][4096];
    static unsigned calls;
    char *text = texts[calls++ % 4];
    struct script_options options = seeded(seed);
    struct scenario_list list;
    struct error error;
    size_t used = 0;
    text[0] = '\0';
    if (load_plan(steps, &options, &list, &error) != OK)
        snprintf(text, sizeof texts[0], "%s", error.text);
    for (size_t i = 0; i < list.count && i < 1; i++)
        for (size_t k = 0; k < list.scenario[i].plan.count && used < sizeof texts[0]; k++)
            used += plan_step_print(&list.scenario[i].plan.steps[k], text + used,
                                    sizeof texts[0] - used);
    scenario_list_release(&list);
    return text;
}

static void test_drawn(void)
{
    static const char random_order[] = "p:reorder { to = 1, count = 30, order = 'random' }";
    static const char jitter[] = "p:jitter { ms = 3 }";
    check(strcmp(plan_text(random_order, 1), plan_text(random_order, 1)) == 0 &&
              strcmp(plan_text(jitter, 1), plan_text(jitter, 1)) == 0,
          "the same seed gives the same order and jitter");
    check(strcmp(plan_text(random_order, 1), plan_text(random_order, 2)) != 0, "another order");
    check(strcmp(plan_text(jitter, 1), plan_text(jitter, 2)) != 0, "another jitter: %s",
          plan_text(jitter, 1));
    check(strcmp(plan_text("p:jitter { ms = 3 } p:jitter { ms = 3 }", 1),
                 plan_text("p:jitter { ms = 3 } p:jitter { ms = 3 } ", 1)) == 0 &&
              strstr(plan_text("p:jitter { ms = 3 } p:jitter { ms = 3 }", 1),
                     plan_text(jitter, 1)) != NULL,
          "a step more does not move those before it");
    static const char draw[] = "p:await { event = 'send', tag = math.random(0, 1000000) }";
    char both[256];
    snprintf(both, sizeof both, "%s %s", random_order, draw);
    const char *alone = plan_text(draw, 1);
    const char *after = plan_text(both, 1);
    check(strlen(after) > strlen(alone) &&
              strcmp(after + strlen(after) - strlen(alone), alone) == 0,
          "nor math.random of the plan");
}

/* ---- messages of a protocol
 * --------------------------------------------------------------------*/

/* Protocol "x" has the file x.wire.lua here; "gone" does not exist. */
static enum error_code wire_file(const char *protocol, const char *scenario_file, char *path,
                                 size_t bytes, struct error *error)
{
    if (strcmp(protocol, "gone") == 0 || strstr(scenario_file, "test.lua") == NULL)
        return error_set(error, ERROR_USAGE, "there is no protocol \"%s\"", protocol);
    snprintf(path, bytes, "%s/%s.wire.lua", folder, protocol);
    return OK;
}

static struct script_options with_wires(void)
{
    struct script_options options = script_options_default;
    options.wire_file = wire_file;
    return options;
}

static void check_wires(const struct plan *plan)
{
    static const char *const want[] = {
        "wire name=pleaseCheckpoint comm=world#1 tag=1 key_at=8 key=3 epoch_at=0",
        "wire name=stopLogging comm=0x1 tag=2",
    };
    char text[PLAN_WIRE_BYTES];
    if (!check(plan->wires == 2, "the messages that the plan names are in it, once each"))
        return;
    for (size_t i = 0; i < 2; i++) {
        message_pattern_print(&plan->wire[i], text, sizeof text);
        if (!check(strcmp(text, want[i]) == 0, "%s", want[i]))
            printf("# got: %s\n", text);
    }
}

/* What the program's messages go in is known to a plan that keeps one of those, and only to such.
 */
static void check_carrying(const struct script_options *options)
{
    static const char wire[] = "wire { packet = { tag = 7, carries = true }, other = { tag = 8 } }";
    static const char *const plans[] = {"p:hold { from = 0, to = 1 }",
                                        "p:hold { from = 0, to = 1, level = 'wire' }",
                                        "p:await { event = 'send' }"};
    struct scenario_list list;
    struct error error = {OK, ""};
    file_named("x.wire.lua", wire, sizeof wire - 1);
    for (size_t i = 0; i < 3; i++) {
        enum error_code code = load_plan(plans[i], options, &list, &error);
        size_t wires = i == 0 ? 1 : 0;
        check(code == OK && list.scenario[0].plan.wires == wires &&
                  (wires == 0 || list.scenario[0].plan.wire[0].carries),
              "%s: %zu messages that carry are in it: %s", plans[i], wires, error.text);
        scenario_list_release(&list);
    }
}

static void test_wires(void)
{
    static const char wire[] =
        "wire {\n"
        "  stopLogging = { comm = 'world', tag = 2 },\n"
        "  unused = { comm = 'world#3' },\n"
        "  pleaseCheckpoint = { comm = 'world#1', tag = 1, epoch = { at = 0, type = 'u64' },\n"
        "    where = { at = 8, type = 'u32', equals = 3 } },\n"
        "}\n";
    struct script_options options = with_wires();
    struct scenario_list list;
    struct error error;
    file_named("x.wire.lua", wire, sizeof wire - 1);
    enum error_code code =
        load_plan("p:await { rank = 1, event = 'deliver', message = 'pleaseCheckpoint', epoch = 2 }"
                  "p:hold { message = 'pleaseCheckpoint', release = { event = 'send', message = "
                  "'stopLogging' } }",
                  &options, &list, &error);
    if (check(code == OK, "messages by name: %s", error.text)) {
        check_wires(&list.scenario[0].plan);
        const struct plan_condition *when = &list.scenario[0].plan.steps[0].when;
        check(when->level == 1 && when->epoch == 2 &&
                  strcmp(when->message, "pleaseCheckpoint") == 0,
              "seen at the wire level");
        check(plan_check(&list.scenario[0].plan, &error) == OK, "a plan may say so");
    }
    scenario_list_release(&list);
    options.all_wires = true;
    code = load_plan("p:await { event = 'send' }", &options, &list, &error);
    check(code == OK && list.scenario[0].plan.wires == 3, "asked for, all messages are in it");
    scenario_list_release(&list);
    options.all_wires = false;
    static const struct refusal wrong[] = {
        {PLAN("p:await { event = 'send', message = 'pleaseChekpoint' }"),
         2,
         {"has no message \"pleaseChekpoint\"", "did you mean \"pleaseCheckpoint\"",
          "accepted: pleaseCheckpoint, stopLogging, unused"}},
        {PLAN("p:await { event = 'send', message = 'stopLogging', level = 'app' }"),
         2,
         {"level = \"wire\" only"}},
        {PLAN("p:await { event = 'send', message = 'stopLogging', epoch = 1 }"),
         2,
         {"does not say where \"stopLogging\" holds it"}},
        {PLAN("p:await { event = 'send', epoch = 1 }"), 2, {"without \"message\""}},
        {PLAN("p:await { event = 'recv', message = 'stopLogging' }"),
         2,
         {"\"message\" says nothing", "deliver, send"}},
        {PLAN("p:await { message = 'stopLogging' }"), 2, {"\"message\" needs an event"}},
        {"scenario 'a' { protocol = 'gone', program = 'y', ranks = 1, plan = function(p)\n"
         "p:await { event = 'send', message = 'a' } end }",
         2,
         {"there is no protocol \"gone\""}},
        {"scenario 'a' { protocol = 'mute', program = 'y', ranks = 1, plan = function(p)\n"
         "p:await { event = 'send', message = 'a' } end }",
         2,
         {"\"mute\" names no messages", "mute.wire.lua"}},
    };
    check_refusals(wrong, sizeof wrong / sizeof wrong[0], &options);
    check_carrying(&options);
}

/* Wire files that are wrong. `says` comes after "x.wire.lua:". */
static const struct {
    const char *text;
    const char *says[2];
} wrong_wires[] = {
    {"wire {", {"1: unexpected symbol near <eof>", NULL}},
    {"\nwire(3)", {"2: wire: a table { ... } is expected, not 3", NULL}},
    {"wire { 3 }", {"1: 1: a message has a name", NULL}},
    {"wire { a = 3 }", {"1: message \"a\": a table { ... } is expected, not 3", NULL}},
    {"wire { a = {} }", {"1: message \"a\": nothing tells it", "comm, tag, where"}},
    {"wire { a = { tga = 1 } }", {"unknown field \"tga\" (did you mean \"tag\"?)", NULL}},
    {"wire { a = { tag = -1 } }", {"message \"a\": field \"tag\"", "not -1"}},
    {"wire { a = { comm = 'world#0' } }", {"field \"comm\"", "not 0"}},
    {"wire { a = { comm = 'word' } }", {"field \"comm\"", "\"world\""}},
    {"wire { a = { tag = 1, epoch = 3 } }", {"field \"epoch\": a table", NULL}},
    {"wire { a = { tag = 1, epoch = { at = 0 } } }",
     {"\"type\" is missing: u16, u32, u64, u8", NULL}},
    {"wire { a = { tag = 1, epoch = { at = 0, type = 'i32' } } }",
     {"\"type\"", "u16, u32, u64, u8"}},
    {"wire { a = { tag = 1, epoch = { type = 'u8' } } }", {"\"at\" is missing", "offset"}},
    {"wire { a = { tag = 1, epoch = { at = 0, type = 'u8', equals = 1 } } }",
     {"unknown field \"equals\"", NULL}},
    {"wire { a = { where = { at = 0, type = 'u8' } } }", {"\"equals\" is missing", NULL}},
    {"wire { a = { where = { at = 0, type = 'u8', equals = 256 } } }",
     {"from 0 to 255", "not 256"}},
    {"wire { a = { where = { at = 4089, type = 'u8', equals = 1 } } }", {"from 0 to 4088", NULL}},
    {"wire { a = { tag = 1 } }\nwire { a = { tag = 2 } }",
     {"2: message \"a\": it stands twice", NULL}},
    {"wire { [('x'):rep(64)] = { tag = 1 } }", {"64 bytes; at most 63", NULL}},
    {"\n\nprint(1)", {"3: \"print\" is not available in a wire file", NULL}},
    {"tag = 1", {"1: \"tag\" cannot be set: write local tag", NULL}},
    {"local a = nil + 1", {"1: attempt to perform arithmetic", NULL}},
};

static void test_wrong_wires(void)
{
    struct script_options options = with_wires();
    for (size_t i = 0; i < sizeof wrong_wires / sizeof wrong_wires[0]; i++) {
        struct scenario_list list;
        struct error error;
        file_named("x.wire.lua", wrong_wires[i].text, strlen(wrong_wires[i].text));
        enum error_code code =
            load_plan("p:await { event = 'send', message = 'a' }", &options, &list, &error);
        bool said = strstr(error.text, "test.lua:2: ") != NULL &&
                    strstr(error.text, "/x.wire.lua:") != NULL;
        for (size_t k = 0; k < 2 && wrong_wires[i].says[k] != NULL; k++)
            said = said && strstr(error.text, wrong_wires[i].says[k]) != NULL;
        if (!check(code == ERROR_USAGE && said, "wrong wire file %zu is refused in its words", i))
            printf("# %s\n# got: %s\n", wrong_wires[i].text, error.text);
        scenario_list_release(&list);
    }
    static const char loop[] = "while true do end";
    struct scenario_list list;
    struct error error;
    file_named("x.wire.lua", loop, sizeof loop - 1);
    options.limits.instructions = 1000000;
    check(load_plan("p:await { event = 'send', message = 'a' }", &options, &list, &error) ==
              ERROR_LIMIT,
          "one that does not end ends");
    scenario_list_release(&list);
}

int main(void)
{
    if (!make_folder())
        return 1;
    test_steps();
    test_refusals();
    test_ranks();
    test_drawn();
    test_wires();
    test_wrong_wires();
    remove_folder();
    return done();
}
