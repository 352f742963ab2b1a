-- Where the members of a collective stand against a recovery line when their calls return: for
-- three ranks, each category of data flow [C3, section 4] by the region of the root and those of
-- the two others, complete. What can occur is forced, and must be seen (D.cell.*); what cannot is
-- attempted. For 4, 8 and 16 ranks, of what can occur a sample: which call, which rank is the root
-- and who of the others stands where are drawn from the seed. `make coverage-collectives` prints
-- the table.
--
-- `arrangement` makes one call over and over, all ranks in step. Rank 0 begins the line and is the
-- first to take its checkpoint and the first to stop logging; the others are kept before the line
-- by holding their pleaseCheckpoint, and kept logging by holding their stopLogging.

local LINE, EVERY, ITERATIONS = 1, 4, 14
local RANKS = 3
local SAMPLED = { 4, 8, 16 } -- ranks
local ALL_CELLS_MOST = 8     -- of more ranks not each cell is sampled, but one in so many:
local ONE_IN = 3
local STATES_MOST = 4        -- in one condition
local ATTEMPT_MS = 1000 -- how long what never comes true is waited for: the ranks do not block

-- A root that is to lag behind rank 0 is rank 1; of a scan, whose root is the lowest of the
-- communicator, rank 2 of one that has its ranks the other way round. Each call is made in its
-- three forms, MPI_Bcast, MPI_Ibcast and MPI_Bcast_init, but for barriers: one that does not block
-- tells all that each has come, and is of the category of that data flow. MPICH 4.0.2, without a
-- protocol, ends in the second start of an MPI_Scatter_init, and an MPI_Gather_init gives what was
-- there when it was made: so that there are results to compare with, persistent ones are of others.
local categories = {
  { name = "bcast", calls = { MPI_Bcast = 0, MPI_Scatter = 1 },
    persistent = { MPI_Bcast = 0, MPI_Scatterv = 2 } },
  { name = "gather", calls = { MPI_Gather = 3, MPI_Reduce = 5 },
    persistent = { MPI_Gatherv = 4, MPI_Reduce = 5 } },
  { name = "all", calls = { MPI_Allreduce = 11, MPI_Alltoall = 8 },
    unblocked = { MPI_Allreduce = 11, MPI_Alltoall = 8, MPI_Barrier = 16 } },
  { name = "barrier", calls = { MPI_Barrier = 16 }, unblocked = {} },
  { name = "scan", calls = { MPI_Scan = 14, MPI_Exscan = 15 }, lagging_root = 2 },
}

local BLOCKING, NONBLOCKING, PERSISTENT = 0, 1, 2 -- --nonblocking of the program

local function add_form(category, name, number, way)
  table.insert(category.forms, { name = name, number = number, way = way })
end

for _, category in ipairs(categories) do
  category.forms = {}
  for call, number in pairs(category.calls) do add_form(category, call, number, BLOCKING) end
  for call, number in pairs(category.unblocked or category.calls) do
    add_form(category, "MPI_I" .. call:sub(5):lower(), number, NONBLOCKING)
  end
  for call, number in pairs(category.persistent or category.unblocked or category.calls) do
    add_form(category, call .. "_init", number, PERSISTENT)
  end
end

local possible = {
  bcast = "before-before before-before+logging before-logging " ..
          "logging-before logging-before+logging logging-logging logging-logging+beyond " ..
          "logging-beyond beyond-beyond",
  gather = "before-before before-before+logging before-logging " ..
           "logging-before logging-before+logging logging-logging " ..
           "beyond-logging beyond-logging+beyond beyond-beyond",
  all = "before-before before-before+logging before-logging " ..
        "logging-before logging-before+logging logging-logging beyond-beyond",
  barrier = "before-before logging-logging beyond-beyond",
  -- logging-beyond and logging-logging+beyond are allowed by the data flow, but c3 makes of a scan
  -- an all-to-all call: whoever takes part in it with one that has stopped stops as well.
  scan = "before-before before-before+logging before-logging " ..
         "logging-before logging-before+logging logging-logging beyond-beyond",
}

