-- scenario "name" { ... }

local core = ...
local type, ipairs, next, rawget = type, ipairs, next, rawget
local format, find = string.format, string.find
local sorted_keys = core.sorted_keys
local check = core.check
local shown, given_table, read = check.shown, check.given_table, check.read
local integer, list, line_of_text = check.integer, check.list, check.line_of_text
local fields_of = check.fields_of

local texts = { "texts", '"H"' }
local expect_fields = fields_of {
  violates = { line_of_text, default = "" },
  cover = { list(line_of_text, 0, core.MAX_CLAIMS, texts), default = {} },
}

local arguments = list(check.argument, 0, core.MAX_ARGUMENTS, { "texts and numbers", '"-n", 10' })
local restart_fields = fields_of {
  ranks = { integer(1, core.MAX_RANKS), default = 0 },
  arguments = { arguments },
  environment = { check.environment, default = {} },
}

-- A file of the library under test, or several.
local function library(value, what)
  local function name(one, one_what)
    if find(line_of_text(one, one_what), "[/:]") then
      check.expected(one_what, 'the name of a file such as "libx.so", without its folder', one)
    end
    return one
  end
  if type(value) ~= "table" then return name(value, what) end
  return table.concat(list(name, 1, core.MAX_LIBRARIES, { "texts", '"libx.so"' })(value, what), ":")
end

local patterns = { "regular expressions", '"[0-9.]+ s"' }

-- What is compared with the run without faults, as one text: "output", and a line for each pattern
-- of what is left out.
local function result(value, what)
  local given = type(value) == "table" and value or { value }
  for key in next, given do
    if key ~= 1 and key ~= "ignore" then
      check.fail('%s: unknown entry %s; accepted: "output", and ignore = { patterns }', what,
        shown(key))
    end
  end
  check.choice { "output" } (rawget(given, 1), what)
  local ignore = rawget(given, "ignore")
  if ignore == nil then return "output" end
  local kept = list(line_of_text, 1, core.MAX_PATTERNS, patterns)(ignore, what .. ", ignore")
  return "output\n" .. table.concat(kept, "\n")
end

-- What runs the ranks. mpiexec is what no word stands for.
local function engine(value, what)
  if value == "mpiexec" then return "" end
  if value ~= "step" then check.expected(what, '"mpiexec" or "step"', value) end
  return value
end

local function policy(value, what)
  if value ~= "random" and value ~= "skewed" and value ~= "bursts" and value ~= "swarm" then
    check.expected(what, '"random", "skewed", "bursts" or "swarm"', value)
  end
  return value
end

local node_list = { "nodes", "{ 0, 1 }, { 2, 3 }" }
local rank_list = list(integer(0, core.MAX_RANKS - 1), 1, core.MAX_RANKS, { "ranks", "0, 1" })
local nodes = list(rank_list, 1, core.MAX_RANKS, node_list)

local store_kinds = { "job", "node" }

