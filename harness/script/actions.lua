-- Actions: which fields each has beside those of a condition, and what step it makes of them.

local core = ...
local type, ipairs = type, ipairs
local format, find, concat = string.format, string.find, table.concat
local sorted_keys, sorted_pairs = core.sorted_keys, core.sorted_pairs
local check, conditions = core.check, core.condition
local fail, expected = check.fail, check.expected
local integer, choice, list, flag = check.integer, check.choice, check.list, check.flag
local given_table, read = check.given_table, check.read
local limit_event = conditions.limit_event

-- ---- what several actions share -----------------------------------------------------------------

local function any(value) return value end

local function any_table(value, what)
  given_table(value, what .. ": ")
  return value
end

-- The condition in field `field`, or nil.
local function condition_in(plan, kept, field, where)
  if not kept[field] then return nil end
  where = where .. field .. ": "
  return conditions.required(plan, read(kept[field], plan.fields("condition"), where), where)
end

-- The condition that is its own fields, or `at`; required or not.
local function condition_or_at(plan, kept, where, victims)
  local when = conditions.optional(plan, kept, where, victims)
  if not kept.at then return when end
  if when.event ~= "none" or #when.states > 0 then
    fail('%s"at" and the condition of its own ("%s") exclude each other', where,
      when.event == "none" and "state" or when.event)
  end
  where = where .. "at: "
  return conditions.required(plan, read(kept.at, plan.fields("condition"), where), where, victims)
end

