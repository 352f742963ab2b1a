-- What must be true of the traces of any program that ran to its end under the taps with no
-- protocol between, and left no message unreceived. Reads the lines of dump on stdin; prints what
-- is wrong.
--
--     dump TRACE... | lua5.4 facts.lua [--protocol]
--
-- --protocol: a protocol lies between, the two levels may differ.

local FLAG = { cancelled = 1, no_hash = 2, negative = 4, inter = 16, freed = 64 }
local PEER_NULL, PEER_UNKNOWN = "-1", "-4"
local UNKNOWN = "18446744073709551615" -- BYTES_UNKNOWN

local protocol = arg[1] == "--protocol"
local wrong = 0

local function complain(...)
    wrong = wrong + 1
    if wrong <= 10 then
        print("wrong: " .. string.format(...))
    end
end

local function has(r, flag)
    return tonumber(r.flags or "0") & FLAG[flag] ~= 0
end

local function read()
    local ranks = {}
    for line in io.lines() do
        local r = { line = line }
        for key, value in line:gmatch("([%w_]+)=(%S+)") do
            r[key] = value
        end
        r.operation = r.operation and r.operation:lower()
        ranks[r.rank] = ranks[r.rank] or {}
        table.insert(ranks[r.rank], r)
    end
    return ranks
end

local function complete(r)
    if r.kind == "none" then
        complain("a hole: %s", r.line)
    elseif r.kind ~= "group" and r.kind ~= "text" and r.leave == "0" then
        complain("in progress at the end: %s", r.line)
    elseif r.leave and tonumber(r.leave) < tonumber(r.enter) then
        complain("left before it was entered: %s", r.line)
    end
end

