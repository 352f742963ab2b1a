/* Scenario files: what comes out, what is refused and how that is said, and what a script cannot
 * do. */
#include "scenario_file.h"
#include "trace/record.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_BYTES 1024

/* ---- what comes out
 * -------------------------------------------------------------------------------- */

static const struct plan_condition nothing_asked = {.rank = PLAN_ANY,
                                                    .incarnation = PLAN_ANY,
                                                    .peer = PLAN_ANY,
                                                    .tag = PLAN_ANY,
                                                    .epoch = -1,
                                                    .nth = 1};

static bool same_condition(const struct plan_condition *a, const struct plan_condition *b)
{
    return a->event == b->event && a->rank == b->rank && a->incarnation == b->incarnation &&
           a->peer == b->peer && a->tag == b->tag && a->comm == b->comm && a->epoch == b->epoch &&
           a->nth == b->nth && a->level == b->level && a->position == b->position &&
           strcmp(a->call, b->call) == 0 && strcmp(a->name, b->name) == 0;
}

static void check_steps(const struct plan *plan)
{
    if (!check(plan->count == 9, "the plan has its 9 steps"))
        return;
    struct plan_condition want[9];
    for (int i = 0; i < 9; i++)
        want[i] = nothing_asked;
    want[0].event = EVENT_CHECKPOINT, want[0].epoch = 1, want[0].rank = 2, want[0].incarnation = 0;
    want[2].event = EVENT_SEND, want[2].rank = 1, want[2].nth = 5, want[2].peer = 2;
    want[2].tag = 7, want[2].comm = COMM_WORLD_ID, want[2].level = LEVEL_WIRE;
    want[2].position = POSITION_AFTER;
    want[3].event = EVENT_RECV, want[3].rank = 0, want[3].comm = 0xa3f;
    want[4].event = EVENT_CALL, want[4].rank = 1, want[4].comm = COMM_SELF_ID;
    strcpy(want[4].call, "MPI_Isend");
    want[5].event = EVENT_COLLECTIVE, want[5].rank = 0, want[5].position = POSITION_INSIDE;
    want[6].event = EVENT_DELIVER, want[6].position = POSITION_AFTER;
    want[7].event = EVENT_PHASE, want[7].rank = 2;
    strcpy(want[7].name, "half way there");
    static const uint32_t victims[9] = {0, 1, 1, 2, 1, 1, 0, 0, 2};
    for (int i = 0; i < 9; i++) {
        const struct plan_step *step = &plan->steps[i];
        enum plan_action action = victims[i] > 0 ? ACTION_KILL : ACTION_AWAIT;
        check(step->action == action && step->victims == victims[i], "step %d: action, victims", i);
        check(same_condition(&step->when, &want[i]), "step %d: its condition", i);
    }
    check(plan->steps[3].victim[0] == 1 && plan->steps[3].victim[1] == 2, "victims by `ranks`");
    check(plan->steps[1].victim[0] == 1, "victim by `rank`");
}

static void check_everything(const struct scenario *s)
{
    check(strcmp(s->file, "tests/scenarios/plan.lua") == 0 && s->line == 2, "file and line");
    check(strcmp(s->name, "everything") == 0 && strcmp(s->protocol, "blocking") == 0 &&
              strcmp(s->program, "ring") == 0 && s->ranks == 3,
          "name, protocol, program, ranks");
    check(strcmp(s->library, "libx.so:liby.so.2") == 0 && strcmp(s->helpers, "0,2") == 0 &&
              scenario_is_helper(s, 2) && !scenario_is_helper(s, 1) && scenario_helpers(s) == 2,
          "library, helpers");
    check(strcmp(s->nodes, "1;0,2,3") == 0, "nodes");
    check(strcmp(s->stores, "scratch,global,node/ram") == 0, "stores");
    check(s->restart_ranks == 4 && scenario_ranks_in(s, 0) == 3 && scenario_ranks_in(s, 1) == 4 &&
              scenario_most_ranks(s) == 4,
          "ranks after a restart");
    check(s->file_count == 2 && strcmp(s->files[0], "a=") == 0 &&
              strcmp(s->files[1], "x.conf=every 5\n") == 0,
          "files, sorted");
    check(s->argument_count == 4 && strcmp(s->argument[0], "-n") == 0 &&
              strcmp(s->argument[1], "10") == 0 && strcmp(s->argument[2], "2.5") == 0 &&
              strcmp(s->argument[3], "") == 0,
          "arguments");
    check(s->claim_count == 2 && strcmp(s->claim[1], "B.empty") == 0, "claims");
    check(strcmp(s->result, "output\n[0-9.]+ s\n^#") == 0, "result");
    check(s->timeout_s == 2.5 && s->max_incarnations == 4, "timeout, incarnations");
    check(s->environment_count == 2 && strcmp(s->environment[0], "ANT=1") == 0 &&
              strcmp(s->environment[1], "ZEBRA=x=y z") == 0,
          "environment, sorted");
    check(s->violates != NULL && strcmp(s->violates, "B.empty") == 0, "expect.violates");
    check(s->cover_count == 2 && strcmp(s->cover[0], "H.orphan") == 0, "expect.cover");
    check_steps(&s->plan);
}