local promised = {}
for name, cells in pairs(possible) do
  for cell in cells:gmatch("%S+") do table.insert(promised, "D.cell." .. name .. "." .. cell) end
end
cover(promised)

local function is_possible(category, cell)
  return (" " .. possible[category.name] .. " "):find(" " .. cell .. " ", 1, true) ~= nil
end

-- ---- who is to stand where ---------------------------------------------------------------------

local regions = { "before", "logging", "beyond" }
local order = { before = 1, logging = 2, beyond = 3 }

-- The others of a root, as sets: of two ranks each region, or two.
local function sets()
  local found = {}
  for i, first in ipairs(regions) do
    table.insert(found, { first, first })
    for k = i + 1, #regions do table.insert(found, { first, regions[k] }) end
  end
  return found
end

local function set_name(set)
  return set[1] == set[2] and set[1] or set[1] .. "+" .. set[2]
end

-- By rank. Rank 0 is always the furthest; the root is another unless nobody is further than it.
local function places(category, root_region, others)
  if order[root_region] >= order[others[2]] then
    return 0, { [0] = root_region, others[1], others[2] }
  end
  local root = category.lagging_root or 1
  return root, { [0] = others[2], [root] = root_region, [RANKS - root] = others[1] }
end

-- ---- how they come to stand there ---------------------------------------------------------------

local function stands(at)
  local all = {}
  for rank = 0, RANKS - 1 do
    table.insert(all, { rank = rank, region = at[rank], line = LINE })
  end
  return all
end

-- To keep step the program calls MPI_Barrier on itself alone, over and over.
local function of_members(call) return call == "MPI_Barrier" and "world" or nil end

-- What is kept is let go when the last of those it is kept from has come to a second call with all
-- where they are to be: so the first was made, and returned, as it is to be.
local function arranged(rank, call, at)
  return { rank = rank, call = call, comm = of_members(call), nth = 2, state = stands(at) }
end

-- Where one is kept before the line nobody can stop: no stopLogging is kept then.
local function kept_from(at, ranks)
  local all_logging, kept, message = true, {}, nil
  for rank = 0, ranks - 1 do all_logging = all_logging and at[rank] == "logging" end
  if all_logging then return { 1 }, "readyToStopLogging" end
  for rank = 1, ranks - 1 do
    if at[rank] == "before" and at[0] ~= "before" then
      table.insert(kept, rank)
      message = "pleaseCheckpoint"
    end
  end
  for rank = 1, ranks - 1 do
    if not message and at[rank] == "logging" and at[0] == "beyond" then table.insert(kept, rank) end
  end
  return kept, message or "stopLogging"
end