-- Without a protocol both levels see the same calls; only the times and, between threads, the
-- numbers of requests differ.
local function same_levels(list)
    local seen = { app = {}, wire = {} }
    for _, r in ipairs(list) do
        local of = seen[r.level]
        if of and not r.call:find("Wtime") and not r.call:find("Test") and r.kind ~= "probe" then
            of[r.thread] = of[r.thread] or {}
            local what = table.concat({ r.kind, r.call, r.comm or "", r.peer or "", r.tag or "",
                r.bytes or "", r.hash or "", r.result or "", r.error or "", r.flags or "",
                r.members or "" }, " ")
            table.insert(of[r.thread], what)
        end
    end
    for thread, list_app in pairs(seen.app) do
        table.sort(list_app)
        local list_wire = seen.wire[thread] or {}
        table.sort(list_wire)
        for i = 1, math.max(#list_app, #list_wire) do
            if list_app[i] ~= list_wire[i] then
                complain("rank %s thread %s: app '%s' but wire '%s'", list[1].rank, thread,
                    list_app[i], list_wire[i])
                return
            end
        end
    end
end

local function push(map, key, value)
    map[key] = map[key] or {}
    table.insert(map[key], value)
end

-- What one level of one rank did, taken in record by record. `open` are its requests under way.
local take = {}

function take.send(r, open, into)
    if r.request ~= "0" then
        open[r.request] = { send = r }
    end
    if r.peer ~= PEER_NULL and r.error == "0" then
        push(into.sends, table.concat({ r.comm, r.rank, r.peer, r.tag }, " "), r)
    end
end

function take.recv(r, open, into)
    local entry = { recv = r, data = r }
    if r.request ~= "0" and not r.call:find("MPI_Mrecv") then
        entry = open[r.request] or {} -- the sending half of MPI_Isendrecv is there already
        entry.recv = r
        open[r.request] = entry
    end
    table.insert(into.posted, entry)
end

function take.collective(r, open, into)
    local entry = { call = r, data = r }
    if r.request ~= "0" then
        entry.data = nil
        open[r.request] = entry
    end
    push(into.collectives, r.comm .. " " .. r.rank, entry)
end

function take.call(r, open)
    if r.request ~= "0" and r.call:find("MPI_Comm_idup") then
        open[r.request] = { call = r }
    end
end

function take.complete(r, open)
    local entry = open[r.request]
    if has(r, "negative") then
        return
    elseif not entry then
        complain("completes what was never started: %s", r.line)
        return
    end
    entry.data = r
    if entry.send and has(r, "cancelled") then
        entry.send.cancelled = true
    end
    open[r.request] = nil
end

local function collect(level, list, into)
    local open = {}
    for _, r in ipairs(list) do
        if r.level == level and take[r.kind] then
            take[r.kind](r, open, into)
        end
    end
    for number, entry in pairs(open) do
        complain("rank %s %s: request %s is never completed: %s", list[1].rank, level, number,
            (entry.send or entry.recv or entry.call).line)
    end
end

-- Not cancelled, not from nobody, not an error without a message.
local function arrived(d)
    return d.peer ~= PEER_NULL and not has(d, "cancelled") and not has(d, "freed")
        and not (d.error ~= "0" and d.peer == PEER_UNKNOWN)
end

local function differ(s, d)
    local hashed = not has(d, "no_hash") and not has(s, "no_hash")
    return d.bytes ~= s.bytes and d.bytes ~= UNKNOWN or hashed and d.hash ~= s.hash
end

-- The k-th send of a channel is the k-th matched: same bytes, same hash.
local function match(level, sends, posted)
    local received = {}
    for _, entry in ipairs(posted) do
        local d = entry.data
        if d and arrived(d) then
            local channel = table.concat({ d.comm, d.peer, d.rank, d.tag }, " ")
            push(received, channel, d)
        end
    end
    for channel, list in pairs(sends) do
        local i = 0
        for _, s in ipairs(list) do
            if not s.cancelled then
                i = i + 1
                local d = (received[channel] or {})[i]
                if not d then
                    complain("%s: channel %s: send %d is never delivered: %s", level, channel, i,
                        s.line)
                elseif d.error == "0" and differ(s, d) then
                    complain("%s: channel %s: message %d differs:\n  %s\n  %s", level, channel, i,
                        s.line, d.line)
                end
            end
        end
        if received[channel] and #received[channel] > i then
            complain("%s: channel %s: %d sends, %d deliveries", level, channel, i,
                #received[channel])
        end
    end
    for channel, list in pairs(received) do
        if not sends[channel] then
            complain("%s: channel %s: delivered and never sent: %s", level, channel, list[1].line)
        end
    end
end

local EQUAL = { bcast = true, allreduce = true, allgather = true, allgatherv = true }

local function result_of(entry)
    if entry.data == entry.call then
        return entry.call.result
    end
    return entry.data and entry.data.hash
end

-- The k-th collective of a communicator is the same operation with the same root at every member.
local function agree(level, collectives)
    local by_comm = {}
    for key, list in pairs(collectives) do
        push(by_comm, key:match("^%S+"), list)
    end
    for comm, members in pairs(by_comm) do
        for k, first in ipairs(members[1]) do
            for m = 2, #members do
                local other = members[m][k]
                if not other then
                    complain("%s: comm %s: collective %d is missing at one member", level, comm, k)
                    break
                end
                local a, b = first.call, other.call
                if a.operation ~= b.operation or not has(a, "inter") and a.peer ~= b.peer then
                    complain("%s: collectives differ:\n  %s\n  %s", level, a.line, b.line)
                elseif EQUAL[a.operation] and a.error == "0" and not has(a, "inter")
                    and result_of(first) ~= result_of(other) then
                    complain("%s: results differ:\n  %s\n  %s", level, a.line, b.line)
                end
            end
        end
    end
end

local ranks = read()
local count = 0
for _, level in ipairs { "app", "wire" } do
    local into = { sends = {}, collectives = {}, posted = {} }
    for _, list in pairs(ranks) do
        collect(level, list, into)
    end
    match(level, into.sends, into.posted)
    agree(level, into.collectives)
end
for _, list in pairs(ranks) do
    for _, r in ipairs(list) do
        complete(r)
        count = count + 1
    end
    if not protocol then
        same_levels(list)
    end
end
if count == 0 then
    complain("no records at all")
end
if wrong > 10 then
    print(string.format("... and %d more", wrong - 10))
end
os.exit(wrong == 0 and 0 or 1)