-- Folders of the checkpoint store by name: { "scratch", ram = "node" }. Returns the kind of each,
-- by name, and the names in order.
local function stores(value, what)
  given_table(value, what .. ": ")
  local kind, names = {}, {}
  for _, key in ipairs(sorted_keys(value)) do
    local given = rawget(value, key)
    local name = type(key) == "number" and given or key
    if type(name) ~= "string" or not find(name, "^%l[%l%d_]*$") or #name >= core.STORE_NAME_BYTES
      or find(name, "^node%d*$") then
      check.expected(what, format("as name of a store a small letter, and then up to %d small "
        .. 'letters, digits and _, other than "node" and "node0"', core.STORE_NAME_BYTES - 2), name)
    elseif kind[name] then
      core.fail(format('%s: "%s" stands twice', what, name))
    end
    kind[name] = type(key) == "number" and "job"
      or check.choice(store_kinds)(given, format('%s, "%s"', what, name))
    names[#names + 1] = name
  end
  if #names < 1 or #names > core.MAX_STORES then
    check.fail("%s: 1 to %d stores are expected, not %d", what, core.MAX_STORES, #names)
  end
  return { kind = kind, names = names }
end

local scenario_fields = fields_of {
  protocol = { line_of_text, required = "the name of a protocol, or the path of a shared library" },
  program = { line_of_text, required = "the name of a program, or the path of an executable" },
  arguments = { arguments, default = {} },
  ranks = { integer(1, core.MAX_RANKS), required = format("1 to %d", core.MAX_RANKS) },
  reserve = { integer(0, core.MAX_RANKS - 1), default = 0 },
  library = { library, default = "" },
  helpers = { list(integer(0, core.MAX_RANKS - 1), 1, core.MAX_RANKS - 1, { "ranks", "0, 3" }),
    default = {} },
  nodes = { nodes },
  stores = { stores },
  files = { check.files, default = {} },
  setup = { list(check.argument, 1, core.MAX_ARGUMENTS, { "texts and numbers", '"./prepare", 4' }),
    default = {} },
  engine = { engine, default = "" },
  policy = { policy, default = "" },
  survivors = { check.flag, default = false },
  claims = { list(line_of_text, 1, core.MAX_CLAIMS, texts), default = { "H" } },
  result = { result, default = "" },
  plan = { check.func },
  timeout = { check.seconds, default = 0.0 },
  environment = { check.environment, default = {} },
  restart = { function(value, what)
    given_table(value, what .. ": ")
    return read(value, restart_fields, "restart: ")
  end, default = { environment = {}, ranks = 0 } },
  max_incarnations = { integer(1, core.MAX_INCARNATIONS), default = 0 },
  expect = { function(value, what)
    given_table(value, what .. ": ")
    return read(value, expect_fields, "expect: ")
  end, default = { violates = "", cover = {} } },
}

local defined = {} -- name → line
local open = {}    -- name → line, of scenarios whose table has not come yet
local emitted = 0

local function check_name(name)
  if type(name) ~= "string" then
    core.fail("scenario: a name is expected, not " .. shown(name)
      .. '; write scenario "name" { ... }')
  end
  if name == "" or #name >= core.SCENARIO_NAME_BYTES or find(name, "[^%w_./:+=,() -]") then
    core.fail(format("scenario %s: a name is 1 to %d letters, digits, blanks and "
      .. "_ . / : + = , ( ) -", shown(name), core.SCENARIO_NAME_BYTES - 1))
  end
  if defined[name] then
    core.fail(format('scenario "%s": the name stands already in line %d', name, defined[name]))
  end
end

-- Another number of ranks from the second incarnation on; 0: as many. All numbers that the scenario
-- names are below most_ranks.
local function check_restart(kept)
  local again = kept.restart.ranks
  if again == kept.ranks then again = 0 end
  for _, field in ipairs { "survivors", "reserve" } do
    local given = kept[field]
    if again > 0 and given and given ~= 0 then
      core.fail(format('"restart": "ranks" and "%s" exclude each other', field))
    end
  end
  kept.restart_ranks = again
  kept.most_ranks = again > kept.ranks and again or kept.ranks
end

-- Ranks of the library's: each once, and some are left for the program.
local function check_helpers(kept)
  local once, least = {}, kept.ranks - kept.reserve
  if kept.restart_ranks > 0 and kept.restart_ranks < least then least = kept.restart_ranks end
  for _, rank in ipairs(kept.helpers) do
    if rank >= kept.ranks then
      core.fail(format('"helpers": there is no rank %d; the job has ranks 0 to %d', rank,
        kept.ranks - 1))
    elseif rank >= least and kept.restart_ranks > 0 then
      core.fail(format('"helpers": after a restart there is no rank %d; accepted: 0 to %d', rank,
        least - 1))
    elseif rank >= least then
      core.fail(format('"helpers": rank %d begins in reserve; accepted: 0 to %d', rank, least - 1))
    elseif once[rank] then
      core.fail(format('"helpers": rank %d stands twice', rank))
    end
    once[rank] = true
  end
  if #kept.helpers >= least then
    core.fail(format('"helpers": no rank is left for the program; accepted: at most %d of %d ranks',
      least - 1, least))
  end
  table.sort(kept.helpers)
  kept.helpers = table.concat(kept.helpers, ",")
end

-- Each rank is on one node. As C has it: "0,1;2,3".
local function check_nodes(kept)
  if not kept.nodes then
    kept.nodes = ""
    return
  end
  local once, joined = {}, {}
  for node, ranks in ipairs(kept.nodes) do
    for _, rank in ipairs(ranks) do
      if rank >= kept.most_ranks then
        core.fail(format('"nodes": there is no rank %d; the job has ranks 0 to %d', rank,
          kept.most_ranks - 1))
      elseif once[rank] then
        core.fail(format('"nodes": rank %d stands twice', rank))
      end
      once[rank] = true
    end
    joined[node] = table.concat(ranks, ",")
  end
  for rank = 0, kept.most_ranks - 1 do
    if not once[rank] then core.fail(format('"nodes": rank %d is on no node', rank)) end
  end
  kept.node_ranks, kept.nodes = kept.nodes, table.concat(joined, ";")
end

-- As C has it: "scratch,node/ram".
local function check_stores(kept)
  local joined = {}
  for i, name in ipairs(kept.stores and kept.stores.names or {}) do
    local of_node = kept.stores.kind[name] == "node"
    if of_node and not kept.node_ranks then
      core.fail(format('"stores": "%s" is of each node, and the scenario has no nodes; write nodes '
        .. '= { { 0, 1 }, ... }', name))
    end
    joined[i] = (of_node and "node/" or "") .. name
  end
  kept.store_kinds, kept.stores = kept.stores and kept.stores.kind, table.concat(joined, ",")
end

local function define(name, line, given)
  if type(given) ~= "table" then
    core.fail(format('scenario "%s": a table { ... } is expected, not %s', name, shown(given)))
  end
  check_name(name)
  defined[name], open[name] = line, nil
  check.set_context(format('scenario "%s": ', name))
  local kept = read(given, scenario_fields, "")
  kept.name, kept.line = name, line
  if core.RANKS > 0 then kept.ranks = core.RANKS end
  if kept.reserve >= kept.ranks then
    core.fail(format('"reserve" is %d; accepted: less than "ranks", which is %d', kept.reserve,
      kept.ranks))
  end
  check_restart(kept)
  check_helpers(kept)
  check_nodes(kept)
  check_stores(kept)
  if kept.result ~= "" and kept.reserve > 0 then
    core.fail('"result": which process prints for a rank is not known where there are ranks '
      .. 'in "reserve"')
  end
  kept.steps, kept.wires = core.plan_of(kept)
  check.set_context("")
  core.emit(kept)
  emitted = emitted + 1
end

function core.scenario(name)
  check_name(name)
  local line = core.line()
  open[name] = line
  return function(given) define(name, line, given) end
end

-- ---- cover { ... }: what the scenarios of the file together must bring about --------------------

local place_fields = fields_of {
  fault = { check.choice { "answer", "choose", "detect", "hold", "kill", "lose", "stop",
    "storage" }, required = 'such as "kill"' },
  role = { check.choice { "initiator", "participant" } },
  phase = { line_of_text },
}

-- A claim, family or table of cells by its name; a place of faults as "fault=kill role=initiator
-- phase=saved".
local function covered(value, what)
  if type(value) ~= "table" then return line_of_text(value, what) end
  local place = read(value, place_fields, what .. ": ")
  return "fault=" .. place.fault .. (place.role and " role=" .. place.role or "")
    .. (place.phase and " phase=" .. place.phase or "")
end

function core.cover(given)
  local entries = list(covered, 1, core.MAX_COVER, { "claims and faults", '"C.cell"' })
  for _, entry in ipairs(entries(given, "cover")) do core.emit_cover(core.line(), entry) end
end

-- Called by C when the file has come to its end.
function core.finish()
  for _, name in ipairs(sorted_keys(open)) do
    core.fail(format('scenario "%s": its table { ... } is missing', name), open[name])
  end
  if emitted == 0 then core.fail("the file defines no scenario") end
end