-- All ranks of a node.
local function node_victims(plan, kept, where)
  if kept.rank or kept.ranks then
    fail('%s"node" and "%s" exclude each other', where, kept.rank and "rank" or "ranks")
  end
  local nodes = plan.nodes
  if not nodes then
    fail('%sfield "node": the scenario has no nodes; write nodes = { { 0, 1 }, ... } there', where)
  elseif not nodes[kept.node + 1] then
    fail('%sfield "node": there is no node %d; accepted: 0 to %d', where, kept.node, #nodes - 1)
  elseif #nodes[kept.node + 1] > core.MAX_VICTIMS then
    fail('%sfield "node": it has %d ranks; at most %d can be meant', where,
      #nodes[kept.node + 1], core.MAX_VICTIMS)
  end
  return nodes[kept.node + 1]
end

-- What a node loses that has all that its ranks wrote: with a node map, what these ranks wrote.
local function lose_of(plan, kept, victims, where)
  if kept.lose ~= "node" or not plan.nodes then return kept.lose end
  local among = {}
  for _, rank in ipairs(victims) do among[rank] = true end
  for number, ranks in ipairs(plan.nodes) do
    local met = 0
    for _, rank in ipairs(ranks) do met = met + (among[rank] and 1 or 0) end
    if met > 0 and met < #ranks then
      fail('%sfield "lose": "node" is for whole nodes; write node = %d', where, number - 1)
    end
  end
  return "rank"
end

-- Ranks that something is done to, all at once.
local function victims_of(plan, kept, where, done)
  if kept.rank and kept.ranks then fail('%s"rank" and "ranks" exclude each other', where) end
  local victims = kept.ranks or { kept.rank }
  if kept.node then victims = node_victims(plan, kept, where) end
  if #victims == 0 then
    fail('%s"rank" or "ranks" is missing: who is %s; accepted: 0 to %d', where, done,
      plan.ranks - 1)
  end
  local seen = {}
  for _, rank in ipairs(victims) do
    if seen[rank] then fail('%sfield "ranks": rank %d stands twice', where, rank) end
    seen[rank] = true
  end
  return victims
end

-- Whose own event it is must be clear: one victim, or `at`.
local function own_or_at(plan, kept, where, victims, inside)
  local when = condition_or_at(plan, kept, where, inside and victims)
  if not kept.at and when.event ~= "none" and not when.rank then
    fail('%swhose event "%s" is meant? With "ranks" write at = { rank = ..., event = "%s" }',
      where, when.event, when.event)
  end
  return when
end

-- A message is sent `from` a rank `to` another: other words for rank and peer.
local function name_ends(kept, where)
  for field, word in sorted_pairs { rank = "from", peer = "to" } do
    if kept[field] and kept[word] then
      fail('%s"%s" and "%s" mean the same', where, field, word)
    end
    kept[field] = kept[field] or kept[word]
  end
end

-- The condition of a send that is kept back.
local function send_condition(plan, kept, where)
  name_ends(kept, where)
  kept.event = kept.event or "send"
  limit_event(kept, where, { "send" })
  return conditions.required(plan, kept, where)
end

-- ---- orders -------------------------------------------------------------------------------------

local order_words = choice { "reverse", "random" }
local order_numbers = list(integer(1, core.MAX_VICTIMS), 2, core.MAX_VICTIMS,
  { "numbers", "3, 1, 2" })

local function order_check(value, what)
  if type(value) == "string" then return order_words(value, what) end
  if type(value) ~= "table" then
    expected(what, 'a list such as { 3, 1, 2 }, "reverse" or "random"', value)
  end
  return order_numbers(value, what)
end

-- Drawn apart from what the plan draws itself: for one step of one scenario always the same.
local function drawn_apart(plan, draw)
  local stream, at = core.stream(core.hash(format("%s step %d", plan.name, #plan.steps + 1)), 0)
  local drawn = draw()
  core.stream(stream, at)
  return drawn
end

local function shuffled(count)
  local order = {}
  for i = 1, count do order[i] = i end
  for i = count, 2, -1 do
    local other = core.random(i)
    order[i], order[other] = order[other], order[i]
  end
  return order
end

local function check_permutation(order, count, where)
  if #order ~= count then
    fail('%sfield "order": %d entries for count = %d', where, #order, count)
  end
  local seen = {}
  for _, number in ipairs(order) do
    if number > count or seen[number] then
      fail('%sfield "order": each of 1 to %d must stand once', where, count)
    end
    seen[number] = true
  end
end

-- Of one channel nothing can overtake.
local function check_overtaking(kept, where)
  if kept.rank and kept.peer and kept.comm and not kept.tags_apart then
    fail('%smessages of one rank to another on one communicator cannot overtake each other; '
      .. 'leave "rank" or "comm" out, or, where no receive there asks for MPI_ANY_TAG, say '
      .. 'tags_apart = true', where)
  end
end

-- In which order `kept.count` messages are let go; nil: as they come.
local function order_of(plan, kept, where)
  local order, count = kept.order, kept.count
  if not order then return nil end
  if type(order) == "table" then
    kept.count = count or #order
    check_permutation(order, kept.count, where)
  else
    if not count or count < 2 or count > core.MAX_VICTIMS then
      expected(where .. 'field "count"', format("an integer from 2 to %d", core.MAX_VICTIMS), count)
    end
    local word = order
    order = {}
    for i = 1, count do order[i] = count + 1 - i end
    if word == "random" then order = drawn_apart(plan, function() return shuffled(count) end) end
  end
  check_overtaking(kept, where)
  return order
end

-- ---- what the rows of actions.def say ----------------------------------------------------------

local rows = core.action_rows
local error_names = sorted_keys(core.errors)

-- The check of a field of a row; nil: a method of its own below reads it.
local function check_of(field)
  if field.errno then
    return { choice(error_names), required = field.needed .. ": " .. concat(error_names, ", ") }
  end
  if field.rank then return "rank" end
  if field.words then return { choice(field.words), required = field.needed } end
  if field.flag then return { flag } end
  if field.text then return { conditions.short_text } end
  return field.most > 0 and not field.list
    and { integer(field.least, field.most), required = field.needed } or nil
end

for _, row in sorted_pairs(rows) do
  for _, field in ipairs(row.fields) do field.check = check_of(field) end
end

-- Beside those of a condition.
local function fields_of_row(row)
  local fields = {}
  for _, field in ipairs(row.fields) do fields[field.as] = field.check end
  if row.victims then fields.ranks, fields.at = "ranks", { any_table } end
  if row.keeps then fields.release = { any_table } end
  if #row.events > 0 then fields.position = false end
  return fields
end

-- What is not in the step yet of what the row says.
function core.fill(step, kept)
  for _, field in ipairs(rows[step.action].fields) do
    local value = kept[field.as]
    if field.errno then value = core.errors[value] end
    if step[field.name] == nil and field.check then step[field.name] = value end
  end
end

-- The condition of a step whose row says all that there is to say of it.
local function when_of_row(row, plan, kept, where)
  if row.when == "none" then return nil end
  if #row.events > 0 then
    if #row.events == 1 then kept.event = kept.event or row.events[1] end
    limit_event(kept, where, row.events)
  end
  return conditions[row.when](plan, kept, where)
end

local function action_of_row(row)
  return {
    fields = { fields_of_row(row) },
    make = function(plan, kept, where)
      if not row.victims then return { when = when_of_row(row, plan, kept, where) } end
      local victims = victims_of(plan, kept, where, row.past)
      return { victims = victims, when = own_or_at(plan, kept, where, victims, row.kills),
        lose = lose_of(plan, kept, victims, where) }
    end,
  }
end

local actions = {}
for name, row in sorted_pairs(rows) do
  if name ~= "release" then actions[name] = action_of_row(row) end -- that one is given a step
end

-- ---- actions that are given something else -----------------------------------------------------

local kill = actions.kill.make
actions.kill.fields[2] = { lose_store = { conditions.short_text } }

actions.kill.make = function(plan, kept, where)
  if kept.lose_store then
    if kept.lose_files then
      fail('%s"lose_store" and "lose_files" exclude each other', where)
    end
    kept.lose_files = conditions.in_store(plan, kept.lose_store, nil, "%",
      where .. 'field "lose_store": ')
  end
  return kill(plan, kept, where)
end

local of_hold = fields_of_row(rows.hold)
local of_messages = { from = "rank", to = "peer", count = of_hold.count,
  tags_apart = of_hold.tags_apart, position = false }
local of_release = { release = of_hold.release, ms = of_hold.ms, attempt = of_hold.attempt }

actions.hold = {
  fields = { of_messages, of_release, { order = { order_check } } },
  make = function(plan, kept, where)
    return { when = send_condition(plan, kept, where), order = order_of(plan, kept, where) }
  end,
}

actions.delay = {
  fields = { of_messages, { ms = of_hold.ms, events = { integer(1, 1000000) } } },
  make = function(plan, kept, where)
    local when = send_condition(plan, kept, where)
    if (kept.ms == nil) == (kept.events == nil) then
      fail('%sone of "ms" (milliseconds) and "events" (MPI calls of the sender) is needed', where)
    end
    if kept.events and not kept.rank then
      fail('%sfield "events": whose MPI calls are counted? Write "rank"', where)
    end
    return { action = "hold", when = when, release = kept.events
      and { event = "call", rank = kept.rank, nth = kept.events, states = {} } }
  end,
}

actions.reorder = {
  fields = { of_messages, of_release, { order = { order_check, default = "reverse" } } },
  make = function(plan, kept, where)
    local when = send_condition(plan, kept, where)
    return { action = "hold", when = when, order = order_of(plan, kept, where) }
  end,
}

actions.choose = {
  fields = { fields_of_row(rows.choose), { at = { any_table } } },
  make = function(plan, kept, where)
    if not kept.source then
      fail('%sfield "source" is missing: whose message is taken; accepted: 0 to %d', where,
        plan.ranks - 1)
    end
    local choice_tag = kept.tag
    kept.tag = nil
    if not kept.at then
      kept.event = kept.event or kept.call and core.call_family(kept.call) or "recv"
    end
    local when = condition_or_at(plan, kept, where)
    limit_event(when, kept.at and where .. "at: " or where, rows.choose.events)
    return { when = when, choice = kept.source, choice_tag = choice_tag }
  end,
}

-- What each call can be made to answer; see core.call_answer.
local answers = {
  ["yes-no"] = "true or false",
  ["index-no"] = "false or the index of a request, from 0",
  index = "the index of a request, from 0",
  ["indices-no"] = "false or a list of indices, from 0, such as { 0, 2 }",
  indices = "a list of indices, from 0, such as { 0, 2 }",
}
local index = integer(0, core.MAX_REQUESTS - 1)
local indices = list(index, 1, core.MAX_VICTIMS, { "indices", "0, 2" })

-- No call completes a request twice.
local function each_once(numbers, what)
  local seen = {}
  for _, number in ipairs(numbers) do
    if seen[number] then fail("%s: index %d stands twice", what, number) end
    seen[number] = true
  end
  return numbers
end

-- → the answer as a number, and the indices of requests it names.
local function read_answer(call, value, what)
  local can = core.call_answer(call)
  local kind = type(value)
  local truth = kind == "boolean"
    and (can == "yes-no" or not value and find(can, "-no", 1, true) ~= nil)
  if truth then return value and 1 or 0 end
  if kind == "number" and find(can, "^index") then
    local one = index(value, what)
    return one, { one }
  end
  if kind == "table" and find(can, "^indices") then
    return 0, each_once(indices(value, what), what)
  end
  expected(format("%s of %s", what, call), answers[can], value)
end

actions.answer = {
  fields = { fields_of_row(rows.answer), { answer = { any, required = "what the call says" },
    call = { false, required = "such as MPI_Test or MPI_Iprobe" } } },
  make = function(plan, kept, where)
    if not core.call_answer(kept.call) then
      fail('%sfield "call": %s has no answer to choose; accepted: MPI_Test, MPI_Testall, '
        .. 'MPI_Testany, MPI_Testsome, MPI_Waitany, MPI_Waitsome, MPI_Iprobe, MPI_Improbe',
        where, kept.call)
    end
    local number, requests = read_answer(kept.call, kept.answer, where .. 'field "answer"')
    if kept.times and kept.answer ~= false then
      fail('%sfield "times": only a false answer is given more than once', where)
    end
    kept.event = kept.event or core.call_family(kept.call)
    return { when = conditions.required(plan, kept, where), choice = number, order = requests }
  end,
}

local detect = actions.detect.make

actions.detect.make = function(plan, kept, where)
  if not plan.survivors then
    fail("%sonly where ranks live on when one dies; write survivors = true", where)
  end
  if not kept.of then fail('%sfield "of" is missing: whose death it is', where) end
  return detect(plan, kept, where)
end

actions.jitter = {
  fields = { fields_of_row(rows.jitter), { seed = { integer(math.mininteger, math.maxinteger) } } },
  make = function(plan, kept)
    return { seed = kept.seed or drawn_apart(plan, function() return core.random(0) end) }
  end,
}

core.actions, core.condition_in = actions, condition_in