static void check_least(const struct scenario *s)
{
    check(strcmp(s->name, "least") == 0 && s->line == 30, "the second scenario of the file");
    check(s->claim_count == 1 && strcmp(s->claim[0], "H") == 0,
          "claims are H where none are given");
    check(s->plan.count == 0 && s->violates == NULL && s->cover_count == 0 && s->timeout_s == 0 &&
              s->reserve == 0 && s->result == NULL && s->library == NULL && s->helpers == NULL &&
              s->nodes == NULL && s->stores == NULL && s->restart_ranks == 0 &&
              s->file_count == 0 && s->max_incarnations == 0 && !s->survivors &&
              s->argument_count == 0 && s->environment_count == 0,
          "the rest is empty");
}

static void test_good(void)
{
    struct scenario_list list;
    struct error error = {0};
    scenario_list_init(&list);
    check(script_load("tests/scenarios/plan.lua", &script_options_default, &list, &error) == OK,
          "loads %s", error.text);
    if (check(list.count == 2, "two scenarios")) {
        check_everything(&list.scenario[0]);
        check_least(&list.scenario[1]);
    }
    check(script_load("tests/scenarios/none.lua", &script_options_default, &list, &error) ==
                  ERROR_IO &&
              list.count == 2,
          "a file that is not there leaves the list alone");
    check(strstr(error.text, "tests/scenarios/none.lua") != NULL, "%s", error.text);
    check(script_load("tests/scenarios", &script_options_default, &list, &error) == ERROR_FORMAT,
          "a folder: %s", error.text);
    check(script_load("tests/scenarios/repeatable.lua", &script_options_default, &list, &error) ==
                  OK &&
              list.count == 5,
          "a second file is appended");
    check(strcmp(list.scenario[0].name, "everything") == 0, "after what was there");
    scenario_list_release(&list);
    check(waitpid(-1, NULL, WNOHANG) == -1, "no process is left behind");
}

/* Neither a byte order mark nor a first line with '#' is Lua; lines keep their numbers. */
static void test_begin(void)
{
    static const char *const begins[] = {"# a scenario", "\xef\xbb\xbf",
                                         "\xef\xbb\xbf#!/usr/bin/env faultline"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        char text[256];
        struct scenario_list list;
        struct error error = {0};
        scenario_list_init(&list);
        int length =
            snprintf(text, sizeof text, "%s\nscenario 'a' { " JOB "ranks = 1 }", begins[i]);
        check(script_load(file_of(text, (size_t)length), &script_options_default, &list, &error) ==
                      OK &&
                  list.count == 1 && list.scenario[0].line == 2,
              "what file %zu begins with is left out %s", i, error.text);
        scenario_list_release(&list);
    }
}

/* ---- what is refused, and the words
 * ------------------------------------------------------------------ */