local function arrange(p, call, at, attempt)
  local kept, message = kept_from(at, RANKS)
  for _, rank in ipairs(kept) do
    p:hold { message = message, from = message == "readyToStopLogging" and rank or 0,
             to = message ~= "readyToStopLogging" and rank or 0, epoch = LINE, after = "start",
             release = arranged(kept[#kept], call, at),
             attempt = attempt, ms = attempt and ATTEMPT_MS or nil }
  end
end

-- ---- the scenarios ------------------------------------------------------------------------------

-- how: "forced", "attempted"; or "recovered": forced, and the job is lost when the line is
-- committed (it may be before a call in which all are beyond the line).
local function cell(how, category, form, root_region, others)
  local name = root_region .. "-" .. set_name(others)
  local root, at = places(category, root_region, others)
  local reverse = root ~= 0 and root == category.lagging_root
  scenario(string.format("%s: %s %s, %s", category.name, how, name, form.name)) {
    protocol = "c3", program = "arrangement", ranks = RANKS,
    arguments = { "--iterations", ITERATIONS, "--call", form.number,
                  "--reverse", reverse and 1 or 0, "--root", reverse and 0 or root,
                  "--nonblocking", form.way },
    environment = { C3_EVERY = EVERY },
    claims = { "C", "D", "H" },
    expect = (how == "forced" or how == "recovered" and name ~= "beyond-beyond") and
             { cover = { "D.cell." .. category.name .. "." .. name } } or nil,
    plan = function(p)
      arrange(p, form.name, at, how == "attempted")
      if how == "recovered" then
        p:kill { rank = 1, at = { event = "commit", epoch = LINE }, after = "start" }
      end
    end,
  }
end

local function cells(category, form, root_region, others)
  local can = is_possible(category, root_region .. "-" .. set_name(others))
  cell(can and "forced" or "attempted", category, form, root_region, others)
  if can then cell("recovered", category, form, root_region, others) end
end

for _, category in ipairs(categories) do
  for _, form in ipairs(category.forms) do
    for _, root_region in ipairs(regions) do
      for _, others in ipairs(sets()) do cells(category, form, root_region, others) end
    end
  end
end

-- ---- larger communicators ----------------------------------------------------------------------

-- Somebody in each region of the set; who, is drawn.
local function draw_regions(at, free, set)
  for i = #free, 2, -1 do
    local k = math.random(i)
    free[i], free[k] = free[k], free[i]
  end
  for i, rank in ipairs(free) do at[rank] = i <= 2 and set[i] or set[math.random(2)] end
end

-- Rank 0 is the furthest, as above.
local function draw_places(category, ranks, root_region, others)
  local root_leads = order[root_region] >= order[others[2]]
  local root = root_leads and 0 or category.lagging_root and ranks - 1 or math.random(ranks - 1)
  local at, free = { [root] = root_region }, {}
  if not root_leads then at[0] = others[2] end
  for rank = 1, ranks - 1 do
    if rank ~= root then table.insert(free, rank) end
  end
  draw_regions(at, free, others)
  return root, at
end

-- All that are kept are let go when everybody has been seen in their places, and after that another
-- call has been begun by all: who stands where does not change as long as they are kept.
local function arrange_many(p, call, at)
  local kept, message = kept_from(at, p.ranks)
  local back, holds = message == "readyToStopLogging", {}
  for _, rank in ipairs(kept) do
    table.insert(holds, p:hold { message = message, from = back and rank or 0,
                                 to = back and 0 or rank, epoch = LINE, after = "start" })
  end
  local step = "start"
  if back then -- it comes late
    step = p:await { rank = kept[1], event = "phase", name = "c3:before-send-" .. message,
                     after = step }
  end
  for first = 0, p.ranks - 1, STATES_MOST do
    local some = {}
    for rank = first, math.min(first + STATES_MOST, p.ranks) - 1 do
      table.insert(some, { rank = rank, region = at[rank], line = LINE })
    end
    step = p:await { state = some, after = step }
  end
  p:await { rank = p.ranks - 1, call = call, comm = of_members(call), nth = 3 }
  for _, hold in ipairs(holds) do p:release(hold) end
end

local function sample(category, ranks, root_region, others)
  local name = root_region .. "-" .. set_name(others)
  local form = category.forms[math.random(#category.forms)]
  local root, at = draw_places(category, ranks, root_region, others)
  local reverse = root ~= 0 and category.lagging_root ~= nil
  scenario(string.format("%s: sampled %s, %s, %d ranks", category.name, name, form.name, ranks)) {
    protocol = "c3", program = "arrangement", ranks = ranks,
    arguments = { "--iterations", ITERATIONS, "--call", form.number,
                  "--reverse", reverse and 1 or 0, "--root", reverse and 0 or root,
                  "--nonblocking", form.way },
    environment = { C3_EVERY = EVERY }, claims = { "C", "D", "H" },
    expect = { cover = { "D.cell." .. category.name .. "." .. name } },
    plan = function(p) arrange_many(p, form.name, at) end,
  }
end

local number = 0
for _, ranks in ipairs(SAMPLED) do
  for _, category in ipairs(categories) do
    for _, root_region in ipairs(regions) do
      for _, others in ipairs(sets()) do
        if is_possible(category, root_region .. "-" .. set_name(others)) then
          number = number + 1
          if ranks <= ALL_CELLS_MOST or number % ONE_IN == 0 then
            sample(category, ranks, root_region, others)
          end
        end
      end
    end
  end
end
