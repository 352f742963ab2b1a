-- Which folder may include which: each only those that stand above it here, and itself. Prints
-- every line that includes against this order, and every folder that has no place in it; exit
-- status 1 if there is one. Usage: includes.lua, in the top folder.

local order = [[
harness
harness/base
harness/trace
harness/plan
harness/board
harness/store
oracles/oracle.h
oracles/reading
oracles/matching
oracles/judging.h
oracles/history_claims
oracles/c3
oracles/collectives
oracles/cuts
oracles/logging
oracles/ulfm
oracles/tasks
oracles/modes
oracles/on_failure
oracles/transactions
oracles/replication
oracles/algorithm_based
oracles/self
oracles
harness/script
harness/system
harness/decisions
harness/strategy
harness/stacks
injectors/record
injectors/rules
injectors/actions
injectors/taps
injectors/steer
injectors/system/real.h
injectors/storage/storage_real.h
injectors/system
injectors/storage
engine/core
engine/time
engine/library.h
engine/data
engine/requests/request.h
engine/communicators
engine/requests
engine/messages
engine/collectives
engine/ulfm
engine/dynamic
engine/zygote
engine
engine/none
injectors/replay
injectors
harness/launch
harness/run
harness/verify
harness/verdict
reports/walk
reports/text
reports/results
reports/diagram
reports/export
reports/page
harness/cli
harness/jobs
harness/replay
harness/suite
harness/campaign
harness/shrink
harness/explore
harness/command
]]

-- Place of a file: its own line where it has one, else its folder's.
local place, places = {}, 0
for name in order:gmatch("%S+") do
    places = places + 1
    place[name] = places
end
local function place_of(file)
    if place[file] then return place[file], file end
    local folder = file:match("^(.*)/")
    return place[folder], folder
end

local ordered = { harness = true, oracles = true, reports = true, injectors = true,
    engine = true }
local files = {}
for file in io.popen("git ls-files --cached --others --exclude-standard '*.c' '*.h'"):lines() do
    local top = file:match("^[^/]+")
    if ordered[top] then files[file] = true end
end

-- As the compiler looks: below harness, below the top folder, beside the file.
local function found(from, name)
    for _, at in ipairs { "harness/" .. name, name, from:match("^(.*/)") .. name } do
        if files[at] then return at end
    end
end

local bad, homeless = false, {}
local function say(...)
    print(string.format(...))
    bad = true
end
local sorted = {}
for file in pairs(files) do sorted[#sorted + 1] = file end
table.sort(sorted)
for _, file in ipairs(sorted) do
    local mine, folder = place_of(file)
    if not mine and not homeless[folder] then
        homeless[folder] = true
        say("%s/: has no place in scripts/includes.lua", folder)
    end
    local number = 0
    for line in io.lines(file) do
        number = number + 1
        local name = line:match('^%s*#%s*include "([^"]+)"')
        local target = name and found(file, name)
        local theirs, where = nil, nil
        if target then theirs, where = place_of(target) end
        if mine and theirs and theirs > mine then
            say("%s:%d: includes %s, but %s comes after %s in the order of scripts/includes.lua",
                file, number, name, where, folder)
        end
    end
end
os.exit(not bad)