static const struct refusal refusals[] = {
    /* fields of a scenario */
    {"scenario 'a' { protocl = 'x' }",
     1,
     {"unknown field \"protocl\"", "did you mean \"protocol\""}},
    {"scenario 'a' { 'x' }", 1, {"unknown field 1", "accepted: arguments, claims"}},
    {"\n\nscenario 'a' { program = 'y', ranks = 1 }", 3, {"\"protocol\" is missing"}},
    {"scenario 'a' { protocol = 'x', ranks = 1 }", 1, {"\"program\" is missing"}},
    {"scenario 'a' { " JOB "}", 1, {"\"ranks\" is missing", "1 to 1024"}},
    {"scenario 'a' { " JOB "ranks = '4' }", 1, {"\"ranks\"", "from 1 to 1024", "not \"4\""}},
    {"scenario 'a' { " JOB "ranks = 0 }", 1, {"\"ranks\"", "not 0"}},
    {"scenario 'a' { " JOB "ranks = 1025 }", 1, {"\"ranks\"", "not 1025"}},
    {"scenario 'a' { " JOB "ranks = 1.5 }", 1, {"\"ranks\"", "not 1.5"}},
    {"scenario 'a' { protocol = 7, program = 'y', ranks = 1 }", 1, {"\"protocol\"", "a text"}},
    {"scenario 'a' { protocol = '', program = 'y', ranks = 1 }", 1, {"\"protocol\"", "not empty"}},
    {"scenario 'a' { protocol = 'x\\n', program = 'y', ranks = 1 }", 1, {"control", "x\\x0a"}},
    {"scenario 'a' { protocol = ('x'):rep(5000), program = 'y', ranks = 1 }", 1, {"5000", "4095"}},
    {"scenario 'a' { " JOB "ranks = 1, claims = {} }", 1, {"\"claims\"", "1 to 64 entries"}},
    {"scenario 'a' { " JOB "ranks = 1, claims = 'H' }", 1, {"\"claims\"", "such as { \"H\" }"}},
    {"scenario 'a' { " JOB "ranks = 1, claims = { 'H', 3 } }", 1, {"\"claims\", entry 2", "not 3"}},
    {"scenario 'a' { " JOB "ranks = 1, claims = { 'H', nil, 'B' } }", 1, {"gaps"}},
    {"scenario 'a' { " JOB "ranks = 1, claims = { h = 'H' } }", 1, {"without named entries"}},
    {"scenario 'a' { " JOB "ranks = 1, arguments = { {} } }", 1, {"\"arguments\", entry 1"}},
    {"scenario 'a' { " JOB "ranks = 1, timeout = 0 }", 1, {"\"timeout\"", "above 0"}},
    {"scenario 'a' { " JOB "ranks = 1, timeout = 0/0 }", 1, {"\"timeout\"", "above 0"}},
    {"scenario 'a' { " JOB "ranks = 2, reserve = 2 }", 1, {"\"reserve\" is 2", "less than"}},
    {"scenario 'a' { " JOB "ranks = 2, library = '/a/libx.so' }", 1, {"\"library\"", "its folder"}},
    {"scenario 'a' { " JOB "ranks = 2, library = { 'x', '' } }", 1, {"\"library\", entry 2"}},
    {"scenario 'a' { " JOB "ranks = 2, library = {} }", 1, {"\"library\"", "1 to 16"}},
    {"scenario 'a' { " JOB "ranks = 2, result = 'outputs' }",
     1,
     {"\"result\"", "did you mean \"output\"?"}},
    {"scenario 'a' { " JOB "ranks = 2, result = { ignore = { 'x' } } }",
     1,
     {"nothing is not known"}},
    {"scenario 'a' { " JOB "ranks = 2, result = { 'output', 'x' } }", 1, {"unknown entry 2"}},
    {"scenario 'a' { " JOB "ranks = 2, result = { 'output', ignore = 'x' } }", 1, {"a list of"}},
    {"scenario 'a' { " JOB "ranks = 2, reserve = 1, result = 'output' }", 1, {"in \"reserve\""}},
    {"scenario 'a' { " JOB "ranks = 2, helpers = 1 }", 1, {"\"helpers\"", "such as { 0, 3 }"}},
    {"scenario 'a' { " JOB "ranks = 2, helpers = { 2 } }", 1, {"no rank 2", "ranks 0 to 1"}},
    {"scenario 'a' { " JOB "ranks = 3, helpers = { 1, 1 } }", 1, {"rank 1 stands twice"}},
    {"scenario 'a' { " JOB "ranks = 2, helpers = { 0, 1 } }", 1, {"no rank is left", "at most 1"}},
    {"scenario 'a' { " JOB "ranks = 3, reserve = 1, helpers = { 2 } }", 1, {"begins in reserve"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = 2 }", 1, {"\"nodes\"", "{ 0, 1 }, { 2, 3 }"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = { 0, 1 } }", 1, {"\"nodes\", entry 1"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = { { 0 }, { 1, 2 } } }", 1, {"no rank 2"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = { { 0, 1 }, { 1 } } }", 1, {"rank 1 stands twice"}},
    {"scenario 'a' { " JOB "ranks = 3, nodes = { { 0, 2 } } }", 1, {"rank 1 is on no node"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = 'x' }", 1, {"\"stores\"", "a table"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = {} }", 1, {"1 to 16 stores", "not 0"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { 'Big' } }", 1, {"name of a store", "\"Big\""}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { 'node0' } }", 1, {"other than", "\"node0\""}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { 'x', x = 'job' } }", 1, {"\"x\" stands twice"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { x = 'rank' } }", 1, {"accepted: job, node"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { x = 'node' } }", 1, {"scenario has no nodes"}},
    {"scenario 'a' { " JOB "ranks = 2, plan = function(p) p:kill { rank = 0, event = 'write', "
     "store = 'x' } end }",
     1,
     {"the scenario has no stores", "stores = { \"x\" }"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { 'big', 'fast' }, plan = function(p) "
     "p:kill { rank = 0, lose_store = 'bog' } end }",
     1,
     {"field \"lose_store\"", "did you mean \"big\"", "accepted: big, fast"}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { 'x' }, plan = function(p) "
     "p:kill { rank = 0, event = 'send', store = 'x' } end }",
     1,
     {"\"store\" says nothing about event \"send\""}},
    {"scenario 'a' { " JOB "ranks = 2, stores = { 'x' }, plan = function(p) "
     "p:kill { rank = 0, lose_store = 'x', lose_files = 'y' } end }",
     1,
     {"\"lose_store\" and \"lose_files\" exclude"}},
    {"scenario 'a' { " JOB "ranks = 1, environment = { FAULTLINE_STORE_X = 0 } }",
     1,
     {"set by Faultline"}},
    {"scenario 'a' { " JOB "ranks = 2, restart = { ranks = 0 } }", 1, {"\"ranks\"", "1 to 1024"}},
    {"scenario 'a' { " JOB "ranks = 2, survivors = true, restart = { ranks = 3 } }",
     1,
     {"\"ranks\" and \"survivors\" exclude"}},
    {"scenario 'a' { " JOB "ranks = 2, reserve = 1, restart = { ranks = 3 } }",
     1,
     {"\"ranks\" and \"reserve\" exclude"}},
    {"scenario 'a' { " JOB "ranks = 3, helpers = { 2 }, restart = { ranks = 2 } }",
     1,
     {"after a restart there is no rank 2", "0 to 1"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = { { 0, 1 } }, restart = { ranks = 3 } }",
     1,
     {"rank 2 is on no node"}},
    {"scenario 'a' { " JOB "ranks = 2, restart = { ranks = 3 }, plan = function(p) "
     "p:kill { rank = 3 } end }",
     1,
     {"0 to 2"}},
    {"scenario 'a' { " JOB "ranks = 1, files = { 'x' } }", 1, {"name of a file", "not 1"}},
    {"scenario 'a' { " JOB "ranks = 1, files = { ['../x'] = 'y' } }", 1, {"name of a file"}},
    {"scenario 'a' { " JOB "ranks = 1, files = { x = 3 } }", 1, {"\"files\", x", "a text"}},
    {"scenario 'a' { " JOB "ranks = 2, plan = function(p) p:kill { node = 0 } end }",
     1,
     {"the scenario has no nodes"}},
    {"scenario 'a' { " JOB
     "ranks = 2, nodes = { { 0, 1 } }, plan = function(p) p:kill { node = 1 } end }",
     1,
     {"no node 1", "0 to 0"}},
    {"scenario 'a' { " JOB
     "ranks = 2, nodes = { { 0, 1 } }, plan = function(p) p:kill { node = 0, rank = 1 } end }",
     1,
     {"\"node\" and \"rank\" exclude"}},
    {"scenario 'a' { " JOB
     "ranks = 2, nodes = { { 0, 1 } }, plan = function(p) p:kill { rank = 0, lose = 'node' } end }",
     1,
     {"for whole nodes; write node = 0"}},
    {"scenario 'a' { " JOB
     "ranks = 2, plan = function(p) p:kill { rank = 0, lose = 'storage' } end }",
     1,
     {"which storage?"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = { { 0, 1 } }, survivors = true, plan = function(p) "
     "p:kill { rank = 0, lose = 'storage' } end }",
     1,
     {"with \"survivors\" it does not"}},
    {"scenario 'a' { " JOB "ranks = 2, nodes = { { 0 }, { 1 } }, plan = function(p) "
     "p:kill { rank = 0, lose = 'storage' } p:kill { node = 1, lose = 'node' } end }",
     1,
     {"do not go together"}},
    {"scenario 'a' { " JOB "ranks = 1, environment = { FAULTLINE_HELPERS = 0 } }",
     1,
     {"set by Faultline"}},
    {"scenario 'a' { " JOB "ranks = 1, survivors = 1 }", 1, {"\"survivors\"", "true or false"}},
    {"scenario 'a' { " JOB "ranks = 1, policy = 'walk' }",
     1,
     {"\"policy\"", "\"random\", \"skewed\", \"bursts\" or \"swarm\"", "not \"walk\""}},
    {"scenario 'a' { " JOB "ranks = 2, plan = function(p) p:detect { rank = 0, of = 1 } end }",
     1,
     {"survivors = true"}},
    {"scenario 'a' { " JOB
     "ranks = 2, survivors = true, plan = function(p) p:detect { rank = 0 } end }",
     1,
     {"\"of\" is missing"}},
    {"scenario 'a' { " JOB
     "ranks = 2, survivors = true, plan = function(p) p:kill { rank = 66 } end }",
     1,
     {"0 to 65", "come later"}},
    {"scenario 'a' { " JOB "ranks = 1, max_incarnations = 0 }", 1, {"\"max_incarnations\""}},
    {"scenario 'a' { " JOB "ranks = 1, max_incarnations = 1025 }", 1, {"1 to 1024", "not 1025"}},
    {"scenario 'a' { " JOB "ranks = 1, plan = {} }", 1, {"\"plan\"", "a function", "not a table"}},
    {"scenario 'a' { " JOB "ranks = 1, environment = { 'A=b' } }", 1, {"\"environment\"", "not 1"}},
    {"scenario 'a' { " JOB "ranks = 1, environment = { ['A=b'] = 1 } }", 1, {"\"environment\""}},
    {"scenario 'a' { " JOB "ranks = 1, environment = { LD_PRELOAD = 'x' } }",
     1,
     {"set by Faultline"}},
    {"scenario 'a' { " JOB "ranks = 1, expect = 'B' }", 1, {"\"expect\"", "a table"}},
    {"scenario 'a' { " JOB "ranks = 1, expect = { violate = 'B' } }",
     1,
     {"did you mean \"violates\""}},
    /* names */
    {"scenario { " JOB "ranks = 1 }", 1, {"a name is expected, not a table"}},
    {"scenario '' { " JOB "ranks = 1 }", 1, {"a name is 1 to 199"}},
    {"scenario 'a#b' { " JOB "ranks = 1 }", 1, {"scenario \"a#b\"", "letters, digits"}},
    {"\nscenario 'a'", 2, {"its table { ... } is missing"}},
    {"scenario 'a' (3)", 1, {"a table { ... } is expected, not 3"}},
    {"scenario 'a' { " JOB "ranks = 1 }\nscenario 'a' { " JOB "ranks = 1 }",
     2,
     {"already in line 1"}},
    {"print = nil", 0, {"defines no scenario"}},
    /* the plan */
    {PLAN("p:kil { rank = 1 }"), 2, {"\"kil\"", "did you mean \"kill\""}},
    {PLAN("p:kill()"), 2, {"a table { ... } is expected, not nothing"}},
    {PLAN("p.kill { rank = 1 }"), 2, {"with a colon"}},
    {PLAN("p.ranks = 1"), 2, {"cannot be changed"}},
    {PLAN("p:kill { rank = 4 }"), 2, {"\"rank\"", "from 0 to 3 (ranks = 4)", "not 4"}},
    {PLAN("p:kill { ranks = { 0, -1 } }"), 2, {"\"ranks\", entry 2", "not -1"}},
    {PLAN("p:kill { ranks = { 2, 2 } }"), 2, {"rank 2 stands twice"}},
    {PLAN("p:kill { ranks = {} }"), 2, {"\"ranks\"", "1 to 64"}},
    {PLAN("p:kill { rank = 1, ranks = { 2 } }"), 2, {"exclude each other"}},
    {PLAN("p:kill { event = 'send' }"), 2, {"who is killed"}},
    {PLAN("p:kill { rank = 1, evnt = 'send' }"), 2, {"\"evnt\"", "did you mean \"event\""}},
    {PLAN("p:kill { rank = 1, event = 'sends' }"), 2, {"did you mean \"send\"", "stop-log"}},
    {PLAN("p:kill { rank = 1, event = 'none' }"), 2, {"\"none\" is not known"}},
    {PLAN("p:kill { rank = 1, nth = 5 }"), 2, {"\"nth\" needs an event"}},
    {PLAN("p:kill { rank = 1, event = 'send', nth = 0 }"), 2, {"\"nth\"", "1 or more", "not 0"}},
    {PLAN("p:kill { rank = 1, event = 'send', tag = -1 }"), 2, {"\"tag\"", "not -1"}},
    {PLAN("p:kill { rank = 1, event = 'send', peer = 9 }"), 2, {"\"peer\"", "0 to 3"}},
    {PLAN("p:kill { rank = 1, event = 'send', comm = 'wrold' }"), 2, {"\"comm\"", "\"world\""}},
    {PLAN("p:kill { rank = 1, event = 'send', comm = '0' }"), 2, {"\"comm\"", "hexadecimal"}},
    {PLAN("p:kill { rank = 1, event = 'send', comm = '123456789' }"), 2, {"\"comm\""}},
    {PLAN("p:kill { rank = 1, event = 'send', level = 'App' }"),
     2,
     {"did you mean \"app\"", "app, wire"}},
    {PLAN("p:kill { rank = 1, event = 'send', position = 'in' }"), 2, {"before, after, inside"}},
    {PLAN("p:kill { rank = 1, event = 'send', epoch = 1 }"),
     2,
     {"\"epoch\" says nothing", "commit"}},
    {PLAN("p:kill { rank = 1, event = 'saved', tag = 1 }"), 2, {"\"tag\" says nothing", "deliver"}},
    {PLAN("p:kill { rank = 1, event = 'wait', peer = 1 }"), 2, {"\"peer\" says nothing", "recv"}},
    {PLAN("p:kill { rank = 1, call = 'MPI_Wait', tag = 1 }"), 2, {"\"tag\" says", "\"wait\""}},
    {PLAN("p:kill { rank = 1, call = 'MPI_Bcast', tag = 1 }"), 2, {"event \"collective\""}},
    {PLAN("p:kill { rank = 1, event = 'commit', position = 'after' }"), 2, {"\"position\" says"}},
    {PLAN("p:kill { rank = 1, event = 'saved', name = 'x' }"), 2, {"\"name\"", "phase, result"}},
    {PLAN("p:kill { rank = 1, event = 'phase', name = ('x'):rep(64) }"),
     2,
     {"\"name\"", "at most 63"}},
    {PLAN("p:kill { rank = 1, event = 'deliver', position = 'before' }"), 2, {"only \"after\""}},
    {PLAN("p:kill { rank = 1, call = 'MPI_Isned' }"), 2, {"no MPI function", "\"MPI_Isend\""}},
    {PLAN("p:kill { rank = 1, call = 'PMPI_Isend' }"), 2, {"without the P"}},
    {PLAN("p:kill { rank = 1, event = 'send', call = 'MPI_Recv' }"), 2, {"MPI_Recv", "\"recv\""}},
    {PLAN("p:kill { ranks = { 1, 2 }, event = 'send' }"), 2, {"whose event", "at = {"}},
    {PLAN("p:kill { rank = 1, at = {} }"), 2, {"kill: at: ", "\"event\" is missing"}},
    {PLAN("p:kill { rank = 1, at = { rank = 7, event = 'send' } }"), 2, {"kill: at: ", "not 7"}},
    {PLAN("p:kill { rank = 1, event = 'send', at = { event = 'send' } }"),
     2,
     {"exclude each other"}},
    {PLAN("p:kill { ranks = { 1, 2 }, at = { rank = 1, event = 'send', position = 'inside' } }"),
     2,
     {"\"inside\"", "no other"}},
    {PLAN("p:await { rank = 1 }"), 2, {"\"event\" is missing"}},
    {PLAN("p:await { event = 'send', position = 'inside' }"), 2, {"accepted: before, after"}},
    {PLAN("p:await { event = 'send', ranks = { 1 } }"), 2, {"unknown field \"ranks\"", "\"rank\""}},
    {PLAN("for i = 1, 257 do p:kill { rank = 1 } end"), 2, {"at most 256 steps"}},
    {"local q\nscenario 'a' { " JOB
     "ranks = 1, plan = function(p) q = p end }\nq:kill { rank = 0 }",
     3,
     {"is finished"}},
    /* Lua's own */
    {"x = ", 1, {"unexpected symbol"}},
    {"local a\nlocal b = a.c", 2, {"attempt to index a nil value (local 'a')"}},
    {"error {}", 1, {"error without a text"}},
    {"error('own', 0)", 1, {"own"}},
    {PLAN("p:kill { rank = math.random(3, 1) }"), 2, {"interval is empty"}},
    /* the sandbox */
    {"os.exit(0)", 1, {"os is not available"}},
    {"io.open('/etc/passwd')", 1, {"io is not available"}},
    {"require 'os'", 1, {"require is not available"}},
    {"dofile 'x'", 1, {"dofile is not available"}},
    {"load 'x = 1'", 1, {"load is not available"}},
    {"loadfile 'x'", 1, {"loadfile is not available"}},
    {"collectgarbage()", 1, {"collectgarbage is not available"}},
    {"debug.sethook()", 1, {"debug is not available"}},
    {"package.loaded.os.exit()", 1, {"package is not available"}},
    {"coroutine.wrap(print)", 1, {"coroutine is not available"}},
    {"_G.os.exit()", 1, {"os is not available"}},
    {"rawget(_G, 'os').exit()", 1, {"nil value"}},
    {"string.dump(print)", 1, {"nil value"}},
    {"('x').dump(print)", 1, {"nil value"}},
    {"math.randomseed(1)", 1, {"nil value"}},
    {"getmetatable('').__index = nil", 1, {"boolean"}},
    {"setmetatable(_G, {})", 1, {"protected metatable"}},
    {"setmetatable({}, { __gc = print })", 1, {"__gc is not available"}},
    {"scenarios = scenaro", 1, {"\"scenaro\" is not defined", "did you mean \"scenario\""}},
    {"string.format('%p', {})", 1, {"%p is not available"}},
    {"for k in pairs { [{}] = 1 } do end", 1, {"keys must be texts, numbers"}},
    {"\x1bLuaT", 0, {"binary chunk"}},
};

static void test_refusals(void)
{
    check_refusals(refusals, sizeof refusals / sizeof refusals[0], &script_options_default);
}

static void check_error(const char *text, const char *part, const char *what)
{
    struct scenario_list list;
    struct error error = {0};
    scenario_list_init(&list);
    script_load(file_of(text, strlen(text)), &script_options_default, &list, &error);
    if (!check(strstr(error.text, part) != NULL, "%s", what))
        printf("# got: %s\n", error.text);
    scenario_list_release(&list);
}

static void test_traceback(void)
{
    char part[400];
    const char *path = file_of("", 0);
    snprintf(part, sizeof part,
             "%s:2: own\n  %s:2: in inner\n  %s:3: in plan\n  %s:4: in main chunk", path, path,
             path, path);
    check_error("\nlocal function inner() error 'own' end\nlocal function plan() inner() end\n"
                "scenario 'a' { " JOB "ranks = 1, plan = plan }",
                part, "a run-time error carries the calls that led there");

    char deep[ERROR_TEXT_BYTES * 2], text[64];
    snprintf(deep, sizeof deep, "%s/", folder);
    while (strlen(deep) < 150) {
        strcat(deep, "long/");
        mkdir(deep, 0700);
    }
    strcat(deep, "name.lua");
    FILE *file = fopen(deep, "w");
    fputs("\nlocal x = nil + 1\n", file);
    fclose(file);
    struct scenario_list list;
    struct error error = {0};
    scenario_list_init(&list);
    script_load(deep, &script_options_default, &list, &error);
    strcat(deep, ":2: ");
    snprintf(text, sizeof text, "a long path is not cut");
    check(strncmp(error.text, deep, strlen(deep)) == 0, "%s", text);
    scenario_list_release(&list);
}

/* ---- limits
 * --------------------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    const char *text;
    const char *says;
    int time_ms; /* 0: as long as it takes */
} endless[] = {
    {"an endless loop", "while true do end", "instructions", 0},
    {"one that catches every error", "while true do pcall(function() while true do end end) end",
     "instructions", 0},
    {"endless recursion of pcall", "local function f() pcall(f) f() end f()", ":1: ", 500},
    {"a huge text", "local s = ('x'):rep(1 << 30)", "MiB of memory", 0},
    {"a growing text", "local s = 'x' while true do s = s .. s end", "MiB of memory", 0},
    {"a growing table", "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
     "MiB of memory", 0},
    {"a bad pattern", "local s = ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40) .. 'b')",
     "within 0.5 s", 500},
    {"a bad pattern under pcall",
     "while true do pcall(string.find, ('a'):rep(40), ('a-'):rep(30) .. 'b') end", "within 0.5 s",
     500},
    {"a bad pattern behind a scenario",
     "scenario('a') { protocol = 'x', program = 'y', ranks = 1 } "
     "local s = ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40) .. 'b')",
     "within 0.5 s", 500},
    {"too many scenarios",
     "for i = 1, 1e9 do scenario('a' .. i) { protocol = 'x', program = 'y', ranks = 1 } end",
     "more than 65536 scenarios", 0},
};

static void test_limits(void)
{
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        bool many = strstr(endless[i].says, "scenarios") != NULL;
        struct script_options options = {.limits = {many ? 1000000000 : 5000000, 16u << 20, 60000}};
        if (endless[i].time_ms > 0)
            options.limits.time_ms = endless[i].time_ms;
        struct scenario_list list;
        struct error error = {0};
        scenario_list_init(&list);
        const char *path = file_of(endless[i].text, strlen(endless[i].text));
        enum error_code code = script_load(path, &options, &list, &error);
        char place[300];
        snprintf(place, sizeof place, "%s:1: ", path);
        bool said = strstr(error.text, endless[i].says) != NULL &&
                    strncmp(error.text, place, strlen(place)) == 0;
        check(code == ERROR_LIMIT && list.count == 0 && said, "%s ends", endless[i].what);
        if (!said || code != ERROR_LIMIT)
            printf("# got: %s\n", error.text);
        scenario_list_release(&list);
    }
    check(waitpid(-1, NULL, WNOHANG) == -1, "no process is left behind");
}

/* ---- repeatability
 * ----------------------------------------------------------------------------------------- */

/* The text of all plans of the file; owned by the caller. */
static char *plan_texts(uint64_t seed, size_t scenario)
{
    struct script_options options = seeded(seed);
    struct scenario_list list;
    struct error error = {0};
    scenario_list_init(&list);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (script_load("tests/scenarios/repeatable.lua", &options, &list, &error) != OK)
        fprintf(out, "%s", error.text);
    for (size_t i = 0; scenario < list.count && i < list.scenario[scenario].plan.count; i++) {
        char line[STEP_BYTES];
        plan_step_print(&list.scenario[scenario].plan.steps[i], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    fclose(out);
    scenario_list_release(&list);
    return text;
}

static bool same_texts(uint64_t seed_a, size_t a, uint64_t seed_b, size_t b)
{
    char *text_a = plan_texts(seed_a, a), *text_b = plan_texts(seed_b, b);
    bool same = strcmp(text_a, text_b) == 0;
    free(text_a);
    free(text_b);
    return same;
}

static void test_repeatable(void)
{
    char *text = plan_texts(1, 0);
    check(strstr(text, "send") != NULL && strstr(text, "table function table") != NULL,
          "the plan is there, and no address in it");
    free(text);
    bool same = true;
    for (int i = 0; i < 8; i++)
        same = same && same_texts(7, 0, 7, 0) && same_texts(7, 2, 7, 2);
    check(same, "the same seed gives the same plan, every time");
    check(!same_texts(7, 0, 8, 0), "another seed gives another");
    check(!same_texts(7, 0, 7, 2), "another scenario draws other numbers");
}

/* Draws of one scenario must not move those of the next. */
static void test_draws_apart(void)
{
    static const char *const texts[] = {
        "for i = 1, 2 do scenario('s' .. i) { " JOB "ranks = 1, plan = function(p)\n"
        "if i == 1 then math.random() end\n"
        "p:await { event = 'send', tag = math.random(0, 1000000) } end } end",
        "for i = 1, 2 do scenario('s' .. i) { " JOB "ranks = 1, plan = function(p)\n"
        "p:await { event = 'send', tag = math.random(0, 1000000) } end } end"};
    int32_t tag[2][2] = {{-1, -1}, {-2, -2}};
    struct script_options options = seeded(3);
    for (int i = 0; i < 2; i++) {
        struct scenario_list list;
        scenario_list_init(&list);
        if (script_load(file_of(texts[i], strlen(texts[i])), &options, &list, NULL) == OK)
            for (int k = 0; k < 2; k++)
                tag[i][k] = list.scenario[k].plan.steps[0].when.tag;
        scenario_list_release(&list);
    }
    check(tag[0][0] != tag[1][0], "one draw more moves the next of the same scenario");
    check(tag[0][1] == tag[1][1], "and not those of another");
}

/* math.random has Lua's ranges. The script checks itself: an error would be found in `code`. */
static void test_random(void)
{
    static const char text[] =
        "local low, high, seen = 1, 0, {}\n"
        "for i = 1, 2000 do\n"
        "  local x = math.random() low, high = math.min(low, x), math.max(high, x)\n"
        "  local d = math.random(6) assert(math.type(d) == 'integer' and d >= 1 and d <= 6)\n"
        "  seen[d] = true\n"
        "  local e = math.random(-3, 3) assert(e >= -3 and e <= 3)\n"
        "  assert(math.type(math.random(0)) == 'integer')\n"
        "  math.random(math.mininteger, math.maxinteger)\n"
        "end\n"
        "assert(low >= 0 and low < 0.01 and high < 1 and high > 0.99)\n"
        "for d = 1, 6 do assert(seen[d]) end\n"
        "scenario 'a' { " JOB "ranks = 1 }";
    struct scenario_list list;
    struct error error = {0};
    scenario_list_init(&list);
    check(script_load(file_of(text, sizeof text - 1), &script_options_default, &list, &error) == OK,
          "math.random keeps Lua's ranges %s", error.text);
    scenario_list_release(&list);
}

int main(void)
{
    if (!make_folder())
        return 1;
    test_good();
    test_begin();
    test_refusals();
    test_traceback();
    test_limits();
    test_repeatable();
    test_draws_apart();
    test_random();
    remove_folder();
    return done();
}
